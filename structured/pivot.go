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

// PivotOptions say what a table looks like.
type PivotOptions struct {
	// Fill stands where no record has both keys. nil: what the aggregation makes of no
	// records, which is 0 for counts and sums, NaN for means, and otherwise missing.
	Fill any

	// Unsorted leaves the keys in the order in which they first appear. Otherwise they
	// are sorted.
	Unsorted bool

	// MaxBytes is how much memory the table may take. 0: half of what the system leaves
	// the process, GOMEMLIMIT at most.
	MaxBytes int
}

// Pivot returns the table of an aggregation of the records that have the same keys at
// two paths: one gives the row, one the column. The aggregation makes one number,
// truth value or string, or a vector of numbers, of the records of each place. A table
// that memory should not hold is an error of kind tenon.ErrInvalid that tells its size.
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
		tenon.Throw(invalid(fn, a.path, "has the aggregation %q, which is no entry of a table", a.name))
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

// cellBytes is what a place of a table takes, at least, while it is computed: a value of 8
// bytes, the number of its records and where it is put.
const cellBytes = 24

// check throws where a table of some rows and columns, as far as they are known, is too large.
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

// table gives entries in row-major order two dimensions.
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
