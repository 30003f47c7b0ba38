package ragged

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Options say how [Const] reads a literal. With the zero value, everything is
// inferred.
type Options struct {
	DType dtype.DType // the element type; None: inferred
	Int   dtype.DType // the type for elements of Go type int; None: int64, which is also used for those that do not fit
	Float dtype.DType // the type for floating-point elements, and for literals without elements; None: float64

	// RaggedRank is the number of partitions, at least 1. Zero means one less than the number of
	// lists around an element, also less the axes of Inner.
	RaggedRank int

	// Inner is the shape of the innermost lists, which must be uniform and become axes of the flat
	// values. If it is nil, it follows from RaggedRank.
	Inner []int

	Splits dtype.DType // the type of row splits; None: int64
}

// Const returns the tensor of a nested literal: Go values in slices and arrays, []any included,
// whose rows may differ in length. All elements must be at the same depth. A scalar or a single
// list gives a dense tensor, and deeper lists a ragged one, even if all rows have equal length.
// Typed elements keep their type, except that int becomes int64; integers among floating-point
// numbers become floating-point, and other mixtures are errors. With Options.DType, every element
// is converted to that type: integer types must hold it exactly, floating-point types round.
//
//	ragged.Const([]any{[]int{3, 1}, []int{}, []int{5}}, ragged.Options{})    // int64[3, ~]
func Const(x any, o Options) (tensor.Tensor, error) {
	const fn = "ragged.Const"
	if o.Splits != dtype.None && o.Splits != dtype.Int64 && o.Splits != dtype.Int32 {
		return nil, invalid(fn, "Splits", "row splits are int64 or int32, not %v", o.Splits)
	}
	flat, levels, err := tensor.Lists(x, tensor.Options{DType: o.DType, Int: o.Int, Float: o.Float})
	if err != nil {
		e := *tenon.AsError(err)
		e.Op, e.Line = fn, source.Line()
		if o.DType == dtype.None { // check the types of all elements together
			e.Kind = tenon.ErrInvalid
		}
		return nil, &e
	}
	if flat.Shape().Size() == 0 { // as deep as requested
		for len(levels) < min(o.RaggedRank, shape.MaxRank)+1+len(o.Inner) {
			levels = append(levels, []int64{0})
		}
	}
	rank, k := len(levels), o.RaggedRank
	if k == 0 {
		k = max(0, rank-1-len(o.Inner))
	}
	inner := rank - 1 - k
	switch {
	case o.RaggedRank < 0, o.RaggedRank > 0 && k >= rank:
		return nil, invalid(fn, "RaggedRank", "%d does not fit elements below %d lists", o.RaggedRank, rank)
	case o.Inner != nil && (inner < 0 || len(o.Inner) != inner):
		return nil, invalid(fn, "Inner", "the inner shape %v and %d partitions do not fit elements below %d lists", o.Inner, k, rank)
	case rank == 0:
		return ops.Reshape(flat, []int{}), nil
	}
	dims := []int{int(levels[k][len(levels[k])-1])}
	for i, splits := range levels[k+1:] {
		n := 0
		if o.Inner != nil {
			n = o.Inner[i]
		} else if len(splits) > 1 {
			n = int(splits[1])
		}
		for r := range len(splits) - 1 {
			if m := int(splits[r+1] - splits[r]); m != n {
				return nil, invalid(fn, fmt.Sprintf("list %d at depth %d", r, k+1+i), "has %d entries, others %d: it cannot be an inner axis", m, n)
			}
		}
		dims = append(dims, n)
	}
	s, err := shape.From(dims)
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Err: err, Line: source.Line()}
	}
	parts := make([]*RowPartition, k)
	for i := range parts {
		splits := levels[i+1]
		d := rows.Trusted(tensor.Vector(splits), splits)
		if o.Splits == dtype.Int32 {
			t, err := narrow(fn, "row_splits", d, dtype.Int32)
			if err != nil {
				return nil, err
			}
			d = t.(*tensor.Dense)
		}
		parts[i] = newPartition(d, int(splits[len(splits)-1]))
	}
	return build(ops.Reshape(flat, s), parts), nil
}
