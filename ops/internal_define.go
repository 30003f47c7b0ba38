package ops

import (
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// unaryOf returns the parameters of operations on one tensor with certain element types.
func unaryOf(e *op.Elements) []op.Param { return []op.Param{{Name: "x", Takes: e}} }

// Parameters that whole classes share.
var (
	unaryParams  = []op.Param{{Name: "x"}}
	binaryParams = []op.Param{{Name: "x", Group: 1}, {Name: "y", Group: 1}}
)

// cheap lists the functions that cost about as much as an addition.
var cheap = map[elementwise.Op]bool{
	elementwise.Abs: true, elementwise.Neg: true, elementwise.Sign: true, elementwise.Reciprocal: true,
	elementwise.Square: true, elementwise.Sqrt: true, elementwise.Floor: true, elementwise.Ceil: true,
	elementwise.Round: true, elementwise.Trunc: true, elementwise.Relu: true, elementwise.Relu6: true,
	elementwise.HardSigmoid: true, elementwise.HardSilu: true, elementwise.Conj: true,
	elementwise.LogicalNot: true, elementwise.BitwiseNot: true, elementwise.RealPart: true, elementwise.ImagPart: true,
	elementwise.IsNaN: true, elementwise.IsInf: true, elementwise.IsFinite: true,
	elementwise.Add: true, elementwise.Sub: true, elementwise.Mul: true, elementwise.Div: true,
	elementwise.Maximum: true, elementwise.Minimum: true, elementwise.SquaredDifference: true,
	elementwise.LogicalAnd: true, elementwise.LogicalOr: true, elementwise.LogicalXor: true,
	elementwise.BitwiseAnd: true, elementwise.BitwiseOr: true, elementwise.BitwiseXor: true,
	elementwise.LeftShift: true, elementwise.RightShift: true,
}

func grainOf(k elementwise.Op) int {
	if cheap[k] {
		return grainCheap
	}
	return grainDear
}

// computedIn returns the element type in which a function of elements of type d is computed: d
// itself, or float64 for integers if the function is defined for real numbers. It returns None if
// the function is not defined.
func computedIn(d dtype.DType, defined func(dtype.DType) bool) dtype.DType {
	switch {
	case defined(d):
		return d
	case d.IsInteger() && defined(dtype.Float64):
		return dtype.Float64
	}
	return dtype.None
}

// keeping returns the Elem of an operation that keeps the element types it is defined for.
func keeping(defined func(dtype.DType) bool) func(*op.Call, dtype.DType) dtype.DType {
	return func(_ *op.Call, d dtype.DType) dtype.DType {
		if !defined(d) {
			return dtype.None
		}
		return d
	}
}

// computing returns the Elem of an operation whose result has the type in which it is computed; see
// computedIn.
func computing(defined func(dtype.DType) bool) func(*op.Call, dtype.DType) dtype.DType {
	return func(_ *op.Call, d dtype.DType) dtype.DType { return computedIn(d, defined) }
}

// floating is the Elem of functions of floating-point numbers: integers give
// float64.
var floating = computing(dtype.DType.IsFloat)

// always returns the Elem of an operation whose result always has the same
// element type.
func always(d dtype.DType) func(*op.Call, dtype.DType) dtype.DType {
	return func(*op.Call, dtype.DType) dtype.DType { return d }
}

// unary registers an elementwise operation of one tensor, computed by package
// elementwise. The result has x's element type, or float64 if x holds integers
// and the function is real-valued.
func unary(k elementwise.Op, o op.Op) *op.Op {
	return unaryTo(k, o, func(d dtype.DType) dtype.DType { return d })
}

// predicate registers an elementwise operation of one tensor with a boolean result.
func predicate(k elementwise.Op, o op.Op) *op.Op {
	o.Nondifferentiable = true
	return unaryTo(k, o, func(dtype.DType) dtype.DType { return dtype.Bool })
}

// unaryTo registers an elementwise operation whose result type depends on the
// type in which it is computed.
func unaryTo(k elementwise.Op, o op.Op, result func(dtype.DType) dtype.DType) *op.Op {
	if o.Name == "" {
		o.Name = k.String()
	}
	o.Params, o.Results, o.Strided = unaryParams, 1, true
	defined := func(d dtype.DType) bool { return elementwise.UnaryOf(k, d) != nil }
	grain := grainOf(k)
	o.Elem = func(_ *op.Call, d dtype.DType) dtype.DType {
		if d = computedIn(d, defined); d == dtype.None {
			return d
		}
		return result(d)
	}
	o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Dense(0)
		d := computedIn(x.DType(), defined)
		return c.Result(unaryDense(elementwise.UnaryOf(k, d), castDense(x, d), result(d), grain))
	}
	o.Block = func(in []dtype.DType) (op.BlockFunc, dtype.DType) {
		f := elementwise.UnaryOf(k, in[0])
		if f == nil {
			return nil, dtype.None
		}
		return func(dst unsafe.Pointer, x [3]unsafe.Pointer, n int, _ uint8) { f(dst, x[0], n) }, result(in[0])
	}
	return op.Register(&o)
}

// unaryDense applies f to the elements of x.
func unaryDense(f elementwise.UnaryFunc, x *tensor.Dense, result dtype.DType, grain int) *tensor.Dense {
	out := tensor.Uninit(result, x.Shape())
	if x.IsContiguous() && x.Len() <= grain {
		if x.Len() > 0 {
			f(out.Raw(), x.Raw(), x.Len())
		}
		return out
	}
	size := result.Size()
	newLoop(x.Shape(), x).each(grain, func(r run) int {
		p := unsafe.Add(out.Raw(), r.at*size)
		if r.scalars == 0 {
			f(p, r.p[0], r.n)
			return -1
		}
		f(p, r.p[0], 1)
		return spread1(p, size, r.n, -1)
	})
	return out
}

// binary registers an elementwise operation of two tensors, computed by package
// elementwise. Operands are promoted; the result has their element type, or
// float64 if they hold integers and the function is real-valued.
func binary(k elementwise.Op, o op.Op) *op.Op {
	if o.Name == "" {
		o.Name = k.String()
	}
	if o.Params == nil {
		o.Params = binaryParams
	}
	o.Results, o.Strided = 1, true
	o.Elem = computing(func(d dtype.DType) bool { return elementwise.BinaryOf(k, d, elementwise.VV) != nil })
	grain := grainOf(k)
	o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) {
		x, y := c.Dense(0), c.Dense(1)
		d := c.Out[0].(*tensor.Spec)
		x, y = castDense(x, d.DType()), castDense(y, d.DType())
		out, bad := binaryDense(k, x, y, d.Shape(), grain)
		if bad >= 0 {
			return nil, faultAt(c, k, d.Shape(), bad)
		}
		return c.Result(out)
	}
	o.Block = func(in []dtype.DType) (op.BlockFunc, dtype.DType) {
		d := in[0]
		vv, vs, sv := elementwise.BinaryOf(k, d, elementwise.VV), elementwise.BinaryOf(k, d, elementwise.VS), elementwise.BinaryOf(k, d, elementwise.SV)
		if vv == nil || d != in[1] || d.IsInteger() && !cheap[k] {
			return nil, dtype.None
		}
		return func(dst unsafe.Pointer, x [3]unsafe.Pointer, n int, scalars uint8) {
			switch scalars {
			case 0:
				vv(dst, x[0], x[1], n)
			case 1:
				sv(dst, x[0], x[1], n)
			default:
				vs(dst, x[0], x[1], n)
			}
		}, d
	}
	return op.Register(&o)
}

// faultAt returns the error for an element for which a function of integers is
// not defined.
func faultAt(c *op.Call, k elementwise.Op, s shape.Shape, i int) error {
	e := c.Errorf(tenon.ErrInvalid, "an integer is divided by zero")
	if k == elementwise.Pow {
		e = c.Errorf(tenon.ErrInvalid, "an integer is raised to a negative power")
		e.Hint = "cast the operands to a floating type first"
	}
	e.Where = "element " + coordinates(s, i)
	return e
}

// binaryDense combines the elements of x and y, which have the same element type.
// bad is the position of an element for which the function is not defined, or -1.
func binaryDense(k elementwise.Op, x, y *tensor.Dense, s shape.Shape, grain int) (out *tensor.Dense, bad int) {
	d := x.DType()
	out = tensor.Uninit(d, s)
	n := out.Len()
	if n == 0 {
		return out, -1
	}
	if n <= grain && x.IsContiguous() && y.IsContiguous() {
		switch {
		case x.Len() == n && y.Len() == n:
			return out, elementwise.BinaryOf(k, d, elementwise.VV)(out.Raw(), x.Raw(), y.Raw(), n)
		case y.Len() == 1:
			return out, elementwise.BinaryOf(k, d, elementwise.VS)(out.Raw(), x.Raw(), y.Raw(), n)
		case x.Len() == 1:
			return out, elementwise.BinaryOf(k, d, elementwise.SV)(out.Raw(), x.Raw(), y.Raw(), n)
		}
	}
	vv, vs, sv := elementwise.BinaryOf(k, d, elementwise.VV), elementwise.BinaryOf(k, d, elementwise.VS), elementwise.BinaryOf(k, d, elementwise.SV)
	size := d.Size()
	dst := out.Raw()
	bad = newLoop(s, x, y).each(grain, func(r run) int {
		p := unsafe.Add(dst, r.at*size)
		switch r.scalars {
		case 0:
			return vv(p, r.p[0], r.p[1], r.n)
		case 2:
			return vs(p, r.p[0], r.p[1], r.n)
		case 1:
			return sv(p, r.p[0], r.p[1], r.n)
		}
		return spread1(p, size, r.n, vv(p, r.p[0], r.p[1], 1))
	})
	return out, bad
}

// spread1 repeats the single element at p over a run in which all operands are
// scalars, as they are along axes of stride 0.
func spread1(p unsafe.Pointer, size, n, bad int) int {
	b := unsafe.Slice((*byte)(p), n*size)
	for done := size; done < len(b); done *= 2 {
		copy(b[done:], b[:done])
	}
	return bad
}

// comparison registers an elementwise comparison of two tensors. Operands are
// promoted; the result is boolean. Strings compare by their bytes.
func comparison(k elementwise.Op, o op.Op) *op.Op {
	o.Name = k.String()
	o.Params, o.Results, o.Strided, o.Nondifferentiable = binaryParams, 1, true, true
	o.Elem = func(_ *op.Call, d dtype.DType) dtype.DType {
		if d != dtype.String && elementwise.CompareOf(k, d, elementwise.VV) == nil {
			return dtype.None
		}
		return dtype.Bool
	}
	o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) {
		s := c.Out[0].(*tensor.Spec).Shape()
		if x := c.Strings(0); x != nil {
			return c.Result(compareStrings(k, x, c.Strings(1), s))
		}
		return c.Result(compareDense(k, c.Dense(0), c.Dense(1), s))
	}
	o.Block = func(in []dtype.DType) (op.BlockFunc, dtype.DType) {
		if elementwise.CompareOf(k, in[0], elementwise.VV) == nil || in[0] != in[1] {
			return nil, dtype.None
		}
		return comparing(k, in[0]), dtype.Bool
	}
	return op.Register(&o)
}

// comparing returns the loop over elements of a type.
func comparing(k elementwise.Op, d dtype.DType) op.BlockFunc {
	vv, vs, sv := elementwise.CompareOf(k, d, elementwise.VV), elementwise.CompareOf(k, d, elementwise.VS), elementwise.CompareOf(k, d, elementwise.SV)
	return func(dst unsafe.Pointer, x [3]unsafe.Pointer, n int, scalars uint8) {
		switch scalars {
		case 0:
			vv(dst, x[0], x[1], n)
		case 2:
			vs(dst, x[0], x[1], n)
		case 1:
			sv(dst, x[0], x[1], n)
		default:
			vv(dst, x[0], x[1], 1)
			spread1(dst, 1, n, -1)
		}
	}
}

func compareDense(k elementwise.Op, x, y *tensor.Dense, s shape.Shape) *tensor.Dense {
	out := tensor.Uninit(dtype.Bool, s)
	dst := out.Raw()
	if n := out.Len(); n > 0 && n <= grainCheap && x.IsContiguous() && y.IsContiguous() {
		form, even := elementwise.VV, true
		switch {
		case x.Len() == n && y.Len() == n:
		case x.Len() == n && y.Len() == 1:
			form = elementwise.VS
		case x.Len() == 1 && y.Len() == n:
			form = elementwise.SV
		default:
			even = false
		}
		if even {
			elementwise.CompareOf(k, x.DType(), form)(dst, x.Raw(), y.Raw(), n)
			return out
		}
	}
	block := comparing(k, x.DType())
	newLoop(s, x, y).each(grainCheap, func(r run) int {
		block(unsafe.Add(dst, r.at), r.p, r.n, r.scalars)
		return -1
	})
	return out
}

// castDense converts the elements of x. It returns x itself if there is nothing
// to convert.
func castDense(x *tensor.Dense, to dtype.DType) *tensor.Dense {
	if x.DType() == to {
		return x
	}
	return unaryDense(elementwise.CastOf(to, x.DType()), x, to, grainCheap)
}
