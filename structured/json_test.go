package structured_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

type jsonRow struct{ named.Dim[jsonRow] }

// Values of every type are written as JSON, and read again by their Spec.
func TestJSON(t *testing.T) {
	f16 := func(x ...float64) (out []dtype.F16) {
		for _, v := range x {
			out = append(out, dtype.F16From64(v))
		}
		return out
	}
	records := tenon.Must(structured.FromNested([]any{
		map[string]any{"id": 1, "tags": []any{"a", "b"}, "at": map[string]any{"x": 0.5}},
		map[string]any{"id": 2, "tags": []any{}, "at": map[string]any{"x": math.NaN()}},
	}, structured.NestedOptions{}))
	missing := tenon.Must(structured.FromNested([]any{
		map[string]any{"id": 1, "name": "a"}, map[string]any{"id": nil, "name": nil},
	}, structured.NestedOptions{Missing: structured.MissingMasked}))
	for name, c := range map[string]struct {
		v    tenon.Value
		want string
	}{
		"floats":          {tensor.Of([]float32{1, 0.1, -2.5e30}), `[1.0,0.1,-2.5e+30]`},
		"no numbers":      {tensor.Of([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}), `["NaN","Infinity","-Infinity"]`},
		"half":            {tensor.Of(f16(0.5, 2)), `[0.5,2.0]`},
		"integers":        {tensor.Of([]int64{math.MaxInt64, math.MinInt64}), `[9223372036854775807,-9223372036854775808]`},
		"unsigned":        {tensor.Of([]uint64{math.MaxUint64}), `[18446744073709551615]`},
		"truth":           {tensor.Of([]bool{true, false}, 2, 1), `[[true],[false]]`},
		"complex":         {tensor.Of([]complex64{1 - 2i}), `[[1.0,-2.0]]`},
		"strings":         {tensor.Of([]string{"a\"b", "", "ü\n"}), `["a\"b","","ü\n"]`},
		"scalar":          {tensor.Scalar(int8(-3)), `-3`},
		"empty":           {tensor.Of([]float32{}, 2, 0), `[[],[]]`},
		"ragged":          {ragged.FromSlices([][]int32{{1, 2}, {}, {3}}), `[[1,2],[],[3]]`},
		"ragged, vectors": {tenon.Must(ragged.FromRowSplits(tensor.Of([]float32{1, 2, 3, 4}, 2, 2), []int32{0, 0, 2})), `[[],[[1.0,2.0],[3.0,4.0]]]`},
		"ragged, twice":   {tenon.Must(ragged.FromRowSplits(ragged.FromSlices([][]string{{"a"}, {}}), []int64{0, 2, 2})), `[[["a"],[]],[]]`},
		"masked":          {tenon.Must(masked.New([]int16{1, 2, 3}, []bool{true, false, true})), `[1,null,3]`},
		"masked, rows":    {tenon.Must(masked.New([][]float64{{1, 2}, {3, 4}}, []bool{false, true})), `[null,[3.0,4.0]]`},
		"masked, in rows": {tenon.Must(ragged.FromRowSplits(tenon.Must(masked.New([]int64{1, 2, 3}, []bool{true, false, true})), []int64{0, 2, 3})), `[[1,null],[3]]`},
		"named":           {named.Of([]float64{1, 2}, jsonRow{}), `[1.0,2.0]`},
		"records":         {records, `[{"at":{"x":0.5},"id":1,"tags":["a","b"]},{"at":{"x":"NaN"},"id":2,"tags":[]}]`},
		"missing":         {missing, `[{"id":1,"name":"a"},{"id":null,"name":null}]`},
		"by components":   {tenon.Must(sparse.New(tensor.Of([]int64{0, 1}, 1, 2), []float64{3}, []int64{2, 2})), ``},
	} {
		b, err := json.Marshal(c.v)
		if c.want == "" && err == nil {
			b, err = tensor.AppendJSON(nil, c.v)
		}
		if err != nil || c.want != "" && string(b) != c.want {
			t.Errorf("%s: got %s, %v, want %s", name, b, err, c.want)
			continue
		}
		in := struct{ V tensor.JSON }{tensor.JSON{Of: c.v.Spec()}}
		doc := append(append([]byte(`{"V":`), b...), '}')
		// What fills the place of a missing element is not written.
		filled := strings.HasPrefix(name, "masked") || name == "missing"
		if err := json.Unmarshal(doc, &in); err != nil || !filled && !tensor.Equal(in.V.Value, c.v, tensor.EqualOptions{NaN: true}) || !tenon.Belongs(in.V.Value, c.v.Spec()) {
			t.Errorf("%s: %s reads back as %v, %v", name, b, in.V.Value, err)
		}
		if again, err := json.Marshal(in); err != nil || !bytes.Equal(again, doc) {
			t.Errorf("%s: written again: %s, %v", name, again, err)
		}
	}
}

// Fields by themselves are written by encoding/json, and read again by their Spec.
func TestJSONOfFields(t *testing.T) {
	o := structured.NestedOptions{Unions: true, Maps: []string{"m"}, Missing: structured.MissingMasked}
	s := tenon.Must(structured.FromNested([]any{
		map[string]any{"u": 1, "m": map[string]any{"a": 1}}, map[string]any{"u": "x", "m": map[string]any{}}, map[string]any{"u": []any{1.5}, "m": map[string]any{"b": 2, "c": 3}},
	}, o)).(*structured.Tensor)
	words := tenon.Must(structured.EncodeStrings(tensor.Of([]string{"b", "a", "b"})))
	for name, c := range map[string]struct {
		v    tenon.Value
		want string
	}{
		"union":      {s.Path("u"), `{"elements":[{"list":[],"number":1,"string":"","tag":0},{"list":[],"number":0,"string":"x","tag":1},{"list":[1.5],"number":0,"string":"","tag":2}]}`},
		"map":        {s.Path("m"), `[{"a":1},{},{"b":2,"c":3}]`},
		"dictionary": {words, `["b","a","b"]`},
	} {
		if b, err := json.Marshal(c.v); err != nil || string(b) != c.want {
			t.Errorf("%s: got %s, %v, want %s", name, b, err, c.want)
		}
		back, err := tensor.ParseJSON([]byte(c.want), c.v.Spec())
		if err != nil || !tenon.Belongs(back, c.v.Spec()) || !tensor.Equal(back, c.v, tensor.EqualOptions{}) {
			t.Errorf("%s reads back as %v, %v", name, back, err)
		}
	}
}

func TestJSONWithoutASpec(t *testing.T) {
	for text, want := range map[string]string{
		`[[1,2],[3,4]]`: "int64[2, 2]", `[1,2.5]`: "float64[2]", `[1.0]`: "float64[1]", `"a"`: "string[]", `[true]`: "bool[1]", `[]`: "float64[0]", `[1.5,"NaN"]`: "float64[2]",
	} {
		v, err := tensor.ParseJSON([]byte(text), nil)
		if err != nil || tenon.String(v.Spec()) != want {
			t.Errorf("%s: got %v, %v, want %s", text, v, err, want)
		}
	}
}

func TestJSONThatDoesNotFit(t *testing.T) {
	spec := func(d dtype.DType, dims ...int) tenon.Spec { return tensor.NewSpec(d, shape.Of(dims...)) }
	rows := ragged.FromSlices([][]int32{{1}}).Spec()
	for _, c := range []struct {
		text string
		s    tenon.Spec
		want string
	}{
		{`[1,2`, nil, "unexpected"},
		{`[1] 2`, nil, "text after"},
		{`[[1,2],[3]]`, nil, "[1]: want a list of 2, got one of 1"},
		{`[1,"a"]`, nil, "int64 and string"},
		{`{"a":1}`, nil, "an object"},
		{`[1,null]`, spec(dtype.Int32, -1), "[1]: want int32, got null"},
		{`[1,2,3]`, spec(dtype.Float32, 2), "want a list of 2, got one of 3"},
		{`[300]`, spec(dtype.Uint8, 1), "300"},
		{`[1.5]`, spec(dtype.Int8, 1), "want int8, got the number 1.5"},
		{`[1e400]`, spec(dtype.Float64, 1), "1e400"},
		{`["nan"]`, spec(dtype.Float64, 1), `the string "nan"`},
		{`[[1,2,3]]`, spec(dtype.Complex64, 1), "a list of 3"},
		{`[1]`, rows, "nested 2 deep"},
		{`[["a"]]`, rows, "int32"},
		{`{"a":1}`, tenon.Must(sparse.New(tensor.Of([]int64{0, 1}, 1, 2), []float64{3}, []int64{2, 2})).Spec(), "missing"},
	} {
		_, err := tensor.ParseJSON([]byte(c.text), c.s)
		if !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.text, err, c.want)
		}
	}
	if b, err := json.Marshal(tensor.Of([]string{"\xff"})); err == nil {
		t.Errorf("a string that is not UTF-8 is %s", b)
	}
}

func TestLogsHaveOneLine(t *testing.T) {
	var b strings.Builder
	log := slog.New(slog.NewTextHandler(&b, nil))
	log.Info("x", "small", tensor.Of([]float32{1, 2}, 2, 1), "large", tensor.Of(make([]float32, 1000)), "rows", ragged.FromSlices([][]int32{{1}, {}}), "missing", tenon.Must(masked.New([]int8{1}, []bool{false})))
	for _, want := range []string{`small="float32[2, 1] [[1.0],[2.0]]"`, "large=float32[1000]", `rows="int32[2, ~] [[1],[]]"`, "[null]"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got %s, want %s", b.String(), want)
		}
	}
	if n := strings.Count(b.String(), "\n"); n != 1 {
		t.Errorf("%d lines: %s", n, b.String())
	}
}
