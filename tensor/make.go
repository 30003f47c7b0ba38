package tensor

import (
	"fmt"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// Of returns a tensor of the given sizes over data in row-major order; without
// sizes it is a vector. Numbers and booleans are not copied, so the slice must
// not change afterwards. Strings are copied into one buffer. Of throws if the
// sizes do not match the length of data.
func Of[T dtype.Native](data []T, dims ...int) Tensor {
	if len(dims) == 0 {
		return wrap(data, shape.Of(len(data)))
	}
	s := shape.Of(dims...)
	if s.Size() != len(data) {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "tensor.Of", fmt.Sprintf("%d elements do not fill the shape %v", len(data), s)))
	}
	return wrap(data, s)
}

// Scalar returns a tensor of rank 0.
func Scalar[T dtype.Native](x T) Tensor {
	d := dtype.Of[T]()
	if d == dtype.String {
		return fromStrings([]string{*(*string)(unsafe.Pointer(&x))}, shape.Shape{})
	}
	t := NewDense(d, shape.Shape{})
	*(*T)(t.Raw()) = x
	return t
}

func wrap[T dtype.Native](data []T, s shape.Shape) Tensor {
	d := dtype.Of[T]()
	if d == dtype.String {
		return fromStrings(*(*[]string)(unsafe.Pointer(&data)), s)
	}
	return wrapDense(data, d, s)
}

func wrapDense[T any](data []T, d dtype.DType, s shape.Shape) *Dense {
	return newApart(specOf(d, s), len(data), unsafe.Pointer(unsafe.SliceData(data)), cap(data)*d.Size())
}

// Vector returns a *Dense over a slice of numbers or booleans, without copying
// it. It is Of for code that needs the concrete type.
func Vector[T dtype.Number | ~bool](data []T) *Dense {
	return wrapDense(data, dtype.Of[T](), shape.Of(len(data)))
}

// Wrap returns a *Dense of the given shape over a slice, without copying it.
func Wrap[T dtype.Number | ~bool](data []T, s shape.Shape) *Dense {
	if s.Size() != len(data) {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "tensor.Wrap", fmt.Sprintf("%d elements do not fill the shape %v", len(data), s)))
	}
	return wrapDense(data, dtype.Of[T](), s)
}

// A Concreter is a tensor that stands for another one, such as a tensor for which
// gradients are recorded. A symbolic tensor is also one; it has no elements and
// returns an error that says so.
type Concreter interface {
	Tensor
	Concrete() (Tensor, error)
}

// Settled returns the value whose elements v stands for. For a tensor that records the operations
// on it, or that holds another one that can be replaced, it is the tensor in memory. A value whose
// Spec has a form of its own, such as a tensor with named dimensions, is returned as it is. The
// error is that of the [Concreter].
func Settled(v tenon.Value) (tenon.Value, error) {
	c, ok := v.(Concreter)
	if !ok || !tenon.IsLeaf(v.Spec()) {
		return v, nil
	}
	return c.Concrete()
}

// Data returns the elements of a dense tensor in row-major order. It shares
// memory with the tensor (unless that is a view with gaps) and must not be
// changed. For string tensors the slice is new. Data throws if v is not a
// concrete tensor with elements of type T.
func Data[T dtype.Native](v tenon.Value) []T {
	switch v := v.(type) {
	case *Dense:
		if v.spec.DType() == dtype.Of[T]() {
			c := Contiguous(v)
			return slice[T](c)[:c.Len():c.Len()]
		}
	case *Strings:
		if dtype.Of[T]() == dtype.String {
			s := v.Slice()
			return *(*[]T)(unsafe.Pointer(&s))
		}
	}
	if c, ok := v.(Concreter); ok {
		t, err := c.Concrete()
		tenon.Throw(err)
		return Data[T](t)
	}
	got := "nil"
	if v != nil {
		got = tenon.String(v.Spec())
	}
	e := tenon.NewError(tenon.ErrDType, "tensor.Data", fmt.Sprintf("got %s, want a dense tensor of %v", got, dtype.Of[T]()))
	if _, ok := v.(*Dense); ok {
		e.Hint = "convert it first with ops.Cast"
	}
	tenon.Throw(e)
	return nil
}

// Elems is [Data] for kernels: the capacity of the result includes the memory
// that may be read after the last element, and a view with gaps is rejected
// instead of copied.
func Elems[T dtype.Number | ~bool](d *Dense) []T {
	if d.spec.DType() != dtype.Of[T]() || !d.IsContiguous() {
		tenon.Throw(tenon.NewError(tenon.ErrDType, "tensor.Elems", fmt.Sprintf("%v is not a contiguous tensor of %v", &d.spec, dtype.Of[T]())))
	}
	return slice[T](d)
}

// Item returns the single element of a tensor of size 1.
func Item[T dtype.Native](v tenon.Value) T {
	data := Data[T](v)
	if len(data) != 1 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "tensor.Item", fmt.Sprintf("%s has %d elements, not 1", tenon.String(v.Spec()), len(data))))
	}
	return data[0]
}
