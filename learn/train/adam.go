package train

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/fused"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// AdamOptions are the options of [Adam] and [AdamW]. The zero value is the default.
type AdamOptions struct {
	Beta1, Beta2 float64 // 0 stands for 0.9 and 0.999
	Epsilon      float64 // 0 stands for 1e-8
	WeightDecay  float64 // of Adam: λp is added to the gradient; of AdamW: ηλp is subtracted from p, and 0 stands for 0.01

	// AMSGrad uses the largest v so far in place of v (S. Reddi et al., ICLR 2018).
	AMSGrad bool

	// Sparse updates only the rows of a parameter, slices along its first axis, that have a
	// nonzero gradient. The other rows and their moments do not change. It suits a table of
	// which a step reads few rows.
	Sparse bool
}

// Adam is adaptive moment estimation:
//
//	m ← β₁ m + (1−β₁) g;  v ← β₂ v + (1−β₂) g²
//	p ← p − η m̂/(√v̂ + ε),   m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ)
//
// A step reads and writes memory once. D. Kingma and J. Ba, "Adam", ICLR 2015.
func Adam[R Rate](rate R, o ...AdamOptions) Optimizer {
	a := adam{scheduled: at(rate), AdamOptions: option(o)}
	a.l2, a.WeightDecay = a.WeightDecay, 0
	return a
}

// AdamW is [Adam] with decoupled weight decay. I. Loshchilov and F. Hutter, "Decoupled weight
// decay regularization", ICLR 2019.
func AdamW[R Rate](rate R, o ...AdamOptions) Optimizer {
	a := adam{scheduled: at(rate), AdamOptions: option(o)}
	a.WeightDecay = orDefault(a.WeightDecay, 0.01)
	return a
}

type adam struct {
	scheduled
	AdamOptions
	l2 float64 // coupled decay; WeightDecay is the decoupled one
}

// WithoutDecay returns the optimizer with no weight decay.
func (o adam) WithoutDecay() Optimizer {
	o.WeightDecay, o.l2 = 0, 0
	return o
}

// Slots returns the two moments and, for AMSGrad, the largest second one.
func (o adam) Slots(p tensor.Tensor) []tensor.Tensor {
	if o.AMSGrad {
		return []tensor.Tensor{zeros(p), zeros(p), zeros(p)}
	}
	return []tensor.Tensor{zeros(p), zeros(p)}
}

func (o adam) betas() (beta1, beta2, epsilon float64) {
	return orDefault(o.Beta1, 0.9), orDefault(o.Beta2, 0.999), orDefault(o.Epsilon, 1e-8)
}

// Update does one step.
func (o adam) Update(p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	if d := p.DType(); d.Size() < 4 || !d.IsFloat() || o.AMSGrad || o.l2 != 0 {
		return o.composed(p, g, slots, t, rate)
	}
	b1, b2, eps := o.betas()
	if !o.Sparse {
		if values, ids, ok := fewRows(p, g); ok {
			out := op.EvalN(adamRowsOp, p, values, ids, slots[0], slots[1], t, rate, b1, b2, eps, o.WeightDecay)
			return out[0], []tensor.Tensor{out[1], out[2]}
		}
	}
	out := op.EvalN(adamOp, p, g, slots[0], slots[1], t, rate, b1, b2, eps, o.WeightDecay, o.Sparse)
	return out[0], []tensor.Tensor{out[1], out[2]}
}

// composed is the step as a formula of operations.
func (o adam) composed(p, g tensor.Tensor, slots []tensor.Tensor, t, rate tensor.Tensor) (tensor.Tensor, []tensor.Tensor) {
	b1, b2, eps := o.betas()
	d := decayed(g, p, o.l2)
	m, v := mixed(slots[0], d, b1), mixed(slots[1], ops.Mul(d, d), b2)
	after := []tensor.Tensor{m, v}
	if o.AMSGrad {
		v = ops.Maximum(slots[2], v)
		after = append(after, v)
	}
	next := ops.Sub(p, ops.Mul(rate, ops.Div(corrected(m, b1, t), ops.Add(ops.Sqrt(corrected(v, b2, t)), eps))))
	if o.WeightDecay != 0 {
		next = ops.Sub(next, ops.Mul(p, scaled(rate, o.WeightDecay)))
	}
	if o.Sparse {
		return onlyTouched(g, p, next, slots, after)
	}
	return next, after
}

// adamOp does a step of Adam in one pass over memory.
var adamOp = op.Register(&op.Op{
	Name: "train.adam", Statement: op.Statement{Axes: op.Map, Missing: op.Refuse}, GoName: "train.Adam", Doc: "A step of Adam: parameter and moments.", Results: 3, Nondifferentiable: true,
	Params: []op.Param{
		{Name: "p"}, {Name: "g"}, {Name: "m"}, {Name: "v"}, {Name: "t"}, {Name: "rate"},
		{Name: "beta1", Kind: op.Attr, Type: op.FloatType}, {Name: "beta2", Kind: op.Attr, Type: op.FloatType},
		{Name: "epsilon", Kind: op.Attr, Type: op.FloatType}, {Name: "decay", Kind: op.Attr, Type: op.FloatType},
		{Name: "sparse", Kind: op.Attr, Type: op.BoolType},
	},
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		return likeParameter(c, []int{1, 2, 3}, []int{4, 5})
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		if c.Dense(0).DType().Size() == 4 {
			return adamKernel[float32](c)
		}
		return adamKernel[float64](c)
	},
})

// likeParameter returns the Specs of a step's results, all of which are the parameter's. It
// checks that some arguments have the parameter's Spec, and that others are scalars of its
// type.
func likeParameter(c *op.Call, like, scalars []int) ([]tenon.Spec, error) {
	p := c.Tensor(0)
	for _, i := range slices.Concat(like, scalars) {
		x := c.Tensor(i)
		if x.DType() != p.DType() {
			return nil, c.Errorf(tenon.ErrDType, "%s has the element type %v, the parameter %v", c.Op.Params[i].Name, x.DType(), p.DType())
		}
		if s := x.Shape(); slices.Contains(like, i) && !s.CompatibleWith(p.Shape()) || slices.Contains(scalars, i) && s.HasRank() && s.Rank() != 0 {
			return nil, c.Errorf(tenon.ErrShape, "%s has the shape %v, the parameter %v", c.Op.Params[i].Name, s, p.Shape())
		}
	}
	return []tenon.Spec{p.Spec(), p.Spec(), p.Spec()}, nil
}

// haveShape checks, when a step runs, that some arguments have the parameter's shape.
func haveShape(c *op.Call, args ...int) error {
	s := c.Dense(0).Shape()
	for _, i := range args {
		if x := c.Dense(i).Shape(); !x.Equal(s) {
			return c.Errorf(tenon.ErrShape, "%s has the shape %v, the parameter %v", c.Op.Params[i].Name, x, s)
		}
	}
	return nil
}

func adamKernel[T float32 | float64](c *op.Call) ([]tensor.Tensor, error) {
	s, d := c.Dense(0).Shape(), c.Dense(0).DType()
	if err := haveShape(c, 1, 2, 3); err != nil {
		return nil, err
	}
	p1, m1, v1 := tensor.Uninit(d, s), tensor.Uninit(d, s), tensor.Uninit(d, s)
	e := tensor.Elems[T]
	step := adamStep[T](c, 4)
	dst := [3][]T{e(p1), e(m1), e(v1)}
	p, g, m, v := e(c.Dense(0)), e(c.Dense(1)), e(c.Dense(2)), e(c.Dense(3))
	if !c.Bool(10) || s.Rank() == 0 || s.Dim(0) == 0 {
		fused.Adam(dst[0], dst[1], dst[2], p, m, v, g, step)
		return []tensor.Tensor{p1, m1, v1}, nil
	}
	width := len(p) / s.Dim(0)
	eachRun(g, width, func(lo, hi int, touched bool) {
		if touched {
			fused.Adam(dst[0][lo:hi], dst[1][lo:hi], dst[2][lo:hi], p[lo:hi], m[lo:hi], v[lo:hi], g[lo:hi], step)
			return
		}
		copy(dst[0][lo:hi], p[lo:hi])
		copy(dst[1][lo:hi], m[lo:hi])
		copy(dst[2][lo:hi], v[lo:hi])
	})
	return []tensor.Tensor{p1, m1, v1}, nil
}

// adamStep returns the scalars of a step; t is argument at.
func adamStep[T float32 | float64](c *op.Call, at int) fused.AdamStep {
	t, rate := int(tensor.Elems[T](c.Dense(at))[0]), float64(tensor.Elems[T](c.Dense(at + 1))[0])
	return fused.AdamStep{
		Rate: rate, Beta1: c.Float(at + 2), Beta2: c.Float(at + 3), Epsilon: c.Float(at + 4), Step: t, WeightDecay: c.Float(at + 5),
	}
}

// eachRun calls f for each run of consecutive rows whose gradients are all 0, or all nonzero.
func eachRun[T float32 | float64](g []T, width int, f func(lo, hi int, touched bool)) {
	touched := func(lo int) bool {
		for _, x := range g[lo : lo+width] {
			if x != 0 {
				return true
			}
		}
		return false
	}
	if width == 0 {
		return
	}
	for lo := 0; lo < len(g); {
		is := touched(lo)
		hi := lo + width
		for hi < len(g) && touched(hi) == is {
			hi += width
		}
		f(lo, hi, is)
		lo = hi
	}
}
