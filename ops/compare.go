package ops

import (
	"strings"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Equal returns where x equals y. NaN equals nothing, itself included.
func Equal(x, y any) tensor.Tensor { return op.Binary(equalOp, x, y) }

var equalOp = comparison(elementwise.Equal, op.Op{Doc: "x = y"}, func(o int) bool { return o == 0 })

// NotEqual returns where x differs from y. NaN differs from everything.
func NotEqual(x, y any) tensor.Tensor { return op.Binary(notEqualOp, x, y) }

var notEqualOp = comparison(elementwise.NotEqual, op.Op{Doc: "x ≠ y"}, func(o int) bool { return o != 0 })

// Less returns where x is below y: for truth values false is below true, strings
// are ordered by their bytes, and complex numbers have no order.
func Less(x, y any) tensor.Tensor { return op.Binary(lessOp, x, y) }

var lessOp = comparison(elementwise.Less, op.Op{Doc: "x < y"}, func(o int) bool { return o < 0 })

// LessEqual returns where x is below or equal to y; see [Less].
func LessEqual(x, y any) tensor.Tensor { return op.Binary(lessEqualOp, x, y) }

var lessEqualOp = comparison(elementwise.LessEqual, op.Op{Doc: "x ≤ y"}, func(o int) bool { return o <= 0 })

// Greater returns where x is above y; see [Less].
func Greater(x, y any) tensor.Tensor { return op.Binary(greaterOp, x, y) }

var greaterOp = comparison(elementwise.Greater, op.Op{Doc: "x > y"}, func(o int) bool { return o > 0 })

// GreaterEqual returns where x is above or equal to y; see [Less].
func GreaterEqual(x, y any) tensor.Tensor { return op.Binary(greaterEqualOp, x, y) }

var greaterEqualOp = comparison(elementwise.GreaterEqual, op.Op{Doc: "x ≥ y"}, func(o int) bool { return o >= 0 })

// compareStrings compares strings by their bytes. holds tells which order
// (negative, zero or positive) gives true.
func compareStrings(x, y *tensor.Strings, s shape.Shape, holds func(order int) bool) *tensor.Dense {
	out := tensor.Uninit(dtype.Bool, s)
	dst := tensor.Elems[bool](out)
	xi, yi := stringIndex(x, s), stringIndex(y, s)
	par.For(len(dst), 4<<10, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dst[i] = holds(strings.Compare(x.At(xi(i)), y.At(yi(i))))
		}
	})
	return out
}

// stringIndex returns which string of x belongs to each position of a result of shape s,
// to which x broadcasts.
func stringIndex(x *tensor.Strings, s shape.Shape) func(i int) int {
	switch x.Len() {
	case s.Size():
		return func(i int) int { return i }
	case 1:
		return func(int) int { return 0 }
	}
	at := tensor.Data[int64](move.Stretched(move.Positions(0, x.Shape()), s))
	return func(i int) int { return int(at[i]) }
}
