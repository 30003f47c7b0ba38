package ops

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// LinearScan returns the solution h of the linear recurrence
//
//	hₜ = aₜ·hₜ₋₁ + bₜ,  with h = 0 before the first element
//
// along an axis. With reverse, it runs from the last element to the first, using
// hₜ₊₁. a and b must have the same shape. Exponential moving averages and linear
// state-space models are of this form, and so are the gradients of cumulative
// operations. Floating-point and complex tensors; half precision is computed in
// float32.
//
// Gradient: g·hₜ₋₁ for a and g for b, where g is the scan of ct in the other
// direction with the factors of the next element.
func LinearScan(a, b any, axis int, reverse bool) tensor.Tensor {
	return op.Eval(linearScanOp, a, b, axis, reverse)
}

var linearScanOp = op.Register(&op.Op{
	Name: "linear_scan", Statement: op.Statement{Axes: op.Scan, Missing: op.Refuse, Zero: op.Zero{Keeps: true, Linear: []op.Operands{two}}}, Doc: "first-order linear recurrence along an axis", Results: 1,
	Params: []op.Param{
		{Name: "a", Group: 1, Takes: op.Smooth}, {Name: "b", Group: 1},
		{Name: "axis", Kind: op.Attr, Type: op.IntType, Default: 0},
		{Name: "reverse", Kind: op.Attr, Type: op.BoolType, Default: false},
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		a, b := c.Dense(0), c.Dense(1)
		outer, n, inner, err := around(c, a, c.Int(2))
		if err != nil {
			return nil, err
		}
		d := a.DType()
		if d.Size() == 2 {
			a, b = castDense(a, dtype.Float32), castDense(b, dtype.Float32)
		}
		out := tensor.Uninit(a.DType(), a.Shape())
		scan := linearScans[a.DType()]
		scan(out, a, b, outer, n, inner, c.Bool(3))
		return c.Result(castDense(out, d))
	},
})

var _ = gradient(linearScanOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	axis, reverse := c.Int(2), c.Bool(3)
	next := shiftOne(conj(c.Tensor(0)), axis, !reverse)
	g := LinearScan(next, ct[0], axis, !reverse)
	return []tensor.Tensor{Mul(g, shiftOne(conj(out[0]), axis, reverse)), g}
})

var linearScans = map[dtype.DType]func(out, a, b *tensor.Dense, outer, n, inner int, reverse bool){
	dtype.Float32: linearScan[float32], dtype.Float64: linearScan[float64],
	dtype.Complex64: linearScan[complex64], dtype.Complex128: linearScan[complex128],
}

func linearScan[T float32 | float64 | complex64 | complex128](out, a, b *tensor.Dense, outer, n, inner int, reverse bool) {
	if out.Len() == 0 {
		return
	}
	h, as, bs := tensor.Elems[T](out), tensor.Elems[T](a), tensor.Elems[T](b)
	par.For(outer, max(1, grainDear/(n*inner)), func(lo, hi int) {
		for o := lo; o < hi; o++ {
			base, step := o*n*inner, inner
			if reverse {
				base, step = base+(n-1)*inner, -inner
			}
			copy(h[base:base+inner], bs[base:base+inner])
			for t := 1; t < n; t++ {
				before := h[base : base+inner]
				base += step
				row, ra, rb := h[base:base+inner], as[base:base+inner], bs[base:base+inner]
				for i, p := range before {
					row[i] = ra[i]*p + rb[i]
				}
			}
		}
	})
}

// shiftOne moves x by one along an axis, away from the start or, if backward is
// set, toward it, and fills in a zero.
func shiftOne(x tensor.Tensor, axis int, backward bool) tensor.Tensor {
	by := 1
	if backward {
		by = -1
	}
	return Shift(x, by, axis)
}

// Shift moves the elements of x by a number of places along an axis, toward the
// start if it is negative. Elements moved beyond the end are dropped, and zeros
// are filled in.
//
// Gradient: ct moved back.
func Shift(x any, by, axis int) tensor.Tensor { return op.Eval(shiftOp, x, by, axis) }

var shiftOp = op.Register(&op.Op{
	Name: "shift", Statement: op.Statement{Axes: op.Along, Moves: one, Fills: true, Zero: movedZero}, Doc: "shifts elements along an axis, filling in zeros", Results: 1,
	Params: []op.Param{
		{Name: "x"}, {Name: "by", Kind: op.Attr, Type: op.IntType}, {Name: "axis", Kind: op.Attr, Type: op.IntType},
	},
	Elem: keeping(func(d dtype.DType) bool { return d.Size() > 0 }),
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x := c.Dense(0)
		outer, n, inner, err := around(c, x, c.Int(2))
		if err != nil {
			return nil, err
		}
		out := tensor.NewDense(x.DType(), x.Shape())
		by := max(-n, min(n, c.Int(1)))
		row := n * inner * x.DType().Size()
		shift := by * inner * x.DType().Size()
		if row == 0 {
			return c.Result(out)
		}
		dst, src := unsafe.Slice((*byte)(out.Raw()), outer*row), unsafe.Slice((*byte)(x.Raw()), outer*row)
		par.For(outer, max(1, 64<<10/row), func(lo, hi int) {
			for o := lo; o < hi; o++ {
				d, s := dst[o*row:(o+1)*row], src[o*row:(o+1)*row]
				if shift >= 0 {
					copy(d[shift:], s)
				} else {
					copy(d, s[-shift:])
				}
			}
		})
		return c.Result(out)
	},
})

var _ = gradient(shiftOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{Shift(ct[0], -c.Int(1), c.Int(2))}
})
