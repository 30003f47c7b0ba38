package named

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// CausalMask returns booleans over two dimensions that are true where the position of the key is
// not after that of the query: the positions that a model may look at to predict the next one.
func CausalMask(query, key Sized) *Tensor {
	t := positions2("named.CausalMask", query, key, func(q, k *Tensor) *Tensor { return Map2(ops.LessEqual, k, q) })
	return t.seeing(query, key)
}

// seen says which dimensions of a mask are those of the queries and of the keys.
type seen struct{ query, key id }

// seeing records the roles of a mask's dimensions: a softmax of scores under it must be over the
// keys.
func (t *Tensor) seeing(query, key Sized) *Tensor {
	t.side = &side{hidden: none, extra: none, seen: &seen{query.names.ids[0], key.names.ids[0]}}
	return t
}

// check returns an error for a softmax of scores under the mask that is over its
// queries.
func (s *seen) check(fn string, dims *layout, operands ...one) error {
	if s == nil || !dims.has(s.query) || dims.has(s.key) {
		return nil
	}
	l := scopeOf(operands, s.query, s.key)
	q, k := l.text(s.query), l.text(s.key)
	return newError(tenon.ErrInvalid, over(fn, dims), fmt.Sprintf("the mask says which %s each %s attends to, and their weights must add up along %s\n%s", k, q, k, lines(operands...))).
		WithHint(fmt.Sprintf("the mask takes first the queries, and then the keys: exchange its arguments, or use a softmax over %s", k))
}

// Triangle returns a tensor over two dimensions that is lower where column ≤ row + k, and upper
// elsewhere: a matrix with a lower triangle. lower and upper are Go numbers or scalars.
func Triangle(rows, columns Sized, k int, lower, upper any) *Tensor {
	return positions2("named.Triangle", rows, columns, func(r, c *Tensor) *Tensor {
		return Where(Map2(ops.LessEqual, c, Add(r, k)), Scalar(lower), Scalar(upper))
	})
}

// RelativePositions returns the position of the query minus the position of the key, as int64.
func RelativePositions(query, key Sized) *Tensor {
	return positions2("named.RelativePositions", query, key, func(q, k *Tensor) *Tensor { return Sub(q, k) })
}

// WindowMask returns booleans over two dimensions that are true where the key is at most before
// positions before the query and at most after positions after it.
func WindowMask(query, key Sized, before, after int) *Tensor {
	t := positions2("named.WindowMask", query, key, func(q, k *Tensor) *Tensor {
		d := Sub(q, k)
		return Map2(ops.LogicalAnd, Map2(ops.LessEqual, d, before), Map2(ops.GreaterEqual, d, -after))
	})
	return t.seeing(query, key)
}

// positions2 applies f to the positions along two dimensions, each repeated along the
// other.
func positions2(fn string, a, b Sized, f func(a, b *Tensor) *Tensor) *Tensor {
	l, s := sizes(fn, []Sized{a, b})
	both := []Sized{{layoutOf(l.ids[:1]), s.Dim(0)}, {layoutOf(l.ids[1:]), s.Dim(1)}}
	return f(BroadcastTo(Range(dtype.Int64, both[0]), both...), BroadcastTo(Range(dtype.Int64, both[1]), both...))
}

// Masked returns x where the mask is true, and value elsewhere. The names of the mask, which is
// boolean, must be among those of x. Scores that a softmax is to ignore get the value negative
// infinity: named.Masked(scores, mask, math.Inf(-1)).
func Masked(x, mask tenon.Value, value float64) *Tensor {
	t := tensorOf("named.Masked", x)
	out := Where(mask, t, value)
	if m, ok := asNamed(mask); ok && m != nil && m.side != nil && m.side.seen != nil {
		s := side{hidden: none, extra: none}
		if out.side != nil {
			s = *out.side
		}
		s.seen = m.side.seen
		out.side = &s
	}
	return out
}

// Dropout returns x with each element set to 0 with probability rate, and the others divided by
// 1-rate, so that the expectation is preserved (Srivastava et al., 2014). Along the dimensions in
// shared, all elements are dropped or kept together. The key determines which elements are dropped;
// they do not depend on the order in which dimensions are stored.
func Dropout(key tensor.Tensor, x tenon.Value, rate float64, shared ...Name) *Tensor {
	const fn = "named.Dropout"
	t := tensorOf(fn, x)
	if rate < 0 || rate >= 1 {
		fail(tenon.ErrInvalid, fn, "the rate is %v, want at least 0 and less than 1", rate)
	}
	d := By(shared...)
	r := d.axesOf(fn, t)
	if t.inside(d.group()) {
		return t.unpacked(Dropout(key, t.packed(), rate, shared...))
	}
	if x, ok := ragged.As(t.data); ok {
		return t.dropoutRows(fn, key, x, rate, d)
	}
	l := canonical(r.rest)
	drawn := t.ordered(l.and(d.group()))
	var s any = ops.Slice(ops.Shape(drawn.data), []int{0}, []int{len(l.ids)})
	if known := drawn.data.Shape(); known.IsFull() {
		s = known.Dims()[:len(l.ids)]
	}
	kept := newTensor(ops.RandomBernoulli(key, s, 1-rate), l, t.own())
	return Div(Where(kept, t, 0), 1-rate)
}

// dropoutRows is Dropout of a ragged tensor along whose rows elements are dropped
// or kept together.
func (t *Tensor) dropoutRows(fn string, key tensor.Tensor, x *ragged.Tensor, rate float64, d Dims) *Tensor {
	outer := t.outer()
	first := layoutOf(outer.ids[:1])
	if !equalNames(outer.both(d.group()), outer.without(first)) {
		tenon.Throw(newError(tenon.ErrUnsupported, fn, "the elements along {"+d.String()+"} cannot be dropped together in rows of different lengths\n"+t.line("tensor")).
			WithHint("share all of {" + outer.without(first).String() + "}, or none of {" + outer.String() + "}"))
	}
	flat := t.packed()
	inner := canonical(flat.spec.names.without(d.group()).without(layoutOf([]id{packedID})))
	sizes := []tensor.Tensor{ops.Reshape(ops.Cast(x.NRows(), dtype.Int64), []int{1})}
	s := ops.Shape(flat.ordered(layoutOf([]id{packedID}).and(inner).and(flat.spec.names)).data)
	sizes = append(sizes, ops.Slice(ops.Cast(s, dtype.Int64), []int{1}, []int{len(inner.ids)}))
	kept := newTensor(ops.RandomBernoulli(key, ops.Concat(sizes, 0), 1-rate), first.and(inner), t.own())
	return Div(Where(kept, t, 0), 1-rate)
}
