package ragged

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

func splitParts(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	a := axisOf(c, x)
	if k := len(x.parts); a > k {
		return insideRows(c, x, a-k)
	}
	if a > 0 && !x.parts[a-1].IsUniform() {
		return nil, c.Errorf(tenon.ErrInvalid, "axis %d is ragged, and rows of different lengths cannot be split", a)
	}
	if sizes, ok := c.ConstInts(1); ok && slices.ContainsFunc(sizes, func(n int) bool { return n < 0 }) {
		return nil, c.Errorf(tenon.ErrInvalid, "the sizes %v must all be given", sizes)
	}
	// The operation splits the positions of the entries, along the same axis.
	at := numbers(numberOf(x, a))
	for range a {
		at = ops.ExpandDims(at, 0)
	}
	cut, err := tenon.Try(func() []tensor.Tensor {
		return op.ApplyN(c.WithArg(c.Op.AxisParam(), a), append([]tenon.Value{at}, c.Values()[1:]...)...)
	})
	if err != nil {
		return nil, c.Fail(inNameOf(c.Op.Func(), err))
	}
	out := make([]tenon.Value, len(cut))
	lo, known := 0, at.Shape().IsFull()
	for i, part := range cut {
		n := part.Shape().Dim(a)
		if known = known && n >= 0; known {
			out[i] = indexedAt(x, a, key.Range(lo, lo+n, nil))
			lo += n
		} else {
			out[i] = ops.Gather(x, ops.Reshape(part, []int{-1}), a)
		}
	}
	return out, nil
}

// numberOf returns the size of an axis that is not ragged.
func numberOf(x *Tensor, axis int) tensor.Tensor {
	if axis == 0 {
		return x.parts[0].NRows()
	}
	return x.parts[axis-1].uniform
}

func unstack(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	a := axisOf(c, x)
	if k := len(x.parts); a > k {
		return insideRows(c, x, a-k)
	}
	n := x.Shape().Dim(a)
	if n < 0 || a > 0 && !x.parts[a-1].IsUniform() {
		return nil, c.Errorf(tenon.ErrInvalid, "axis %d does not have a known size", a)
	}
	out := make([]tenon.Value, n)
	if s, ok := x.parts[0].Splits64(); ok && a == 0 && !x.parts[0].IsUniform() {
		values := x.Values()
		for i := range out {
			out[i] = rowsBetween(values, int(s[i]), int(s[i+1]))
		}
		return out, nil
	}
	for i := range out {
		out[i] = indexedAt(x, a, i)
	}
	return out, nil
}

// indexedAt returns what a key selects along an axis.
func indexedAt(x *Tensor, axis int, k any) tensor.Tensor {
	return ops.Index(x, append(slices.Repeat([]any{key.All}, axis), k)...)
}

// insideRows applies an operation to the flat values, along an axis or a list of axes of them.
func insideRows(c *op.Call, x *Tensor, axis any) ([]tenon.Value, error) {
	values := c.Values()
	values[0] = x.flat
	out := op.ApplyN(c.WithArg(c.Op.AxisParam(), axis), values...)
	list := make([]tenon.Value, len(out))
	for i, y := range out {
		list[i] = x.with(y)
	}
	return list, nil
}
