package structured

import (
	"fmt"
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
	"github.com/tenonml/tenon/tensor"
)

// A writer collects values of one Go type, which lie in memory at equal distances.
type writer interface {
	// write adds n values, the first at base and each other stride bytes on.
	write(base unsafe.Pointer, stride uintptr, n int) *badValue

	// zero adds n values that do not matter.
	zero(n int)

	// reserve makes room for n values.
	reserve(n int)

	column() tensor.Tensor
}

// step returns the place of value i. It never points behind the last value, where
// another object may lie.
func step(base unsafe.Pointer, stride uintptr, i int) unsafe.Pointer {
	return unsafe.Add(base, uintptr(i)*stride)
}

// badValue is a value that no column can hold.
type badValue struct {
	field string
	row   int
	msg   string
}

// numeric handles the numbers of one type.
type numeric interface {
	writer() writer
	reader(v tensor.Tensor, at *fieldPlace) readFunc
}

type element interface {
	dtype.Number | ~bool
}

type numbers[T element] struct{}

func (numbers[T]) writer() writer { return &numberWriter[T]{} }

type numberWriter[T element] struct {
	data  []T
	dense *tensor.Dense // whose elements data are, as long as they have room
}

func (w *numberWriter[T]) reserve(n int) {
	if n > 0 {
		w.dense = tensor.Uninit(dtype.Of[T](), shape.Of(n))
		w.data = tensor.Elems[T](w.dense)[:0]
	}
}

func (w *numberWriter[T]) write(base unsafe.Pointer, stride uintptr, n int) *badValue {
	at := len(w.data)
	w.data = slices.Grow(w.data, n)[:at+n]
	dst := w.data[at:]
	if stride == unsafe.Sizeof(*new(T)) {
		copy(dst, unsafe.Slice((*T)(base), n))
		return nil
	}
	for i := range dst {
		dst[i] = *(*T)(step(base, stride, i))
	}
	return nil
}

func (w *numberWriter[T]) zero(n int) { w.data = append(w.data, make([]T, n)...) }

func (w *numberWriter[T]) column() tensor.Tensor {
	if w.dense != nil && len(w.data) == w.dense.Shape().Dim(0) {
		return w.dense
	}
	return tensor.Vector(w.data)
}

// textWriter collects strings and byte slices, which begin with the same two words.
type textWriter struct {
	offsets []int64
	bytes   []byte
}

func (w *textWriter) reserve(n int) { w.offsets = slices.Grow(w.offsets, n+1) }

func (w *textWriter) start() {
	if len(w.offsets) == 0 {
		w.offsets = append(w.offsets, 0)
	}
}

func (w *textWriter) write(base unsafe.Pointer, stride uintptr, n int) *badValue {
	w.start()
	for i := range n {
		w.bytes = append(w.bytes, *(*string)(step(base, stride, i))...)
		w.offsets = append(w.offsets, int64(len(w.bytes)))
	}
	return nil
}

func (w *textWriter) zero(n int) {
	w.start()
	for range n {
		w.offsets = append(w.offsets, int64(len(w.bytes)))
	}
}

func (w *textWriter) column() tensor.Tensor {
	w.start()
	return tensor.WrapStrings(w.offsets, w.bytes, shape.Of(len(w.offsets)-1))
}

// bytesWriter is textWriter for byte slices, whose headers have a word more.
type bytesWriter struct{ textWriter }

func (w *bytesWriter) write(base unsafe.Pointer, stride uintptr, n int) *badValue {
	w.start()
	for i := range n {
		w.bytes = append(w.bytes, *(*[]byte)(step(base, stride, i))...)
		w.offsets = append(w.offsets, int64(len(w.bytes)))
	}
	return nil
}

// noTime stands for the zero Time, as NaT does in NumPy.
const noTime = -1 << 63

type timeWriter struct{ numberWriter[int64] }

func (w *timeWriter) write(base unsafe.Pointer, stride uintptr, n int) *badValue {
	for i := range n {
		t := *(*time.Time)(step(base, stride, i))
		ns := int64(noTime)
		if !t.IsZero() {
			if ns = t.UnixNano(); !time.Unix(0, ns).Equal(t) || ns == noTime {
				return &badValue{row: i, msg: fmt.Sprintf("%v is out of the range of nanoseconds in an int64", t)}
			}
		}
		w.data = append(w.data, ns)
	}
	return nil
}

// recordWriter collects structs field by field.
type recordWriter struct {
	plan   *plan
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
		p := w.plan.fields[i]
		if err := f.write(unsafe.Add(base, p.offset), stride, n); err != nil {
			if err.field != "" {
				err.field = "." + err.field
			}
			err.field = PathString([]string{p.name}) + err.field
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

func (w *recordWriter) columns() []column {
	cols := make([]column, len(w.fields))
	for i, f := range w.fields {
		cols[i] = column{name: w.plan.fields[i].name, now: f.column(), inner: allPlain}
	}
	return cols
}

func (w *recordWriter) column() tensor.Tensor {
	return newTensor(1, scalar(w.n, dtype.Int64), nil, w.columns(), dtype.Int64)
}

// listWriter collects slices.
type listWriter struct {
	plan   *plan
	splits []int64
	total  int64
	elem   writer
}

// sliceHeader is how a slice lies in memory.
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
	size := w.plan.elem.typ.Size()
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
	return grouped(w.elem.column(), p)
}

// mapWriter collects maps in the order of their keys.
type mapWriter struct{ listWriter }

func (w *mapWriter) write(base unsafe.Pointer, stride uintptr, n int) *badValue {
	entry := reflect.New(w.plan.elem.typ)
	for i := range n {
		m := reflect.NewAt(w.plan.typ, step(base, stride, i)).Elem()
		w.add(m.Len())
		for _, k := range sortedKeys(m) {
			entry.Elem().Field(0).Set(k)
			entry.Elem().Field(1).Set(m.MapIndex(k))
			if err := w.elem.write(entry.UnsafePointer(), 0, 1); err != nil {
				err.row = i
				return err
			}
		}
	}
	return nil
}

// column returns maps with string keys as maps, and others as lists of their entries.
func (w *mapWriter) column() tensor.Tensor {
	list := w.listWriter.column()
	if w.plan.typ.Key().Kind() != reflect.String {
		return list
	}
	return tenon.Must(mapOf("structured.FromStructs", list.(*Tensor)))
}

func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		switch {
		case a.Kind() == reflect.String:
			return compare(a.String(), b.String())
		case a.CanInt():
			return compare(a.Int(), b.Int())
		}
		return compare(a.Uint(), b.Uint())
	})
	return keys
}

func compare[T string | int64 | uint64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// arrayWriter collects arrays, whose elements make an axis.
type arrayWriter struct {
	plan *plan
	elem writer
	n    int
}

func (w *arrayWriter) reserve(n int) { w.elem.reserve(n * w.plan.typ.Len()) }

func (w *arrayWriter) write(base unsafe.Pointer, stride uintptr, n int) *badValue {
	size, k := w.plan.elem.typ.Size(), w.plan.typ.Len()
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
	w.elem.zero(n * w.plan.typ.Len())
}

func (w *arrayWriter) column() tensor.Tensor {
	v, k := w.elem.column(), w.plan.typ.Len()
	if s := v.Shape(); s.IsFull() && v.DType() != dtype.None && !isRagged(v) {
		return ops.Reshape(v, append([]int{w.n, k}, s.Tail(1).Dims()...))
	}
	p := tenon.Must(ragged.PartitionFromUniformRowLength(k, ragged.PartitionOptions{NRows: w.n}))
	return grouped(v, p)
}

func isRagged(v tensor.Tensor) bool {
	if m, ok := v.(optional); ok {
		v = m.Values()
	}
	_, ok := v.(divided)
	return ok
}

// optionalWriter collects what pointers point to.
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

// writer returns an empty writer of a plan's type.
func (p *plan) writer() writer {
	switch p.form {
	case textForm:
		return &textWriter{}
	case bytesForm:
		return &bytesWriter{}
	case timeForm:
		return &timeWriter{}
	case recordForm:
		w := &recordWriter{plan: p}
		for _, f := range p.fields {
			w.fields = append(w.fields, f.plan.writer())
		}
		return w
	case listForm:
		return &listWriter{plan: p, elem: p.elem.writer()}
	case mapForm:
		return &mapWriter{listWriter{plan: p, elem: p.elem.writer()}}
	case arrayForm:
		return &arrayWriter{plan: p, elem: p.elem.writer()}
	case optionalForm:
		return &optionalWriter{elem: p.elem.writer()}
	}
	return p.num.writer()
}
