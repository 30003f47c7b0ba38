package parquetio

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/abort"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/internal/source"
)

// A reading is the state of reading row groups of a file.
type reading struct {
	o    *ReadOptions
	p    *part
	most int64        // limit in bytes for a row group
	left atomic.Int64 // bytes left for all row groups being read
}

func (r *reading) take(n int64) error {
	if r.left.Add(-n) < 0 {
		return errors.New("the data takes more memory than allowed for a file of this size (ReadOptions.MaxBytes allows more)")
	}
	return nil
}

func (r *reading) proceed() error { return abort.Done(r.o.Context) }

// A task reads a column whose slots are the entries up to a repetition level and from a definition
// level on.
type task struct {
	n        *node
	rep, def uint8
	levels   *stream
	data     arrow.ArrayData
	err      error
}

// batch reads row groups of one file as a record batch.
func (f *File) batch(fn string, groups []place) (b arrow.RecordBatch, err error) {
	p := f.parts[groups[0].part]
	where := f.where(groups[0])
	defer recovered(fn, where, &err)
	defer tenon.Catch(&err)
	most := f.o.MaxBytes
	if most <= 0 {
		most = 64<<20 + 1024*min(p.size, 1<<50)
	}
	r := &reading{o: &f.o, p: p, most: most}
	r.left.Store(most)
	if k := int64(len(groups)); most < 1<<62/k {
		r.left.Store(most * k)
	}
	rows := int64(0)
	for _, g := range groups {
		rows += f.rows(g)
	}
	var tasks []*task
	for _, n := range p.cols {
		n.places(0, 0, func(n *node, rep, def uint8) { tasks = append(tasks, &task{n: n, rep: rep, def: def}) })
	}
	par.For(len(tasks), 1, func(lo, hi int) {
		for _, t := range tasks[lo:hi] {
			t.err = f.column(fn, r, t, groups)
		}
	})
	out := &group{fn: fn, streams: map[int]*stream{}, leaves: map[int]arrow.ArrayData{}, columns: func(leaf int) string { return where + ": " + p.meta.columns[leaf].path }}
	for _, t := range tasks {
		if t.err != nil {
			return nil, t.err
		}
		out.streams[t.n.leaf], out.leaves[t.n.leaf] = t.levels, t.data
	}
	cols := make([]arrow.Array, len(p.cols))
	for i, n := range p.cols {
		d := out.build(n, 0, 0)
		if int64(d.Len()) != rows {
			return nil, fail(tenon.ErrInvalid, fn, out.columns(n.first()), "there are %d rows instead of %d", d.Len(), rows)
		}
		cols[i] = array.MakeFromData(d)
	}
	for _, t := range tasks {
		t.levels.release()
	}
	return restored(array.NewRecordBatch(f.set, cols, rows)), nil
}

// column reads a column of row groups.
func (f *File) column(fn string, r *reading, t *task, groups []place) (err error) {
	at := f.where(groups[0])
	leaf := t.n.leaf
	path := func() string { return at + ": " + r.p.meta.columns[leaf].path }
	defer func() {
		if p := recover(); p != nil {
			err = fail(tenon.ErrInvalid, fn, path(), "the file is damaged: %v", p)
		}
	}()
	c, err := newColumn(r.p.meta.columns[leaf])
	if err != nil {
		return damaged(fn, path(), err)
	}
	entries, size := int64(0), int64(0)
	for _, g := range groups {
		if r.p.meta.groups[g.group].rows > 0 {
			at = f.where(g)
			m, err := r.p.checkChunk(g.group, leaf)
			if err != nil {
				return damaged(fn, path(), err)
			}
			n, rows := m.entries, r.p.meta.groups[g.group].rows
			if g.some != nil {
				n = int64(float64(n) * float64(total(g.some)) / float64(rows))
			}
			entries, size = min(entries+n, 1<<50), size+m.size
		}
	}
	c.expect(entries, size)
	var chunk []byte
	list := &pages{r: r, scheme: c}
	defer list.release()
	for _, g := range groups {
		rows := r.p.meta.groups[g.group].rows
		if rows == 0 { // pages are optional
			continue
		}
		at = f.where(g)
		chunk, err = c.group(r, g, leaf, chunk, list, rows)
		if stop := r.proceed(); stop != nil {
			return &tenon.Error{Op: fn, Where: at, Msg: "reading was cancelled", Err: stop, Line: source.Line()}
		}
		if err != nil {
			return damaged(fn, path(), err)
		}
	}
	t.data, err = c.array(t.n, t.rep, t.def)
	t.levels = &c.stream
	return damaged(fn, path(), err)
}

// group adds the rows to read from a row group.
func (c *column) group(r *reading, g place, leaf int, chunk []byte, list *pages, rows int64) ([]byte, error) {
	entry, value := c.n, c.count
	var read []span
	var err error
	if g.some != nil {
		if chunk, read, err = r.some(g.group, leaf, g.some, chunk, list); err != nil {
			return chunk, err
		}
	}
	if read == nil {
		read = []span{{0, rows}}
		if chunk, err = r.chunk(g.group, leaf, chunk, list); err != nil {
			return chunk, err
		}
	}
	if err := c.load(r, list, total(read)); err != nil {
		return chunk, err
	}
	if g.some != nil {
		c.cut(entry, value, read, g.some)
	}
	return chunk, nil
}

// chunk reads the bytes of a column chunk, into a buffer if it has the capacity, and starts with its
// pages.
func (r *reading) chunk(group, leaf int, buf []byte, p *pages) ([]byte, error) {
	c, err := r.p.checkChunk(group, leaf)
	if err != nil {
		return nil, err
	}
	from, size := c.at()
	n := int(size)
	if r.p.meta.writer.before("parquet-mr", 1, 2, 9) {
		const most = 100 // number of bytes that some old writers did not count
		n += int(min(most, r.p.size-8-from-int64(n)))
	}
	if cap(buf) < n {
		buf = p.room(n)
	}
	buf = buf[:n]
	if k, err := r.p.src.ReadAt(buf, from); k < n {
		if err == nil || err == io.EOF {
			err = fmt.Errorf("read %d of %d bytes at %d", k, n, from)
		}
		return nil, err
	}
	p.b, p.left, p.codec, p.ends, p.numbers = buf, c.entries, c.codec, nil, nil
	p.begin(c.secret, c.dict > 0)
	return buf, nil
}
