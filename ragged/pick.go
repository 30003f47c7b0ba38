package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// PickOptions says what happens for rows that have no entry at the position.
type PickOptions struct {
	// Axis is the dimension whose rows are picked from, below the first one, which is 0. Zero means
	// 1; a negative number counts from the innermost dimension.
	Axis int

	// Fill replaces missing entries: a constant or a tensor of the shape of an entry. If it is nil,
	// a missing entry is an error that names the row.
	Fill any
}

// Pick returns one entry of each row of a dimension, by default the one below the first. at is its
// position: an integer for all rows, or a vector with one for each row in order. Negative positions
// count from the end of the row.
//
//	x: [n, (row), a…], at: int[] or int[n] → [n, a…]
//	Gradient: the cotangent at the entries, 0 elsewhere.
func Pick(x *Tensor, at any, o PickOptions) (out tensor.Tensor, err error) {
	const fn = "ragged.Pick"
	defer tenon.Catch(&err)
	if o.Axis != 0 {
		if axis := axisIn(fn, x, o.Axis); axis != 1 {
			return pickedBelow(fn, x, at, axis, o)
		}
	}
	if o.Fill == nil && !concrete(x, at) {
		return pickedOrFail(fn, x, at), nil
	}
	items, found := picked(fn, x, at, o.Fill)
	if o.Fill != nil {
		return items, nil
	}
	return items, allFound(fn, x, found)
}

// pickedBelow picks from the rows of a deeper axis.
func pickedBelow(fn string, x *Tensor, at any, axis int, o PickOptions) (tensor.Tensor, error) {
	if axis == 0 {
		return nil, invalid(fn, "Axis", "is the outermost dimension: use ops.Index to take an entry")
	}
	l := listsAt(x, axis)
	return onTop(tenon.Must(Pick(partitioned(l.values, l.p), at, PickOptions{Fill: o.Fill})), l.outer), nil
}

// concrete reports whether rows and positions are in memory.
func concrete(x *Tensor, at any) bool {
	_, ok := x.parts[0].Splits64()
	_, symbolic := at.(op.Recorder)
	return ok && !symbolic
}

// pickedOrFail picks in a graph, where a row that is too short causes an error because its position
// does not exist.
func pickedOrFail(fn string, x *Tensor, at any) tensor.Tensor {
	i := converted(fn, "at", at)
	p := x.parts[0].as(dtype.Int64) // can hold every position
	n := p.RowLengths()
	i = asPositions(i)
	within := ops.Where(ops.Less(i, 0), ops.Add(i, n), i)
	bad := ops.LogicalOr(ops.Less(within, 0), ops.GreaterEqual(within, n))
	return gatherRows(x.Values(), ops.Where(bad, scalar(-1, p.spec.dtype), ops.Add(p.RowStarts(), within)))
}

// PickFound is [Pick] for callers that handle missing entries themselves: it also returns which
// rows have an entry. The others get zero, false or the empty string.
func PickFound(x *Tensor, at any) (items, found tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	items, found = picked("ragged.PickFound", x, at, nil)
	return items, found, nil
}

func picked(fn string, x *Tensor, at, fill any) (items, found tensor.Tensor) {
	i, f := converted(fn, "at", at), x.filler(fn, fill)
	p := x.parts[0]
	if len(x.parts) == 1 {
		return rows.Pick(x.flat, p.RowSplits(), i, f)
	}
	// For rows of rows, get the number of the row at the position in each, and of an empty row
	// after all others if there is none.
	if fill != nil {
		tenon.Throw(failed(tenon.ErrUnsupported, fn, "Fill", "entries that are rows cannot be filled"))
	}
	d := p.spec.dtype
	numbers := ops.Range(scalar(0, d), p.NVals(), scalar(1, d))
	number, found := rows.Pick(numbers, p.RowSplits(), i, p.NVals())
	return gatherRows(withFiller(x.Values()), number), found
}

// allFound throws an error if a row has no entry.
func allFound(fn string, x *Tensor, found tensor.Tensor) error {
	for r, ok := range tensor.Data[bool](found) {
		if !ok {
			s, _ := x.parts[0].Splits64()
			e := failed(tenon.ErrRange, fn, fmtRow(r), "has only %d entries", s[r+1]-s[r])
			e.Hint = "give PickOptions.Fill, or use ragged.PickFound"
			return e
		}
	}
	return nil
}
