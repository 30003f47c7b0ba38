package interp

import (
	"fmt"
	"math"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/kernel/fused"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// chainPrograms are functions of two tensors and a number, and of a number for each row
// and row splits where they read them, with what a block of their group runs.
var chainPrograms = []struct {
	name  string
	units string
	rows  bool // it reads the last two
	f     func(x, y, z, c, s tensor.Tensor) []tensor.Tensor
}{
	{"one result", "4 nodes", false, func(x, y, z, _, _ tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{ops.Relu(ops.Sub(z, ops.Add(ops.Mul(x, y), x)))}
	}},
	{"results between", "5 nodes", false, func(x, y, z, _, _ tensor.Tensor) []tensor.Tensor {
		a := ops.Mul(x, y)
		b := ops.Maximum(a, z)
		return []tensor.Tensor{b, ops.Div(ops.Sub(a, y), ops.Neg(b)), a}
	}},
	{"around a function that no chain has", "2 nodes, exp, 3 nodes", false, func(x, y, z, _, _ tensor.Tensor) []tensor.Tensor {
		a := ops.Mul(ops.Neg(x), y)
		e := ops.Exp(a)
		return []tensor.Tensor{ops.Add(ops.Mul(e, a), ops.Abs(e)), e}
	}},
	{"a function beside a chain", "exp, 4 nodes", false, func(x, y, z, _, _ tensor.Tensor) []tensor.Tensor {
		a := ops.Mul(ops.Neg(x), y)
		return []tensor.Tensor{ops.Add(ops.Square(a), ops.Exp(y))}
	}},
	{"a number for each row", "4 nodes", true, func(x, y, z, c, s tensor.Tensor) []tensor.Tensor {
		return []tensor.Tensor{ops.Relu(ops.Add(ops.Mul(x, y), rows.Repeat(ops.Reshape(c, []int{-1}), s, -1)))}
	}},
	{"numbers of rows computed, and repeated for others", "ragged.sum, sqrt, ragged.repeat, ragged.max, ragged.repeat, tanh, 2 nodes", true, func(x, y, z, _, s tensor.Tensor) []tensor.Tensor {
		norm := rows.Repeat(ops.Sqrt(rows.Sum(x, s)), s, -1)
		n := ops.Div(x, norm)
		return []tensor.Tensor{ops.Sub(n, rows.Repeat(rows.Max(y, s), s, -1)), ops.Tanh(norm)}
	}},
}

// TestChains compares graphs whose nodes run in chains with the same operations one by
// one, bit for bit.
func TestChains(t *testing.T) {
	partitions := map[string]*tensor.Dense{"short rows": rowSplits(lengths(3000, 20)...), "long rows": rowSplits(70000, 0, 3, 9000, 0), "few": rowSplits(4, 2)}
	for _, p := range chainPrograms {
		for name, s := range partitions {
			for _, d := range []dtype.DType{dtype.Float32, dtype.Float64} {
				t.Run(fmt.Sprint(p.name, "/", name, "/", d), func(t *testing.T) { compareChains(t, p.f, p.rows, s, d) })
			}
		}
	}
}

// Results past the cache.
func TestChainsOfLargeTensors(t *testing.T) {
	s := rowSplits(lengths(450000, 20)...)
	for _, p := range chainPrograms {
		compareChains(t, p.f, p.rows, s, dtype.Float32)
	}
}

// lengths returns n lengths up to most, some of them 0.
func lengths(n, most int64) []int64 {
	l := make([]int64, n)
	for i := range l {
		l[i] = int64(i*i) % (most + 1)
	}
	return l
}

func compareChains(t *testing.T, f func(x, y, z, c, s tensor.Tensor) []tensor.Tensor, rows bool, s *tensor.Dense, d dtype.DType) {
	t.Helper()
	ends := tensor.Data[int64](s)
	n, nrows := int(ends[len(ends)-1]), len(ends)-1
	in := []tensor.Tensor{
		ops.Cast(filled(shape.Of(n), 0.01), d), ops.Cast(filled(shape.Of(n), -0.003), d), ops.Cast(filled(shape.Of(), 0.5), d),
		ops.Cast(filled(shape.Of(nrows, 1), 0.02), d), s,
	}
	values := shape.Of(n)
	if rows {
		values = shape.OfRank(1) // what is repeated has a number of values that nobody knows before
	}
	specs := []*tensor.Spec{tensor.NewSpec(d, values), tensor.NewSpec(d, values), tensor.NewSpec(d, shape.Of()), tensor.NewSpec(d, shape.Of(shape.Unknown, 1)), tensor.NewSpec(dtype.Int64, shape.OfRank(1))}
	g := traceChain(t, specs, f)
	want := f(in[0], in[1], in[2], in[3], in[4])
	for range 2 { // the second time with the memory of the first
		got, err := For(g).Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			x, y := tensor.Data[float64](ops.Cast(want[i], dtype.Float64)), tensor.Data[float64](ops.Cast(got[i], dtype.Float64))
			if len(x) != len(y) {
				t.Fatalf("result %d has %d elements, want %d", i, len(y), len(x))
			}
			for k := range x {
				if math.Float64bits(x[k]) != math.Float64bits(y[k]) && x[k] == x[k] {
					t.Fatalf("element %d of result %d is %v, want %v", k, i, y[k], x[k])
				}
			}
		}
		for _, x := range got {
			tensor.Release(x.(*tensor.Dense))
		}
	}
}

func traceChain(t *testing.T, specs []*tensor.Spec, f func(x, y, z, c, s tensor.Tensor) []tensor.Tensor) *graph.Graph {
	t.Helper()
	g, err := graph.Trace("f", specs, func(p []tensor.Tensor) ([]tensor.Tensor, error) { return f(p[0], p[1], p[2], p[3], p[4]), nil })
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// What the first group of a plan runs on a block.
func TestChainsArePlanned(t *testing.T) {
	if !fused.HasChains(dtype.Float32) {
		return // the nodes run one by one
	}
	for _, p := range chainPrograms {
		n := shape.Of(100)
		if p.rows {
			n = shape.OfRank(1)
		}
		specs := []*tensor.Spec{spec(n), spec(n), spec(shape.Of()), spec(shape.Of(shape.Unknown, 1)), tensor.NewSpec(dtype.Int64, shape.OfRank(1))}
		plan := For(traceChain(t, specs, p.f))
		if len(plan.steps) != 1 || plan.steps[0].group == nil {
			var names []string
			for _, s := range plan.steps {
				names = append(names, s.name())
			}
			t.Errorf("%s: the steps are %v, want one group", p.name, names)
			continue
		}
		got := ""
		for i, l := range plan.steps[0].group.loops {
			if i > 0 {
				got += ", "
			}
			if l.chain > 0 {
				got += fmt.Sprint(len(plan.steps[0].group.chains[l.chain-1].nodes), " nodes")
			} else {
				got += plan.steps[0].group.steps[l.node].op.Name
			}
		}
		if got != p.units {
			t.Errorf("%s: a block runs %s, want %s", p.name, got, p.units)
		}
	}
}

// A group of more nodes than a chain has slots for what they hold at a time.
func TestLongChains(t *testing.T) {
	compareChains(t, func(x, y, z, _, _ tensor.Tensor) []tensor.Tensor {
		var held []tensor.Tensor
		a := x
		for range 30 {
			a = ops.Sub(ops.Mul(a, z), y)
			held = append(held, a)
		}
		for _, h := range held {
			a = ops.Add(ops.Neg(a), h)
		}
		return []tensor.Tensor{a}
	}, false, rowSplits(5000), dtype.Float32)
}
