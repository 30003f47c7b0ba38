package gostruct

import (
	"fmt"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// numeric reads and writes numbers of one type.
type numeric interface {
	writer() writer
	reader(v tensor.Tensor, at *fieldPlace) readFunc
}

type native interface {
	dtype.Number | ~bool
}

type numbers[T native] struct{}

func (numbers[T]) writer() writer { return &numberWriter[T]{} }

type numberWriter[T native] struct {
	data  []T
	dense *tensor.Dense // holds the elements of data until they need more memory
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

// noTime stands for the zero Time, like NaT in NumPy.
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

func (w *timeWriter) column() tensor.Tensor {
	return element.Tensor{Data: w.numberWriter.column(), Type: timeType}
}

// timeType and durationType are the element types for Go's times and durations.
var timeType, durationType = element.TimestampOf(time.Nanosecond, "UTC"), element.DurationOf(time.Nanosecond)

type durationWriter struct{ numberWriter[int64] }

func (w *durationWriter) column() tensor.Tensor {
	return element.Tensor{Data: w.numberWriter.column(), Type: durationType}
}

// uuidWriter collects arrays of 16 bytes.
type uuidWriter struct{ textWriter }

func (w *uuidWriter) write(base unsafe.Pointer, stride uintptr, n int) *badValue {
	w.start()
	for i := range n {
		w.bytes = append(w.bytes, (*[16]byte)(step(base, stride, i))[:]...)
		w.offsets = append(w.offsets, int64(len(w.bytes)))
	}
	return nil
}

// zero adds UUIDs that are all zeros, since each element must have 16 bytes.
func (w *uuidWriter) zero(n int) {
	w.start()
	for range n {
		w.bytes = append(w.bytes, make([]byte, 16)...)
		w.offsets = append(w.offsets, int64(len(w.bytes)))
	}
}

func (w *uuidWriter) column() tensor.Tensor {
	return element.Tensor{Data: w.textWriter.column(), Type: element.UUIDType}
}

// numericOf returns a numeric for numbers of a Go type.
func numericOf(t reflect.Type) numeric {
	switch t {
	case reflect.TypeFor[dtype.F16]():
		return numbers[dtype.F16]{}
	case reflect.TypeFor[dtype.BF16]():
		return numbers[dtype.BF16]{}
	}
	return numerics[t.Kind()]
}

var numerics = [...]numeric{
	reflect.Bool: numbers[bool]{}, reflect.Int: numbers[int64]{}, reflect.Uint: numbers[uint64]{}, reflect.Uintptr: numbers[uint64]{},
	reflect.Int8: numbers[int8]{}, reflect.Int16: numbers[int16]{}, reflect.Int32: numbers[int32]{}, reflect.Int64: numbers[int64]{},
	reflect.Uint8: numbers[uint8]{}, reflect.Uint16: numbers[uint16]{}, reflect.Uint32: numbers[uint32]{}, reflect.Uint64: numbers[uint64]{},
	reflect.Float32: numbers[float32]{}, reflect.Float64: numbers[float64]{}, reflect.Complex64: numbers[complex64]{}, reflect.Complex128: numbers[complex128]{},
}
