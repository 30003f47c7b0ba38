package gostruct

import (
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/internal/gotype"
	"github.com/tenonml/tenon/tensor"
)

// A writer collects values of one Go type that are at equal distances in memory.
type writer interface {
	// write adds n values, the first of which is at base, with stride bytes
	// between them.
	write(base unsafe.Pointer, stride uintptr, n int) *badValue

	// zero adds n filler values.
	zero(n int)

	// reserve reserves memory for n values.
	reserve(n int)

	column() tensor.Tensor
}

// step returns the address of value i. It never points past the last value, where
// another object may be.
func step(base unsafe.Pointer, stride uintptr, i int) unsafe.Pointer {
	return unsafe.Add(base, uintptr(i)*stride)
}

// badValue is a value that no column can hold.
type badValue struct {
	field string
	row   int
	msg   string
}

// recordWriter collects structs field by field.
type recordWriter struct {
	plan   *gotype.Plan
	fields []writer
	n      int
}

func (w *recordWriter) reserve(n int) {
	for _, f := range w.fields {
		f.reserve(n)
	}
}

func (w *recordWriter) write(base unsafe.Pointer, stride uintptr, n int) *badValue {
	w.n += n
	for i, f := range w.fields {
		p := w.plan.Fields[i]
		if err := f.write(unsafe.Add(base, p.Offset), stride, n); err != nil {
			if err.field != "" {
				err.field = "." + err.field
			}
			err.field = structured.PathString([]string{p.Name}) + err.field
			return err
		}
	}
	return nil
}

func (w *recordWriter) zero(n int) {
	w.n += n
	for _, f := range w.fields {
		f.zero(n)
	}
}

func (w *recordWriter) column() tensor.Tensor {
	fields := make([]structured.Field, len(w.fields))
	for i, f := range w.fields {
		fields[i] = structured.Field{Name: w.plan.Fields[i].Name, Value: f.column()}
	}
	return tenon.Must(structured.FromFields(fields, shape.Of(w.n), structured.Options{DType: dtype.Int64}))
}

// listWriter collects slices.
type listWriter struct {
	plan   *gotype.Plan
	splits []int64
	total  int64
	elem   writer
}

// sliceHeader is the memory layout of a slice.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

func (w *listWriter) reserve(n int) { w.splits = slices.Grow(w.splits, n+1) }

func (w *listWriter) add(n int) {
	if len(w.splits) == 0 {
		w.splits = append(w.splits, 0)
	}
	w.total += int64(n)
	w.splits = append(w.splits, w.total)
}

func (w *listWriter) write(base unsafe.Pointer, stride uintptr, n int) *badValue {
	size := w.plan.Elem.Type.Size()
	for i := range n {
		h := (*sliceHeader)(step(base, stride, i))
		w.add(h.len)
		if h.len > 0 {
			if err := w.elem.write(h.data, size, h.len); err != nil {
				err.row = i
				return err
			}
		}
	}
	return nil
}

func (w *listWriter) zero(n int) {
	for range n {
		w.add(0)
	}
}

func (w *listWriter) column() tensor.Tensor {
	if len(w.splits) == 0 {
		w.splits = append(w.splits, 0)
	}
	p := tenon.Must(ragged.PartitionFromRowSplits(w.splits, ragged.PartitionOptions{}))
	return tenon.Must(structured.Divide(w.elem.column(), p))
}

// mapWriter collects maps, sorted by key.
type mapWriter struct{ listWriter }

func (w *mapWriter) write(base unsafe.Pointer, stride uintptr, n int) *badValue {
	entry := reflect.New(w.plan.Elem.Type)
	for i := range n {
		m := reflect.NewAt(w.plan.Type, step(base, stride, i)).Elem()
		w.add(m.Len())
		for _, e := range gotype.Entries(m) {
			entry.Elem().Field(0).Set(e.Key)
			entry.Elem().Field(1).Set(e.Value)
			if err := w.elem.write(entry.UnsafePointer(), 0, 1); err != nil {
				err.row = i
				return err
			}
		}
	}
	return nil
}

func (w *mapWriter) column() tensor.Tensor {
	return tenon.Must(structured.MapOf(w.listWriter.column().(*structured.Tensor)))
}

// arrayWriter collects arrays, whose elements form an axis.
type arrayWriter struct {
	plan *gotype.Plan
	elem writer
	n    int
}

func (w *arrayWriter) reserve(n int) { w.elem.reserve(n * w.plan.Type.Len()) }

func (w *arrayWriter) write(base unsafe.Pointer, stride uintptr, n int) *badValue {
	size, k := w.plan.Elem.Type.Size(), w.plan.Type.Len()
	w.n += n
	if k == 0 {
		return nil
	}
	for i := range n {
		if err := w.elem.write(step(base, stride, i), size, k); err != nil {
			err.row = i
			return err
		}
	}
	return nil
}

func (w *arrayWriter) zero(n int) {
	w.n += n
	w.elem.zero(n * w.plan.Type.Len())
}

func (w *arrayWriter) column() tensor.Tensor {
	v, k := w.elem.column(), w.plan.Type.Len()
	if s := v.Shape(); s.IsFull() && v.DType() != dtype.None && !isRagged(v) {
		return ops.Reshape(v, append([]int{w.n, k}, s.Tail(1).Dims()...))
	}
	p := tenon.Must(ragged.PartitionFromUniformRowLength(k, ragged.PartitionOptions{NRows: w.n}))
	return tenon.Must(structured.Divide(v, p))
}

func isRagged(v tensor.Tensor) bool {
	if m, ok := v.(masked.Optional); ok {
		v = m.Values()
	}
	_, ok := v.(ragged.Divided)
	return ok
}

// optionalWriter collects the targets of pointers.
type optionalWriter struct {
	there []bool
	elem  writer
}

func (w *optionalWriter) reserve(n int) { w.there = slices.Grow(w.there, n) }

func (w *optionalWriter) write(base unsafe.Pointer, stride uintptr, n int) *badValue {
	for i := range n {
		p := *(*unsafe.Pointer)(step(base, stride, i))
		w.there = append(w.there, p != nil)
		if p == nil {
			w.elem.zero(1)
		} else if err := w.elem.write(p, 0, 1); err != nil {
			err.row = i
			return err
		}
	}
	return nil
}

func (w *optionalWriter) zero(n int) {
	w.there = append(w.there, make([]bool, n)...)
	w.elem.zero(n)
}

func (w *optionalWriter) column() tensor.Tensor {
	return tenon.Must(masked.New(w.elem.column(), tensor.Vector(w.there)))
}

// writerOf returns an empty writer of a plan's type.
func writerOf(p *gotype.Plan) writer {
	switch p.Form {
	case gotype.Text, gotype.Bytes:
		return &textWriter{}
	case gotype.Time:
		return &timeWriter{}
	case gotype.Record:
		w := &recordWriter{plan: p}
		for _, f := range p.Fields {
			w.fields = append(w.fields, writerOf(f.Plan))
		}
		return w
	case gotype.List:
		return &listWriter{plan: p, elem: writerOf(p.Elem)}
	case gotype.Map:
		return &mapWriter{listWriter{plan: p, elem: writerOf(p.Elem)}}
	case gotype.Array:
		if gotype.IsUUID(p.Type) {
			return &uuidWriter{}
		}
		return &arrayWriter{plan: p, elem: writerOf(p.Elem)}
	case gotype.Optional:
		return &optionalWriter{elem: writerOf(p.Elem)}
	}
	if p.Type == reflect.TypeFor[time.Duration]() {
		return &durationWriter{}
	}
	return numericOf(p.Type).writer()
}
