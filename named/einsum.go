package named

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named/internal/terms"
)

// Einsum contracts tensors as described by a text, which lists the dimensions of each tensor and
// those of the result. Dimensions that the result lacks are summed over:
//
//	named.Einsum("Batch Seq Rep, Rep Kq -> Batch Seq Kq", x, w)
//
// A dimension is written as it is printed. Unless that is ambiguous, its first letter may be in
// lower case ("batch seq rep"). Spaces in names are written as _. Each term lists exactly the
// dimensions of its tensor, in any order. The result is stored in the order of the text.
//
// "..." in a term stands for the dimensions of its tensor that the term does not list; in the
// result, it stands for all those dimensions, in the order of the tensors:
//
//	named.Einsum("... rep, rep kq -> ... kq", x, w)
//
// Such dimensions are kept, never summed over; tensors that share one are matched along it, as a
// batch dimension. If another term lists such a dimension, it must be listed here too.
//
// The gradient and the order of contraction are those of [Contract].
func Einsum(text string, operands ...tenon.Value) *Tensor {
	const fn = "named.Einsum"
	operands = slices.Clone(operands)
	ts := make([]*Tensor, len(operands))
	for i, x := range operands {
		ts[i] = tensorOf(fn, x)
	}
	t := terms.Text[id]{Text: text, Dims: make([][]id, len(ts)),
		Path:    func(n id) string { return n.info().path },
		Short:   id.String,
		Printed: func(n id, among []id) string { return layoutOf(among).text(n) },
		Line:    func(i int) string { return ts[i].line("tensor") },
		Bad: func(absent bool, format string, args ...any) {
			kind := tenon.ErrInvalid
			if absent {
				kind = tenon.ErrNotFound
			}
			tenon.Throw(newError(kind, fn, fmt.Sprintf(format, args...)).At(fmt.Sprintf("%q", text)))
		}}
	all := none
	for i, x := range ts {
		t.Dims[i], all = x.spec.names.ids, all.and(x.spec.names)
	}
	keep := layoutOf(t.Result())
	// The text says to sum over dimensions that only one tensor has and the result lacks.
	sum := all.without(keep)
	for i, t := range ts {
		alone := sum.both(t.spec.names)
		for k, u := range ts {
			if k != i {
				alone = alone.without(u.spec.names)
			}
		}
		if len(alone.ids) > 0 {
			operands[i], sum = alone.of().Sum(t), sum.without(alone)
		}
	}
	return sum.of().Contract(operands...).ordered(keep)
}
