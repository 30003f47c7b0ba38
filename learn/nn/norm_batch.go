package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/half"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// BatchNorm shifts and scales each feature to mean 0 and variance 1 over all items, and then by
// learned parameters (S. Ioffe and C. Szegedy, ICML 2015):
//
//	y = (x - mean)/√(variance + Epsilon)·Scale + Offset
//
// The statistics of training are kept separately, in a [Running], which has no parameters.
type BatchNorm struct {
	Scale    tensor.Tensor // [features], or nil
	Offset   tensor.Tensor // [features], or nil
	Momentum float64       `tenon:"static"` // the weight of a new batch in the running statistics
	Epsilon  float64       `tenon:"static"`
	Names    Names         `tenon:"static"`
}

// Running holds the statistics of earlier batches for a [BatchNorm].
type Running struct {
	Mean, Variance tensor.Tensor // [features]
}

// BatchNormOptions are the options of [NewBatchNorm]. The zero value is the default.
type BatchNormOptions struct {
	Momentum float64 // 0 means 0.1
	Epsilon  float64 // 0 means 1e-5
	DType    dtype.DType
	Names    Names
}

// NewBatchNorm returns a layer with Scale 1 and Offset 0, and statistics of mean 0 and
// variance 1.
func NewBatchNorm(features int, options ...BatchNormOptions) (BatchNorm, Running) {
	o := option(options)
	if o.Momentum == 0 {
		o.Momentum = 0.1
	}
	one, zero := ops.Ones(floatType(o.DType), []int{features}), ops.Zeros(floatType(o.DType), []int{features})
	l := BatchNorm{one, zero, o.Momentum, NormOptions{Epsilon: o.Epsilon}.epsilon(), o.Names}
	return l, Running{zero, one}
}

// Apply returns the layer's output with the statistics of earlier batches.
//
//	x: [..., features], dense, ragged or masked, or {..., In} → the same
func (l BatchNorm) Apply(x tensor.Tensor, r Running) tensor.Tensor {
	return onFeatures("nn.BatchNorm", x, Names{In: l.Names.In}, func(x tensor.Tensor) tensor.Tensor {
		return standardize(x, r.Mean, r.Variance, l.Scale, l.Offset, l.Epsilon)
	})
}

// Train returns the layer's output with the statistics of x itself, over all of its items, and
// the running statistics updated by them: (1-Momentum)·old + Momentum·new, where the new
// variance is divided by the number of items minus 1. Fewer than two items have no variance: they are an
// error or, where only a traced function's call tells their number, leave the running statistics as they are.
func (l BatchNorm) Train(x tensor.Tensor, r Running) (tensor.Tensor, Running) {
	const fn = "nn.BatchNorm"
	mean, variance, n := l.statistics(fn, half.Wide(x)) // 16 bits do not count many items
	y := onFeatures(fn, x, Names{In: l.Names.In}, func(x tensor.Tensor) tensor.Tensor {
		return standardize(x, mean, variance, l.Scale, l.Offset, l.Epsilon)
	})
	mix := func(old, now tensor.Tensor) tensor.Tensor {
		new := ops.Add(ops.Mul(old, 1-l.Momentum), ops.Mul(ops.StopGradient(now), l.Momentum))
		return ops.Cast(ops.Where(ops.Less(n, 2.0), old, new), old.DType())
	}
	unbiased := ops.Mul(variance, ops.Div(n, ops.Maximum(ops.Sub(n, 1.0), 1.0)))
	return y, Running{mix(r.Mean, mean), mix(r.Variance, unbiased)}
}

// statistics returns the mean and variance of each feature over all items, and the number of
// items.
func (l BatchNorm) statistics(fn string, x tensor.Tensor) (mean, variance, n tensor.Tensor) {
	switch t := x.(type) {
	case dimensioned:
		x = named.Unnamed(t, append(batchNames(fn, t, []named.Name{l.Names.In}), l.Names.In)...)
		return l.statistics(fn, x)
	case someMissing:
		items, mask := filled(fn, t, 0)
		over := axes(0, items.Shape().Rank()-1)
		there := ops.ExpandDims(ops.Cast(mask, items.DType()), -1)
		n = ops.Sum(there)
		some := ops.Maximum(n, 1.0)
		mean = ops.Div(ops.Sum(ops.Mul(items, there), over...), some)
		variance = ops.Div(ops.Sum(ops.Mul(ops.SquaredDifference(items, mean), there), over...), some)
	case tensor.Carrier:
		items, _ := t.Carried()
		return l.statistics(fn, items)
	default:
		over := axes(0, x.Shape().Rank()-1)
		n = ops.Cast(ops.Prod(ops.Slice(ops.Shape(x), []int{0}, []int{len(over)})), x.DType())
		mean = ops.Mean(x, over...)
		variance = ops.Mean(ops.SquaredDifference(x, mean), over...)
	}
	if k, ok := op.Known(n); ok && tensor.Item[float64](ops.Cast(k, dtype.Float64)) < 2 {
		e := tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("%s has fewer than two items, too few for a variance", tenon.String(x.Spec())))
		e.Hint = "train on larger batches, or use Apply, which uses the running statistics"
		tenon.Throw(e)
	}
	return mean, variance, n
}

// standardize returns (x - mean)/√(variance + epsilon)·scale + offset.
func standardize(x, mean, variance, scale, offset tensor.Tensor, epsilon float64) tensor.Tensor {
	factor := ops.Rsqrt(ops.Add(variance, epsilon))
	if scale != nil {
		factor = ops.Mul(factor, scale)
	}
	wide := half.Wide(x)
	y := withBias(ops.Mul(ops.Sub(wide, mean), factor), offset)
	if wide.DType() == x.DType() {
		return y
	}
	return ops.Cast(y, x.DType())
}

// GroupNorm shifts and scales the features of each row, group by group, to mean 0 and variance
// 1 over the features of the group and all positions of the row, and then by learned parameters
// (Y. Wu and K. He, ECCV 2018). With as many groups as features it is instance normalization
// (D. Ulyanov et al., arXiv:1607.08022).
type GroupNorm struct {
	Scale   tensor.Tensor // [features], or nil
	Offset  tensor.Tensor // [features], or nil
	Groups  int           `tenon:"static"`
	Epsilon float64       `tenon:"static"`
	Names   Names         `tenon:"static"`
}

// NewGroupNorm returns a layer with Scale 1 and Offset 0.
func NewGroupNorm(features, groups int, options ...NormOptions) GroupNorm {
	o := option(options)
	if groups < 1 || features%groups != 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "nn.NewGroupNorm", fmt.Sprintf("%d groups do not divide %d features", groups, features)))
	}
	d := floatType(o.DType)
	return GroupNorm{ops.Ones(d, []int{features}), ops.Zeros(d, []int{features}), groups, o.epsilon(), o.Names}
}

// NewInstanceNorm returns a [GroupNorm] in which each feature is a group.
func NewInstanceNorm(features int, options ...NormOptions) GroupNorm {
	return NewGroupNorm(features, features, options...)
}

// Apply returns the layer's output, of the shape of x. All axes of a dense x are positions
// except the first, which is that of rows, and the last; a masked x has a mask of positions.
//
//	x: [rows, ..., features] dense, [rows, (positions), features] ragged, or {..., Along or Plane, In}
func (l GroupNorm) Apply(x tensor.Tensor) tensor.Tensor {
	const fn = "nn.GroupNorm"
	switch t := x.(type) {
	case dimensioned:
		return onRows(fn, t, l.Names, l.Apply)
	case rowed:
		return innermost(fn, t, func(x rowed) tensor.Tensor {
			items, _ := x.Carried()
			splits := x.RowSplits()
			n := items.Shape().Dim(0)
			apart := l.apart(fn, items)
			mean := rows.Mean(ops.Mean(apart, -1), splits) // [rows, groups]
			off := ops.Sub(apart, ops.ExpandDims(rows.Repeat(mean, splits, n), -1))
			variance := rows.Mean(ops.Mean(ops.Square(off), -1), splits)
			return tenon.Must(x.Carry(l.scaled(items, ops.Mul(off, ops.ExpandDims(rows.Repeat(ops.Rsqrt(ops.Add(variance, l.Epsilon)), splits, n), -1)))))
		})
	case someMissing:
		items, there := filled(fn, t, 0)
		return tenon.Must(t.Carry(l.dense(fn, items, there)))
	case tensor.Carrier:
		items, _ := t.Carried()
		return tenon.Must(t.Carry(l.Apply(items)))
	}
	return l.dense(fn, x, nil)
}

// dense is Apply to the positions of the mask there, or to all if it is nil.
func (l GroupNorm) dense(fn string, x, there tensor.Tensor) tensor.Tensor {
	d := x.DType()
	x = half.Wide(x)
	apart := l.apart(fn, x)
	rank := apart.Shape().Rank()
	if rank < 3 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%s has no axes of rows and features", tenon.String(x.Spec()))))
	}
	over := append(axes(1, rank-3), rank-1) // positions, and the features of a group
	mean := func(x tensor.Tensor) tensor.Tensor { return ops.MeanKeep(x, over...) }
	if there != nil {
		w := ops.ExpandDims(ops.ExpandDims(ops.Cast(there, x.DType()), -1), -1)
		share := ops.Div(w, ops.Maximum(ops.SumKeep(w, over...), 1.0))
		mean = func(x tensor.Tensor) tensor.Tensor {
			return ops.SumKeep(ops.Mul(ops.MeanKeep(x, -1), share), over...)
		}
	}
	off := ops.Sub(apart, mean(apart))
	y := l.scaled(x, ops.Mul(off, ops.Rsqrt(ops.Add(mean(ops.Square(off)), l.Epsilon))))
	if x.DType() == d {
		return y
	}
	return ops.Cast(y, d)
}

// apart splits the features into groups: [..., groups, features of one].
func (l GroupNorm) apart(fn string, x tensor.Tensor) tensor.Tensor {
	n := known(x)
	if l.Groups < 1 || n >= 0 && n%l.Groups != 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%d groups do not divide the features of %s", l.Groups, tenon.String(x.Spec()))))
	}
	if n >= 0 {
		n /= l.Groups
	}
	return withLast(x, 1, l.Groups, n)
}

// scaled joins the groups of features again, and applies the learned parameters.
func (l GroupNorm) scaled(x, y tensor.Tensor) tensor.Tensor {
	y = withLast(y, 2, known(x))
	if l.Scale != nil {
		y = ops.Mul(y, l.Scale)
	}
	return withBias(y, l.Offset)
}
