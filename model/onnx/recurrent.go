package onnx

import (
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
)

// A cell computes the next states for an input; the first state is the output.
type cell func(x T, states []T) []T

// activations are the functions of gates, by name.
var activations = map[string]func(x T, alpha, beta float64) T{
	"relu":            func(x T, _, _ float64) T { return ops.Relu(x) },
	"tanh":            func(x T, _, _ float64) T { return ops.Tanh(x) },
	"sigmoid":         func(x T, _, _ float64) T { return ops.Sigmoid(x) },
	"softsign":        func(x T, _, _ float64) T { return ops.Softsign(x) },
	"softplus":        func(x T, _, _ float64) T { return ops.Softplus(x) },
	"affine":          func(x T, a, b float64) T { return ops.Add(ops.Mul(x, like(a, x)), like(b, x)) },
	"leakyrelu":       func(x T, a, _ float64) T { return ops.LeakyRelu(x, a) },
	"thresholdedrelu": func(x T, a, _ float64) T { return ops.Where(ops.Greater(x, like(a, x)), x, ops.ZerosLike(x)) },
	"scaledtanh":      func(x T, a, b float64) T { return ops.Mul(ops.Tanh(ops.Mul(x, like(b, x))), like(a, x)) },
	"hardsigmoid":     hardSigmoid,
	"elu":             func(x T, a, _ float64) T { return ops.Elu(x, a) },
}

// The defaults of alpha and beta.
var alphas = map[string]float64{"leakyrelu": 0.01, "hardsigmoid": 0.2, "elu": 1, "affine": 1, "scaledtanh": 1, "thresholdedrelu": 1}
var betas = map[string]float64{"hardsigmoid": 0.5, "scaledtanh": 1}

// gates returns the activations of one direction.
func (c *call) gates(direction int, otherwise ...string) []func(x T) T {
	names := otherwise
	n := len(otherwise)
	if a := c.attr("activations"); a != nil && len(a.texts) >= (direction+1)*n {
		names = textsOf(a)[direction*n : (direction+1)*n]
	}
	number := func(list string, i int, names map[string]float64, name string) float64 {
		if a := c.attr(list); a != nil && direction*n+i < len(a.floats) {
			return float64(a.floats[direction*n+i])
		}
		return names[name]
	}
	limit := c.float("clip", 0)
	out := make([]func(x T) T, n)
	for i, name := range names {
		name = strings.ToLower(name)
		f, ok := activations[name]
		if !ok {
			refuse(tenon.ErrUnsupported, "the activation %q is unknown", name)
		}
		alpha, beta := number("activation_alpha", i, alphas, name), number("activation_beta", i, betas, name)
		out[i] = func(x T) T {
			if limit > 0 {
				x = ops.Clip(x, like(-limit, x), like(limit, x))
			}
			return f(x, alpha, beta)
		}
	}
	return out
}

// recurrent runs the cells of both directions along time. It returns all outputs, then the last
// states.
func (c *call) recurrent(states int, first []int, build func(direction int, w, r, b T) cell) []any {
	x := c.x(0)
	batchFirst := c.flag("layout")
	if batchFirst {
		x = ops.SwapAxes(x, 0, 1)
	}
	w, r := c.x(1), c.x(2)
	directions := []bool{c.text("direction", "forward") == "reverse"}
	if c.text("direction", "forward") == "bidirectional" {
		directions = []bool{false, true}
	}
	hidden := dims(r)[2]
	batch := size(x, 1)
	var lengths any
	if c.has(4) {
		lengths = ops.Cast(c.x(4), dtype.Int64)
	}
	var outs []any
	lasts := make([][]any, states)
	for d, backward := range directions {
		b := T(nil)
		if c.has(3) {
			b = ops.Index(c.x(3), d)
		}
		step := build(d, ops.Index(w, d), ops.Index(r, d), b)
		at := make([]T, states)
		for k := range at {
			if i := first[k]; c.has(i) {
				s := c.x(i)
				if batchFirst {
					s = ops.SwapAxes(s, 0, 1)
				}
				at[k] = ops.Index(s, d)
			} else {
				at[k] = ops.Fill(ops.Stack([]any{ops.Cast(batch, dtype.Int64), int64(hidden)}, 0), like(0, x))
			}
		}
		run := x
		if backward {
			run = turned(x, lengths)
		}
		times := ops.Range(int64(0), ops.Cast(size(x, 0), dtype.Int64), int64(1))
		end, ys := control.Scan(func(at []T, row []T) ([]T, T) {
			next := step(row[0], at)
			y := next[0]
			if lengths != nil {
				// After its end, a sequence keeps its states, and its outputs are 0.
				live := ops.ExpandDims(ops.Less(row[1], lengths), -1)
				y = ops.Where(live, y, ops.ZerosLike(y))
				for k := range next {
					next[k] = ops.Where(live, next[k], at[k])
				}
			}
			return next, y
		}, at, []T{run, times})
		if backward {
			ys = turned(ys, lengths)
		}
		outs = append(outs, ys)
		for k := range lasts {
			lasts[k] = append(lasts[k], end[k])
		}
	}
	axis := 0
	y := ops.Stack(outs, 1) // [time, directions, batch, hidden]
	if batchFirst {
		y, axis = ops.Transpose(y, 2, 0, 1, 3), 1
	}
	result := []any{y}
	for _, l := range lasts {
		result = append(result, ops.Stack(l, axis))
	}
	return result
}

// turned reverses sequences along time.
func turned(x T, lengths any) T {
	if lengths == nil {
		return ops.Reverse(x, 0)
	}
	return ops.ReverseSequence(x, lengths, 0, 1)
}

// columns splits a tensor into n parts along its last axis.
func columns(x T, n int) []T {
	return ops.Split(x, evenly(dims(x)[rank(x)-1], n), rank(x)-1)
}

// part returns block i of n along the rows of a matrix or vector.
func part(w T, i, n int) T {
	rows := dims(w)[0] / n
	return ops.Index(w, key.Range(i*rows, (i+1)*rows, nil))
}

// biased adds both halves of the bias of a cell.
func biased(x, b T) T {
	if b == nil {
		return x
	}
	return ops.Add(x, ops.Add(part(b, 0, 2), part(b, 1, 2)))
}

func product(x, w T) T { return ops.MatMulT(x, w, false, true) }

func rnn(c *call) []any {
	return c.recurrent(1, []int{5}, func(d int, w, r, b T) cell {
		f := c.gates(d, "Tanh")
		return func(x T, s []T) []T {
			return []T{f[0](biased(ops.Add(product(x, w), product(s[0], r)), b))}
		}
	})
}

func gru(c *call) []any {
	before := !c.flag("linear_before_reset")
	return c.recurrent(1, []int{5}, func(d int, w, r, b T) cell {
		f := c.gates(d, "Sigmoid", "Tanh")
		wb, rb := T(nil), T(nil)
		if b != nil {
			wb, rb = part(b, 0, 2), part(b, 1, 2)
		}
		plus := func(x, b T, i int) T {
			if b == nil {
				return x
			}
			return ops.Add(x, part(b, i, 3))
		}
		return func(x T, s []T) []T {
			h := s[0]
			in := func(i int) T { return plus(product(x, part(w, i, 3)), wb, i) }
			back := func(h T, i int) T { return plus(product(h, part(r, i, 3)), rb, i) }
			update := f[0](ops.Add(in(0), back(h, 0)))
			reset := f[0](ops.Add(in(1), back(h, 1)))
			var new T
			if before {
				new = f[1](ops.Add(in(2), back(ops.Mul(reset, h), 2)))
			} else {
				new = f[1](ops.Add(in(2), ops.Mul(reset, back(h, 2))))
			}
			return []T{ops.Add(ops.Mul(ops.Sub(like(1, update), update), new), ops.Mul(update, h))}
		}
	})
}

func lstm(c *call) []any {
	return c.recurrent(2, []int{5, 6}, func(d int, w, r, b T) cell {
		f := c.gates(d, "Sigmoid", "Tanh", "Tanh")
		peep := [3]T{}
		if c.has(7) {
			for i, p := range columns(ops.Index(c.x(7), d), 3) {
				peep[i] = p
			}
		}
		look := func(gate, state T, i int) T {
			if peep[i] == nil {
				return gate
			}
			return ops.Add(gate, ops.Mul(peep[i], state))
		}
		coupled := c.flag("input_forget")
		return func(x T, s []T) []T {
			gates := columns(biased(ops.Add(product(x, w), product(s[0], r)), b), 4) // input, output, forget, cell
			in := f[0](look(gates[0], s[1], 0))
			forget := T(nil)
			if coupled {
				forget = ops.Sub(like(1, in), in)
			} else {
				forget = f[0](look(gates[2], s[1], 2))
			}
			state := ops.Add(ops.Mul(forget, s[1]), ops.Mul(in, f[1](gates[3])))
			out := f[0](look(gates[1], state, 1))
			return []T{ops.Mul(out, f[2](state)), state}
		}
	})
}
