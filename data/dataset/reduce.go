package dataset

import (
	"context"
	"iter"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// ReduceOptions control which elements [Reduce] reads. The zero value reads all of them.
type ReduceOptions struct {
	// From is the position at which the loop begins, as in [Dataset.From], and Count the
	// largest number of elements that it reads. Both are integer scalars, such as 5 or a
	// tensor, which may be symbolic. Nil means the beginning, and as many as there are.
	From, Count any

	// Specs are the Specs of the Values in every element, in the order of [Dataset.Specs]. Nil
	// means those known to the stages or, if these do not know them, the Specs common to the
	// first and the last element.
	Specs []tenon.Spec
}

// Reduce runs body over the elements with a carry, a nest of Values, and returns the final carry:
//
//	for each element x: carry = body(carry, x)
//
// In a traced function the loop is part of the graph and reads the elements each time it runs; the body is traced
// once, for any element. Training over all batches of an epoch is then a single call:
//
//	epoch := function.New(func(w Weights, first tensor.Tensor) Weights {
//		return dataset.Reduce(batches, w, step, dataset.ReduceOptions{From: first, Count: 1000})
//	})
//
// There, elements must consist of Values only. The loop itself has no gradient and cannot be stored, but the body may
// take gradients and may be stored: see control.FoldSeq for the reasons and for alternatives. Reduce throws errors.
func Reduce[C, T any](d *Dataset[T], carry C, body func(C, T) C, opts ...ReduceOptions) C {
	var o ReduceOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	tenon.Throw(d.err)
	s := control.Source[T]{Args: []tensor.Tensor{scalarOf("From", o.From, 0), scalarOf("Count", o.Count, -1)}, Specs: o.Specs}
	s.Open = func(ctx context.Context, args []tensor.Tensor) iter.Seq2[T, error] {
		return d.part(ctx, tensor.Item[int64](args[0]), tensor.Item[int64](args[1]))
	}
	if graph.Current() != nil { // the Specs of all elements must be known before one is read
		var none bool
		var err error
		s.Like, s.Specs, none, err = d.sample(o.Specs)
		tenon.Throw(err)
		if none {
			return carry
		}
	}
	return control.FoldSeq(body, carry, s)
}

// scalarOf returns x as an integer scalar, or otherwise if x is nil.
func scalarOf(what string, x any, otherwise int64) tensor.Tensor {
	if x == nil {
		return tensor.Scalar(otherwise)
	}
	t := tenon.Must(tensor.Convert(x))
	if !t.DType().IsInteger() || t.Shape().HasRank() && t.Shape().Rank() != 0 {
		tenon.Throw(invalid("Reduce", "%s is %s, not a number of elements", what, tenon.String(t.Spec())))
	}
	return ops.Cast(t, dtype.Int64)
}

// part returns count elements from a position on, or all if count is -1.
func (d *Dataset[T]) part(ctx context.Context, position, count int64) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if count == 0 {
			return
		}
		for x, err := range d.From(ctx, position) {
			if count--; !yield(x, err) || count == 0 {
				return
			}
		}
	}
}

// sample returns an element and the Specs of all elements, as far as they can be determined.
func (d *Dataset[T]) sample(specs []tenon.Spec) (like T, _ []tenon.Spec, none bool, err error) {
	none = true
	for x, err := range d.All(context.Background()) {
		if err != nil {
			return x, nil, false, err
		}
		like, none = x, false
		break
	}
	if none || specs != nil {
		return like, specs, none, nil
	}
	fields := d.n.fields()
	if fields == nil {
		if fields, err = specsOf(like); err != nil {
			return like, nil, false, err
		}
		if n, ok := d.Len(); ok && n > 1 && d.n.get != nil {
			last, err := d.At(n - 1)
			if err != nil {
				return like, nil, false, err
			}
			if fields, err = widened(fields, last); err != nil {
				return like, nil, false, err
			}
		}
	}
	for _, f := range fields {
		specs = append(specs, f.Spec)
	}
	return like, specs, false, nil
}

// widened returns the common Specs of fields and of the Values in x.
func widened(fields []tenon.Field, x any) ([]tenon.Field, error) {
	more, err := specsOf(x)
	if err != nil || len(more) != len(fields) {
		return fields, err
	}
	out := make([]tenon.Field, len(fields))
	for i, f := range fields {
		m, ok := tenon.Merge(f.Spec, more[i].Spec)
		if !ok {
			e := errOf("Reduce", "the first element is %s, but the last is %s%s", tenon.String(f.Spec), tenon.String(more[i].Spec), tenon.HiddenDifference(f.Spec, more[i].Spec))
			e.Where = f.Name
			return nil, e
		}
		out[i] = tenon.Field{Name: f.Name, Spec: m}
	}
	return out, nil
}
