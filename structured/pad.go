package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// padded answers pad. The margins contain a given record, or one with zeros, empty strings, empty
// lists and missing values.
func (t *Tensor) padded(c *op.Call) ([]tenon.Value, error) {
	if c.Value(0) != tenon.Value(t) {
		return nil, op.NotHandled
	}
	if t.rank == 0 {
		return nil, c.Errorf(tenon.ErrShape, "a single record has no dimensions to pad")
	}
	flat := newTensor(1, t.count(), nil, t.cols, t.dtype)
	extra := flat.blank()
	if v := c.Value(2); v != nil {
		r, ok := v.(*Tensor)
		if !ok || r.rank != 0 {
			return nil, c.Errorf(tenon.ErrDType, "the value is %s, want a single record", tenon.String(v.Spec()))
		}
		tenon.Throw(sameFields(c, t, r))
		extra = newTensor(1, scalar(1, t.dtype), nil, withSplits(r, t.dtype).(*Tensor).rows(), t.dtype)
	}
	last := ops.Cast(t.count(), dtype.Int64)
	rest := c.WithArg(0, t.Numbers())
	rest.Args[2] = last
	out := tenon.Must(rest.Do())
	return op.One(byNumbers(joined([]*Tensor{flat, extra}), out[0].(tensor.Tensor), t.dtype))
}

// blank returns a list with one record that has the fields of t with blank
// values.
func (t *Tensor) blank() *Tensor {
	return newTensor(1, scalar(1, t.dtype), nil, eachColumn(t.cols, blankEntry), t.dtype)
}

// blankEntry returns a blank entry like those of a column.
func blankEntry(v tensor.Tensor) tensor.Tensor {
	switch x := v.(type) {
	case optional:
		return hidden(blankEntry(x.Values()), ops.Cast(blankEntry(x.Mask()), dtype.Bool))
	case *Dictionary:
		return blankEntry(x.Decode())
	case composite:
		return x.like(blankEntry(x.records()).(*Tensor))
	case divided:
		none := ops.Slice(x.FlatValues(), make([]int, x.FlatValues().Shape().Rank()), sizesFrom(x.FlatValues(), 0))
		return tenon.Must(ragged.FromPartitions(none, emptyRows(x.Partitions())...))
	case *Tensor:
		if x.rank == 1 {
			return x.blank()
		}
		at := tenon.Must(ragged.FromPartitions(ops.Range(0, 0, 1), emptyRows(x.parts)...))
		return byNumbers(x.cols, ops.Cast(at, dtype.Int64), x.dtype)
	}
	if v.Spec().TypeName() != tensor.TypeName {
		return blankRow(v)
	}
	var zero any = 0
	if v.DType() == dtype.String {
		zero = ""
	}
	return ops.Fill(sizesFrom(v, 1), ops.Cast(zero, v.DType()))
}

// blankRow is blankEntry for rows of any other type: a row of the type's own padding, if it
// supports padding, or a row of blank components.
func blankRow(v tensor.Tensor) tensor.Tensor {
	if h, ok := v.(*Held); ok {
		none := tenon.Must(rows.Gather(h.v, tensor.Of([]int64{})))
		one := tenon.Must(rows.Map(none, func(_ string, t tensor.Tensor) tensor.Tensor { return blankEntry(t) }))
		return tenon.Must(hold("structured.Held", one, true))
	}
	margins := make([][]int, v.Shape().Rank())
	for i := range margins {
		margins[i] = []int{0, 0}
	}
	margins[0][1] = 1
	x, err := tenon.Try(func() tensor.Tensor {
		return ops.Pad(ops.Gather(v, tensor.Of([]int64{}), 0), margins, ops.PadOptions{})
	})
	if err == nil {
		return x
	}
	parts := tenon.Must(v.Spec().Disassemble(v))
	for i, p := range parts {
		x, ok := p.(tensor.Tensor)
		if !ok {
			tenon.Throw(tenon.NewError(tenon.ErrUnsupported, "structured.pad", tenon.String(v.Spec())+" has no blank row"))
		}
		parts[i] = blankEntry(x)
	}
	return tenon.Must(outermost(v.Spec(), 1).Assemble(parts)).(tensor.Tensor)
}

// emptyRows returns partitions like the given ones, with a single empty row.
func emptyRows(like []*ragged.RowPartition) []*ragged.RowPartition {
	var parts []*ragged.RowPartition
	n := 1
	for _, p := range like {
		parts = append(parts, tenon.Must(ragged.PartitionFromRowLengths(make([]int64, n), ragged.PartitionOptions{DType: p.DType()})))
		n = 0
	}
	return parts
}

// sizesFrom returns the sizes of a dense tensor, with n as the first one.
func sizesFrom(v tensor.Tensor, n int) tensor.Tensor {
	if tail := v.Shape().Tail(1); tail.IsFull() {
		return tensor.Vector(append([]int{n}, tail.Dims()...))
	}
	return ops.Concat([]tensor.Tensor{tensor.Of([]int64{int64(n)}), ops.Slice(ops.Cast(ops.Shape(v), dtype.Int64), []int{1}, []int{-1})}, 0)
}
