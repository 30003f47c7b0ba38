package ops

import (
	"slices"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/tensor"
)

// Identity returns x itself.
//
// Gradient: ct.
func Identity(x any) tensor.Tensor { return op.Eval(identityOp, x) }

var identityOp = op.Register(&op.Op{
	Name: "identity", Statement: passes, Doc: "x itself", Params: unaryParams, Results: 1, Strided: true,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) { return c.Result(c.Tensor(0)) },
})

var _ = gradient(identityOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return ct })

// StopGradient returns x itself; gradients treat it as a constant.
//
// Gradient: zero.
func StopGradient(x any) tensor.Tensor { return op.Eval(stopGradientOp, x) }

var stopGradientOp = op.Register(&op.Op{
	Name: "stop_gradient", Statement: passes, Doc: "x itself, treated as a constant by gradients", Params: unaryParams, Results: 1, Strided: true,
	Nondifferentiable: true,
	Kernel:            func(c *op.Call) ([]tensor.Tensor, error) { return c.Result(c.Tensor(0)) },
})

// ZerosLike returns zeros, or empty strings, of x's element type and shape.
func ZerosLike(x any) tensor.Tensor {
	return op.Eval(zerosLikeOp, x)
}

var zerosLikeOp = op.Register(&op.Op{
	Name: "zeros_like", Statement: op.Statement{Axes: op.Map, ShapeOnly: one, Missing: op.Ignore, Zero: op.Zero{Keeps: true}}, Doc: "zeros of x's type and shape", Params: unaryParams, Results: 1, Strided: true,
	Nondifferentiable: true,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		if x := c.Strings(0); x != nil {
			return c.Result(tensor.WrapStrings(make([]int64, x.Len()+1), nil, x.Shape()))
		}
		x := c.Dense(0)
		return c.Result(tensor.NewDense(x.DType(), x.Shape()))
	},
})

// OnesLike returns ones of x's element type and shape.
func OnesLike(x any) tensor.Tensor {
	return op.Eval(onesLikeOp, x)
}

// onesOf returns ones of the element type and shape of x.
func onesOf(x *tensor.Dense) *tensor.Dense {
	out := tensor.Uninit(x.DType(), x.Shape())
	move.Fill(out, mark(x.DType(), true).(*tensor.Dense))
	return out
}

var onesLikeOp = op.Register(&op.Op{
	Name: "ones_like", Statement: likeShape, Doc: "ones of x's type and shape", Params: unaryParams, Results: 1, Strided: true,
	Nondifferentiable: true,
	Elem:              keeping(func(d dtype.DType) bool { return d != dtype.String }),
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		return c.Result(onesOf(c.Dense(0)))
	},
})

// oneOf returns the scalar 1 of an element type.
func oneOf(d dtype.DType) *tensor.Dense {
	return mark(d, true).(*tensor.Dense)
}

// CheckNumerics returns x. If x contains a NaN or infinite element, it throws an error with the
// message that names the first one.
//
// Gradient: ct.
func CheckNumerics(x any, message string) tensor.Tensor {
	return op.Eval(checkNumericsOp, x, message)
}

var checkNumericsOp = op.Register(&op.Op{
	Name: "check_numerics", Statement: op.Statement{Axes: op.Map, Checks: true, Zero: movedZero}, Doc: "fails where an element is NaN or infinite",
	Params:  []op.Param{{Name: "x"}, {Name: "message", Kind: op.Attr, Type: op.StringType, Default: ""}},
	Results: 1, Strided: true, Stateful: true,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Dense(0)
		if x == nil || elementwise.UnaryOf(elementwise.IsFinite, x.DType()) == nil || x.DType().IsInteger() {
			return c.Result(c.Tensor(0))
		}
		bad := -1
		if x.IsContiguous() && x.Len() <= grainCheap {
			bad = firstInfinite(x.DType(), x.Raw(), x.Len())
		} else {
			bad = newLoop(x.Shape(), x).each(grainCheap, func(r run) int {
				if r.scalars != 0 {
					r.n = 1
				}
				return firstInfinite(x.DType(), r.p[0], r.n)
			})
		}
		if bad < 0 {
			return c.Result(x)
		}
		e := c.Errorf(tenon.ErrInvalid, "is NaN or infinite")
		e.Where = "element " + coordinates(x.Shape(), bad)
		if m := c.Str(1); m != "" {
			e.Msg += ": " + m
		}
		return nil, e
	},
})

// firstInfinite returns the index of the first of n elements that is NaN or infinite, or -1 if
// there is none.
func firstInfinite(d dtype.DType, p unsafe.Pointer, n int) int {
	var holds [64]bool
	finite, size := elementwise.UnaryOf(elementwise.IsFinite, d), d.Size()
	for done := 0; done < n; done += len(holds) {
		m := min(n-done, len(holds))
		finite(unsafe.Pointer(&holds), unsafe.Add(p, done*size), m)
		if i := slices.Index(holds[:m], false); i >= 0 {
			return done + i
		}
	}
	return -1
}

var _ = gradient(checkNumericsOp, func(x, y, ct tensor.Tensor) tensor.Tensor { return ct })
