package ragged

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A segmentation says which of the flat values of a tensor belong together along some of its
// axes: those that differ in their places on these axes only. Whatever reduces axes, scans or
// sorts along one works on the values of each segment:
//
//	x: [n, (m), (l)]
//	axis 2       the rows of the innermost partition
//	axes 1, 2    the rows of both partitions as one
//	axis 1       below each row of n the rows of l, laid over each other: the values that
//	             have the same place in them are a segment, which is called a fiber
//	axis 0       the same over the whole tensor
//	axes 0, 2    of all rows of n, the values below the same entry of m
//
// Only axes that are partitioned, or outside of all partitions, are told here: those behind
// the first dimension of the flat values are axes of a dense tensor.
type segmentation struct {
	outer []*RowPartition // of the segments: the dimensions that are left
	over  *RowPartition   // of the values into rows
	from  tensor.Tensor   // the fiber of the first value of each row; nil: each row is a segment
	n     tensor.Tensor   // how many fibers there are
}

// segments returns the segmentation of axes, which are rising, and neither none nor all of
// those that are partitioned or outside of all partitions.
func (t *Tensor) segments(axes ...int) *segmentation {
	parts := t.parts
	k := len(parts)
	gone := func(a int) bool { return slices.Contains(axes, a) }
	if gone(k) { // what goes together at the end are rows of one partition
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
	if gone(k) { // each value is a row of its own
		s.from, s.n = at.below(s.over), at.n
		s.over = newUniform(s.over.NVals(), scalar(1, s.over.DType()))
	} else {
		var q *RowPartition
		q, s.from = at.aligned(s.over)
		s.outer, s.n = append(s.outer, q), q.NVals()
	}
	if first == 0 { // the one list of everything is no dimension
		s.outer = s.outer[1:]
	}
	return s
}

// innerJoined returns partitions of which those from axis lo on are one.
func innerJoined(parts []*RowPartition, lo int) []*RowPartition {
	k := len(parts)
	if lo == k {
		return parts
	}
	splits := parts[k-1].RowSplits()
	for a := k - 1; a >= lo; a-- {
		splits = composed(parts[a-1].RowSplits(), splits)
	}
	return append(slices.Clone(parts[:lo-1]), newPartition(splits, parts[k-1].nvals))
}

// composed returns the splits of outer rows into the values of inner ones.
func composed(outer, inner tensor.Tensor) tensor.Tensor { return ops.Gather(inner, outer, 0) }

// A belonging says to which of n things the entries of a dimension belong: those of a row of
// lists to the row, others to the thing in ids. Where both are nil there is one thing.
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

// below returns what the values of the rows of p belong to, where the rows do.
func (b belonging) below(p *RowPartition) tensor.Tensor {
	ids := b.of()
	if ids == nil {
		return nil
	}
	return rows.Repeat(ids, p.RowSplits(), p.StaticNVals())
}

// alignedKey is for what [belonging.aligned] makes of rows in memory, which is kept with
// their splits.
type alignedKey struct{ lists *tensor.Dense }

type alignedRows struct {
	p    *RowPartition
	from tensor.Tensor
}

// aligned lays the rows of p that belong to one thing over each other. It returns the
// partition of the places that they cover, and that of the first value of each row.
func (b belonging) aligned(p *RowPartition) (*RowPartition, tensor.Tensor) {
	if p.IsUniform() { // rows cover as many places as they are long, even where there is none
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

// by returns the segmentation of t by the segment of each of its rows, of which there are n:
// the rows of a segment are laid over each other.
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

// within is how an operation runs on rows of values.
type within = func(values, splits tensor.Tensor) tensor.Tensor

// reduce makes the values of each segment one: f reduces rows, and what does the same for
// fibers is a folding, or where there is none f on the values of each fiber in turn.
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

// along runs f, which keeps rows, on the values of each segment.
func (s *segmentation) along(flat tensor.Tensor, f within) tensor.Tensor {
	if s.from == nil {
		return f(flat, s.over.RowSplits())
	}
	order, splits, back := s.order()
	return ops.Gather(f(ops.Gather(flat, order, 0), splits), back, 0)
}

// order returns the positions of the values of each fiber in turn, the row splits of the
// fibers among them, and where each value went.
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

// spread gives each value what stands at its segment.
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

// build returns a tensor of what there is for each segment.
func (s *segmentation) build(flat tensor.Tensor) tensor.Tensor { return build(flat, s.outer) }

// entryNumbers returns for each innermost row of t the number of the entry of an axis that it
// lies in, counted in its list. The axis has partitioned axes below it.
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
