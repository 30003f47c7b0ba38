package named

import (
	"fmt"
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// AttentionOptions say which keys a query sees, and how scores are scaled.
type AttentionOptions struct {
	Scale  float64 // factor of the scores; 0 stands for 1/√size of the contracted dimension
	Causal bool    // query i sees keys up to i, counted from the last query and key
	Mask   *Tensor // true where a query sees a key; its dimensions are among those of the scores
}

// Attention returns the softmax over Key of the scaled contraction of queries and keys
// over Rep, contracted with the values over Key: for each query the mean of the values
// that its keys have, weighted by how well they match.
//
//	query {Batch, Seq, Rep}, key {Batch, Key, Rep}, value {Batch, Key, Val} → {Batch, Seq, Val}
//
// Dimensions that queries share with keys or values are a batch. Queries have at least one
// dimension of their own, values any number. It computes what
//
//	named.Dot[Key](value, named.Softmax[Key](named.Dot[Rep](query, key)))
//
// does, block by block, without keeping all scores at a time.
func Attention[Key Is[Key], Rep Is[Rep]](query, key, value tenon.Value, o AttentionOptions) *Tensor {
	return Dims{groupOf[Key]()}.Attention(query, key, value, Dims{groupOf[Rep]()}, o)
}

// Attention is the function [Attention] for the name of a list of one.
func (d Dims) Attention(query, key, value tenon.Value, rep Name, o AttentionOptions) *Tensor {
	const fn = "named.Attention"
	keyDim := d.single(fn)
	q, k, v := tensorOf(fn, query), tensorOf(fn, key), tensorOf(fn, value)
	keys, reps := d.group(), groupOfName(rep)
	operands := []one{{"query", q}, {"key", k}, {"value", v}}
	for i, need := range []*layout{reps, keys.and(reps), keys} {
		if n := need.without(operands[i].t.spec.names); len(n.ids) > 0 {
			throwMissing(over(fn, keys), n.ids[0], operands[i])
		}
	}
	if q.spec.names.has(keyDim) {
		e := newError(tenon.ErrInvalid, over(fn, keys), fmt.Sprintf("the query has %v too\n%s", keyDim, q.line("query")))
		e.Hint = "rename the dimension of keys and values"
		tenon.Throw(e)
	}
	ts := []*Tensor{q, k, v}
	if o.Mask != nil {
		ts = append(ts, o.Mask)
		if o.Mask.side != nil {
			tenon.Throw(o.Mask.side.seen.check(fn, keys, operands[0], one{"mask", o.Mask}))
		}
	}
	checkSizes(over(fn, keys), ts)
	if both := v.spec.names.both(reps); len(both.ids) > 0 && !slices.ContainsFunc(ts, func(t *Tensor) bool { return isRagged(t.data) }) {
		// The values' own dimension of the name is another one, which the result keeps.
		own := make([]id, len(both.ids))
		for i, n := range both.ids {
			own[i] = intern(n.info().path+" of values", nil)
		}
		l := layoutOf(own)
		return rename(fn, d.Attention(q, k, rename(fn, v, both, l), rep, o), l, both)
	}
	s := sideOf(fn, ts...)
	inQ := q.spec.names.without(reps)
	seq := inQ.without(k.spec.names).without(v.spec.names)
	out := v.spec.names.without(keys).without(inQ).without(k.spec.names)
	batch := inQ.and(k.spec.names).and(v.spec.names).without(keys).without(reps).without(seq).without(out)
	fused := len(seq.ids) == 1 && len(out.ids) == 1 && len(reps.ids) == 1 &&
		!isRagged(q.data) && !isRagged(k.data) && !isRagged(v.data)
	if y, ok := d.attentionInRows(over(fn, keys), q, k, v, reps, o); ok {
		return y
	}
	if !fused {
		return d.attentionByParts(q, k, v, reps, seq, o)
	}
	matrix := func(t *Tensor, rows, cols *layout) tensor.Tensor {
		a := alignmentTo(t.spec.names, batch.and(rows).and(cols))
		return a.apply(t.data)
	}
	options := ops.AttentionOptions{Scale: o.Scale, Causal: o.Causal}
	if o.Mask != nil {
		if extra := o.Mask.spec.names.without(batch.and(seq).and(keys)); len(extra.ids) > 0 {
			throwMissing(over(fn, keys), extra.ids[0], operands[0], one{"mask", o.Mask})
		}
		options.Mask = matrix(o.Mask, seq, keys)
	}
	y := ops.Attention(matrix(q, seq, reps), matrix(k, keys, reps), matrix(v, keys, out), options)
	return newTensor(y, batch.and(seq).and(out), s)
}

// attentionByParts is Attention written out, for tensors that the operation does not take.
func (d Dims) attentionByParts(q, k, v *Tensor, reps, seq *layout, o AttentionOptions) *Tensor {
	const fn = "named.Attention"
	var scale any = o.Scale
	if n := q.Size(Dims{reps}); o.Scale == 0 && n >= 0 {
		scale = 1 / math.Sqrt(float64(n))
	} else if o.Scale == 0 {
		size := q.length(reps.ids[0])
		for _, r := range reps.ids[1:] {
			size = ops.Mul(size, q.length(r))
		}
		scale = ops.Rsqrt(ops.Cast(size, q.DType()))
	}
	scores := Mul(reps.of().Contract(q, k), scale)
	var masks []*Tensor
	if o.Mask != nil {
		masks = append(masks, o.Mask)
	}
	if o.Causal {
		if len(seq.ids) != 1 || isRagged(q.data) || isRagged(k.data) {
			fail(tenon.ErrUnsupported, fn, "causal attention needs one dimension of queries; give a mask\n%s", q.line("query"))
		}
		masks = append(masks, causal(q, k, seq, d.group()))
	}
	// A number that no score is less than, and not infinity: a query that sees no key has
	// no weights, and a gradient of zero.
	least := -1e30
	if scores.DType() == dtype.Float16 {
		least = -65504
	}
	for _, m := range masks {
		scores = Masked(scores, m, least)
	}
	weights := d.Softmax(scores)
	for _, m := range masks {
		weights = Masked(weights, m, 0)
	}
	return d.Contract(weights, v)
}

// causal returns which keys each query sees, counted from the last query and key.
func causal(q, k *Tensor, seq, keys *layout) *Tensor {
	n, m := q.length(seq.ids[0]), k.length(keys.ids[0])
	query := newTensor(ops.Sub(ops.Range(int64(0), n, int64(1)), n), seq, nil)
	key := newTensor(ops.Sub(ops.Range(int64(0), m, int64(1)), m), keys, nil)
	return Outer(ops.GreaterEqual, query, key)
}

// length returns the size of a dimension as a tensor, known or not: an int64 scalar.
func (t *Tensor) length(n id) tensor.Tensor {
	if size := t.size(n); size >= 0 {
		return ops.Cast(int64(size), dtype.Int64)
	}
	return ops.Cast(ops.Index(ops.Shape(t.data), t.spec.names.index(n)), dtype.Int64)
}
