package csvio

import (
	"cmp"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// A table is what has been read but not returned yet.
type table struct {
	cols  []*column
	lines []int64
}

// take adds the records of a block, column by column, while it runs beside concurrently.
func (t *table) take(b *block, o *Options, beside func()) {
	t.lines = append(t.lines, b.lines...)
	par.For(len(t.cols)+1, 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			if k == 0 {
				beside()
			} else {
				t.cols[k-1].take(b, k-1, len(t.cols), o)
			}
		}
	})
}

// records returns the rows as records, with given or inferred types, and empties the table.
func (t *table) records(o *Options, name string, r *Report, batches bool) (*structured.Tensor, error) {
	n := len(t.lines)
	var faults []*Error
	var columns []Column
	values, err := t.ofJSON(o, name)
	if err != nil {
		return nil, err
	}
	for i, c := range t.cols {
		typ := c.found()
		if t.cols[i] = (&column{name: c.name, typ: c.typ, given: c.given}).begun(); batches {
			t.cols[i].typ, t.cols[i].given = typ, true
		}
		v, col, err := values[c.name], Column{Name: c.name, Type: typ}, error(nil)
		if typ != JSON {
			v, col, err = c.value(typ)
		}
		for _, bad := range c.bad {
			faults = append(faults, &Error{What: BadType, Source: name, Line: t.lines[bad.row], Field: i + 1, Column: c.name, Detail: "the field " + bad.text + " is not a valid " + string(typ)})
		}
		if err != nil && len(faults) == 0 {
			return nil, err
		}
		columns = append(columns, col)
		values[c.name] = v
	}
	t.lines = nil
	slices.SortStableFunc(faults, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	if len(faults) > 0 && !o.Lenient {
		return nil, faults[0]
	}
	r.Skipped = append(r.Skipped, faults...)
	chosen := o.Columns
	if chosen == nil {
		for _, c := range t.cols {
			chosen = append(chosen, c.name)
		}
	}
	var fields []structured.Field
	r.Columns = nil
	for _, name := range chosen {
		v, ok := values[name]
		if !ok {
			return nil, fail(tenon.ErrNotFound, "csvio.Options.Columns", name, "there is no such column")
		}
		fields = append(fields, structured.Field{Name: name, Value: v})
		r.Columns = append(r.Columns, columns[slices.IndexFunc(columns, func(c Column) bool { return c.Name == name })])
	}
	r.Rows += int64(n)
	slices.SortStableFunc(r.Skipped, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	return structured.FromFields(fields, shape.Of(n), structured.Options{NRows: n})
}

// name sets the name of the column of a fault.
func (t *table) name(e *Error) {
	if e.Field > 0 && e.Field <= len(t.cols) {
		e.Column = t.cols[e.Field-1].name
	}
}

// ofJSON returns the values of the requested JSON columns.
func (t *table) ofJSON(o *Options, name string) (map[string]tensor.Tensor, error) {
	var cols []*column
	for _, c := range t.cols {
		if c.typ == JSON && (o.Columns == nil || slices.Contains(o.Columns, c.name)) {
			cols = append(cols, c)
		}
	}
	if len(cols) == 0 {
		return map[string]tensor.Tensor{}, nil
	}
	values, err := t.nested(cols, o, name)
	if values == nil && err == nil {
		values = map[string]tensor.Tensor{} // a field is invalid
	}
	return values, err
}

// judge returns an error if lenient reading has passed over more records than allowed.
func (o *Options) judge(r *Report) error {
	wrong, rows, last := int64(0), r.Rows, int64(0)
	for _, e := range r.Skipped {
		if e.What != BadType { // the record was skipped
			rows++
		} else if e.Line == last {
			continue // counted already for another field
		}
		wrong, last = wrong+1, e.Line
	}
	most := o.MaxSkipped
	if most == 0 {
		most = 0.5
	}
	if wrong == 0 || float64(wrong) <= most*float64(rows) {
		return nil
	}
	e := fail(tenon.ErrInvalid, "csvio.Options.MaxSkipped", "", "%d of %d records were invalid, more than the allowed share of %v", wrong, rows, most)
	e.Err = r.Skipped[0]
	return e
}

// begun returns an empty column.
func (c *column) begun() *column {
	c.reset()
	return c
}

// clip shortens a text for a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return `"` + s + `"`
}
