package optable

import (
	"slices"
	"strings"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"

	_ "github.com/tenonml/tenon/ops" // registers what the table is about
)

// A Row says how an operation is called and what it computes.
type Row struct {
	Op string // its registered name

	// Calls are argument lists for the operation, tensors and attributes, in the
	// order of its parameters.
	Calls []Call

	// Ref computes the results of a call from its arguments: Arrays in place of
	// tensors (nil where one is absent, []Array for a list), attributes as they are.
	// Where it is nil, only Check looks at the results.
	Ref func(args []any) []Array

	// Check looks at the results of a call where there is no formula for them, as for
	// random numbers and decompositions.
	Check func(args []any, results []Array) error

	// Tol is the largest error of a result, relative to its size or 1, in units of the
	// element type's precision. 0 stands for 4.
	Tol float64

	// Smooth says that second derivatives exist and are checked.
	Smooth bool

	// SizesKnown says that Infer fails where sizes are not known, because the number of
	// results depends on them.
	SizesKnown bool

	// NoViews says that the operation is called with an operand's own layout only.
	NoViews bool
}

// A Call is the arguments of a call.
type Call struct {
	Args []any

	// Grad lists the tensor arguments, as op.Call.Values counts them, whose gradients
	// are compared with differences; it counts where they are float64 or complex128. nil means
	// all; an empty list none.
	Grad []int

	Kink bool // second derivatives do not exist here, though the row is smooth
}

var (
	rows = map[string]Row{}
	once sync.Once // for the rows that follow from others
)

// Add puts rows into the table. It throws where an operation has one already.
func Add(list ...Row) {
	for _, r := range list {
		if _, ok := rows[r.Op]; ok {
			tenon.Throw(tenon.NewError(tenon.ErrInvalid, "optable.Add", r.Op+" has two rows"))
		}
		rows[r.Op] = r
	}
}

// Rows returns the table in the order of the operations' names.
func Rows() []Row {
	once.Do(derive)
	out := make([]Row, 0, len(rows))
	for _, r := range rows {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Row) int { return strings.Compare(a.Op, b.Op) })
	return out
}

// Definition returns the operation of a row.
func (r Row) Definition() *op.Op {
	o, _ := op.Lookup(r.Op)
	return o
}

// Tolerance returns the largest relative error of results of a type.
func (r Row) Tolerance(d dtype.DType) float64 {
	t := r.Tol
	if t == 0 {
		t = 4
	}
	return t * Precision(d)
}

// Precision returns the distance from 1 to the next number of a floating type, and
// 0 for other types.
func Precision(d dtype.DType) float64 {
	switch d.Real() {
	case dtype.Float16:
		return 0x1p-10
	case dtype.BFloat16:
		return 0x1p-7
	case dtype.Float32:
		return 0x1p-23
	case dtype.Float64:
		return 0x1p-52
	}
	return 0
}

// An Array is a tensor in the plainest form: elements in row-major order as
// complex numbers (real ones with imaginary part 0, truth values 0 and 1), or as strings.
type Array struct {
	Shape []int
	X     []complex128
	S     []string
}

// Real returns an array of real numbers.
func Real(shape []int, x []float64) Array {
	a := Array{Shape: shape, X: make([]complex128, len(x))}
	for i, v := range x {
		a.X[i] = complex(v, 0)
	}
	return a
}

// Len returns the number of elements.
func (a Array) Len() int { return max(len(a.X), len(a.S)) }

// Floats returns the real parts.
func (a Array) Floats() []float64 {
	out := make([]float64, len(a.X))
	for i, v := range a.X {
		out[i] = real(v)
	}
	return out
}

// ArrayOf returns a concrete tensor as an Array.
func ArrayOf(t tensor.Tensor) Array {
	a := Array{Shape: t.Shape().Dims()}
	if a.Shape == nil {
		a.Shape = []int{}
	}
	if s, ok := t.(*tensor.Strings); ok {
		a.S = s.Slice()
		return a
	}
	a.X = elements(t.(*tensor.Dense))
	return a
}

func elements(d *tensor.Dense) []complex128 {
	switch d.DType() {
	case dtype.Bool:
		return convert(tensor.Data[bool](d), func(v bool) complex128 {
			if v {
				return 1
			}
			return 0
		})
	case dtype.Int8:
		return convert(tensor.Data[int8](d), real64)
	case dtype.Int16:
		return convert(tensor.Data[int16](d), real64)
	case dtype.Int32:
		return convert(tensor.Data[int32](d), real64)
	case dtype.Int64:
		return convert(tensor.Data[int64](d), real64)
	case dtype.Uint8:
		return convert(tensor.Data[uint8](d), real64)
	case dtype.Uint16:
		return convert(tensor.Data[uint16](d), real64)
	case dtype.Uint32:
		return convert(tensor.Data[uint32](d), real64)
	case dtype.Uint64:
		return convert(tensor.Data[uint64](d), real64)
	case dtype.Float16:
		return convert(tensor.Data[dtype.F16](d), func(v dtype.F16) complex128 { return complex(float64(v.Float32()), 0) })
	case dtype.BFloat16:
		return convert(tensor.Data[dtype.BF16](d), func(v dtype.BF16) complex128 { return complex(float64(v.Float32()), 0) })
	case dtype.Float32:
		return convert(tensor.Data[float32](d), real64)
	case dtype.Float64:
		return convert(tensor.Data[float64](d), real64)
	case dtype.Complex64:
		return convert(tensor.Data[complex64](d), func(v complex64) complex128 { return complex128(v) })
	}
	return tensor.Data[complex128](d)
}

func convert[T any](x []T, f func(T) complex128) []complex128 {
	out := make([]complex128, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}

func real64[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](v T) complex128 {
	return complex(float64(v), 0)
}

// RefArgs returns the arguments of a call as Ref gets them.
func (c Call) RefArgs() []any {
	out := make([]any, len(c.Args))
	for i, a := range c.Args {
		switch a := a.(type) {
		case tensor.Tensor:
			out[i] = ArrayOf(a)
		case []tenon.Value:
			list := make([]Array, len(a))
			for k, v := range a {
				list[k] = ArrayOf(v.(tensor.Tensor))
			}
			out[i] = list
		default:
			out[i] = a
		}
	}
	return out
}
