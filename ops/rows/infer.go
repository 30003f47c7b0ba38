package rows

import (
	"errors"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Parameters that many operations share.
var (
	splitsParam  = indices("splits")
	valuesParams = valuesOf(nil)
)

// valuesOf returns the parameters of operations on values of rows.
func valuesOf(e *op.Elements) []op.Param { return []op.Param{{Name: "values", Takes: e}, splitsParam} }

// indices is a parameter for a vector of positions, splits or sizes, and sizeParam one for a single
// size.
func indices(name string) op.Param { return op.Param{Name: name, Takes: op.Indices, Rank: op.Vector} }

func sizeParam(name string) op.Param { return op.Param{Name: name, Takes: op.Indices, Rank: op.Scalar} }

// optional returns a parameter that may be omitted.
func optional(p op.Param) op.Param { p.Optional = true; return p }

func spec(d dtype.DType, s shape.Shape) tenon.Spec { return tensor.NewSpec(d, s) }

// like returns the Spec of a result with the type of argument i, ends that of row splits of its
// type, and positions that of n positions.
func like(c *op.Call, i int, s shape.Shape) tenon.Spec { return spec(c.Tensor(i).DType(), s) }

func ends(c *op.Call, i, nrows int) tenon.Spec { return like(c, i, shape.Of(plusOne(nrows))) }

func positions(n int) tenon.Spec { return spec(dtype.Int64, shape.Of(n)) }

func specs(s ...tenon.Spec) ([]tenon.Spec, error) { return s, nil }

func results(t ...tensor.Tensor) ([]tensor.Tensor, error) { return t, nil }

// outShape returns the inferred shape of result i of a kernel's call.
func outShape(c *op.Call, i int) shape.Shape { return c.Out[i].(*tensor.Spec).Shape() }

// outType returns the inferred element type of result i of a kernel's call.
func outType(c *op.Call, i int) dtype.DType { return c.Out[i].(*tensor.Spec).DType() }

// name returns the name of tensor argument i for errors.
func name(c *op.Call, i int) string { return c.Op.Params[i].Name }

// same is the Elem of an operation whose result has the type of the partition, and asInt64 that of
// one whose positions are int64.
func same(_ *op.Call, d dtype.DType) dtype.DType { return d }

func asInt64(*op.Call, dtype.DType) dtype.DType { return dtype.Int64 }

func isIndex(d dtype.DType) bool { return d == dtype.Int32 || d == dtype.Int64 }

func isNumberOrBool(d dtype.DType) bool { return d.IsNumeric() || d.IsBool() }

// rowsOf checks values (argument 0) and splits (argument 1), and returns the number of rows and the
// shape of an item.
func rowsOf(c *op.Call) (nrows int, item shape.Shape) {
	nrows, nvals := partition(c, 1)
	return nrows, items(c, 0, nvals)
}

// vectorRows is rowsOf for values that must be a vector.
func vectorRows(c *op.Call) (nrows int) {
	nrows, item := rowsOf(c)
	if item.HasRank() && item.Rank() > 0 {
		tenon.Throw(c.Errorf(tenon.ErrShape, "values has the shape %v, want a vector", c.Tensor(0).Shape()))
	}
	return nrows
}

// partition, items and fits are like the methods of a call with these names, but throw.
func partition(c *op.Call, i int) (nrows, nvals int) {
	nrows, nvals, err := c.Partition(i)
	tenon.Throw(err)
	return nrows, nvals
}

func items(c *op.Call, i, nvals int) shape.Shape { return tenon.Must(c.Items(i, nvals)) }

func fits(c *op.Call, d dtype.DType, s shape.Shape) { tenon.Throw(c.Fits(d, s)) }

// agree throws an error that shows two sizes if they are known and differ, and returns the one that
// is known.
func agree(c *op.Call, kind error, format string, a, b int) int {
	if a >= 0 && b >= 0 && a != b {
		tenon.Throw(c.Errorf(kind, format, a, b))
	}
	return max(a, b)
}

// outer prepends an axis of size n.
func outer(n int, item shape.Shape) shape.Shape { return item.Insert(0, n) }

// count reads tensor argument i, a nonnegative size; n is -1 if it is not known or omitted.
func count(c *op.Call, i int) int {
	v, ok := c.ConstInts(i)
	if !c.Has(i) || !ok {
		return shape.Unknown
	}
	if v[0] < 0 {
		tenon.Throw(c.Errorf(tenon.ErrInvalid, "%s is %d, want at least 0", name(c, i), v[0]))
	}
	return v[0]
}

// length returns the size of argument i, a vector.
func length(c *op.Call, i int) int { return c.Tensor(i).Shape().Dim(0) }

type checkedKey struct{}

// checked is what is remembered about a tensor of splits: its entries as int64,
// and whether they are a partition.
type checked struct {
	splits []int64
	err    error
}

// splitsOf returns row splits, a concrete tensor, of nvals values as int64. A
// negative nvals accepts any number.
func splitsOf(c *op.Call, d *tensor.Dense, name string, nvals int) []int64 {
	s, err := Entries(d)
	tenon.Throw(rowError(c, name, err))
	if last := s[len(s)-1]; nvals >= 0 && last != int64(nvals) {
		tenon.Throw(c.Errorf(tenon.ErrInvalid, "%s ends at %d, there are %d values", name, last, nvals))
	}
	return s
}

// rowSplits returns argument i of a kernel's call, which are row splits.
func rowSplits(c *op.Call, i, nvals int) []int64 {
	return splitsOf(c, c.Dense(i), name(c, i), nvals)
}

// valid marks splits made by a kernel as checked.
func valid(d *tensor.Dense, splits []int64) *tensor.Dense {
	if small(d) {
		return d
	}
	d.Memo(checkedKey{}, func() any { return &checked{splits: splits} })
	return d
}

// fresh returns a vector of n numbers, all of which the caller must set, and its elements.
func fresh(n int) (*tensor.Dense, []int64) {
	d := tensor.Uninit(dtype.Int64, shape.Of(n))
	return d, tensor.Data[int64](d)
}

// splitsTensor returns row splits made by a kernel, with the type of the
// partition.
func splitsTensor(c *op.Call, d dtype.DType, splits []int64) *tensor.Dense {
	return valid(indexTensor(c, d, splits), splits)
}

// splitsIn is splitsTensor for splits that are already in a tensor of int64.
func splitsIn(c *op.Call, d dtype.DType, t *tensor.Dense) *tensor.Dense {
	return valid(indexIn(c, d, t), tensor.Data[int64](t))
}

// indexIn is indexTensor for numbers that are already in a tensor of int64.
func indexIn(c *op.Call, d dtype.DType, t *tensor.Dense) *tensor.Dense {
	if d == dtype.Int64 {
		return t
	}
	return indexTensor(c, d, tensor.Data[int64](t))
}

// indexTensor returns lengths, ids or splits with the type of the partition.
func indexTensor(c *op.Call, d dtype.DType, x []int64) *tensor.Dense {
	if d == dtype.Int64 {
		return tensor.Vector(x)
	}
	out, narrow := tensor.Make[int32](shape.Of(len(x)))
	if err := segment.Narrow(narrow, x); err != nil {
		tenon.Throw(c.Errorf(tenon.ErrInvalid, "%v: more than int32 holds", err).WithHint("use int64 row splits"))
	}
	return out
}

// wide returns an index tensor's elements as int64.
func wide(d *tensor.Dense) []int64 {
	if d.DType() == dtype.Int64 {
		return tensor.Data[int64](d)
	}
	out := make([]int64, d.Len())
	segment.Widen(out, tensor.Data[int32](d))
	return out
}

// rowError completes a kernel's error about an entry of an argument.
func rowError(c *op.Call, name string, err error) error {
	if err == nil {
		return nil
	}
	var row *segment.RowError
	if errors.As(err, &row) {
		return c.Errorf(tenon.ErrInvalid, "%s", row.Detail).At(fmt.Sprintf("%s[%d]", name, row.Row))
	}
	var index *gather.IndexError
	if errors.As(err, &index) {
		return c.Errorf(tenon.ErrInvalid, "index %d is outside [0, %d)", index.Index, index.Limit).At(fmt.Sprintf("%s[%d]", name, index.Pos))
	}
	return err
}

// innerSize returns the number of elements of an item.
func innerSize(x tensor.Tensor) int { return x.Shape().Tail(1).Size() }

// lead returns the size of the first axis of a concrete tensor.
func lead(x tensor.Tensor) int { return x.Shape().Dim(0) }

// entries returns the entries of row splits in memory if they are a partition.
func entries(splits *tensor.Dense) []int64 {
	if splits == nil || splits.Rank() != 1 || splits.Len() == 0 || !isIndex(splits.DType()) {
		return nil
	}
	s, err := Entries(splits)
	if err != nil {
		return nil
	}
	return s
}
