package ops

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Equal reports where x equals y. NaN equals nothing, not even itself.
func Equal(x, y any) tensor.Tensor { return op.Eval(equalOp, x, y) }

var equalOp = comparison(elementwise.Equal, op.Op{Statement: mapped, Doc: "x = y"})

// NotEqual reports where x differs from y. NaN differs from everything.
func NotEqual(x, y any) tensor.Tensor { return op.Eval(notEqualOp, x, y) }

var notEqualOp = comparison(elementwise.NotEqual, op.Op{Statement: keepsZero, Doc: "x ≠ y"})

// Less reports where x is less than y. For booleans, false is less than true;
// strings are ordered by their bytes; complex numbers have no order.
func Less(x, y any) tensor.Tensor { return op.Eval(lessOp, x, y) }

var lessOp = comparison(elementwise.Less, op.Op{Statement: keepsZero, Doc: "x < y"})

// LessEqual reports where x is less than or equal to y; see [Less].
func LessEqual(x, y any) tensor.Tensor { return op.Eval(lessEqualOp, x, y) }

var lessEqualOp = comparison(elementwise.LessEqual, op.Op{Statement: mapped, Doc: "x ≤ y"})

// Greater reports where x is greater than y; see [Less].
func Greater(x, y any) tensor.Tensor { return op.Eval(greaterOp, x, y) }

var greaterOp = comparison(elementwise.Greater, op.Op{Statement: keepsZero, Doc: "x > y"})

// GreaterEqual reports where x is greater than or equal to y; see [Less].
func GreaterEqual(x, y any) tensor.Tensor { return op.Eval(greaterEqualOp, x, y) }

var greaterEqualOp = comparison(elementwise.GreaterEqual, op.Op{Statement: mapped, Doc: "x ≥ y"})

// compareStrings compares strings by their bytes.
func compareStrings(k elementwise.Op, x, y *tensor.Strings, s shape.Shape) *tensor.Dense {
	out := tensor.Uninit(dtype.Bool, s)
	holds := tensor.Elems[bool](out)
	a, b := stretchedStrings(x, s), stretchedStrings(y, s)
	switch k {
	case elementwise.Equal, elementwise.NotEqual:
		str.Equal(holds, a, b)
	case elementwise.Less, elementwise.GreaterEqual:
		str.Less(holds, a, b)
	default:
		str.Less(holds, b, a)
	}
	switch k {
	case elementwise.NotEqual, elementwise.GreaterEqual, elementwise.LessEqual:
		for i, v := range holds {
			holds[i] = !v
		}
	}
	return out
}

// stretchedStrings returns as many strings as a result of shape s has elements: x broadcast to s,
// or the only string of x.
func stretchedStrings(x *tensor.Strings, s shape.Shape) str.Column {
	if n := x.Len(); n != 1 && n != s.Size() {
		x = move.Apply(x, func(d *tensor.Dense) *tensor.Dense { return move.Stretched(d, s) }).(*tensor.Strings)
	}
	return move.Column(x)
}
