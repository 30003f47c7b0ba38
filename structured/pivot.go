package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/memory"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A Pivot is a table of groups by two keys.
type Pivot struct {
	Rows    *Tensor       // a record with the key for each row
	Columns *Tensor       // a record with the key for each column
	Values  tensor.Tensor // dense, [rows, columns, …]: an aggregation of the records with both keys
}

// PivotOptions say how a table is made.
type PivotOptions struct {
	// Fill is the value of cells without records. If it is nil, it is the result of the aggregation
	// for no records: 0 for counts and sums, NaN for means, and otherwise a missing value.
	Fill any

	// Unsorted leaves the keys in the order of their first appearance. Otherwise they are sorted.
	Unsorted bool

	// MaxBytes limits the memory for the table. 0 means half of the memory that the system leaves
	// to the process, and at most GOMEMLIMIT.
	MaxBytes int
}

// Pivot returns the table of an aggregation of the records with the same values at two paths: one
// gives the row, the other the column. For each cell the aggregation must return a number, boolean
// or string, or a vector of numbers. If a table does not fit in memory, the error, of kind
// tenon.ErrInvalid, gives its size.
//
//	sales.Pivot("user", "month", Sum("amount"), PivotOptions{}).Values      // float64[users, months]
func (t *Tensor) Pivot(row, col string, a Aggregation, o PivotOptions) Pivot {
	const fn = "structured.Pivot"
	r, c := t.GroupBy(row), t.GroupBy(col)
	if !o.Unsorted {
		r, c = r.Sorted(), c.Sorted()
	}
	o.check(fn, r, c)
	both := &Grouping{t: t, ids: ops.Add(ops.Mul(r.IDs(), c.n), c.IDs()), n: ops.Mul(r.n, c.n)}
	flat := both.compute(fn, a)
	values, mask := there(flat)
	if !isPlain(values) {
		tenon.Throw(invalid(fn, a.path, "has the aggregation %q, which cannot be an entry of a table", a.name))
	}
	if o.Fill != nil {
		if mask == nil {
			mask = ops.Greater((&aggregated{Grouping: both}).counts(both.ids), int64(0))
		}
		for mask.Shape().Rank() < values.Shape().Rank() {
			mask = ops.ExpandDims(mask, -1)
		}
		flat = ops.Where(mask, values, o.Fill)
	}
	return Pivot{Rows: r.Keys(), Columns: c.Keys(), Values: table(flat, r.n, c.n)}
}

// cellBytes is the minimum memory for a cell of a table while it is computed: an 8-byte value, its
// number of records, and its position.
const cellBytes = 24

// check throws an error if a table with some rows and columns is too large, as far as their numbers
// are known.
func (o PivotOptions) check(fn string, rows, cols *Grouping) {
	n, m := known(rows.n), known(cols.n)
	if n < 0 || m < 0 {
		return
	}
	budget := int64(o.MaxBytes)
	if budget <= 0 {
		budget = memory.Budget()
	}
	if size := memory.Times(int64(n), int64(m), cellBytes); size > budget {
		e := invalid(fn, "", "a table of %d rows and %d columns takes %s; the budget is %s", n, m, memory.Size(size), memory.Size(budget))
		e.Hint = "group by both keys instead, GroupBy(row, column), or let PivotOptions.MaxBytes set another budget"
		tenon.Throw(e)
	}
}

// table gives entries in row-major order the dimensions of a table.
func table(v, nrows, ncols tensor.Tensor) tensor.Tensor {
	if out, ok := eachPiece(v, func(x tensor.Tensor) tensor.Tensor { return table(x, nrows, ncols) }); ok {
		return out
	}
	size := []any{ops.Reshape(nrows, []int{1}), ops.Reshape(ncols, []int{1})}
	if v.Shape().Rank() > 1 {
		size = append(size, v.Shape().Tail(1).Dims())
	}
	if n, m := known(nrows), known(ncols); n >= 0 && m >= 0 {
		return ops.Reshape(v, append([]int{n, m}, v.Shape().Tail(1).Dims()...))
	}
	return ops.Reshape(v, ops.Concat(size, 0))
}
