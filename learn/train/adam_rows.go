package train

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/kernel/fused"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// fewRows reports whether g, the gradient of p, is traced as a sum of looked-up rows, and
// returns these rows, [n, width…], and the n ids that they belong to. The dense gradient of the
// table, which is mostly 0, then need not be computed.
func fewRows(p, g tensor.Tensor) (values, ids tensor.Tensor, ok bool) {
	v, ok := g.(*graph.Value)
	if !ok || v.Node() == nil || v.Node().Op.Name != "segment_sum" || !p.Shape().IsFull() || p.Shape().Rank() < 1 {
		return nil, nil, false
	}
	c := &op.Call{Op: v.Node().Op, Args: v.Node().Args}
	values, ids = c.Tensor(0), c.Tensor(1)
	ok = v.Shape().Equal(p.Shape()) && values.DType() == p.DType() && ids.DType() == dtype.Int64 && ids.Shape().Rank() == 1
	return values, ids, ok
}

// adamRowsOp does a step of Adam with a gradient that is a sum of rows.
var adamRowsOp = op.Register(&op.Op{
	Name: "train.adam_rows", Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "several tensors are updated together, at rows that another one tells"}, Doc: "A step of Adam with a gradient that is a sum of rows: parameter and moments.", Results: 3, Nondifferentiable: true,
	Params: []op.Param{
		{Name: "p"}, {Name: "values"}, {Name: "ids"}, {Name: "m"}, {Name: "v"}, {Name: "t"}, {Name: "rate"},
		{Name: "beta1", Kind: op.Attr, Type: op.FloatType}, {Name: "beta2", Kind: op.Attr, Type: op.FloatType},
		{Name: "epsilon", Kind: op.Attr, Type: op.FloatType}, {Name: "decay", Kind: op.Attr, Type: op.FloatType},
	},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		p, values, ids := c.Tensor(0), c.Tensor(1).Shape(), c.Tensor(2).Shape()
		out, err := likeParameter(c, []int{3, 4}, []int{5, 6})
		if err != nil {
			return nil, err
		}
		if d := c.Tensor(1).DType(); d != p.DType() {
			return nil, c.Errorf(tenon.ErrDType, "values have the element type %v, the parameter %v", d, p.DType())
		}
		if c.Tensor(2).DType() != dtype.Int64 {
			return nil, c.Errorf(tenon.ErrDType, "ids have the element type %v, want int64", c.Tensor(2).DType())
		}
		if s := p.Shape(); s.HasRank() && (s.Rank() == 0 || values.HasRank() && ids.HasRank() && !values.CompatibleWith(shape.Concat(ids, s.Tail(1)))) {
			return nil, c.Errorf(tenon.ErrShape, "values of shape %v and ids of shape %v are not rows of a parameter of shape %v", values, ids, s)
		}
		return out, nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		if c.Dense(0).DType().Size() == 4 {
			return adamRows[float32](c)
		}
		return adamRows[float64](c)
	},
})

func adamRows[T float32 | float64](c *op.Call) ([]tensor.Tensor, error) {
	p, values, ids := c.Dense(0), c.Dense(1), tensor.Elems[int64](c.Dense(2))
	s, d := p.Shape(), p.DType()
	if err := haveShape(c, 3, 4); err != nil {
		return nil, err
	}
	if want := shape.Concat(shape.Of(len(ids)), s.Tail(1)); !values.Shape().Equal(want) {
		return nil, c.Errorf(tenon.ErrShape, "values have the shape %v, want %v", values.Shape(), want)
	}
	rows := s.Dim(0)
	if err := segment.CheckIDs(ids, int64(rows)); err != nil {
		return nil, c.Fail(tenon.NewError(tenon.ErrInvalid, "", err.Error()))
	}
	p1, m1, v1 := tensor.Uninit(d, s), tensor.Uninit(d, s), tensor.Uninit(d, s)
	e, step := tensor.Elems[T], adamStep[T](c, 5)
	if p.Len() == 0 {
		return []tensor.Tensor{p1, m1, v1}, nil
	}
	width := p.Len() / rows
	if len(ids) > rows {
		// With so many items per row, SumByID is more accurate than adding them one by one.
		g := make([]T, p.Len())
		if err := segment.SumByID(g, e(values), ids, width); err != nil {
			return nil, c.Fail(err)
		}
		fused.Adam(e(p1), e(m1), e(v1), e(p), e(c.Dense(3)), e(c.Dense(4)), g, step)
		return []tensor.Tensor{p1, m1, v1}, nil
	}
	fused.AdamRows(e(p1), e(m1), e(v1), e(p), e(c.Dense(3)), e(c.Dense(4)), e(values), ids, width, step)
	return []tensor.Tensor{p1, m1, v1}, nil
}
