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

// Convert returns what an operation takes an argument of Go type any for: a
// Tensor as it is, a Go number, truth value or string as a scalar, and slices
// and arrays of them, nested to any depth, as a tensor (a flat slice without
// copying). Nested slices have to be rectangular. Elements of type int become int64.
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

// Options says how [Const] reads a literal. The zero value infers everything.
type Options struct {
	DType dtype.DType // the element type; None: inferred
	Int   dtype.DType // the type of integers of type int; None: int64, which one that does not fit has anyway
	Float dtype.DType // the type of floating numbers, and of no elements at all; None: float64
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

// Const returns the tensor of a nested literal: Go values in slices and arrays,
// []any included, all rows of one length. Typed elements keep their type, except
// that int is int64; a mixture of integers and floating numbers becomes
// floating. With Options.DType every element has to be one of that type: an integer
// type has to hold it exactly, a floating type rounds.
func Const(x any, o Options) (Tensor, error) {
	o = o.defaults()
	c := &collector{}
	if err := c.add(reflect.ValueOf(x), 0, nil); err != nil {
		return nil, err
	}
	if len(c.elems) == 0 && c.empty != dtype.None {
		o.Float = c.empty
	}
	s, err := shape.From(c.dims)
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrShape, Op: "tensor.Const", Err: err}
	}
	return FromScalars(c.elems, s, o)
}

// collector gathers the elements of a literal and checks that it is rectangular.
type collector struct {
	dims  []int
	known bool // the depth of the elements is known
	elems []any
	empty dtype.DType // the type of the elements of an empty slice
}

func (c *collector) add(v reflect.Value, depth int, path []int) error {
	for hops := 0; v.IsValid() && hops < shape.MaxRank && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer && !v.IsNil()); hops++ {
		v = v.Elem()
	}
	fail := func(msg string) error {
		e := tenon.NewError(tenon.ErrInvalid, "tensor.Const", msg)
		if len(path) > 0 {
			e.Where = fmt.Sprint(path)
		}
		return e
	}
	if !v.IsValid() {
		return fail("the literal holds nil")
	}
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
		n := v.Len()
		switch {
		case depth == shape.MaxRank:
			return fail(fmt.Sprintf("the literal is nested more than %d deep", shape.MaxRank))
		case depth == len(c.dims) && c.known:
			return fail("a list stands where other rows have an element")
		case depth == len(c.dims):
			c.dims = append(c.dims, n)
		case c.dims[depth] != n:
			return fail(fmt.Sprintf("the row has %d entries, others have %d: use ragged.Const for rows of different length", n, c.dims[depth]))
		}
		if n == 0 {
			c.nothing(v.Type().Elem(), depth+1)
		}
		for i := range n {
			if err := c.add(v.Index(i), depth+1, append(path, i)); err != nil {
				return err
			}
		}
		return nil
	}
	if depth != len(c.dims) {
		return fail("an element stands where other rows have a list")
	}
	d := dtype.OfType(v.Type())
	if d == dtype.None {
		return fail(fmt.Sprintf("a %v is no element of a tensor", v.Type()))
	}
	c.known = true
	c.elems = append(c.elems, v.Interface())
	return nil
}

// nothing notes what the type of the elements of an empty slice tells: their type, and the
// axes that they would have at a depth.
func (c *collector) nothing(t reflect.Type, depth int) {
	for ; dtype.OfType(t) == dtype.None && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array); t = t.Elem() {
		if depth == len(c.dims) && !c.known && depth < shape.MaxRank {
			n := 0
			if t.Kind() == reflect.Array {
				n = t.Len()
			}
			c.dims = append(c.dims, n)
		}
		depth++
	}
	if d := dtype.OfType(t); d != dtype.None {
		c.empty = d
	}
}

// FromScalars returns the tensor of Go scalars in row-major order. It chooses
// the element type as [Const] does.
func FromScalars(elems []any, s shape.Shape, o Options) (Tensor, error) {
	o = o.defaults()
	if s.Size() != len(elems) {
		return nil, tenon.NewError(tenon.ErrShape, "tensor.FromScalars", fmt.Sprintf("%d elements do not fill the shape %v", len(elems), s))
	}
	dt := o.DType
	if dt == dtype.None {
		var err error
		if dt, err = inferred(elems, o); err != nil {
			return nil, err
		}
	}
	if dt == dtype.String {
		strs := make([]string, len(elems))
		for i, e := range elems {
			v := reflect.ValueOf(e)
			if v.Kind() != reflect.String {
				return nil, tenon.NewError(tenon.ErrDType, "tensor.FromScalars", fmt.Sprintf("element %d is the %T %v, not a string", i, e, e))
			}
			strs[i] = v.String()
		}
		return fromStrings(strs, s), nil
	}
	out := NewDense(dt, s)
	rv := reflect.NewAt(reflect.ArrayOf(out.Len(), dt.GoType()), out.Raw()).Elem()
	for i, e := range elems {
		if err := Assign(rv.Index(i), e, dt); err != nil {
			err.Where = fmt.Sprintf("element %d", i)
			return nil, err
		}
	}
	return out, nil
}

// inferred returns the element type of literals. Untyped looking Go types (int,
// float64) give way to the defaults in o.
func inferred(elems []any, o Options) (dtype.DType, error) {
	if len(elems) == 0 {
		return o.Float, nil
	}
	var out dtype.DType
	for i, e := range elems {
		d := dtype.OfType(reflect.TypeOf(e))
		switch e := e.(type) {
		case int:
			if d = o.Int; !fits(e, d) {
				d = dtype.Int64
			}
		case float64:
			d = o.Float
		}
		if d == dtype.None {
			return out, tenon.NewError(tenon.ErrDType, "tensor.Const", fmt.Sprintf("element %d is a %T, which is no element of a tensor", i, e))
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
	return out, nil
}

// fits reports whether a type of integers holds n.
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

// Assign sets dst, an element of type dt, to the Go scalar x. An integer type has
// to hold it exactly, a floating type rounds.
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

// ScalarLike returns the Go constant x as a scalar of type dt, and false where dt
// does not hold it exactly (a floating type holds any floating constant,
// rounded). Operations use it for constants among their operands.
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
	case reflect.Invalid, reflect.Slice, reflect.Array, reflect.Map, reflect.String: // no constants: an error would be made only to be dropped
		return nil, false
	}
	out := NewDense(dt, shape.Shape{})
	if err := Assign(reflect.NewAt(dt.GoType(), out.Raw()).Elem(), x, dt); err != nil {
		return nil, false
	}
	return out, true
}

// holds reports whether a floating type has the integer x among its numbers: its
// significant bits fit, and it is not too large.
func holds(x int, dt dtype.DType) bool {
	n := uint64(max(x, -x)) // also for the lowest int, whose bits are those of 2^63
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
