package nn

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A Scaler brings each feature to a range that suits training: y = (x - Shift)·Factor. It is made
// from the [Moments] of the data. It is part of a model and saved with it, but not trained.
type Scaler struct {
	Shift, Factor tensor.Tensor // [features]
	Names         Names         `tenon:"static"`
}

// Unlearned marks a Scaler as having no parameters.
func (Scaler) Unlearned() {}

// Apply returns the scaled features. NaN stays NaN.
//
//	x: [..., features] of the type of Shift, dense, ragged or masked, or {..., In} → the same
func (s Scaler) Apply(x tensor.Tensor) tensor.Tensor {
	return onFeatures("nn.Scaler", x, Names{In: s.Names.In}, func(x tensor.Tensor) tensor.Tensor {
		return ops.Mul(ops.Sub(x, s.Shift), s.Factor)
	})
}

// Inverse undoes Apply. A feature that was constant in the data becomes that constant.
func (s Scaler) Inverse(y tensor.Tensor) tensor.Tensor {
	return onFeatures("nn.Scaler", y, Names{In: s.Names.In}, func(y tensor.Tensor) tensor.Tensor {
		return ops.Add(ops.DivNoNaN(y, s.Factor), s.Shift)
	})
}

// A Scaling says to which range a [Scaler] brings features.
type Scaling string

// Ranges of features. A constant feature becomes 0.
const (
	Standard Scaling = ""       // mean 0 and variance 1
	MinMax   Scaling = "minmax" // from 0 to 1
	MaxAbs   Scaling = "maxabs" // divided by the largest absolute value, so 0 stays 0
	Unscaled Scaling = "none"
)

// Moments hold the statistics of each feature of the items seen so far. They are streaming, like
// metrics: Update and Merge return new Moments, and they can be part of a traced step.
type Moments struct {
	Count           tensor.Tensor // float64[features]
	Mean, Squares   tensor.Tensor // the same: the mean, and the sum of (x - Mean)²
	Least, Greatest tensor.Tensor // the same
	Names           Names         `tenon:"static"`
}

// NewMoments returns empty moments. For named values, names tells the dimension of the
// features.
func NewMoments(features int, names ...Names) Moments {
	of := func(x float64) tensor.Tensor { return ops.Fill([]int{features}, x) }
	return Moments{of(0), of(0), of(0), of(math.Inf(1)), of(math.Inf(-1)), option(names)}
}

// Update returns the moments with the items of x added. NaN and missing numbers are ignored.
//
//	x: [..., features] of numbers, dense, ragged or masked, or {..., In}
func (m Moments) Update(x tensor.Tensor) Moments {
	const fn = "nn.Moments"
	items := itemsOf(fn, x, m.Names)
	if s := items.Shape(); s.HasRank() && (s.Rank() == 0 || !s.Slice(s.Rank()-1, s.Rank()).CompatibleWith(m.Mean.Shape())) {
		tenon.Throw(tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%s does not have the %d features of the moments", tenon.String(x.Spec()), m.Mean.Shape().Dim(0))))
	}
	over := axes(0, items.Shape().Rank()-1)
	items = ops.Cast(items, dtype.Float64)
	there := ops.LogicalNot(ops.IsNaN(items))
	where := func(otherwise float64) tensor.Tensor { return ops.Where(there, items, otherwise) }
	n := ops.Sum(ops.Cast(there, dtype.Float64), over...)
	mean := ops.DivNoNaN(ops.Sum(where(0), over...), n)
	squares := ops.Sum(ops.Where(there, ops.SquaredDifference(items, mean), 0.0), over...)
	return m.Merge(Moments{n, mean, squares, ops.Min(where(math.Inf(1)), over...), ops.Max(where(math.Inf(-1)), over...), m.Names})
}

// Merge returns the moments of both streams (T. Chan, G. Golub and R. LeVeque, The American
// Statistician, 1983).
func (m Moments) Merge(o Moments) Moments {
	n := ops.Add(m.Count, o.Count)
	share := ops.DivNoNaN(o.Count, n)
	off := ops.Sub(o.Mean, m.Mean)
	return Moments{
		Count:    n,
		Mean:     ops.Add(m.Mean, ops.Mul(off, share)),
		Squares:  ops.Add(ops.Add(m.Squares, o.Squares), ops.Mul(ops.Square(off), ops.Mul(m.Count, share))),
		Least:    ops.Minimum(m.Least, o.Least),
		Greatest: ops.Maximum(m.Greatest, o.Greatest),
		Names:    m.Names,
	}
}

// Variance returns the variance of each feature, divided by the number of items: NaN if there
// are none.
func (m Moments) Variance() tensor.Tensor { return ops.Div(m.Squares, m.Count) }

// Scaler returns a layer, of a floating-point type, that scales features by these statistics.
func (m Moments) Scaler(how Scaling, d ...dtype.DType) Scaler {
	shift, by := ops.ZerosLike(m.Mean), ops.OnesLike(m.Mean)
	switch how {
	case Standard:
		shift, by = m.Mean, ops.Sqrt(ops.DivNoNaN(m.Squares, m.Count))
		by = ops.Where(ops.Equal(m.Least, m.Greatest), 0.0, by) // what deviates there is rounding
	case MinMax:
		shift, by = m.Least, ops.Sub(m.Greatest, m.Least)
	case MaxAbs:
		by = ops.Maximum(ops.Abs(m.Least), ops.Abs(m.Greatest))
	case Unscaled:
	default:
		e := tenon.NewError(tenon.ErrNotFound, "nn.Moments.Scaler", fmt.Sprintf("there is no scaling %q", string(how)))
		e.Hint = `there are "", "minmax", "maxabs" and "none"`
		tenon.Throw(e)
	}
	some := ops.Greater(m.Count, 0.0)
	to := floatType(option(d))
	return Scaler{
		Shift:  ops.Cast(ops.Where(some, shift, 0.0), to),
		Factor: ops.Cast(ops.Where(some, ops.ReciprocalNoNaN(by), 1.0), to),
		Names:  m.Names,
	}
}

// itemsOf returns all items of a value as one sequence, with features last and NaN where they are missing.
func itemsOf(fn string, x tensor.Tensor, names Names) tensor.Tensor {
	switch t := x.(type) {
	case dimensioned:
		order := append(batchNames(fn, t, []named.Name{names.In}), names.In)
		return itemsOf(fn, named.Unnamed(t, order...), Names{})
	case someMissing:
		items, _ := t.Carried()
		return ops.Where(elementsThere(t), ops.Cast(items, dtype.Float64), math.NaN())
	case tensor.Carrier:
		items, _ := t.Carried()
		return itemsOf(fn, items, Names{})
	}
	return x
}
