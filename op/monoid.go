package op

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Monoid is how elements are combined: by an operation that does not mind how they are
// grouped, with an element that changes nothing.
type Monoid struct {
	Name string // "sum"

	// Combine is the elementwise operation that combines two results: "add". It is ""
	// where the combination is not an operation of its own.
	Combine string

	// Identity is the number that changes nothing among others, which is also the
	// result for no elements: ±Inf stands for the least or greatest of the type.
	Identity float64

	// Picks says that the result is one of the elements: where none is there, it is
	// missing.
	Picks bool

	// Ordered says that the order of the elements matters, as it does where strings are
	// joined.
	Ordered bool

	// Divide is what the combination is divided by in the end.
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

// IdentityOf returns the identity as a scalar of an element type: infinities are the least
// and the greatest element of types that have none. It returns nil for types that are not
// ordered where the identity is an extreme, and for strings.
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

// extremeOf returns the greatest or least element of a type without infinities.
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
