package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured/internal/jsonpath"
	"github.com/tenonml/tenon/tensor"
)

// Lengths returns the number of elements of each list at a path, as int64, with the dimensions of
// the enclosing records: for `orders.items`, one number for each order. It counts the lists of the
// field itself; for missing lists the number is missing.
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
		tenon.Throw(invalid(fn, PathString(names), "does not contain lists"))
	}
	lengths := ops.Cast(n.parts[outer].RowLengths(), dtype.Int64)
	return tenon.Must(ragged.FromPartitions(lengths, n.parts[:outer]...))
}

// listOf returns a single record as a list with one record.
func (t *Tensor) listOf() *Tensor {
	return newTensor(1, scalar(1, t.dtype), nil, t.rows(), t.dtype)
}
