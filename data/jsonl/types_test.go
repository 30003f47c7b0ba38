package jsonl_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func written(t *testing.T, v tensor.Tensor) string {
	t.Helper()
	var b strings.Builder
	if err := jsonl.Write(&b, v, jsonl.WriteOptions{Array: true}); err != nil {
		t.Error(err)
	}
	return strings.TrimSpace(b.String())
}

// Every element type that JSON has a form for is written and read by a Spec.
func TestElementTypes(t *testing.T) {
	f16, bf16 := dtype.F16From(1.5), dtype.BF16From(-2)
	for want, v := range map[string]tensor.Tensor{
		"[true,false]":             tensor.Of([]bool{true, false}),
		"[-128,127]":               tensor.Of([]int8{-128, 127}),
		"[-32768,32767]":           tensor.Of([]int16{math.MinInt16, math.MaxInt16}),
		"[-2147483648,2147483647]": tensor.Of([]int32{math.MinInt32, math.MaxInt32}),
		"[-9223372036854775808,9223372036854775807]": tensor.Of([]int64{math.MinInt64, math.MaxInt64}),
		"[0,255]":                  tensor.Of([]uint8{0, 255}),
		"[0,65535]":                tensor.Of([]uint16{0, math.MaxUint16}),
		"[0,4294967295]":           tensor.Of([]uint32{0, math.MaxUint32}),
		"[0,18446744073709551615]": tensor.Of([]uint64{0, math.MaxUint64}),
		"[1.5,0.1]":                tensor.Of([]float32{1.5, 0.1}),
		"[1.5,1e-7]":               tensor.Of([]float64{1.5, 1e-7}),
		"[1.5]":                    tensor.Of([]dtype.F16{f16}),
		"[-2.0]":                   tensor.Of([]dtype.BF16{bf16}),
		`["a","ü\"\n\u0001"]`:      tensor.Of([]string{"a", "ü\"\n\x01"}),
		"[[[1,2],[3,4],[5,6]]]":    tensor.Of([]int64{1, 2, 3, 4, 5, 6}, 1, 3, 2),
		"[[],[]]":                  tensor.Of([]int64{}, 2, 0),
		"[7]":                      tensor.Scalar(int64(7)),
	} {
		if got := written(t, v); got != want {
			t.Errorf("%v is written as %s, want %s", v, got, want)
		}
		if v.Shape().Rank() == 0 || v.Shape().Size() == 0 {
			continue
		}
		s := must(structured.NewSpec(shape.OfRank(1), []tenon.Field{{Name: "x", Spec: v.Spec().(*tensor.Spec)}}))
		var b strings.Builder
		e := must(structured.FromFields([]structured.Field{{Name: "x", Value: v}}, shape.OfRank(1), structured.Options{}))
		if err := jsonl.Write(&b, e, jsonl.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		back, err := jsonl.Read(jsonl.Bytes([]byte(b.String())), jsonl.Options{Schema: s})
		if err != nil || !tensor.Equal(back, e, tensor.EqualOptions{}) {
			t.Errorf("%s is read as %v, %v", b.String(), back, err)
		}
	}
}

// Axes, uniform lists and unions keep their Specs where elements are missing or a variant
// does not occur.
func TestDeclared(t *testing.T) {
	axes := must(masked.NewSpec(tensor.NewSpec(dtype.Int64, shape.Of(-1, 2)), -1))
	lists := must(masked.NewSpec(must(ragged.NewSpec(dtype.String, shape.OfRank(2), 1, dtype.Int64)), 1))
	s := must(structured.NewSpec(shape.OfRank(1), []tenon.Field{{Name: "a", Spec: axes}, {Name: "b", Spec: lists}}))
	const text = `[{"a":[1,null],"b":["x"]},{"a":[null,4],"b":null}]`
	e := must(jsonl.Read(jsonl.Bytes([]byte(text)), jsonl.Options{Schema: s, Format: jsonl.Document}))
	if got := tenon.String(e.Spec()); got != "struct[2]{a: masked int64[2, 2], b: masked string[2, ~]}" || written(t, e) != text {
		t.Errorf("got %s, %s", got, written(t, e))
	}
	kinds := `[{"u":1},{"u":"x"},{"u":[{"v":1.5,"w":[1]}]},{"u":{"z":true}},{"u":null}]`
	o := jsonl.Options{Format: jsonl.Document, Missing: structured.MissingMasked, Unions: true}
	u := must(jsonl.Infer(jsonl.Bytes([]byte(kinds)), 0, o))
	some := must(jsonl.Read(jsonl.Bytes([]byte(`[{"u":"y"},{"u":2}]`)), jsonl.Options{Format: jsonl.Document, Schema: u}))
	if got := written(t, some); got != `[{"u":"y"},{"u":2}]` {
		t.Errorf("got %s", got)
	}
	all := must(jsonl.Read(jsonl.Bytes([]byte(kinds)), jsonl.Options{Format: jsonl.Document, Schema: u}))
	if !tenon.Compatible(must(all.Spec().(*structured.Spec).Unbatched()), must(some.Spec().(*structured.Spec).Unbatched())) || written(t, all) != kinds {
		t.Errorf("got %s as %v, want a Spec like %v", written(t, all), all.Spec(), some.Spec())
	}
	if got := written(t, must(all.Index(2))); got != `[{"u":[{"v":1.5,"w":[1]}]}]` {
		t.Errorf("a single record is written as %s", got)
	}
}

func TestWrongDefaults(t *testing.T) {
	s := must(structured.NewSpec(shape.OfRank(1), []tenon.Field{{Name: "a", Spec: tensor.NewSpec(dtype.Float32, shape.OfRank(1))}}))
	for _, c := range []struct {
		o    jsonl.Options
		text string
	}{
		{jsonl.Options{Defaults: map[string]any{"a": []int{1}}}, "want a bool"},
		{jsonl.Options{Schema: s, Defaults: map[string]any{"a": "x"}}, "the field is float32"},
		{jsonl.Options{Schema: s, Defaults: map[string]any{"a.b": 1}}, "not a record"},
		{jsonl.Options{Defaults: map[string]any{"a..b": 1}}, "empty"},
		{jsonl.Options{Schema: must(structured.NewSpec(shape.OfRank(2), nil))}, "rank 2"},
	} {
		if _, err := jsonl.Read(jsonl.Bytes(nil), c.o); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v: got %v", c.o.Defaults, err)
		}
	}
	e := must(jsonl.Read(jsonl.Bytes([]byte("{}\n")), jsonl.Options{Schema: s, Defaults: map[string]any{"a": 3}}))
	if got := written(t, e); got != `[{"a":3.0}]` {
		t.Errorf("got %s", got)
	}
}

// Deep nesting costs no more than its depth squared, and unions of lists do not repeat what
// is in them.
func TestDeep(t *testing.T) {
	const n = 60
	repeat := strings.Repeat
	o := jsonl.Options{Missing: structured.MissingMasked, Unions: true, Format: jsonl.Document}
	for _, text := range []string{
		repeat(`{"a":`, n) + "1" + repeat("}", n),
		repeat(`{"a":[`, n) + "1" + repeat("]}", n),
		repeat(`{"a":[1,`, n) + "1" + repeat("]}", n),
		repeat(`{"a":["x",{"b":[`, n) + "2" + repeat("]}]}", n),
		`{"a":` + repeat("[", n) + "1" + repeat("]", n) + "}",
		`{"a":` + repeat("[null,", 20) + "1" + repeat("]", 20) + "}",
	} {
		e := must(jsonl.Read(jsonl.Bytes([]byte(text)), o))
		if got := written(t, e); got != "["+text+"]" {
			t.Errorf("%s is written as %s", text, got)
		}
	}
	if _, err := jsonl.Read(jsonl.Bytes([]byte(`{"a":`+repeat("[", 200)+repeat("]", 200)+"}")), o); err == nil || !strings.Contains(err.Error(), "a: lists nest more than") {
		t.Errorf("got %v", err)
	}
}
