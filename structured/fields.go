package structured

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured/internal/jsonpath"
	"github.com/tenonml/tenon/tensor"
)

// The methods in this file, and those for filters, groups, joins and flattening, are meant for
// expressions: they take paths as text and throw their errors, like functions of package ops.
// tenon.Try returns thrown errors.

// fieldPath returns the names of a path that leads to a field. It throws.
func fieldPath(fn, path string) []string {
	names := tenon.Must(ParsePath(path))
	if len(names) == 0 {
		tenon.Throw(invalid(fn, path, "is not a path to a field"))
	}
	return names
}

// Select returns the records with only the fields at the given paths, in the order of the paths. A
// path that goes through records, such as `orders.price`, keeps only what is selected of them;
// `orders['cat','price']` selects several fields. Nothing is copied.
func (t *Tensor) Select(paths ...string) *Tensor {
	const fn = "structured.Select"
	tree := &selection{}
	for _, text := range paths {
		q := parsed(text)
		if len(q.Segments) == 0 {
			tenon.Throw(invalid(fn, text, "is not a path to a field"))
		}
		heads := []*selection{tree}
		for i, s := range q.Segments {
			names, ok := s.(jsonpath.ByName)
			if !ok {
				tenon.Throw(jsonpath.Error(text, "must consist of names: use Path or Filter to select elements"))
			}
			var next []*selection
			for _, h := range heads {
				for _, name := range names.Names {
					next = append(next, h.child(name, i == len(q.Segments)-1))
				}
			}
			heads = next
		}
	}
	return t.only(fn, tree, nil)
}

// A selection is a tree of names. If whole is set, it covers everything below.
type selection struct {
	name  string
	below []*selection
	whole bool
}

func (s *selection) child(name string, whole bool) *selection {
	k := slices.IndexFunc(s.below, func(b *selection) bool { return b.name == name })
	if k < 0 {
		k = len(s.below)
		s.below = append(s.below, &selection{name: name})
	}
	s.below[k].whole = s.below[k].whole || whole
	return s.below[k]
}

// only returns the records with the selected fields.
func (t *Tensor) only(fn string, s *selection, path []string) *Tensor {
	cols := make([]column, len(s.below))
	for i, b := range s.below {
		at := append(slices.Clone(path), b.name)
		t.wantField(fn, at)
		cols[i] = t.cols[t.find(b.name)]
		if !b.whole {
			below := inRecords(cols[i].v(), func(u *Tensor) *Tensor { return u.only(fn, b, at) })
			if below == nil {
				tenon.Throw(invalid(fn, PathString(at), "is not a structured field"))
			}
			cols[i] = cols[i].with(below)
		}
	}
	return newTensor(t.rank, t.nrows, t.parts, cols, t.dtype)
}

// inRecords applies f to a column of records, which may be optional. It returns nil for other
// columns.
func inRecords(v tensor.Tensor, f func(*Tensor) *Tensor) tensor.Tensor {
	values, with := unmasked(v)
	if s, ok := values.(*Tensor); ok {
		return with(f(s))
	}
	return nil
}

// Drop returns the records without the fields at the given paths.
func (t *Tensor) Drop(paths ...string) *Tensor {
	updates := make([]Update, len(paths))
	for i, p := range paths {
		updates[i].Path = fieldPath("structured.Drop", p)
	}
	return tenon.Must(t.WithUpdates(updates))
}

// With returns the records with the field at a path set to a value. The value is a tensor, or Go
// data that [tensor.Convert] accepts, and must begin with the dimensions of the records; a scalar
// is used for all records.
func (t *Tensor) With(path string, value any) *Tensor {
	v := tenon.Must(tensor.Convert(value))
	return tenon.Must(t.WithUpdates([]Update{{Path: fieldPath("structured.With", path), Value: v, repeats: v.Shape().IsScalar()}}))
}

// Rename returns the records with the field at a path renamed; its position is unchanged. A name
// that another field has is an error.
func (t *Tensor) Rename(path, name string) *Tensor {
	const fn = "structured.Rename"
	names := fieldPath(fn, path)
	tenon.Throw(checkNames(fn, []Field{{name, tensor.Scalar(false)}}, false))
	return t.changed(fn, names, 0, func(u *Tensor, k int) []column {
		u.wantField(fn, names)
		cols := slices.Clone(u.cols)
		cols[k].name = name
		if j := u.find(name); j >= 0 && j != k {
			tenon.Throw(invalid(fn, PathString(names), "there is a field %q already", name))
		}
		return cols
	})
}

// wantField throws an error unless t has the field at the end of a path.
func (t *Tensor) wantField(fn string, path []string) {
	if t.find(path[len(path)-1]) < 0 {
		tenon.Throw(failed(tenon.ErrNotFound, fn, PathString(path), "there is no such field, but %q", t.FieldNames()))
	}
}

// changed replaces the columns of the records that contain the field at a path. If they do not
// contain it yet, f is called with a negative k.
func (t *Tensor) changed(fn string, path []string, depth int, f func(u *Tensor, k int) []column) *Tensor {
	k := t.find(path[depth])
	var cols []column
	if depth == len(path)-1 {
		cols = f(t, k)
	} else {
		t.wantField(fn, path[:depth+1])
		cols = slices.Clone(t.cols)
		below := inRecords(cols[k].v(), func(u *Tensor) *Tensor { return u.changed(fn, path, depth+1, f) })
		if below == nil {
			tenon.Throw(invalid(fn, PathString(path[:depth+1]), "is not a structured field"))
		}
		cols[k] = cols[k].with(below)
	}
	return newTensor(t.rank, t.nrows, t.parts, cols, t.dtype)
}

// Apply returns the records with the field at a path replaced by the result of f, which must keep
// the records' dimensions.
func (t *Tensor) Apply(path string, f func(v tensor.Tensor) tensor.Tensor) *Tensor {
	u := Update{Path: fieldPath("structured.Apply", path), Func: func(old tensor.Tensor) (tensor.Tensor, error) {
		return tenon.Try(func() tensor.Tensor { return f(old) })
	}}
	return tenon.Must(t.WithUpdates([]Update{u}))
}

// MapFields returns the records with each field that is not itself records, at any depth, replaced
// by the result of f, which gets its path. f may return nil to drop the field. Where a record is
// missing, its fields contain filler, and the result of f is also missing.
func (t *Tensor) MapFields(f func(path []string, v tensor.Tensor) tensor.Tensor) *Tensor {
	return newTensor(t.rank, t.nrows, t.parts, t.mapFields(nil, f), t.dtype)
}

// mapFields returns the columns of mapped fields of t, which is at a path.
func (t *Tensor) mapFields(path []string, f func(path []string, v tensor.Tensor) tensor.Tensor) []column {
	const fn = "structured.MapFields"
	var cols []column
	for _, c := range t.cols {
		at := append(slices.Clone(path), c.name)
		below := inRecords(c.v(), func(u *Tensor) *Tensor {
			full := u // with the dimensions of the enclosing records
			if t.rank > 0 {
				full = t.field(c.with(u)).(*Tensor)
			}
			return newTensor(u.rank, u.nrows, u.parts, full.mapFields(at, f), u.dtype)
		})
		if below != nil {
			c = c.with(below)
		} else if v := f(at, t.field(c)); v == nil {
			continue
		} else {
			c = columnOf(fn, Field{c.name, v}, t.rank, t, t.dtype)
		}
		cols = append(cols, c)
	}
	return cols
}

// Unzip returns the fields, each with the dimensions of the records.
func (t *Tensor) Unzip() []Field {
	out := make([]Field, len(t.cols))
	for i, c := range t.cols {
		out[i] = Field{c.name, t.field(c)}
	}
	return out
}

// Zip returns records of the given rank with the given fields. It is the inverse of [Tensor.Unzip].
// A field with fewer dimensions is repeated for the lists below it: with rank 2, a field with one
// value for each row gives this value to all records of the row.
func Zip(rank int, fields ...Field) *Tensor {
	const fn = "structured.Zip"
	tenon.Throw(checkNames(fn, fields, false))
	deep := slices.IndexFunc(fields, func(f Field) bool { return f.Value.Shape().Rank() >= rank })
	if deep < 0 || rank < 1 {
		tenon.Throw(invalid(fn, "", "records of rank %d need a field with as many dimensions", rank))
	}
	var own []Field
	for _, f := range fields {
		if f.Value.Shape().Rank() >= rank {
			own = append(own, f)
		}
	}
	base := tenon.Must(FromFieldsAndRank(own, rank, Options{}))
	cols := make([]column, len(fields))
	for i, f := range fields {
		if k := base.find(f.Name); k >= 0 {
			cols[i] = base.cols[k]
			continue
		}
		r := f.Value.Shape().Rank()
		if r < 1 {
			tenon.Throw(invalid(fn, f.Name, "is a scalar: it has no rows"))
		}
		upper := tenon.Must(FromFields([]Field{f}, base.Shape().Slice(0, r), Options{RowPartitions: base.parts[:r-1], DType: base.dtype}))
		cols[i] = column{name: f.Name, now: base.repeated(upper.cols[0].v(), r), inner: allPlain}
	}
	return newTensor(rank, base.nrows, base.parts, cols, base.dtype)
}

// repeated repeats entries, one for each list in dimension r, for all records in the lists.
func (t *Tensor) repeated(v tensor.Tensor, r int) tensor.Tensor {
	for _, p := range t.parts[r-1:] {
		v = ops.Gather(v, p.ValueRowIDs(), 0)
	}
	return v
}

// Broadcast returns the records with the field at path copied to the records below them at the path
// to, under a name: each child gets the value of its parent. It is the inverse of [Tensor.Promote].
//
//	people.Broadcast("name", "pets", "owner")
func (t *Tensor) Broadcast(path, to, name string) *Tensor {
	const fn = "structured.Broadcast"
	from, below := fieldPath(fn, path), fieldPath(fn, to)
	parent := from[:len(from)-1]
	if len(below) <= len(parent) || !slices.Equal(parent, below[:len(parent)]) {
		tenon.Throw(invalid(fn, PathString(below), "is not below the records that have %s", PathString(from)))
	}
	over, _ := unmasked(tenon.Must(t.Field(parent...)))
	under, _ := unmasked(tenon.Must(t.Field(below...)))
	above, ok := over.(*Tensor)
	child, ok2 := under.(*Tensor)
	if !ok || !ok2 {
		tenon.Throw(invalid(fn, PathString(below), "is not a structured field"))
	}
	tenon.Must(t.Field(from...)) // throws if a field is missing
	v := above.cols[above.find(from[len(from)-1])].v()
	if above.rank == 0 {
		tenon.Throw(invalid(fn, PathString(from), "belongs to a single record: index or stack records first"))
	}
	v = child.repeated(v, above.rank)
	tenon.Throw(checkNames(fn, []Field{{name, v}}, false))
	if child.find(name) >= 0 {
		tenon.Throw(invalid(fn, PathString(append(below, name)), "a field with this name exists already"))
	}
	return t.changed(fn, append(below, name), 0, func(u *Tensor, _ int) []column {
		return append(slices.Clone(u.cols), column{name: name, now: v, inner: allPlain})
	})
}

// Filter returns the records for which a condition is true. The condition is written like a filter
// of [Tensor.Path]. In lists of records, each list is filtered.
//
//	events.Filter("@.geo.lat > 0 && any(@.orders.price > 100)")
func (t *Tensor) Filter(condition string) *Tensor {
	const fn = "structured.Filter"
	cond := tenon.Must(jsonpath.ParseCondition(condition))
	if t.rank == 0 {
		tenon.Throw(invalid(fn, "", "a single record is not a list to filter"))
	}
	n := nodeOf(t, condition)
	n.at = t.rank - 1
	n.filter(cond)
	return n.result().(*Tensor)
}

// Where returns the records for which mask is true. The mask has a boolean for each row, or for
// each record in lists of lists. A missing boolean counts as false.
func (t *Tensor) Where(mask any) *Tensor {
	const fn = "structured.Where"
	m := tenon.Must(tensor.Convert(mask))
	if t.rank == 0 {
		tenon.Throw(invalid(fn, "", "a single record is not a list to filter"))
	}
	if o, ok := covering(m, m.Shape().Rank()).(optional); ok {
		m = ops.LogicalAnd(o.Values(), o.Mask())
	}
	if r := m.Shape().Rank(); r < 1 || r > t.rank {
		tenon.Throw(invalid(fn, "mask", "has rank %d, the records %d", r, t.rank))
	}
	if m.Shape().Rank() == 1 && t.rank == 1 {
		n, k := known(t.nrows), m.Shape().Dim(0)
		switch {
		case n < 0 || k < 0: // the operation compares the sizes when it runs
			return byNumbers(t.cols, ops.BooleanMask(t.Numbers(), m, 0), t.dtype)
		case n != k:
			tenon.Throw(failed(tenon.ErrShape, fn, "mask", "has %d booleans for %d rows", k, n))
		}
		return byNumbers(t.cols, ops.Reshape(ops.Nonzero(m), []int{-1}), t.dtype)
	}
	return byNumbers(t.cols, tenon.Must(ragged.BooleanMask(t.Numbers(), m)), t.dtype)
}
