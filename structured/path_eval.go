package structured

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured/internal/jsonpath"
	"github.com/tenonml/tenon/tensor"
)

// Path returns what a path expression selects. It follows RFC 9535 (JSONPath), but works on
// columns: all records are searched at once, and results keep the dimensions of the lists that
// contain them.
//
//	orders.price                   the prices of each record's orders: [n, (orders)]
//	orders[0].price                of its first order; missing where it has none: [n]
//	orders[-2:].price              of its last two: [n, (orders)]
//	orders[?@.qty > 2].price       of the orders of more than two
//	orders['cat','price']          the orders with these two fields only
//	$[?@.geo.lat > 0].id           the ids of some of the records: [(records)]
//	$[0].orders                    the orders of the first record
//
// A path starts at each record or, with a leading $, at the whole tensor, so that its first
// brackets select records. A name selects a field of each record, looking through all lists on the
// way, so that [*] may be omitted; names that are not identifiers are quoted, `["a b"]` or `."a
// b"`. Brackets select among the elements of the next list: by an index (missing if the list is too
// short; for the records of $, an error), a slice, or ? and a condition. Missing values, records
// and lists stay missing.
//
// A condition compares paths that begin with @, the element, and constants (numbers, strings in
// quotes, true, false, null) with ==, !=, <, <=, > and >=, and combines comparisons with &&, || and
// !. A path by itself tests whether it selects anything: whether an optional field is present, or a
// filtered list is not empty. A boolean must be compared, `@.active == true`. null equals missing
// values, which are neither less nor greater than anything. length(@.x) is the number of elements
// of a list or of characters of a string, count(@.x[*]) the number of nodes that a path selects,
// and match and search apply a regular expression to a string. If a path in a comparison goes
// through a list, any(…) or all(…) around it says for how many of the elements it must hold.
//
// Differences from RFC 9535: any and all are additions; comparing values of different types is an
// error, not false; descendants (..) and lists of indices are not supported, because their results
// would not be columns. Path throws errors, like functions of package ops.
func (t *Tensor) Path(path string) tensor.Tensor {
	q := parsed(path)
	if names, ok := q.Names(); ok {
		v := tenon.Must(t.Field(names...))
		return v
	}
	if q.Root || t.rank == 0 {
		return t.selected(q.Segments, path)
	}
	n := nodeOf(t, path)
	n.at = n.rank
	return n.steps(q.Segments).result()
}

// selected evaluates a path from the whole tensor. Indices at its beginning select rows and, at the
// end, records.
func (t *Tensor) selected(segments []jsonpath.Segment, path string) tensor.Tensor {
	if len(segments) == 0 {
		return t
	}
	if t.rank == 0 {
		n := nodeOf(t.listOf(), path)
		n.at = 1
		return pick(n.steps(segments).result(), tensor.Scalar(int64(0)))
	}
	if b, ok := segments[0].(jsonpath.ByIndex); ok {
		return ops.Index(t, b.At).(*Tensor).selected(segments[1:], path)
	}
	return nodeOf(t, path).steps(segments).result()
}

// A node is what a path has selected so far: nested lists whose elements are either records or
// values of a leaf. Records are kept as columns with the numbers of the selected ones, so that only
// the field that the path goes on to is gathered. Missing values always stay missing: each
// dimension has its own mask, and a missing list has no elements.
type node struct {
	path  string
	rank  int
	nrows tensor.Tensor
	parts []*ragged.RowPartition // of the dimensions below the first
	there []tensor.Tensor        // for each dimension, a flat mask of its elements; nil: all are present
	at    int                    // number of dimensions passed so far
	dtype dtype.DType

	cols []column      // for records
	take tensor.Tensor // numbers of the selected entries of the columns; nil for all
	has  tensor.Tensor // which of the records have entries in the columns; nil for all

	leaf tensor.Tensor // nil for records

	quantified bool // inside any or all
}

func nodeOf(t *Tensor, path string) *node {
	return &node{path: path, rank: t.rank, nrows: t.nrows, parts: slices.Clone(t.parts), there: make([]tensor.Tensor, t.rank), dtype: t.dtype, cols: t.cols}
}

func (n *node) fail(format string, args ...any) {
	tenon.Throw(jsonpath.Error(n.path, format, args...))
}

// steps applies segments one after another.
func (n *node) steps(segments []jsonpath.Segment) *node {
	for _, s := range segments {
		n.step(s)
	}
	return n
}

// step applies one segment.
func (n *node) step(s jsonpath.Segment) {
	switch s := s.(type) {
	case jsonpath.ByName:
		n.name(s)
		return
	}
	if n.at == n.rank {
		n.variant(func(v tensor.Tensor) bool { return v.Shape().Rank() > 1 })
	}
	switch s.(type) {
	case jsonpath.Wildcard:
		if n.at < n.rank || n.deepen() {
			n.at++
		} else if n.leaf != nil {
			n.fail("[*] is applied to a value that is neither a list nor a record")
		}
		return
	}
	if n.at == n.rank && !n.deepen() {
		n.fail("an element is selected from a value that is not a list")
	}
	switch s := s.(type) {
	case jsonpath.ByIndex:
		n.index(s.At)
	case jsonpath.BySlice:
		n.slice(s)
	case jsonpath.ByFilter:
		n.filter(s.Cond)
	}
}

// name goes on to a field, to the values for a key, or to records with some of
// the fields.
func (n *node) name(s jsonpath.ByName) {
	if m, ok := n.leaf.(*Map); ok && !s.List {
		n.at = n.rank
		n.enter(m.lookup(m.spec.keyOf(s.Names[0], n.path)))
		return
	}
	n.variant(func(v tensor.Tensor) bool { s, ok := v.(*Tensor); return ok && s.rank == 1 })
	if n.leaf != nil {
		n.fail("there is no field %q: the path does not lead to a record", s.Names[0])
	}
	n.at = n.rank
	var cols []column
	for i, name := range s.Names {
		k := findColumn(n.cols, name)
		if k < 0 {
			e := jsonpath.Error(n.path, "there is no field %q, but %q", name, namesOf(n.cols))
			e.Kind = tenon.ErrNotFound
			tenon.Throw(e)
		}
		if slices.Contains(s.Names[:i], name) {
			n.fail("the field %q is listed twice", name)
		}
		cols = append(cols, n.cols[k])
	}
	if s.List {
		n.cols = cols
		return
	}
	n.enter(n.entries(cols[0]))
}

func namesOf(cols []column) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = c.name
	}
	return out
}

// entries returns the entries of a column that belong to the selected records.
func (n *node) entries(c column) tensor.Tensor {
	if n.take != nil {
		c = newPicker(n.take).take(c, 0)
	}
	if n.has == nil {
		return c.v()
	}
	return n.filled(c.v())
}

// filled puts entries of a column where a record has one.
func (n *node) filled(v tensor.Tensor) tensor.Tensor {
	return fillBy(v, rows.FromLengths(ops.Cast(n.has, dtype.Int64)))
}

// enter goes on to the entries of a field, one for each element; those of missing elements are
// missing.
func (n *node) enter(v tensor.Tensor) {
	n.take, n.has, n.cols, n.leaf = nil, nil, nil, nil
	n.reach(v)
	for n.leaf != nil && !hasAxes(n.leaf) && n.deepen() {
	}
}

// reach makes entries the elements of the deepest dimension.
func (n *node) reach(v tensor.Tensor) {
	v, mask := there(v)
	last := &n.there[n.rank-1]
	switch {
	case *last == nil:
		*last = mask
	case mask != nil:
		*last = ops.LogicalAnd(*last, mask)
	}
	if s, ok := v.(*Tensor); ok && s.rank == 1 {
		n.cols = s.cols
		return
	}
	n.leaf = v
}

// hasAxes reports whether entries are divided only by axes, not by partitions.
func hasAxes(v tensor.Tensor) bool {
	switch v.(type) {
	case *Tensor, divided:
		return false
	case composite: // a name leads into a map, not to its values
		return true
	}
	list, _, _ := pieces(v)
	return !slices.ContainsFunc(list, func(x tensor.Tensor) bool { return !hasAxes(x) })
}

// variant goes on to the elements of a union that have a type, if exactly one variant has it: the
// others become missing.
func (n *node) variant(of func(v tensor.Tensor) bool) {
	u, ok := n.leaf.(*Union)
	if !ok {
		return
	}
	k := -1
	for i, c := range u.rec.cols[1:] {
		if v, _ := there(c.v()); of(v) {
			if k >= 0 {
				return
			}
			k = i
		}
	}
	if k >= 0 {
		n.leaf = nil
		n.reach(u.variant(k))
	}
}

// deepen takes the next dimension of a leaf's entries as lists. It returns false if there is none.
func (n *node) deepen() bool {
	if n.leaf == nil {
		return false
	}
	p, below, ok := listsOf(n.leaf, n.there[n.rank-1])
	if !ok {
		return false
	}
	n.parts, n.there, n.rank, n.leaf = append(n.parts, p), append(n.there, nil), n.rank+1, nil
	n.reach(below)
	return true
}

// keep keeps only some of the elements of dimension d, by number. The partition must already be
// that of the remaining elements.
func (n *node) keep(d int, at tensor.Tensor) {
	for ; ; d++ {
		if n.there[d] != nil {
			n.there[d] = ops.Gather(n.there[d], at, 0)
		}
		if d == len(n.parts) {
			break
		}
		n.parts[d], at = selectRows(n.parts[d], at)
	}
	switch {
	case n.leaf != nil:
		n.leaf = gatherRows(n.leaf, at)
	case n.has != nil:
		n.settle()
		n.take = at
	case n.take != nil:
		n.take = ops.Gather(n.take, at, 0)
	default:
		n.take = at
	}
}

// settle replaces the columns by those of the selected records.
func (n *node) settle() {
	if n.take != nil {
		n.cols = takeAll(n.cols, n.take, 0)
	}
	if n.has != nil {
		n.cols = eachColumn(n.cols, n.filled)
	}
	n.take, n.has = nil, nil
}

// count returns the number of elements of dimension d.
func (n *node) count(d int) tensor.Tensor {
	if d == 0 {
		return n.nrows
	}
	return n.parts[d-1].NVals()
}

// slice selects a range of each list.
func (n *node) slice(s jsonpath.BySlice) {
	k := key.Key{Kind: key.RangeKind}
	set := func(to *any, i *int) {
		if i != nil {
			*to = *i
		}
	}
	set(&k.Start, s.Start)
	set(&k.Stop, s.Stop)
	set(&k.Step, s.Step)
	d := n.at
	n.at++
	if d == 0 {
		at := ops.Index(upTo(n.nrows), k)
		n.nrows = sizeOf(at, n.dtype)
		n.keep(0, at)
		return
	}
	splits, at := rows.SliceIndex(n.parts[d-1].RowSplits(), k)
	n.parts[d-1] = partitionOf(splits)
	n.keep(d, at)
}

// filter keeps the elements of each list for which a condition is true.
func (n *node) filter(cond jsonpath.Logical) {
	d := n.at
	element := *n
	element.rank, element.at, element.quantified = n.rank-d, 1, false
	element.nrows, element.parts, element.there = n.count(d), slices.Clone(n.parts[d:]), slices.Clone(n.there[d:])
	mask := element.truth(cond)
	n.at++
	at := ops.BooleanMask(upTo(n.count(d)), mask, 0)
	if d == 0 {
		n.nrows = sizeOf(at, n.dtype)
	} else {
		n.parts[d-1] = partitionOf(rows.MaskSplits(n.parts[d-1].RowSplits(), mask))
	}
	n.keep(d, at)
}

// index selects one element of each list, and removes the dimension. If a list is too short or
// missing, so is the element.
func (n *node) index(i int) {
	d := n.at
	if d == 0 {
		n.fail("an element of $ can be selected only at the beginning of a path")
	}
	p := n.parts[d-1]
	lengths := ops.Cast(p.RowLengths(), dtype.Int64)
	first := starts(p.RowSplits())
	var has, at tensor.Tensor
	if i >= 0 {
		has, at = ops.Greater(lengths, int64(i)), ops.Add(first, int64(i))
	} else {
		has, at = ops.GreaterEqual(lengths, -int64(i)), ops.Add(ops.Add(first, lengths), int64(i))
	}
	at = ops.BooleanMask(at, has, 0)
	found := rows.FromLengths(ops.Cast(has, dtype.Int64))
	n.there[d-1] = has
	if m := n.there[d]; m != nil {
		n.there[d-1] = fillBy(ops.Gather(m, at, 0), found)
	}
	n.parts, n.there = slices.Delete(n.parts, d-1, d), slices.Delete(n.there, d, d+1)
	n.rank--
	switch {
	case d <= len(n.parts): // the elements are lists
		q, below := selectRows(n.parts[d-1], at)
		n.parts[d-1] = spreadRows(q, found)
		n.keep(d, below)
	case n.leaf != nil:
		n.leaf = fillBy(gatherRows(n.leaf, at), found)
	default:
		if n.has != nil {
			n.settle()
		}
		if n.take != nil {
			at = ops.Gather(n.take, at, 0)
		}
		n.take, n.has = at, has
	}
}

// result returns the selection with its dimensions.
func (n *node) result() tensor.Tensor {
	var v tensor.Tensor
	if n.leaf != nil {
		v = liftMask(tenon.Must(ragged.FromPartitions(n.leaf, n.parts...)))
	} else {
		n.settle()
		v = newTensor(n.rank, n.nrows, withDType(n.parts, n.dtype), n.cols, n.dtype)
	}
	for d, mask := range slices.Backward(n.there) {
		if mask != nil {
			v = hidden(v, tenon.Must(ragged.FromPartitions(mask, n.parts[:d]...)))
		}
	}
	return v
}
