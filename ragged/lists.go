package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// Functions on one dimension of a tensor, which may be dense, ragged, have
// missing elements, or be records. In all of them, an axis counts from the
// outermost dimension, and a negative one from the innermost.

// axisIn returns an axis counted from the start. It throws if there is no such
// axis.
func axisIn(fn string, x tensor.Tensor, axis int) int {
	r := x.Shape().Rank()
	if axis < -r || axis >= r {
		tenon.Throw(failed(tenon.ErrAxis, fn, "axis", "%d is out of range for rank %d", axis, r))
	}
	if axis < 0 {
		axis += r
	}
	return axis
}

// lists is a dimension below the first: the partition that divides values into its rows, and the
// partitions outside of it.
type lists struct {
	outer  []*RowPartition
	p      *RowPartition
	values tensor.Tensor
	dense  bool // the tensor has no partitions
}

// listsAt returns dimension axis > 0 of a tensor.
func listsAt(x tensor.Tensor, axis int) lists {
	_, ragged := x.(*Tensor)
	flat, parts := split(atLeast(x, axis))
	return lists{outer: parts[:axis-1], p: parts[axis-1], values: build(flat, parts[axis:]), dense: !ragged}
}

// with returns the tensor with other rows at this level. A dense tensor stays dense as long as its
// rows are declared to have equal length.
func (l lists) with(values tensor.Tensor, p *RowPartition) tensor.Tensor {
	if len(l.outer) == 0 {
		return l.settled(partitioned(values, p))
	}
	return l.settled(onTop(values, append(append([]*RowPartition(nil), l.outer...), p)))
}

// settled converts what came from a dense tensor back to a dense one, if its Spec says that it is.
func (l lists) settled(x tensor.Tensor) tensor.Tensor {
	t, ok := x.(*Tensor)
	if !ok || !l.dense {
		return x
	}
	for _, p := range t.parts {
		if !p.IsUniform() {
			return x
		}
	}
	return tenon.Must(WithRaggedRank(t, 0))
}

// Records are tensors of another kind whose dimensions hold records. Operations are applied to the
// numbers of the records.
type Records interface {
	tensor.Tensor

	// Numbers returns the number of each record, with the dimensions of the
	// records.
	Numbers() tensor.Tensor

	// AtNumbers returns the records with the given numbers, with the dimensions of the numbers.
	AtNumbers(numbers tensor.Tensor) (tensor.Tensor, error)
}

// throughNumbers applies f to the numbers of records and returns the records with
// the resulting numbers.
func throughNumbers(r Records, f func(x tensor.Tensor) tensor.Tensor) tensor.Tensor {
	return tenon.Must(r.AtNumbers(f(r.Numbers())))
}

// lifted returns a ragged tensor with missing elements in its flat values as a masked tensor whose
// values and mask are ragged, which is the form that operations expect.
func lifted(x tensor.Tensor) tensor.Tensor {
	t, ok := x.(*Tensor)
	if !ok {
		return x
	}
	m, ok := missing(t.flat)
	if !ok {
		return x
	}
	return tenon.Must(masked.New(onTop(m.Values(), t.parts), onTop(m.Mask(), t.parts)))
}

// maskedAt splits a tensor with missing elements into its values, its mask, and the number of
// dimensions of the mask. A tensor without missing elements has no mask.
func maskedAt(x tensor.Tensor) (values, mask tensor.Tensor, depth int) {
	m, ok := missing(lifted(x))
	if !ok {
		return x, nil, 0
	}
	return m.Values(), m.Mask(), m.Mask().Shape().Rank()
}

// throughMasks returns f for tensors with missing elements, applying it to both values and masks, and
// for records.
func throughMasks(f func(x tensor.Tensor) tensor.Tensor) func(x tensor.Tensor) tensor.Tensor {
	return func(x tensor.Tensor) tensor.Tensor {
		if m, ok := missing(x); ok {
			return withMask(throughMasks(f)(m.Values()), throughMasks(f)(m.Mask()))
		}
		if r, ok := x.(Records); ok {
			return throughNumbers(r, f)
		}
		return f(x)
	}
}

// alongMasks applies f, which changes an axis, to the values of a tensor and to those masks that have
// the axis.
func alongMasks(x tensor.Tensor, axis int, f func(x tensor.Tensor) tensor.Tensor) tensor.Tensor {
	values, mask, depth := maskedAt(x)
	switch {
	case mask == nil:
		return f(x)
	case depth > axis:
		mask = f(mask)
	}
	return withMask(alongMasks(values, axis, f), mask)
}

// withMask returns values that are present where mask is true, or just the values if there is no
// mask.
func withMask(values, mask tensor.Tensor) tensor.Tensor {
	if mask == nil {
		return values
	}
	return tenon.Must(masked.New(values, mask))
}

// Num returns the number of entries in the rows of an axis: a single number for axis 0, and one for
// each row for a deeper axis. It is missing for missing rows.
//
//	x: [n, (m), a] → int64[] at axis 0, int64[n] at axis 1, int64[n, (m)] at axis 2. No gradient.
func Num(x tensor.Tensor, axis int) (n tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	a := axisIn("ragged.Num", x, axis)
	return ofLists(x, a, func(x tensor.Tensor) tensor.Tensor {
		if a == 0 {
			return ops.Cast(outerSize(x), dtype.Int64)
		}
		l := listsAt(x, a)
		return l.settled(build(ops.Cast(l.p.RowLengths(), dtype.Int64), l.outer))
	}), nil
}

// ofLists returns the result of f for the lists of an axis, whatever they contain. It is missing
// for missing lists.
func ofLists(x tensor.Tensor, axis int, f func(x tensor.Tensor) tensor.Tensor) tensor.Tensor {
	if r, ok := x.(Records); ok {
		return ofLists(r.Numbers(), axis, f)
	}
	values, mask, depth := maskedAt(x)
	switch {
	case mask == nil:
		return f(x)
	case depth <= axis:
		return withMask(ofLists(values, axis, f), mask)
	}
	return ofLists(values, axis, f)
}

// LocalIndex returns the position of each entry of an axis in its row.
//
//	x: [n, (m), a] → int64[n] at axis 0, int64[n, (m)] at axis 1, int64[n, (m), a] at axis 2. No gradient.
func LocalIndex(x tensor.Tensor, axis int) (at tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return localIndex(x, axisIn("ragged.LocalIndex", x, axis)), nil
}

func localIndex(x tensor.Tensor, axis int) tensor.Tensor {
	return ofLists(x, axis, func(x tensor.Tensor) tensor.Tensor {
		if axis == 0 {
			return numbers(outerSize(x))
		}
		l := listsAt(x, axis)
		return l.with(ops.Cast(l.p.OffsetsInRows(), dtype.Int64), l.p)
	})
}

// RunLengths returns the lengths of the runs of equal neighbors in the innermost
// dimension. A run ends with its row; NaN differs from its neighbors.
//
// The runs of missing rows are missing; missing elements are an error.
//
//	x: [n] → int64[k]; x: [n, (m)] → int64[n, (k)]. No gradient.
func RunLengths(x tensor.Tensor) (lengths tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return runLengths(x, axisIn("ragged.RunLengths", x, -1)), nil
}

func runLengths(x tensor.Tensor, axis int) tensor.Tensor {
	values, mask, depth := maskedAt(x)
	switch {
	case mask != nil && depth > axis:
		tenon.Throw(failed(tenon.ErrUnsupported, "ragged.RunLengths", "", "whether missing elements are equal is not known: fill or drop them first"))
	case mask != nil:
		return withMask(runLengths(values, axis), mask)
	case axis == 0:
		lengths, _ := rows.RunLengths(x, oneRow(outerSize(x)))
		return lengths
	}
	l := listsAt(x, axis)
	lengths, splits := rows.RunLengths(l.values, l.p.RowSplits())
	return l.with(lengths, newPartition(splits, lengths.Shape().Dim(0)))
}
