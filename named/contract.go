package named

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// Dot contracts two tensors over a dimension, or the dimensions of a set: it sums
// the products of their elements along it. The result has all other dimensions of both.
//
//	{Seq, Rep} · {Rep, Kq} over Rep → {Seq, Kq}
//
// It is strict: a tensor that lacks the dimension is an error of kind ErrNotFound, and
// another dimension that both have is one of kind ErrInvalid. [Contract] takes such
// dimensions as a batch; [Lift] takes a whole function over them.
//
// Gradient: the contractions of the cotangent with the other operand.
func Dot[N Is[N]](a, b tenon.Value) *Tensor { return Dims{groupOf[N]()}.Dot(a, b) }

// Dot is the function [Dot] for the names of the list.
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

// Contract sums the products of the elements of any number of tensors over a dimension,
// or the dimensions of a set. Dimensions that several tensors share and that are not
// summed over run together, as a batch. With one tensor it is a sum.
//
//	{Batch, Seq, Rep} · {Batch, Rep, Kq} over Rep → {Batch, Seq, Kq}
//
// Three or more tensors are contracted in pairs, in the order that takes the fewest
// multiplications; [Explain] shows it. A dimension that no tensor has is an error of
// kind ErrNotFound.
func Contract[N Is[N]](operands ...tenon.Value) *Tensor {
	return Dims{groupOf[N]()}.Contract(operands...)
}

// Contract is the function [Contract] for the names of the list, of which there may be none.
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
		for _, n := range dims.ids {
			if !x.spec.names.has(n) && !y.spec.names.has(n) {
				return nil, errMissing(over(fn, dims), n, pair(x, y)...)
			}
		}
		if n, twice := duplicate(dims.ids); twice {
			throwTwice(fn, n, dims)
		}
		return newContraction(x.spec.names, y.spec.names, dims)
	}).(*contraction)
	return p.run(fn, x, y, dims)
}

// A contraction is what contracting tensors of two layouts over certain names comes
// to.
type contraction struct {
	sumA, sumB []int            // axes that only one tensor has and that are summed over first
	product    *ops.Contraction // nil where no axis is left to sum over: then it is an elementwise product
	out        *layout
	shared     []axisPair
	a, b       *layout // without the axes that are summed over first
	dims       *layout
}

// An axisPair is an axis of each tensor with the same name.
type axisPair struct{ a, b int }

func newContraction(a, b, dims *layout) (*contraction, error) {
	c := &contraction{dims: dims}
	for i, n := range a.ids {
		if at := b.index(n); at >= 0 {
			c.shared = append(c.shared, axisPair{i, at})
		} else if dims.has(n) {
			c.sumA = append(c.sumA, i)
		}
	}
	for i, n := range b.ids {
		if dims.has(n) && !a.has(n) {
			c.sumB = append(c.sumB, i)
		}
	}
	c.a, c.b = a.filter(func(n id) bool { return !dims.has(n) || b.has(n) }), b.filter(func(n id) bool { return !dims.has(n) || a.has(n) })
	if len(c.a.both(c.b).both(dims).ids) == 0 {
		c.out = c.a.and(c.b)
		return c, nil
	}
	// The natural order, which matrix products write without transposing: the batch,
	// then what is left of the first tensor, then of the second.
	batch := c.a.both(c.b).without(dims)
	c.out = batch.and(c.a.without(c.b)).and(c.b.without(c.a))
	labels := func(l *layout) []int {
		out := make([]int, len(l.ids))
		for i, n := range l.ids {
			if out[i] = c.a.index(n); out[i] < 0 {
				out[i] = len(c.a.ids) + c.b.index(n)
			}
		}
		return out
	}
	var err error
	c.product, err = ops.NewContraction(labels(c.a), labels(c.b), labels(c.out))
	return c, err
}

// run contracts two tensors of the layouts that the contraction is for.
func (c *contraction) run(fn string, x, y *Tensor, dims *layout) *Tensor {
	a, b := x.data, y.data
	if d, ok := a.(*tensor.Dense); ok && c.product != nil && c.sumA == nil && c.sumB == nil && x.side == nil && y.side == nil {
		if e, ok := b.(*tensor.Dense); ok {
			if out := c.product.Dense(d, e); out != nil { // sizes fit
				return newTensor(out, c.out, nil)
			}
		}
	}
	c.check(fn, x, y, dims)
	if isRagged(a) || isRagged(b) {
		return c.ragged(fn, x, y)
	}
	s := sideOf2(fn, x, y)
	if c.sumA != nil {
		a = ops.Sum(a, c.sumA...)
	}
	if c.sumB != nil {
		b = ops.Sum(b, c.sumB...)
	}
	if c.product == nil {
		p := outerPlan(c.a, c.b)
		return newTensor(ops.Mul(p.a.apply(a), p.b.apply(b)), c.out, s)
	}
	return newTensor(c.product.Of(a, b), c.out, s)
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
	_, ok := x.(*ragged.Tensor)
	return ok
}

// contractAll contracts three tensors or more in pairs.
func contractAll(fn string, ts []*Tensor, dims *layout) *Tensor {
	for _, n := range dims.ids {
		if !slices.ContainsFunc(ts, func(t *Tensor) bool { return t.spec.names.has(n) }) {
			throwMissing(over(fn, dims), n, several(ts)...)
		}
	}
	if n, twice := duplicate(dims.ids); twice {
		throwTwice(fn, n, dims)
	}
	checkSizes(over(fn, dims), ts)
	p := orderFor(ts, dims)
	live := slices.Clone(ts)
	for _, s := range p.steps {
		live = append(live, contract2(fn, live[s.a], live[s.b], s.sum))
	}
	return live[len(live)-1]
}

// checkSizes checks that every name has one size in all tensors.
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
