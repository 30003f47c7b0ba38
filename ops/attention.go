package ops

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// AttentionOptions says which keys a query attends to.
type AttentionOptions struct {
	Scale  float64 // factor of the scores; 0 stands for 1/√d
	Causal bool    // query i attends to keys up to i, where queries and keys are aligned at the last ones
	Mask   any     // true where a query attends to a key: […, n, m], or a shape that broadcasts to it

	// Row splits of the axes of queries and of keys, with the same number of rows. A query attends
	// only to keys of its own row. A mask then has an axis of keys, or an axis that
	// [AttentionLabels] give the label 0, with an entry for each pair of a query and a key of the
	// same row, row by row.
	QuerySplits, KeySplits any
}

// Attention returns, for each query, the mean of the values weighted with the softmax of the scaled
// scores query·key (Vaswani et al., arXiv:1706.03762). A query that attends to no key gets zeros.
// Leading axes broadcast.
//
//	query: […, n, d], key: […, m, d], value: […, m, e], floating  →  […, n, e]
//
// Only the scores of one block of queries are in memory at a time. Queries, keys and values may be
// ragged: attention is then computed within each row.
//
// Gradient: with the weights p and dp = ct·valueᵀ, ds = p·(dp - Σ p·dp)·scale: ds·key for the
// query, dsᵀ·query for the key, pᵀ·ct for the value. The gradient of the gradient keeps all scores
// in memory, with rows padded to the longest one.
func Attention(query, key, value any, o AttentionOptions) tensor.Tensor {
	return Attend(query, key, value, AttentionLabels{}, o)
}

// AttentionLabels name the axes of the operands and of the result of attention by integers, like
// those of [Contract]. Label 0 is the axis of queries, and label 1 that of keys. Of the other
// labels, those of queries and keys that the result lacks are summed over in the scores, and those
// that only the values and the result have are features of values. All others are batch axes; an
// operand that lacks one, or has size 1 there, is broadcast, such as keys shared by several heads
// of queries. The zero value stands for the axes that [Attention] describes.
type AttentionLabels struct{ Query, Key, Value, Mask, Result []int }

// Attend is [Attention] for operands whose axes have labels, in any order.
//
//	ops.Attend(q, k, v, ops.AttentionLabels{
//		Query: []int{4, 0, 5, 2}, Key: []int{4, 1, 2}, Value: []int{4, 1, 3}, Result: []int{4, 0, 5, 3},
//	}, ops.AttentionOptions{})   // [batch, n, heads, d], [batch, m, d], [batch, m, e] → [batch, n, heads, e]
func Attend(query, key, value any, l AttentionLabels, o AttentionOptions) tensor.Tensor {
	return op.Eval(attentionOp, query, key, value, o.Mask, o.QuerySplits, o.KeySplits, l.Query, l.Key, l.Value, l.Mask, l.Result, o.Scale, o.Causal)
}

var attentionOp, attentionGradOp *op.Op

func init() {
	operands := []op.Param{{Name: "query", Group: 1, Takes: op.Floats}, {Name: "key", Group: 1}, {Name: "value", Group: 1}}
	rest := []op.Param{
		{Name: "mask", Takes: op.Bools, Optional: true}, {Name: "query_splits", Optional: true}, {Name: "key_splits", Optional: true},
		{Name: "query_labels", Kind: op.Attr, Type: op.IntsType, Optional: true}, {Name: "key_labels", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "value_labels", Kind: op.Attr, Type: op.IntsType, Optional: true}, {Name: "mask_labels", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "result_labels", Kind: op.Attr, Type: op.IntsType, Optional: true},
		{Name: "scale", Kind: op.Attr, Type: op.FloatType, Default: 0.0}, {Name: "causal", Kind: op.Attr, Type: op.BoolType, Default: false},
	}
	attentionOp = op.Register(&op.Op{
		Name: "attention", GoName: "ops.Attention", Doc: "means of values weighted with the softmax of query·key", Results: 1,
		Statement: op.Statement{Axes: op.Contract, Control: op.Fifth | op.Sixth, Missing: op.Refuse, Zero: op.Zero{Linear: []op.Operands{three}}},
		Params:    slices.Concat(operands, rest),
		Shape: func(c *op.Call) (shape.Shape, error) {
			a, err := attendingOf(c, 3)
			if a == nil {
				return shape.UnknownRank, err
			}
			return a.shape(a.labels[resultAt]), nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			a, err := attendingOf(c, 3)
			if err != nil {
				return nil, err
			}
			return c.Result(a.forward(c))
		},
		VJP: func(c *op.Call, _, ct []tensor.Tensor) []tensor.Tensor {
			return op.EvalN(attentionGradOp, slices.Concat(c.Args[:3:3], []any{ct[0]}, c.Args[3:])...)
		},
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) { return batchAttention(c, 3, batched) },
	})
	attentionGradOp = op.Register(&op.Op{
		Name: "attention_grad", GoName: "ops.Attention", Doc: "gradients of queries, keys and values", Results: 3,
		Statement: op.Statement{Axes: op.Contract, Control: op.Sixth | 1<<6, Missing: op.Refuse, Zero: op.Zero{Linear: []op.Operands{four}}},
		Params:    slices.Concat(operands, []op.Param{{Name: "ct", Group: 1}}, rest),
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			a, err := attendingOf(c, 4)
			if err != nil {
				return nil, err
			}
			if a != nil {
				if s, want := c.Tensor(3).Shape(), a.shape(a.labels[resultAt]); !s.CompatibleWith(want) {
					return nil, c.Errorf(tenon.ErrShape, "the cotangent has shape %v, the result %v", s, want)
				}
			}
			return []tenon.Spec{c.Tensor(0).Spec(), c.Tensor(1).Spec(), c.Tensor(2).Spec()}, nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			a, err := attendingOf(c, 4)
			if err != nil {
				return nil, err
			}
			return a.backward(c), nil
		},
		VJP:   vjpAttentionGrad,
		Batch: func(c *op.Call, batched []bool) ([]tensor.Tensor, error) { return batchAttention(c, 4, batched) },
	})
}

// batchAttention adds the label of one more batch axis in front of the operands that have the axis.
func batchAttention(c *op.Call, at int, batched []bool) ([]tensor.Tensor, error) {
	args := slices.Clone(c.Args)
	var own [5]bool // whether query, key, value, mask and result have the axis
	own[resultAt] = true
	var shapes [4]shape.Shape
	n := batchSize(c.Values(), batched)
	k := 0
	for i := range at + 3 {
		if !c.Has(i) {
			continue
		}
		s, has := c.Tensor(i).Shape(), batched[k]
		k++
		if has && s.HasRank() {
			s = s.Slice(1, s.Rank())
		}
		switch {
		case i == at:
			own[maskAt], shapes[maskAt] = has, s
		case i < at:
			if at > maskAt { // each result is a gradient
				args[i], has = inFront(c.Value(i), has, n), true
			}
			if i < maskAt {
				own[i], shapes[i] = has, s
			}
		case has:
			return nil, op.NotHandled // each has its own row splits
		}
	}
	labels, err := labelsOf(c, at, shapes)
	if err == nil && labels[0] == nil {
		err = c.Errorf(tenon.ErrShape, "the ranks of batched operands are not known")
	}
	if err != nil {
		return nil, err
	}
	fresh := slices.Max(slices.Concat(labels[:]...)) + 1
	for i := range labels {
		if own[i] {
			labels[i] = append([]int{fresh}, labels[i]...)
		}
		args[at+3+i] = labels[i]
	}
	return op.EvalN(c.Op, args...), nil
}

// LabelsOfAttention returns the labels of the axes in a call of attention. It is for types of
// values that answer such a call by another one.
func LabelsOfAttention(c *op.Call) (AttentionLabels, error) {
	var shapes [4]shape.Shape
	for i := range shapes {
		if t, ok := c.Args[i].(tensor.Tensor); ok {
			shapes[i] = t.Shape()
		}
	}
	l, err := labelsOf(c, maskAt, shapes)
	return AttentionLabels{l[0], l[1], l[2], l[maskAt], l[resultAt]}, err
}
