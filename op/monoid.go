package op

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Monoid says how elements are combined: by an associative operation that has an identity.
type Monoid struct {
	Name string // "sum"

	// Combine is the elementwise operation that combines two results, such as "add". It is "" if no
	// operation does so.
	Combine string

	// Identity is the identity, which is also the result for no elements. ±Inf
	// stands for the lowest or highest value of the type.
	Identity float64

	// Picks reports whether the result is one of the elements, so that it is missing if there are
	// none.
	Picks bool

	// Ordered reports whether the order of the elements matters, as when strings are joined.
	Ordered bool

	// Divide is what the combination is finally divided by.
	Divide Divisor
}

// Divisor is what a combination of elements is divided by.
type Divisor uint8

// Divisors.
const (
	ByNothing     Divisor = iota
	ByCount               // the number of elements: a mean
	ByRootOfCount         // its square root
)

// The monoids of the catalogue.
var (
	Sums     = &Monoid{Name: "sum", Combine: "add"}
	Means    = &Monoid{Name: "mean", Combine: "add", Divide: ByCount}
	RootSums = &Monoid{Name: "sum over the root of the number", Combine: "add", Divide: ByRootOfCount}
	Products = &Monoid{Name: "product", Combine: "mul", Identity: 1}
	Maxima   = &Monoid{Name: "maximum", Combine: "maximum", Identity: math.Inf(-1), Picks: true}
	Minima   = &Monoid{Name: "minimum", Combine: "minimum", Identity: math.Inf(1), Picks: true}
	Anys     = &Monoid{Name: "any", Combine: "logical_or"}
	Alls     = &Monoid{Name: "all", Combine: "logical_and", Identity: 1}
	LogSums  = &Monoid{Name: "log of the sum of exponentials", Combine: "log_add_exp", Identity: math.Inf(-1)}
	Norms    = &Monoid{Name: "norm"}
	Joins    = &Monoid{Name: "concatenation", Ordered: true}
)

// IdentityOf returns the identity as a scalar of an element type, with the lowest or highest value
// for infinities if the type has none. It returns nil if the identity is an extreme and the type is
// not ordered, and for strings.
func (m *Monoid) IdentityOf(d dtype.DType) tensor.Tensor {
	x := m.Identity
	if d == dtype.String || d.IsComplex() && math.IsInf(x, 0) {
		return nil
	}
	if math.IsInf(x, 0) && !d.IsFloat() {
		return extremeOf(d, x > 0)
	}
	if d == dtype.Bool {
		return tensor.Scalar(x != 0)
	}
	return scalarOf(x, d)
}

// scalarOf returns a number as a scalar of an element type.
func scalarOf(x any, d dtype.DType) tensor.Tensor {
	return tenon.Must(tensor.FromScalars([]any{x}, shape.Of(), tensor.Options{DType: d}))
}

// extremeOf returns the highest or lowest value of a type without infinities.
func extremeOf(d dtype.DType, greatest bool) tensor.Tensor {
	switch {
	case d == dtype.Bool:
		return tensor.Scalar(greatest)
	case d.IsUnsigned() && greatest:
		return scalarOf(^uint64(0)>>(64-8*d.Size()), d)
	case d.IsUnsigned():
		return scalarOf(int64(0), d)
	case greatest:
		return scalarOf(int64(math.MaxInt64)>>(64-8*d.Size()), d)
	}
	return scalarOf(int64(math.MinInt64)>>(64-8*d.Size()), d)
}
