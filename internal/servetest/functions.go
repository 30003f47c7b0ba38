package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

type (
	values = []tenon.Value
	call   = func(ctx context.Context, args values) (values, error)
)

func dense(d dtype.DType, dims ...int) tenon.Spec { return tensor.NewSpec(d, shape.Of(dims...)) }

func raggedRows(d dtype.DType) tenon.Spec {
	return tenon.Must(ragged.NewSpec(d, shape.Of(-1, -1), 1, dtype.Int64))
}

func records(fields ...tenon.Field) tenon.Spec {
	return tenon.Must(structured.NewSpec(shape.Of(-1), fields))
}

// one makes a call from a function with one result.
func one(f func(args values) tenon.Value) call {
	return func(_ context.Context, args values) (values, error) { return values{f(args)}, nil }
}

func functions() []serve.Func {
	out := []serve.Func{
		{Name: "echo", Args: []serve.Arg{{Name: "x"}}, Results: []serve.Arg{{Name: "y"}},
			Call: one(func(a values) tenon.Value { return a[0] })},
		{Name: "axpy", Doc: "a·x + y",
			Args:    []serve.Arg{{Name: "a", Spec: dense(dtype.Float32)}, {Name: "x", Spec: dense(dtype.Float32, -1)}, {Name: "y", Spec: dense(dtype.Float32, -1)}},
			Results: []serve.Arg{{Name: "z", Spec: dense(dtype.Float32, -1)}},
			Call:    one(func(a values) tenon.Value { return ops.Add(ops.Mul(a[0], a[1]), a[2]) })},
		{Name: "ragged_sum", Batched: true, Doc: "the sum of each row",
			Args: []serve.Arg{{Name: "tokens", Spec: raggedRows(dtype.Int64)}}, Results: []serve.Arg{{Name: "sums", Spec: dense(dtype.Int64, -1)}},
			Call: one(func(a values) tenon.Value { return ops.Sum(a[0], -1) })},
		{Name: "ragged_softmax", Batched: true, Doc: "the softmax of each row",
			Args: []serve.Arg{{Name: "x", Spec: raggedRows(dtype.Float32)}}, Results: []serve.Arg{{Name: "y", Spec: raggedRows(dtype.Float32)}},
			Call: one(func(a values) tenon.Value { return ops.Softmax(a[0], -1) })},
		score(), slow(), fail(), picky(), tick(), twoOutputs(), generate(),
	}
	for _, d := range []dtype.DType{dtype.Bool, dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64, dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64,
		dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64, dtype.String} {
		out = append(out, serve.Func{Name: "echo_" + d.String(), Args: []serve.Arg{{Name: "x", Spec: dense(d, -1, -1)}}, Results: []serve.Arg{{Name: "y", Spec: dense(d, -1, -1)}},
			Call: one(func(a values) tenon.Value { return a[0] })})
	}
	return out
}

func score() serve.Func {
	item := tenon.Must(structured.NewSpec(shape.Of(-1, -1), []tenon.Field{
		{Name: "price", Spec: raggedRows(dtype.Float64)}, {Name: "qty", Spec: raggedRows(dtype.Int64)}}))
	arg := records(
		tenon.Field{Name: "id", Spec: dense(dtype.Int64, -1)},
		tenon.Field{Name: "name", Spec: dense(dtype.String, -1)},
		tenon.Field{Name: "tags", Spec: raggedRows(dtype.String)},
		tenon.Field{Name: "items", Spec: item},
		tenon.Field{Name: "note", Spec: tenon.Must(masked.NewSpec(dense(dtype.String, -1), 1))},
	)
	result := records(
		tenon.Field{Name: "id", Spec: dense(dtype.Int64, -1)},
		tenon.Field{Name: "total", Spec: dense(dtype.Float64, -1)},
		tenon.Field{Name: "ntags", Spec: dense(dtype.Int64, -1)},
	)
	return serve.Func{Name: "score", Batched: true, Doc: "what the items of each record cost",
		Args: []serve.Arg{{Name: "records", Spec: arg}}, Results: []serve.Arg{{Name: "result", Spec: result}},
		Call: one(func(a values) tenon.Value { return scored(a[0].(*structured.Tensor)) })}
}

// scored adds prices from left to right, like the definition of the function, so that the last bit
// agrees with any other implementation.
func scored(t *structured.Tensor) tenon.Value {
	field := func(path ...string) tensor.Tensor { return tenon.Must(t.Field(path...)) }
	price, qty := field("items", "price").(*ragged.Tensor), field("items", "qty").(*ragged.Tensor)
	splits := tensor.Data[int64](price.RowSplits())
	p, q := tensor.Data[float64](price.FlatValues()), tensor.Data[int64](qty.FlatValues())
	note := field("note").(*masked.Tensor)
	texts, there := note.Values(), tensor.Data[bool](note.Full())
	total := make([]float64, len(splits)-1)
	for i := range total {
		if there[i] && tensor.Data[string](texts)[i] == "void" {
			continue
		}
		for k := splits[i]; k < splits[i+1]; k++ {
			total[i] += float64(p[k] * float64(q[k]))
		}
	}
	tags := field("tags").(*ragged.Tensor)
	return tenon.Must(structured.FromFields([]structured.Field{
		{Name: "id", Value: field("id")},
		{Name: "total", Value: tensor.Of(total, len(total))},
		{Name: "ntags", Value: tenon.Must(tags.RowLengths(1))},
	}, shape.Of(len(total)), structured.Options{}))
}

func slow() serve.Func {
	return serve.Func{Name: "slow", Doc: "x after ms milliseconds",
		Args:    []serve.Arg{{Name: "ms", Spec: dense(dtype.Int64)}, {Name: "x", Spec: dense(dtype.Float32, -1)}},
		Results: []serve.Arg{{Name: "y", Spec: dense(dtype.Float32, -1)}},
		Call: func(ctx context.Context, a values) (values, error) {
			t := time.NewTimer(time.Duration(tensor.Item[int64](a[0])) * time.Millisecond)
			defer t.Stop()
			select {
			case <-t.C:
				return values{a[1]}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
}

func fail() serve.Func {
	return serve.Func{Name: "fail", Doc: "fails as it is asked to",
		Args: []serve.Arg{{Name: "kind", Spec: dense(dtype.String)}}, Results: []serve.Arg{{Name: "ok", Spec: dense(dtype.Bool)}},
		Call: func(_ context.Context, a values) (values, error) {
			switch kind := tensor.Item[string](a[0]); kind {
			case "none":
				return values{tensor.Scalar(true)}, nil
			case "invalid":
				return nil, tenon.NewError(tenon.ErrInvalid, "fail", "asked to fail")
			case "panic":
				var nothing values
				return nothing[:1:1], nil // a bug in the function: Go panics
			default:
				return nil, errors.New("asked to fail")
			}
		}}
}

func picky() serve.Func {
	return serve.Func{Name: "picky", Batched: true, Doc: "the square root; fails for negative numbers",
		Args: []serve.Arg{{Name: "x", Spec: dense(dtype.Float32, -1)}}, Results: []serve.Arg{{Name: "y", Spec: dense(dtype.Float32, -1)}},
		Call: func(_ context.Context, a values) (values, error) {
			for i, x := range tensor.Data[float32](a[0]) {
				if x < 0 {
					return nil, tenon.NewError(tenon.ErrInvalid, "picky", fmt.Sprintf("x[%d] is %g", i, x))
				}
			}
			return values{ops.Sqrt(a[0])}, nil
		}}
}

func tick() serve.Func {
	var count atomic.Int64
	return serve.Func{Name: "tick", Doc: "one more with each call", Results: []serve.Arg{{Name: "count", Spec: dense(dtype.Int64)}},
		Call: one(func(values) tenon.Value { return tensor.Scalar(count.Add(1)) })}
}

func twoOutputs() serve.Func {
	return serve.Func{Name: "two_outputs", Doc: "sum and mean",
		Args:    []serve.Arg{{Name: "x", Spec: dense(dtype.Float32, -1)}},
		Results: []serve.Arg{{Name: "sum", Spec: dense(dtype.Float32)}, {Name: "mean", Spec: dense(dtype.Float32)}},
		Call: func(_ context.Context, a values) (values, error) {
			sum, x := float32(0), tensor.Data[float32](a[0])
			for _, v := range x {
				sum += v
			}
			mean := float32(math.NaN())
			if len(x) > 0 {
				mean = sum / float32(len(x))
			}
			return values{tensor.Scalar(sum), tensor.Scalar(mean)}, nil
		}}
}

func generate() serve.Func {
	return serve.Func{Name: "generate", Doc: "n results, one after the other",
		Args:    []serve.Arg{{Name: "prompt", Spec: raggedRows(dtype.Int64)}, {Name: "n", Spec: dense(dtype.Int64)}},
		Results: []serve.Arg{{Name: "step", Spec: dense(dtype.Int64)}, {Name: "token", Spec: dense(dtype.Int64, -1)}},
		Stream: func(ctx context.Context, a values, send func(results values) error) error {
			n := tensor.Item[int64](a[1])
			if n < 0 {
				return tenon.NewError(tenon.ErrInvalid, "generate", fmt.Sprintf("n is %d", n))
			}
			sums := ops.Sum(a[0], -1)
			for i := range n {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := send(values{tensor.Scalar(i), ops.Mod(ops.Add(sums, i), int64(1000))}); err != nil {
					return err
				}
			}
			return nil
		}}
}
