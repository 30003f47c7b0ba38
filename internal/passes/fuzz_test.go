package passes_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/internal/passes"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// instruction is one operation of a random program: on values a and b of those computed
// so far, with a small number k.
type instruction struct {
	code byte
	a, b int
	k    int
}

// vocabulary is what programs are made of. Functions keep their results small, so that
// rounding does not grow.
var vocabulary = []func(a, b tensor.Tensor, k int) tensor.Tensor{
	func(a, _ tensor.Tensor, _ int) tensor.Tensor { return ops.Neg(a) },
	func(a, _ tensor.Tensor, _ int) tensor.Tensor { return ops.Neg(ops.Neg(a)) },
	func(a, _ tensor.Tensor, _ int) tensor.Tensor { return ops.Tanh(a) },
	func(a, _ tensor.Tensor, _ int) tensor.Tensor { return ops.Exp(ops.Minimum(a, 2.0)) },
	func(a, _ tensor.Tensor, _ int) tensor.Tensor { return ops.Sqrt(ops.Add(ops.Abs(a), 1.0)) },
	func(a, _ tensor.Tensor, _ int) tensor.Tensor { return ops.Mul(a, ops.Sigmoid(a)) },
	func(a, _ tensor.Tensor, _ int) tensor.Tensor {
		return ops.Mul(ops.Mul(0.5, a), ops.Add(1.0, ops.Erf(ops.Mul(a, math.Sqrt2/2))))
	},
	func(a, b tensor.Tensor, _ int) tensor.Tensor { return ops.Add(a, b) },
	func(a, b tensor.Tensor, _ int) tensor.Tensor { return ops.Sub(a, b) },
	func(a, b tensor.Tensor, _ int) tensor.Tensor { return ops.Mul(a, ops.Tanh(b)) },
	func(a, b tensor.Tensor, _ int) tensor.Tensor { return ops.Div(a, ops.Add(ops.Abs(b), 1.0)) },
	func(a, b tensor.Tensor, _ int) tensor.Tensor { return ops.Maximum(a, b) },
	func(a, b tensor.Tensor, _ int) tensor.Tensor { return ops.Where(ops.Greater(a, b), a, b) },
	func(a, _ tensor.Tensor, k int) tensor.Tensor { return ops.Add(a, float64(k%5)) },
	func(a, _ tensor.Tensor, k int) tensor.Tensor { return ops.Mul(a, float64(k%3)/2) },
	func(a, _ tensor.Tensor, k int) tensor.Tensor { return ops.Pow(a, float64(1+k%2)) },
	func(a, _ tensor.Tensor, _ int) tensor.Tensor { return ops.Transpose(a) },
	func(a, _ tensor.Tensor, _ int) tensor.Tensor { return ops.Reshape(a, []int{-1}) },
	func(a, _ tensor.Tensor, k int) tensor.Tensor { return ops.Reshape(a, []int{1 + k%4, -1}) },
	func(a, _ tensor.Tensor, k int) tensor.Tensor { return ops.ExpandDims(a, k%3-1) },
	func(a, _ tensor.Tensor, _ int) tensor.Tensor { return ops.Squeeze(a) },
	func(a, _ tensor.Tensor, k int) tensor.Tensor { return ops.MeanKeep(a, -1-k%2) },
	func(a, _ tensor.Tensor, k int) tensor.Tensor { return ops.Max(a, -1-k%2) },
	func(a, _ tensor.Tensor, _ int) tensor.Tensor { return ops.Softmax(a, -1) },
	func(a, _ tensor.Tensor, k int) tensor.Tensor {
		return ops.Mul(ops.CumSum(a, -1-k%2, ops.CumOptions{}), 0.25)
	},
	func(a, b tensor.Tensor, _ int) tensor.Tensor { return ops.Tanh(ops.MatMul(a, b)) },
	func(a, b tensor.Tensor, _ int) tensor.Tensor { return ops.Tanh(ops.MatMul(a, ops.Transpose(b))) },
	func(a, b tensor.Tensor, k int) tensor.Tensor { return ops.Concat([]tensor.Tensor{a, b, a}, -1-k%2) },
	func(a, _ tensor.Tensor, k int) tensor.Tensor { return ops.Gather(a, []int64{0, int64(k % 2), 0}, -1) },
	func(a, _ tensor.Tensor, k int) tensor.Tensor { return ops.Gather(a, int64(k%2), 0) },
	func(a, _ tensor.Tensor, _ int) tensor.Tensor { return ops.Reverse(a, 0) },
	func(a, b tensor.Tensor, _ int) tensor.Tensor {
		return ops.BroadcastTo(a, ops.Shape(ops.Add(a, b)))
	},
	func(a, _ tensor.Tensor, _ int) tensor.Tensor {
		return ops.Cast(a, dtype.Float64)
	},
	func(a, _ tensor.Tensor, k int) tensor.Tensor {
		return ops.Sort(a, -1, ops.SortOptions{Descending: k%2 == 1})
	},
	func(a, b tensor.Tensor, _ int) tensor.Tensor {
		return control.Cond(ops.Greater(ops.Sum(a), 0.0), func() tensor.Tensor { return ops.Tanh(b) }, func() tensor.Tensor { return ops.Mul(b, 0.5) })
	},
	func(a, _ tensor.Tensor, k int) tensor.Tensor {
		return control.While(func(x tensor.Tensor) tensor.Tensor { return ops.Greater(ops.Max(ops.Abs(x)), 1.0) },
			func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, 0.5) }, a)
	},
	func(a, b tensor.Tensor, k int) tensor.Tensor { return inRows(a, b, k, 0) },
	func(a, b tensor.Tensor, k int) tensor.Tensor { return inRows(a, b, k, 1) },
	func(a, b tensor.Tensor, k int) tensor.Tensor { return inRows(a, b, k, 2) },
	func(a, b tensor.Tensor, k int) tensor.Tensor { return inRows(a, b, k, 3) },
	func(a, b tensor.Tensor, k int) tensor.Tensor { return inRows(a, b, k, 4) },
	func(a, b tensor.Tensor, k int) tensor.Tensor { return inRows(a, b, k, 5) },
	func(a, _ tensor.Tensor, k int) tensor.Tensor {
		return ops.Mul(ops.Cast(ops.Cast(ops.Round(ops.Add(ops.Mul(a, 3), 0.1234)), dtype.Int32), dtype.Float64), 0.125*float64(1+k%2))
	},
	func(a, b tensor.Tensor, _ int) tensor.Tensor {
		return ops.Where(ops.LogicalAnd(ops.Greater(a, b), ops.LogicalNot(ops.IsNaN(a))), a, b)
	},
	func(a, _ tensor.Tensor, k int) tensor.Tensor { return ops.Index(a, key.Range(k%2, -1, nil)) },
	func(a, _ tensor.Tensor, k int) tensor.Tensor {
		return ops.Index(a, key.Ellipsis, key.Range(nil, nil, -1-k%2))
	},
	func(a, b tensor.Tensor, k int) tensor.Tensor {
		return ops.Stack([]tensor.Tensor{a, b, ops.Neg(a)}, k%2)
	},
	func(a, _ tensor.Tensor, k int) tensor.Tensor {
		return ops.Tile(ops.Reshape(a, []int{-1}), []int{1 + k%3})
	},
	func(a, _ tensor.Tensor, k int) tensor.Tensor { return ops.Tanh(ops.Sum(a, -1-k%2)) },
	func(a, _ tensor.Tensor, _ int) tensor.Tensor { return ops.LogSumExp(a) },
	func(a, _ tensor.Tensor, k int) tensor.Tensor {
		return ops.Gather(a, ops.ArgSort(ops.Index(ops.Reshape(a, []int{-1}), key.Range(nil, 1, nil)), 0, ops.SortOptions{}), -1-k%2)
	},
	func(a, b tensor.Tensor, k int) tensor.Tensor {
		flat := ops.Reshape(a, []int{-1})
		ids := ops.Mod(ops.Range(0, ops.Size(flat), 1), 1+k%4)
		return ops.Tanh(ops.SegmentSum(flat, ids, 1+k%4))
	},
	func(a, b tensor.Tensor, k int) tensor.Tensor {
		type state struct{ X, Y tensor.Tensor }
		s := control.While(func(s state) tensor.Tensor { return ops.Less(ops.Sum(s.Y), float64(k%4)) },
			func(s state) state { return state{ops.Tanh(ops.Add(s.X, b)), ops.Add(s.Y, 1.0)} }, state{ops.Add(a, ops.Mul(b, 0)), tensor.Scalar(0.0)})
		return s.X
	},
	func(a, b tensor.Tensor, k int) tensor.Tensor {
		return control.Cond(ops.Less(ops.Max(ops.Abs(a)), 1.0), func() tensor.Tensor {
			return control.Cond(ops.Greater(ops.Sum(b), 0.0), func() tensor.Tensor { return ops.Sum(ops.Exp(ops.Minimum(a, 1.0))) }, func() tensor.Tensor { return ops.Mean(b) })
		}, func() tensor.Tensor { return ops.Sum(ops.Mul(ops.Tanh(a), float64(k%3))) })
	},
	func(a, _ tensor.Tensor, k int) tensor.Tensor {
		carry, _ := control.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
			c = ops.Tanh(ops.Add(ops.Mul(c, 0.5), ops.Sum(x)))
			return c, c
		}, tensor.Tensor(tensor.Scalar(float64(k%3))), a)
		return carry
	},
	func(a, _ tensor.Tensor, _ int) tensor.Tensor {
		return control.Map(func(row tensor.Tensor) tensor.Tensor {
			return ops.Div(row, ops.Add(ops.Sqrt(ops.Sum(ops.Mul(row, row))), 1.0))
		}, a)
	},
}

// inRows divides the elements of a into rows, of one length or of 1, 3, 5 and so on, and
// does something with them that nodes on rows and elementwise ones share.
func inRows(a, b tensor.Tensor, k, what int) tensor.Tensor {
	x, table := ops.Reshape(a, []int{-1}), ops.Reshape(b, []int{-1})
	at := ops.Range(0, ops.Size(x), 1)
	ids := ops.FloorDiv(at, 1+k%5)
	if k%2 == 1 {
		ids = ops.Cast(ops.Floor(ops.Sqrt(ops.Add(ops.Cast(at, dtype.Float64), 0.01))), dtype.Int64)
	}
	splits := rows.FromRowIDs(ids, nil)
	spread := func(perRow tensor.Tensor) tensor.Tensor { return rows.Repeat(perRow, splits, -1) }
	switch what {
	case 0:
		length := ops.Sqrt(ops.Add(rows.Sum(ops.Mul(x, x), splits), 1.0))
		return ops.Div(x, spread(length))
	case 1:
		e := ops.Exp(ops.Sub(x, spread(rows.Max(x, splits))))
		return ops.Div(e, spread(ops.Reshape(ops.ExpandDims(rows.Sum(e, splits), 1), []int{-1})))
	case 2:
		return rows.Sum(ops.Mul(ops.Tanh(x), ops.Gather(table, rows.Offsets(splits, -1), 0)), splits)
	case 3:
		return ops.Sub(rows.Softmax(x, splits), spread(ops.Tanh(rows.Min(x, splits))))
	case 4:
		n := ops.Cast(rows.Lengths(splits), dtype.Float64)
		return ops.Add(ops.Div(x, spread(n)), ops.Cast(rows.Offsets(splits, -1), dtype.Float64))
	}
	return ops.Add(ops.ExpandDims(rows.Mean(x, splits), 1), ops.ExpandDims(rows.LogSumExp(x, splits), 1))
}

// maxSize keeps results small.
const maxSize = 1 << 13

// program turns bytes into a program that runs without errors on the inputs.
func program(data []byte, inputs []tensor.Tensor) []instruction {
	values := append([]tensor.Tensor(nil), inputs...)
	var p []instruction
	for len(data) >= 4 && len(p) < 40 {
		n := instruction{data[0] % byte(len(vocabulary)), int(data[1]) % len(values), int(data[2]) % len(values), int(data[3])}
		data = data[4:]
		out, err := tenon.Try(func() tensor.Tensor { return vocabulary[n.code](values[n.a], values[n.b], n.k) })
		if err != nil || out.Shape().Size() > maxSize || out.Shape().Rank() > 5 || out.Shape().Size() == 0 {
			continue
		}
		values, p = append(values, out), append(p, n)
	}
	return p
}

func execute(p []instruction, inputs []tensor.Tensor) []tensor.Tensor {
	values := append([]tensor.Tensor(nil), inputs...)
	for _, n := range p {
		values = append(values, vocabulary[n.code](values[n.a], values[n.b], n.k))
	}
	return values[max(len(inputs), len(values)-4):]
}

// gradients returns the derivatives of the sum of all results.
func gradients(p []instruction, inputs []tensor.Tensor) []tensor.Tensor {
	return grad.Of(func(in []tensor.Tensor) tensor.Tensor {
		var total tensor.Tensor = tensor.Scalar(0.0)
		for _, x := range execute(p, in) {
			total = ops.Add(total, ops.Sum(x))
		}
		return total
	})(inputs)
}

func close64(t *testing.T, what string, want, got []tensor.Tensor) {
	t.Helper()
	for i := range want {
		w, g := want[i].(*tensor.Dense), got[i].(*tensor.Dense)
		if !w.Shape().Equal(g.Shape()) {
			t.Fatalf("%s: result %d has the shape %v, want %v", what, i, g.Shape(), w.Shape())
		}
		x, y := tensor.Data[float64](tensor.Contiguous(w)), tensor.Data[float64](tensor.Contiguous(g))
		for k := range x {
			if x[k] != y[k] && !(math.IsNaN(x[k]) && math.IsNaN(y[k])) && !(math.Abs(x[k]-y[k]) <= 1e-9*(1+math.Abs(x[k]))) {
				t.Fatalf("%s: element %d of result %d is %v, want %v", what, k, i, y[k], x[k])
			}
		}
	}
}

// FuzzGraphs compares random programs, and their gradients: operation by operation, as
// graphs without passes, with each pass alone, and with all of them; with sizes that are
// known and with sizes that are not.
func FuzzGraphs(f *testing.F) {
	f.Add([]byte{7, 0, 1, 0, 2, 2, 0, 0, 16, 3, 0, 0})
	f.Add([]byte{6, 0, 0, 0, 25, 0, 1, 0, 26, 0, 0, 0, 23, 2, 0, 0, 31, 1, 0, 0})
	f.Add([]byte{34, 0, 1, 0, 35, 3, 0, 0, 27, 3, 3, 1, 33, 4, 0, 0})
	for what := range byte(6) {
		f.Add([]byte{36 + what, 0, 1, what, 36 + what, 3, 0, 3, 7, 3, 4, 0, 2, 5, 0, 0})
	}
	f.Add([]byte{52, 0, 1, 3, 53, 0, 1, 1, 54, 0, 0, 2, 55, 3, 0, 0, 44, 0, 1, 0, 46, 0, 1, 0})
	f.Add([]byte{14, 0, 0, 2, 14, 0, 0, 2, 7, 3, 4, 0, 5, 5, 0, 0, 17, 6, 0, 0, 18, 6, 0, 1, 1, 6, 0, 0})
	f.Fuzz(compare)
}

var programs = flag.Int("programs", 150, "number of random programs that TestRandomGraphs compares")

// TestRandomGraphs is FuzzGraphs on programs that are random from the start.
func TestRandomGraphs(t *testing.T) {
	for seed := range *programs {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		data := make([]byte, 4*(5+r.IntN(40)))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compare(t, data) })
	}
}

func compare(t *testing.T, data []byte) {
	inputs := []tensor.Tensor{ramp(3, 4), ramp(4), ramp(4, 2)}
	p := program(data, inputs)
	if len(p) == 0 {
		return
	}
	for _, run := range []struct {
		name string
		f    func(p []instruction, in []tensor.Tensor) []tensor.Tensor
	}{{"values", execute}, {"gradients", gradients}} {
		want, err := tenon.Try(func() []tensor.Tensor { return run.f(p, inputs) })
		if err != nil {
			t.Fatalf("%s: %v", run.name, err)
		}
		for _, known := range []bool{true, false} {
			var specs []*tensor.Spec
			for _, x := range inputs {
				s := x.Shape()
				if !known {
					s = shape.OfRank(s.Rank())
				}
				specs = append(specs, tensor.NewSpec(dtype.Float64, s))
			}
			g, err := graph.Trace("f", specs, func(in []tensor.Tensor) ([]tensor.Tensor, error) { return run.f(p, in), nil })
			if err != nil {
				if !known {
					continue // broadcast_to a shape, and reshape, may need to know it
				}
				t.Fatalf("%s: %v", run.name, err)
			}
			try := func(what string, list []passes.Pass) {
				h, err := passes.Apply(g, list)
				if err != nil {
					t.Fatalf("%s, %s: %v", run.name, what, err)
				}
				got, err := interp.For(h).Run(t.Context(), inputs)
				if err != nil {
					t.Fatalf("%s, %s: %v\n%v", run.name, what, err, h)
				}
				close64(t, run.name+", "+what, want, got)
			}
			try("no pass", nil)
			for _, pass := range passes.Default {
				try(pass.Name, []passes.Pass{pass})
			}
			try("all passes", passes.Default)
			try("all passes, and again", append(slices.Clone(passes.Default), passes.Pass{"rematerialise", everythingAgain}))
		}
	}
}

// everythingAgain is Rematerialise for values of any size that are needed soon after.
func everythingAgain(g *graph.Graph) (*graph.Graph, error) {
	return graph.Rematerialise(g, 2, func(n *graph.Node) bool { return n.Op.IsElementwise() })
}

func ramp(dims ...int) tensor.Tensor {
	s := shape.Of(dims...)
	d, x := tensor.Make[float64](s)
	for i := range x {
		x[i] = math.Sin(float64(3*i+len(dims))) * 1.5
	}
	return d
}
