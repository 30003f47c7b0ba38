package jsoncol

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tenonml/tenon/dtype"
)

func leaf(d dtype.DType) *Schema { return NewLeaf(d) }

func named(name string, s *Schema) SchemaField { return SchemaField{name, s} }

var (
	int64s, float64s = leaf(dtype.Int64), leaf(dtype.Float64)
	texts, flags     = leaf(dtype.String), leaf(dtype.Bool)
)

func TestMissing(t *testing.T) {
	ints := NewStruct(named("a", int64s), named("b", int64s))
	def := func(s *Schema, v any) *Schema {
		c := s.WithMissing(MissingDefault)
		c.Default = v
		return c
	}
	tests := []struct {
		name string
		text string
		o    Options
		want []any
		code Code
		path string
		row  int64
	}{
		{name: "absent", text: `{"a":1,"b":2}` + "\n" + `{"a":1}`, o: Options{Schema: ints}, code: MissingValue, path: "b", row: 1},
		{name: "null", text: `{"a":1,"b":2}` + "\n" + `{"a":null,"b":1}`, o: Options{Schema: ints}, code: MissingValue, path: "a", row: 1},
		{name: "null row", text: "null", o: Options{Schema: ints}, code: MissingValue},
		{name: "null element", text: `{"a":[1,null]}`, o: Options{}, code: MissingValue, path: "a[1]"},
		{name: "inferred, later row", text: `{"a":1}` + "\n" + `{}`, code: MissingValue, path: "a", row: 1},
		{name: "inferred, earlier row", text: `{}` + "\n" + `{}` + "\n" + `{"x":{"a":1}}`, code: MissingValue, path: "x", row: 2},
		{name: "inferred, earlier element", text: `{"x":[{},{"a":1}]}`, code: MissingValue, path: "x[0].a"},

		{name: "masked", text: `{"a":1}` + "\n" + `{"b":2}` + "\n" + `null`, o: Options{Schema: ints, Missing: MissingMasked},
			want: []any{object{"a": int64(1)}, object{"b": int64(2)}, nil}},
		{name: "masked field", text: `{"b":2}`, o: Options{Schema: NewStruct(named("a", texts.WithMissing(MissingMasked)), named("b", int64s))},
			want: []any{object{"b": int64(2)}}},
		{name: "masked list and elements", text: `{"a":[1,null]}` + "\n" + `{"a":null}` + "\n" + `{}` + "\n" + `{"a":[]}`, o: Options{Missing: MissingMasked},
			want: []any{object{"a": []any{int64(1), nil}}, object{}, object{}, object{"a": []any{}}}},
		{name: "masked struct", text: `{"a":{"b":{"c":1}}}` + "\n" + `{"a":{"b":null}}` + "\n" + `{"a":null}`, o: Options{Missing: MissingMasked},
			want: []any{object{"a": object{"b": object{"c": int64(1)}}}, object{"a": object{}}, object{}}},

		{name: "zero", text: `{}`, o: Options{Missing: MissingDefault, Schema: NewStruct(
			named("i", int64s), named("f", float64s), named("s", texts), named("b", flags), named("l", NewList(int64s)), named("r", NewStruct(named("x", int64s))))},
			want: []any{object{"i": int64(0), "f": 0.0, "s": "", "b": false, "l": []any{}, "r": object{"x": int64(0)}}}},
		{name: "given", text: `{}` + "\n" + `{"s":null}`, o: Options{Schema: NewStruct(
			named("i", def(int64s, int64(-7))), named("f", def(float64s, 0.5)), named("s", def(texts, "naïve")), named("b", def(flags, true)))},
			want: []any{object{"i": int64(-7), "f": 0.5, "s": "naïve", "b": true}, object{"i": int64(-7), "f": 0.5, "s": "naïve", "b": true}}},
		{name: "zero in an element", text: `[1,null]` + "\n" + `["x"]`, o: Options{Missing: MissingDefault, Unions: true},
			want: []any{[]any{int64(1), int64(0)}, []any{"x"}}},

		{name: "empty", text: `{"a":1}` + "\n" + `{"a":2,"l":null}` + "\n" + `{"a":3,"l":[1]}`, o: Options{Missing: MissingEmpty},
			want: []any{object{"a": int64(1), "l": []any{}}, object{"a": int64(2), "l": []any{}}, object{"a": int64(3), "l": []any{int64(1)}}}},
		{name: "empty, no list", text: `{"a":1}` + "\n" + `{"l":[]}`, o: Options{Missing: MissingEmpty}, code: MissingValue, path: "a", row: 1},
		{name: "empty, no list after all", text: `{"a":null}` + "\n" + `{"a":1}`, o: Options{Missing: MissingEmpty}, code: MissingValue, path: "a", row: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.code == 0 {
				wantRows(t, test.text, test.o, test.want...)
				return
			}
			e := wantError(t, test.text, test.o)
			if e.Code != test.code || e.Path != test.path || e.Row != test.row {
				t.Errorf("got %v: code %d, path %q, row %d; want %d, %q, %d", e, e.Code, e.Path, e.Row, test.code, test.path, test.row)
			}
		})
	}
}

// The validity of a field is complete by itself, and absent where nothing is
// missing.
func TestValidity(t *testing.T) {
	table := read(t, `{"a":{"b":1,"c":"x"}}`+"\n"+`{"a":null}`+"\n"+`{"a":{"b":2}}`, Options{Missing: MissingMasked})
	a := table.Column.Field("a")
	for _, test := range []struct {
		c    *Column
		want []bool
	}{
		{table.Column, nil},
		{a, []bool{true, false, true}},
		{a.Field("b"), []bool{true, false, true}},
		{a.Field("c"), []bool{true, false, false}},
	} {
		if diff := cmp.Diff(test.want, test.c.Valid); diff != "" {
			t.Error(diff)
		}
	}
	if got := Values[int64](a.Field("b")); !reflect.DeepEqual(got, []int64{1, 0, 2}) {
		t.Errorf("placeholders: %v", got)
	}
}

func TestDuplicates(t *testing.T) {
	const text = `{"a":1,"b":[1,2],"a":2,"b":[3],"a":3}`
	for _, schema := range []*Schema{nil, NewStruct(named("a", int64s), named("b", NewList(int64s)))} {
		wantRows(t, text, Options{Schema: schema, Duplicates: DuplicateFirst}, object{"a": int64(1), "b": []any{int64(1), int64(2)}})
		wantRows(t, text, Options{Schema: schema, Duplicates: DuplicateLast}, object{"a": int64(3), "b": []any{int64(3)}})
		e := wantError(t, text, Options{Schema: schema})
		if e.Code != DuplicateKey || e.Path != "a" {
			t.Errorf("%v: code %d, path %q", e, e.Code, e.Path)
		}
		// The value that does not count may be of any type, and leaves no trace.
		wantRows(t, `{"a":"x","b":[],"a":2}`, Options{Schema: schema, Duplicates: DuplicateLast}, object{"a": int64(2), "b": []any{}})
		wantRows(t, `{"a":null,"b":[],"a":2}`, Options{Schema: schema, Duplicates: DuplicateLast}, object{"a": int64(2), "b": []any{}})
		wantRows(t, `{"a":2,"b":[],"a":{"x":[]}}`, Options{Schema: schema, Duplicates: DuplicateFirst}, object{"a": int64(2), "b": []any{}})
	}
	wantRows(t, `{"a":{"x":1,"y":2},"a":{"x":"s"}}`, Options{Duplicates: DuplicateLast}, object{"a": object{"x": "s"}})
	// Many fields are told apart in another way than a few.
	var b strings.Builder
	b.WriteString(`{"f0":0`)
	for i := range 100 {
		b.WriteString(`,"f` + strings.Repeat("x", i+1) + `":0`)
	}
	b.WriteString(`,"fx":1}`)
	if e := wantError(t, b.String(), Options{}); e.Code != DuplicateKey || e.Path != "fx" {
		t.Errorf("%v", e)
	}
}

func TestKeyOrder(t *testing.T) {
	schema := NewStruct(named("a", int64s), named("b", int64s), named("a longer key than sixteen bytes", int64s), named("a\nb", int64s))
	want := object{"a": int64(1), "b": int64(2), "a longer key than sixteen bytes": int64(3), "a\nb": int64(4)}
	for _, text := range []string{
		`{"a":1,"b":2,"a longer key than sixteen bytes":3,"a\nb":4}`,
		`{"a longer key than sixteen bytes":3,"b":2,"a\u000ab":4,"\u0061":1}`,
		` { "b" : 2 , "a" : 1 , "a\nb" : 4 , "a longer key than sixteen bytes" : 3 } `,
		`{"a": 1, "b": 2, "a longer key than sixteen bytes": 3, "a\nb": 4}`,
	} {
		wantRows(t, text, Options{Schema: schema}, want)
		wantRows(t, text, Options{}, want)
	}
	// The key that a longer one begins with is not taken for it.
	e := wantError(t, `{"a":1,"b":2,"a longer key than sixteen BYTES":3}`, Options{Schema: schema})
	if e.Code != UnknownKey {
		t.Errorf("%v", e)
	}
}

func TestUnknownKeys(t *testing.T) {
	schema := NewStruct(named("a", int64s))
	const text = `{"x":{"y":[1,"}"]},"a":1,"z":null}`
	e := wantError(t, text, Options{Schema: schema})
	if e.Code != UnknownKey || !strings.Contains(e.Detail, `"x"`) || e.Column != 2 {
		t.Errorf("%v", e)
	}
	wantRows(t, text, Options{Schema: schema, SkipUnknown: true}, object{"a": int64(1)})
	open := *schema
	open.Open = true
	table := wantRows(t, text+"\n"+`{"a":2,"w":1.5}`, Options{Schema: &open, Missing: MissingMasked, Unions: true},
		object{"a": int64(1), "x": object{"y": []any{int64(1), "}"}}}, object{"a": int64(2), "w": 1.5})
	if len(schema.Fields) != 1 || len(open.Fields) != 1 {
		t.Error("the schema given was changed")
	}
	if got, want := table.Schema.String(), `{a: int64, x: ?{y: var * union[int64, string]}, z: null, w: ?float64}`; got != want {
		t.Errorf("schema %s, want %s", got, want)
	}
}

func TestPaths(t *testing.T) {
	const text = `{"id":1,"jets":[{"pt":1.5,"hits":[1]},{"hits":[2,3],"pt":2}],"junk":{"a":[1,"x"]}}` + "\n" +
		`{"junk":[{}],"jets":[],"id":2}`
	wantRows(t, text, Options{Paths: [][]string{{"jets", "pt"}, {"id"}}},
		object{"id": int64(1), "jets": []any{object{"pt": 1.5}, object{"pt": 2.0}}}, object{"id": int64(2), "jets": []any{}})
	wantRows(t, text, Options{Paths: [][]string{{"jets"}, {"jets", "pt"}}},
		object{"jets": []any{object{"pt": 1.5, "hits": []any{int64(1)}}, object{"pt": 2.0, "hits": []any{int64(2), int64(3)}}}}, object{"jets": []any{}})
	wantRows(t, text, Options{Paths: [][]string{{"nothing"}}}, object{}, object{})
	// What is skipped is checked all the same.
	for _, bad := range []string{`{"id":1,"x":[1,]}`, `{"id":1,"x":"\x"}`, `{"id":1,"x":{"a"}}`, `{"id":1,"x":01}`} {
		if e := wantError(t, bad, Options{Paths: [][]string{{"id"}}}); e.Code != Syntax || e.Path != "x" {
			t.Errorf("%q: %v", bad, e)
		}
	}
}

// Integers of which one is beyond int64 are uint64; with others than those of uint64
// they are refused, in whichever order they come.
func TestIntegersBeyondInt64AreUint64(t *testing.T) {
	const big, most = "9223372036854775808", "18446744073709551615"
	for _, text := range []string{big, big + "\n1", "1\n" + big, "1\nnull\n" + most + "\n2", "[1,2]\n[" + most + ",3]"} {
		for _, o := range []Options{{Missing: MissingMasked}, {Missing: MissingMasked, Unions: true}} {
			c := read(t, text, o).Column
			if c.Kind == List {
				c = c.Elem
			}
			if c.DType != dtype.Uint64 {
				t.Errorf("%q is %v", text, c.DType)
			}
		}
	}
	c := read(t, "1\n2\n"+most, Options{}).Column
	if v := Values[uint64](c); !slices.Equal(v, []uint64{1, 2, math.MaxUint64}) {
		t.Errorf("got %v", v)
	}
	u := read(t, "1\n"+most+"\nnull\n\"x\"\n5", Options{Missing: MissingMasked, Unions: true}).Column
	if v := Values[uint64](u.Fields[0].Column); u.Kind != Union || !slices.Equal(v, []uint64{1, math.MaxUint64, 5}) {
		t.Errorf("got %v of %v", v, u.Kind)
	}
	for _, text := range []string{"-1\n" + big, big + "\n-1", "1.5\n" + big, big + "\n1.5", big + "\n-0", "-0\n" + big, big + "\n1e2"} {
		if e := wantError(t, text, Options{}); e.Code != OutOfRange || e.Line != 2 {
			t.Errorf("%q: %v", text, e)
		}
	}
}

func TestOverflow(t *testing.T) {
	const big = "9223372036854775808"
	for _, text := range []string{"-9223372036854775809", "123456789012345678901234567890", "18446744073709551616"} {
		if e := wantError(t, text, Options{}); e.Code != OutOfRange {
			t.Errorf("%s: %v", text, e)
		}
		// It does not matter that the column is of floats for another reason.
		if e := wantError(t, "1.5\n"+text, Options{}); e.Code != OutOfRange || e.Line != 2 {
			t.Errorf("%s: %v", text, e)
		}
		if e := wantError(t, text, Options{Schema: int64s, Overflow: OverflowFloat}); e.Code != OutOfRange {
			t.Errorf("%s: %v", text, e)
		}
	}
	if e := wantError(t, big, Options{Schema: int64s}); e.Code != OutOfRange {
		t.Errorf("%s: %v", big, e)
	}
	wantRows(t, "1\n"+big, Options{Overflow: OverflowFloat}, 1.0, 9223372036854775808.0)
	wantRows(t, big, Options{Schema: float64s}, 9223372036854775808.0)
	wantRows(t, "-9223372036854775808\n9223372036854775807", Options{}, int64(math.MinInt64), int64(math.MaxInt64))
	for _, text := range []string{"1e400", "-1e309", "[1,1e999]"} {
		if e := wantError(t, text, Options{}); e.Code != OutOfRange {
			t.Errorf("%s: %v", text, e)
		}
	}
	// -0 is a float, for as an integer it would lose its sign.
	table := wantRows(t, "1\n-0", Options{}, 1.0, math.Copysign(0, -1))
	if v := Values[float64](table.Column)[1]; !math.Signbit(v) {
		t.Errorf("-0 was read as %v", v)
	}
	wantRows(t, "-0", Options{Schema: int64s}, int64(0))
}

func TestUnicode(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`"\ud800"`, "\ufffd"}, {`"\udc00x"`, "\ufffdx"}, {`"\ud800\ud800\udc00"`, "\ufffd\U00010000"}, {`"\ud800A"`, "\ufffdA"},
		{"\"a\xffb\"", "a\ufffdb"}, {"\"\xe2\x82\"", "\ufffd\ufffd"}, {"\"12345678\xc0\xaf\\n\"", "12345678\ufffd\ufffd\n"},
	} {
		if e := wantError(t, test.text, Options{}); e.Code != BadText {
			t.Errorf("%q: %v", test.text, e)
		}
		wantRows(t, test.text, Options{Unicode: UnicodeReplace}, test.want)
		wantRows(t, `{`+test.text+`:1}`, Options{Unicode: UnicodeReplace}, object{test.want: int64(1)})
	}
}

func TestNonFinite(t *testing.T) {
	const text = "[1,NaN,Infinity,-Infinity]"
	if e := wantError(t, text, Options{}); e.Code != Syntax {
		t.Errorf("%v", e)
	}
	for _, schema := range []*Schema{nil, NewList(float64s)} {
		table := read(t, text, Options{NonFinite: true, Schema: schema})
		v := Values[float64](table.Column.Elem)
		if len(v) != 4 || v[0] != 1 || !math.IsNaN(v[1]) || !math.IsInf(v[2], 1) || !math.IsInf(v[3], -1) {
			t.Errorf("%v", v)
		}
	}
	for _, text := range []string{"-NaN", "Inf", "Infinit", "+Infinity", "NaNa", "nan", "-"} {
		if e := wantError(t, text, Options{NonFinite: true}); e.Code != Syntax {
			t.Errorf("%q: %v", text, e)
		}
	}
}

func TestDepth(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	read(t, nest(5), Options{MaxDepth: 5})
	for _, text := range []string{nest(6), strings.Repeat(`{"a":`, 6) + "1" + strings.Repeat("}", 6), nest(100000), strings.Repeat("[", 100000), strings.Repeat(`{"a":`, 100000)} {
		if e := wantError(t, text, Options{MaxDepth: 5}); e.Code != TooDeep {
			t.Errorf("%.20q: %v", text, e)
		}
		if e := wantError(t, `{"a":0,"b":`+text+"}", Options{MaxDepth: 5, Paths: [][]string{{"a"}}}); e.Code != TooDeep {
			t.Errorf("%.20q skipped: %v", text, e)
		}
	}
	if e := wantError(t, nest(1001), Options{}); e.Code != TooDeep {
		t.Errorf("%v", e)
	}
	read(t, nest(1000), Options{})
}

// Records that each have a field of their own would make columns that are nearly empty,
// and grow with the square of the input: their keys are data.
func TestObjectsWithVaryingKeysAreMaps(t *testing.T) {
	var b strings.Builder
	var want []any
	for i := range 6000 {
		key := "f" + strings.Repeat("0", i%7) + string(rune('a'+i%26)) + strings.Repeat("z", i/182)
		b.WriteString(`{"m":{"` + key + `":1}}` + "\n")
		want = append(want, object{"m": object{key: int64(1)}})
	}
	for name, o := range map[string]Options{
		"many":    {Missing: MissingMasked},
		"late":    {Missing: MissingMasked, ChunkSize: 2000, Workers: 3},
		"sparse":  {Missing: MissingMasked, MaxKeys: 1 << 20},
		"named":   {Maps: [][]string{{"m"}}},
		"batches": {Missing: MissingMasked, Maps: [][]string{{"m"}}, ChunkSize: 100},
	} {
		table := wantRows(t, b.String(), o, want...)
		if got := table.Schema.String(); got != "{m: map[string, int64]}" {
			t.Errorf("%s: schema %s", name, got)
		}
		// What was found is a schema to be given, and is written as it was.
		wantRows(t, b.String(), Options{Schema: table.Schema}, want...)
		out, err := Append(nil, table.Column, 0, table.Column.Len, WriteOptions{})
		if err != nil || string(out) != b.String() {
			t.Errorf("%s: written as %.60q, %v", name, out, err)
		}
	}
	// What can be read once only has to be known before, unless the beginning shows it.
	if _, err := Read([]Input{FromReader("r", strings.NewReader(b.String()))}, Options{Missing: MissingMasked}); err != nil {
		t.Error(err)
	}
	late := strings.Repeat("{\"m\":{\"a\":1}}\n", 1000) + b.String()
	_, err := Read([]Input{FromReader("r", strings.NewReader(late))}, Options{Missing: MissingMasked, ChunkSize: 1000})
	if err == nil || !strings.Contains(err.Error(), "Maps") {
		t.Errorf("got %v", err)
	}
	wide := `{"k":0`
	for i := range 3000 {
		wide += `,"` + strings.Repeat("k", 1+i%50) + strings.Repeat("j", i/50) + `":0`
	}
	c := read(t, wide+"}\n"+strings.Repeat("{}\n", 100000), Options{Missing: MissingMasked, Duplicates: DuplicateFirst}).Column
	if c.Kind != Map || c.Len != 100001 || c.Offsets[1] != 3000 || c.Offsets[100001] != 3000 {
		t.Errorf("%v of %d", c.Kind, c.Len)
	}
}

// Maps in maps and lists, of records and of what is missing, with each policy for keys
// that occur twice.
func TestMaps(t *testing.T) {
	o := Options{Missing: MissingMasked, Maps: [][]string{{"m"}, {"m", "*", "n"}, {"l"}}}
	text := `{"m":{"x":{"n":{"p":1},"k":true},"y":{"n":{}}},"l":[{"a":"1"},{}]}` + "\n" + `{"m":{},"l":[]}` + "\n" + `{"m":null}`
	table := wantRows(t, text, o,
		object{"m": object{"x": object{"n": object{"p": int64(1)}, "k": true}, "y": object{"n": object{}}}, "l": []any{object{"a": "1"}, object{}}},
		object{"m": object{}, "l": []any{}}, object{})
	if got, want := table.Schema.String(), "{m: ?map[string, {n: map[string, int64], k: ?bool}], l: ?var * map[string, string]}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	keys := `{"a":1,"b":2,"a":3}`
	for d, want := range map[Duplicate]object{DuplicateFirst: {"a": int64(1), "b": int64(2)}, DuplicateLast: {"a": int64(3), "b": int64(2)}} {
		wantRows(t, keys, Options{Duplicates: d, Maps: [][]string{nil}}, want)
	}
	many := `{"k0":0`
	for i := 1; i < 30; i++ {
		many += fmt.Sprintf(`,"k%d":0`, i)
	}
	for _, bad := range []string{keys, many + `,"k7":1}`} {
		if e := wantError(t, bad, Options{Maps: [][]string{nil}}); e.Code != DuplicateKey {
			t.Errorf("%s: %v", bad, e)
		}
	}
	if e := wantError(t, `{"m":{"x":{"n":1}}}`, Options{Schema: NewStruct(SchemaField{"m", NewMap(NewStruct(SchemaField{"n", texts}))})}); e.Path != "m.x.n" {
		t.Errorf("%v", e)
	}
}

// Any value is kept as its text, and fields are left out.
func TestRawAndExcluded(t *testing.T) {
	o := Options{Raw: [][]string{{"r"}, {"a", "r"}}, Exclude: [][]string{{"x"}, {"a", "x"}}}
	text := `{"r":{"k": [1,2.50] },"x":1,"a":{"r":null,"x":[],"k":1}}` + "\n" + `{"r":"s","x":"t","a":{"r": 1 ,"k":2}}`
	wantRows(t, text, o, object{"r": `{"k": [1,2.50] }`, "a": object{"r": "null", "k": int64(1)}}, object{"r": `"s"`, "a": object{"r": "1", "k": int64(2)}})
	if e := wantError(t, `{"r":{"k":}}`, o); e.Code != Syntax || e.Path != "r" {
		t.Errorf("%v", e)
	}
}

// A schema may be where inference begins.
func TestSchemaIsWidened(t *testing.T) {
	given := NewStruct(SchemaField{"a", &Schema{Kind: Int64}}, SchemaField{"b", &Schema{Kind: Int64, DType: dtype.Int8}}, SchemaField{"l", NewList(&Schema{Kind: Int64})})
	for _, size := range []int{0, 1} {
		o := Options{Schema: given, Widen: true, Missing: MissingMasked, ChunkSize: size}
		text := `{"a":1,"b":2,"l":[1]}` + "\n" + `{"a":1.5,"b":2,"l":null}` + "\n" + `{"a":null,"b":3,"l":[0.5],"c":{"d":true}}`
		table := wantRows(t, text, o, object{"a": 1.0, "b": int64(2), "l": []any{1.0}}, object{"a": 1.5, "b": int64(2)}, object{"b": int64(3), "l": []any{0.5}, "c": object{"d": true}})
		if got := table.Schema.String(); got != "{a: ?float64, b: int8, l: ?var * float64, c: ?{d: bool}}" {
			t.Errorf("schema %s", got)
		}
		if e := wantError(t, `{"a":1,"b":300,"l":[]}`, o); e.Code != OutOfRange {
			t.Error(e)
		}
	}
}

// Lenient reading goes by what most lines have, not by the first.
func TestLenientGoesByTheMajority(t *testing.T) {
	numbers := ""
	for i := range 1000 {
		numbers += fmt.Sprintf("{\"a\":%d}\n", i)
	}
	for _, first := range []string{`{"a":"N/A"}`, `{"a":"N/A","b":1}`, `{"a":[1]}`, `{"b":1}`, `[]`, `nonsense`} {
		table := read(t, first+"\n"+numbers, Options{Lenient: true})
		if table.Column.Len != 1000 || table.Skipped != 1 || table.Schema.String() != "{a: int64}" {
			t.Errorf("%s: %d rows of %v, %d skipped", first, table.Column.Len, table.Schema, table.Skipped)
		}
	}
	table := read(t, numbers+`{"a":1.5}`, Options{Lenient: true})
	if table.Skipped != 0 || table.Schema.String() != "{a: float64}" {
		t.Errorf("%d skipped of %v", table.Skipped, table.Schema)
	}
}

// The schema of all records is found without their columns.
func TestInferSeesWhatReadDoes(t *testing.T) {
	var b strings.Builder
	for i := range 40000 {
		fmt.Fprintf(&b, "{\"a\":%d,\"b\":[]}\n", i)
	}
	b.WriteString("{\"a\":null,\"b\":[{\"c\":1}],\"d\":1.5}\n")
	o := Options{Missing: MissingMasked}
	whole := read(t, b.String(), o)
	s, err := Infer([]Input{FromBytes([]byte(b.String()))}, o)
	if err != nil || s.String() != whole.Schema.String() {
		t.Errorf("got %v, %v, want %v", s, err, whole.Schema)
	}
	var e *Error
	if _, err := Infer([]Input{FromBytes([]byte(b.String()))}, Options{}); !errors.As(err, &e) || e.Code != MissingValue {
		t.Error(err)
	}
}

// Nor may there be any number of columns.
func TestTooWide(t *testing.T) {
	const text = `{"a":1,"b":[{"c":2}],"d":3}` // 6 columns with the root and the list's elements
	read(t, text, Options{MaxColumns: 6})
	if e := wantError(t, text, Options{MaxColumns: 5}); e.Code != TooWide || e.Column != 22 {
		t.Errorf("%v", e)
	}
	if e := wantError(t, "1\n\"a\"\ntrue", Options{MaxColumns: 2, Unions: true}); e.Code != TooWide || e.Line != 3 {
		t.Errorf("%v", e)
	}
	read(t, text, Options{MaxColumns: 5, Paths: [][]string{{"a"}, {"b"}}})
	table := wantRows(t, text+"\n"+text, Options{MaxColumns: 2, Lenient: true})
	if table.Skipped != 2 {
		t.Errorf("%d lines skipped", table.Skipped)
	}
}

// The schema that was found is one to be given.
func TestFoundSchema(t *testing.T) {
	table := read(t, `{"a":1,"b":{"c":[]}}`+"\n"+`{"a":2,"b":null}`, Options{Missing: MissingMasked})
	if got, want := table.Schema.String(), "{a: int64, b: ?{c: var * null}}"; got != want {
		t.Errorf("schema %s, want %s", got, want)
	}
	given := Options{Schema: table.Schema}
	wantRows(t, `{"b":{"c":["x"]},"a":1}`+"\n"+`{"a":2}`, given, object{"a": int64(1), "b": object{"c": []any{"x"}}}, object{"a": int64(2)})
	for text, code := range map[string]Code{`{"a":1.5}`: TypeMismatch, `{"b":null}`: MissingValue, `{"a":1,"b":{}}`: MissingValue, `{"a":1,"d":1}`: UnknownKey} {
		if e := wantError(t, text, given); e.Code != code {
			t.Errorf("%s: %v", text, e)
		}
	}
}

func TestDTypes(t *testing.T) {
	schema := func(d dtype.DType) Options { return Options{Schema: NewList(leaf(d))} }
	values := func(d dtype.DType, text string) any { return read(t, text, schema(d)).Column.Elem.Values }
	for _, test := range []struct {
		d    dtype.DType
		text string
		want any
		bad  []string
	}{
		{dtype.Int8, `[-128,0,127]`, []int8{-128, 0, 127}, []string{"-129", "128", "1000000000000"}},
		{dtype.Int16, `[-32768,32767]`, []int16{-32768, 32767}, []string{"-32769", "32768"}},
		{dtype.Int32, `[-2147483648,2147483647,7]`, []int32{math.MinInt32, math.MaxInt32, 7}, []string{"-2147483649", "2147483648"}},
		{dtype.Uint8, `[0,255]`, []uint8{0, 255}, []string{"-1", "256"}},
		{dtype.Uint16, `[0,65535]`, []uint16{0, 65535}, []string{"-1", "65536"}},
		{dtype.Uint32, `[0,4294967295]`, []uint32{0, math.MaxUint32}, []string{"-1", "4294967296"}},
		{dtype.Uint64, `[0,18446744073709551615,-0]`, []uint64{0, math.MaxUint64, 0}, []string{"-1", "18446744073709551616", "100000000000000000000"}},
		{dtype.Int64, `[-9223372036854775808,9223372036854775807]`, []int64{math.MinInt64, math.MaxInt64}, []string{"9223372036854775808"}},
		{dtype.Float32, `[0.1,16777217,3.4e38,1e-45]`, []float32{0.1, 16777216, 3.4e38, 1e-45}, []string{"3.5e38"}},
		{dtype.Float16, `[0.1,65504,1]`, []dtype.F16{dtype.F16From(0.1), dtype.F16From(65504), dtype.F16From(1)}, []string{"65520", "-1e9"}},
		{dtype.BFloat16, `[0.1,3e38]`, []dtype.BF16{dtype.BF16From(0.1), dtype.BF16From(3e38)}, []string{"1e39"}},
		{dtype.Float64, `[1,0.1,1e300]`, []float64{1, 0.1, 1e300}, []string{"1e309"}},
	} {
		if diff := cmp.Diff(test.want, values(test.d, test.text)); diff != "" {
			t.Errorf("%v: %s", test.d, diff)
		}
		for _, bad := range test.bad {
			for _, text := range []string{"[" + bad + "]", "[1," + bad + "]", "[" + bad + ",1]"} {
				if e := wantError(t, text, schema(test.d)); e.Code != OutOfRange {
					t.Errorf("%v: %v", test.d, e)
				}
			}
		}
	}
	// This decimal is just above the middle between two float32, and is rounded to
	// that middle as a float64: rounding twice would go the wrong way.
	const hard = "[1.00000017881393432617187500001]"
	if got := values(dtype.Float32, hard).([]float32)[0]; got != 1.0000002 {
		t.Errorf("float32 of %s is %v", hard, got)
	}
	for _, bad := range []string{"1.0", "1e2", `"1"`, "true", "[]"} {
		if e := wantError(t, "["+bad+"]", schema(dtype.Int64)); e.Code != TypeMismatch || e.Path != "[0]" {
			t.Errorf("%s: %v", bad, e)
		}
	}
}

func TestSchemaErrors(t *testing.T) {
	for _, test := range []struct {
		s    *Schema
		want string
	}{
		{&Schema{Kind: Int64, DType: dtype.Float32}, "the root: dtype float32 cannot store values of kind int64"},
		{leaf(dtype.Complex64), "the root: dtype complex64 cannot store values of kind null"},
		{&Schema{Kind: List}, "a list without Elem"},
		{NewStruct(named("a", nil)), `field "a" without a schema`},
		{NewStruct(named("a", NewList(&Schema{Kind: 99}))), "a[]: unknown kind 99"},
		{NewStruct(named("a", int64s), named("a", int64s)), `field "a" occurs twice`},
		{&Schema{Kind: Union, Fields: []SchemaField{named("", int64s), named("", float64s)}}, "two alternatives for a JSON number"},
		{&Schema{Kind: Union, Fields: []SchemaField{named("", &Schema{})}}, "null cannot be an alternative"},
		{&Schema{Kind: Int64, Default: "x"}, "default x (string) is not of kind int64"},
		{&Schema{Kind: Int64, DType: dtype.Int8, Default: int64(300)}, "default 300 is out of range of int8"},
		{&Schema{Kind: Bool, Missing: 9}, "policy 9"},
	} {
		_, err := ReadBytes([]byte("1"), Options{Schema: test.s})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.s.Kind, err, test.want)
		}
	}
}
