package ragged

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	kgather "github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// keyedBy selects by a tensor of positions or truth values.
func keyedBy(t *Tensor, by tenon.Value, rest []key.Key, dim int) tensor.Tensor {
	b, ok := by.(tensor.Tensor)
	if !ok || !taken(b) {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: indexFn, Msg: fmt.Sprintf("a %s does not select", by.Spec().TypeName()), Line: source.Line()})
	}
	r, ragged := b.(*Tensor)
	switch {
	case ragged && b.DType().IsBool():
		return keyedBelow(keptInRows(t, r), rest, len(r.parts)+1, dim)
	case ragged:
		return keyedBelow(takenInRows(t, r), rest, len(r.parts)+1, dim)
	case b.DType().IsBool() && b.Shape().Rank() == 1:
		checkMask(t, b)
		at := truePositions(b)
		return keyedInRows(gatherRows(t, at), rest, dim)
	case b.DType().IsBool():
		// Several dimensions become one: they have to be uniform.
		n := b.Shape().Rank()
		if n < 1 {
			tenon.Throw(invalid(indexFn, "", "a single truth value does not select"))
		}
		merged := outerMerged(t, n)
		at := ops.Squeeze(ops.Nonzero(ops.Reshape(b, []int{-1})), 1)
		checkMask(merged, ops.Reshape(b, []int{-1}))
		return keyedInRows(gatherRows(merged, at), rest, dim)
	}
	if at, ok := knownPositions(t, b); ok {
		return keyedInRows(gatherRows(t, at), rest, dim)
	}
	n := cast(t.parts[0].NRows(), dtype.Int64)
	b = asPositions(b)
	at := ops.Where(ops.Less(b, 0), ops.Add(b, n), b)
	checkPositions(ops.Reshape(b, []int{-1}), at, n)
	return gatheredAt(t, at, rest, dim)
}

// knownPositions returns the numbers of rows that a vector of positions in memory
// means: negative ones count from the end.
func knownPositions(t *Tensor, b tensor.Tensor) (at tensor.Tensor, ok bool) {
	d, ok := b.(*tensor.Dense)
	n := t.parts[0].spec.nrows
	if !ok || d.Rank() != 1 || d.DType() != dtype.Int64 || n < 0 || !d.IsContiguous() {
		return nil, false
	}
	given := tensor.Data[int64](d)
	for i, k := range given {
		if k < int64(-n) || k >= int64(n) {
			tenon.Throw(outOfRange(indexFn, "position "+itoa(i), "%d is out of bounds for %d rows", k, n))
		}
	}
	if !slices.ContainsFunc(given, func(k int64) bool { return k < 0 }) {
		return d, true
	}
	out, numbers := tensor.Make[int64](d.Shape())
	for i, k := range given {
		if k < 0 {
			k += int64(n)
		}
		numbers[i] = k
	}
	return out, true
}

// checkPositions fails where positions in memory are not among n rows: given, or counted
// from the start.
func checkPositions(given, at, n tensor.Tensor) {
	bad := ops.LogicalOr(ops.Less(at, 0), ops.GreaterEqual(at, n))
	b, ok := op.Known(ops.Any(bad))
	if !ok || !tensor.Data[bool](b)[0] {
		return
	}
	for i, wrong := range tensor.Data[bool](ops.Reshape(bad, []int{-1})) {
		if wrong {
			tenon.Throw(outOfRange(indexFn, "position "+itoa(i), "%d is out of bounds for %d rows", itemAt(given, i), known(n)))
		}
	}
}

// gatheredAt returns rows by number, the axes of the numbers standing in the place of
// the outermost dimension.
func gatheredAt(t tensor.Tensor, at tensor.Tensor, rest []key.Key, dim int) tensor.Tensor {
	s := ShapeOf(at)
	flat := reshapeTo(at, []size{s.slices(s.Rank() - 1)}, s.dtype)
	out := keyedInRows(gatherRows(t, flat), rest, dim)
	return underAxes(out, s)
}

// underAxes gives the rows of t the axes of a dense shape in place of their own.
func underAxes(t tensor.Tensor, s *Shape) tensor.Tensor {
	if s.Rank() == 1 {
		return t
	}
	if _, ok := t.(*Tensor); !ok {
		sizes := innerSizes(s)
		for j := 1; j < t.Shape().Rank(); j++ {
			sizes = append(sizes, size{t.Shape().Dim(j), func() tensor.Tensor { return sizeOf(t, j, s.dtype) }})
		}
		return reshapeTo(t, sizes, s.dtype)
	}
	flat, parts := split(t)
	outer := s.withPartitions(s.Rank() - 1).parts
	all := make([]*RowPartition, 0, len(outer)+len(parts))
	return wrap(flat, sameDType(append(append(all, outer...), parts...)))
}

// checkMask fails unless there is one truth value for each row.
func checkMask(t tensor.Tensor, mask tensor.Tensor) {
	if n, m := outermostSize(t), mask.Shape().Dim(0); n >= 0 && m >= 0 && n != m {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrShape, Op: indexFn, Msg: fmt.Sprintf("there are %d truth values for %d rows", m, n), Line: source.Line()})
	}
}

// outerMerged merges the n outer dimensions, which are uniform, into one.
func outerMerged(t *Tensor, n int) tensor.Tensor {
	var out tensor.Tensor = t
	for range n - 1 {
		r, ok := out.(*Tensor)
		if !ok || !r.parts[0].IsUniform() {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrShape, Op: indexFn, Msg: "a dense tensor of truth values does not fit a ragged dimension", Line: source.Line()})
		}
		out = r.Values()
	}
	return out
}

// keyedBelow applies keys below the first n dimensions.
func keyedBelow(t tensor.Tensor, keys []key.Key, n, dim int) tensor.Tensor {
	if len(keys) == 0 {
		return t
	}
	all := make([]key.Key, n-1, n-1+len(keys))
	for i := range all {
		all[i] = key.All
	}
	return keyedInRows(t, append(all, keys...), dim)
}

// keptInRows keeps of each row what a ragged tensor of truth values has true.
func keptInRows(t, mask *Tensor) tensor.Tensor {
	k := len(mask.parts)
	if mask.flat.Shape().Rank() != 1 || k > len(t.parts) && k >= t.Shape().Rank() {
		tenon.Throw(invalid(indexFn, "", "truth values of shape %v do not fit %v", mask.described(), t.described()))
	}
	x := t.deepened(k)
	parts := agreeing(x.parts[:k], mask.parts)
	values := build(x.flat, x.parts[k:])
	last := parts[k-1]
	splits := rows.MaskSplits(last.RowSplits(), mask.flat)
	if plain(values) && isDense(mask.flat) && mask.flat.Shape().Size() == values.Shape().Dim(0) {
		kept := ops.BooleanMask(values, mask.flat, 0) // in one pass, without the positions
		return onTop(kept, append(append([]*RowPartition(nil), parts[:k-1]...), newPartition(splits, kept.Shape().Dim(0))))
	}
	at := truePositions(mask.flat)
	out := append(append([]*RowPartition(nil), parts[:k-1]...), newPartition(splits, at.Shape().Dim(0)))
	return onTop(gatherRows(values, at), out)
}

// truePositions returns where a boolean vector is true.
func truePositions(mask tensor.Tensor) tensor.Tensor {
	d, ok := mask.(*tensor.Dense)
	if !ok || !d.IsContiguous() {
		return ops.Squeeze(ops.Nonzero(mask), 1)
	}
	bits := tensor.Data[bool](d)
	out, at := tensor.Make[int64](shape.Of(kgather.CountTrue(bits)))
	kgather.TrueAt(at, bits)
	return out
}

// takenInRows takes of each row the positions that a ragged tensor of integers has
// in its row; negative ones count from the end.
func takenInRows(t, at *Tensor) tensor.Tensor {
	k := len(at.parts)
	if at.flat.Shape().Rank() != 1 || k >= t.Shape().Rank() {
		tenon.Throw(invalid(indexFn, "", "positions of shape %v do not fit %v", at.described(), t.described()))
	}
	if !at.DType().IsInteger() {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrDType, Op: indexFn, Msg: fmt.Sprintf("positions are integers, not %v", at.DType()), Line: source.Line()})
	}
	x := t.deepened(k)
	outer := at.parts
	if k > 1 {
		outer = append(agreeing(at.parts[:k-1], x.parts[:k-1]), at.parts[k-1])
	} else if n, m := x.parts[0].spec.nrows, at.parts[0].spec.nrows; n >= 0 && m >= 0 && n != m {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrShape, Op: indexFn, Msg: fmt.Sprintf("positions for %d rows, there are %d", m, n), Line: source.Line()})
	}
	p, q := x.parts[k-1], outer[k-1]
	values := build(x.flat, x.parts[k:])
	if out := knownTaken(p, q, values, at.flat, noPosition); out != nil {
		return onTop(out, outer)
	}
	return onTop(gatherRows(values, absolute(p, q, at.flat)), outer)
}

// absolute turns positions in the rows of p, listed by rows of q, into positions
// among the values.
func absolute(p, q *RowPartition, at tensor.Tensor) tensor.Tensor {
	at = asPositions(at)
	if out, ok := knownAbsolute(p, q, at, noPosition); ok {
		return out
	}
	const d = dtype.Int64 // which holds every position
	perRow := func(v tensor.Tensor) tensor.Tensor { return rows.Repeat(cast(v, d), q.RowSplits(), q.nvals) }
	n, start := perRow(p.RowLengths()), perRow(p.RowStarts())
	within := ops.Where(ops.Less(at, 0), ops.Add(at, n), at)
	bad := ops.LogicalOr(ops.Less(within, 0), ops.GreaterEqual(within, n))
	if b, ok := bad.(*tensor.Dense); ok {
		for i, wrong := range tensor.Data[bool](b) {
			if wrong {
				s, _ := q.Splits64()
				r := rowOf(s, i)
				tenon.Throw(outOfRange(indexFn, fmt.Sprintf("row %d", r), "position %v is out of bounds for %v entries", itemAt(at, i), itemAt(n, i)))
			}
		}
		return ops.Add(start, within)
	}
	// In a graph a position that is out of its row becomes one that no row has.
	return ops.Where(bad, scalar(-1, d), ops.Add(start, within))
}

// noPosition returns the error for a position that a row does not have.
func noPosition(r int, k, n int64) error {
	return outOfRange(indexFn, fmtRow(r), "position %d is out of bounds for %d entries", k, n)
}

// knownAbsolute is absolute for what is in memory; refuse makes the error for a position
// that a row does not have.
func knownAbsolute(p, q *RowPartition, at tensor.Tensor, refuse func(row int, position, entries int64) error) (tensor.Tensor, bool) {
	from, to, positions, ok := listedPositions(p, q, at)
	if !ok {
		return nil, false
	}
	out, places := tensor.Make[int64](at.Shape())
	if r, k := segment.Places(places, positions, to, from); r >= 0 {
		tenon.Throw(refuse(r, k, from[r+1]-from[r]))
	}
	return out, true
}

// listedPositions returns what says where positions in rows of p are, listed by rows of q,
// for what is in memory.
func listedPositions(p, q *RowPartition, at tensor.Tensor) (from, to, positions []int64, ok bool) {
	a, ok := at.(*tensor.Dense)
	if !ok || a.DType() != dtype.Int64 || !a.IsContiguous() {
		return nil, nil, nil, false
	}
	from, okp := p.Splits64()
	to, okq := q.Splits64()
	if !okp || !okq || len(from) != len(to) || to[len(to)-1] != int64(a.Len()) {
		return nil, nil, nil, false
	}
	return from, to, tensor.Data[int64](a), true
}

// knownTaken returns the values at positions in the rows of p, listed by rows of q, in one
// pass, for single elements in memory; nil where the general way has to be taken.
func knownTaken(p, q *RowPartition, values, at tensor.Tensor, refuse func(row int, position, entries int64) error) tensor.Tensor {
	v, ok := values.(*tensor.Dense)
	if !ok || v.Rank() != 1 || !v.IsContiguous() {
		return nil
	}
	from, to, positions, ok := listedPositions(p, q, at)
	if !ok || from[len(from)-1] != int64(v.Len()) {
		return nil
	}
	out := tensor.Uninit(v.DType(), at.Shape())
	r, k := -1, int64(0)
	dst, src := out.Bytes(), v.Bytes()
	switch v.DType().Size() {
	case 4:
		r, k = segment.Take(wordsOf[uint32](dst), wordsOf[uint32](src), positions, to, from)
	case 8:
		r, k = segment.Take(wordsOf[uint64](dst), wordsOf[uint64](src), positions, to, from)
	case 1:
		r, k = segment.Take(dst, src, positions, to, from)
	default:
		return nil
	}
	if r >= 0 {
		tenon.Throw(refuse(r, k, from[r+1]-from[r]))
	}
	return out
}

// wordsOf returns bytes as the elements that they are moved as.
func wordsOf[T uint32 | uint64](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

func itemAt(t tensor.Tensor, i int) int {
	return known(ops.Index(t, i))
}

// rowOf returns the row that value i is in.
func rowOf(splits []int64, i int) int {
	lo, hi := 0, len(splits)-1
	for lo+1 < hi {
		if mid := (lo + hi) / 2; splits[mid] <= int64(i) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// deepened returns t with at least k partitions, inner axes becoming uniform ones.
func (t *Tensor) deepened(k int) *Tensor {
	if len(t.parts) >= k {
		return t
	}
	s := ShapeOf(t).withPartitions(k)
	return wrap(reshapeTo(t.flat, innerSizes(s), s.dtype), s.parts)
}

// agreeing returns the partitions p, of the type of whichever is wider, once it is
// known that q has rows of the same lengths.
func agreeing(p, q []*RowPartition) []*RowPartition {
	b := &broadcasting{fn: indexFn}
	out := make([]*RowPartition, len(p))
	for i := range p {
		if out[i] = p[i]; samePartition(p[i], q[i]) {
			continue
		}
		d := widest([]*RowPartition{p[i], q[i]})
		out[i] = b.agree(i+1, p[i].as(d), q[i].as(d).RowSplits())
	}
	return sameDType(out)
}

// onTop puts partitions on top of values.
func onTop(values tensor.Tensor, parts []*RowPartition) tensor.Tensor {
	if len(parts) == 1 {
		return partitioned(values, parts[0])
	}
	flat, below := split(values)
	all := make([]*RowPartition, 0, len(parts)+len(below))
	return build(flat, sameDType(append(append(all, parts...), below...)))
}
