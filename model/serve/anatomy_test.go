package serve_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ragged"
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
	for _, c := range []struct {
		name string
		spec tenon.Spec
		json string
	}{
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
		h.Close()
	}
}
