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
func crossEntropy(c *op.Call) ([]tenon.Value, error) {
	labels, ok := c.Value(1).(tensor.Tensor)
	if !ok || !taken(labels) {
		return nil, op.NotHandled
	}
	if c.Op.Param("targets") >= 0 { // a distribution over the classes
		return crossEntropyDense(c)
	}
	x, ok := raggedArg(c, 0)
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
	l := tenon.Must(sameOuterRows(c, x, labels, k))
	return op.One(x.with(op.Apply(c, x.flat, l)))
}

// crossEntropyDense is crossEntropy with a distribution over the classes.
func crossEntropyDense(c *op.Call) ([]tenon.Value, error) {
	x, ok := c.Value(0).(tensor.Tensor)
	p, ok2 := c.Value(1).(tensor.Tensor)
	if !ok || !ok2 || !taken(x) || !taken(p) {
		return nil, op.NotHandled
	}
	t, ok := x.(*Tensor)
	if ok && t.flat.Shape().Rank() > 1 && rankOf(p) == t.rank() {
		q := tenon.Must(sameOuterRows(c, t, p, len(t.parts)))
		return op.One(t.with(op.Apply(c, t.flat, q)))
	}
	return op.One(ops.Sub(0, ops.Sum(ops.Mul(p, ops.LogSoftmax(x, -1)), -1)))
}

// sameOuterRows returns the flat values of y below the k partitions that x has, after checking that
// y has the same ones.
func sameOuterRows(c *op.Call, x *Tensor, y tensor.Tensor, k int) (tensor.Tensor, error) {
	flat, parts := split(atLeast(y, k))
	for i, p := range x.parts {
		if err := sameRows(c.Op.Func(), p, parts[i].as(p.DType())); err != nil {
			return nil, err
		}
	}
	return build(flat, parts[k:]), nil
}
