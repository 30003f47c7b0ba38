package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// crossEntropy returns the loss of each row of logits for a class number. The rows have equal
// length below ragged dimensions, or are ragged themselves; then each row has as many classes as it
// has entries.
func crossEntropy(c *op.Call, logits, labels tensor.Tensor) ([]tenon.Value, error) {
	if c.Op.Param("targets") >= 0 { // a distribution over the classes
		return crossEntropyDense(c, logits, labels)
	}
	x, ok := logits.(*Tensor)
	if !ok {
		return nil, op.NotHandled
	}
	if rankOf(labels) != x.rank()-1 {
		return nil, c.Errorf(tenon.ErrShape, "the labels have rank %d, the logits %d", rankOf(labels), x.rank())
	}
	k := len(x.parts)
	if x.flat.Shape().Rank() == 1 { // the classes are ragged
		chosen := ops.GatherBatched(ops.LogSoftmax(x, -1), labels, k, k)
		return op.One(ops.Sub(0, chosen))
	}
	return op.One(x.with(op.Apply(c, x.flat, sameOuterRows(c, x, labels, k))))
}

// crossEntropyDense is crossEntropy with a distribution over the classes.
func crossEntropyDense(c *op.Call, x, p tensor.Tensor) ([]tenon.Value, error) {
	t, ok := x.(*Tensor)
	if ok && t.flat.Shape().Rank() > 1 && rankOf(p) == t.rank() {
		return op.One(t.with(op.Apply(c, t.flat, sameOuterRows(c, t, p, len(t.parts)))))
	}
	return op.One(ops.Sub(0, ops.Sum(ops.Mul(p, ops.LogSoftmax(x, -1)), -1)))
}

// sameOuterRows returns the flat values of y below the k partitions that x has, after checking that
// y has the same ones.
func sameOuterRows(c *op.Call, x *Tensor, y tensor.Tensor, k int) tensor.Tensor {
	flat, parts := split(atLeast(y, k))
	samePartitions(c.Op.Func(), x.parts, parts)
	return build(flat, parts[k:])
}
