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
	if a > len(x.parts) {
		return insideRows(c, x, a)
	}
	if a > 0 && !x.parts[a-1].IsUniform() {
		return nil, c.Errorf(tenon.ErrInvalid, "axis %d is ragged, and rows of different lengths cannot be split", a)
	}
	n := x.parts[0].StaticNRows()
	if a > 0 {
		n = x.parts[a-1].StaticUniformRowLength()
	}
	sizes := tenon.Must(partSizes(c, n))
	if n < 0 { // the size is not known: split the positions instead
		at := numbers(numberOf(x, a))
		cut := op.ApplyN(c.WithArg(c.Op.Param("axis"), 0), append([]tenon.Value{at}, c.Values()[1:]...)...)
		out := make([]tenon.Value, len(cut))
		for i, at := range cut {
			out[i] = ops.Gather(x, at, a)
		}
		return out, nil
	}
	out := make([]tenon.Value, len(sizes))
	at := 0
	for i, s := range sizes {
		out[i] = indexedAt(x, a, key.Range(at, at+s, nil))
		at += s
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

// partSizes returns the sizes of the parts of an axis of size n, some of which may be unknown.
func partSizes(c *op.Call, n int) ([]int, error) {
	if parts, ok := c.Attr("parts").(int); ok && c.Value(1) == nil {
		if n < 0 {
			return nil, nil
		}
		if parts <= 0 || n%parts != 0 {
			return nil, c.Errorf(tenon.ErrInvalid, "%d rows cannot be split into %d equal parts", n, parts)
		}
		sizes := make([]int, parts)
		for i := range sizes {
			sizes[i] = n / parts
		}
		return sizes, nil
	}
	sizes, ok := c.ConstInts(1)
	if !ok {
		return nil, c.Errorf(tenon.ErrUnsupported, "the sizes of the parts must be known")
	}
	total := 0
	for _, s := range sizes {
		if s < 0 {
			return nil, c.Errorf(tenon.ErrInvalid, "the sizes %v must all be given", sizes)
		}
		if total += s; total < 0 {
			break // does not fit in an int
		}
	}
	if total != n && n >= 0 {
		return nil, c.Errorf(tenon.ErrInvalid, "the sizes %v do not add up to %d", sizes, n)
	}
	return sizes, nil
}

func unstack(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	a := axisOf(c, x)
	if a > len(x.parts) {
		return insideRows(c, x, a)
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

// insideRows applies an operation along an axis of the flat values' inner dimensions.
func insideRows(c *op.Call, x *Tensor, axis int) ([]tenon.Value, error) {
	values := c.Values()
	values[0] = x.flat
	out := op.ApplyN(c.WithArg(c.Op.AxisParam(), axis-len(x.parts)), values...)
	list := make([]tenon.Value, len(out))
	for i, y := range out {
		list[i] = x.with(y)
	}
	return list, nil
}
