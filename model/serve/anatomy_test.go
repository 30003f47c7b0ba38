package serve_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

type seq struct{ named.Dim[seq] }

// Values of all types go to a function and come back: as JSON, and by their derived names.
func TestValuesOfEachType(t *testing.T) {
	flat := dense(dtype.Int64, -1)
	optional := func(splits ...int64) tenon.Spec {
		n := int(splits[len(splits)-1])
		return tenon.Must(ragged.FromRowSplits(tenon.Must(masked.New(tensor.Of(make([]int64, n), n), tensor.Of(make([]bool, n), n))), splits)).Spec()
	}
	either, ok := tenon.Merge(optional(0, 2), optional(0, 1, 3))
	if !ok {
		t.Fatal("the Specs have nothing in common")
	}
	number := tenon.Field{Name: "number", Spec: flat}
	union := tenon.Must(structured.NewUnion([]int8{0}, []structured.Field{{Name: "number", Value: tensor.Of([]int64{1})}, {Name: "word", Value: tensor.Of([]string{""})}})).Spec()
	unions := relaxed(t, union)
	lengths := tenon.Must(masked.New(tenon.Must(ragged.FromRowSplits([]int64{1}, []int64{0, 1})), tenon.Must(ragged.FromRowSplits([]bool{true}, []int64{0, 1}))))
	for _, c := range []struct {
		name string
		spec tenon.Spec
		json string
	}{
		{"unions", unions, `[{"number":1},{"word":"a"},{"number":2}]`},
		{"maps", tenon.Must(structured.NewMapSpec(shape.Of(-1), dense(dtype.Int64))), `[{"a":1,"b":2},{},{"a":3}]`},
		{"maps to lists", tenon.Must(structured.NewMapSpec(shape.Of(-1), dense(dtype.Int64, 2))), `[{"a":[1,2]},{}]`},
		{"maps and unions in records", tenon.Must(structured.NewSpec(shape.Of(-1), []tenon.Field{number,
			{Name: "map", Spec: tenon.Must(structured.NewMapSpec(shape.Of(-1), dense(dtype.String)))}, {Name: "either", Spec: unions}})),
			`[{"number":1,"map":{"k":"v"},"either":{"word":"w"}},{"number":2,"map":{},"either":{"number":5}}]`},
		{"a mask of two axes", tenon.Must(masked.NewSpec(dense(dtype.Int64, -1, 2), 2)), `[[1,null],[null,2],[3,4]]`},
		{"a mask of two axes of any size", tenon.Must(masked.NewSpec(dense(dtype.Int64, -1, -1, 2), 2)), `[[[1,2],null,[5,6]],[null,[3,4],null]]`},
		{"a mask of two axes in records", tenon.Must(structured.NewSpec(shape.Of(-1), []tenon.Field{number, {Name: "pair", Spec: tenon.Must(masked.NewSpec(dense(dtype.Int64, -1, 2), 2))}})),
			`[{"number":1,"pair":[1,null]},{"number":2,"pair":[null,null]}]`},
		{"a mask of rows", relaxed(t, lengths.Spec()), `[[1,null],[],[3]]`},
		{"numbers", flat, `[1,2]`},
		{"rows", rows(dtype.Int64), `[[1],[],[2,3]]`},
		{"optional numbers", tenon.Must(masked.NewSpec(flat, 1)), `[1,null,3]`},
		{"optional rows", tenon.Must(masked.NewSpec(rows(dtype.Int64), 1)), `[[1],null,[2,3]]`},
		{"numbers with a name", tenon.Must(named.NewSpec(flat, seq{})), `[1,2]`},
		{"rows of optional numbers", either, `[[1,null],[],[3]]`},
	} {
		s := serve.New(serve.Options{})
		same := serve.Func{Name: "same", Args: []serve.Arg{{Name: "x", Spec: c.spec}}, Results: []serve.Arg{{Name: "x", Spec: c.spec}}, Batched: true,
			Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) { return a, nil }}
		if err := s.Add(same); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		h := httptest.NewServer(s)
		if status, got := post(t, h.URL+"/call/same", `{"x":`+c.json+`}`); status != 200 || got != `{"x":`+c.json+`}` {
			t.Errorf("%s: %d %s", c.name, status, got)
		}
		apart(t, c.name, h.URL, `{"x":`+c.json+`}`)
		h.Close()
	}
}

// relaxed returns the Spec of any number of rows.
func relaxed(t testing.TB, s tenon.Spec) tenon.Spec {
	t.Helper()
	row, err := s.(tenon.Batcher).Unbatched()
	if err == nil {
		s, err = row.(tenon.Batcher).Batched(-1)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// apart sends a Value that JSON describes, and sends the columns that come back: their JSON is that
// of the first call.
func apart(t *testing.T, name, url, json string) {
	t.Helper()
	whole := strings.TrimSuffix(strings.TrimPrefix(json, `{"x":`), `}`)
	status, got := post(t, url+"/v2/models/same/infer", `{"inputs":[{"name":"x","datatype":"BYTES","shape":[1],"parameters":{"content_type":"json"},"data":`+whole+`}]}`)
	_, columns, ok := strings.Cut(got, `"outputs":`)
	if status != 200 || !ok {
		t.Errorf("%s: %d %s", name, status, got)
		return
	}
	if status, again := post(t, url+"/v2/models/same/infer", `{"inputs":`+columns); status != 200 || again != got {
		t.Errorf("%s: %d %s\nwant %s", name, status, again, got)
	}
}
