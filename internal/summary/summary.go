package summary

import (
	"encoding/binary"
	"math/bits"
	"runtime"
	"strings"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// A Summary collects statistics of records, which are added a batch at a time.
type Summary struct {
	Records int64

	columns map[string]*Column
	order   []string
}

// Columns returns the columns in the order of the fields, ready for computing quantiles.
func (s *Summary) Columns() []*Column {
	out := make([]*Column, len(s.order))
	var w walker
	for i, path := range s.order {
		out[i] = s.columns[path]
		w.tasks = append(w.tasks, task{out[i], func(c *Column) { c.sample.sort() }})
	}
	w.run()
	return out
}

// column returns the column of a path. A new field counts as missing in all records so far, unless it is
// within lists.
func (s *Summary) column(path, of, typ string, direct bool) *Column {
	name := path + " " + of
	c := s.columns[name]
	if c == nil {
		if s.columns == nil {
			s.columns = map[string]*Column{}
		}
		c = newColumn(path, of)
		if direct {
			c.Missing = s.Records
		}
		s.columns[name] = c
		s.order = append(s.order, name)
	}
	c.Type = typ
	return c
}

// A task is a part of a batch that belongs to one column.
type task struct {
	c   *Column
	run func(c *Column)
}

// Add adds the fields of some records, or of any Value.
func (s *Summary) Add(v tenon.Value, rows int) (err error) {
	defer tenon.Catch(&err)
	w := walker{s: s}
	w.walk("", v, true)
	s.Records += int64(rows)
	w.run()
	return nil
}

// walker distributes a batch to columns.
type walker struct {
	s      *Summary
	tasks  []task
	direct bool // the current Value has an entry for each record
}

// run executes the tasks, those of each column on one goroutine.
func (w *walker) run() {
	queue := make(chan task)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(w.tasks)) {
		wg.Go(func() {
			for t := range queue {
				t.run(t.c)
			}
		})
	}
	for _, t := range w.tasks {
		queue <- t
	}
	close(queue)
	wg.Wait()
}

func (w *walker) add(path, of string, v tenon.Value, run func(c *Column)) {
	w.tasks = append(w.tasks, task{w.s.column(path, of, typeOf(v), w.direct), run})
}

// typeOf returns the type of an element of a column.
func typeOf(v tenon.Value) string {
	if t, ok := v.(tensor.Tensor); ok && t.DType() != dtype.None {
		return t.DType().String()
	}
	_, of, _ := strings.Cut(structured.Datashape(v.Spec()), " * ")
	return of
}

// walk traverses a Value. direct says that it has an entry for each record.
func (w *walker) walk(path string, v tenon.Value, direct bool) {
	a := anatomy.Of(v)
	w.direct = direct
	switch a.Kind {
	case anatomy.Leaf:
		w.leaf(path, v, nil)
	case anatomy.Optional:
		w.optional(path, v, a)
	case anatomy.Lists:
		w.lengths(path, v, a.Partitions)
		w.walk(path, a.Inner, false)
	case anatomy.Records:
		w.lengths(path, v, below(a.Partitions, path))
		for _, f := range a.Fields {
			name := structured.PathString([]string{f.Name})
			if path != "" {
				name = path + "." + name
			}
			w.walk(name, f.Value, direct)
		}
	case anatomy.Words:
		if d, ok := v.(*structured.Dictionary); ok {
			w.walk(path, ops.Gather(d.Words(), d.Codes(), 0), direct)
		}
	case anatomy.Element:
		w.walk(path, a.Fields[0].Value, direct)
	case anatomy.Union, anatomy.Map, anatomy.Held, anatomy.Named:
		w.walk(path, a.Inner, direct)
	default:
		for _, f := range a.Fields {
			w.walk(path+"."+f.Name, f.Value, direct)
		}
	}
}

// below returns all partitions of lists within a field; for the records themselves it drops the
// outermost one.
func below(parts []*ragged.RowPartition, path string) []*ragged.RowPartition {
	if path == "" {
		return nil
	}
	return parts
}

// lengths adds the lengths of lists.
func (w *walker) lengths(path string, v tenon.Value, parts []*ragged.RowPartition) {
	for _, p := range parts {
		splits, ok := p.Splits64()
		if !ok {
			continue
		}
		w.add(path, "length", v, func(c *Column) {
			var block [blockSize]int64
			for i := 0; i+1 < len(splits); {
				n := 0
				for ; n < blockSize && i+1 < len(splits); n++ {
					block[n] = splits[i+1] - splits[i]
					i++
				}
				addBlock(c, block[:n])
			}
		})
	}
}

// optional adds the elements that are present.
func (w *walker) optional(path string, v tenon.Value, a anatomy.Value) {
	mask, ok := op.Known(a.Mask)
	m, dense := mask.(*tensor.Dense)
	if !ok || !dense {
		return
	}
	there := tensor.Data[bool](tensor.Contiguous(m))
	if inner, ok := a.Inner.(tensor.Tensor); ok && anatomy.Of(inner).Kind == anatomy.Leaf && inner.Shape().Size() == len(there) {
		w.leaf(path, inner, there)
		return
	}
	missing := int64(0)
	for _, ok := range there {
		if !ok {
			missing++
		}
	}
	from, known, direct := len(w.tasks), len(w.s.order), w.direct
	if t, ok := v.(tensor.Tensor); ok {
		w.walk(path, masked.Compress(t), false)
	}
	if len(w.tasks) == from {
		return
	}
	first := w.tasks[from].c // the column of the path itself, or of its first field
	first.Missing += missing
	if direct && len(w.s.order) > known {
		first.Missing += w.s.Records
	}
}

// leaf adds numbers or strings.
func (w *walker) leaf(path string, v tenon.Value, mask []bool) {
	t, ok := op.Known(v)
	if !ok {
		return
	}
	switch t := t.(type) {
	case *tensor.Strings:
		w.add(path, "bytes", t, func(c *Column) { addTexts(c, t, mask) })
	case *tensor.Dense:
		d := tensor.Contiguous(t)
		w.add(path, "value", t, func(c *Column) { addDense(c, d, mask) })
	}
}

func addDense(c *Column, d *tensor.Dense, mask []bool) {
	switch d.DType() {
	case dtype.Int8:
		addNumbers(c, tensor.Data[int8](d), mask)
	case dtype.Int16:
		addNumbers(c, tensor.Data[int16](d), mask)
	case dtype.Int32:
		addNumbers(c, tensor.Data[int32](d), mask)
	case dtype.Int64:
		addNumbers(c, tensor.Data[int64](d), mask)
	case dtype.Uint8:
		addNumbers(c, tensor.Data[uint8](d), mask)
	case dtype.Uint16:
		addNumbers(c, tensor.Data[uint16](d), mask)
	case dtype.Uint32:
		addNumbers(c, tensor.Data[uint32](d), mask)
	case dtype.Uint64:
		addNumbers(c, tensor.Data[uint64](d), mask)
	case dtype.Float32:
		addNumbers(c, tensor.Data[float32](d), mask)
	case dtype.Float64:
		addNumbers(c, tensor.Data[float64](d), mask)
	case dtype.Complex64, dtype.Complex128: // by their size
		addNumbers(c, tensor.Data[float64](tensor.Contiguous(ops.Cast(ops.Abs(d), dtype.Float64).(*tensor.Dense))), mask)
	default:
		addNumbers(c, tensor.Data[float64](tensor.Contiguous(ops.Cast(d, dtype.Float64).(*tensor.Dense))), mask)
	}
}

// addTexts adds the lengths of strings, and counts distinct strings.
func addTexts(c *Column, t *tensor.Strings, mask []bool) {
	offsets, text := t.Offsets(), t.Buffer()
	r := c.distinct.all()
	var block [blockSize]int64
	n := 0
	for i := 0; i+1 < len(offsets); i++ {
		if mask != nil && !mask[i] {
			c.Missing++
			continue
		}
		note(r, hash(text[offsets[i]:offsets[i+1]]))
		block[n] = offsets[i+1] - offsets[i]
		if n++; n == blockSize {
			addLengths(c, block[:n])
			n = 0
		}
	}
	addLengths(c, block[:n])
}

// addLengths is addBlock for numbers whose own distinct values are not counted.
func addLengths(c *Column, block []int64) { addMoments(c, block) }

// hash returns a 64-bit hash of a string in the manner of wyhash (Wang Yi), by 128-bit products of
// words.
func hash(b []byte) uint64 {
	h := uint64(len(b)) * 0x9e3779b97f4a7c15
	for len(b) >= 8 {
		h = fold(h^binary.LittleEndian.Uint64(b), 0xa0761d6478bd642f)
		b = b[8:]
	}
	var last uint64
	if cap(b) >= 8 { // bytes after the end are masked
		last = binary.LittleEndian.Uint64(b[:8]) & (1<<(8*len(b)) - 1)
	} else {
		for i, c := range b {
			last |= uint64(c) << (8 * i)
		}
	}
	return mixed(fold(h^last, 0xe7037ed1a0b428db))
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// AddNamed adds everything in a Value under a name.
func (s *Summary) AddNamed(name string, v tenon.Value) (err error) {
	defer tenon.Catch(&err)
	w := walker{s: s}
	w.walk(name, v, false)
	w.run()
	return nil
}
