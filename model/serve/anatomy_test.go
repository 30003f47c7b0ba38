package serve_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
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
	wordsSpec := relaxed(t, tenon.Must(structured.EncodeStrings([]string{"a"})).Spec())
	at := tenon.Must(element.Parse([]string{"2024-02-29T10:11:12Z"}, element.TimestampOf(time.Millisecond, "UTC")))
	times := relaxed(t, at.Spec())
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
		{"words", wordsSpec, `["a","b","a",""]`},
		{"times", times, `["2024-02-29T10:11:12.500Z","1969-12-31T23:59:59.999Z"]`},
		{"optional times", tenon.Must(masked.NewSpec(times, 1)), `["2024-02-29T10:11:12.000Z",null]`},
		{"rows of times", relaxed(t, tenon.Must(ragged.FromRowSplits(at, []int64{0, 1})).Spec()), `[["2024-02-29T10:11:12.000Z"],[]]`},
		{"times and words in records", tenon.Must(structured.NewSpec(shape.Of(-1), []tenon.Field{{Name: "at", Spec: times}, {Name: "word", Spec: wordsSpec}})),
			`[{"at":"2024-02-29T10:11:12.000Z","word":"a"}]`},
		{"long decimals", relaxed(t, tenon.Must(element.Parse([]string{"0"}, element.DecimalOf(30, 2))).Spec()), `["-12.30","1234567890123456789012345.67"]`},
		{"sparse rows", sparse.NewSpec(dtype.Int64, shape.Of(-1, 3)), `{"indices":[[0,1],[1,2]],"values":[5,6],"dense_shape":[2,3]}`},
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

// What does not go together is told by the names of what was sent.
func TestPartsThatDoNotFit(t *testing.T) {
	at := tenon.Must(element.Parse([]string{"2024-02-29"}, element.Type{Kind: element.Date}))
	record := tenon.Must(structured.NewSpec(shape.Of(-1), []tenon.Field{{Name: "at", Spec: relaxed(t, at.Spec())}, {Name: "n", Spec: dense(dtype.Int64, -1)}}))
	uniform := tenon.Must(structured.NewSpec(shape.Of(-1, 2), []tenon.Field{{Name: "n", Spec: dense(dtype.Int64, -1, 2)}}))
	s := serve.New(serve.Options{})
	for name, spec := range map[string]tenon.Spec{"day": relaxed(t, at.Spec()), "days": tenon.Must(masked.NewSpec(relaxed(t, at.Spec()), 1)), "record": record,
		"sparse": sparse.NewSpec(dtype.Int64, shape.Of(-1, 3)), "pairs": uniform} {
		x := []serve.Arg{{Name: "x", Spec: spec}}
		if err := s.Add(serve.Func{Name: name, Args: x, Results: x, Call: func(_ context.Context, a []tenon.Value) ([]tenon.Value, error) { return a, nil }}); err != nil {
			t.Fatal(err)
		}
	}
	h := httptest.NewServer(s)
	defer h.Close()
	tensors := func(list ...string) string { return `{"inputs":[` + strings.Join(list, ",") + `]}` }
	input := func(name, datatype, shape, data string) string {
		return `{"name":"` + name + `","datatype":"` + datatype + `","shape":` + shape + `,"data":` + data + `}`
	}
	for _, c := range []struct{ path, body, says string }{
		{"call/day", `{"x":["2024-02-29","2023-02-29"]}`, "x[1] is the text"},
		{"call/day", `{"x":[""]}`, "x[0] is the text"},
		{"call/day", `{"x":[17]}`, "x[0] is 17, want a text"},
		{"call/record", `{"x":[{"at":"soon","n":1}]}`, "x[0].at is the text"},
		{"call/sparse", `{"x":{"indices":[[0,3]],"values":[1],"dense_shape":[1,3]}}`, "x: "},
		{"call/sparse", `{"x":{"indices":[[5,0]],"values":[1],"dense_shape":[1,3]}}`, "x: "},
		{"call/sparse", `{"x":{"indices":[[0,0]],"values":[1,2],"dense_shape":[1,3]}}`, "x: "},
		{"call/sparse", `{"x":{"indices":[[0,0]],"values":[1],"dense_shape":[1]}}`, "x.dense_shape has 1 entries"},
		{"call/sparse", `{"x":{"indices":[],"values":[],"dense_shape":[-1,3]}}`, "x: "},
		{"call/sparse", `{"x":[[1,2,3]]}`, "x is a list, want an object"},
		{"v1/models/sparse:predict", `{"instances":[[1,2,3]]}`, "x is a list, want an object"},
		{"v2/models/day/infer", tensors(input("x", "BYTES", "[2]", `["2024-02-29","no day"]`)), "x: element 1"},
		{"v2/models/day/infer", tensors(input("x", "INT32", "[1]", `[1]`)), "x has elements of type INT32, want BYTES"},
		{"v2/models/days/infer", tensors(input("x.mask", "BOOL", "[2]", `[false,true]`), input("x.values", "BYTES", "[2]", `["","no day"]`)), "x.values: element 1"},
		{"v2/models/sparse/infer", tensors(input("x.indices", "INT64", "[1,2]", `[9,9]`), input("x.values", "INT64", "[1]", `[1]`), input("x.dense_shape", "INT64", "[2]", `[4,3]`)), "x: "},
		{"v2/models/pairs/infer", tensors(input("x.n", "INT64", "[3]", `[1,2,3]`)), "x"},
	} {
		status, got := post(t, h.URL+"/"+c.path, c.body)
		if status != 400 || !strings.Contains(got, `{"error":"`+c.says) || strings.Contains(got, ".go:") {
			t.Errorf("%s %s: %d %s, want 400 with %q", c.path, c.body, status, got, c.says)
		}
	}
	for _, c := range []struct{ path, body, want string }{
		{"v2/models/days/infer", tensors(input("x.mask", "BOOL", "[2]", `[false,true]`), input("x.values", "BYTES", "[2]", `["no day","2024-02-29"]`)), `"2024-02-29"`},
		{"v1/models/sparse:predict", `{"inputs":{"indices":[[0,1]],"values":[7],"dense_shape":[1,3]}}`, `{"outputs":{"indices":[[0,1]],"values":[7],"dense_shape":[1,3]}}`},
		{"v2/models/pairs/infer", tensors(input("x.n", "INT64", "[4]", `[1,2,3,4]`)), `[1,2,3,4]`},
	} {
		if status, got := post(t, h.URL+"/"+c.path, c.body); status != 200 || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %d %s, want %q", c.path, c.body, status, got, c.want)
		}
	}
}
