package structured

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A Grouping divides records into groups with equal keys.
type Grouping struct {
	t     *Tensor
	keys  []column      // under the names of the result's fields
	ids   tensor.Tensor // the number of each record's group, int64
	first tensor.Tensor // the first record of each group; nil where groups may be empty
	sizes tensor.Tensor // number of records in each group; nil if not counted yet
	n     tensor.Tensor // number of groups, a scalar
	perm  tensor.Tensor // the groups in the order of results; nil: by number
	order tensor.Tensor // the records in the order of OrderBy; nil: as they come
}

// GroupBy groups records of rank 1 by the fields at some paths, which must have one value for each
// record: numbers of any type, booleans, strings, unions or maps, or records of those, all of which
// may be optional. Groups are in the order in which their keys first appear. Records whose key is
// missing form a group of their own; all NaNs are one key, and so are both zeros.
//
//	sales.GroupBy("cat").Aggregate(Count(), Sum("amount"), Max("price").As("top"))
//
// To group the elements of lists, flatten them first. To group within each list, flatten and also
// group by the parent's key.
func (t *Tensor) GroupBy(paths ...string) *Grouping {
	const fn = "structured.GroupBy"
	t.wantRows(fn)
	if len(paths) == 0 {
		tenon.Throw(invalid(fn, "paths", "are empty: name the fields that are the keys"))
	}
	g := &Grouping{t: t}
	for _, path := range paths {
		names := fieldPath(fn, path)
		key := t.entryColumn(fn, names)
		name := names[len(names)-1]
		if slices.ContainsFunc(g.keys, func(c column) bool { return c.name == name }) {
			tenon.Throw(invalid(fn, PathString(names), "is a second key called %q: rename a field", name))
		}
		key.name, key.inner = name, allPlain
		g.keys = append(g.keys, key)
	}
	if at, keys := g.waitingText(); at != nil {
		g.ids, g.first, g.sizes = rows.GroupAt(at, keys...)
	} else {
		for i, path := range paths {
			keys = appendKeys(fn, fieldPath(fn, path), keys, g.keys[i].v())
		}
		g.ids, g.first, g.sizes = rows.Group(keys...)
	}
	g.n = sizeOf(g.first, dtype.Int64)
	return g
}

// waitingText returns the index and the sources of the keys if all of them are strings waiting to
// be gathered with the same index, so that they never need to be.
func (g *Grouping) waitingText() (at tensor.Tensor, keys []any) {
	for _, c := range g.keys {
		if c.wait == nil {
			return nil, nil
		}
		from := c.wait.from.Load()
		if from == nil || at != nil && at != tensor.Tensor(from.at) {
			return nil, nil
		}
		s, ok := from.v.(*tensor.Strings)
		if !ok || s.Shape().Rank() != 1 {
			return nil, nil
		}
		at, keys = from.at, append(keys, s)
	}
	return at, keys
}

// wantRows throws an error unless the records are a list.
func (t *Tensor) wantRows(fn string) {
	if t.rank != 1 {
		e := invalid(fn, "", "the records have rank %d, want a list of records, rank 1", t.rank)
		if t.rank > 1 {
			e.Hint = "merge their dimensions first, MergeDims(0, -1)"
		}
		tenon.Throw(e)
	}
}

// appendKeys appends the columns by which entries are compared, including one for presence if
// entries may be missing.
func appendKeys(fn string, path []string, keys []any, v tensor.Tensor) []any {
	switch x := v.(type) {
	case *Tensor:
		if x.rank == 1 {
			for _, c := range x.cols {
				keys = appendKeys(fn, append(slices.Clone(path), c.name), keys, c.v())
			}
			return keys
		}
	case optional:
		values, mask := x.Values(), x.Mask()
		if _, ok := values.(composite); ok && mask.Shape().Rank() == 1 {
			return append(keys, ops.Where(mask, identity(values), int64(-1)))
		}
		if values.Shape().Rank() == 1 && mask.Shape().Rank() == 1 {
			return append(appendKeys(fn, path, keys, cleared(values, mask)), mask)
		}
	case composite:
		if x.Shape().Rank() == 1 {
			return append(keys, anys(identities(x))...)
		}
	case *Dictionary:
		// Equal words have the same number, which is looked up for each string.
		ids, _, _ := rows.Group(x.words)
		return append(keys, ops.Gather(ids, x.codes, 0))
	}
	if _, ok := v.(element.Tensor); ok && v.Shape().Rank() == 1 {
		return append(keys, anys(identities(v))...)
	}
	d := v.DType()
	if v.Shape().Rank() != 1 || !d.IsNumeric() && !d.IsBool() && !d.IsString() {
		tenon.Throw(noKey(fn, path, v))
	}
	return append(keys, v)
}

func noKey(fn string, path []string, v tensor.Tensor) *tenon.Error {
	return invalid(fn, PathString(path), "is %s, which cannot be a key: want one number, boolean or string for each record", tenon.String(v.Spec()))
}

// cleared returns entries with the same filler wherever a mask is false.
func cleared(v, mask tensor.Tensor) tensor.Tensor {
	if s, ok := v.(*Tensor); ok {
		cols := eachColumn(s.cols, func(v tensor.Tensor) tensor.Tensor { return cleared(v, mask) })
		return newTensor(s.rank, s.nrows, s.parts, cols, s.dtype)
	}
	if _, ok := v.(optional); ok {
		return hidden(v, mask)
	}
	if d, ok := v.(*Dictionary); ok {
		v = d.Decode()
	}
	switch d := v.DType(); {
	case d.IsString():
		return ops.Where(mask, v, "")
	case d.IsBool():
		return ops.LogicalAnd(mask, v)
	default:
		return ops.Where(mask, v, ops.Cast(0, d))
	}
}

// Sorted returns the same groups sorted by their keys in ascending order, the first key first. NaN
// comes after other numbers, and missing keys come last.
func (g *Grouping) Sorted() *Grouping {
	const fn = "structured.Sorted"
	order := upTo(g.n)
	by := func(v tensor.Tensor) {
		order = ops.Gather(order, ops.ArgSort(ops.Gather(v, order, 0), 0, ops.SortOptions{}), 0)
	}
	var sortBy func(v tensor.Tensor, name string)
	sortBy = func(v tensor.Tensor, name string) {
		v, mask := there(v)
		switch x := v.(type) {
		case *Tensor:
			for _, c := range slices.Backward(x.cols) {
				sortBy(c.v(), name+"."+c.name)
			}
		case composite: // maps have no order, and stay in place
			for _, k := range slices.Backward(orderKeys(x)) {
				by(k)
			}
		default:
			if v.DType().IsComplex() {
				tenon.Throw(invalid(fn, name, "is complex, which has no order"))
			}
			by(v)
		}
		if mask != nil {
			by(ops.LogicalNot(mask))
		}
	}
	firsts := newPicker(g.first)
	for _, c := range slices.Backward(g.keys) {
		sortBy(firsts.take(c, 0).v(), c.name)
	}
	s := *g
	s.perm = order
	return &s
}

// settled renumbers the groups in the order of results.
func (g *Grouping) settled() *Grouping {
	if g.perm == nil {
		return g
	}
	s := *g
	s.ids, s.first, s.sizes, s.perm = g.IDs(), g.ordered(g.first), g.ordered(g.sizes), nil
	return &s
}

// ordered returns the entries of groups in the order of results.
func (g *Grouping) ordered(v tensor.Tensor) tensor.Tensor {
	if g.perm == nil {
		return v
	}
	return ops.Gather(v, g.perm, 0)
}

// inverse returns the inverse of a permutation.
func inverse(order tensor.Tensor) tensor.Tensor {
	n := sizeOf(order, dtype.Int64)
	return ops.ScatterND(ops.ExpandDims(order, 1), upTo(n), ops.ExpandDims(n, 0))
}

// IDs returns the number of each record's group.
//
//	int64[records]
func (g *Grouping) IDs() tensor.Tensor {
	if g.perm == nil {
		return g.ids
	}
	return ops.Gather(inverse(g.perm), g.ids, 0)
}

// Len returns the number of groups as an int64 scalar.
func (g *Grouping) Len() tensor.Tensor { return g.n }

// Keys returns a record for each group with its keys as fields.
func (g *Grouping) Keys() *Tensor { return g.Aggregate() }

// Aggregate returns a record for each group: its keys, named by the last names of their paths, and
// a field for each aggregation.
func (g *Grouping) Aggregate(list ...Aggregation) *Tensor {
	const fn = "structured.Aggregate"
	cols := make([]column, 0, len(g.keys)+len(list))
	firsts := newPicker(g.ordered(g.first))
	for _, c := range g.keys {
		c = firsts.take(c, 0)
		c.now, c.wait, c.inner = c.v(), nil, allPlain // few entries, possibly of many
		cols = append(cols, c)
	}
	for _, a := range list {
		of := g
		if a.lists { // to sort them afterwards would move all records again
			of = g.settled()
		}
		cols = addColumn(fn, cols, a.name, of.ordered(of.compute(fn, a)))
	}
	return newTensor(1, ops.Cast(g.n, g.t.dtype), nil, cols, g.t.dtype)
}

// addColumn appends a column whose name must be new.
func addColumn(fn string, cols []column, name string, v tensor.Tensor) []column {
	cols = append(cols, column{name: name, now: v, inner: allPlain})
	checkAdded(fn, cols)
	return cols
}

// checkAdded throws an error if the last column has no name or that of another
// column.
func checkAdded(fn string, cols []column) {
	last := len(cols) - 1
	name := cols[last].name
	tenon.Throw(checkNames(fn, []Field{{name, tensor.Scalar(false)}}, false))
	if slices.ContainsFunc(cols[:last], func(c column) bool { return c.name == name }) {
		e := invalid(fn, PathString([]string{name}), "there would be two fields with this name")
		e.Hint = "rename one with As or Rename"
		tenon.Throw(e)
	}
}

// Groups returns the records of each group as lists. The keys stay in the records.
//
//	rank 2: [groups, (records)]
func (g *Grouping) Groups() *Tensor {
	g = g.settled()
	splits, at := g.collected(g.ids)
	return grouped(byNumbers(g.t.cols, at, g.t.dtype), partitionOf(splits)).(*Tensor)
}

// collected lists the records of each group in order. ids are the groups of the records, negative
// for records to be omitted.
func (g *Grouping) collected(ids tensor.Tensor) (splits, at tensor.Tensor) {
	if g.order == nil {
		return rows.CollectIndex(ids, g.n)
	}
	splits, at = rows.CollectIndex(ops.Gather(ids, g.order, 0), g.n)
	return splits, ops.Gather(g.order, at, 0)
}

// partition returns the partition of the records of each group, and their numbers.
func (g *Grouping) partition() (*ragged.RowPartition, tensor.Tensor) {
	splits, at := g.collected(g.ids)
	return partitionOf(splits), at
}
