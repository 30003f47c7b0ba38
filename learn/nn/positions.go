package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// Positions adds to each item a vector that encodes its position in its row.
type Positions struct {
	Table tensor.Tensor // [positions, features]; nil: the vectors of [Sinusoidal], for any number of positions
	Names Names         `tenon:"static"` // In: features; Along: positions
}

// NewPositions returns a layer that learns a vector for each of a number of positions. For a
// layer that does not learn, use the zero Positions.
func NewPositions(key tensor.Tensor, positions, features int, options ...EmbeddingOptions) Positions {
	o := option(options)
	return Positions{Initialize(orInit(o.Init, Uniform), key, floatType(o.DType), positions, features), o.Names}
}

// Apply returns x with the vectors of its positions added. A row that has more positions than a learned
// table is an error.
//
//	x: [..., positions, features] dense, [rows, (positions), features] ragged, or {..., Along, In} → the same
func (l Positions) Apply(x tensor.Tensor) tensor.Tensor { return l.ApplyFrom(x, nil) }

// ApplyFrom is Apply for rows that continue earlier ones: the first position of each row is start
// instead of 0.
//
//	start: an integer for all rows, or integers [...] for each; nil: 0
func (l Positions) ApplyFrom(x, start tensor.Tensor) tensor.Tensor {
	const fn = "nn.Positions"
	switch t := x.(type) {
	case dimensioned:
		from := []named.Name{l.Names.Along, l.Names.In}
		return unnamed(fn, t, from, []named.Name{l.Names.Along, l.Names.out()}, func(x tensor.Tensor) tensor.Tensor {
			return l.ApplyFrom(x, start)
		})
	case rowed:
		return innermost(fn, t, func(x rowed) tensor.Tensor {
			items, _ := x.Carried()
			at := ops.Cast(rows.Offsets(x.RowSplits(), -1), dtype.Int64)
			if start != nil {
				from := ops.Cast(start, dtype.Int64)
				if from.Shape().Rank() > 0 {
					from = rows.Repeat(from, x.RowSplits(), -1)
				}
				at = ops.Add(at, from)
			}
			return tenon.Must(x.Carry(ops.Add(items, l.vectors(at, items))))
		})
	case someMissing:
		items, _ := ofItems(fn, t)
		return tenon.Must(t.Carry(l.ApplyFrom(items, start)))
	}
	wantPositions(fn, x)
	at := ops.Range(int64(0), size(x, -2), int64(1))
	if start != nil {
		at = ops.Add(ops.ExpandDims(ops.Cast(start, dtype.Int64), -1), at)
	}
	return ops.Add(x, l.vectors(at, x))
}

// vectors returns the vectors of positions in the type and width of items: [...] → [...,
// features].
func (l Positions) vectors(at, items tensor.Tensor) tensor.Tensor {
	if l.Table != nil {
		return ops.Gather(l.Table, at, 0)
	}
	width := known(items)
	if width < 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "nn.Positions", fmt.Sprintf("the features of %s are not known", tenon.String(items.Spec()))))
	}
	rates, phases := sinusoids(width)
	angle := ops.Add(ops.Mul(ops.ExpandDims(ops.Cast(at, dtype.Float64), -1), tensor.Of(rates)), tensor.Of(phases))
	return ops.Cast(ops.Sin(angle), items.DType())
}
