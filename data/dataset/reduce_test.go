package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// totals are what a loop keeps: a nest of Values.
type totals struct {
	Sum  tensor.Tensor
	Seen tensor.Tensor
}

func start() totals {
	return totals{tensor.Scalar(int64(0)), tensor.Scalar(int64(0))}
}

// add weighs elements by their place, so that the order counts.
func add(c totals, x tensor.Tensor) totals {
	n := ops.Add(c.Seen, int64(1))
	return totals{ops.Add(c.Sum, ops.Mul(n, ops.Sum(x))), n}
}

// A loop over a dataset gives the same in a traced function as in Go, also over streams, ahead,
// from a position, and of batches whose sizes differ.
func TestReduce(t *testing.T) {
	ten := dataset.FromRows[tensor.Tensor](tensor.Of([]int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))
	square := func(x tensor.Tensor) (tensor.Tensor, error) { return ops.Mul(x, x), nil }
	calls := 0
	for name, d := range map[string]*dataset.Dataset[tensor.Tensor]{
		"rows":           ten,
		"shuffled":       ten.Shuffle(3).Repeat(2),
		"batches":        ten.Shuffle(1).Batch(4, dataset.BatchOptions{}),
		"ragged batches": lists.Shuffle(2).Repeat(2).Batch(3, asRagged).Prefetch(2),
		"mapped batches": ten.Batch(4, dataset.BatchOptions{}).Map(square),
		"padded":         lists.Batch(3, dataset.BatchOptions{Kind: dataset.Padded, PadTo: map[string]int{"": 9}}),
		"bins":           lists.Pack(dataset.PackOptions{Length: 6}),
		"a stream":       rowStream.Map(square),
		"empty":          ten.Take(0),
	} {
		for _, o := range []dataset.ReduceOptions{{}, {From: 2}, {Count: 1}, {From: int32(1), Count: tensor.Scalar(int64(2))}, {From: 100}, {Count: 0}} {
			want := start()
			i, most := int64(0), int64(1<<62)
			if o.Count != nil {
				most = tensor.Item[int64](ops.Cast(o.Count, dtype.Int64))
			}
			from := int64(0)
			if o.From != nil {
				from = tensor.Item[int64](ops.Cast(o.From, dtype.Int64))
			}
			for x, err := range d.From(ctx, from) {
				if i == most {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				want, i = add(want, x), i+1
			}
			f := function.New(func(c totals) totals {
				calls++
				return dataset.Reduce(d, c, add, o)
			})
			eager := dataset.Reduce(d, start(), add, o)
			for k, got := range []totals{eager, f.Call(start()), f.Call(start())} {
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s %+v, %d: got %v, want %v", name, o, k, got, want)
				}
			}
		}
	}
	if calls != 9*6 {
		t.Errorf("%d traces, want one for each loop", calls)
	}
}

// Where a loop begins and ends may be computed, and the body takes values from around it.
func TestReduceInATrace(t *testing.T) {
	d := dataset.FromRows[tensor.Tensor](tensor.Of([]int64{1, 2, 3, 4, 5, 6})).Repeat(0)
	f := function.New(func(from, count, scale tensor.Tensor) tensor.Tensor {
		s := ops.Mul(scale, int64(10))
		return dataset.Reduce(d, tensor.Tensor(tensor.Scalar(int64(0))), func(c, x tensor.Tensor) tensor.Tensor { return ops.Add(c, ops.Mul(s, x)) },
			dataset.ReduceOptions{From: ops.Add(from, int64(1)), Count: count})
	})
	for _, c := range [][4]int64{{0, 2, 1, 50}, {4, 3, 2, 180}, {5, 0, 1, 0}, {1_000_000_000, 2, 1, 70}} {
		if got := tensor.Item[int64](f.Call(tensor.Scalar(c[0]), tensor.Scalar(c[1]), tensor.Scalar(c[2]))); got != c[3] {
			t.Errorf("%v: got %d", c, got)
		}
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 20 {
				if got := tensor.Item[int64](f.Call(tensor.Scalar(int64(0)), tensor.Scalar(int64(2)), tensor.Scalar(int64(1)))); got != 50 {
					t.Errorf("at the same time: %d", got)
				}
			}
		})
	}
	group.Wait()
}

// An epoch of training is one call: gradients are taken in the body.
func TestReduceTrains(t *testing.T) {
	type pair struct{ X, Y tensor.Tensor }
	x := ops.Cast(ops.Reshape(ops.Range(0, 24, 1), []int{12, 2}), dtype.Float64)
	y := ops.Sum(ops.Mul(x, []float64{2, -1}), -1)
	batches := dataset.FromRows(pair{ops.Div(x, 24.0), ops.Div(y, 24.0)}).Shuffle(1).Repeat(3).Batch(5, dataset.BatchOptions{}).Prefetch(2)
	step := func(w tensor.Tensor, b pair) tensor.Tensor {
		g := grad.Of(func(w tensor.Tensor) tensor.Tensor {
			return ops.Mean(ops.Square(ops.Sub(ops.Sum(ops.Mul(b.X, w), -1), b.Y)))
		})(w)
		return ops.Sub(w, ops.Mul(g, 0.1))
	}
	var w tensor.Tensor = tensor.Of([]float64{0, 0})
	want := w
	for b, err := range batches.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		want = step(want, b)
	}
	f := function.New(func(w tensor.Tensor) tensor.Tensor { return dataset.Reduce(batches, w, step) })
	if err := tensor.AllClose(f.Call(w), want); err != nil {
		t.Error(err)
	}
	// Outside of a trace the loop is Go, through which gradients go.
	loss := func(w tensor.Tensor) tensor.Tensor {
		return dataset.Reduce(batches, tensor.Tensor(tensor.Scalar(0.0)), func(c tensor.Tensor, b pair) tensor.Tensor {
			return ops.Add(c, ops.Sum(ops.Mul(ops.Sum(ops.Mul(b.X, w), -1), b.Y)))
		})
	}
	if g := grad.Of(loss)(w); tensor.Item[float64](ops.Sum(ops.Abs(g))) == 0 {
		t.Error("no gradient through a loop in Go")
	}
	_, err := tenon.Try(func() tensor.Tensor {
		return function.New(func(w tensor.Tensor) tensor.Tensor { return grad.Of(loss)(w) }).Call(w)
	})
	if e := tenon.AsError(err); e.Kind != tenon.ErrUnsupported || !strings.Contains(e.Msg, "no gradient") || !strings.Contains(e.Hint, "control.Fold ") {
		t.Errorf("through a traced loop: %v", err)
	}
	g, err := f.Trace(w)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.MarshalBinary(); err == nil || !strings.Contains(tenon.AsError(err).Hint, "dataset.Reduce") {
		t.Errorf("the loop is stored: %v", err)
	}
}

func TestReduceErrors(t *testing.T) {
	type number struct {
		X tensor.Tensor
		N int
	}
	boom := errors.New("boom")
	ten := dataset.FromRows[tensor.Tensor](tensor.Of([]int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))
	failing := ten.Map(func(x tensor.Tensor) (tensor.Tensor, error) {
		if tensor.Item[int64](x) == 7 {
			return nil, boom
		}
		return x, nil
	})
	swelling := dataset.FromSlice([]tensor.Tensor{tensor.Of([]int64{1}), tensor.Of([]int64{1, 2}), tensor.Of([]int64{1})})
	stopped, cancel := context.WithCancelCause(ctx)
	cancel(errors.New("enough"))
	unknown := []tenon.Spec{tensor.NewSpec(dtype.Int64, shape.Of(shape.Unknown))}
	sum := func(d *dataset.Dataset[tensor.Tensor], o dataset.ReduceOptions) func(ctx context.Context) (totals, error) {
		return func(ctx context.Context) (totals, error) {
			f := function.New(func(c totals) totals { return dataset.Reduce(d, c, add, o) })
			out, err := f.CallContext(ctx, start())
			if err != nil {
				return totals{}, err
			}
			return out[0].(totals), nil
		}
	}
	for name, c := range map[string]struct {
		f    func(ctx context.Context) (totals, error)
		ctx  context.Context
		want string
	}{
		"an element":     {sum(failing, dataset.ReduceOptions{}), ctx, "element 7: boom"},
		"another size":   {sum(swelling, dataset.ReduceOptions{}), ctx, "element 1"},
		"any size":       {sum(swelling, dataset.ReduceOptions{Specs: unknown}), ctx, ""},
		"other Specs":    {sum(ten, dataset.ReduceOptions{Specs: unknown}), ctx, "int64[]"},
		"too many Specs": {sum(ten, dataset.ReduceOptions{Specs: append(unknown, unknown...)}), ctx, "2 Specs"},
		"a position":     {sum(ten, dataset.ReduceOptions{From: 0.5}), ctx, "From is float64[]"},
		"before 0":       {sum(ten, dataset.ReduceOptions{From: -1}), ctx, "negative"},
		"not made":       {sum(ten.Take(-1), dataset.ReduceOptions{}), ctx, "Take"},
		"an end":         {sum(ten, dataset.ReduceOptions{}), stopped, "enough"},
		"Go data": {func(context.Context) (totals, error) {
			d := dataset.FromSlice([]number{{tensor.Scalar(int64(1)), 2}})
			return tenon.Try(func() totals {
				return function.New(func(c totals) totals {
					return dataset.Reduce(d, c, func(c totals, x number) totals { return add(c, x.X) })
				}).Call(start())
			})
		}, ctx, "N: elements hold a int"},
		"another structure": {func(context.Context) (totals, error) {
			return tenon.Try(func() totals {
				return dataset.Reduce(ten, start(), func(c totals, _ tensor.Tensor) totals { return totals{nil, c.Seen} })
			})
		}, ctx, "structure"},
	} {
		_, err := c.f(c.ctx)
		if text := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(text, c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
