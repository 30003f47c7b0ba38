package ragged

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// common returns the size that several sizes broadcast to. If that is known only
// at run time, it also returns the sizes as scalars.
func (b *broadcasting) common(zs []size, what string, a int) (size, []tensor.Tensor) {
	if b.to {
		return b.onto(zs, what, a)
	}
	n, open := 1, 0
	for _, z := range zs {
		switch {
		case z.n < 0:
			open++
		case z.n != 1 && n != 1 && z.n != n:
			b.fail(tenon.ErrShape, "%s the sizes %d and %d", having(what, a), n, z.n)
		case z.n != 1:
			n = z.n
		}
	}
	if open == 0 {
		return staticSize(n), nil
	}
	// The size of the result is the one that is not 1.
	scalars := b.scalars(zs)
	var total tensor.Tensor
	if n != 1 {
		total = scalar(n, b.dtype)
	}
	for i, t := range scalars {
		switch {
		case zs[i].n >= 0:
		case total == nil:
			total = t
		case n == 1 && total != t:
			total = ops.Where(ops.Equal(total, 1), t, total)
		}
	}
	if open > 1 || n != 1 {
		total = b.stretch(zs, scalars, total)
	}
	if n == 1 {
		n = shape.Unknown
	}
	return size{n, func() tensor.Tensor { return total }}, scalars
}

// having begins a message about the sizes of an axis or dimension.
func having(what string, a int) string {
	if a == 0 && what == "dimension" {
		return "the outermost dimension has"
	}
	return fmt.Sprintf("%s %d has", what, a)
}

// onto is common for a first size to which the others must stretch.
func (b *broadcasting) onto(zs []size, what string, a int) (size, []tensor.Tensor) {
	to, open := zs[0], zs[0].n < 0
	for _, z := range zs[1:] {
		open = open || z.n < 0
		if z.n >= 0 && z.n != 1 && to.n >= 0 && z.n != to.n {
			b.fail(tenon.ErrShape, "%s the sizes %d, which is not that of the result, %d", having(what, a), z.n, to.n)
		}
	}
	if !open {
		return to, nil
	}
	scalars := b.scalars(zs)
	total := b.stretch(zs, scalars, scalars[0])
	return size{to.n, func() tensor.Tensor { return total }}, scalars
}

func (b *broadcasting) scalars(zs []size) []tensor.Tensor {
	out := make([]tensor.Tensor, len(zs))
	for i, z := range zs {
		out[i] = z.scalar(b.dtype)
	}
	return out
}

// stretch returns total after checking, when a graph runs, that each size is 1 or total.
func (b *broadcasting) stretch(zs []size, scalars []tensor.Tensor, total tensor.Tensor) tensor.Tensor {
	wide := func(t tensor.Tensor) tensor.Tensor { return rows.Uniform(t, scalar(1, b.dtype)) }
	for i, t := range scalars {
		if zs[i].n == 1 || t == total || zs[i].n >= 0 && zs[i].n == known(total) {
			continue
		}
		stretched := ops.Where(ops.Equal(t, 1), total, t)
		total = ops.Index(rows.AssertSame(wide(total), wide(stretched)), -1)
	}
	return total
}
