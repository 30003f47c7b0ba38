package structured

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// EmptyLists says what [Tensor.Flatten] does with a record whose list is empty. There is no
// default, because libraries differ and no choice is right for all uses.
type EmptyLists int

const (
	// DropEmpty drops the record, since it has no element.
	DropEmpty EmptyLists = iota + 1

	// KeepEmpty keeps the record once, with a missing element. The elements are then masked, even
	// if there are no empty lists.
	KeepEmpty
)

// Flatten returns a record for each element of the lists at some paths, with the list replaced by
// the element and copies of the other fields. Missing lists count as empty. Several lists are
// flattened in parallel and must have the same lengths.
//
//	[{id: 1, tags: [a, b]}, {id: 2, tags: []}].Flatten(DropEmpty, "tags") = [{id: 1, tags: a}, {id: 1, tags: b}]
//
// To get only the elements, merge dimensions: t.Path("orders") is a tensor of rank 2, whose
// MergeDims(0, 1) is the list of all orders.
func (t *Tensor) Flatten(empty EmptyLists, paths ...string) *Tensor {
	const fn = "structured.Flatten"
	switch {
	case empty != DropEmpty && empty != KeepEmpty:
		tenon.Throw(invalid(fn, "empty", "is %d: say what to do with empty lists, DropEmpty or KeepEmpty", empty))
	case t.rank == 0:
		tenon.Throw(invalid(fn, "", "a single record is not a list"))
	case len(paths) == 0:
		tenon.Throw(invalid(fn, "paths", "are empty: name the lists to flatten"))
	}
	names := make([][]string, len(paths))
	elements := make([]tensor.Tensor, len(paths))
	var p *ragged.RowPartition
	for i, path := range paths {
		names[i] = fieldPath(fn, path)
		q, values, ok := lists(t.entry(fn, names[i]))
		if !ok {
			tenon.Throw(invalid(fn, PathString(names[i]), "does not contain lists"))
		}
		elements[i] = values
		if i == 0 {
			p = q
		} else if p != q {
			p = partitionOf(rows.AssertSame(p.RowSplits(), q.RowSplits()))
		}
	}
	if empty == KeepEmpty {
		has := ops.Greater(p.RowLengths(), ops.Cast(0, p.DType()))
		full := partitionOf(rows.FromLengths(ops.Maximum(p.RowLengths(), ops.Cast(1, p.DType()))))
		has = ops.Gather(has, full.ValueRowIDs(), 0)
		for i := range elements {
			elements[i] = spread(elements[i], has)
		}
		p = full
	}
	at := ops.Cast(p.ValueRowIDs(), dtype.Int64)
	s := t
	for i, path := range names { // out of the way, since lists need not be gathered
		s = s.changed(fn, path, 0, func(u *Tensor, k int) []column {
			u.wantField(fn, path)
			cols := append([]column(nil), u.cols...)
			cols[k] = column{name: cols[k].name, now: &later{elements[i]}}
			return cols
		})
	}
	return s.repeat(at, p)
}

// later is the element that replaces its list and needs no gathering.
type later struct{ tensor.Tensor }

// repeat returns records by number, at, where p says how many are made from each
// record.
func (t *Tensor) repeat(at tensor.Tensor, p *ragged.RowPartition) *Tensor {
	cols := repeatAll(t.cols, at)
	if t.rank == 1 {
		return newTensor(1, sizeOf(at, t.dtype), nil, cols, t.dtype)
	}
	parts := append([]*ragged.RowPartition(nil), t.parts...)
	last := parts[len(parts)-1]
	q := partitionOf(ops.Gather(p.RowSplits(), last.RowSplits(), 0))
	parts[len(parts)-1] = tenon.Must(q.WithDType(t.dtype))
	return newTensor(t.rank, nil, parts, cols, t.dtype)
}

// repeatAll gathers entries of columns by number, but leaves elements as they
// are.
func repeatAll(cols []column, at tensor.Tensor) []column {
	p := newPicker(at)
	out := make([]column, len(cols))
	for i, c := range cols {
		switch x := c.now.(type) {
		case *later:
			out[i] = c.with(x.Tensor)
			continue
		case *Tensor:
			if x.rank == 1 {
				out[i] = c.with(newTensor(1, sizeOf(at, x.dtype), nil, repeatAll(x.cols, at), x.dtype))
				continue
			}
		}
		if list, with, ok := pieces(c.now); ok { // records that may be missing
			if s, ok := list[0].(*Tensor); ok && s.rank == 1 {
				list[0] = newTensor(1, sizeOf(at, s.dtype), nil, repeatAll(s.cols, at), s.dtype)
				for k := range list[1:] {
					list[k+1] = taken(list[k+1], at)
				}
				out[i] = c.with(with(list))
				continue
			}
		}
		out[i] = p.take(c, 0)
	}
	return out
}

// Unflatten divides the rows into lists of the given lengths, which become the
// outermost dimension. It is the inverse of merging dimensions.
//
//	lengths: int[n]
func (t *Tensor) Unflatten(lengths any) *Tensor {
	p := tenon.Must(ragged.PartitionFromRowLengths(lengths, ragged.PartitionOptions{}))
	return tenon.Must(t.PartitionOuterDimension(p))
}

// entry returns the column at a path that leads through single records, with one
// entry for each record. It throws an error if the path goes through lists.
func (t *Tensor) entry(fn string, path []string) tensor.Tensor { return t.entryColumn(fn, path).v() }

// entryColumn is entry without gathering what is pending.
func (t *Tensor) entryColumn(fn string, path []string) column {
	cols := t.rows()
	for i, name := range path {
		k := findColumn(cols, name)
		if k < 0 {
			tenon.Throw(failed(tenon.ErrNotFound, fn, PathString(path[:i+1]), "there is no such field, but %q", namesOf(cols)))
		}
		if i == len(path)-1 {
			return cols[k]
		}
		v := cols[k].v()
		var under tensor.Tensor
		if u, mask := there(v); mask != nil {
			v, under = u, mask
		}
		s, ok := v.(*Tensor)
		switch {
		case !ok:
			tenon.Throw(invalid(fn, PathString(path[:i+1]), "is not a structured field"))
		case s.rank > 1:
			e := invalid(fn, PathString(path[:i+1]), "is a list for each record")
			e.Hint = "flatten it first, or reduce each list to one value"
			tenon.Throw(e)
		}
		cols = s.cols
		if under != nil {
			cols = slices.Clone(s.cols)
			if j := s.find(path[i+1]); j >= 0 {
				cols[j] = cols[j].with(hidden(cols[j].v(), under))
			}
		}
	}
	return column{}
}
