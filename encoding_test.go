package tenon

import (
	"encoding/hex"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// anyEncoding draws plain data of every kind, with nested opaque Specs.
func anyEncoding(t *rapid.T, depth int) Encoding {
	kind := rapid.IntRange(0, 12).Draw(t, "kind")
	if depth == 0 {
		kind %= 7
	}
	n := rapid.IntRange(0, 3).Draw(t, "n")
	name := func() string {
		return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "x_1", "nil", "", "\xff", "a b", "é"})).Draw(t, "name")
	}
	elems := func() []Encoding {
		var es []Encoding
		for range n {
			es = append(es, anyEncoding(t, depth-1))
		}
		return es
	}
	switch kind {
	case 0:
		return Nil{}
	case 1:
		return Bool(rapid.Bool().Draw(t, "bool"))
	case 2:
		return Int(rapid.Int64().Draw(t, "int"))
	case 3:
		return Float(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e5, 1e21, 5e-324})).Draw(t, "float"))
	case 4:
		return Str(name())
	case 5:
		return DType{rapid.SampledFrom(append(dtype.All(), dtype.None)).Draw(t, "dtype")}
	case 6:
		return Shape{rapid.SampledFrom([]shape.Shape{{}, shape.Of(2, -1), shape.UnknownRank, shape.Of(1, 2, 3, 4, 5, 6, 7)}).Draw(t, "shape")}
	case 7:
		return List(elems())
	case 8:
		return Tuple(elems())
	case 9:
		nt := NamedTuple{Name: name()}
		for range n {
			nt.Fields = append(nt.Fields, Entry{name(), anyEncoding(t, depth-1)})
		}
		return nt
	case 10:
		m := map[string]Encoding{}
		for range n {
			m[name()] = anyEncoding(t, depth-1)
		}
		return NewDict(m)
	case 11:
		return Array{dtype.Int16, shape.Of(n), strings.Repeat("\x01\xff", n)}
	}
	if n == 0 {
		return SpecOf{nil}
	}
	return SpecOf{anySpec(t, depth-1)}
}

// anySpec draws the Spec of a type that is not registered.
func anySpec(t *rapid.T, depth int) Spec {
	var fields []Field
	if depth > 0 {
		for range rapid.IntRange(0, 2).Draw(t, "fields") {
			fields = append(fields, Field{rapid.SampledFrom([]string{"a", "b c"}).Draw(t, "field"), anySpec(t, depth-1)})
		}
	}
	return NewOpaque(rapid.SampledFrom([]string{"example.com/t.A", "t.B"}).Draw(t, "type"), anyEncoding(t, depth), fields)
}

func TestEncodingsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEncoding(t, 3)
		text := EncodingText(e)
		back, err := ParseEncoding(text)
		if err != nil || !EqualEncoding(back, e) || EncodingText(back) != text {
			t.Fatalf("%s reads back as %v, %v", text, back, err)
		}
		b := AppendEncoding([]byte("x"), e)
		back, rest, err := DecodeEncoding(append(b[1:], "rest"...))
		if err != nil || !EqualEncoding(back, e) || string(rest) != "rest" {
			t.Fatalf("%s decodes as %v, %q, %v", text, back, rest, err)
		}
		// Whatever is cut off is an error, never a shorter value.
		if cut := rapid.IntRange(1, len(b)-1).Draw(t, "cut"); len(b) > 2 {
			if e, rest, err := DecodeEncoding(b[1:cut]); err == nil {
				t.Fatalf("%d of %d bytes decode as %v, %q", cut-1, len(b)-1, e, rest)
			}
		}
	})
}

func TestSpecsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, other := anySpec(t, 3), anySpec(t, 2)
		back, err := ParseSpec(Text(s))
		if err != nil || !Equal(back, s) || Text(back) != Text(s) {
			t.Fatalf("%s reads back as %v, %v", Text(s), back, err)
		}
		back, rest, err := DecodeBinary(AppendBinary(nil, s))
		if err != nil || !Equal(back, s) || len(rest) > 0 || Text(back) != Text(s) {
			t.Fatalf("%s decodes as %v, %v", Text(s), back, err)
		}
		if same := Equal(s, other); same != (Text(s) == Text(other)) || same != (Key(s) == Key(other)) || same != Equal(other, s) {
			t.Fatalf("%s and %s: equal is %v", Text(s), Text(other), same)
		}
	})
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		e    Encoding
		want string
	}{
		{Nil{}, "nil"},
		{nil, "nil"},
		{Bool(true), "true"},
		{Int(-3), "-3"},
		{Float(1), "1.0"},
		{Float(1e100), "1e+100"},
		{Float(math.Copysign(0, -1)), "-0.0"},
		{Float(math.NaN()), "nan"},
		{Float(math.Inf(-1)), "-inf"},
		{Str("a\n"), `"a\n"`},
		{DType{dtype.BFloat16}, "bfloat16"},
		{Shape{shape.Of(2, -1)}, "shape[2, ?]"},
		{List{Int(1), Tuple{}}, "[1, ()]"},
		{NamedTuple{"p q", []Entry{{"x", Int(1)}}}, `%"p q"(x: 1)`},
		{NewDict(map[string]Int{"b": 1, "a": 2, "9": 3}), `{"9": 3, a: 2, b: 1}`},
		{Array{dtype.Int8, shape.Of(2), "\x01\x02"}, "array(int8, [2], AQI=)"},
		{SpecOf{nil}, "<>"},
		{SpecOf{NewOpaque("t.X", Int(1), []Field{{"c", NewOpaque("t.Y", Nil{}, nil)}})}, "<t.X 1 | c: <t.Y nil | >>"},
	} {
		if got := EncodingText(c.e); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestHostileText(t *testing.T) {
	deep := strings.Repeat("[", 7000) + strings.Repeat("]", 7000)
	for _, bad := range []string{
		"", "[", "[1", "[1,", "[1 2]", "{b: 1, a: 2}", "{a: 1, a: 2}", `"`, `"\q"`, "%", "%x", "%x(a)", "<t.X", "<t.X 1", "<t.X 1>", "<t.X>",
		"<not a name 1 | >", "shape", "shape[", "shape[-3]", "array(string, [1], )", "array(int8, [2], AQ==)", "array(int8, [?], AQ==)",
		"array(int8, [9999999999, 9999999999], )", "1.2.3", "+", "9999999999999999999999x", "floats", "1 2", deep, "<t.X nil | a: <>>",
	} {
		e, err := ParseEncoding(bad)
		if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrNotFound) {
			t.Errorf("%.40q: got %v, %v", bad, e, err)
		}
	}
}

func TestHostileBinary(t *testing.T) {
	long := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f} // a varint of 2^63-1
	cat := func(parts ...any) []byte {
		var b []byte
		for _, p := range parts {
			switch p := p.(type) {
			case byte:
				b = append(b, p)
			case string:
				b = append(b, p...)
			case []byte:
				b = append(b, p...)
			}
		}
		return b
	}
	deep := []byte(strings.Repeat(string([]byte{tagList, 1}), 7000))
	for name, b := range map[string][]byte{
		"nothing":                cat(),
		"an unknown tag":         cat(byte(200)),
		"a long string":          cat(tagStr, long, "abc"),
		"a long list":            cat(tagList, long),
		"a long dict":            cat(tagDict, long),
		"a short float":          cat(tagFloat, "1234567"),
		"an open varint":         cat(tagInt, []byte{0xff, 0xff}),
		"an element type":        cat(tagDType, byte(99)),
		"a rank":                 cat(tagShape, byte(0x80), byte(0x40)),
		"a negative rank":        cat(tagShape, byte(3)),
		"a negative size":        cat(tagShape, byte(2), byte(5)),
		"keys out of order":      cat(tagDict, byte(2), byte(1), "b", tagNil, byte(1), "a", tagNil),
		"an array without type":  cat(tagArray, byte(0), byte(0), byte(0)),
		"an array too short":     cat(tagArray, byte(dtype.Int64), byte(2), byte(4), byte(3), "abc"),
		"an array with unknowns": cat(tagArray, byte(dtype.Int64), byte(1), byte(0)),
		"deep":                   deep,
		"a name that is none":    cat(tagSpec, byte(1), "x", tagNil, byte(0), byte(0)),
		"a component not a spec": cat(tagSpec, byte(3), "t.X", tagNil, byte(0), byte(1), byte(1), "a", tagNil),
		"an unknown leaf":        cat(tagSpec, byte(3), "t.X", tagNil, byte(1)),
		"a spec not yet read":    cat(tagSpecAgain, byte(0)),
		"a bomb":                 bomb(100),
		"a flag":                 cat(tagSpec, byte(3), "t.X", tagNil, byte(7), byte(0)),
	} {
		e, _, err := DecodeEncoding(b)
		var known *Error
		if !errors.As(err, &known) {
			t.Errorf("%s: got %v, %v", name, e, err)
		}
	}
	if s, _, err := DecodeBinary([]byte{tagInt, 2}); !errors.Is(err, ErrInvalid) {
		t.Errorf("an int as a Spec: %v, %v", s, err)
	}
	missing := AppendEncoding(nil, SpecOf{})
	if s, _, err := DecodeBinary(missing); !errors.Is(err, ErrInvalid) {
		t.Errorf("the mark of a missing Spec as a Spec: %v, %v", s, err)
	}
	if e, _, err := DecodeEncoding(missing); err != nil || e != (SpecOf{}) {
		t.Errorf("the mark of a missing Spec: %v, %v", e, err)
	}
}

// bomb is the binary form of Specs each of which has the one before it twice.
func bomb(levels int) []byte {
	b := []byte{tagSpec, 3, 't', '.', 'X'}
	for range levels {
		b = append(b, tagSpec, 3, 't', '.', 'X')
	}
	b = append(b, tagNil, 0, 0)
	for i := range levels {
		// The encoding of the next outer one has ended; its component is the same again.
		b = append(b, 0, 1, 1, 'a', tagSpecAgain, byte(i))
	}
	return b
}

func TestSpecsAreWrittenOnce(t *testing.T) {
	s := NewOpaque("t.X", Nil{}, nil)
	for range 30 {
		s = NewOpaque("t.X", SpecOf{s}, []Field{{"a", s}})
	}
	b := AppendBinary(nil, s)
	if len(b) > 600 {
		t.Fatalf("%d bytes", len(b))
	}
	small := bomb(5)
	if s, _, err := DecodeBinary(small); err != nil || string(AppendBinary(nil, s)) != string(small) {
		t.Errorf("got %v, %v", s, err)
	}
}

// TestBinaryFormIsStable pins the form, as files hold it.
func TestBinaryFormIsStable(t *testing.T) {
	e := Tuple{
		Nil{}, Bool(false), Bool(true), Int(-2), Float(1), Str("é"), DType{dtype.Float32}, Shape{shape.Of(2, -1)}, Shape{shape.UnknownRank}, SpecOf{nil},
		SpecOf{NewOpaque("t.X", Int(1), []Field{{"c", NewOpaque("t.Y", Nil{}, nil)}})}, List{Int(300)}, NamedTuple{"n", []Entry{{"f", Nil{}}}},
		NewDict(map[string]Int{"k": 0}), Array{dtype.Int8, shape.Of(2), "\x01\x02"},
	}
	const want = "0b0f 00 01 02 0303 04000000000000f03f 0502c3a9 060c 07040401 0701 08" +
		"0903742e58 0302 00 01 0163 0903742e59 00 0000 0a0103d804 0c016e01016600 0d01016b0300 0e020204020102"
	if got := hex.EncodeToString(AppendEncoding(nil, e)); got != strings.ReplaceAll(want, " ", "") {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestLongLengthsAllocateNothing(t *testing.T) {
	b := append([]byte{tagStr}, 0xff, 0xff, 0xff, 0xff, 0x0f)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if e, _, err := DecodeEncoding(b); err == nil {
		t.Errorf("got %v", e)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("a length of 4 GiB allocates %d bytes", n)
	}
}

func TestAsAndElems(t *testing.T) {
	if n, err := As[Int](Int(3)); err != nil || n != 3 {
		t.Errorf("got %v, %v", n, err)
	}
	if _, err := As[Str](Int(3)); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "is a int, not a string") {
		t.Errorf("got %v", err)
	}
	if _, err := Elems(Tuple{Int(1)}, 2); !errors.Is(err, ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if es, err := Elems(List{Int(1)}, -1); err != nil || len(es) != 1 {
		t.Errorf("got %v, %v", es, err)
	}
	if _, err := Elems(Int(1), -1); !errors.Is(err, ErrInvalid) {
		t.Errorf("got %v", err)
	}
	d := NewDict(map[string]Str{"k": "v"})
	if v, ok := d.Get("k"); !ok || v != Str("v") {
		t.Errorf("got %v, %v", v, ok)
	}
	if _, ok := d.Get("x"); ok {
		t.Error("a key that is not there")
	}
}

func FuzzDecodeBinary(f *testing.F) {
	for _, text := range seeds {
		if s, err := ParseSpec(text); err == nil {
			f.Add(AppendBinary(nil, s))
		}
	}
	f.Add([]byte{tagSpec, 3, 't', '.', 'X', tagNil, 0, 0})
	f.Add([]byte{tagList, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1024 {
			return
		}
		s, rest, err := DecodeBinary(b)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("the error is a %T", err)
			}
			return
		}
		if len(rest) > len(b) {
			t.Fatal("more is left than there was")
		}
		again, rest, err := DecodeBinary(AppendBinary(nil, s))
		if err != nil || len(rest) > 0 || !Equal(s, again) {
			t.Fatalf("%s decodes again as %v, %v", Text(s), again, err)
		}
		if back, err := ParseSpec(Text(s)); err != nil || !Equal(s, back) {
			t.Fatalf("%s reads back as %v, %v", Text(s), back, err)
		}
	})
}

var seeds = []string{
	"<>",
	"<t.X nil | >",
	`<example.com/t.A (1, 2.5, "s", [true], {a: nan}, %n(x: float32)) | a: <t.B shape[2, ?] | >, "b c": <t.B array(int16, [1], AQI=) | >>`,
}

func FuzzParseSpec(f *testing.F) {
	for _, s := range append(seeds, "<t.X", "[[[[", `<t.X "\xff" | >`) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1024 {
			return
		}
		s, err := ParseSpec(text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("the error is a %T", err)
			}
			return
		}
		if back, err := ParseSpec(Text(s)); err != nil || !Equal(s, back) {
			t.Fatalf("%s reads back as %v, %v", Text(s), back, err)
		}
	})
}
