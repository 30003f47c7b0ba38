package ragged

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A segmentation groups the flat values of a tensor along some of its axes: values that differ only
// in their positions on these axes form a segment. Operations that reduce axes, scan or sort work
// on the values of each segment:
//
//	x: [n, (m), (l)]
//	axis 2       the rows of the innermost partition
//	axes 1, 2    the rows of both partitions as one
//	axis 1       below each row of n the rows of l, aligned: the values at the same
//	             position in them form a segment, which is called a fiber
//	axis 0       the same over the whole tensor
//	axes 0, 2    of all rows of n, the values below the same entry of m
//
// Only axes that are partitioned, or outside of all partitions, are covered; those after the first
// dimension of the flat values are axes of a dense tensor.
type segmentation struct {
	outer []*RowPartition // of the segments: the remaining dimensions
	over  *RowPartition   // of the values, into rows
	from  tensor.Tensor   // the fiber of the first value of each row; nil: each row is a segment
	n     tensor.Tensor   // number of fibers
}

// segments returns the segmentation for axes, which are in ascending order and are some, but not
// all, of those that are partitioned or outside of all partitions.
func (t *Tensor) segments(axes ...int) *segmentation {
	parts := t.parts
	k := len(parts)
	gone := func(a int) bool { return slices.Contains(axes, a) }
	if gone(k) { // axes at the end are combined into the rows of one partition
		lo := k
		for lo > 1 && gone(lo-1) {
			lo--
		}
		parts = innerJoined(parts, lo)
		k = lo
	}
	s := &segmentation{over: parts[k-1]}
	first := axes[0]
	if first == k {
		s.outer = parts[:k-1]
		return s
	}
	at := belonging{n: scalar(1, parts[0].DType())}
	if first > 0 {
		s.outer = slices.Clone(parts[:first-1])
		at = belonging{lists: parts[first-1], n: parts[first-1].NRows()}
	}
	for a := first + 1; a < k; a++ {
		if p := parts[a-1]; gone(a) {
			at = belonging{ids: at.below(p), n: at.n}
		} else {
			q, from := at.aligned(p)
			s.outer = append(s.outer, q)
			at = belonging{ids: rows.FiberIDs(p.RowSplits(), from), n: q.NVals()}
		}
	}
	if gone(k) { // each value is a row by itself
		s.from, s.n = at.below(s.over), at.n
		s.over = newUniform(s.over.NVals(), scalar(1, s.over.DType()))
	} else {
		var q *RowPartition
		q, s.from = at.aligned(s.over)
		s.outer, s.n = append(s.outer, q), q.NVals()
	}
	if first == 0 { // a single list of everything is not a dimension
		s.outer = s.outer[1:]
	}
	return s
}

// innerJoined merges the partitions from axis lo on into one.
func innerJoined(parts []*RowPartition, lo int) []*RowPartition {
	k := len(parts)
	if lo == k {
		return parts
	}
	splits := parts[k-1].RowSplits()
	for a := k - 1; a >= lo; a-- {
		splits = ops.Gather(splits, parts[a-1].RowSplits(), 0) // of outer rows in terms of the values of inner ones
	}
	return append(slices.Clone(parts[:lo-1]), newPartition(splits, parts[k-1].nvals))
}

// A belonging assigns each entry of a dimension to one of n groups: by the rows of lists or, if
// lists is nil, by ids. If both are nil, there is a single group.
type belonging struct {
	lists *RowPartition
	ids   tensor.Tensor
	n     tensor.Tensor
}

func (b belonging) of() tensor.Tensor {
	if b.lists != nil {
		return b.lists.ValueRowIDs()
	}
	return b.ids
}

// below returns the groups of the values of the rows of p, given those of the
// rows.
func (b belonging) below(p *RowPartition) tensor.Tensor {
	ids := b.of()
	if ids == nil {
		return nil
	}
	return rows.Repeat(ids, p.RowSplits(), p.StaticNVals())
}

// alignedKey is the key under which the result of [belonging.aligned] for rows in memory is cached
// with their splits.
type alignedKey struct{ lists *tensor.Dense }

type alignedRows struct {
	p    *RowPartition
	from tensor.Tensor
}

// aligned aligns the rows of p that belong to the same group. It returns the partition of the
// positions that they cover, and the position of the first value of each row.
func (b belonging) aligned(p *RowPartition) (*RowPartition, tensor.Tensor) {
	if p.IsUniform() { // rows cover as many positions as they are long, even if there are none
		ids := b.of()
		if ids == nil {
			ids = filled(p.NRows(), scalar(0, p.DType()))
		}
		return newUniform(cast(b.n, p.DType()), p.uniform), ops.Mul(cast(ids, dtype.Int64), cast(p.uniform, dtype.Int64))
	}
	splits := p.RowSplits()
	align := func() alignedRows {
		s, from := rows.Align(splits, b.of(), b.n)
		return alignedRows{newPartition(s, shape.Unknown), from}
	}
	made := alignedRows{}
	d, ok := splits.(*tensor.Dense)
	var key alignedKey
	if b.lists != nil {
		var known bool
		key.lists, known = b.lists.RowSplits().(*tensor.Dense)
		ok = ok && known
	}
	if ok && b.ids == nil {
		made = d.Memo(key, func() any { return align() }).(alignedRows)
	} else {
		made = align()
	}
	return made.p, made.from
}

// by returns the segmentation of t by the segment of each of its rows, of which there are n: the
// rows of a segment are aligned.
func (t *Tensor) by(ids, n tensor.Tensor) *segmentation {
	s := &segmentation{over: t.parts[len(t.parts)-1]}
	at := belonging{ids: ids, n: n}
	for i, p := range t.parts {
		q, from := at.aligned(p)
		s.outer, s.from, s.n = append(s.outer, q), from, q.NVals()
		if i < len(t.parts)-1 {
			at = belonging{ids: rows.FiberIDs(p.RowSplits(), from), n: s.n}
		}
	}
	return s
}

// within applies an operation to rows of values.
type within = func(values, splits tensor.Tensor) tensor.Tensor

// reduce combines the values of each segment. f reduces rows; for fibers, how says which folding
// does the same. If there is none, f is applied to the values of each fiber in turn.
func (s *segmentation) reduce(flat tensor.Tensor, f within, how rows.Folding) tensor.Tensor {
	switch {
	case s.from == nil:
		return f(flat, s.over.RowSplits())
	case how != "":
		return rows.Fold(flat, s.over.RowSplits(), s.from, s.n, how)
	}
	order, splits, _ := s.order()
	return f(ops.Gather(flat, order, 0), splits)
}

// along applies f, which keeps rows, to the values of each segment.
func (s *segmentation) along(flat tensor.Tensor, f within) tensor.Tensor {
	if s.from == nil {
		return f(flat, s.over.RowSplits())
	}
	order, splits, back := s.order()
	return ops.Gather(f(ops.Gather(flat, order, 0), splits), back, 0)
}

// order returns the positions of the values of each fiber in turn, the row splits of the fibers
// among them, and the new position of each value.
func (s *segmentation) order() (order, splits, back tensor.Tensor) {
	return rows.FiberOrder(s.over.RowSplits(), s.from, s.n)
}

// ids returns the segment of each value.
func (s *segmentation) ids() tensor.Tensor {
	if s.from == nil {
		return s.over.ValueRowIDs()
	}
	return rows.FiberIDs(s.over.RowSplits(), s.from)
}

// spread gives each value the entry of its segment.
func (s *segmentation) spread(perSegment tensor.Tensor) tensor.Tensor {
	if s.from == nil {
		return rows.Repeat(perSegment, s.over.RowSplits(), s.over.StaticNVals())
	}
	return ops.Gather(perSegment, s.ids(), 0)
}

// counts returns the number of values of each segment.
func (s *segmentation) counts() tensor.Tensor {
	if s.from == nil {
		return s.over.RowLengths()
	}
	return rows.FiberLengths(s.over.RowSplits(), s.from, s.n)
}

// build returns a tensor with an entry for each segment.
func (s *segmentation) build(flat tensor.Tensor) tensor.Tensor { return build(flat, s.outer) }

// entryNumbers returns, for each innermost row of t, the number of the entry of an axis that
// contains it, counted within its list. The axis must have partitioned axes below it.
func entryNumbers(t *Tensor, axis int) tensor.Tensor {
	number := numbers(t.parts[0].NRows())
	if axis > 0 {
		number = t.parts[axis-1].OffsetsInRows()
	}
	for _, p := range t.parts[axis : len(t.parts)-1] {
		number = rows.Repeat(number, p.RowSplits(), p.StaticNVals())
	}
	return ops.Cast(number, dtype.Int64)
}

// valueNumbers is entryNumbers for each flat value.
func valueNumbers(t *Tensor, axis int) tensor.Tensor {
	p := t.parts[len(t.parts)-1]
	return rows.Repeat(entryNumbers(t, axis), p.RowSplits(), p.StaticNVals())
}
