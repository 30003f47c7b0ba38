package batching

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// sameRowsOp returns its first operand after checking that it has as many rows as another operand,
// minus a number: row splits have one entry more than there are rows.
var sameRowsOp *op.Op

func init() {
	sameRowsOp = op.Register(&op.Op{
		Name: "control.same_rows", Statement: op.Statement{Axes: op.Map, Checks: true, Moves: op.First, Control: op.Second, Zero: op.Zero{Keeps: true, Linear: []op.Operands{op.First}}}, Doc: "A batch, once it is known to have as many rows as another one.",
		Params: []op.Param{
			{Name: "x"}, {Name: "of"},
			{Name: "less", Kind: op.Attr, Type: op.IntType, Default: 0},
		},
		Results: 1, Strided: true,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			x := c.Tensor(0)
			s, m := x.Shape(), rowsOfShape(c.Tensor(1).Shape(), c.Int(2))
			if n := rowsOfShape(s, 0); n >= 0 && m >= 0 && n != m {
				return nil, c.Errorf(tenon.ErrShape, "arguments have %d and %d rows", m, n)
			}
			if m >= 0 && s.HasRank() && s.Rank() > 0 {
				s = s.Remove(0).Insert(0, m)
			}
			return []tenon.Spec{tensor.NewSpec(x.DType(), s)}, nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			n, m := rowsOfShape(c.Tensor(0).Shape(), 0), rowsOfShape(c.Tensor(1).Shape(), c.Int(2))
			if n != m {
				return nil, c.Errorf(tenon.ErrShape, "arguments have %d and %d rows", m, n)
			}
			return []tensor.Tensor{c.Tensor(0)}, nil
		},
		VJP: func(_ *op.Call, _, ct []tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{ct[0], nil} },
		// Rows of rows: their numbers are compared where they are combined.
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
			if !batched[0] {
				return nil, op.NotHandled
			}
			return []tensor.Tensor{c.Tensor(0)}, nil
		},
	})
}

func rowsOfShape(s shape.Shape, less int) int {
	if !s.HasRank() || s.Rank() == 0 || s.Dim(0) < 0 {
		return shape.Unknown
	}
	return s.Dim(0) - less
}

// alike returns a tensor of rows after checking that it has as many as the first one. Known numbers
// have been compared already.
func (t *tracer) alike(x tensor.Tensor) tensor.Tensor {
	n := rowsOfShape(x.Shape(), 0)
	switch {
	case !tenon.IsLeaf(x.Spec()):
		if r, ok := x.(splitter); ok && t.first == nil && n < 0 {
			t.first, t.less = r.RowSplits(), 1
		}
	case t.first == nil:
		t.first = x
	case n < 0 || rowsOfShape(t.first.Shape(), t.less) < 0:
		return op.Eval(sameRowsOp, x, t.first, t.less)
	}
	return x
}

// splitter is a batch whose rows differ in length.
type splitter interface{ RowSplits() tensor.Tensor }
