package named

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// attentionInRows is Attention for queries, keys and values in rows of different lengths: the
// first dimension is the same for all three, the second one that of the queries or the keys, and the
// rest lies inside. It reports false for what the operation on rows does not take.
func (d Dims) attentionInRows(fn string, q, k, v *Tensor, reps *layout, o AttentionOptions) (*Tensor, bool) {
	for _, t := range []*Tensor{q, k, v} {
		if r, ok := ragged.As(t.data); !ok || r.RaggedRank() != 1 || t.spec.names.ids[0] != q.spec.names.ids[0] || t.DType() != q.DType() {
			return nil, false
		}
	}
	key := d.group().ids[0]
	if o.Mask != nil || q.DType() != dtype.Float32 && q.DType() != dtype.Float64 ||
		k.spec.names.ids[1] != key || v.spec.names.ids[1] != key || k.spec.names.has(q.spec.names.ids[1]) || v.spec.names.has(q.spec.names.ids[1]) {
		return nil, false
	}
	inner := func(t *Tensor) *layout { return t.spec.names.without(t.outer()) }
	heads := inner(q).without(reps)
	out := inner(v).without(heads)
	if !inner(q).hasAll(reps) || !equalNames(inner(k), heads.and(reps)) || !inner(v).hasAll(heads) || len(out.both(reps).ids) > 0 {
		return nil, false
	}
	number := 1
	sizes := make([]int, 0, len(inner(v).ids))
	for _, n := range heads.ids {
		size := q.size(n)
		if size < 1 {
			return nil, false
		}
		number, sizes = number*size, append(sizes, size)
	}
	for _, n := range out.ids {
		size := v.size(n)
		if size < 0 {
			return nil, false
		}
		sizes = append(sizes, size)
	}
	matchRows(fn, k, v)
	items := func(t *Tensor, last *layout) tensor.Tensor {
		p := heads.and(last).of().regroup(fn, t.packed(), []id{packedInside}, nil)
		return p.ordered(layoutOf([]id{packedID, packedInside})).data
	}
	splits := func(t *Tensor) tensor.Tensor { return t.inRows().RowSplits() }
	y := rows.Attention(items(q, reps), items(k, reps), items(v, out), splits(q), splits(k), rows.AttentionOptions{Heads: number, Scale: o.Scale, Causal: o.Causal})
	z := newTensor(y, layoutOf([]id{packedID, packedInside}), sideOf(fn, q, k, v))
	return q.unpacked(layoutOf([]id{packedInside}).of().regroup(fn, z, heads.and(out).ids, sizes)), true
}
