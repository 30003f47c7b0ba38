package nn

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// GRU is a gated recurrent unit (K. Cho et al., arXiv:1406.1078), in the variant whose
// reset gate acts on the product with the state:
//
//	z = σ(x·Wz + hU_z + …), r = σ(x·Wr + hU_r + …), c = tanh(x·Wc + b + r∘(hU_c + b'))
//	h ← z∘h + (1-z)∘c
//
// The columns of its tensors are those of z, r and c.
type GRU struct {
	Kernel    tensor.Tensor // [in, 3·units]
	Recurrent tensor.Tensor // [units, 3·units]
	Bias      tensor.Tensor // [2, 3·units]: of the input and of the state; or nil
	Reverse   bool          `tenon:"static"` // from the last position of a row to the first
	Names     Names         `tenon:"static"`
}

// LSTM is a unit with long short-term memory (S. Hochreiter and J. Schmidhuber, Neural
// Computation 9, 1997; F. Gers et al., 2000):
//
//	i, f, o = σ(x·W + hU + b), g = tanh(x·W + hU + b)
//	c ← f∘c + i∘g, h ← o∘tanh(c)
//
// The columns of its tensors are those of i, f, g and o.
type LSTM struct {
	Kernel    tensor.Tensor // [in, 4·units]
	Recurrent tensor.Tensor // [units, 4·units]
	Bias      tensor.Tensor // [4·units], or nil
	Reverse   bool          `tenon:"static"` // from the last position of a row to the first
	Names     Names         `tenon:"static"`
}

// RecurrentOptions are those of [NewGRU] and [NewLSTM]. The zero value is the default.
type RecurrentOptions struct {
	Reverse bool
	NoBias  bool
	DType   dtype.DType
	Names   Names // In and Out: features; Along: positions
}

// NewGRU returns a unit with a state of some units. Its kernel starts as GlorotUniform, the
// recurrent one Orthogonal.
func NewGRU(key tensor.Tensor, in, units int, options ...RecurrentOptions) GRU {
	o := option(options)
	k, d := keys(key, 2), floatType(o.DType)
	l := GRU{
		Kernel: Initialize(GlorotUniform, k[0], d, in, 3*units), Recurrent: Initialize(Orthogonal, k[1], d, units, 3*units),
		Reverse: o.Reverse, Names: o.Names,
	}
	if !o.NoBias {
		l.Bias = ops.Zeros(d, []int{2, 3 * units})
	}
	return l
}

// NewLSTM returns a unit with a state of some units. Its kernel starts as GlorotUniform, the
// recurrent one Orthogonal, and the bias of the forget gate with 1 (R. Jozefowicz et
// al., ICML 2015).
func NewLSTM(key tensor.Tensor, in, units int, options ...RecurrentOptions) LSTM {
	o := option(options)
	k, d := keys(key, 2), floatType(o.DType)
	l := LSTM{
		Kernel: Initialize(GlorotUniform, k[0], d, in, 4*units), Recurrent: Initialize(Orthogonal, k[1], d, units, 4*units),
		Reverse: o.Reverse, Names: o.Names,
	}
	if !o.NoBias {
		zero := ops.Zeros(d, []int{units})
		l.Bias = ops.Concat([]any{zero, ops.OnesLike(zero), zero, zero}, 0)
	}
	return l
}

// Apply returns the states at all positions and the last one of each row, 0 for an empty
// row.
//
//	x: [..., positions, in], [rows, (positions), in] ragged, or {..., Along, In}
//	→ states with the positions of x, and [..., units]
//
// Of a masked x, where positions are missing, a row keeps its state at those. A dense x
// whose rows are padded says so by [GRU.ApplyTo].
func (l GRU) Apply(x tensor.Tensor) (states, last tensor.Tensor) { return l.ApplyTo(x, nil) }

// ApplyTo is Apply to the positions of a dense x that are there: at padding a row keeps its
// state.
//
//	there: bool[..., positions], or the lengths of rows, integers [...]; nil: all
func (l GRU) ApplyTo(x, there tensor.Tensor) (states, last tensor.Tensor) {
	units := l.Recurrent.Shape().Dim(0)
	var b, own tensor.Tensor
	if l.Bias != nil {
		b, own = ops.Index(l.Bias, 0), ops.Index(l.Bias, 1)
	}
	step := func(h []tensor.Tensor, x tensor.Tensor) []tensor.Tensor {
		u := affine(h[0], l.Recurrent, own)
		xs, us := ops.Split(x, []int{units, units, units}, -1), ops.Split(u, []int{units, units, units}, -1)
		z, r := ops.Sigmoid(ops.Add(xs[0], us[0])), ops.Sigmoid(ops.Add(xs[1], us[1]))
		c := ops.Tanh(ops.Add(xs[2], ops.Mul(r, us[2])))
		return []tensor.Tensor{ops.Add(c, ops.Mul(z, ops.Sub(h[0], c)))}
	}
	y, end := recur("nn.GRU", x, there, l.Names, l.Reverse, units, 1, func(x tensor.Tensor) tensor.Tensor { return affine(x, l.Kernel, b) }, step)
	return y, end[0]
}

// Apply returns the states h at all positions and the last h and c of each row, 0 for an
// empty row.
//
//	x: [..., positions, in], [rows, (positions), in] ragged, or {..., Along, In}
//	→ states with the positions of x, and twice [..., units]
//
// Of a masked x, where positions are missing, a row keeps its state at those. A dense x
// whose rows are padded says so by [LSTM.ApplyTo].
func (l LSTM) Apply(x tensor.Tensor) (states, h, c tensor.Tensor) { return l.ApplyTo(x, nil) }

// ApplyTo is Apply to the positions of a dense x that are there: at padding a row keeps its
// state.
//
//	there: bool[..., positions], or the lengths of rows, integers [...]; nil: all
func (l LSTM) ApplyTo(x, there tensor.Tensor) (states, h, c tensor.Tensor) {
	units := l.Recurrent.Shape().Dim(0)
	step := func(s []tensor.Tensor, x tensor.Tensor) []tensor.Tensor {
		p := ops.Split(ops.Add(x, multiply(s[0], l.Recurrent)), []int{units, units, units, units}, -1)
		c := ops.Add(ops.Mul(ops.Sigmoid(p[1]), s[1]), ops.Mul(ops.Sigmoid(p[0]), ops.Tanh(p[2])))
		return []tensor.Tensor{ops.Mul(ops.Sigmoid(p[3]), ops.Tanh(c)), c}
	}
	y, end := recur("nn.LSTM", x, there, l.Names, l.Reverse, units, 2, func(x tensor.Tensor) tensor.Tensor { return affine(x, l.Kernel, l.Bias) }, step)
	return y, end[0], end[1]
}

func affine(x, kernel, bias tensor.Tensor) tensor.Tensor {
	y := multiply(x, kernel)
	if bias != nil {
		y = ops.Add(y, bias)
	}
	return y
}

// turn is what a step of a recurrence takes.
type turn struct {
	X    tensor.Tensor // [..., features] at one position
	Live tensor.Tensor // bool[..., 1]: the row has the position; nil where all have
}

// recur runs step along the positions of each row. What it makes of the inputs alone is
// made for all positions at once. Its first state is what it gives.
func recur(fn string, x, there tensor.Tensor, n Names, reverse bool, units, states int,
	project func(tensor.Tensor) tensor.Tensor, step func(state []tensor.Tensor, x tensor.Tensor) []tensor.Tensor,
) (y tensor.Tensor, end []tensor.Tensor) {
	switch t := x.(type) {
	case dimensioned:
		from := []named.Name{n.Along, n.In}
		order := batchNames(fn, t, from)
		if d, ok := there.(dimensioned); ok {
			there = named.Unnamed(d, append(append([]named.Name{}, order...), n.Along)[:d.Shape().Rank()]...)
		}
		y = unnamed(fn, t, from, []named.Name{n.Along, n.out()}, func(x tensor.Tensor) tensor.Tensor {
			var all tensor.Tensor
			all, end = recur(fn, x, there, Names{}, reverse, units, states, project, step)
			return all
		})
		for i := range end {
			end[i] = named.Of(end[i], append(order[:len(order):len(order)], n.out())...)
		}
		return y, end
	case rowed:
		if there != nil {
			tenon.Throw(tenon.NewError(tenon.ErrUnsupported, fn, "rows of different lengths have no padding to leave out"))
		}
		y = innermost(fn, t, func(x rowed) tensor.Tensor {
			flat, _ := x.Carried()
			splits := x.RowSplits()
			if flat = project(flat); reverse {
				flat = rows.Reverse(flat, splits)
			}
			width := rows.MaxLength(splits)
			live := ops.SequenceMask(rows.Lengths(splits), width)
			dense := rows.ToDense(flat, splits, width, nil)
			var all tensor.Tensor
			all, end = scan(dense, live, units, states, step)
			flat = rows.FromDense(all, splits)
			if reverse {
				flat = rows.Reverse(flat, splits)
			}
			return tenon.Must(x.Carry(flat))
		})
		for i := range end {
			end[i] = withRows(end[i], t)
		}
		return y, end
	case someMissing:
		items, axes := t.Carried()
		if axes != items.Shape().Rank()-1 || there != nil {
			tenon.Throw(tenon.NewError(tenon.ErrUnsupported, fn, fmt.Sprintf("the mask of %s does not tell which positions are there", tenon.String(x.Spec()))))
		}
		y, end = recur(fn, items, t.Mask(), n, reverse, units, states, project, step)
		return tenon.Must(t.Carry(y)), end
	}
	wantPositions(fn, x)
	x, live := project(x), positionsOf(fn, x, there)
	if reverse {
		if x = ops.Reverse(x, -2); live != nil {
			live = ops.Reverse(live, -1)
		}
	}
	if y, end = scan(x, live, units, states, step); reverse {
		y = ops.Reverse(y, -2)
	}
	return y, end
}

// withRows puts what there is for each innermost row of x into the rows above them.
func withRows(each tensor.Tensor, x rowed) tensor.Tensor {
	below, ok := x.Values().(rowed)
	if !ok {
		return each
	}
	return tenon.Must(ragged.FromRowSplits(withRows(each, below), x.RowSplits()))
}

// positionsOf returns which positions of x are there, given a mask or lengths.
func positionsOf(fn string, x, there tensor.Tensor) tensor.Tensor {
	if there == nil {
		return nil
	}
	s := x.Shape()
	lead, want := s.Slice(0, s.Rank()-1), "bool"
	if there.DType().IsInteger() {
		lead, want = s.Slice(0, s.Rank()-2), "an integer"
	}
	if !there.DType().IsBool() && !there.DType().IsInteger() || !there.Shape().CompatibleWith(lead) {
		e := tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("which positions of %s are there is %s, want %s%v", tenon.String(x.Spec()), tenon.String(there.Spec()), want, lead))
		e.Hint = "give a truth value for each position, or the length of each row"
		tenon.Throw(e)
	}
	if there.DType().IsBool() {
		return there
	}
	if width := s.Dim(-2); width >= 0 {
		return ops.SequenceMask(there, width)
	}
	return ops.SequenceMask(there, ops.Index(ops.Shape(x), s.Rank()-2))
}

// scan runs step along the second last axis of a dense tensor. A row keeps its state where
// it is not live.
func scan(x, live tensor.Tensor, units, states int, step func([]tensor.Tensor, tensor.Tensor) []tensor.Tensor) (y tensor.Tensor, end []tensor.Tensor) {
	s := x.Shape()
	xs := turn{X: ops.MoveAxis(x, -2, 0)}
	if live != nil {
		xs.Live = ops.ExpandDims(ops.MoveAxis(live, -1, 0), -1)
	}
	start := make([]tensor.Tensor, states)
	for i := range start {
		if lead := s.Slice(0, s.Rank()-2); lead.IsFull() {
			start[i] = ops.Zeros(x.DType(), append(lead.Dims(), units))
		} else {
			sizes := ops.Concat([]any{ops.Slice(ops.Shape(x), []int{0}, []int{s.Rank() - 2}), []int64{int64(units)}}, 0)
			start[i] = ops.Zeros(x.DType(), sizes)
		}
	}
	end, y = control.Scan(func(state []tensor.Tensor, at turn) ([]tensor.Tensor, tensor.Tensor) {
		next := step(state, at.X)
		if at.Live != nil {
			for i := range next {
				next[i] = ops.Where(at.Live, next[i], state[i])
			}
		}
		return next, next[0]
	}, start, xs)
	return ops.MoveAxis(y, 0, -2), end
}
