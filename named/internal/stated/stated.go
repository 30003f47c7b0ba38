package stated

import (
	"strings"
	"sync"

	"github.com/tenonml/tenon/op"
	_ "github.com/tenonml/tenon/ops" // the catalogue
)

// An Effect is what an operation does to the names of its operands.
type Effect uint8

// The effects.
const (
	Ordered     Effect = iota // it depends on the order of dimensions, which named tensors do not have
	Elementwise               // operands are matched by name
	Whole                     // the dimensions of its only operand are unchanged
	Number                    // it returns a number that describes its only operand
	Reduced                   // the dimensions that it is over are removed
	Kept                      // it works along a dimension, and keeps all
	Stacked                   // operands become the entries of a new dimension
	Joined                    // operands are concatenated along a dimension
)

// Of returns the effect of an operation.
func Of(o *op.Op) Effect {
	switch {
	case o.Draws: // elements are drawn in the order of storage
		return Ordered
	case o.Axes == op.Map && o.Control == 0 && Operands(o) > 1:
		return Elementwise
	case o.Axes == op.Map, o.Axes == op.Regroup && o.Core > 0, o.Checks:
		return Whole
	case o.ShapeOnly.Has(0) && o.Counts.Has(0):
		return Number
	case o.Axes == op.Reduce && o.By == op.ByAxis && o.AxisParam() >= 0:
		return Reduced
	case (o.Axes == op.Scan || o.Axes == op.Along) && o.AxisParam() >= 0:
		return Kept
	case o.Axes == op.Stack:
		return Stacked
	case o.Axes == op.Join:
		return Joined
	}
	return Ordered
}

// Operands returns the number of tensors that an operation takes, where a list counts as at least
// two.
func Operands(o *op.Op) int {
	n := 0
	for _, p := range o.Params {
		switch p.Kind {
		case op.Tensor:
			n++
		case op.Tensors:
			n += 2
		}
	}
	return n
}

// byFunction has the operations by the names of their functions in package ops.
var byFunction = sync.OnceValue(func() map[string]*op.Op {
	m := map[string]*op.Op{}
	for _, o := range op.All() {
		if name, ok := strings.CutPrefix(o.Func(), "ops."); ok {
			m[name] = o
		}
	}
	return m
})

// Function returns the operation that a function of package ops calls, or nil if there is none.
func Function(name string) *op.Op { return byFunction()[name] }
