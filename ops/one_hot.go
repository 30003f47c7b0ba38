package ops

import (
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

var oneHotOp = op.Register(&op.Op{
	Name: "one_hot", Statement: op.Statement{Axes: op.Insert, Control: two | three | four}, Doc: "A row for each index with one element marked.",
	Params: []op.Param{{Name: "indices", Takes: op.Integers}, sizeParam("depth"), {Name: "on", Group: 1, Rank: op.Scalar}, {Name: "off", Group: 1, Rank: op.Scalar},
		{Name: "axis", Kind: op.Attr, Type: op.IntType, Default: -1}}, Results: 1,
	Elem: func(c *op.Call, _ dtype.DType) dtype.DType { return c.Tensor(2).DType() },
	Shape: func(c *op.Call) (shape.Shape, error) {
		depth, err := count(c, 1)
		s := c.Tensor(0).Shape()
		if err != nil || !s.HasRank() {
			return s, err
		}
		axis, err := c.Axis(c.Int(4), shape.OfRank(s.Rank()+1))
		if err != nil {
			return s, err
		}
		return s.Insert(axis, depth), nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := outShape(c, 0)
		axis, _ := s.Axis(c.Int(4))
		idx := tensor.Data[int64](castDense(c.Dense(0), dtype.Int64))
		return c.Result(move.ApplyList([]tenon.Value{c.Value(2), c.Value(3)}, func(ds []*tensor.Dense) *tensor.Dense {
			return oneHot(idx, s, axis, ds[0], ds[1])
		}))
	},
})

var _ = gradient(oneHotOp, func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
	g := ct[0]
	hot := op.Eval(oneHotOp, c.Value(0), c.Value(1), Cast(1, g.DType()), Cast(0, g.DType()), c.Int(4))
	on := Sum(Mul(g, hot))
	return []tensor.Tensor{nil, nil, on, Sub(Sum(g), on)}
})

// OneHotOptions says what [OneHot] writes. The zero value writes 1 and 0 in float32.
type OneHotOptions struct {
	DType   dtype.DType // the element type; None: that of On or Off, or float32
	On, Off any         // the two values: scalars
}

// OneHot returns, for each index, a new axis of size depth on which the element at the index is on
// and all others are off. An index outside [0, depth) gives only off. depth is an integer or a
// scalar tensor; axis is the position of the new axis.
//
//	indices: int[a, b], axis -1 → [a, b, depth]. Gradient: for on and off, the sum of the cotangent over their elements.
func OneHot(indices, depth any, axis int, o OneHotOptions) tensor.Tensor {
	d := o.DType
	for _, v := range []any{o.On, o.Off} {
		if t, ok := v.(tensor.Tensor); ok && d == dtype.None {
			d = t.DType()
		}
	}
	if d == dtype.None {
		d = dtype.Float32
	}
	value := func(v any, truth bool) any {
		if v == nil {
			if d < dtype.String {
				return mark(d, truth)
			}
			v = tensor.Scalar(truth)
		}
		if d == dtype.String {
			return v
		}
		return Cast(v, d)
	}
	return op.Eval(oneHotOp, indices, depth, value(o.On, true), value(o.Off, false), axis)
}

// marks caches the zero and the one of each element type.
var marks [dtype.String][2]atomic.Pointer[tensor.Tensor]

func mark(d dtype.DType, truth bool) tensor.Tensor {
	at := &marks[d][0]
	if truth {
		at = &marks[d][1]
	}
	if m := at.Load(); m != nil {
		return *m
	}
	made := Cast(tensor.Scalar(truth), d)
	at.Store(&made)
	return made
}

func oneHot(idx []int64, s shape.Shape, axis int, on, off *tensor.Dense) *tensor.Dense {
	out := tensor.NewDense(on.DType(), s)
	if out.Len() == 0 {
		return out
	}
	if !isZero(off) {
		move.Fill(out, off)
	}
	inner := 1
	for a := axis + 1; a < s.Rank(); a++ {
		inner *= s.Dim(a)
	}
	depth, mark, data := s.Dim(axis), move.RowMajor(on).Bytes(), out.Bytes()
	for i, p := range idx {
		if p >= 0 && p < int64(depth) {
			at := ((i/inner*depth+int(p))*inner + i%inner) * len(mark)
			copy(data[at:at+len(mark)], mark)
		}
	}
	return out
}

var sequenceMaskOp *op.Op

func init() {
	sequenceMaskOp = op.Register(&op.Op{
		Name: "sequence_mask", Statement: op.Statement{Axes: op.Insert, Control: two}, Doc: "Whether each position lies before a row's length.", Nondifferentiable: true,
		Params: []op.Param{{Name: "lengths", Takes: op.Indices}, optionalSize("maxlen")}, Results: 1,
		Elem: always(dtype.Bool),
		Shape: func(c *op.Call) (shape.Shape, error) {
			n, err := count(c, 1)
			s := c.Tensor(0).Shape()
			if err != nil || !s.HasRank() {
				return s, err
			}
			return s.Insert(s.Rank(), n), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			lengths := wide(c.Dense(0))
			s := outShape(c, 0)
			if s.Dim(-1) < 0 {
				longest := int64(0)
				for _, n := range lengths {
					longest = max(longest, n)
				}
				s = s.With(-1, int(longest))
				if err := c.Fits(dtype.Bool, s); err != nil {
					return nil, err
				}
			}
			out, mask := tensor.Make[bool](s)
			n := s.Dim(-1)
			for i, length := range lengths {
				row := mask[i*n : (i+1)*n]
				for k := range row[:max(0, min(length, int64(n)))] {
					row[k] = true
				}
			}
			return c.Result(out)
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if len(batched) > 1 && batched[1] || !c.Has(1) {
				return nil, op.NotHandled
			}
			return c.Result(SequenceMask(c.Value(0), c.Value(1)))
		},
	})
}

// SequenceMask returns a new last axis of size maxlen that is true at the positions before each
// length. maxlen is an integer or a scalar tensor; nil stands for the largest length.
//
//	lengths: int[a] → bool[a, maxlen]. No gradient.
func SequenceMask(lengths, maxlen any) tensor.Tensor {
	return op.Eval(sequenceMaskOp, lengths, maxlen)
}
