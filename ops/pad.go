package ops

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// PadMode says how the margins that [Pad] adds are filled.
type PadMode string

// The modes of padding, shown for the row a b c and two elements on each side.
const (
	PadConstant  PadMode = "constant"  // 0 0 a b c 0 0, or another value
	PadReflect   PadMode = "reflect"   // c b a b c b a: the edge is not repeated
	PadSymmetric PadMode = "symmetric" // b a a b c c b: the edge is repeated
)

// PadOptions says how [Pad] fills the margins. The zero value fills them with
// zeros, false or empty strings.
type PadOptions struct {
	Mode  PadMode // "" is PadConstant
	Value any     // for PadConstant: a scalar
}

var padOp *op.Op

func init() {
	padOp = op.Register(&op.Op{
		Name: "pad", Statement: op.Statement{Axes: op.Select, Moves: one | three, Fills: true, Control: two, Zero: op.Zero{Keeps: true, Linear: []op.Operands{one | three}}}, Doc: "A tensor with margins of one value.", Strided: true,
		Params: []op.Param{{Name: "x", Group: 1}, {Name: "paddings", Takes: op.Indices}, {Name: "value", Group: 1, Optional: true, Rank: op.Scalar}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			s, _, err := paddedShape(c, c.Tensor(0).Shape())
			return s, err
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			_, paddings, err := paddedShape(c, c.Tensor(0).Shape())
			if err != nil {
				return nil, err
			}
			values := []tenon.Value{c.Value(0), padValue(c)}
			return c.Result(move.ApplyList(values, func(ds []*tensor.Dense) *tensor.Dense {
				x, value := ds[0], ds[1]
				out := tensor.NewDense(x.DType(), outShape(c, 0))
				if !isZero(value) {
					move.Fill(out, value)
				}
				if x.Len() > 0 {
					offset := 0
					for i, st := range out.Strides() {
						offset += paddings[2*i] * st
					}
					move.CopyTo(out.View(offset, x.Shape(), out.Strides()), x)
				}
				return out
			}))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			before := Index(castIndex(c.Tensor(1)), key.All, 0)
			inner := Slice(ct[0], before, Shape(c.Tensor(0)))
			out := []tensor.Tensor{known(inner, c.Tensor(0).Shape()), nil}
			if c.Has(2) {
				out = append(out, Sub(Sum(ct[0]), Sum(inner)))
			}
			return out
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if anyOf(batched[1:]) {
				return nil, op.NotHandled
			}
			return c.Result(op.Eval(padOp, c.Value(0), batchPaddings(c.Tensor(1)), c.Args[2]))
		},
	})
}

var mirrorPadOp *op.Op

func init() {
	mirrorPadOp = op.Register(&op.Op{
		Name: "mirror_pad", Statement: moves(op.Select, two), GoName: "ops.Pad", Doc: "A tensor with margins that mirror it.", Strided: true,
		Params: []op.Param{{Name: "x"}, {Name: "paddings", Takes: op.Indices}, {Name: "mode", Kind: op.Attr, Type: op.StringType}}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			x := c.Tensor(0).Shape()
			s, p, err := paddedShape(c, x)
			if err != nil {
				return s, err
			}
			edge, err := mirrorEdge(c)
			if err != nil {
				return s, err
			}
			for i := range len(p) / 2 {
				n := x.Dim(i)
				if m := max(p[2*i], p[2*i+1]); n >= 0 && m > 0 && m > n-edge {
					return s, c.Errorf(tenon.ErrInvalid, "margins %d and %d of axis %d are wider than its size %d allows in mode %s", p[2*i], p[2*i+1], i, n, c.Str(2))
				}
			}
			return s, nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			_, paddings, err := paddedShape(c, c.Tensor(0).Shape())
			if err != nil {
				return nil, err
			}
			edge, _ := mirrorEdge(c)
			s := outShape(c, 0)
			return c.Result(move.Apply(c.Tensor(0), func(x *tensor.Dense) *tensor.Dense { return mirrored(x, s, paddings, edge) }))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			// Padding depends only on positions, so padding the positions shows where each element
			// came from.
			x := c.Tensor(0)
			at := Reshape(Range(0, Size(x), 1), Shape(x))
			at = op.Eval(mirrorPadOp, at, c.Args[1], c.Str(2))
			flat := SegmentSum(Reshape(ct[0], []int{-1}), Reshape(at, []int{-1}), Size(x))
			return []tensor.Tensor{reshapedLike(flat, x), nil}
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if anyOf(batched[1:]) {
				return nil, op.NotHandled
			}
			return c.Result(op.Eval(mirrorPadOp, c.Value(0), batchPaddings(c.Tensor(1)), c.Str(2)))
		},
	})
}

// Pad returns x with margins. paddings holds two integers for each axis, the widths before and
// after it: [][]int{{1, 1}, {0, 2}}, or a tensor [rank, 2].
//
//	x: [a, b] → [before₀+a+after₀, before₁+b+after₁], any element type.
//	Gradient: the cotangent without the margins; mirrored margins are added to it.
func Pad(x, paddings any, o PadOptions) tensor.Tensor {
	if p, ok := paddings.([][]int); ok && len(p) == 0 { // a scalar has no axes, but the widths must still be integers
		paddings = tensor.Of([]int64{}, 0, 2)
	}
	if o.Mode == PadConstant || o.Mode == "" {
		return op.Eval(padOp, x, paddings, o.Value)
	}
	return op.Eval(mirrorPadOp, x, paddings, string(o.Mode))
}

// batchPaddings adds zero margins for the batch axis.
func batchPaddings(p tensor.Tensor) tensor.Tensor {
	return Concat([]any{tensor.Of([]int64{0, 0}, 1, 2), castIndex(p)}, 0)
}

// paddedShape checks argument 1, the paddings, and returns the padded shape and,
// if they are known, the paddings.
func paddedShape(c *op.Call, s shape.Shape) (shape.Shape, []int, error) {
	ps := c.Tensor(1).Shape()
	want := shape.Of(s.Rank(), 2)
	if !ps.CompatibleWith(want) {
		return s, nil, c.Errorf(tenon.ErrShape, "paddings has shape %v, want %v", ps, want)
	}
	p, ok := c.ConstInts(1)
	if !s.HasRank() {
		return shape.OfRank(ps.Dim(0)), nil, nil
	}
	if !ok {
		return s.Relaxed(), nil, nil
	}
	dims := s.Dims()
	for i, d := range dims {
		before, after := p[2*i], p[2*i+1]
		if before < 0 || after < 0 {
			return s, nil, c.Errorf(tenon.ErrInvalid, "margins %d and %d of axis %d: neither may be negative", before, after, i)
		}
		if before > math.MaxInt32<<16 || after > math.MaxInt32<<16 {
			return s, nil, c.Errorf(tenon.ErrInvalid, "margins %d and %d of axis %d are too wide", before, after, i)
		}
		if d >= 0 {
			dims[i] = before + d + after
		}
	}
	return shape.Of(dims...), p, nil
}

// padValue returns the value of constant margins.
func padValue(c *op.Call) tensor.Tensor {
	if v := c.Tensor(2); v != nil {
		return v
	}
	return zeroOf(c.Tensor(0).DType())
}

// zeroOf returns zero, false or the empty string as a scalar of a type.
func zeroOf(d dtype.DType) tensor.Tensor {
	if d == dtype.String {
		return move.Tensor(str.Of(""), shape.Shape{})
	}
	return tensor.NewDense(d, shape.Shape{})
}

// isZero reports whether all bits of a scalar are zero.
func isZero(x *tensor.Dense) bool {
	for _, b := range move.RowMajor(x).Bytes() {
		if b != 0 {
			return false
		}
	}
	return true
}

// mirrorEdge returns 1 if the edge itself is not repeated.
func mirrorEdge(c *op.Call) (int, error) {
	switch PadMode(c.Str(2)) {
	case PadReflect:
		return 1, nil
	case PadSymmetric:
		return 0, nil
	}
	return 0, c.Errorf(tenon.ErrInvalid, "mode is %q, want constant, reflect or symmetric", c.Str(2))
}

// mirrored pads one axis after the other: the margins of an axis mirror the
// result for the axes before it.
func mirrored(x *tensor.Dense, s shape.Shape, paddings []int, edge int) *tensor.Dense {
	out := tensor.Uninit(x.DType(), s)
	if out.Len() == 0 {
		return out
	}
	strides := out.Strides()
	offset, dims := 0, x.Shape().Dims()
	for i, st := range strides {
		offset += paddings[2*i] * st
	}
	move.CopyTo(out.View(offset, x.Shape(), strides), x)
	for i, st := range strides {
		before, n, after := paddings[2*i], dims[i], paddings[2*i+1]
		back := append([]int{}, strides...)
		back[i] = -st
		margin := func(at, from, width int) {
			if width == 0 {
				return
			}
			dims[i] = width
			m := shape.Of(dims...)
			base := offset - before*st
			move.CopyTo(out.View(base+at*st, m, strides), out.View(base+from*st, m, back))
		}
		margin(0, before+edge+before-1, before)
		margin(before+n, before+n-1-edge, after)
		offset -= before * st
		dims[i] = before + n + after
	}
	return out
}
