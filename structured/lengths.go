package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured/internal/jsonpath"
	"github.com/tenonml/tenon/tensor"
)

// Lengths returns how many elements each list at a path has, int64, with the
// dimensions of what the lists are in: for `orders.items` one number for each order.
// What is counted are the lists of the field itself; missing ones have none.
func (t *Tensor) Lengths(path string) tensor.Tensor {
	const fn = "structured.Lengths"
	names := fieldPath(fn, path)
	if t.rank == 0 {
		return ops.Index(t.listOf().Lengths(path), 0)
	}
	n := nodeOf(t, path)
	for _, name := range names[:len(names)-1] {
		n.name(jsonpath.ByName{Names: []string{name}})
	}
	outer := len(n.parts)
	n.name(jsonpath.ByName{Names: names[len(names)-1:]})
	if len(n.parts) == outer && !n.deepen() {
		tenon.Throw(invalid(fn, PathString(names), "holds no lists"))
	}
	lengths := ops.Cast(n.parts[outer].RowLengths(), dtype.Int64)
	return tenon.Must(ragged.FromPartitions(lengths, n.parts[:outer]...))
}

// listOf returns a single record as a list of one.
func (t *Tensor) listOf() *Tensor {
	return newTensor(1, scalar(1, t.dtype), nil, t.rows(), t.dtype)
}
