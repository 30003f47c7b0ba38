package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var sliceOp *op.Op

func init() {
	sliceOp = op.Register(&op.Op{
		Name: "slice", Statement: moves(op.Select, two|three), Doc: "A block of a tensor, given by its first position and its sizes.", Strided: true,
		Params: []op.Param{{Name: "x"}, sizesParam("begin"), sizesParam("size")}, Results: 1,
		Shape: func(c *op.Call) (shape.Shape, error) {
			s := c.Tensor(0).Shape()
			begin, nb := sizes(c, 1)
			size, ns := sizes(c, 2)
			rank := s.Rank()
			for i, n := range []int{nb, ns} {
				if n >= 0 && rank >= 0 && n != rank {
					return s, c.Errorf(tenon.ErrShape, "%s has %d entries, the tensor has rank %d", c.Op.Params[i+1].Name, n, rank)
				}
				rank = max(rank, n)
			}
			if rank < 0 {
				return shape.UnknownRank, nil
			}
			dims, err := make([]int, rank), error(nil)
			for i := range dims {
				if dims[i], err = sliceSize(c, i, s, begin, size); err != nil {
					return s, err
				}
			}
			return shape.Of(dims...), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			begin, _ := c.ConstInts(1)
			v := view{shape: outShape(c, 0), strides: stridesOf(c.Tensor(0))}
			for i, b := range begin {
				v.offset += b * v.strides[i]
			}
			if v.shape.Size() == 0 {
				v.offset = 0
			}
			return c.Result(viewed(c.Tensor(0), v))
		},
		VJP: func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
			if out[0].Shape().Size() == 0 { // nothing depends on x
				return make([]tensor.Tensor, 3)
			}
			before := castIndex(c.Tensor(1))
			after := Sub(Sub(Shape(c.Tensor(0)), before), Shape(ct[0]))
			g := Pad(ct[0], Stack([]any{before, after}, 1), PadOptions{})
			return []tensor.Tensor{known(g, c.Tensor(0).Shape()), nil, nil}
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if batched[1] || batched[2] {
				return nil, op.NotHandled
			}
			return c.Result(Slice(c.Value(0), prepended(tensor.Scalar(int64(0)), c.Tensor(1)), prepended(tensor.Scalar(int64(-1)), c.Tensor(2))))
		},
	})
}

// Slice returns the block of x that begins at a position and has the given sizes;
// a size of -1 means whatever is left. begin and size hold an integer for each
// axis and may be tensors. The block must lie inside x. The result is a view.
//
//	x: [a, b], begin 1, 0, size 2, -1 → [2, b], any element type.
//	Gradient: the cotangent with zeros around it.
func Slice(x, begin, size any) tensor.Tensor {
	return op.Eval(sliceOp, x, begin, size)
}

// sliceSize returns the size of axis i of a slice, as far as it is known.
func sliceSize(c *op.Call, i int, s shape.Shape, begin, size []int) (int, error) {
	n, b, m := shape.Unknown, shape.Unknown, shape.Unknown
	if s.HasRank() {
		n = s.Dim(i)
	}
	if begin != nil {
		if b = begin[i]; b < 0 || n >= 0 && b > n {
			return 0, c.Errorf(tenon.ErrInvalid, "begin[%d] is %d, the axis has size %d", i, b, n)
		}
	}
	if size != nil {
		if m = size[i]; m < -1 {
			return 0, c.Errorf(tenon.ErrInvalid, "size[%d] is %d", i, m)
		}
		if m == -1 && n >= 0 && b >= 0 {
			m = n - b
		}
	}
	if n >= 0 && b >= 0 && m > n-b {
		return 0, c.Errorf(tenon.ErrInvalid, "%d positions from %d on reach beyond axis %d, which has size %d", m, b, i, n)
	}
	return m, nil
}
