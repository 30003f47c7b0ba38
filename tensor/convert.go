package tensor

import (
	"fmt"
	"math"
	mathbits "math/bits"
	"reflect"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// Convert converts an operand, which has Go type any, to a tensor. A Tensor is returned as it is, a
// Go number, boolean or string becomes a scalar, and slices and arrays of them, nested to any
// depth, become a tensor (a flat slice without copying). Nested slices must be rectangular.
// Elements of type int become int64.
func Convert(x any) (Tensor, error) {
	switch x := x.(type) {
	case Tensor:
		if v := reflect.ValueOf(x); v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, tenon.NewError(tenon.ErrDType, "tensor.Convert", fmt.Sprintf("the value is a nil %T", x))
		}
		return x, nil
	case float64:
		return Scalar(x), nil
	case float32:
		return Scalar(x), nil
	case int:
		return Scalar(int64(x)), nil
	case int64:
		return Scalar(x), nil
	case int32:
		return Scalar(x), nil
	case bool:
		return Scalar(x), nil
	case string:
		return Scalar(x), nil
	case []float32:
		return Vector(x), nil
	case []float64:
		return Vector(x), nil
	case []int64:
		return Vector(x), nil
	case []int32:
		return Vector(x), nil
	case []int:
		return Vector(x), nil
	case []bool:
		return Vector(x), nil
	case []string:
		return Of(x), nil
	case nil:
		return nil, tenon.NewError(tenon.ErrDType, "tensor.Convert", "the value is nil")
	}
	return Const(x, Options{})
}

// Options say how [Const] reads a literal. With the zero value, everything is
// inferred.
type Options struct {
	DType dtype.DType // the element type; None: inferred
	Int   dtype.DType // the type for elements of Go type int; None: int64, which is also used for those that do not fit
	Float dtype.DType // the type for floating-point elements, and for literals without elements; None: float64
}

func (o Options) defaults() Options {
	if o.Int == dtype.None {
		o.Int = dtype.Int64
	}
	if o.Float == dtype.None {
		o.Float = dtype.Float64
	}
	return o
}

// Const returns the tensor of a nested literal: Go values in slices and arrays, []any included,
// with rows of equal length. Typed elements keep their type, except that int becomes int64; a
// mixture of integers and floating-point numbers becomes floating-point. With Options.DType, every
// element is converted to that type: integer types must hold it exactly, floating-point types
// round.
func Const(x any, o Options) (Tensor, error) {
	c, err := readLists(x)
	if err != nil {
		return nil, inConst(err)
	}
	dims := make([]int, len(c.splits))
	for depth, splits := range c.splits {
		if dims[depth] = c.sizes[depth]; len(splits) > 1 {
			dims[depth] = int(splits[1])
		}
		for r := range len(splits) - 1 {
			if n := int(splits[r+1] - splits[r]); n != dims[depth] {
				e := tenon.NewError(tenon.ErrInvalid, "tensor.Const", fmt.Sprintf("the row has %d entries, others have %d: use ragged.Const for rows of different length", n, dims[depth]))
				e.Where = fmt.Sprint(c.place(depth, r))
				return nil, e
			}
		}
	}
	s, err := shape.From(dims)
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrShape, Op: "tensor.Const", Err: err}
	}
	return c.tensor(s, o)
}

// FromScalars returns a tensor of Go scalars in row-major order. It chooses the
// element type as [Const] does.
func FromScalars(elems []any, s shape.Shape, o Options) (Tensor, error) {
	if s.Size() != len(elems) {
		return nil, tenon.NewError(tenon.ErrShape, "tensor.FromScalars", fmt.Sprintf("%d elements do not fill the shape %v", len(elems), s))
	}
	return fromScalars([][]any{elems}, s, o.defaults())
}

// fromScalars is FromScalars for elements in several lists, which together fill
// the shape.
func fromScalars(lists [][]any, s shape.Shape, o Options) (Tensor, error) {
	dt := o.DType
	if dt == dtype.None {
		var err error
		if dt, err = inferred(lists, o); err != nil {
			return nil, err
		}
	}
	if dt == dtype.String {
		strs := make([]string, 0, s.Size())
		for _, elems := range lists {
			for _, e := range elems {
				v := reflect.ValueOf(e)
				if v.Kind() != reflect.String {
					return nil, tenon.NewError(tenon.ErrDType, "tensor.FromScalars", fmt.Sprintf("element %d is the %T %v, not a string", len(strs), e, e))
				}
				strs = append(strs, v.String())
			}
		}
		return fromStrings(strs, s), nil
	}
	if out := sameScalars(lists, s, dt); out != nil {
		return out, nil
	}
	out := NewDense(dt, s)
	rv := reflect.NewAt(reflect.ArrayOf(out.Len(), dt.GoType()), out.Raw()).Elem()
	i := 0
	for _, elems := range lists {
		for _, e := range elems {
			if err := Assign(rv.Index(i), e, dt); err != nil {
				err.Where = fmt.Sprintf("element %d", i)
				return nil, err
			}
			i++
		}
	}
	return out, nil
}

// inferred returns the element type of literals. The Go types of untyped
// constants (int, float64) yield to the defaults in o.
func inferred(lists [][]any, o Options) (dtype.DType, error) {
	out := dtype.None
	var last reflect.Type
	i := -1
	for _, elems := range lists {
		for _, e := range elems {
			i++
			t := reflect.TypeOf(e)
			if t != nil && t == last && (o.Int == dtype.Int64 || t.Kind() != reflect.Int) {
				continue
			}
			last = t
			d := dtype.OfType(t)
			switch e := e.(type) {
			case int:
				if d = o.Int; !fits(e, d) {
					d = dtype.Int64
				}
			case float64:
				d = o.Float
			}
			if d == dtype.None {
				return out, tenon.NewError(tenon.ErrDType, "tensor.Const", fmt.Sprintf("element %d is a %T, which cannot be an element of a tensor", i, e))
			}
			if out == dtype.None || out == d {
				out = d
				continue
			}
			p, err := dtype.Promote(out, d)
			if err != nil || out == dtype.Bool || d == dtype.Bool {
				return out, tenon.NewError(tenon.ErrDType, "tensor.Const", fmt.Sprintf("element %d is a %v among %vs", i, d, out))
			}
			out = p
		}
	}
	if i < 0 {
		return o.Float, nil
	}
	return out, nil
}

// sameScalars converts scalars that all have one of the common Go types, and returns nil for
// others.
func sameScalars(lists [][]any, s shape.Shape, dt dtype.DType) Tensor {
	switch dt {
	case dtype.Float32:
		return unboxed(lists, s, func(x float64) float32 { return float32(x) })
	case dtype.Float64:
		return unboxed(lists, s, func(x float64) float64 { return x })
	case dtype.Int64:
		return unboxed(lists, s, func(x int) int64 { return int64(x) })
	case dtype.Bool:
		return unboxed(lists, s, func(x bool) bool { return x })
	}
	return nil
}

// unboxed returns scalars of one type as a tensor, or nil if there is one of another type among
// them.
func unboxed[A any, B float32 | float64 | int64 | bool](lists [][]any, s shape.Shape, f func(A) B) Tensor {
	out, to := Make[B](s)
	for _, elems := range lists {
		for i, e := range elems {
			x, ok := e.(A)
			if !ok {
				return nil
			}
			to[i] = f(x)
		}
		to = to[len(elems):]
	}
	return out
}

// fits reports whether an integer type can hold n.
func fits(n int, dt dtype.DType) bool {
	bits := dt.Bits()
	switch {
	case dt.IsSigned():
		return n>>(bits-1) == 0 || n>>(bits-1) == -1
	case dt.IsUnsigned():
		return n >= 0 && (bits == 64 || n>>bits == 0)
	}
	return true
}

// Assign sets dst, an element of type dt, to the Go scalar x. An integer type
// must hold it exactly; a floating-point type rounds.
func Assign(dst reflect.Value, x any, dt dtype.DType) *tenon.Error {
	v := reflect.ValueOf(x)
	bad := func(why string) *tenon.Error {
		return tenon.NewError(tenon.ErrDType, "tensor.Const", fmt.Sprintf("the %T %v %s %v", x, x, why, dt))
	}
	if !v.IsValid() {
		return bad("is no")
	}
	var f float64
	isInt, isFloat := false, false
	switch h := x.(type) {
	case dtype.F16:
		f, isFloat = float64(h.Float32()), true
	case dtype.BF16:
		f, isFloat = float64(h.Float32()), true
	default:
		switch {
		case v.CanInt(), v.CanUint():
			isInt = true
		case v.CanFloat():
			f, isFloat = v.Float(), true
		}
	}
	switch {
	case dt == dtype.Bool:
		if v.Kind() != reflect.Bool {
			return bad("is no")
		}
		dst.SetBool(v.Bool())
	case dt.IsInteger():
		if isFloat && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			v, isInt = reflect.ValueOf(int64(f)), true
		}
		if !isInt {
			return bad("is no")
		}
		return assignInt(dst, v, dt, bad)
	case dt.IsFloat():
		switch {
		case isInt && v.CanInt():
			f = float64(v.Int())
		case isInt:
			f = float64(v.Uint())
		case !isFloat:
			return bad("is no")
		}
		switch dt {
		case dtype.Float16:
			dst.SetUint(uint64(dtype.F16From64(f)))
		case dtype.BFloat16:
			dst.SetUint(uint64(dtype.BF16From64(f)))
		default:
			dst.SetFloat(f)
		}
	case dt.IsComplex():
		switch {
		case v.CanComplex():
			dst.SetComplex(v.Complex())
		case isInt && v.CanInt():
			dst.SetComplex(complex(float64(v.Int()), 0))
		case isInt:
			dst.SetComplex(complex(float64(v.Uint()), 0))
		case isFloat:
			dst.SetComplex(complex(f, 0))
		default:
			return bad("is no")
		}
	default:
		return bad("is no")
	}
	return nil
}

func assignInt(dst, v reflect.Value, dt dtype.DType, bad func(string) *tenon.Error) *tenon.Error {
	switch {
	case dt.IsSigned() && v.CanInt():
		if dst.OverflowInt(v.Int()) {
			return bad("does not fit")
		}
		dst.SetInt(v.Int())
	case dt.IsSigned():
		if v.Uint() > math.MaxInt64 || dst.OverflowInt(int64(v.Uint())) {
			return bad("does not fit")
		}
		dst.SetInt(int64(v.Uint()))
	case v.CanInt():
		if v.Int() < 0 || dst.OverflowUint(uint64(v.Int())) {
			return bad("does not fit")
		}
		dst.SetUint(uint64(v.Int()))
	default:
		if dst.OverflowUint(v.Uint()) {
			return bad("does not fit")
		}
		dst.SetUint(v.Uint())
	}
	return nil
}

// ScalarLike returns the Go constant x as a scalar of type dt, and false if dt
// cannot hold it exactly (a floating-point type accepts any floating-point
// constant, rounded). Operations use it for constants among their operands.
func ScalarLike(x any, dt dtype.DType) (Tensor, bool) {
	if dt == dtype.None || dt == dtype.String {
		return nil, false
	}
	if _, isBool := x.(bool); isBool != (dt == dtype.Bool) {
		return nil, false
	}
	switch x := x.(type) {
	case int:
		switch {
		case (dt.IsFloat() || dt.IsComplex()) && !holds(x, dt.Real()):
			return nil, false
		case dt == dtype.Float32:
			return Scalar(float32(x)), true
		case dt == dtype.Float64:
			return Scalar(float64(x)), true
		case dt == dtype.Int64:
			return Scalar(int64(x)), true
		}
	case float64:
		switch dt {
		case dtype.Float32:
			return Scalar(float32(x)), true
		case dtype.Float64:
			return Scalar(x), true
		}
		if dt.IsInteger() {
			return nil, false
		}
	}
	switch reflect.ValueOf(x).Kind() {
	case reflect.Invalid, reflect.Slice, reflect.Array, reflect.Map, reflect.String: // not constants; an error would only be dropped
		return nil, false
	}
	out := NewDense(dt, shape.Shape{})
	if err := Assign(reflect.NewAt(dt.GoType(), out.Raw()).Elem(), x, dt); err != nil {
		return nil, false
	}
	return out, true
}

// holds reports whether a floating-point type can represent the integer x: its
// significant bits fit, and it is not too large.
func holds(x int, dt dtype.DType) bool {
	n := uint64(max(x, -x)) // also right for the lowest int, which becomes 2^63
	digits := 64 - mathbits.LeadingZeros64(n) - mathbits.TrailingZeros64(n)
	switch dt {
	case dtype.Float16:
		return n == 0 || digits <= 11 && n <= 65504
	case dtype.BFloat16:
		return n == 0 || digits <= 8
	case dtype.Float32:
		return n == 0 || digits <= 24
	}
	return n == 0 || digits <= 53
}
