package ops

import (
	"math"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/kernel/reduce"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// SoftmaxCrossEntropy returns the loss -log Softmax(logits)[label] of each row. The labels are
// class numbers; a label out of range is an error that names it.
//
//	logits: […, classes] floating, labels: […] int32 or int64  →  […]
//
// Gradient: ct·(Softmax(logits) - one-hot label).
func SoftmaxCrossEntropy(logits, labels any) tensor.Tensor {
	return op.Eval(crossEntropyOp, logits, labels)
}

var crossEntropyOp = op.Register(&op.Op{
	Name: "softmax_cross_entropy", Statement: op.Statement{Axes: op.Reduce, Core: 1, Missing: op.Refuse}, Doc: "negative log likelihood of class numbers", Results: 1,
	Params: []op.Param{{Name: "logits", Takes: op.Floats, Rank: 1}, {Name: "labels", Takes: op.Indices}},
	Shape:  labelsShape,
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, d := c.Dense(0), c.Dense(0).DType()
		labels, err := checkedLabels(c)
		if err != nil {
			return nil, err
		}
		wide := x
		if d.Size() == 2 {
			wide = castDense(x, dtype.Float32)
		}
		out := tensor.Uninit(wide.DType(), x.Shape().Remove(-1))
		n := x.Dim(-1)
		if wide.DType() == dtype.Float64 {
			reduce.CrossEntropy(tensor.Elems[float64](out), nil, tensor.Elems[float64](wide), labels, n)
		} else {
			reduce.CrossEntropy(tensor.Elems[float32](out), nil, tensor.Elems[float32](wide), labels, n)
		}
		return c.Result(castDense(out, d))
	},
})

var _ = gradient(crossEntropyOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	return []tensor.Tensor{op.Eval(crossEntropyGradOp, c.Tensor(0), c.Tensor(1), ct[0]), nil}
})

// labelsShape returns the shape of the labels and of the results, one for each
// label.
func labelsShape(c *op.Call) (shape.Shape, error) {
	s := c.Tensor(0).Shape()
	if s.HasRank() {
		s = s.Remove(-1)
	}
	var err error
	for _, v := range c.Values()[1:] {
		if s, err = mergeShapes(c, s, v.(tensor.Tensor).Shape()); err != nil {
			return s, err
		}
	}
	return s, nil
}

// checkedLabels returns the labels of a kernel's call, all of which are in range.
func checkedLabels(c *op.Call) ([]int64, error) {
	n := c.Dense(0).Dim(-1)
	labels := tensor.Elems[int64](castDense(c.Dense(1), dtype.Int64))
	for i, l := range labels {
		if l < 0 || l >= int64(n) {
			return nil, c.Errorf(tenon.ErrInvalid, "label %d is not one of %d classes", l, n).At("labels" + coordinates(c.Dense(1).Shape(), i))
		}
	}
	return labels, nil
}

// The gradient for the logits x, labels l and cotangent ct, ct·(Softmax(x) -
// one-hot l), in one pass. The gradient of that, for the cotangent u and with y
// the softmax, is y·(v - Σ y·v) with v = u·ct for x, and Σ u·(y - one-hot l) for
// ct.
var crossEntropyGradOp = op.Register(&op.Op{
	Name: "softmax_cross_entropy_grad", Statement: op.Statement{Axes: op.Along, Core: 1, Missing: op.Refuse, Zero: op.Zero{Linear: []op.Operands{three}}}, Doc: "gradient of the softmax cross entropy of class numbers", Results: 1,
	Params: []op.Param{{Name: "logits", Group: 1, Takes: op.Floats, Rank: 1}, {Name: "labels", Takes: op.Indices}, {Name: "ct", Group: 1}},
	Shape: func(c *op.Call) (shape.Shape, error) {
		s, err := labelsShape(c)
		if x := c.Tensor(0).Shape(); err == nil && x.HasRank() {
			return shape.Concat(s, shape.Of(x.Dim(-1))), nil
		}
		return shape.UnknownRank, err
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, ct, d := c.Dense(0), c.Dense(2), c.Dense(0).DType()
		labels, err := checkedLabels(c)
		if err != nil {
			return nil, err
		}
		if d.Size() == 2 {
			x, ct = castDense(x, dtype.Float32), castDense(ct, dtype.Float32)
		}
		out := tensor.Uninit(x.DType(), x.Shape())
		n := x.Dim(-1)
		if x.DType() == dtype.Float64 {
			reduce.CrossEntropyGrad(tensor.Elems[float64](out), tensor.Elems[float64](x), labels, tensor.Elems[float64](ct), n)
		} else {
			reduce.CrossEntropyGrad(tensor.Elems[float32](out), tensor.Elems[float32](x), labels, tensor.Elems[float32](ct), n)
		}
		return c.Result(castDense(out, d))
	},
})

var _ = gradient(crossEntropyGradOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	x, l, g, u := c.Tensor(0), c.Tensor(1), c.Tensor(2), ct[0]
	y := Softmax(x, -1)
	gx := op.Eval(softmaxGradOp, y, Mul(u, ExpandDims(g, -1)), -1)
	return []tensor.Tensor{gx, nil, Sum(Mul(u, op.Eval(crossEntropyGradOp, x, l, OnesLike(g))), -1)}
})

// SoftmaxCrossEntropyDense returns the cross entropy -Σ targets·log Softmax(logits) of each row,
// for targets that are a distribution over the classes. A class whose target is 0 does not count,
// however unlikely it is.
//
//	logits: […, classes], targets: […, classes], floating  →  […]
//
// Gradient: ct·(Softmax(logits)·Σ targets - targets) for logits, -ct·log
// Softmax(logits) for targets.
func SoftmaxCrossEntropyDense(logits, targets any) tensor.Tensor {
	return op.Eval(crossEntropyDenseOp, logits, targets)
}

var crossEntropyDenseOp = op.Register(&op.Op{
	Name: "softmax_cross_entropy_dense", Statement: op.Statement{Axes: op.Reduce, Core: 1, Missing: op.Refuse}, Doc: "cross entropy of distributions over classes", Results: 1,
	Params: []op.Param{{Name: "logits", Group: 1, Takes: op.Floats}, {Name: "targets", Group: 1}},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, t, d := c.Dense(0), c.Dense(1), c.Dense(0).DType()
		if d.Size() == 2 {
			x, t = castDense(x, dtype.Float32), castDense(t, dtype.Float32)
		}
		out := tensor.NewDense(x.DType(), x.Shape().Remove(-1)) // zeros where there are no classes
		n := x.Dim(-1)
		if x.DType() == dtype.Float64 {
			reduce.CrossEntropyDense(tensor.Elems[float64](out), nil, tensor.Elems[float64](x), tensor.Elems[float64](t), n)
		} else {
			reduce.CrossEntropyDense(tensor.Elems[float32](out), nil, tensor.Elems[float32](x), tensor.Elems[float32](t), n)
		}
		return c.Result(castDense(out, d))
	},
})

var _ = gradient(crossEntropyDenseOp, func(c *op.Call, out, ct []tensor.Tensor) []tensor.Tensor {
	x, t := c.Tensor(0), c.Tensor(1)
	g := ExpandDims(ct[0], -1)
	gx := Mul(g, Sub(Mul(Softmax(x, -1), SumKeep(t, -1)), t))
	return []tensor.Tensor{gx, Neg(Mul(g, LogSoftmax(x, -1)))}
})

// SigmoidCrossEntropy returns the cross entropy of independent binary labels, element by element:
// for logits x and targets z it is
//
//	-z·log Sigmoid(x) - (1-z)·log(1 - Sigmoid(x)) = max(x, 0) - x·z + log(1 + e^-|x|)
//
// Both broadcast. Gradient: ct·(Sigmoid(x) - z) for x, -ct·x for z.
func SigmoidCrossEntropy(logits, targets any) tensor.Tensor {
	return op.Eval(sigmoidCrossEntropyOp, logits, targets)
}

var sigmoidCrossEntropyOp = op.Register(&op.Op{
	Name: "sigmoid_cross_entropy", Statement: mapped, Doc: "cross entropy of independent binary labels", Results: 1, Strided: true,
	Params: []op.Param{{Name: "logits", Group: 1, Takes: op.Floats}, {Name: "targets", Group: 1}},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		x, z, d := c.Dense(0), c.Dense(1), c.Dense(0).DType()
		if d.Size() == 2 {
			x, z = castDense(x, dtype.Float32), castDense(z, dtype.Float32)
		}
		out := tensor.Uninit(x.DType(), outShape(c, 0))
		dst, size := out.Raw(), x.DType().Size()
		softplus := elementwise.UnaryOf(elementwise.Softplus, x.DType())
		newLoop(out.Shape(), x, z).each(grainDear, func(r run) int {
			p := unsafe.Add(dst, r.at*size)
			if size == 8 {
				logistic[float64](p, r, softplus)
			} else {
				logistic[float32](p, r, softplus)
			}
			return -1
		})
		return c.Result(castDense(out, d))
	},
})

var _ = gradient(sigmoidCrossEntropyOp, func(x, z, y, ct tensor.Tensor) (gx, gz tensor.Tensor) {
	return Mul(ct, Sub(Sigmoid(x), z)), Neg(Mul(ct, x))
})

// logistic computes a run of the sigmoid cross entropy in place. It first computes the part that
// needs an exponential.
func logistic[T float32 | float64](p unsafe.Pointer, r run, softplus elementwise.UnaryFunc) {
	dst := unsafe.Slice((*T)(p), r.n)
	step := func(i int) int { return 1 - int(r.scalars>>i&1) }
	xs, xstep := unsafe.Slice((*T)(r.p[0]), 1+(r.n-1)*step(0)), step(0)
	zs, zstep := unsafe.Slice((*T)(r.p[1]), 1+(r.n-1)*step(1)), step(1)
	for i := range dst {
		dst[i] = T(-math.Abs(float64(xs[i*xstep])))
	}
	softplus(p, p, r.n)
	for i := range dst {
		x := xs[i*xstep]
		dst[i] += max(x, 0) - x*zs[i*zstep]
	}
}
