package structured

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// By is a field to sort by. It must have one number, string or boolean in each record. Missing
// values come last, and NaN before them. Elements of a union are ordered by the position of their
// variant, and then by their value.
type By struct {
	Path       []string
	Descending bool
}

// ArgSort returns the positions of records along one of their axes, sorted by fields, the first of
// which is the most significant. The sort is stable.
//
//	records: [a, (n)], axis 1 → int64[a, (n)]
func (t *Tensor) ArgSort(axis int, by ...By) (order tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return t.argSort("structured.ArgSort", axis, by), nil
}

// Sort returns the records sorted by fields along one of their axes; see
// [Tensor.ArgSort].
func (t *Tensor) Sort(axis int, by ...By) (out *Tensor, err error) {
	defer tenon.Catch(&err)
	order := t.argSort("structured.Sort", axis, by)
	return byNumbers(t.cols, ops.TakeAlongAxis(t.Numbers(), order, axis), t.dtype), nil
}

func (t *Tensor) argSort(fn string, axis int, by []By) tensor.Tensor {
	if axis < -t.rank || axis >= t.rank {
		tenon.Throw(failed(tenon.ErrAxis, fn, "axis", "there is no axis %d among the %d of the records", axis, t.rank))
	}
	if len(by) == 0 {
		tenon.Throw(invalid(fn, "", "needs a field to sort by"))
	}
	var order tensor.Tensor
	for i := len(by) - 1; i >= 0; i-- {
		v := tenon.Must(t.Field(by[i].Path...))
		keys, last := []tensor.Tensor{v}, tensor.Tensor(nil)
		if values, with := unmasked(v); isUnion(values) {
			keys = orderKeys(values.(composite))
			if v != tensor.Tensor(values) {
				last = ops.Cast(masked.IsMissing(with(keys[0])), dtype.Int8)
			}
		}
		for _, k := range slices.Backward(keys) {
			if r := k.Shape().Rank(); r != t.rank || k.DType() == dtype.None {
				tenon.Throw(invalid(fn, PathString(by[i].Path), "is %s, which is not one value for each record", tenon.String(v.Spec())))
			}
			order = sortedBy(order, k, axis, by[i].Descending)
		}
		if last != nil {
			order = sortedBy(order, last, axis, false)
		}
	}
	return order
}

// sortedBy sorts an order, nil for the original order, stably by a key.
func sortedBy(order, key tensor.Tensor, axis int, descending bool) tensor.Tensor {
	if order == nil {
		return ops.ArgSort(key, axis, ops.SortOptions{Descending: descending})
	}
	next := ops.ArgSort(ops.TakeAlongAxis(key, order, axis), axis, ops.SortOptions{Descending: descending})
	return ops.TakeAlongAxis(order, next, axis)
}

func isUnion(v tensor.Tensor) bool { _, ok := v.(*Union); return ok }

// orderKeys returns the keys by which the elements of a composite are ordered, the most significant
// first. Elements of a union are ordered by the position of their variant, and then by their value,
// if that is a number, boolean or string. Maps have no order.
func orderKeys(v composite) []tensor.Tensor {
	u, ok := v.(*Union)
	if !ok {
		return nil
	}
	keys := []tensor.Tensor{u.Tags()}
	for k := range u.rec.cols[1:] {
		if v := u.variant(k); v.Shape().Rank() == u.Shape().Rank() && v.DType() != dtype.None && !v.DType().IsComplex() {
			keys = append(keys, v)
		}
	}
	return keys
}

// everyField returns all leaves in order, to sort by if no fields are named.
func (t *Tensor) everyField(descending bool) []By {
	var out []By
	for _, l := range t.typ().Leaves() {
		out = append(out, By{l.Path, descending})
	}
	return out
}

// Shuffle returns the rows in an order determined by a random key; see
// [ops.RandomKey].
func (t *Tensor) Shuffle(key any) (out *Tensor, err error) {
	defer tenon.Catch(&err)
	if t.rank == 0 {
		return nil, invalid("structured.Shuffle", "", "a single record has no rows")
	}
	return ops.Gather(t, ops.RandomPermutation(key, ops.Cast(t.nrows, dtype.Int64)), 0).(*Tensor), nil
}

// sorted answers sort and argsort without named fields.
func (t *Tensor) sorted(c *op.Call) ([]tenon.Value, error) {
	axis, _ := c.Attr("axis").(int)
	descending, _ := c.Attr("descending").(bool)
	order := t.argSort(c.Op.Func(), axis, t.everyField(descending))
	if c.Op.Places.Has(0) {
		return op.One(order)
	}
	return op.One(byNumbers(t.cols, ops.TakeAlongAxis(t.Numbers(), order, axis), t.dtype))
}

// unique answers unique: it returns the distinct records in the order of their
// first appearance, and the other results of [ops.Unique].
func (t *Tensor) unique(c *op.Call) ([]tenon.Value, error) {
	if t.rank != 1 {
		e := c.Errorf(tenon.ErrShape, "the records have rank %d, want a list of records", t.rank)
		e.Hint = "merge dimensions with Tensor.MergeDims"
		return nil, e
	}
	ids, first, counts := rows.Group(anys(identities(t))...)
	return []tenon.Value{ops.Gather(t, first, 0), ids, counts, first}, nil
}

// compared answers equal and not_equal with one boolean for each record. A single record is
// compared with all records of a list.
func (*Tensor) compared(c *op.Call) ([]tenon.Value, error) {
	s, ok := c.Value(0).(*Tensor)
	u, ok2 := c.Value(1).(*Tensor)
	if !ok || !ok2 {
		return nil, c.Errorf(tenon.ErrDType, "records can be compared only with records")
	}
	tenon.Throw(sameFields(c, s, u))
	at := s.Numbers()
	switch {
	case s.rank == 0:
		at = u.Numbers()
	case u.rank == 0:
	case s.rank != u.rank:
		return nil, c.Errorf(tenon.ErrShape, "records of rank %d cannot be compared with records of rank %d", s.rank, u.rank)
	default:
		// Subtracting the numbers throws an error if the dimensions differ.
		at = ops.Add(at, ops.Sub(u.Numbers(), u.Numbers()))
		if !s.Shape().CompatibleWith(u.Shape()) {
			return nil, c.Errorf(tenon.ErrShape, "the records have the shapes %v and %v", s.Shape(), u.Shape())
		}
	}
	a, b := spreadRecord(s, u), spreadRecord(u, s)
	equal := sameEntries(a, b)
	if unlike := comparisons[c.Op.Name]; unlike {
		equal = ops.LogicalNot(equal)
	}
	return op.One(ops.Gather(equal, at, 0))
}

// comparisons has the operations that compare records, unions and maps, and whether they are true
// for a difference.
var comparisons = map[string]bool{"equal": false, "not_equal": true}

// spreadRecord returns the records as a list. A single record is repeated as often as there are
// others.
func spreadRecord(s, u *Tensor) *Tensor {
	n := scalar(1, s.dtype)
	if s.rank > 0 {
		n = s.count()
	}
	flat := newTensor(1, n, nil, s.rows(), s.dtype)
	if s.rank == 0 && u.rank > 0 {
		return byNumbers(flat.cols, ops.Fill(ops.ExpandDims(ops.Cast(u.count(), dtype.Int64), 0), int64(0)), s.dtype)
	}
	return flat
}
