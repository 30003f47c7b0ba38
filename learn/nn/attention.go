package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// MultiHeadAttention lets each position of a row attend to others (A. Vaswani et al.,
// arXiv:1706.03762): with heads h,
//
//	y = concatₕ softmax(Qₕ·Kₕᵀ/√d)·Vₕ · Out,   Q = Query(x), K = Key(z), V = Value(z)
type MultiHeadAttention struct {
	Query, Key, Value, Out Dense
	Heads                  int `tenon:"static"`
	KeyHeads               int `tenon:"static"` // heads of keys and values, each shared by several query heads; 0 means Heads
	Sight                  `tenon:"static"`
	Rotary                 float64 `tenon:"static"` // base of the rotary embeddings of positions; 0: none
	Names                  Names   `tenon:"static"`
}

// AttentionOptions are the options of [NewMultiHeadAttention]. The zero value is the default.
type AttentionOptions struct {
	Size     int // features of queries of all heads together; 0 stands for those of the input
	Values   int // features of values if they had Heads heads; 0 means Size
	KeyHeads int // heads of keys and values, a divisor of the query heads (J. Ainslie et al., EMNLP 2023); 0 means as many as query heads
	Sight    Sight
	Rotary   float64 // base of rotary positions, such as 10,000; 0: none
	NoBias   bool
	Init     Init // of the kernels; "" stands for GlorotUniform
	DType    dtype.DType
	Names    Names // In and Out: features; Along: positions
}

// NewMultiHeadAttention returns a layer whose output has as many features as its input.
func NewMultiHeadAttention(key tensor.Tensor, features, heads int, options ...AttentionOptions) MultiHeadAttention {
	o := option(options)
	if o.Size == 0 {
		o.Size = features
	}
	if o.Values == 0 {
		o.Values = o.Size
	}
	if o.KeyHeads == 0 {
		o.KeyHeads = heads
	}
	if heads < 1 || o.KeyHeads < 1 || o.Size%heads != 0 || o.Values%heads != 0 || heads%o.KeyHeads != 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "nn.NewMultiHeadAttention", fmt.Sprintf(
			"%d heads must divide %d query features and %d value features, and be a multiple of %d key heads", heads, o.Size, o.Values, o.KeyHeads)))
	}
	k := keys(key, 4)
	d := DenseOptions{NoBias: o.NoBias, Init: o.Init, DType: o.DType}
	return MultiHeadAttention{
		Query: NewDense(k[0], features, o.Size, d), Key: NewDense(k[1], features, o.Size/heads*o.KeyHeads, d),
		Value: NewDense(k[2], features, o.Values/heads*o.KeyHeads, d), Out: NewDense(k[3], o.Values, features, d),
		Heads: heads, KeyHeads: o.KeyHeads, Sight: o.Sight, Rotary: o.Rotary, Names: o.Names,
	}
}

// Apply returns self-attention: each position attends to those of its own row.
//
//	x: [..., positions, features] dense, [rows, (positions), features] ragged, or {..., Along, In}
func (l MultiHeadAttention) Apply(x tensor.Tensor) tensor.Tensor { return l.ApplyTo(x, x, nil) }

// ApplyTo returns the attention of each position of x to the positions of z in the same row, as far as the
// mask, if there is one, permits. A position that attends to none gets Out's bias.
//
//	x: [..., n, features], z: [..., m, features], mask: bool[..., n, m] or a tensor that broadcasts to it
//	x, z: [rows, (n), features], [rows, (m), features], mask: bool[rows, (m)]: which positions of z are attended to
//
// Both are dense, both ragged, or both named with positions along Names.Along; the mask is not named.
func (l MultiHeadAttention) ApplyTo(x, z, mask tensor.Tensor) tensor.Tensor {
	const fn = "nn.MultiHeadAttention"
	switch t := x.(type) {
	case dimensioned:
		u, ok := z.(dimensioned)
		if !ok {
			mixed(fn, x, z)
		}
		from, to := []named.Name{l.Names.Along, l.Names.In}, []named.Name{l.Names.Along, l.Names.out()}
		order := batchNames(fn, t, from)
		other := named.Unnamed(u, append(append([]named.Name{}, order...), from...)...)
		return unnamed(fn, t, from, to, func(v tensor.Tensor) tensor.Tensor {
			if x == z {
				other = v
			}
			return l.ApplyTo(v, other, mask)
		})
	case rowed:
		u, ok := z.(rowed)
		if !ok || u.RaggedRank() != t.RaggedRank() {
			mixed(fn, x, z)
		}
		return innermost(fn, t, func(x rowed) tensor.Tensor { return l.ragged(fn, x, inner(u), innerMask(mask)) })
	}
	if _, ok := z.(rowed); ok {
		mixed(fn, x, z)
	}
	if t, ok := z.(someMissing); ok { // missing positions of z are not attended to
		items, there := filled(fn, t, 0)
		seen := ops.ExpandDims(there, -2)
		if mask != nil {
			seen = ops.LogicalAnd(seen, mask)
		}
		if x == z {
			return tenon.Must(t.Carry(l.ApplyTo(items, items, seen)))
		}
		return l.ApplyTo(x, items, seen)
	}
	if t, ok := x.(someMissing); ok {
		items, _ := filled(fn, t, 0)
		return tenon.Must(t.Carry(l.ApplyTo(items, z, mask)))
	}
	wantPositions(fn, x)
	wantPositions(fn, z)
	q, k, v := l.project(x, z)
	if l.Rotary != 0 {
		q, k = l.turned(q, nil), l.turned(k, nil)
	}
	return l.joined(attend(fn, q, k, v, l.Heads, l.keyHeads(), mask, l.Sight, nil))
}

func (l MultiHeadAttention) keyHeads() int {
	if l.KeyHeads == 0 {
		return l.Heads
	}
	return l.KeyHeads
}

// project returns the queries of x, and the keys and values of z, split into heads.
func (l MultiHeadAttention) project(x, z tensor.Tensor) (q, k, v tensor.Tensor) {
	return l.heads(l.Query.Apply(x), l.Heads), l.heads(l.Key.Apply(z), l.keyHeads()), l.heads(l.Value.Apply(z), l.keyHeads())
}

// heads reshapes [..., n, heads·d] to [..., n, heads, d].
func (l MultiHeadAttention) heads(x tensor.Tensor, heads int) tensor.Tensor {
	n := known(x)
	if n >= 0 {
		if n%heads != 0 {
			tenon.Throw(tenon.NewError(tenon.ErrShape, "nn.MultiHeadAttention", fmt.Sprintf("%d heads do not divide %d features", heads, n)))
		}
		n /= heads
	}
	return withLast(x, 1, heads, n)
}

// joined merges the heads and applies the last layer.
func (l MultiHeadAttention) joined(y tensor.Tensor) tensor.Tensor {
	return l.Out.Apply(withLast(y, 2, max(-1, l.Out.Kernel.Shape().Dim(0))))
}

// turned applies rotary embeddings; positions count from 0 if they are not given.
func (l MultiHeadAttention) turned(x, positions tensor.Tensor) tensor.Tensor {
	if positions == nil {
		positions = ops.Range(int64(0), ops.Index(ops.Cast(ops.Shape(x), dtype.Int64), -3), int64(1))
	}
	return Rotary(x, positions, RotaryOptions{Base: l.Rotary})
}

// ragged is ApplyTo for rows.
func (l MultiHeadAttention) ragged(fn string, x, z rowed, mask tensor.Tensor) tensor.Tensor {
	if mask != nil {
		if l.Rotary != 0 || l.Sight.near() {
			tenon.Throw(tenon.NewError(tenon.ErrUnsupported, fn, "a mask of ragged rows cannot be combined with rotary embeddings or a window: distances are not known"))
		}
		seen, ok := tenon.Must(ragged.BooleanMask(z, mask)).(rowed)
		if !ok {
			mixed(fn, z, mask)
		}
		z = seen
	}
	flat, _ := x.Carried()
	other, _ := z.Carried()
	splits, ends := x.RowSplits(), z.RowSplits()
	q, k, v := l.project(flat, other)
	if l.Rotary != 0 {
		q = l.turned(q, rows.Offsets(splits, -1))
		k = l.turned(k, rows.Offsets(ends, -1))
	}
	return tenon.Must(x.Carry(l.joined(attend(fn, q, k, v, l.Heads, l.keyHeads(), nil, l.Sight, &divided{splits, ends}))))
}

// A Cache holds the keys and values of the positions that [MultiHeadAttention.Extend] has seen
// so far.
type Cache struct {
	Keys, Values tensor.Tensor // [..., positions, heads, d] or [rows, (positions), heads, d]; nil before the first
	There        tensor.Tensor // bool[..., positions] of masked positions; nil: none is missing
}

// Extend returns the output of Apply at positions that follow those of the cache, and the cache extended by
// them, without computing earlier positions again. The layer must be causal. If x is ragged, each row is
// extended by its number of positions, which may be 0. The dimensions of named values must have the same order in all
// calls.
//
//	x: [..., positions, features] dense or masked, [rows, (positions), features] ragged, or {..., Along, In} → the same
func (l MultiHeadAttention) Extend(x tensor.Tensor, c Cache) (tensor.Tensor, Cache) {
	const fn = "nn.MultiHeadAttention.Extend"
	if !l.Sight.Causal {
		e := tenon.NewError(tenon.ErrInvalid, fn, "the earlier positions would have to attend to the new ones")
		e.Hint = "set Sight.Causal"
		tenon.Throw(e)
	}
	switch t := x.(type) {
	case dimensioned:
		y := unnamed(fn, t, []named.Name{l.Names.Along, l.Names.In}, []named.Name{l.Names.Along, l.Names.out()}, func(x tensor.Tensor) (y tensor.Tensor) {
			y, c = l.Extend(x, c)
			return y
		})
		return y, c
	case rowed:
		return l.extendRows(fn, t, c)
	case someMissing:
		items, there := filled(fn, t, 0)
		y, c := l.extend(fn, items, there, c)
		return tenon.Must(t.Carry(y)), c
	}
	return l.extend(fn, x, nil, c)
}

// extend is Extend for dense positions, those of the mask there, or all if it is nil.
func (l MultiHeadAttention) extend(fn string, x, there tensor.Tensor, c Cache) (tensor.Tensor, Cache) {
	wantPositions(fn, x)
	q, k, v := l.project(x, x)
	if l.Rotary != 0 {
		var from any = int64(0)
		if c.Keys != nil {
			from = ops.Index(ops.Cast(ops.Shape(c.Keys), dtype.Int64), -3)
		}
		n := ops.Index(ops.Cast(ops.Shape(x), dtype.Int64), -2)
		at := ops.Range(from, ops.Add(from, n), int64(1))
		q, k = l.turned(q, at), l.turned(k, at)
	}
	if (there != nil || c.There != nil) && c.Keys != nil {
		all := func(there, like tensor.Tensor) tensor.Tensor {
			if there != nil {
				return there
			}
			return ops.Cast(ops.OnesLike(ops.Index(like, key.Ellipsis, 0, 0)), dtype.Bool)
		}
		there = ops.Concat([]any{all(c.There, c.Keys), all(there, k)}, -1)
	}
	if c.Keys != nil {
		k, v = ops.Concat([]any{c.Keys, k}, -3), ops.Concat([]any{c.Values, v}, -3)
	}
	var mask tensor.Tensor
	if there != nil {
		mask = ops.ExpandDims(there, -2)
	}
	return l.joined(attend(fn, q, k, v, l.Heads, l.keyHeads(), mask, l.Sight, nil)), Cache{k, v, there}
}

// extendRows is Extend for rows.
func (l MultiHeadAttention) extendRows(fn string, x rowed, c Cache) (tensor.Tensor, Cache) {
	if x.RaggedRank() != 1 {
		tenon.Throw(tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("%s has rows of rows, but a cache holds rows of positions", tenon.String(x.Spec()))))
	}
	items, _ := x.Carried()
	splits := x.RowSplits()
	q, k, v := l.project(items, items)
	if l.Rotary != 0 {
		at := ops.Cast(rows.Offsets(splits, -1), dtype.Int64)
		if before, ok := c.Keys.(rowed); ok {
			at = ops.Add(at, rows.Repeat(ops.Cast(rows.Lengths(before.RowSplits()), dtype.Int64), splits, -1))
		}
		q, k = l.turned(q, at), l.turned(k, at)
	}
	in := func(before, flat tensor.Tensor) tensor.Tensor {
		new := tenon.Must(x.Carry(flat))
		if before == nil {
			return new
		}
		return ops.Concat([]any{before, new}, 1)
	}
	c = Cache{Keys: in(c.Keys, k), Values: in(c.Values, v)}
	ends := c.Keys.(rowed).RowSplits()
	y := attend(fn, q, flatOf(c.Keys), flatOf(c.Values), l.Heads, l.keyHeads(), nil, l.Sight, &divided{splits, ends})
	return tenon.Must(x.Carry(l.joined(y))), c
}

func innerMask(mask tensor.Tensor) tensor.Tensor {
	switch m := mask.(type) {
	case nil:
		return nil
	case rowed:
		return inner(m)
	}
	e := tenon.NewError(tenon.ErrUnsupported, "nn.MultiHeadAttention", fmt.Sprintf("ragged rows need a ragged mask, got %s", tenon.String(mask.Spec())))
	e.Hint = "give a boolean for each position: bool[rows, (positions)]"
	tenon.Throw(e)
	return nil
}
