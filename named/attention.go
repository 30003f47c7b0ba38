package named

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// AttentionOptions say which keys a query attends to, and how scores are scaled.
type AttentionOptions struct {
	Scale  float64 // factor of the scores; 0 means 1/√size of the contracted dimension
	Causal bool    // query i attends to keys up to i, where queries and keys are aligned at the last ones
	Mask   *Tensor // true where a query attends to a key; its dimensions are among those of the scores
}

// Attention returns, for each query, the mean of the values weighted by a softmax over Key. The
// scores are the scaled contraction of queries and keys over Rep.
//
//	query {Batch, Seq, Rep}, key {Batch, Key, Rep}, value {Batch, Key, Val} → {Batch, Seq, Val}
//
// Dimensions that queries share with keys or values are batch dimensions. Queries must have at
// least one dimension of their own; values may have any number. The result is the same as that of
//
//	named.Dot[Key](value, named.Softmax[Key](named.Dot[Rep](query, key)))
//
// but is computed block by block, without storing all scores at once.
func Attention[Key Is[Key], Rep Is[Rep]](query, key, value tenon.Value, o AttentionOptions) *Tensor {
	return Dims{groupOf[Key]()}.Attention(query, key, value, Dims{groupOf[Rep]()}, o)
}

// Attention is the function [Attention] for a list with one name.
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
		tenon.Throw(newError(tenon.ErrInvalid, over(fn, keys), fmt.Sprintf("the query has %v too\n%s", keyDim, q.line("query"))).
			WithHint("rename the dimension of keys and values"))
	}
	ts := []*Tensor{q, k, v}
	if o.Mask != nil {
		ts = append(ts, o.Mask)
		if o.Mask.side != nil {
			tenon.Throw(o.Mask.side.seen.check(fn, keys, operands[0], one{"mask", o.Mask}))
		}
	}
	checkSizes(over(fn, keys), ts)
	s := sideOf(fn, ts...)
	inQ := q.spec.names.without(reps)
	seq := inQ.without(k.spec.names).without(v.spec.names)
	if o.Causal && len(seq.ids) != 1 {
		fail(tenon.ErrUnsupported, fn, "causal attention needs one dimension of queries; give a mask\n%s", q.line("query"))
	}
	own := v.spec.names.both(reps) // a dimension other than the one of queries and keys, which the result keeps
	out := v.spec.names.without(keys).without(inQ).without(k.spec.names).and(own)
	batch := inQ.and(k.spec.names).and(v.spec.names).without(keys).without(reps).without(seq).without(out)
	rows := q.outer().and(k.outer()).and(v.outer()).without(keys).without(seq)
	item := seq
	if len(seq.ids) > 1 { // the others can be treated as batch dimensions
		if item = seq.both(q.outer()); len(item.ids) == 0 {
			item = layoutOf(seq.ids[:1])
		}
	}
	l := rows.and(item).and(batch).and(seq).and(out)
	label := func(in *layout, value bool) []int {
		list := make([]int, len(in.ids))
		for i, n := range in.ids {
			switch {
			case n == keyDim:
				list[i] = 1
			case item.has(n):
				list[i] = 0
			case reps.has(n) && !value:
				list[i] = 2 + len(l.ids) + reps.index(n)
			default:
				list[i] = 2 + l.index(n)
			}
		}
		return list
	}
	labels := ops.AttentionLabels{Query: label(q.spec.names, false), Key: label(k.spec.names, false), Value: label(v.spec.names, true), Result: label(l, true)}
	options := ops.AttentionOptions{Scale: o.Scale, Causal: o.Causal}
	if o.Mask != nil {
		if extra := o.Mask.spec.names.without(batch.and(seq).and(keys)); len(extra.ids) > 0 {
			throwMissing(over(fn, keys), extra.ids[0], operands[0], one{"mask", o.Mask})
		}
		options.Mask, labels.Mask = o.Mask.data, label(o.Mask.spec.names, false)
	}
	queries := q.data
	if len(seq.ids) == 0 { // a single query
		queries, labels.Query, labels.Result = ops.ExpandDims(queries, -1), append(labels.Query, 0), append(labels.Result, 0)
	}
	y := ops.Attend(queries, k.data, v.data, labels, options)
	if len(seq.ids) == 0 {
		y = ops.Squeeze(y, -1)
	}
	return newTensor(y, l, s)
}

// length returns the size of a dimension as an int64 scalar, known or not.
func (t *Tensor) length(n id) tensor.Tensor {
	if size := t.size(n); size >= 0 {
		return ops.Cast(int64(size), dtype.Int64)
	}
	return ops.Cast(ops.Index(ops.Shape(t.data), t.spec.names.index(n)), dtype.Int64)
}
