package named

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// CrossEntropy returns the loss -log Softmax(logits)[label] along a dimension of classes. The
// labels are class numbers, of an integer type, and have the other dimensions of the logits.
// Alternatively, they are a distribution p with all dimensions of the logits; then the loss is -Σ
// p·log Softmax(logits).
func (d Dims) CrossEntropy(logits, labels tenon.Value) *Tensor {
	const fn = "named.CrossEntropy"
	n := d.single(fn)
	x, y := tensorOf(fn, logits), tensorOf(fn, labels)
	r := d.axesOf(fn, x)
	dense := y.spec.names.has(n)
	want := r.rest
	if dense {
		want = x.spec.names
	}
	if !equalNames(want, y.spec.names) {
		msg, hint := "the labels do not have the dimensions of the logits\n"+lines(one{"logits", x}, one{"labels", y}), ""
		if lacks := want.without(y.spec.names); len(lacks.ids) > 0 {
			hint = "repeat the labels along {" + lacks.String() + "} with named.BroadcastTo, if that is meant"
		}
		tenon.Throw(worded(tenon.ErrInvalid, over(fn, d.group()), msg, hint))
	}
	checkSizes2(over(fn, d.group()), x, y, none)
	s := sideOf2(fn, x, y)
	u := x.ordered(r.rest.and(d.group()))
	if dense {
		return newTensor(ops.SoftmaxCrossEntropyDense(u.data, y.ordered(u.spec.names).data), r.rest, s)
	}
	data := inNames(over(fn, d.group()), []one{{"logits", x}, {"labels", y}}, func() tensor.Tensor {
		return ops.SoftmaxCrossEntropy(u.data, y.ordered(r.rest).data)
	})
	return newTensor(data, r.rest, s)
}
