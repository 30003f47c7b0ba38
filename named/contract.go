package named

import (
	"errors"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/dimtext"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// Dot contracts two tensors over a dimension, or over the dimensions of a set: it sums the products
// of their elements along it. The result has all other dimensions of both.
//
//	{Seq, Rep} · {Rep, Kq} over Rep → {Seq, Kq}
//
// It is strict: a tensor that lacks the dimension is an error of kind ErrNotFound, and another
// dimension that both have is one of kind ErrInvalid. [Contract] treats such dimensions as batch
// dimensions; [Lift] applies a whole function over them.
//
// Gradient: the contractions of the cotangent with the other operand.
func (d Dims) Dot(a, b tenon.Value) *Tensor {
	const fn = "named.Dot"
	x, y, dims := tensorOf(fn, a), tensorOf(fn, b), d.group()
	p := x.spec.names.plan(planKey{planDot, y.spec.names, dims}, func() (any, error) {
		for _, n := range dims.ids {
			if !x.spec.names.has(n) || !y.spec.names.has(n) {
				return nil, errMissing(over(fn, dims), n, pair(x, y)...)
			}
		}
		if s := x.spec.names.both(y.spec.names).without(dims); len(s.ids) > 0 {
			return nil, errShared(over(fn, dims), s.ids[0], x, y)
		}
		return newContraction(x.spec.names, y.spec.names, dims)
	}).(*contraction)
	return p.run(fn, x, y, dims)
}

// Contract sums the products of the elements of any number of tensors over a dimension, or over the
// dimensions of a set. Dimensions that several tensors share and that are not summed over are
// matched as batch dimensions. With one tensor it is a sum.
//
//	{Batch, Seq, Rep} · {Batch, Rep, Kq} over Rep → {Batch, Seq, Kq}
//
// At least two tensors must have a dimension that is summed over; otherwise the error is of kind
// ErrNotFound. To sum over a dimension that only one tensor has, use [Sum].
//
// Three or more tensors are contracted in pairs, in an order that takes few multiplications: the
// fewest for up to 10 tensors and, for more, rarely more than a few percent above the minimum.
// [Explain] shows the order.
func (d Dims) Contract(operands ...tenon.Value) *Tensor {
	const fn = "named.Contract"
	dims := d.group()
	ts := make([]*Tensor, len(operands))
	for i, x := range operands {
		ts[i] = tensorOf(fn, x)
	}
	switch len(ts) {
	case 0:
		fail(tenon.ErrInvalid, fn, "there are no operands")
	case 1:
		return dims.of().Sum(ts[0])
	case 2:
		return contract2(fn, ts[0], ts[1], dims)
	}
	return contractAll(fn, ts, dims)
}

func (l *layout) of() Dims { return Dims{l} }

func contract2(fn string, x, y *Tensor, dims *layout) *Tensor {
	p := x.spec.names.plan(planKey{planContract, y.spec.names, dims}, func() (any, error) {
		if err := errAlone(fn, pair(x, y), dims); err != nil {
			return nil, err
		}
		return newContraction(x.spec.names, y.spec.names, dims)
	}).(*contraction)
	return p.run(fn, x, y, dims)
}

// errAlone checks that at least two operands have each name that is summed over.
func errAlone(fn string, operands []one, dims *layout) error {
	for _, n := range dims.ids {
		first, found := -1, 0
		for i, o := range operands {
			if o.t.spec.names.has(n) {
				if found++; first < 0 {
					first = i
				}
			}
		}
		switch {
		case found == 0:
			return errMissing(over(fn, dims), n, operands...)
		case found == 1 && len(operands) > 1:
			s := scopeOf(operands, n)
			msg, hint := dimtext.Alone(s.text(n), first, s.operands(operands)...)
			return worded(tenon.ErrNotFound, over(fn, dims), msg, hint)
		}
	}
	if n, twice := duplicate(dims.ids); twice {
		throwTwice(fn, n, dims)
	}
	return nil
}

// A contraction is the plan for contracting tensors of two layouts over names that both have.
type contraction struct {
	product *ops.Contraction // nil if nothing is summed over, so that it is an elementwise product
	out     *layout
	shared  []axisPair
	a, b    *layout
	dims    *layout
}

// An axisPair is the axes of two tensors with the same name.
type axisPair struct{ a, b int }

func newContraction(a, b, dims *layout) (*contraction, error) {
	c := &contraction{dims: dims, a: a, b: b}
	for i, n := range a.ids {
		if at := b.index(n); at >= 0 {
			c.shared = append(c.shared, axisPair{i, at})
		}
	}
	if len(dims.ids) == 0 {
		c.out = a.and(b)
		return c, nil
	}
	// The natural order, in which matrix products are written without transposing: the batch, then
	// the remaining dimensions of the first tensor, then those of the second.
	batch := a.both(b).without(dims)
	c.out = batch.and(a.without(b)).and(b.without(a))
	labels := func(l *layout) []int {
		out := make([]int, len(l.ids))
		for i, n := range l.ids {
			if out[i] = a.index(n); out[i] < 0 {
				out[i] = len(a.ids) + b.index(n)
			}
		}
		return out
	}
	var err error
	c.product, err = ops.NewContraction(labels(a), labels(b), labels(c.out))
	return c, err
}

// run contracts two tensors with the layouts of the contraction.
func (c *contraction) run(fn string, x, y *Tensor, dims *layout) *Tensor {
	a, b := x.data, y.data
	if d, ok := a.(*tensor.Dense); ok && c.product != nil && x.side == nil && y.side == nil {
		if e, ok := b.(*tensor.Dense); ok {
			if out := c.product.Dense(d, e); out != nil { // the sizes match
				return newTensor(out, c.out, nil)
			}
		}
	}
	c.check(fn, x, y, dims)
	if isRagged(a) || isRagged(b) {
		return c.ragged(fn, x, y)
	}
	s := sideOf2(fn, x, y)
	if c.product == nil {
		p := outerPlan(c.a, c.b)
		return newTensor(ops.Mul(p.a.apply(a), p.b.apply(b)), c.out, s)
	}
	if !handled(a) && !handled(b) {
		return newTensor(c.product.Of(a, b), c.out, s)
	}
	// Another type, such as a sparse tensor, may support matrix products but not arbitrary
	// contractions.
	if len(c.a.ids) == 2 && len(c.b.ids) == 2 {
		if m, err := tenon.Try(func() tensor.Tensor { return c.matMul(a, b) }); err == nil && m != nil {
			return newTensor(m, c.out, s)
		}
	}
	r, err := tenon.Try(func() tensor.Tensor { return c.product.Of(a, b) })
	if errors.Is(err, tenon.ErrUnsupported) {
		if m := c.matMul(a, b); m != nil {
			return newTensor(m, c.out, s)
		}
		if batch := c.a.both(c.b).without(dims); len(batch.ids) > 0 && x.size(batch.ids[0]) > 0 { // one product after the other
			d := layoutOf(batch.ids[:1]).of()
			xs, ys := d.Unstack(x), d.Unstack(y)
			parts := make([]tenon.Value, len(xs))
			for i := range xs {
				parts[i] = contract2(fn, xs[i], ys[i], dims)
			}
			return d.Stack(parts...)
		}
	}
	tenon.Throw(err)
	return newTensor(r, c.out, s)
}

func handled(x tensor.Tensor) bool {
	_, ok := x.(op.Handler)
	return ok
}

// matMul returns the product of two tensors as a matrix product: the dimensions that are kept
// become rows, and those that are summed over become columns. It returns nil if a dimension of both
// is kept, or if sizes are unknown.
func (c *contraction) matMul(a, b tensor.Tensor) tensor.Tensor {
	restA, restB := c.a.without(c.dims), c.b.without(c.dims)
	if len(c.out.ids) != len(restA.ids)+len(restB.ids) {
		return nil
	}
	if len(c.a.ids) == 2 && len(c.b.ids) == 2 && len(c.dims.ids) == 1 {
		return ops.MatMulT(a, b, c.a.index(c.dims.ids[0]) == 0, c.b.index(c.dims.ids[0]) == 1)
	}
	if !a.Shape().IsFull() || !b.Shape().IsFull() {
		return nil
	}
	var sizes []int
	matrix := func(x tensor.Tensor, l, rest *layout) tensor.Tensor {
		var perm []int
		of := func(part *layout) int {
			n := 1
			for _, d := range part.ids {
				perm = append(perm, l.index(d))
				n *= x.Shape().Dim(l.index(d))
			}
			return n
		}
		m, k := of(rest), of(c.dims)
		for _, at := range perm[:len(rest.ids)] {
			sizes = append(sizes, x.Shape().Dim(at))
		}
		return ops.Reshape(ops.Transpose(x, perm...), []int{m, k})
	}
	x, y := matrix(a, c.a, restA), matrix(b, c.b, restB)
	return ops.Reshape(ops.MatMulT(x, y, false, true), sizes)
}

// check compares the sizes of names that both tensors have.
func (c *contraction) check(fn string, x, y *Tensor, dims *layout) {
	s, t := x.data.Shape(), y.data.Shape()
	for _, p := range c.shared {
		if m, n := s.Dim(p.a), t.Dim(p.b); m != n && m >= 0 && n >= 0 {
			tenon.Throw(errSizes(over(fn, dims), x.spec.names.ids[p.a], pair(x, y)...))
		}
	}
}

func isRagged(x tensor.Tensor) bool {
	_, ok := ragged.As(x)
	return ok
}

// contractAll contracts three or more tensors in pairs.
func contractAll(fn string, ts []*Tensor, dims *layout) *Tensor {
	tenon.Throw(errAlone(fn, several(ts), dims))
	checkSizes(over(fn, dims), ts)
	p := orderFor(ts, dims)
	live := slices.Clone(ts)
	for _, s := range p.steps {
		live = append(live, contract2(fn, live[s.a], live[s.b], s.sum))
	}
	return live[len(live)-1]
}

// checkSizes checks that every name has the same size in all tensors.
func checkSizes(fn string, ts []*Tensor) {
	for i, t := range ts {
		for a, n := range t.spec.names.ids {
			for k, u := range ts[:i] {
				if at := u.spec.names.index(n); at >= 0 {
					if p, q := t.data.Shape().Dim(a), u.data.Shape().Dim(at); p != q && p >= 0 && q >= 0 {
						tenon.Throw(errSizes(fn, n, several(ts)[k], several(ts)[i]))
					}
				}
			}
		}
	}
}
