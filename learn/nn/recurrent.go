package nn

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// RNN is the simplest recurrent unit (J. Elman, Cognitive Science 14, 1990):
//
//	h ← activation(x·W + hU + b)
type RNN struct {
	Kernel     tensor.Tensor // [in, units]
	Recurrent  tensor.Tensor // [units, units]
	Bias       tensor.Tensor // [units], or nil
	Activation Activation    `tenon:"static"` // "" stands for Tanh
	Reverse    bool          `tenon:"static"` // from the last position of a row to the first
	Names      Names         `tenon:"static"`
}

// GRU is a gated recurrent unit (K. Cho et al., arXiv:1406.1078), in the variant whose reset
// gate is applied after the product with the state:
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

// RecurrentOptions are the options of [NewRNN], [NewGRU] and [NewLSTM]. The zero value is the
// default.
type RecurrentOptions struct {
	Activation Activation // of an [RNN]
	Reverse    bool
	NoBias     bool
	DType      dtype.DType
	Names      Names // In and Out: features; Along: positions
}

// NewRNN returns a cell whose state has a number of units. The kernel is initialized by
// GlorotUniform, the recurrent kernel by Orthogonal.
func NewRNN(key tensor.Tensor, in, units int, options ...RecurrentOptions) RNN {
	o := option(options)
	k, d := keys(key, 2), floatType(o.DType)
	l := RNN{
		Kernel: Initialize(GlorotUniform, k[0], d, in, units), Recurrent: Initialize(Orthogonal, k[1], d, units, units),
		Activation: o.Activation, Reverse: o.Reverse, Names: o.Names,
	}
	if !o.NoBias {
		l.Bias = ops.Zeros(d, []int{units})
	}
	return l
}

// NewGRU returns a cell whose state has a number of units. The kernel is initialized by
// GlorotUniform, the recurrent kernel by Orthogonal.
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

// NewLSTM returns a cell whose states have a number of units. The kernel is initialized by
// GlorotUniform, the recurrent kernel by Orthogonal, and the bias of the forget gate by 1 (R.
// Jozefowicz et al., ICML 2015).
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

// A Cell is a recurrent cell: an [RNN], a [GRU] or an [LSTM].
type Cell interface {
	// ApplyFrom returns the states h at all positions of x and, for each of the cell's states,
	// the last one of each row.
	//
	//	x: [..., positions, in], [rows, (positions), in] ragged, or {..., Along, In}
	//	there: for a dense x with padded rows, bool[..., positions], or the lengths of the rows,
	//	integers [...]; nil: all positions. A row keeps its states at padding.
	//	start: for each state, [..., units]; nil: 0
	//	→ states with the positions of x, and [..., units] of each state
	ApplyFrom(x, there tensor.Tensor, start []tensor.Tensor) (states tensor.Tensor, last []tensor.Tensor)
}

// Apply returns the states at all positions and the last one of each row, 0 for an empty
// row.
//
//	x: [..., positions, in], [rows, (positions), in] ragged, or {..., Along, In}
//	→ states with the positions of x, and [..., units]
//
// A row of a masked x keeps its state at missing positions. For a dense x with padded rows, use
// [RNN.ApplyFrom].
func (l RNN) Apply(x tensor.Tensor) (states, last tensor.Tensor) {
	return one(l.ApplyFrom(x, nil, nil))
}

// ApplyFrom is described at [Cell]. There is one state.
func (l RNN) ApplyFrom(x, there tensor.Tensor, start []tensor.Tensor) (states tensor.Tensor, last []tensor.Tensor) {
	a := l.Activation
	if a == "" {
		a = Tanh
	}
	r := recurrence{
		fn: "nn.RNN", names: l.Names, reverse: l.Reverse, units: l.Recurrent.Shape().Dim(0), states: 1,
		project: func(x tensor.Tensor) tensor.Tensor { return affine(x, l.Kernel, l.Bias) },
		step: func(h []tensor.Tensor, x tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{a.Apply(ops.Add(x, multiply(h[0], l.Recurrent)))}
		},
	}
	return r.run(x, there, start)
}

// Apply is described at [RNN.Apply].
func (l GRU) Apply(x tensor.Tensor) (states, last tensor.Tensor) {
	return one(l.ApplyFrom(x, nil, nil))
}

// ApplyFrom is described at [Cell]. There is one state.
func (l GRU) ApplyFrom(x, there tensor.Tensor, start []tensor.Tensor) (states tensor.Tensor, last []tensor.Tensor) {
	units := l.Recurrent.Shape().Dim(0)
	var b, own tensor.Tensor
	if l.Bias != nil {
		b, own = ops.Index(l.Bias, 0), ops.Index(l.Bias, 1)
	}
	r := recurrence{
		fn: "nn.GRU", names: l.Names, reverse: l.Reverse, units: units, states: 1,
		project: func(x tensor.Tensor) tensor.Tensor { return affine(x, l.Kernel, b) },
		step: func(h []tensor.Tensor, x tensor.Tensor) []tensor.Tensor {
			u := affine(h[0], l.Recurrent, own)
			xs, us := ops.Split(x, []int{units, units, units}, -1), ops.Split(u, []int{units, units, units}, -1)
			z, r := ops.Sigmoid(ops.Add(xs[0], us[0])), ops.Sigmoid(ops.Add(xs[1], us[1]))
			c := ops.Tanh(ops.Add(xs[2], ops.Mul(r, us[2])))
			return []tensor.Tensor{ops.Add(c, ops.Mul(z, ops.Sub(h[0], c)))}
		},
	}
	return r.run(x, there, start)
}

// Apply returns the states h at all positions and the last h and c of each row, 0 for an
// empty row; see [RNN.Apply].
func (l LSTM) Apply(x tensor.Tensor) (states, h, c tensor.Tensor) {
	states, last := l.ApplyFrom(x, nil, nil)
	return states, last[0], last[1]
}

// ApplyFrom is described at [Cell]. The states are h and c.
func (l LSTM) ApplyFrom(x, there tensor.Tensor, start []tensor.Tensor) (states tensor.Tensor, last []tensor.Tensor) {
	units := l.Recurrent.Shape().Dim(0)
	r := recurrence{
		fn: "nn.LSTM", names: l.Names, reverse: l.Reverse, units: units, states: 2,
		project: func(x tensor.Tensor) tensor.Tensor { return affine(x, l.Kernel, l.Bias) },
		step: func(s []tensor.Tensor, x tensor.Tensor) []tensor.Tensor {
			p := ops.Split(ops.Add(x, multiply(s[0], l.Recurrent)), []int{units, units, units, units}, -1)
			c := ops.Add(ops.Mul(ops.Sigmoid(p[1]), s[1]), ops.Mul(ops.Sigmoid(p[0]), ops.Tanh(p[2])))
			return []tensor.Tensor{ops.Mul(ops.Sigmoid(p[3]), ops.Tanh(c)), c}
		},
	}
	return r.run(x, there, start)
}

func one(states tensor.Tensor, last []tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
	return states, last[0]
}

// A turn is the input of a step of a recurrence.
type turn struct {
	X    tensor.Tensor // [..., features] at one position
	Live tensor.Tensor // bool[..., 1]: the row has the position; nil where all have
}

// A recurrence describes what a cell does along the positions of each row.
type recurrence struct {
	fn            string
	names         Names
	reverse       bool
	units, states int
	project       func(x tensor.Tensor) tensor.Tensor // of the inputs, at all positions at once
	step          func(state []tensor.Tensor, x tensor.Tensor) []tensor.Tensor
}

// run is described at [Cell]. The first state is the cell's output.
func (r recurrence) run(x, there tensor.Tensor, start []tensor.Tensor) (y tensor.Tensor, end []tensor.Tensor) {
	if start != nil && len(start) != r.states {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, r.fn, fmt.Sprintf("the cell starts from %d states, got %d", r.states, len(start))))
	}
	starting := func(f func(tensor.Tensor) tensor.Tensor) (out []tensor.Tensor) {
		for _, t := range start {
			out = append(out, f(t))
		}
		return out
	}
	switch t := x.(type) {
	case dimensioned:
		from := []named.Name{r.names.Along, r.names.In}
		order := batchNames(r.fn, t, from)
		if d, ok := there.(dimensioned); ok {
			there = named.Unnamed(d, append(append([]named.Name{}, order...), r.names.Along)[:d.Shape().Rank()]...)
		}
		states := append(order[:len(order):len(order)], r.names.out())
		bare := starting(func(h tensor.Tensor) tensor.Tensor { return named.Unnamed(h, states...) })
		y = unnamed(r.fn, t, from, []named.Name{r.names.Along, r.names.out()}, func(x tensor.Tensor) tensor.Tensor {
			var all tensor.Tensor
			all, end = r.run(x, there, bare)
			return all
		})
		for i := range end {
			end[i] = named.Of(end[i], states...)
		}
		return y, end
	case rowed:
		if there != nil {
			tenon.Throw(tenon.NewError(tenon.ErrUnsupported, r.fn, "ragged rows have no padding to mask"))
		}
		first := starting(func(h tensor.Tensor) tensor.Tensor {
			if c, ok := h.(tensor.Carrier); ok {
				h, _ = c.Carried()
			}
			return h
		})
		y = innermost(r.fn, t, func(x rowed) tensor.Tensor {
			items, _ := x.Carried()
			items, end = r.scan(r.project(items), nil, first, x.RowSplits())
			return tenon.Must(x.Carry(items))
		})
		for i := range end {
			end[i] = withRows(end[i], t)
		}
		return y, end
	case someMissing:
		if there != nil {
			tenon.Throw(tenon.NewError(tenon.ErrUnsupported, r.fn, fmt.Sprintf("%s is masked already; it takes no second mask", tenon.String(x.Spec()))))
		}
		items, mask := filled(r.fn, t, 0)
		y, end = r.run(items, mask, start)
		return tenon.Must(t.Carry(y)), end
	}
	wantPositions(r.fn, x)
	// The inputs are transposed rather than the projections, which are usually several times as large.
	y, end = r.scan(r.project(ops.MoveAxis(x, -2, 0)), positionsOf(r.fn, x, there), start, nil)
	return ops.MoveAxis(y, 0, -2), end
}

// withRows returns values that exist for each innermost row of x as rows of the outer
// dimensions.
func withRows(each tensor.Tensor, x rowed) tensor.Tensor {
	below, ok := x.Values().(rowed)
	if !ok {
		return each
	}
	return tenon.Must(ragged.FromRowSplits(withRows(each, below), x.RowSplits()))
}

// positionsOf returns the mask of the positions of x, given a mask or lengths.
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
		e := tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("the mask of %s is %s, want %s%v", tenon.String(x.Spec()), tenon.String(there.Spec()), want, lead))
		e.Hint = "give a boolean for each position, or the length of each row"
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

// scan runs the steps along the first axis of a dense tensor [positions, ..., features], or along ragged rows with
// these items. A row keeps its state where it is not live.
func (r recurrence) scan(x, live tensor.Tensor, start []tensor.Tensor, splits tensor.Tensor) (y tensor.Tensor, end []tensor.Tensor) {
	s := x.Shape()
	xs := turn{X: x}
	if live != nil {
		xs.Live = ops.ExpandDims(ops.MoveAxis(live, -1, 0), -1)
	}
	// Zeros of the inputs' type: the sum of no features, for each unit.
	none := slices.Repeat([]int{-1}, s.Rank())
	none[s.Rank()-1] = 0
	zero := ops.Slice(x, make([]int, s.Rank()), none)
	if splits == nil {
		zero = ops.Sum(zero, 0)
	} else {
		zero = rows.Sum(zero, splits)
	}
	zero = ops.Add(ops.SumKeep(zero, -1), ops.Zeros(x.DType(), []int{r.units}))
	state := start
	if start == nil {
		state = slices.Repeat([]tensor.Tensor{zero}, r.states)
	}
	for _, h := range start {
		if !h.Shape().CompatibleWith(zero.Shape()) {
			tenon.Throw(tenon.NewError(tenon.ErrShape, r.fn, fmt.Sprintf("a first state has the shape %v, want %v", h.Shape(), zero.Shape())))
		}
	}
	end, y = control.Scan(func(state []tensor.Tensor, at turn) ([]tensor.Tensor, tensor.Tensor) {
		next := r.step(state, at.X)
		if at.Live != nil {
			for i := range next {
				next[i] = ops.Where(at.Live, next[i], state[i])
			}
		}
		return next, next[0]
	}, state, xs, control.ScanOptions{RowSplits: splits, Reverse: r.reverse})
	return y, end
}
