// Package weights is imported by the package of the session.
package weights

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
)

// The names that both packages use.
type (
	Rep struct{ named.Dim[Rep] }
	Kq  struct{ named.Dim[Kq] }
	Val struct{ named.Dim[Val] }
)

// Query are weights.
var Query = named.Zeros(dtype.Float32, Rep{}.Of(2), Kq{}.Of(3))

// Project contracts over Rep.
func Project(x *named.Tensor) *named.Tensor { return named.Dot[Rep](x, Query) }
