package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// MultiHeadAttention lets each position of a row look at others (A. Vaswani et al.,
// arXiv:1706.03762): with heads h,
//
//	y = concatₕ softmax(Qₕ·Kₕᵀ/√d)·Vₕ · Out,   Q = Query(x), K = Key(z), V = Value(z)
type MultiHeadAttention struct {
	Query, Key, Value, Out Dense
	Heads                  int   `tenon:"static"`
	Causal                 bool  `tenon:"static"` // a position sees itself and what came before
	Names                  Names `tenon:"static"`
}

// AttentionOptions are those of [NewMultiHeadAttention]. The zero value is the default.
type AttentionOptions struct {
	Size   int // features of queries and keys of all heads together; 0 stands for those of the input
	Values int // features of values of all heads together; 0 stands for Size
	Causal bool
	NoBias bool
	Init   Init // of the kernels; "" stands for GlorotUniform
	DType  dtype.DType
	Names  Names // In and Out: features; Along: positions
}

// NewMultiHeadAttention returns a layer from features to as many features.
func NewMultiHeadAttention(key tensor.Tensor, features, heads int, options ...AttentionOptions) MultiHeadAttention {
	o := option(options)
	if o.Size == 0 {
		o.Size = features
	}
	if o.Values == 0 {
		o.Values = o.Size
	}
	if heads < 1 || o.Size%heads != 0 || o.Values%heads != 0 {
		tenon.Throw(tenon.NewError(tenon.ErrShape, "nn.NewMultiHeadAttention", fmt.Sprintf("%d heads do not divide %d features of queries and %d of values", heads, o.Size, o.Values)))
	}
	k := keys(key, 4)
	d := DenseOptions{NoBias: o.NoBias, Init: o.Init, DType: o.DType}
	return MultiHeadAttention{
		Query: NewDense(k[0], features, o.Size, d), Key: NewDense(k[1], features, o.Size, d),
		Value: NewDense(k[2], features, o.Values, d), Out: NewDense(k[3], o.Values, features, d),
		Heads: heads, Causal: o.Causal, Names: o.Names,
	}
}

// Apply returns self-attention: each position looks at those of its own row.
//
//	x: [..., positions, features] dense, [rows, (positions), features] ragged, or {..., Along, In}
func (l MultiHeadAttention) Apply(x tensor.Tensor) tensor.Tensor { return l.ApplyTo(x, x, nil) }

// ApplyTo returns attention of each position of x to those of z that the mask, if there is
// one, lets it see: those of the same row. A position that sees none gets Out's bias.
//
//	x: [..., n, features], z: [..., m, features], mask: bool[..., n, m] or what broadcasts to that
//	x, z: [rows, (n), features], [rows, (m), features], mask: bool[rows, (m)]: which positions of z are seen
//
// Both are dense, or both ragged, or both named, with their positions along
// Names.Along each; a mask is not named.
func (l MultiHeadAttention) ApplyTo(x, z, mask tensor.Tensor) tensor.Tensor {
	const fn = "nn.MultiHeadAttention"
	switch t := x.(type) {
	case dimensioned:
		u, ok := z.(dimensioned)
		if !ok {
			l.mixed(x, z)
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
			l.mixed(x, z)
		}
		return innermost(fn, t, func(x rowed) tensor.Tensor { return l.ragged(x, inner(u), innerMask(mask)) })
	}
	if _, ok := z.(rowed); ok {
		l.mixed(x, z)
	}
	if t, ok := z.(someMissing); ok { // positions of z that are missing are not seen
		items, _ := t.Carried()
		seen := ops.ExpandDims(t.Mask(), -2)
		if mask != nil {
			seen = ops.LogicalAnd(seen, mask)
		}
		if x == z {
			return tenon.Must(t.Carry(l.ApplyTo(items, items, seen)))
		}
		return l.ApplyTo(x, items, seen)
	}
	if t, ok := x.(someMissing); ok {
		items, _ := t.Carried()
		return tenon.Must(t.Carry(l.ApplyTo(items, z, mask)))
	}
	wantPositions(fn, x)
	wantPositions(fn, z)
	o := ops.AttentionOptions{Causal: l.Causal}
	if mask != nil {
		if o.Mask = mask; mask.Shape().Rank() > 2 {
			o.Mask = ops.ExpandDims(mask, -3)
		}
	}
	y := ops.Attention(l.split(l.Query.Apply(x)), l.split(l.Key.Apply(z)), l.split(l.Value.Apply(z)), o)
	return l.Out.Apply(withLast(ops.SwapAxes(y, -3, -2), 2, l.Value.Kernel.Shape().Dim(1)))
}

// split makes [..., heads, n, d] of [..., n, heads·d].
func (l MultiHeadAttention) split(x tensor.Tensor) tensor.Tensor {
	return ops.SwapAxes(withLast(x, 1, l.Heads, x.Shape().Dim(-1)/l.Heads), -3, -2)
}

func (l MultiHeadAttention) ragged(x, z rowed, mask tensor.Tensor) tensor.Tensor {
	if mask != nil {
		seen, ok := tenon.Must(ragged.BooleanMask(z, mask)).(rowed)
		if !ok {
			l.mixed(z, mask)
		}
		z = seen
	}
	flat, _ := x.Carried()
	other, _ := z.Carried()
	y := rows.Attention(l.Query.Apply(flat), l.Key.Apply(other), l.Value.Apply(other), x.RowSplits(), z.RowSplits(),
		rows.AttentionOptions{Heads: l.Heads, Causal: l.Causal})
	return tenon.Must(x.Carry(l.Out.Apply(y)))
}

func (l MultiHeadAttention) mixed(x, z tensor.Tensor) {
	tenon.Throw(tenon.NewError(tenon.ErrUnsupported, "nn.MultiHeadAttention",
		fmt.Sprintf("want two values of one kind, got %s and %s", tenon.String(x.Spec()), tenon.String(z.Spec()))))
}

func innerMask(mask tensor.Tensor) tensor.Tensor {
	switch m := mask.(type) {
	case nil:
		return nil
	case rowed:
		return inner(m)
	}
	e := tenon.NewError(tenon.ErrUnsupported, "nn.MultiHeadAttention", fmt.Sprintf("the mask of ragged rows is ragged, got %s", tenon.String(mask.Spec())))
	e.Hint = "give a truth value for each position that may be seen: bool[rows, (positions)]"
	tenon.Throw(e)
	return nil
}
