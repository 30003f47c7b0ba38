package mesh_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

// raggedIn is what programs on ragged rows get.
type raggedIn struct {
	R, S  *ragged.Tensor // rows of numbers; S has the rows of R
	Same  *ragged.Tensor // rows as long as those of R, with splits of their own
	Deep  *ragged.Tensor // rows of rows of vectors
	IDs   *ragged.Tensor // rows of positions in Table
	Rows  tensor.Tensor  // [rows, 1]
	Table tensor.Tensor  // [6, 3]
}

func newRaggedIn(rows int) raggedIn {
	var r, s [][]float64
	var flat []float64
	var outer, inner []int64
	var ids [][]int64
	k := 0.0
	for i := range rows {
		n := (i*5 + 2) % 4
		var a, b []float64
		outer = append(outer, int64(n))
		var id []int64
		for j := range n {
			k++
			a, b = append(a, k/3-2), append(b, 1+1/(k+1))
			id = append(id, int64(i+3*j)%6)
			m := (i + j) % 3
			inner = append(inner, int64(m))
			for l := range m {
				flat = append(flat, k, float64(l)-0.5, k*0.1)
			}
		}
		r, s, ids = append(r, a), append(s, b), append(ids, id)
	}
	table := make([]float64, 18)
	for i := range table {
		table[i] = float64(i*i%7) - 2.5
	}
	x := make([]float64, rows)
	for i := range x {
		x[i] = float64(i) - 1.5
	}
	first := ragged.FromSlices(r)
	return raggedIn{
		R: first, S: tenon.Must(first.WithFlatValues(ragged.FromSlices(s).FlatValues())), Deep: tenon.Must(ragged.FromNestedRowLengths(ops.Reshape(tensor.Of(flat), []int{len(flat) / 3, 3}), outer, inner)).(*ragged.Tensor),
		Same: ragged.FromSlices(s), IDs: ragged.FromSlices(ids), Rows: ops.Reshape(tensor.Of(x), []int{rows, 1}), Table: ops.Reshape(tensor.Of(table), []int{6, 3}),
	}
}

var raggedPrograms = map[string]func(x raggedIn) []tenon.Value{
	"itself":  func(x raggedIn) []tenon.Value { return []tenon.Value{x.R, x.Deep} },
	"map":     func(x raggedIn) []tenon.Value { return []tenon.Value{ops.Mul(ops.Exp(x.R), 2.0)} },
	"two":     func(x raggedIn) []tenon.Value { return []tenon.Value{ops.Add(ops.Mul(x.R, x.S), x.R)} },
	"rows":    func(x raggedIn) []tenon.Value { return []tenon.Value{ops.Mul(x.R, x.Rows)} },
	"sum":     func(x raggedIn) []tenon.Value { return []tenon.Value{ops.Sum(x.R, 1)} },
	"mean":    func(x raggedIn) []tenon.Value { return []tenon.Value{ops.Mean(x.S, 1)} },
	"max":     func(x raggedIn) []tenon.Value { return []tenon.Value{ops.Max(x.R, 1)} },
	"all":     func(x raggedIn) []tenon.Value { return []tenon.Value{ops.Sum(x.R), ops.Mean(x.R), ops.Max(x.R)} },
	"softmax": func(x raggedIn) []tenon.Value { return []tenon.Value{ops.Softmax(x.R, 1)} },
	"sort":    func(x raggedIn) []tenon.Value { return []tenon.Value{ops.Sort(x.R, 1, ops.SortOptions{})} },
	"cumsum":  func(x raggedIn) []tenon.Value { return []tenon.Value{ops.CumSum(x.R, 1, ops.CumOptions{})} },
	"deep":    func(x raggedIn) []tenon.Value { return []tenon.Value{ops.Sum(x.Deep, 2)} },
	"deeper":  func(x raggedIn) []tenon.Value { return []tenon.Value{ops.Sum(ops.Sum(x.Deep, 2), 1)} },
	"contract": func(x raggedIn) []tenon.Value {
		return []tenon.Value{ops.MatMul(x.Deep.FlatValues(), ops.Transpose(x.Table))}
	},
	"embedding": func(x raggedIn) []tenon.Value { return []tenon.Value{ops.Mean(ops.Gather(x.Table, x.IDs, 0), 1)} },
	"apart":     func(x raggedIn) []tenon.Value { return []tenon.Value{ops.Mul(x.R, x.Same)} },
	"lengths":   func(x raggedIn) []tenon.Value { return []tenon.Value{x.R.Partitions()[0].RowLengths()} },
	"ids":       func(x raggedIn) []tenon.Value { return []tenon.Value{x.R.Partitions()[0].ValueRowIDs()} },
}

// Ragged values are divided by their rows, and each rank computes with rows of its own: what programs make of them is
// what they make of the whole.
func TestRaggedRows(t *testing.T) {
	cases := 0
	for name, f := range raggedPrograms {
		for _, rows := range ragRows() {
			x := newRaggedIn(rows)
			want := f(x)
			for _, n := range ragRanks() {
				err := dist.Simulate(t.Context(), n, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
					m, err := mesh.New(ctx, c, mesh.Axis{Name: "data", Size: n})
					if err != nil {
						return err
					}
					p := tenon.Must(m.Plan(mesh.Unnamed(0, "data")))
					s, err := shardRagged(m, p, x)
					if err != nil {
						return err
					}
					y, err := mesh.Function(m, f).Call(ctx, s)
					if err != nil {
						return err
					}
					got, err := y.Whole(ctx)
					if err != nil {
						return err
					}
					return alikeAll(got, want)
				})
				if err != nil {
					t.Errorf("%s of %d rows on %d ranks: %v", name, rows, n, err)
					break
				}
				cases++
			}
		}
	}
	t.Logf("%d cases", cases)
}

// shardRagged divides all but the table.
func shardRagged(m *mesh.Mesh, p *mesh.Plan, x raggedIn) (mesh.Sharded[raggedIn], error) {
	table, err := mesh.Shard(tenon.Must(m.Plan()), x.Table)
	if err != nil {
		return mesh.Sharded[raggedIn]{}, err
	}
	rest := x
	rest.Table = tensor.Scalar(0.0)
	s, err := mesh.Shard(p, rest)
	if err != nil {
		return s, err
	}
	return mesh.Join(s, table, func(a raggedIn, b tensor.Tensor) raggedIn { a.Table = b; return a }), nil
}

func alikeAll(got, want []tenon.Value) error {
	for i := range want {
		if err := tensor.AllClose(got[i].(tensor.Tensor), want[i].(tensor.Tensor), tensor.CloseOptions{RTol: 1e-12, ATol: 1e-12, NaN: true}); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}

// Gradients of losses over ragged rows are those of the whole.
func TestRaggedGradients(t *testing.T) {
	losses := map[string]func(x raggedIn) tensor.Tensor{
		"sum":       func(x raggedIn) tensor.Tensor { return ops.Sum(ops.Square(ops.Sum(ops.Mul(x.R, x.S), 1))) },
		"mean":      func(x raggedIn) tensor.Tensor { return ops.Mean(ops.Square(x.R)) },
		"softmax":   func(x raggedIn) tensor.Tensor { return ops.Sum(ops.Mul(ops.Softmax(x.R, 1), x.S)) },
		"rows":      func(x raggedIn) tensor.Tensor { return ops.Sum(ops.Square(ops.Mul(x.R, x.Rows))) },
		"embedding": func(x raggedIn) tensor.Tensor { return ops.Sum(ops.Square(ops.Mean(ops.Gather(x.Table, x.IDs, 0), 1))) },
		"contract": func(x raggedIn) tensor.Tensor {
			return ops.Mean(ops.Square(ops.MatMul(x.Deep.FlatValues(), ops.Transpose(x.Table))))
		},
		"deep": func(x raggedIn) tensor.Tensor { return ops.Sum(ops.Square(ops.Sum(ops.Sum(x.Deep, 2), 1))) },
	}
	type grads struct {
		Loss                 tensor.Tensor
		R, Rows, Table, Deep tensor.Tensor
	}
	cases := 0
	for name, loss := range losses {
		f := func(x raggedIn) grads {
			type wrt struct {
				R, Deep     *ragged.Tensor
				Rows, Table tensor.Tensor
			}
			l, g := grad.ValueAndGrad(func(w wrt, x raggedIn) tensor.Tensor {
				x.R, x.Deep, x.Rows, x.Table = w.R, w.Deep, w.Rows, w.Table
				return loss(x)
			})(wrt{x.R, x.Deep, x.Rows, x.Table}, x)
			return grads{l, g.R, g.Rows, g.Table, g.Deep}
		}
		for _, rows := range ragRows() {
			x := newRaggedIn(rows)
			want := f(x)
			for _, n := range ragRanks() {
				err := dist.Simulate(t.Context(), n, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
					m, err := mesh.New(ctx, c, mesh.Axis{Name: "data", Size: n})
					if err != nil {
						return err
					}
					s, err := shardRagged(m, tenon.Must(m.Plan(mesh.Unnamed(0, "data"))), x)
					if err != nil {
						return err
					}
					y, err := mesh.Function(m, f).Call(ctx, s)
					if err != nil {
						return err
					}
					got, err := y.Whole(ctx)
					if err != nil {
						return err
					}
					return alikeAll([]tenon.Value{got.Loss, got.R, got.Rows, got.Table, got.Deep}, []tenon.Value{want.Loss, want.R, want.Rows, want.Table, want.Deep})
				})
				if err != nil {
					t.Errorf("%s of %d rows on %d ranks: %v", name, rows, n, err)
					break
				}
				cases++
			}
		}
	}
	t.Logf("%d cases", cases)
}

func ragRows() []int {
	if testing.Short() {
		return []int{5}
	}
	return []int{1, 5, 7}
}

func ragRanks() []int {
	if testing.Short() {
		return []int{2, 3}
	}
	return []int{1, 2, 3, 4, 8}
}

// What would need the rows of other ranks is an error that says how to have them, and works with them.
func TestRaggedErrors(t *testing.T) {
	m := tenon.Must(mesh.Abstract(0, mesh.Axis{Name: "data", Size: 2}))
	p := tenon.Must(m.Plan(mesh.Unnamed(0, "data")))
	x := newRaggedIn(5).R
	reverse := func(x *ragged.Tensor) tensor.Tensor { return ops.Reverse(x, 0) }
	_, err := mesh.Function(m, reverse).Explain(p, x)
	if err == nil || !strings.Contains(err.Error(), "mesh.Gather") {
		t.Errorf("got %v, want an error that says how to have the rows whole", err)
	}
	e, err := mesh.Function(m, func(x *ragged.Tensor) tensor.Tensor { return reverse(mesh.GatherAxis(x, 0)) }).Explain(p, x)
	if err != nil || len(e.Collectives) == 0 {
		t.Errorf("gathered: got %v, %v", e, err)
	}
	if _, err := tenon.Must(m.Plan(mesh.Unnamed(1, "data"))).Layout(x); err == nil || !strings.Contains(err.Error(), "only its rows can be") {
		t.Errorf("axis 1: got %v", err)
	}
	uniform := tenon.Must(ragged.FromUniformRowLength(tensor.Of([]float64{1, 2, 3, 4}), 2, nil))
	if _, err := p.Layout(uniform); err == nil || !strings.Contains(err.Error(), "row splits") {
		t.Errorf("rows of one length: got %v", err)
	}
}
