package structured

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

const indexFn = "ops.Index"

// Index returns the part of t that keys select, like [ops.Index]. There is one key for each
// dimension of the records. After these a name selects a field, and further keys select along the
// dimensions that only the field has:
//
//	people.Index(0)                       // a record
//	people.Index(key.From(1))             // the others
//	people.Index(key.All, "name")         // the names of all
//	people.Index(0, "pets", key.To(2))    // the first two pets of the first
//	people.Index([]int{2, 0})             // two records, by number
//	people.Index(isOld)                   // those for which a boolean is true
//
// For a single record the first key is a name, or a whole range, which selects all fields.
func (t *Tensor) Index(keys ...any) (out tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	list, err := key.List(tensors(keys)...)
	if err != nil {
		e := *tenon.AsError(err)
		e.Op, e.Line = indexFn, source.Line()
		return nil, &e
	}
	return t.index(list), nil
}

// TypeName returns "structured.Tensor".
func (t *Tensor) TypeName() string { return TypeName }

// tensors converts slices among keys to tensors.
func tensors(keys []any) []any {
	out := append([]any(nil), keys...)
	for i, k := range out {
		switch k := k.(type) {
		case []int:
			out[i] = tensor.Of(k)
		case []int64:
			out[i] = tensor.Of(k)
		case []bool:
			out[i] = tensor.Of(k)
		}
	}
	return out
}

// At is [Tensor.Index] for use in expressions: it throws errors.
//
//	events.At(0, "jets", key.All, "pt")
func (t *Tensor) At(keys ...any) tensor.Tensor { return tenon.Must(t.Index(keys...)) }

func (t *Tensor) index(keys []key.Key) tensor.Tensor {
	if len(keys) == 0 {
		return t
	}
	if t.rank == 0 && keys[0].IsAll() {
		return t.eachField(keys[1:])
	}
	return indexed(t, keys)
}

// indexed indexes v, which may contain records, some of which may be missing. A name leads to a
// field without gathering its records yet, so that only what the keys select from the last field is
// gathered.
func indexed(v tensor.Tensor, keys []key.Key) tensor.Tensor {
	rank, ok := recordRank(v)
	if !ok {
		return indexedLeaf(v, keys)
	}
	outer := keys[:min(len(keys), rank)]
	for i, k := range outer {
		switch k.Kind {
		case key.EllipsisKind, key.NewAxisKind:
			e := invalid(indexFn, "", "key %d cannot be used for the dimensions of records", i)
			e.Hint = "give key.All for each dimension; ops.ExpandDims adds one"
			tenon.Throw(e)
		case key.FieldKind:
			e := &tenon.Error{Kind: tenon.ErrDType, Op: indexFn, Where: PathString([]string{k.Name}), Line: source.Line()}
			e.Msg, e.Hint = "a field must be selected after the dimensions of the records", "give key.All for each dimension before the name"
			if len(keys) > rank && keys[rank].Kind != key.FieldKind || i > 0 && keys[i-1].Kind == key.RangeKind {
				e.Kind = tenon.ErrInvalid // like an entry of rows of different lengths
			}
			tenon.Throw(e)
		}
	}
	if len(keys) <= rank {
		if t, ok := v.(*Tensor); ok {
			return t.atNumbers(ops.Index(t.Numbers(), anys(keys)...))
		}
		return indexedLeaf(v, keys)
	}
	k := keys[rank]
	if k.Kind != key.FieldKind {
		tenon.Throw(invalid(indexFn, "", "key %d must name a field", rank))
	}
	if t, ok := v.(*Tensor); ok && rank > 0 {
		if i := t.find(k.Name); i >= 0 && isOther(t.cols[i].v()) {
			return t.indexOther(i, outer, keys[rank+1:])
		}
	}
	rest := append(append([]key.Key(nil), outer...), keys[rank+1:]...)
	below := child(v, k.Name, []string{k.Name})
	if len(rest) == 0 {
		return below
	}
	return indexed(below, rest)
}

// indexOther first selects records, and then from a field whose type may not support selecting
// along several dimensions.
func (t *Tensor) indexOther(i int, outer, inner []key.Key) tensor.Tensor {
	some := newTensor(t.rank, t.nrows, t.parts, t.cols[i:i+1], t.dtype)
	v := child(some.atNumbers(ops.Index(some.Numbers(), anys(outer)...)), t.cols[i].name, nil)
	if len(inner) == 0 {
		return v
	}
	left := v.Shape().Rank() - some.cols[0].v().Shape().Rank() + 1 // dimensions of records
	rest := make([]key.Key, left, left+len(inner))
	for i := range rest {
		rest[i] = key.All
	}
	return ops.Index(v, anys(append(rest, inner...))...)
}

// indexedLeaf indexes a value without records. If lists may be missing, keys for their elements do
// not affect the mask, so that an empty list does not become a missing one.
func indexedLeaf(v tensor.Tensor, keys []key.Key) tensor.Tensor {
	m, ok := v.(optional)
	if !ok {
		return ops.Index(v, anys(keys)...)
	}
	k := m.Mask().Shape().Rank()
	outer := keys[:min(len(keys), k)]
	for _, x := range outer {
		if x.Kind == key.EllipsisKind || x.Kind == key.NewAxisKind {
			return ops.Index(v, anys(keys)...)
		}
	}
	if k == m.Shape().Rank() || len(keys) > k && slices.ContainsFunc(keys[k:], func(x key.Key) bool { return x.Kind == key.EllipsisKind }) {
		return ops.Index(v, anys(keys)...)
	}
	mask := m.Mask()
	if len(outer) > 0 {
		mask = ops.Index(mask, anys(outer)...)
	}
	return hidden(indexedLeaf(m.Values(), keys), mask)
}

// recordRank returns the number of dimensions of records, some of which may be
// missing, and false for a value without records.
func recordRank(v tensor.Tensor) (int, bool) {
	switch x := v.(type) {
	case *Tensor:
		return x.rank, true
	case optional:
		return recordRank(x.Values())
	}
	return 0, false
}

// eachField applies keys to all fields of a single record.
func (t *Tensor) eachField(keys []key.Key) tensor.Tensor {
	if len(keys) == 0 {
		return t
	}
	cols := make([]column, len(t.cols))
	for i, c := range t.cols {
		cols[i] = column{name: c.name, now: ops.Index(c.v(), anys(keys)...), inner: allPlain}
	}
	return newTensor(0, nil, nil, cols, t.dtype)
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}
