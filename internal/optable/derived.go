package optable

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// The reductions of rows and of segments follow from those of axes, and so do their rows of the
// table: each group is what the row of the reduction of axes says of a vector.

// derive adds the rows of reductions of rows and segments that have none.
func derive() {
	for _, o := range op.All() {
		if _, ok := rows[o.Name]; ok || o.Axes != op.Reduce || o.By == op.ByAxis {
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(o.Name, "ragged."), "segment_")
		if name == "var" {
			name = "variance"
		}
		dense, ok := rows["reduce_"+name]
		if !ok {
			dense, ok = rows[name]
		}
		if ok && dense.Ref != nil {
			Add(derivedRow(o, dense))
		}
	}
}

func derivedRow(o *op.Op, dense Row) Row {
	var types []dtype.DType
	for _, c := range dense.Calls {
		if x, ok := c.Args[0].(tensor.Tensor); ok && !slices.Contains(types, x.DType()) {
			types = append(types, x.DType())
		}
	}
	of := func(x []complex128) complex128 {
		return dense.Ref([]any{Array{Shape: []int{len(x)}, X: x}, []int{0}, false, 0})[0].X[0]
	}
	var r Row
	if o.By == op.ByIDs {
		r = segmentRow(o.Name, types, of)
	} else {
		r = perRowRow(o.Name, types, -4, of)
		if !o.Nondifferentiable { // what there is of nothing may have no gradient
			r = fullRows(r)
		}
	}
	r.Smooth, r.Tol = dense.Smooth, max(r.Tol, dense.Tol)
	return r
}
