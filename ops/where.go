package ops

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Where returns x where the condition is true and y elsewhere, element by element. The condition is
// boolean; all three broadcast. Any element type is allowed, including strings.
//
// Gradient: ct for x where the condition is true, for y elsewhere.
func Where(condition, x, y any) tensor.Tensor {
	return op.Eval(whereOp, condition, x, y)
}

var whereOp = op.Register(&op.Op{
	Name: "where", Statement: op.Statement{Axes: op.Map, Moves: two | three, Zero: op.Zero{Keeps: true, Linear: []op.Operands{two | three}}}, Doc: "x where the condition is true, y elsewhere",
	Params:  []op.Param{{Name: "condition", Takes: op.Bools}, {Name: "x", Group: 1}, {Name: "y", Group: 1}},
	Results: 1, Strided: true,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s, alike := alikeOrScalars(c)
		if !alike {
			s = outShape(c, 0)
		}
		if x := c.Strings(1); x != nil {
			return c.Result(selectStrings(c.Dense(0), x, c.Strings(2), s))
		}
		return c.Result(selectDense(c.Dense(0), c.Dense(1), c.Dense(2), s))
	},
	Block: func(in []dtype.DType) (op.BlockFunc, dtype.DType) {
		d := in[1]
		if in[0] != dtype.Bool || d != in[2] || d == dtype.String {
			return nil, dtype.None
		}
		return selecting(d), d
	},
})

// alikeOrScalars returns the common shape of three operands, any of which may be scalars instead.
func alikeOrScalars(c *op.Call) (s shape.Shape, ok bool) {
	for i := range 3 {
		switch t := c.Tensor(i).Shape(); {
		case t.IsScalar():
		case s.IsScalar():
			s = t
		case !s.Equal(t):
			return s, false
		}
	}
	return s, true
}

// selecting returns the loop over elements of a type.
func selecting(d dtype.DType) op.BlockFunc {
	kernels := [4]elementwise.SelectFunc{ // bit 0: x is a single element, bit 1: y is
		elementwise.SelectOf(d, elementwise.VV), elementwise.SelectOf(d, elementwise.SV),
		elementwise.SelectOf(d, elementwise.VS), elementwise.SelectOf(d, elementwise.SS),
	}
	size := d.Size()
	return func(dst unsafe.Pointer, x [3]unsafe.Pointer, n int, scalars uint8) {
		form := scalars >> 1
		if scalars&1 == 0 {
			kernels[form](dst, x[0], x[1], x[2], n)
			return
		}
		from, scalar := x[2], form&2 != 0
		if *(*bool)(x[0]) {
			from, scalar = x[1], form&1 != 0
		}
		if scalar {
			copy(unsafe.Slice((*byte)(dst), size), unsafe.Slice((*byte)(from), size))
			spread1(dst, size, n, -1)
			return
		}
		copy(unsafe.Slice((*byte)(dst), n*size), unsafe.Slice((*byte)(from), n*size))
	}
}

var _ = gradient(whereOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	cond, x, y := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	zero := zeroOf(ct[0].DType())
	return []tensor.Tensor{nil, sumTo(Where(cond, ct[0], zero), x), sumTo(Where(cond, zero, ct[0]), y)}
})

func selectDense(cond, x, y *tensor.Dense, s shape.Shape) *tensor.Dense {
	d := x.DType()
	out := tensor.Uninit(d, s)
	size := d.Size()
	dst := out.Raw()
	if p, scalars, ok := evenly(s, cond, x, y); ok && scalars&1 == 0 {
		form := [4]elementwise.Form{elementwise.VV, elementwise.SV, elementwise.VS, elementwise.SS}[scalars>>1]
		elementwise.SelectOf(d, form)(dst, p[0], p[1], p[2], out.Len())
		return out
	}
	block := selecting(d)
	newLoop(s, cond, x, y).each(grainCheap, func(r run) int {
		block(unsafe.Add(dst, r.at*size), r.p, r.n, r.scalars)
		return -1
	})
	return out
}

func selectStrings(cond *tensor.Dense, x, y *tensor.Strings, s shape.Shape) *tensor.Strings {
	if cond.Len() != s.Size() || !cond.IsContiguous() {
		cond = move.Copied(move.Stretched(cond, s))
	}
	return move.Tensor(str.Choose(tensor.Elems[bool](cond), stretchedStrings(x, s), stretchedStrings(y, s)), s)
}
