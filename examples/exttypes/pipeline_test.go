package exttypes_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// inCache writes elements to files, and reads them by their numbers.
func inCache(t *testing.T, r row) {
	d := dataset.FromSlice([]tenon.Value{r.a, r.b})
	c, err := d.Cache(context.Background(), filepath.Join(t.TempDir(), "cache"), "1", dataset.CacheOptions{})
	if err != nil {
		refused(t, "the cache", err)
		return
	}
	elementsAre(t, c, r.a, r.b)
}

// inShare divides a batch of two elements among two processes.
func inShare(t *testing.T, r row) {
	batches := dataset.FromSlice([]tenon.Value{r.a, r.b}).Batch(2, dataset.BatchOptions{Kind: dataset.Ragged})
	for i, x := range []tenon.Value{r.a, r.b} {
		part, err := batches.Share(i, 2).At(0)
		if err != nil {
			refused(t, "the share", err)
			return
		}
		if got := must(ext.Row(part, 0)); !tensor.Equal(plain(got), plain(x), tensor.EqualOptions{}) {
			t.Errorf("the share %d is %v, want %v", i, got, x)
		}
	}
}

// inReduce loops over elements, in a traced function too: the carry is one that was read before.
func inReduce(t *testing.T, r row) {
	type carry struct {
		Last tenon.Value
		N    tensor.Tensor
	}
	both, ok := tenon.Merge(r.a.Spec(), r.b.Spec())
	if !ok {
		t.Fatal("the Specs have nothing in common")
	}
	loop := func(c carry) carry {
		return dataset.Reduce(dataset.FromSlice([]tenon.Value{r.a, r.b, r.a}), c, func(c carry, x tenon.Value) carry {
			return carry{x, ops.Add(c.N, int64(1))}
		}, dataset.ReduceOptions{Specs: []tenon.Spec{both}})
	}
	for name, f := range map[string]func(carry) carry{"eager": loop, "traced": function.New(loop).Call} {
		got := f(carry{r.b, tensor.Scalar(int64(0))})
		sameParts(t, name, got.Last, r.a)
		if n := fmt.Sprint(got.N); n != "3 int64[]" {
			t.Errorf("%s: %s elements", name, n)
		}
	}
}
