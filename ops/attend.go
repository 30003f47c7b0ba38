package ops

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/attention"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// attend is what a contraction of queries and keys, a softmax over the keys and a
// contraction with values come to, for operands whose axes have labels as those of
// [Contract]: Σ_m softmax_m(scale·Σ_d q·k)·v. Graphs get it from a pass, so that scores stay in
// the cache, and [Attention] without a mask has its kernel and gradient. Besides labels that all four have, the batch, there is one each of queries n
// (in q and the result), keys m (in k and v), d (in q and k) and e (in v and the result).
//
// attend_grad is its gradient, of q, k and v.
var attendGradOp *op.Op

func init() {
	operands := []op.Param{{Name: "q", Group: 1}, {Name: "k", Group: 1}, {Name: "v", Group: 1}}
	labels := []op.Param{
		{Name: "q_labels", Kind: op.Attr, Type: op.IntsType}, {Name: "k_labels", Kind: op.Attr, Type: op.IntsType},
		{Name: "v_labels", Kind: op.Attr, Type: op.IntsType}, {Name: "out_labels", Kind: op.Attr, Type: op.IntsType},
		{Name: "scale", Kind: op.Attr, Type: op.FloatType, Default: 1.0}, {Name: "causal", Kind: op.Attr, Type: op.BoolType, Default: false},
	}
	op.Register(&op.Op{
		Name: "attend", Statement: op.Statement{Axes: op.Contract, Missing: op.Refuse, Zero: op.Zero{Linear: []op.Operands{three}}}, GoName: "ops.Attention", Doc: "values weighted with the softmax of contractions of queries and keys", Results: 1,
		Params: slices.Concat(operands, labels),
		Shape: func(c *op.Call) (shape.Shape, error) {
			r, err := attendRoles(c, 3)
			if err != nil {
				return shape.Shape{}, err
			}
			return r.shape(c.Ints(6)), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			r, err := attendRoles(c, 3)
			if err != nil {
				return nil, err
			}
			return c.Result(r.forward(c.Dense(0), c.Dense(1), c.Dense(2)))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			return op.EvalN(attendGradOp, c.Value(0), c.Value(1), c.Value(2), ct[0], c.Ints(3), c.Ints(4), c.Ints(5), c.Ints(6), c.Float(7), c.Bool(8))
		},
		Batch: batchAttend,
	})
	attendGradOp = op.Register(&op.Op{
		Name: "attend_grad", Statement: op.Statement{Axes: op.Contract, Missing: op.Refuse, Zero: op.Zero{Linear: []op.Operands{four}}}, GoName: "ops.Attention", Doc: "gradients of queries, keys and values", Results: 3,
		Params: slices.Concat(operands, []op.Param{{Name: "ct", Group: 1}}, labels),
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			r, err := attendRoles(c, 4)
			if err != nil {
				return nil, err
			}
			if s, want := c.Tensor(3).Shape(), r.shape(c.Ints(7)); !s.CompatibleWith(want) {
				return nil, c.Errorf(tenon.ErrShape, "the cotangent has shape %v, the result %v", s, want)
			}
			return []tenon.Spec{c.Tensor(0).Spec(), c.Tensor(1).Spec(), c.Tensor(2).Spec()}, nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			r, err := attendRoles(c, 4)
			if err != nil {
				return nil, err
			}
			return r.backward(c), nil
		},
		VJP:   vjpAttendGrad,
		Batch: batchAttend,
	})
}

// roles are the labels of attend, what they are for, the sizes of their axes, and which keys
// a query sees.
type roles struct {
	labels     [4][]int // of q, k, v and the result
	n, m, d, e int
	batch      []int
	size       map[int]int
	scale      float64
	causal     bool
}

// attendRoles finds out which label is what; at is the first argument with labels.
func attendRoles(c *op.Call, at int) (*roles, error) {
	if d := c.Tensor(0).DType(); d != dtype.Float32 {
		return nil, c.Errorf(tenon.ErrDType, "the element type is %v, want float32", d)
	}
	return rolesOf(c, [4][]int{c.Ints(at), c.Ints(at + 1), c.Ints(at + 2), c.Ints(at + 3)}, c.Float(at+4), c.Bool(at+5))
}

// rolesOf is attendRoles for given labels of the first three operands of a call.
func rolesOf(c *op.Call, lists [4][]int, scale float64, causal bool) (*roles, error) {
	r := &roles{labels: lists, n: -1, m: -1, d: -1, e: -1, size: map[int]int{}, scale: scale, causal: causal}
	in := map[int]int{}
	for i, list := range lists {
		for k, l := range list {
			if in[l]>>i&1 != 0 || l < 0 {
				return nil, c.Errorf(tenon.ErrInvalid, "labels %v", list)
			}
			in[l] |= 1 << i
			if i == 3 {
				continue
			}
			s := c.Tensor(i).Shape()
			if !s.IsFull() || s.Rank() != len(list) {
				return nil, c.Errorf(tenon.ErrShape, "%s has the shape %v, its labels are %v", c.Op.Params[i].Name, s, list)
			}
			if old, ok := r.size[l]; ok && old != s.Dim(k) {
				return nil, c.Errorf(tenon.ErrShape, "label %d has the sizes %d and %d", l, old, s.Dim(k))
			}
			r.size[l] = s.Dim(k)
		}
	}
	role := map[int]*int{0b1001: &r.n, 0b0110: &r.m, 0b0011: &r.d, 0b1100: &r.e}
	for _, list := range lists {
		for _, l := range list {
			which, ok := role[in[l]]
			switch {
			case in[l] == 0b1111:
				if !slices.Contains(r.batch, l) {
					r.batch = append(r.batch, l)
				}
			case !ok || *which >= 0 && *which != l:
				return nil, c.Errorf(tenon.ErrInvalid, "label %d has no place in %v", l, lists)
			default:
				*which = l
			}
		}
	}
	if min(r.n, r.m, r.d, r.e) < 0 {
		return nil, c.Errorf(tenon.ErrInvalid, "labels %v are not those of queries, keys, values and their result", lists)
	}
	return r, nil
}

func (r *roles) shape(labels []int) shape.Shape {
	dims := make([]int, len(labels))
	for i, l := range labels {
		dims[i] = r.size[l]
	}
	return shape.Of(dims...)
}

// rowsLast returns the labels in an order in which matrices have consecutive rows.
func rowsLast(labels []int, row, col int) []int {
	if labels[len(labels)-1] == col {
		return labels
	}
	var out []int
	for _, l := range labels {
		if l != row && l != col {
			out = append(out, l)
		}
	}
	return append(out, row, col)
}

// An attended is an operand or result as the kernel sees it.
type attended struct {
	d      *tensor.Dense
	labels []int
	steps  map[int]int // by label
}

func (r *roles) attended(d *tensor.Dense, labels []int) attended {
	a := attended{d, labels, map[int]int{}}
	step := 1
	for i := len(labels) - 1; i >= 0; i-- {
		a.steps[labels[i]] = step
		step *= r.size[labels[i]]
	}
	return a
}

// in returns an operand, copied if its rows are not consecutive.
func (r *roles) in(d *tensor.Dense, labels []int, row, col int) attended {
	order := rowsLast(labels, row, col)
	x := arranged(d, labels, order)
	if !x.IsContiguous() {
		x = tensor.Contiguous(x)
	}
	return r.attended(x, order)
}

// out returns room for a result with certain labels.
func (r *roles) out(labels []int, row, col int) attended {
	order := rowsLast(labels, row, col)
	return r.attended(tensor.Uninit(dtype.Float32, r.shape(order)), order)
}

// params describes the kernel's work.
func (r *roles) params(q, k, v, out attended) (p attention.Params[float32], batch []attention.Batch) {
	e := tensor.Elems[float32]
	p = attention.Params[float32]{
		Queries: r.size[r.n], Keys: r.size[r.m], Depth: r.size[r.d], Width: r.size[r.e],
		Q: e(q.d), K: e(k.d), V: e(v.d), Out: e(out.d),
		QRow: q.steps[r.n], KRow: k.steps[r.m], VRow: v.steps[r.m], OutRow: out.steps[r.n],
		Scale: float32(r.scale), Causal: r.causal,
	}
	heads := 1
	for i := len(r.batch) - 1; i >= 0; i-- {
		l := r.batch[i]
		batch = append(batch, attention.Batch{Size: r.size[l], Q: q.steps[l], K: k.steps[l], V: v.steps[l], Out: out.steps[l], LogSum: heads * p.Queries})
		heads *= r.size[l]
	}
	slices.Reverse(batch)
	return p, batch
}

func (r *roles) forward(queries, keys, values *tensor.Dense) *tensor.Dense {
	l := r.labels
	q, k, v := r.in(queries, l[0], r.n, r.d), r.in(keys, l[1], r.m, r.d), r.in(values, l[2], r.m, r.e)
	out := r.out(l[3], r.n, r.e)
	if out.d.Len() > 0 {
		p, batch := r.params(q, k, v, out)
		attention.Forward(p, batch...)
	}
	return arranged(out.d, out.labels, l[3])
}

func (r *roles) backward(c *op.Call) []tensor.Tensor {
	labels := r.labels
	q, k, v := r.in(c.Dense(0), labels[0], r.n, r.d), r.in(c.Dense(1), labels[1], r.m, r.d), r.in(c.Dense(2), labels[2], r.m, r.e)
	ct := r.in(c.Dense(3), labels[3], r.n, r.e)
	dq, dk, dv := r.out(labels[0], r.n, r.d), r.out(labels[1], r.m, r.d), r.out(labels[2], r.m, r.e)
	p, batch := r.params(q, k, v, ct)
	if attention.NeedsForward[float32](p.Keys) {
		p.Out, p.LogSum = make([]float32, len(p.Out)), make([]float32, ct.d.Len()/max(1, p.Width))
		attention.Forward(p, batch...)
	}
	e := tensor.Elems[float32]
	attention.Backward(p, attention.Gradients[float32]{DOut: e(ct.d), DQ: e(dq.d), DK: e(dk.d), DV: e(dv.d)}, batch...)
	return []tensor.Tensor{
		arranged(dq.d, dq.labels, labels[0]), arranged(dk.d, dk.labels, labels[1]), arranged(dv.d, dv.labels, labels[2]),
	}
}

// batchAttend puts a further label of the batch in front of all operands.
func batchAttend(c *op.Call, batched []bool) ([]tensor.Tensor, error) {
	operands := len(c.Values())
	args, fresh := make([]any, len(c.Args)), 0
	for i, x := range allInFront(c.Values(), batched) {
		args[i] = x
	}
	for i := operands; i < operands+4; i++ {
		for _, l := range c.Ints(i) {
			fresh = max(fresh, l+1)
		}
	}
	for i := operands; i < len(args); i++ {
		if args[i] = c.Args[i]; i < operands+4 {
			args[i] = append([]int{fresh}, c.Ints(i)...)
		}
	}
	return op.EvalN(c.Op, args...), nil
}

// vjpAttendGrad is the gradient of attend_grad, of operations that have gradients
// themselves. With s = scale·q·k, p its softmax, dp = ct·v and ds = p·(dp - Σ p·dp), the results
// are scale·ds·k, scale·ds·q and p·ct.
func vjpAttendGrad(c *op.Call, _, u []tensor.Tensor) []tensor.Tensor {
	ql, kl, vl, ol := c.Ints(4), c.Ints(5), c.Ints(6), c.Ints(7)
	r, err := attendRoles(c, 4)
	if err != nil {
		tenon.Throw(err)
	}
	sl := append(append([]int{}, r.batch...), r.n, r.m)
	scaled := func(x tensor.Tensor) tensor.Tensor {
		if scale := c.Float(8); scale != 1 {
			return Mul(x, scale)
		}
		return x
	}
	q, k, v, g := scaled(c.Tensor(0)), c.Tensor(1), c.Tensor(2), c.Tensor(3)
	u0 := scaled(u[0])
	p := Contract(q, k, ql, kl, sl)
	if r.causal {
		p = seenWeights(p, keysSeen(r.size[r.n], r.size[r.m]))
	} else {
		p = Softmax(p, -1)
	}
	dp := Contract(g, v, ol, vl, sl)
	ds := op.Eval(softmaxGradOp, p, dp, -1)
	w := Add(Contract(u0, k, ql, kl, sl), Contract(q, u[1], ql, kl, sl)) // the cotangent of ds
	gp := Add(Contract(g, u[2], ol, vl, sl),
		Sub(Mul(w, Sub(dp, SumKeep(Mul(p, dp), -1))), Mul(dp, SumKeep(Mul(p, w), -1))))
	gs, gdp := op.Eval(softmaxGradOp, p, gp, -1), op.Eval(softmaxGradOp, p, w, -1)
	return []tensor.Tensor{
		scaled(Add(Contract(ds, u[1], sl, kl, ql), Contract(gs, k, sl, kl, ql))),
		Add(Contract(ds, u0, sl, ql, kl), Contract(gs, q, sl, ql, kl)),
		Contract(gdp, g, sl, ol, vl),
		Add(Contract(p, u[2], sl, vl, ol), Contract(gdp, v, sl, vl, ol)),
	}
}
