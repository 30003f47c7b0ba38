package dataset

import (
	"iter"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/shape"
)

// FromRows returns the dataset of the rows of a Value, or of a structure of Values that have the
// same number of rows. An element is a structure like x that holds a row of each Value. T must be
// able to hold rows: the rows of a *ragged.Tensor are dense, so use
//
//	dataset.FromRows[tensor.Tensor](r)
//
// FromRows does not copy x.
func FromRows[T any](x T) *Dataset[T] {
	r, err := newRows(x)
	if err != nil {
		return failing[T](err)
	}
	return derived(&node[T]{
		name:  "FromRows",
		size:  func() (int64, error) { return r.n, nil },
		get:   func(i int64) (T, error) { return r.row(i % r.n) },
		place: func(i int64) (ref[T], bool) { return ref[T]{r, i % r.n}, true },
		specs: r.rowSpecs,
	})
}

// FromSlice returns the dataset of the elements of a slice, which must not change.
func FromSlice[T any](elements []T) *Dataset[T] {
	return computed("FromSlice", int64(len(elements)), func(i int64) (T, error) { return elements[i], nil })
}

// FromFunc returns the dataset of n elements; at returns an element by its number, counted from 0,
// such as a record batch of a file or a line of an index. at must be safe for concurrent use and
// return the same element for the same number.
func FromFunc[T any](n int64, at func(i int64) (T, error)) *Dataset[T] {
	if n < 0 {
		return failing[T](invalid("FromFunc", "there are %d elements", n))
	}
	return computed("FromFunc", n, at)
}

func computed[T any](name string, n int64, at func(int64) (T, error)) *Dataset[T] {
	return derived(&node[T]{
		name: name,
		size: func() (int64, error) { return n, nil },
		get:  func(i int64) (T, error) { return at(i % n) },
	})
}

// FromSeq returns the stream of the elements of an iterator. open is called for each loop, and for
// each epoch of a loop; its iterators must return the same elements each time, unless the stream is
// read only once.
func FromSeq[T any](open func() iter.Seq2[T, error]) *Dataset[T] {
	return derived(&node[T]{name: "FromSeq", open: func(o opening[T]) walk[T] {
		next, stop := pulled(o.guarded, open)
		i, skip := int64(0), o.from.number()
		return walk[T]{
			next: func() (item[T], bool) {
				for o.ctx.Err() == nil {
					x, err, ok := next()
					if !ok {
						break
					}
					if i++; i <= skip && err == nil {
						continue
					}
					it := done(x, numberedError(i-1, err))
					it.last = err != nil
					return it, true
				}
				return item[T]{}, false
			},
			save:  func(s *state) { s.put(max(i, skip)) },
			close: stop,
		}
	}})
}

// Origins sets the origins of elements, by their numbers in an epoch: a file and a position in it, for example. They
// appear in errors of elements ([ElementError.Where]), including errors of functions, rows and batches of them.
//
//	dataset.FromFunc(int64(len(names)), read).Origins(func(i int64) string { return names[i] })
func (d *Dataset[T]) Origins(from func(i int64) string) *Dataset[T] {
	if d.err != nil {
		return d
	}
	up := d.n
	if up.get != nil {
		n := moved("Origins", up, nil, func(_, i int64) int64 { return i })
		n.from = func(i int64) string {
			all, err := up.size()
			if err != nil || all == 0 {
				return ""
			}
			return from(i % all)
		}
		get := n.get
		n.get = func(i int64) (T, error) {
			x, err := get(i)
			return x, placedError(i, func() string { return n.from(i) }, err)
		}
		return derived(n)
	}
	n := &node[T]{name: "Origins", below: []stage{up}, size: up.size, specs: up.specs}
	n.open = func(o opening[T]) walk[T] {
		at := to[T](o)
		i := o.from.number()
		w := up.walk(at)
		next, save := w.next, w.save
		w.next = func() (item[T], bool) {
			it, ok := next()
			k := i
			i++
			it.from = func() string { return from(k) }
			return it, ok
		}
		w.save = func(s *state) {
			s.put(i)
			save(s)
		}
		return w
	}
	return derived(n)
}

// FromBatches returns the stream of the rows of the Values, or structures of Values, that an
// iterator returns, such as jsonl.Batches:
//
//	dataset.FromBatches(func() iter.Seq2[*structured.Tensor, error] {
//		return jsonl.Batches(jsonl.Files(names...), 1000, jsonl.Options{Schema: schema})
//	})
//
// Batches of a different size are sliced and concatenated from them without handling single rows.
// open is called as in [FromSeq].
func FromBatches[T any](open func() iter.Seq2[T, error]) *Dataset[T] {
	d := FromSeq(open)
	d.n.name, d.n.meter.name = "FromBatches", "FromBatches"
	n := unbatched(d.n)
	n.name = "Rows"
	return derived(n)
}

// Unbatch returns the rows of each element, which is a batch: a Value, or a structure of Values
// that have the same number of rows. If all elements are known to have the same number of rows, the
// rows are numbered; otherwise they are a stream.
func (d *Dataset[T]) Unbatch() *Dataset[T] {
	if d.err != nil {
		return d
	}
	if rows := rowsOfAll(d.n); rows > 0 && d.n.get != nil {
		sizes := func() ([]int64, error) {
			n, err := d.n.size()
			if err != nil || n >= maxBlocks {
				return nil, err
			}
			out := make([]int64, n)
			for i := range out {
				out[i] = rows
			}
			return out, nil
		}
		if n, err := d.n.size(); err == nil && n < maxBlocks {
			return blocksOf("Unbatch", d.n, sizes, BlockOptions{})
		}
	}
	return derived(unbatched(d.n))
}

// Rebatch returns the rows of the elements, which are batches, in batches of a different size. Rows
// of two batches are concatenated without handling single rows.
func (d *Dataset[T]) Rebatch(size int, o BatchOptions) *Dataset[T] { return d.Unbatch().Batch(size, o) }

// rowsOfAll returns the number of rows that all elements have according to their Specs, or 0 if it
// is unknown.
func rowsOfAll[T any](n *node[T]) int64 {
	rows := int64(0)
	for _, f := range n.fields() {
		s, ok := f.Spec.(interface{ Shape() shape.Shape })
		if !ok || !s.Shape().HasRank() || s.Shape().Rank() == 0 || s.Shape().Dim(0) < 0 || rows > 0 && int64(s.Shape().Dim(0)) != rows {
			return 0
		}
		rows = int64(s.Shape().Dim(0))
	}
	return rows
}

// unbatched returns the stream of the rows of elements.
func unbatched[T any](up *node[T]) *node[T] {
	specs := func() []tenon.Field { return rowFields(up.fields()) }
	return &node[T]{name: "Unbatch", below: []stage{up}, specs: specs, open: func(o opening[T]) walk[T] {
		at, skip := to[T](o), o.from.number()
		batch := o.from.number() // number of the current batch
		w := up.walk(at)
		var r *stored[T]
		row := int64(0)
		var before *state // state of w before the batch was read
		return walk[T]{
			next: func() (item[T], bool) {
				for r == nil || row >= r.n {
					if o.saves {
						before = &state{}
						w.save(before)
					}
					it, ok := w.next()
					if !ok {
						r, before = nil, nil
						return item[T]{}, false
					}
					x, err := it.value()
					if err == nil {
						r, err = newRows(x)
					}
					if err != nil {
						r, before = nil, nil
						failure := done(x, elementError(batch, err))
						failure.last = it.last
						batch++
						return failure, true
					}
					r.from = it.origin()
					row, skip = min(skip, r.n), 0
					batch++
				}
				row++
				return item[T]{ref: ref[T]{r, row - 1}}, true
			},
			save: func(s *state) {
				if before == nil { // between two batches
					s.put(skip)
					s.put(batch)
					w.save(s)
					return
				}
				s.put(row)
				s.put(batch - 1)
				s.b = append(s.b, before.b...)
			},
			close: w.close,
		}
	}}
}
