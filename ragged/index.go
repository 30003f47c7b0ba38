package ragged

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

const indexFn = "ops.Index"

func init() {
	handle(func(c *op.Call) ([]tenon.Value, error) {
		keys, err := key.Parse(c.Str(1), c.List(2))
		if err != nil {
			return nil, err
		}
		t, ok := c.Value(0).(tensor.Tensor)
		if !ok || !taken(t) {
			return nil, op.NotHandled
		}
		return op.One(index(t, keys))
	}, "index")
}

// taken reports whether a tensor is one that ragged handlers work on: a ragged one,
// or one without structure.
func taken(t tenon.Value) bool {
	_, ok := t.(*Tensor)
	return ok || plain(t)
}

// Index returns what keys select, as [ops.Index] does:
//
//   - an integer selects one row of the outermost dimension, or one entry of each
//     slice along a uniform dimension. On a ragged dimension below the first it is an
//     error, as rows may be too short for it: see [Pick]
//   - a range with any step selects in the outermost dimension, or in each row
//   - key.Ellipsis and key.NewAxis as for dense tensors
//   - a vector of integers selects rows by number; a ragged tensor of integers
//     selects in each row the positions that its row lists
//   - a boolean vector selects the rows for which it is true; a ragged boolean tensor
//     keeps in each row what is true in its row
//
// The result is ragged as long as it has ragged dimensions below the first.
func (t *Tensor) Index(keys ...any) (out tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	list, err := key.List(keys...)
	if err != nil {
		return nil, complete(err)
	}
	return index(t, list), nil
}

// TypeName returns "ragged.Tensor".
func (t *Tensor) TypeName() string { return TypeName }

// IndexKeys is the short way of [ops.Index] to [Tensor.Index]. It declines keys
// with values that answer for operations themselves.
func (t *Tensor) IndexKeys(keys []key.Key) (tensor.Tensor, bool) {
	for _, k := range keys {
		if k.Kind == key.ByKind && !taken(k.Value) {
			return nil, false
		}
	}
	return index(t, keys), true
}

// complete gives an error of package key an operation and a line.
func complete(err error) error {
	e := *tenon.AsError(err)
	if e.Op == "" {
		e.Op, e.Line = indexFn, source.Line()
	}
	return &e
}

// index returns what keys select. It throws.
func index(t tensor.Tensor, keys []key.Key) tensor.Tensor {
	rank := t.Shape().Rank()
	if rank < 0 {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: indexFn, Msg: "the rank of the tensor is not known", Line: source.Line()})
	}
	return keyed(t, wholeKeys(keys, rank), 0)
}

// wholeKeys returns keys without an ellipsis: as many keys that stand for axes as
// there are axes, a ragged tensor standing for as many as it has.
func wholeKeys(keys []key.Key, rank int) []key.Key {
	axes, at := 0, -1
	for i, k := range keys {
		switch k.Kind {
		case key.EllipsisKind:
			if at >= 0 {
				tenon.Throw(invalid(indexFn, fmt.Sprintf("key %d", i), "is a second ellipsis"))
			}
			at = i
		case key.FieldKind:
			tenon.Throw(&tenon.Error{Kind: tenon.ErrDType, Op: indexFn, Where: fmt.Sprintf("key %d", i), Msg: fmt.Sprintf("a tensor has no field %q", k.Name), Line: source.Line()})
		default:
			axes += keyAxes(k)
		}
	}
	if axes > rank {
		tenon.Throw(invalid(indexFn, "", "keys for %d dimensions, the tensor has %d", axes, rank))
	}
	out := make([]key.Key, 0, len(keys)+rank-axes)
	for i, k := range keys {
		if i != at {
			out = append(out, k)
			continue
		}
		for range rank - axes {
			out = append(out, key.All)
		}
	}
	for len(out) > 0 && out[len(out)-1].IsAll() {
		out = out[:len(out)-1]
	}
	return out
}

// keyAxes returns the number of dimensions that a key stands for.
func keyAxes(k key.Key) int {
	if k.Kind == key.ByKind {
		if r, ok := k.Value.(*Tensor); ok {
			return r.Shape().Rank()
		}
	}
	return k.Axes()
}

// keyed applies keys to a tensor, the first to its outermost dimension, which is
// dimension dim of the tensor that is indexed.
func keyed(t tensor.Tensor, keys []key.Key, dim int) tensor.Tensor {
	if len(keys) == 0 {
		return t
	}
	r, ok := t.(*Tensor)
	if !ok {
		return keyedDense(t, keys)
	}
	k, rest := keys[0], keys[1:]
	switch k.Kind {
	case key.AtKind:
		return keyed(rowAt(indexFn, r, k), rest, dim+1)
	case key.NewAxisKind:
		return newOuter(keyed(t, rest, dim))
	case key.ByKind:
		return keyedBy(r, k.Value, rest, dim)
	}
	return keyedInRows(rowRange(r, k), rest, dim)
}

// keyedDense applies keys to a tensor without partitions. A ragged key among them
// selects along dense rows.
func keyedDense(t tensor.Tensor, keys []key.Key) tensor.Tensor {
	for i, k := range keys {
		by, ok := k.Value.(*Tensor)
		if k.Kind != key.ByKind || !ok {
			continue
		}
		if i > 0 {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: indexFn, Where: fmt.Sprintf("key %d", i), Msg: "a ragged tensor of positions selects from the outermost dimension on", Line: source.Line()})
		}
		rank := by.Shape().Rank()
		if rank > t.Shape().Rank() {
			tenon.Throw(invalid(indexFn, "key 0", "the positions have %d dimensions, the tensor %d", rank, t.Shape().Rank()))
		}
		return keyedBy(wrapFlat(t).uniformOuter(rank-1, by.parts[0].spec.dtype), by, keys[1:], 0)
	}
	anys := make([]any, len(keys))
	for i, k := range keys {
		anys[i] = k
	}
	return ops.Index(t, anys...)
}

// newOuter puts a dimension of size 1 in front.
func newOuter(t tensor.Tensor) tensor.Tensor {
	r, ok := t.(*Tensor)
	if !ok {
		return ops.ExpandDims(t, 0)
	}
	d := r.parts[0].spec.dtype
	return partitioned(t, newUniform(scalar(1, d), r.NRows()))
}

// rowRange returns the rows that a range selects.
func rowRange(t *Tensor, k key.Key) *Tensor {
	if k.IsAll() {
		return t
	}
	p := t.parts[0]
	d := p.spec.dtype
	first, n, step, ok, err := k.Span(p.spec.nrows)
	tenon.Throw(completed(err))
	switch {
	case ok && step == 1:
		return rowsBetween(t, first, first+n).(*Tensor)
	case ok:
		return gatherRows(t, tensor.Vector(steps(first, n, step))).(*Tensor)
	}
	all := ops.Range(scalar(0, d), p.NRows(), scalar(1, d))
	return gatherRows(t, ops.Index(all, k)).(*Tensor)
}

func completed(err error) error {
	if err == nil {
		return nil
	}
	return complete(err)
}

func steps(first, n, step int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(first + i*step)
	}
	return out
}

// keyedInRows applies keys below the outermost dimension: to each row of t.
func keyedInRows(t tensor.Tensor, keys []key.Key, dim int) tensor.Tensor {
	if len(keys) == 0 {
		return t
	}
	r, ok := t.(*Tensor)
	if !ok {
		return keyedDense(t, append([]key.Key{key.All}, keys...))
	}
	k, rest := keys[0], keys[1:]
	p := r.parts[0]
	switch k.Kind {
	case key.NewAxisKind:
		d := p.spec.dtype
		return below(keyedInRows(r, rest, dim), newUniform(p.NRows(), scalar(1, d)))
	case key.AtKind:
		if !p.IsUniform() {
			e := invalid(indexFn, "", "dimension %d is ragged: an integer selects only along the outermost dimension and uniform ones", dim+1)
			e.Hint = "ragged.Pick takes one entry of each row and says what becomes of rows that are too short; a range keeps the dimension"
			tenon.Throw(e)
		}
		return keyedInRows(gatherRows(r.Values(), entriesAt(p, k)), rest, dim+1)
	case key.ByKind:
		e := &tenon.Error{Kind: tenon.ErrUnsupported, Op: indexFn, Msg: "a tensor of positions or truth values selects from the outermost dimension on", Line: source.Line()}
		e.Hint = "give one with the leading dimensions too: a ragged one selects in each row"
		tenon.Throw(e)
	}
	if k.IsAll() {
		return below(keyedInRows(r.Values(), rest, dim+1), p)
	}
	values, q := rangeOfRows(r, k)
	return below(keyedInRows(values, rest, dim+1), q)
}

// below puts a partition on top of values; where those have become a dense tensor
// that a uniform partition divides into rows of a known form, it stays ragged, as its
// kind is that of the tensor that was indexed.
func below(values tensor.Tensor, p *RowPartition) tensor.Tensor { return partitioned(values, p) }

// rangeOfRows returns the values that a range selects of each row, and their
// partition. A uniform partition stays one.
func rangeOfRows(t *Tensor, k key.Key) (tensor.Tensor, *RowPartition) {
	p := t.parts[0]
	values := t.Values()
	if !p.IsUniform() {
		if _, ok := values.(*Tensor); !ok {
			flat, splits := rows.Slice(values, p.RowSplits(), k)
			return flat, newPartition(splits, flat.Shape().Dim(0))
		}
		splits, at := rows.SliceIndex(p.RowSplits(), k)
		return gatherRows(values, at), newPartition(splits, at.Shape().Dim(0))
	}
	d := p.spec.dtype
	first, n, step, ok, err := k.Span(p.spec.length)
	tenon.Throw(completed(err))
	if v, isDense := values.(*tensor.Dense); isDense && ok && v.IsContiguous() { // a view of rows
		dims := append([]int{p.spec.nrows, p.spec.length}, v.Shape().Tail(1).Dims()...)
		kept := tensor.Contiguous(ops.Index(ops.Reshape(v, dims), key.All, k).(*tensor.Dense))
		return kept.Reshaped(v.Shape().With(0, p.spec.nrows*n)), newUniform(p.nrows, scalar(n, d))
	}
	var within tensor.Tensor // the positions selected in a row
	if ok {
		within = cast(tensor.Vector(steps(first, n, step)), d)
	} else {
		within = ops.Index(ops.Range(scalar(0, d), p.uniform, scalar(1, d)), k)
	}
	count := sizeOf(within, 0, d)
	q := newUniform(p.nrows, count)
	starts := ops.Mul(ops.Range(scalar(0, d), p.nrows, scalar(1, d)), p.uniform)
	at := ops.Add(ops.ExpandDims(starts, 1), ops.ExpandDims(within, 0))
	return gatherRows(values, reshapeTo(at, []size{{q.nvals, q.NVals}}, d)), q
}

// entriesAt returns for each row of one length the position of its entry at a place.
func entriesAt(p *RowPartition, k key.Key) tensor.Tensor {
	d := p.spec.dtype
	i, ok, err := k.Position(p.spec.length)
	tenon.Throw(completed(err))
	var at tensor.Tensor
	if ok {
		at = scalar(i, d)
	} else {
		at = position(k, p.uniform)
	}
	starts := ops.Mul(ops.Range(scalar(0, d), p.nrows, scalar(1, d)), p.uniform)
	return ops.Add(starts, at)
}

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
		at := ops.Squeeze(ops.Nonzero(b), 1)
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
	n := t.parts[0].NRows()
	at := ops.Where(ops.Less(b, 0), ops.Add(b, ops.Cast(n, b.DType())), b)
	return gatheredAt(t, at, rest, dim)
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
		tenon.Throw(invalid(indexFn, "", "truth values of shape %v do not fit %v", mask.spec, t.spec))
	}
	x := t.deepened(k)
	parts := agreeing(x.parts[:k], mask.parts)
	values := build(x.flat, x.parts[k:])
	last := parts[k-1]
	splits := rows.MaskSplits(last.RowSplits(), mask.flat)
	at := ops.Squeeze(ops.Nonzero(mask.flat), 1)
	out := append(append([]*RowPartition(nil), parts[:k-1]...), newPartition(splits, at.Shape().Dim(0)))
	return onTop(gatherRows(values, at), out)
}

// takenInRows takes of each row the positions that a ragged tensor of integers has
// in its row; negative ones count from the end.
func takenInRows(t, at *Tensor) tensor.Tensor {
	k := len(at.parts)
	if at.flat.Shape().Rank() != 1 || k >= t.Shape().Rank() {
		tenon.Throw(invalid(indexFn, "", "positions of shape %v do not fit %v", at.spec, t.spec))
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
	where := absolute(p, q, at.flat)
	return onTop(gatherRows(build(x.flat, x.parts[k:]), where), outer)
}

// absolute turns positions in the rows of p, listed by rows of q, into positions
// among the values.
func absolute(p, q *RowPartition, at tensor.Tensor) tensor.Tensor {
	d := widest([]*RowPartition{p, q})
	at = ops.Cast(at, d)
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
	flat, below := split(values)
	all := make([]*RowPartition, 0, len(parts)+len(below))
	return build(flat, sameDType(append(append(all, parts...), below...)))
}

// PickOptions says what becomes of rows that have no entry at the position.
type PickOptions struct {
	// Fill stands for the missing entry: a constant or a tensor of the shape of an
	// entry. Nil makes a missing entry an error that names the row.
	Fill any
}

// Pick returns one entry of each row of the dimension below the first: the one at a
// position, an integer for all rows or a vector with one for each. Negative ones
// count from the end of the row.
//
//	x: [n, (row), a…], at: int[] or int[n] → [n, a…]
//	Gradient: the cotangent at the entries, 0 elsewhere.
func Pick(x *Tensor, at any, o PickOptions) (out tensor.Tensor, err error) {
	const fn = "ragged.Pick"
	defer tenon.Catch(&err)
	if o.Fill == nil && !concrete(x, at) {
		return pickedOrFail(fn, x, at)
	}
	items, found, err := picked(fn, x, at, o.Fill)
	if err != nil {
		return nil, err
	}
	if o.Fill != nil {
		return items, nil
	}
	return items, allFound(fn, x, found)
}

// concrete reports whether rows and positions are in memory.
func concrete(x *Tensor, at any) bool {
	_, ok := x.parts[0].Splits64()
	_, symbolic := at.(op.Recorder)
	return ok && !symbolic
}

// pickedOrFail picks in a graph, where a row that is too short fails as a position
// that no value has.
func pickedOrFail(fn string, x *Tensor, at any) (tensor.Tensor, error) {
	i, err := tensor.Convert(at)
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: "at", Err: err, Line: source.Line()}
	}
	p := x.parts[0]
	n := p.RowLengths()
	i = ops.Cast(i, p.spec.dtype)
	within := ops.Where(ops.Less(i, 0), ops.Add(i, n), i)
	bad := ops.LogicalOr(ops.Less(within, 0), ops.GreaterEqual(within, n))
	return gatherRows(x.Values(), ops.Where(bad, scalar(-1, p.spec.dtype), ops.Add(p.RowStarts(), within))), nil
}

// PickFound is [Pick] for callers that deal with missing entries themselves: it also
// returns for which rows there is one. The others get zero, false or the empty string.
func PickFound(x *Tensor, at any) (items, found tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return picked("ragged.PickFound", x, at, nil)
}

func picked(fn string, x *Tensor, at, fill any) (items, found tensor.Tensor, err error) {
	i, err := tensor.Convert(at)
	if err != nil {
		return nil, nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: "at", Err: err, Line: source.Line()}
	}
	f, err := x.filler(fn, fill)
	if err != nil {
		return nil, nil, err
	}
	p := x.parts[0]
	if len(x.parts) == 1 {
		items, found = rows.Pick(x.flat, p.RowSplits(), i, f)
		return items, found, nil
	}
	// Of rows of rows: the number of the row that each has at the position, and an
	// empty row behind all others for those that have none.
	if fill != nil {
		return nil, nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: fn, Where: "Fill", Msg: "there is no filling for an entry that is a row", Line: source.Line()}
	}
	d := p.spec.dtype
	numbers := ops.Range(scalar(0, d), p.NVals(), scalar(1, d))
	number, found := rows.Pick(numbers, p.RowSplits(), i, p.NVals())
	return gatherRows(withEmptyRow(x.Values().(*Tensor)), number), found, nil
}

// withEmptyRow adds an empty row at the end; a uniform dimension becomes a ragged one.
func withEmptyRow(t *Tensor) *Tensor {
	p := t.parts[0]
	s := ops.Concat([]tensor.Tensor{p.RowSplits(), ops.ExpandDims(p.NVals(), 0)}, 0)
	return partitioned(t.Values(), newPartition(s, p.nvals))
}

// allFound fails where a row has no entry.
func allFound(fn string, x *Tensor, found tensor.Tensor) error {
	for r, ok := range tensor.Data[bool](found) {
		if !ok {
			s, _ := x.parts[0].Splits64()
			e := outOfRange(fn, fmt.Sprintf("row %d", r), "has only %d entries", s[r+1]-s[r])
			e.Hint = "give PickOptions.Fill, or use ragged.PickFound"
			return e
		}
	}
	return nil
}
