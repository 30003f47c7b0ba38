package jsoncol

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
)

// widen changes k to s, which accepts everything that k's schema accepts and more. The rows of k
// are kept: integers become floating-point numbers, a column becomes an alternative of a union, and
// a new field is missing in all rows. It fails if the policy for missing values does not allow
// that.
func (m *merger) widen(k *sink, s *Schema, o *Options) *failure {
	m.settle()
	before := k.kind
	k.schema, k.kind = s, s.Kind
	switch {
	case before == Int64 && s.Kind == Int64 && s.DType == dtype.Uint64 && k.narrow == nil:
		m.unsigned(k)
	case before == s.Kind:
	case s.Kind == Union:
		m.unite(k, before, s)
	case before == Null:
		rows := k.n
		*k = *newSink(s)
		return m.backfill(k, rows, o)
	case before == Int64 && s.Kind == Float64:
		k.floats = extend(m, k.floats, k.n)
		for i, v := range k.ints {
			k.floats[i] = float64(v)
		}
		k.ints = nil
	}
	if k.elem != nil {
		if f := m.widen(k.elem, s.Elem, o); f != nil {
			if s.Kind == List {
				f.path = append(f.path, "[]")
			}
			return f
		}
	}
	for i, f := range s.Fields {
		var fail *failure
		if i < len(k.fields) {
			fail = m.widen(k.fields[i], f.Schema, o)
		} else {
			field := newSink(f.Schema)
			k.fields = append(k.fields, field)
			if s.Kind == Struct {
				fail = m.backfill(field, k.n, o)
			}
		}
		if fail != nil {
			if s.Kind == Struct {
				fail.path = append(fail.path, quoteName(f.Name))
			}
			return fail
		}
	}
	return nil
}

// unsigned converts integers, none of which is negative, to uint64.
func (m *merger) unsigned(k *sink) {
	k.narrow = newNarrow(dtype.Uint64)
	k.narrow.grow(m, k.n)
	k.narrow.target(0).copyInts(k.ints)
	k.ints = nil
}

// gap returns a failure if widening k to s would have to fill in rows although the policy for
// missing values does not allow it, or to make negative integers unsigned.
func (k *sink) gap(s *Schema, o *Options) *failure {
	if k.kind == Null {
		if k.n > 0 && s.Kind != Null {
			return s.refuse(o)
		}
		return nil
	}
	if k.kind == Int64 && s.Kind == Int64 && s.DType == dtype.Uint64 && k.narrow == nil && slices.ContainsFunc(k.ints, func(v int64) bool { return v < 0 }) {
		return &failure{code: OutOfRange, at: s.at, row: s.row,
			detail: "an integer beyond int64, but earlier records have negative ones (Overflow: float64 would accept both)"}
	}
	if k.kind != Union && s.Kind == Union {
		return k.gap(s.Fields[0].Schema, o) // the alternative that k becomes
	}
	if (k.kind == List || k.kind == Map) && s.Kind == k.kind {
		if f := k.elem.gap(s.Elem, o); f != nil {
			if k.kind == List {
				f.path = append(f.path, "[]")
			}
			return f
		}
	}
	if k.kind != Struct && k.kind != Union || k.kind != s.Kind {
		return nil
	}
	for i, field := range s.Fields {
		var f *failure
		if i < len(k.fields) {
			f = k.fields[i].gap(field.Schema, o)
		} else if k.kind == Struct && k.n > 0 {
			f = field.Schema.refuse(o)
		}
		if f != nil {
			if k.kind == Struct {
				f.path = append(f.path, quoteName(field.Name))
			}
			return f
		}
	}
	return nil
}

// refuse returns a failure if missing rows of s must not be filled in.
func (s *Schema) refuse(o *Options) *failure {
	policy := s.Missing
	if policy == MissingInherit {
		policy = o.Missing
	}
	if policy == MissingMasked || policy == MissingDefault || policy == MissingEmpty && (s.Kind == List || s.Kind == Map || s.Kind == Null) {
		return nil
	}
	return &failure{code: MissingValue, at: s.at, row: s.row,
		detail: "first found here, but missing from earlier records (another policy for missing values would fill them in)"}
}

// backfill appends missing rows to k, which is empty, for the rows that were read before k was
// known.
func (m *merger) backfill(k *sink, rows int, o *Options) *failure {
	if rows == 0 {
		return nil
	}
	const block = 4096
	n := newNode(k.schema, o)
	if m.gaps -= int64(rows) * int64(n.cells); m.gaps < 0 {
		return &failure{code: TooSparse, at: k.schema.at, row: k.schema.row, detail: tooSparse, keys: k.schema.inferred, backfilled: true}
	}
	for rows > 0 {
		n.reset()
		for range min(rows, block) {
			if !n.addMissing() { // cannot happen: gap has checked the policy
				return &failure{code: MissingValue, at: k.schema.at, detail: "earlier rows have no value"}
			}
		}
		m.reserve(k, n, 0, n.n)
		n.copyOut()
		rows -= n.n
	}
	return nil
}

// unite turns k, which was of kind before, into a union. Its rows become the first alternative;
// missing rows belong to no alternative.
func (m *merger) unite(k *sink, before Kind, s *Schema) {
	old := *k
	*k = sink{schema: s, kind: Union, n: old.n, valid: old.valid}
	k.tags = extend(m, k.tags, k.n)
	k.ints = extend(m, k.ints, k.n)
	if before == Null {
		for i := range k.tags {
			k.tags[i], k.ints[i] = -1, 0
		}
		if k.n > 0 {
			k.valid = extend(m, k.valid, k.n)
			clear(k.valid)
		}
		return
	}
	row := int64(0)
	for i := range k.tags {
		k.tags[i], k.ints[i] = -1, 0
		if old.valid == nil || old.valid[i] {
			k.tags[i], k.ints[i] = 0, row
			row++
		}
	}
	old.kind = before
	old.schema = s.Fields[0].Schema
	if k.valid != nil {
		old.valid = nil // now belongs to the union
		old.compact(k.valid)
	}
	k.fields = []*sink{&old}
}

// compact drops the rows that are not to be kept. They have no list elements and no text.
func (k *sink) compact(keep []bool) {
	if k.narrow != nil {
		k.narrow.compact(keep)
	}
	switch k.kind {
	case Bool:
		k.bools = kept(k.bools, keep)
	case Int64:
		k.ints = kept(k.ints, keep[:len(k.ints)])
	case Float64:
		k.floats = kept(k.floats, keep[:len(k.floats)])
	case String, List, Map:
		k.offsets = k.offsets[:1+len(kept(k.offsets[1:], keep))]
	case Union:
		k.tags, k.ints = kept(k.tags, keep), kept(k.ints, keep)
	case Struct:
		for _, f := range k.fields {
			f.compact(keep)
		}
	}
	if k.valid != nil {
		if k.valid = kept(k.valid, keep); !slices.Contains(k.valid, false) {
			k.valid = nil
		}
	}
	k.n = 0
	for _, ok := range keep {
		k.n += bit(ok)
	}
}

// kept moves the elements of s that are kept to its front and returns them.
func kept[T any](s []T, keep []bool) []T {
	n := 0
	for i, ok := range keep {
		if ok {
			s[n] = s[i]
			n++
		}
	}
	return s[:n]
}
