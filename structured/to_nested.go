package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// ToNested returns the records as plain nested data. It is the inverse of [FromNested]. Records
// become maps, and so do maps with string keys; other maps become lists of entries. Missing values
// become nil.
func (t *Tensor) ToNested() (x any, err error) {
	defer tenon.Catch(&err)
	if t.rank == 0 {
		m := map[string]any{}
		for _, c := range t.cols {
			m[c.name] = plain(c.v())
		}
		return m, nil
	}
	n := known(t.count())
	if n < 0 {
		return nil, symbolic()
	}
	list := make([]any, n)
	for i := range list {
		list[i] = make(map[string]any, len(t.cols))
	}
	for _, c := range t.cols {
		for i, x := range plain(c.v()).([]any) {
			list[i].(map[string]any)[c.name] = x
		}
	}
	for k := len(t.parts) - 1; k >= 0; k-- {
		splits, ok := t.parts[k].Splits64()
		if !ok {
			return nil, symbolic()
		}
		rows := make([]any, len(splits)-1)
		for r := range rows {
			rows[r] = list[splits[r]:splits[r+1]:splits[r+1]]
		}
		list = rows
	}
	return list, nil
}

func symbolic() error {
	return failed(tenon.ErrUnsupported, "structured.ToNested", "", "the tensor is symbolic: its records do not exist while a function is traced")
}

// plain returns a tensor as nested lists, and a scalar as a Go scalar.
func plain(v tensor.Tensor) any {
	switch x := v.(type) {
	case *Tensor:
		return tenon.Must(x.ToNested())
	case interface{ Nested() ([]any, error) }:
		return tenon.Must(x.Nested())
	case optional:
		return withoutMissing(plain(x.Values()), plain(x.Mask()))
	case *Dictionary:
		return plain(x.Decode())
	case *Map:
		return mapsOf(plain(x.rec), x.spec.HasTextKeys())
	case *Union:
		variants := make([]any, len(x.rec.cols)-1)
		for i, c := range x.rec.cols[1:] {
			variants[i] = plain(x.rec.field(c))
		}
		return chosen(plain(x.Tags()), variants)
	}
	c, ok := op.Known(v)
	if !ok {
		return plainOther(v)
	}
	// A single row with all elements, read like a row of a ragged tensor.
	row := tenon.Must(ragged.FromRowSplits(ops.ExpandDims(c, 0), []int64{0, 1}))
	return tenon.Must(row.Nested())[0].([]any)[0]
}

// plainOther is plain for tensors that are neither dense nor one of this module's types of rows. A
// tensor that only adds to another one is written like that one, one with omitted zeros like a
// dense one, and any other Value, or a row of it, as itself.
func plainOther(v tensor.Tensor) any {
	if h, ok := v.(*Held); ok {
		if !h.spec.rows {
			return h.v
		}
		if h.spec.n < 0 {
			tenon.Throw(symbolic())
		}
		out := make([]any, h.spec.n)
		for i := range out {
			out[i] = pick(h, tensor.Scalar(int64(i))).(*Held).v
		}
		return out
	}
	if p, ok := v.(tensor.Plainer); ok && isOther(v) {
		return tenon.Must(p.Plain())
	}
	if d := denser(v); isOther(v) && !isOther(d) {
		return plain(d)
	}
	parts, err := v.Spec().Disassemble(v)
	if err == nil && len(parts) == 1 && !tenon.IsLeaf(v.Spec()) {
		if t, ok := parts[0].(tensor.Tensor); ok && t.Shape().Equal(v.Shape()) {
			return plain(t)
		}
	}
	if !isOther(v) || !concrete(v) {
		tenon.Throw(symbolic())
	}
	if n := v.Shape(); n.HasRank() && n.Rank() > 0 && n.Dim(0) >= 0 {
		out := make([]any, n.Dim(0))
		for i := range out {
			out[i] = pick(v, tensor.Scalar(int64(i)))
		}
		return out
	}
	return v
}

// withoutMissing replaces entries by nil where a mask is false.
func withoutMissing(x, mask any) any {
	if there, ok := mask.(bool); ok {
		if !there {
			return nil
		}
		return x
	}
	for i, m := range mask.([]any) {
		x.([]any)[i] = withoutMissing(x.([]any)[i], m)
	}
	return x
}

// chosen takes each element from the variant given by its tag.
func chosen(tags any, variants []any) any {
	list, ok := tags.([]any)
	if !ok {
		return variants[tags.(int8)]
	}
	out := make([]any, len(list))
	for i, tag := range list {
		own := make([]any, len(variants))
		for k, v := range variants {
			own[k] = v.([]any)[i]
		}
		out[i] = chosen(tag, own)
	}
	return out
}

// mapsOf converts records of map entries to maps or, if the keys are not strings, to lists of
// entries.
func mapsOf(x any, texts bool) any {
	if list, ok := x.([]any); ok {
		for i, y := range list {
			list[i] = mapsOf(y, texts)
		}
		return list
	}
	entries := x.(map[string]any)[entriesName].([]any)
	if !texts {
		return entries
	}
	out := make(map[string]any, len(entries))
	for _, e := range entries {
		e := e.(map[string]any)
		out[e[keyName].(string)] = e[valueName]
	}
	return out
}
