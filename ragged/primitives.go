package ragged

import (
	"errors"
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The primitives that partitions are computed with: compositions of operations on
// tensors that may be symbolic, with a fast path for those in memory. They throw
// errors.

// scalar returns n as a scalar of a partition's type. It may be shared.
func scalar(n int, d dtype.DType) tensor.Tensor {
	if d != dtype.Int32 && uint(n) < uint(len(smallScalars)) {
		return smallScalars[n]
	}
	return ownScalar(n, d)
}

// ownScalar is like scalar, but the result is not shared.
func ownScalar(n int, d dtype.DType) tensor.Tensor {
	if d == dtype.Int32 {
		if int(int32(n)) != n {
			tenon.Throw(beyondInt32(int64(n)))
		}
		return tensor.Scalar(int32(n))
	}
	return tensor.Scalar(int64(n))
}

// beyondInt32 returns the error for a number that does not fit in int32 row
// splits.
func beyondInt32(n int64) *tenon.Error {
	e := invalid("ragged.RowPartition", "", "%d is more than int32 row splits can hold", n)
	e.Hint = "use int64 row splits: Tensor.WithSplitsDType"
	return e
}

// holdInt32 throws an error if int32 cannot hold known integers that are to become row splits,
// lengths or positions of that type.
func holdInt32(t tensor.Tensor) {
	c, ok := op.Known(t)
	if !ok {
		return
	}
	if d, ok := c.(*tensor.Dense); ok && d.DType() == dtype.Int64 {
		for _, n := range tensor.Data[int64](tensor.Contiguous(d)) {
			if int64(int32(n)) != n {
				tenon.Throw(beyondInt32(n))
			}
		}
	}
}

// smallScalars are the scalars 0, 1, ….
var smallScalars = func() (all [64]tensor.Tensor) {
	for n := range all {
		all[n] = tensor.Scalar(int64(n))
	}
	return all
}()

// ints allocates zeros. It throws if there are more than memory can hold, as may be the case for
// rows that are only declared.
func ints(n int) []int64 {
	if uint(n) > 1<<43 {
		tenon.Throw(invalid("ragged.Tensor", "", "numbers for %d rows or entries do not fit in memory", n))
	}
	return make([]int64, n)
}

// asPositions converts integers of any type to int64. Those that do not fit become the largest
// number, which is not a valid position either.
func asPositions(at tensor.Tensor) tensor.Tensor {
	if at.DType() == dtype.Uint64 {
		at = ops.Minimum(at, uint64(math.MaxInt64))
	}
	return cast(at, dtype.Int64)
}

// known returns the value of a scalar, or shape.Unknown.
func known(t tensor.Tensor) int {
	c, ok := op.Known(t)
	if !ok {
		return shape.Unknown
	}
	d, ok := c.(*tensor.Dense)
	if !ok || d.Len() != 1 {
		return shape.Unknown
	}
	switch d.DType() {
	case dtype.Int64:
		return int(tensor.Data[int64](d)[0])
	case dtype.Int32:
		return int(tensor.Data[int32](d)[0])
	}
	return shape.Unknown
}

// cast converts an index tensor to a partition's type. What is derived from
// concrete splits is cached with them.
func cast(t tensor.Tensor, d dtype.DType) tensor.Tensor {
	if t.DType() == d {
		return t
	}
	return memo(t, castKey{d}, func(t tensor.Tensor) tensor.Tensor {
		if d == dtype.Int32 {
			holdInt32(t)
		}
		return ops.Cast(t, d)
	})
}

type castKey struct{ to dtype.DType }

// sizeOf returns the size of an axis of any tensor as a scalar.
func sizeOf(t tensor.Tensor, axis int, d dtype.DType) tensor.Tensor {
	if n := t.Shape().Dim(axis); n >= 0 {
		return scalar(n, d)
	}
	return ops.Cast(ops.Index(ops.Shape(t), axis), d)
}

// product returns the product of two sizes.
func product(a, b tensor.Tensor) tensor.Tensor {
	if n, m := known(a), known(b); n >= 0 && m >= 0 {
		return scalar(n*m, a.DType())
	}
	return ops.Mul(a, b)
}

// part returns the entries of a vector from lo on, without the last cut ones.
func part(v tensor.Tensor, lo, cut int) tensor.Tensor {
	if d, ok := v.(*tensor.Dense); ok && d.IsContiguous() {
		return d.View(lo, shape.Of(d.Len()-lo-cut), []int{1})
	}
	if cut == 0 {
		return ops.Index(v, key.From(lo))
	}
	return ops.Index(v, key.Range(lo, -cut, nil))
}

// filled returns a vector of n copies of x.
func filled(n, x tensor.Tensor) tensor.Tensor {
	if k := known(n); k >= 0 {
		return ops.Fill([]int{k}, x)
	}
	return ops.Fill(ops.ExpandDims(n, 0), x)
}

// widest returns the common type of splits of partitions, some of which may be
// int32.
func widest(parts []*RowPartition) dtype.DType {
	d := dtype.Int32
	for _, p := range parts {
		if p.spec.dtype == dtype.Int64 {
			return dtype.Int64
		}
	}
	if len(parts) == 0 {
		return dtype.Int64
	}
	return d
}

// sameDType returns partitions whose splits have one type: int64 if they differ.
func sameDType(parts []*RowPartition) []*RowPartition { return partsAs(parts, widest(parts)) }

// partsAs returns partitions with splits of a type that can hold them.
func partsAs(parts []*RowPartition, d dtype.DType) []*RowPartition {
	out := parts
	for i, p := range parts {
		if p.spec.dtype != d {
			if &out[0] == &parts[0] {
				out = append([]*RowPartition(nil), parts...)
			}
			out[i] = p.as(d)
		}
	}
	return out
}

// checkSplits checks row splits as far as they are known. nvals may be
// shape.Unknown.
func checkSplits(fn string, splits tensor.Tensor, nvals int) error {
	if err := checkVector(fn, "row_splits", splits); err != nil {
		return err
	}
	if splits.Shape().Dim(0) == 0 {
		return invalid(fn, "row_splits", "has no entries, want one more than there are rows")
	}
	c, ok := op.Known(splits)
	if !ok {
		return nil
	}
	entries, err := rows.Entries(c.(*tensor.Dense))
	if err != nil {
		return rowError(fn, "row_splits", err)
	}
	if last := entries[len(entries)-1]; nvals >= 0 && last != int64(nvals) {
		return invalid(fn, "row_splits", "ends at %d, there are %d values", last, nvals)
	}
	return nil
}

// checkVector checks that t is a vector of int64 or int32.
func checkVector(fn, name string, t tensor.Tensor) error {
	if t == nil {
		return invalid(fn, name, "is nil")
	}
	if d := t.DType(); d != dtype.Int64 && d != dtype.Int32 {
		return invalid(fn, name, "has the element type %v, want int64 or int32", d)
	}
	if s := t.Shape(); s.HasRank() && s.Rank() != 1 {
		return invalid(fn, name, "has the shape %v, want a vector", s)
	}
	return nil
}

// rowError rephrases a kernel's error about an entry.
func rowError(fn, name string, err error) error {
	var row *segment.RowError
	if errors.As(err, &row) {
		return invalid(fn, fmt.Sprintf("%s[%d]", name, row.Row), "%s", row.Detail)
	}
	return invalid(fn, name, "%v", err)
}

// inNameOf returns an error of an operation that fn uses as an error of fn.
func inNameOf(fn string, err error) error {
	if err == nil {
		return nil
	}
	e := *tenon.AsError(err)
	e.Op, e.Args = fn, nil
	return &e
}

// failed returns an error of a function of this package.
func failed(kind error, fn, where, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: kind, Op: fn, Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

func invalid(fn, where, format string, args ...any) *tenon.Error {
	return failed(tenon.ErrInvalid, fn, where, format, args...)
}

// converted returns x as a tensor. It throws an error about an argument that is not one.
func converted(fn, where string, x any) tensor.Tensor {
	t, err := tensor.Convert(x)
	if err != nil {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: where, Err: err, Line: source.Line()})
	}
	return t
}

// firstDifference returns the first row whose length differs between two lists of
// splits, or -1 if all are equal. A missing row counts as a difference.
func firstDifference(a, b []int64) int { return segment.FirstDifference(a, b) }
