package ragged

import (
	"encoding/binary"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The short ways of operations that copy rows: where there are a few elements, making a
// tensor takes longer than looking at all of them, so these make the result only, and
// no index on the way. Each does what the general way does, which is taken where they
// say that they cannot and which also says what is wrong.

// few are rows of a few fixed-size elements in memory.
type few struct {
	flat   *tensor.Dense
	src    []byte // the elements
	splits []int64
	size   int64 // bytes of one item
}

// generalOnly has the general way taken always; tests compare the two.
var generalOnly = false

// fewOf returns a value as few, if it is.
func fewOf(t any) (f few, ok bool) {
	r, ok := t.(*Tensor)
	if !ok || len(r.parts) != 1 || generalOnly {
		return few{}, false
	}
	p := r.parts[0]
	d, ok := r.flat.(*tensor.Dense)
	if !ok || p.IsUniform() || p.spec.dtype != dtype.Int64 || !d.IsContiguous() || d.Len()+p.spec.nrows > shortElements {
		return few{}, false
	}
	s, ok := p.Splits64()
	if !ok || s[len(s)-1] != int64(d.Dim(0)) {
		return few{}, false
	}
	f = few{flat: d, src: d.Bytes(), splits: s, size: int64(d.DType().Size())}
	if n := d.Dim(0); n > 0 {
		f.size = int64(len(f.src) / n)
	}
	return f, true
}

func (f *few) nrows() int { return len(f.splits) - 1 }

// length returns the number of items of a row.
func (f *few) length(r int) int64 { return f.splits[r+1] - f.splits[r] }

// A filler collects rows of items one behind the other.
type filler struct {
	flat *tensor.Dense
	made *fewRowsMade
	dst  []byte
	ends []int64
	at   int64 // items collected
}

// filler returns a filler for so many rows and values with items like those of f.
func (f *few) filler(nrows, nvals int) (to filler) {
	return f.result(nrows, nvals, true, false)
}

// result returns a filler for so many rows and values: items like those of f, or with local
// their positions. Without rows of its own no row is ended: they are those of another one.
func (f *few) result(nrows, nvals int, own, local bool) (to filler) {
	if local {
		to.flat = tensor.Uninit(dtype.Int64, shape.Of(nvals))
	} else {
		to.flat = tensor.Uninit(f.flat.DType(), f.flat.Shape().With(0, nvals))
	}
	if to.dst = to.flat.Bytes(); own {
		to.made, to.ends = makeFew(nrows)
		to.ends = to.ends[1:]
	}
	return to
}

// position adds a position.
func (to *filler) position(n int64) {
	binary.LittleEndian.PutUint64(to.dst, uint64(n))
	to.dst = to.dst[8:]
	to.at++
}

// values adds the items [lo, hi) of f.
func (to *filler) values(f *few, lo, hi int64) {
	if hi > lo {
		copy(to.dst, f.src[lo*f.size:hi*f.size])
		to.dst = to.dst[(hi-lo)*f.size:]
		to.at += hi - lo
	}
}

// end ends a row.
func (to *filler) end() {
	to.ends[0], to.ends = to.at, to.ends[1:]
}

// row adds row r of f as a row.
func (to *filler) row(f *few, r int) {
	to.values(f, f.splits[r], f.splits[r+1])
	to.end()
}

// partition returns the partition of the rows that have been added.
func (to *filler) partition() *RowPartition { return to.made.partition() }

// tensor returns the rows that have been added.
func (to *filler) tensor() *Tensor { return to.made.tensor(to.flat) }

// fewRows is [gatherRows] for a few rows by a few numbers; nil where the general way has
// to be taken.
func fewRows(t, index tensor.Tensor) tensor.Tensor {
	d, ok := index.(*tensor.Dense)
	if !ok || d.Rank() != 1 || d.DType() != dtype.Int64 {
		return nil
	}
	return fewRowsAt(t, tensor.Data[int64](d))
}

// fewRowsAt is fewRows for numbers in a slice.
func fewRowsAt(t tensor.Tensor, at []int64) tensor.Tensor {
	f, ok := fewOf(t)
	if !ok || len(at) > shortElements {
		return nil
	}
	n := int64(0)
	for _, r := range at {
		if uint64(r) >= uint64(f.nrows()) {
			return nil
		}
		n += f.splits[r+1] - f.splits[r]
	}
	if n > shortElements {
		return nil
	}
	to := f.filler(len(at), int(n))
	for _, r := range at {
		to.row(&f, int(r))
	}
	return to.tensor()
}

// fewMoved returns a few rows in another order: row r of n is the one that from names; nil
// where the general way has to be taken.
func fewMoved(x *Tensor, from func(r, n int) int) tensor.Tensor {
	f, ok := fewOf(x)
	if !ok {
		return nil
	}
	n := f.nrows()
	to := f.filler(n, f.flat.Dim(0))
	for r := range n {
		to.row(&f, from(r, n))
	}
	return to.tensor()
}

// fewEach repeats each of a few rows so often as a vector says; nil where the general way
// has to be taken.
func fewEach(x *Tensor, times tensor.Tensor) tensor.Tensor {
	f, ok := fewOf(x)
	often := int64s(times)
	if !ok || often == nil || len(often) != f.nrows() {
		return nil
	}
	nrows, nvals := int64(0), int64(0)
	for r, k := range often {
		if k < 0 || k > shortElements {
			return nil
		}
		nrows, nvals = nrows+k, nvals+k*(f.splits[r+1]-f.splits[r])
	}
	if nrows > shortElements || nvals > shortElements {
		return nil
	}
	to := f.filler(int(nrows), int(nvals))
	for r, k := range often {
		for range k {
			to.row(&f, r)
		}
	}
	return to.tensor()
}

// fewMasked keeps rows, or with a mask for each value values; nil where the general way
// has to be taken.
func fewMasked(x, mask tensor.Tensor) tensor.Tensor {
	f, ok := fewOf(x)
	if !ok {
		return nil
	}
	if d, isDense := mask.(*tensor.Dense); isDense {
		if d.Rank() != 1 || d.Len() != f.nrows() || d.DType() != dtype.Bool {
			return nil
		}
		keep := tensor.Data[bool](d)
		n, m := 0, 0
		for r, k := range keep {
			if k {
				n, m = n+1, m+int(f.splits[r+1]-f.splits[r])
			}
		}
		to := f.filler(n, m)
		for r, k := range keep {
			if k {
				to.row(&f, r)
			}
		}
		return to.tensor()
	}
	g, ok := fewOf(mask)
	if !ok || g.flat.Rank() != 1 || g.flat.DType() != dtype.Bool || firstDifference(f.splits, g.splits) >= 0 {
		return nil
	}
	keep := tensor.Data[bool](g.flat)
	m := 0
	for _, k := range keep {
		if k {
			m++
		}
	}
	to := f.filler(f.nrows(), m)
	for r := range f.nrows() {
		for i := f.splits[r]; i < f.splits[r+1]; i++ {
			if keep[i] {
				to.values(&f, i, i+1)
			}
		}
		to.end()
	}
	return to.tensor()
}

// fewTiled repeats the rows, and each of them in itself, nil where the general way has to
// be taken.
func fewTiled(x tensor.Tensor, times []int) tensor.Tensor {
	f, ok := fewOf(x)
	if !ok || len(times) < 2 || times[0] > shortElements || times[1] > shortElements {
		return nil
	}
	for _, m := range times[2:] {
		if m != 1 {
			return nil
		}
	}
	nrows, nvals := f.nrows()*times[0], f.flat.Dim(0)*times[0]*times[1]
	if nrows > shortElements || nvals > shortElements {
		return nil
	}
	to := f.filler(nrows, nvals)
	for range times[0] {
		for r := range f.nrows() {
			for range times[1] {
				to.values(&f, f.splits[r], f.splits[r+1])
			}
			to.end()
		}
	}
	return to.tensor()
}

// fewRepeated repeats each row, or with axis 1 each of its entries; nil where the general
// way has to be taken.
func fewRepeated(x tensor.Tensor, times, axis int) tensor.Tensor {
	f, ok := fewOf(x)
	if !ok || times < 0 || times > shortElements || axis > 1 {
		return nil
	}
	nrows, nvals := f.nrows(), f.flat.Dim(0)*times
	if axis == 0 {
		nrows *= times
	}
	if nrows > shortElements || nvals > shortElements {
		return nil
	}
	to := f.filler(nrows, nvals)
	for r := range f.nrows() {
		if axis == 0 {
			for range times {
				to.row(&f, r)
			}
			continue
		}
		for i := f.splits[r]; i < f.splits[r+1]; i++ {
			for range times {
				to.values(&f, i, i+1)
			}
		}
		to.end()
	}
	return to.tensor()
}

// allFew returns the values of a list as few rows each, with items of one type and shape,
// and how many rows and items they have together; nil where they are not.
func allFew[T any](list []T, room []few) (fs []few, nrows, nvals int) {
	if len(list) == 0 || len(list) > len(room) {
		return nil, 0, 0
	}
	fs = room[:len(list)]
	for i, t := range list {
		f, ok := fewOf(t)
		if !ok || i > 0 && (f.flat.DType() != fs[0].flat.DType() || !f.flat.Shape().Tail(1).Equal(fs[0].flat.Shape().Tail(1))) {
			return nil, 0, 0
		}
		fs[i] = f
		nrows, nvals = nrows+f.nrows(), nvals+f.flat.Dim(0)
	}
	if nrows > shortElements || nvals > shortElements {
		return nil, 0, 0
	}
	return fs, nrows, nvals
}

// fewStacked stacks tensors along a new axis; nil where the general way has to be taken.
func fewStacked[T any](list []T, axis int) tensor.Tensor {
	var room [8]few
	fs, nrows, nvals := allFew(list, room[:])
	if fs == nil {
		return nil
	}
	rank := fs[0].flat.Rank() + 2 // of the result
	if axis < 0 {
		axis += rank
	}
	switch {
	case axis == 0:
		return fewInTables(fs, nrows, nvals)
	case axis == 1:
		return fewInLists(fs, nvals)
	case axis > 1 && axis < rank:
		return fewInItems(any(list[0]).(*Tensor), fs, axis-1)
	}
	return nil
}

// fewInTables stacks tensors along a new outermost axis.
func fewInTables(fs []few, nrows, nvals int) tensor.Tensor {
	to := fs[0].filler(nrows, nvals)
	outer, ends := tensor.Make[int64](shape.Of(len(fs) + 1))
	for i := range fs {
		for r := range fs[i].nrows() {
			to.row(&fs[i], r)
		}
		ends[i+1] = ends[i] + int64(fs[i].nrows())
	}
	return wrap(to.flat, []*RowPartition{newPartition(rows.Trusted(outer, ends), nrows), to.partition()})
}

// fewInLists stacks the rows of tensors: row i of all of them is a list; nil where the
// tensors have different numbers of rows.
func fewInLists(fs []few, nvals int) tensor.Tensor {
	nrows := fs[0].nrows()
	for _, f := range fs[1:] {
		if f.nrows() != nrows {
			return nil
		}
	}
	to := fs[0].filler(nrows*len(fs), nvals)
	for r := range nrows {
		for i := range fs {
			to.row(&fs[i], r)
		}
	}
	return wrap(to.flat, []*RowPartition{uniformOf(nrows, len(fs), dtype.Int64), to.partition()})
}

// fewInItems stacks the items of tensors that have the same rows, those of x, along an axis
// of the flat values; nil where the rows differ.
func fewInItems(x *Tensor, fs []few, axis int) tensor.Tensor {
	for _, f := range fs[1:] {
		if firstDifference(f.splits, fs[0].splits) >= 0 {
			return nil
		}
	}
	s := x.flat.Shape()
	out := tensor.Uninit(x.DType(), s.Insert(axis, len(fs)))
	dst, row := out.Bytes(), s.Tail(axis).Size()*x.DType().Size()
	for at := 0; len(dst) > 0; at += row {
		for i := range fs {
			dst = dst[copy(dst, fs[i].src[at:at+row]):]
		}
	}
	return x.with(out)
}

// fewStitched is [DynamicStitch] for a few rows: row i of data[k] becomes row ids[k][i];
// nil where the general way has to be taken.
func fewStitched(ids, data []tensor.Tensor) tensor.Tensor {
	var room [8]few
	fs, _, _ := allFew(data, room[:])
	if fs == nil {
		return nil
	}
	var places [8][]int64
	top := int64(-1)
	for k, id := range ids {
		at := int64s(id)
		if at == nil || id.Shape().Rank() != 1 || len(at) != fs[k].nrows() {
			return nil
		}
		for _, n := range at {
			if n < 0 || n >= shortElements {
				return nil
			}
			top = max(top, n)
		}
		places[k] = at
	}
	var own [scratchSize]int64
	mem := scratch{own[:]}
	from, of := mem.take(top+1), mem.take(top+1) // 1 + the tensor of each row, and its row there
	nvals := int64(0)
	for k := range fs {
		f := &fs[k]
		for r, n := range places[k] {
			if old := from[n]; old > 0 {
				nvals -= fs[old-1].length(int(of[n]))
			}
			from[n], of[n] = int64(k+1), int64(r)
			nvals += f.length(r)
		}
	}
	to := fs[0].filler(int(top+1), int(nvals))
	for n, k := range from {
		if k > 0 {
			to.row(&fs[k-1], int(of[n]))
		} else {
			to.end()
		}
	}
	return to.tensor()
}

// fewChosen returns rows of x where cond is true, and of y elsewhere; nil where the general
// way has to be taken.
func fewChosen(cond, x, y tensor.Tensor) tensor.Tensor {
	f, ok := fewOf(x)
	g, ok2 := fewOf(y)
	c, ok3 := cond.(*tensor.Dense)
	if !ok || !ok2 || !ok3 || c.Len() != f.nrows() || f.nrows() != g.nrows() || f.flat.DType() != g.flat.DType() || !f.flat.Shape().Tail(1).Equal(g.flat.Shape().Tail(1)) {
		return nil
	}
	from := [2]*few{&g, &f}
	chosen := func(b bool) *few {
		if b {
			return from[1]
		}
		return from[0]
	}
	nvals := int64(0)
	for r, b := range tensor.Data[bool](c) {
		h := chosen(b)
		nvals += h.splits[r+1] - h.splits[r]
	}
	to := f.filler(f.nrows(), int(nvals))
	for r, b := range tensor.Data[bool](c) {
		to.row(chosen(b), r)
	}
	return to.tensor()
}

// fewTaken returns rows by number, empty ones where none is there; nil where the general
// way has to be taken.
func fewTaken(x tensor.Tensor, at []int64, there []bool) tensor.Tensor {
	f, ok := fewOf(x)
	if !ok || len(at) != len(there) || len(at) > shortElements {
		return nil
	}
	nvals := int64(0)
	for i, r := range at {
		if !there[i] {
			continue
		}
		if uint64(r) >= uint64(f.nrows()) {
			return nil
		}
		nvals += f.splits[r+1] - f.splits[r]
	}
	if nvals > shortElements {
		return nil
	}
	to := f.filler(len(at), int(nvals))
	for i, r := range at {
		if there[i] {
			to.row(&f, int(r))
		} else {
			to.end()
		}
	}
	return to.tensor()
}

// fewPadded adds entries at both ends of a few rows of elements: fill, or zeros where it is
// nil; nil where the general way has to be taken.
func fewPadded(x *Tensor, fill tenon.Value, before, after int) tensor.Tensor {
	f, ok := fewOf(x)
	if !ok || f.flat.Rank() != 1 || before > shortElements || after > shortElements || (before+after)*f.nrows() > shortElements {
		return nil
	}
	var edge []byte
	if d, isDense := fill.(*tensor.Dense); isDense && d != nil {
		if d.Rank() != 0 || d.DType() != f.flat.DType() {
			return nil
		}
		edge = d.Bytes()
	} else if fill != nil {
		return nil
	}
	to := f.filler(f.nrows(), f.flat.Len()+(before+after)*f.nrows())
	pad := func(n int) {
		for range n {
			if edge == nil {
				clear(to.dst[:f.size])
			} else {
				copy(to.dst, edge)
			}
			to.dst = to.dst[f.size:]
			to.at++
		}
	}
	for r := range f.nrows() {
		pad(before)
		to.values(&f, f.splits[r], f.splits[r+1])
		pad(after)
		to.end()
	}
	return to.tensor()
}

// fewParts cuts a few rows into parts of so many rows; nil where the general way has to be
// taken.
func fewParts(x *Tensor, sizes []int, axis int) []tenon.Value {
	f, ok := fewOf(x)
	if !ok || axis != 0 {
		return nil
	}
	out := make([]tenon.Value, len(sizes))
	r := 0
	for i, n := range sizes {
		if n < 0 || n > f.nrows()-r {
			return nil
		}
		to := f.filler(n, int(f.splits[r+n]-f.splits[r]))
		for range n {
			to.row(&f, r)
			r++
		}
		out[i] = to.tensor()
	}
	return out
}

// fewRanges selects a range of rows, and of each of them a range of entries; nil where the
// general way has to be taken.
func fewRanges(t tensor.Tensor, inRows, within key.Key) tensor.Tensor {
	f, ok := fewOf(t)
	if !ok {
		return nil
	}
	nrows, nvals := 0, int64(0)
	if !f.ranges(inRows, within, func(_, n, _ int64) { nrows, nvals = nrows+1, nvals+n }) {
		return nil
	}
	to := f.filler(nrows, int(nvals))
	f.ranges(inRows, within, func(at, n, step int64) {
		if step == 1 {
			to.values(&f, at, at+n)
		} else {
			for i := range n {
				to.values(&f, at+i*step, at+i*step+1)
			}
		}
		to.end()
	})
	return to.tensor()
}

// ranges calls visit for a range of rows with the range of entries in each: the first item,
// how many, and the step. It reports false where bounds are not known or make no sense.
func (f *few) ranges(inRows, within key.Key, visit func(at, n, step int64)) bool {
	first, n, by, ok, err := inRows.Span(f.nrows())
	if !ok || err != nil {
		return false
	}
	for i := range n {
		r := first + i*by
		at, m, step, ok, err := within.Span(int(f.length(r)))
		if !ok || err != nil {
			return false
		}
		visit(f.splits[r]+int64(at), int64(m), int64(step))
	}
	return true
}

// fewUpdated writes one element into ranges of entries of a range of rows; nil where the
// general way has to be taken.
func fewUpdated(x *Tensor, y tensor.Tensor, keys []key.Key) tensor.Tensor {
	f, ok := fewOf(x)
	d, isDense := y.(*tensor.Dense)
	if !ok || !isDense || d.Rank() != 0 || d.DType() != x.DType() || f.flat.Rank() != 1 ||
		len(keys) != 2 || keys[0].Kind != key.RangeKind || keys[1].Kind != key.RangeKind {
		return nil
	}
	out := tensor.Uninit(d.DType(), f.flat.Shape())
	dst, src := out.Bytes(), d.Bytes()
	copy(dst, f.src)
	if !f.ranges(keys[0], keys[1], func(at, n, step int64) {
		for i := range n {
			copy(dst[(at+i*step)*f.size:], src)
		}
	}) {
		return nil
	}
	return x.with(out)
}

// fewIndexed is [index] of a few rows by a ragged mask, by ranges of rows and of entries in
// them, or by the numbers of a row and of an element in it; nil where the general way has to
// be taken.
func fewIndexed(t tensor.Tensor, keys []key.Key) tensor.Tensor {
	switch {
	case len(keys) == 1 && keys[0].Kind == key.ByKind:
		if mask, ok := keys[0].Value.(*Tensor); ok && mask.DType().IsBool() {
			return fewMasked(t, mask)
		}
	case len(keys) == 2 && keys[0].Kind == key.RangeKind && keys[1].Kind == key.RangeKind:
		return fewRanges(t, keys[0], keys[1])
	case len(keys) == 2 && keys[0].Kind == key.AtKind && keys[1].Kind == key.AtKind:
		f, ok := fewOf(t)
		r, isInt := keys[0].Start.(int)
		k, isInt2 := keys[1].Start.(int)
		if !ok || !isInt || !isInt2 || f.flat.Rank() != 1 {
			return nil
		}
		if r < 0 {
			r += f.nrows()
		}
		if r < 0 || r >= f.nrows() {
			return nil
		}
		n := int(f.splits[r+1] - f.splits[r])
		if k < 0 {
			k += n
		}
		if k < 0 || k >= n {
			return nil
		}
		out := tensor.NewDense(f.flat.DType(), shape.Shape{})
		copy(out.Bytes(), f.src[(f.splits[r]+int64(k))*f.size:][:f.size])
		return out
	}
	return nil
}
