package mesh_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

type (
	Batch  struct{ named.Dim[Batch] }
	Seq    struct{ named.Dim[Seq] }
	Key    struct{ named.Dim[Key] }
	Embed  struct{ named.Dim[Embed] }
	Head   struct{ named.Dim[Head] }
	Rep    struct{ named.Dim[Rep] }
	Hidden struct{ named.Dim[Hidden] }
)

// model is a layer of a transformer.
type model struct {
	Query, Keys, Value, Out *named.Tensor
	Up, Down, Bias          *named.Tensor
}

type step struct {
	Model model
	X     *named.Tensor
}

// waves returns a tensor with elements of all sizes.
func waves(seed float64, dims ...named.Sized) *named.Tensor {
	n, sizes, names := 1, []int{}, []named.Name{}
	for _, d := range dims {
		n *= d.Size()
		sizes, names = append(sizes, d.Size()), append(names, d.Name())
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sin(seed + 1.7*float64(i))
	}
	return named.Of(ops.Reshape(tensor.Of(x), sizes), names...)
}

func newStep() step {
	b, s, e, h, r, f := Batch{}.Of(5), Seq{}.Of(4), Embed{}.Of(6), Head{}.Of(4), Rep{}.Of(3), Hidden{}.Of(7)
	return step{model{waves(1, e, h, r), waves(2, e, h, r), waves(3, e, h, r), waves(4, h, r, e), waves(5, e, f), waves(6, f, e), waves(7, e)}, waves(8, b, s, e)}
}

// loss is that of the layer: attention, and two dense layers.
func loss(m model, x *named.Tensor) tensor.Tensor {
	q := named.Dot[Embed](x, m.Query)
	keys := named.Rename[Seq, Key](named.Dot[Embed](x, m.Keys))
	values := named.Rename[Seq, Key](named.Dot[Embed](x, m.Value))
	scores := named.Softmax[Key](named.Contract[Rep](q, keys))
	mixed := named.Contract[Key](scores, values)
	type HeadRep struct {
		named.Set[HeadRep]
		Head
		Rep
	}
	x = ops.Add(x, named.Dot[HeadRep](mixed, m.Out)).(*named.Tensor)
	up := ops.Relu(named.Dot[Embed](x, m.Up)).(*named.Tensor)
	y := ops.Add(named.Dot[Hidden](up, m.Down), m.Bias)
	return ops.Mean(ops.Square(ops.Add(x, y)))
}

type result struct {
	Loss  tensor.Tensor
	Model model
}

// update is a step of gradient descent.
func update(rate float64) func(s step) result {
	return func(s step) result {
		l, g := grad.ValueAndGrad(loss)(s.Model, s.X)
		down := func(p, g *named.Tensor) *named.Tensor { return ops.Sub(p, ops.Mul(g, rate)).(*named.Tensor) }
		m := s.Model
		return result{l, model{down(m.Query, g.Query), down(m.Keys, g.Keys), down(m.Value, g.Value), down(m.Out, g.Out), down(m.Up, g.Up), down(m.Down, g.Down), down(m.Bias, g.Bias)}}
	}
}

// plans are those that the layer is tried with.
func plans(m *mesh.Mesh) (compute, stored *mesh.Plan) {
	compute = tenon.Must(m.Plan(mesh.On[Batch]("data"), mesh.On[Head]("model"), mesh.On[Hidden]("model")))
	return compute, tenon.Must(compute.With(mesh.On[Batch](), mesh.On[Embed]("data")))
}

func near(t *testing.T, what string, got, want tensor.Tensor) {
	t.Helper()
	if err := tensor.AllClose(got, want, tensor.CloseOptions{RTol: 1e-12, ATol: 1e-12}); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// A step of training on any mesh equals that on one rank: data parallel, with heads and hidden units divided,
// and with parameters stored in parts, which are gathered for the loss and whose gradients are scattered.
func TestTransformer(t *testing.T) {
	x := newStep()
	want := update(0.1)(x)
	for _, axes := range [][]mesh.Axis{{{"data", 1}, {"model", 1}}, {{"data", 2}, {"model", 1}}, {{"data", 1}, {"model", 3}}, {{"data", 2}, {"model", 2}}, {{"data", 4}, {"model", 2}}} {
		err := dist.Simulate(context.Background(), axes[0].Size*axes[1].Size, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
			m, err := mesh.New(ctx, c, axes...)
			if err != nil {
				return err
			}
			compute, stored := plans(m)
			for name, f := range map[string]struct {
				plan *mesh.Plan
				f    func(s step) result
			}{
				"compute": {compute, update(0.1)},
			} {
				s, err := mesh.Shard(f.plan, x)
				if err != nil {
					return err
				}
				y, err := mesh.Function(m, f.f).Call(ctx, s)
				if err != nil {
					return err
				}
				got, err := y.Whole(ctx)
				if err != nil {
					return err
				}
				near(t, fmt.Sprint(axes, name, " loss"), got.Loss, want.Loss)
				near(t, fmt.Sprint(axes, name, " query"), got.Model.Query, want.Model.Query)
				near(t, fmt.Sprint(axes, name, " down"), got.Model.Down, want.Model.Down)
				near(t, fmt.Sprint(axes, name, " bias"), got.Model.Bias, want.Model.Bias)
			}
			return sharded(ctx, t, axes, compute, stored, x, want)
		})
		if err != nil {
			t.Fatal(axes, err)
		}
	}
}

// sharded keeps parameters in parts.
func sharded(ctx context.Context, t *testing.T, axes []mesh.Axis, compute, stored *mesh.Plan, x step, want result) error {
	m := compute.Mesh()
	params, err := mesh.Shard(stored, x.Model)
	if err != nil {
		return err
	}
	batch, err := mesh.Shard(compute, x.X)
	if err != nil {
		return err
	}
	f := mesh.Function(m, func(s step) result {
		l, g := grad.ValueAndGrad(func(p model, x *named.Tensor) tensor.Tensor { return loss(mesh.To(compute, p), x) })(s.Model, s.X)
		g = mesh.To(stored, g)
		down := func(p, g *named.Tensor) *named.Tensor { return ops.Sub(p, ops.Mul(g, 0.1)).(*named.Tensor) }
		m := s.Model
		return result{l, model{down(m.Query, g.Query), down(m.Keys, g.Keys), down(m.Value, g.Value), down(m.Out, g.Out), down(m.Up, g.Up), down(m.Down, g.Down), down(m.Bias, g.Bias)}}
	})
	y, err := f.Call(ctx, mesh.Join(params, batch, func(p model, x *named.Tensor) step { return step{p, x} }))
	if err != nil {
		return err
	}
	got, err := y.Whole(ctx)
	if err != nil {
		return err
	}
	near(t, fmt.Sprint(axes, " stored loss"), got.Loss, want.Loss)
	near(t, fmt.Sprint(axes, " stored keys"), got.Model.Keys, want.Model.Keys)
	near(t, fmt.Sprint(axes, " stored up"), got.Model.Up, want.Model.Up)
	return nil
}

// Explain lists the collectives of a program on a mesh that does not exist, each once, with bytes and line.
func TestExplain(t *testing.T) {
	m := tenon.Must(mesh.Abstract(0, mesh.Axis{Name: "data", Size: 4}, mesh.Axis{Name: "model", Size: 2}))
	p := tenon.Must(m.Plan(mesh.On[Batch]("data"), mesh.On[Hidden]("model")))
	type in struct{ X, Up, Down *named.Tensor }
	f := mesh.Function(m, func(x in) tensor.Tensor {
		up := ops.Relu(named.Dot[Embed](x.X, x.Up))
		y := named.Dot[Hidden](up, x.Down)
		return ops.Sum(ops.Square(y))
	})
	e, err := f.Explain(p, in{waves(1, Batch{}.Of(8), Embed{}.Of(6)), waves(2, Embed{}.Of(6), Hidden{}.Of(10)), waves(3, Hidden{}.Of(10), Embed{}.Of(6))})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, c := range e.Collectives {
		kinds = append(kinds, fmt.Sprint(c.Kind, " ", c.Axis, " ", c.Bytes))
		if !strings.Contains(c.Line, "program_test.go") {
			t.Errorf("%v has the line %q", c, c.Line)
		}
	}
	if want := []string{"all_reduce model 96", "all_reduce data 8"}; !slices.Equal(kinds, want) {
		t.Errorf("got %v, want %v\n%v", kinds, want, e)
	}
}

// Plans that make no sense, and programs that would gather silently, are errors with the repair.
func TestErrors(t *testing.T) {
	m := tenon.Must(mesh.Abstract(0, mesh.Axis{Name: "data", Size: 2}, mesh.Axis{Name: "model", Size: 2}))
	data := tenon.Must(m.Plan(mesh.On[Batch]("data"), mesh.On[Seq]("data")))
	x := waves(1, Batch{}.Of(4), Seq{}.Of(6))
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"axis":     {second(m.Plan(mesh.On[Batch]("rows"))), []string{"Batch", `"rows"`, "data=2 model=2"}},
		"twice":    {second(m.Plan(mesh.On[Batch]("data", "data"))), []string{"twice"}},
		"one axis": {second(mesh.Shard(data, x)), []string{"Batch and Seq", "along data", "[4, 6]"}},
		"size":     {second(mesh.Abstract(4, mesh.Axis{Name: "data", Size: 2})), []string{"no rank 4"}},
		"zero":     {second(mesh.Abstract(0, mesh.Axis{Name: "data"})), []string{"size 0"}},
		"names":    {second(mesh.Abstract(0, mesh.Axis{Name: "a", Size: 1}, mesh.Axis{Name: "a", Size: 1})), []string{"two axes"}},
		"sort":     {explained(m, mesh.On[Batch]("data"), x, func(x *named.Tensor) *named.Tensor { return named.Sort[Batch](x, ops.SortOptions{}) }), []string{"[4@data, 6]", "mesh.Gather", "program_test.go"}},
		"softmax":  {explained(m, mesh.On[Seq]("data"), x, func(x *named.Tensor) *named.Tensor { return named.Softmax[Seq](x) }), []string{"6@data", "mesh.Gather"}},
		"no ranks": {call(m, x), []string{"mesh.Abstract"}},
		"two names": {explained(m, mesh.On[Batch]("data"), x, func(x *named.Tensor) *named.Tensor {
			return named.Outer(func(x, y any) tensor.Tensor { return ops.Mul(x, y) }, named.Sum[Seq](x), named.Rename[Batch, Key](named.Sum[Seq](x)))
		}), []string{"two axes of the result", "4@data, 4@data"}},
		"one is summed": {explained(m, mesh.On[Batch]("data"), x, outer("i,j->j")), []string{"[float64[4@data] float64[4@data]]", "another axis"}},
		"both are":      {explained(m, mesh.On[Batch]("data"), x, outer("i,j->")), []string{"[float64[4@data] float64[4@data]]", "another axis"}},
	} {
		if c.err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(c.err.Error(), w) {
				t.Errorf("%s: %v; want %q in it", name, c.err, w)
			}
		}
	}
	// With the repair it works.
	if err := explained(m, mesh.On[Batch]("data"), x, func(x *named.Tensor) *named.Tensor {
		return named.Sort[Batch](mesh.Gather[Batch](x), ops.SortOptions{})
	}); err != nil {
		t.Error(err)
	}
}

// A program that is another one on a rank, if only in a constant, is an error on all of them that says where.
func TestPrograms(t *testing.T) {
	for name, c := range map[string]struct {
		program func(rank int, x tensor.Tensor) tensor.Tensor
		want    string
	}{
		"constant":  {func(rank int, x tensor.Tensor) tensor.Tensor { return ops.Mul(x, 2.5+float64(rank)) }, "in line 1: rank 0 has mul"},
		"attribute": {func(rank int, x tensor.Tensor) tensor.Tensor { return ops.Squeeze(ops.ExpandDims(x, rank)) }, "in line 1: rank 0 has expand_dims"},
		"operation": {func(rank int, x tensor.Tensor) tensor.Tensor {
			return []func(any) tensor.Tensor{ops.Exp, ops.Expm1}[rank](ops.Abs(x))
		}, "in line 2: rank 0 has exp float64[4] at mesh/program_test.go"},
	} {
		err := dist.Simulate(t.Context(), 2, dist.Options{}, func(ctx context.Context, comm *dist.Comm) error {
			m, err := mesh.New(ctx, comm, mesh.Axis{Name: "data", Size: 2})
			if err != nil {
				return err
			}
			s, err := mesh.Shard(tenon.Must(m.Plan(mesh.Unnamed(1, "data"))), tensor.Of([]float64{1, 2, 3, 4}))
			if err != nil {
				return err
			}
			_, err = mesh.Function(m, func(x tensor.Tensor) tensor.Tensor { return c.program(comm.Rank(), x) }).Call(ctx, s)
			return err
		})
		for _, w := range []string{"ranks disagree about the program", c.want, "rank 1"} {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v; want %q in it", name, err, w)
			}
		}
	}
}

// outer returns a function that contracts two vectors which have no axis in common.
func outer(equation string) func(x *named.Tensor) *named.Tensor {
	return func(x *named.Tensor) *named.Tensor {
		v := named.Unnamed(named.Sum[Seq](x))
		return named.Of(ops.Sum(ops.Einsum(equation, v, v)))
	}
}

func second[T any](_ T, err error) error { return err }

func explained(m *mesh.Mesh, r mesh.Rule, x *named.Tensor, f func(*named.Tensor) *named.Tensor) error {
	p, err := m.Plan(r)
	if err != nil {
		return err
	}
	_, err = mesh.Function(m, f).Explain(p, x)
	return err
}

func call(m *mesh.Mesh, x *named.Tensor) error {
	s, err := mesh.Shard(tenon.Must(m.Plan()), x)
	if err != nil {
		return err
	}
	_, err = mesh.Function(m, func(x *named.Tensor) *named.Tensor { return x }).Call(context.Background(), s)
	return err
}

// What ranks come to together, a scalar too, is closed before each of them goes on with it.
func TestPerRankOfSums(t *testing.T) {
	err := dist.Simulate(t.Context(), 3, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
		m, err := mesh.New(ctx, c, mesh.Axis{Name: "data", Size: 3})
		if err != nil {
			return err
		}
		x, err := mesh.Shard[tensor.Tensor](tenon.Must(m.Plan()), tensor.Scalar(1.0))
		if err != nil {
			return err
		}
		mine := float64(c.Rank() + 1)
		y, err := mesh.Function(m, func(x tensor.Tensor) tensor.Tensor {
			sum := mesh.PerRank("data", func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, mine) }, x)
			return mesh.PerRank("data", func(sum tensor.Tensor) tensor.Tensor { return ops.Div(mine, sum) }, sum)
		}).Call(ctx, x)
		if err != nil {
			return err
		}
		got, err := y.Whole(ctx)
		if err == nil {
			near(t, "shares", got, tensor.Scalar(1.0))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A whole operand may have an unknown size, unless that may be the size of a divided axis.
func TestUnknownSizes(t *testing.T) {
	w, x := ops.Reshape(ops.Range(0.0, 12.0, 1.0), []int{3, 4}), tensor.Of([]float64{2, 3, 5})
	ids, splits := tensor.Of([]int64{0, 2, 2}), tensor.Of([]int64{0, 1, 3})
	squares := func(w, x tensor.Tensor) tensor.Tensor {
		return ops.Sum(ops.Square(rows.EmbeddingBag(w, ids, x, splits)))
	}
	for name, c := range map[string]struct {
		f    func(w, x tensor.Tensor) tensor.Tensor
		want string // in the error
	}{
		"contraction": {func(w, x tensor.Tensor) tensor.Tensor {
			return ops.MatMul(ops.Mul(ops.ExpandDims(x, 1), []float64{1, 2, 3}), w)
		}, ""},
		"bag": {func(w, x tensor.Tensor) tensor.Tensor { return rows.EmbeddingBag(w, ids, x, splits) }, ""},
		"weights": {func(w, x tensor.Tensor) tensor.Tensor {
			return grad.Of(func(x tensor.Tensor) tensor.Tensor { return squares(w, x) })(x)
		}, ""},
		"table": {func(w, x tensor.Tensor) tensor.Tensor {
			return grad.Of(func(w tensor.Tensor) tensor.Tensor { return squares(w, x) })(w)
		}, ""},
		"row": {func(w, x tensor.Tensor) tensor.Tensor {
			return ops.Mul(ops.ExpandDims(ops.Gather(w, int64(1), 0), 0), x)
		}, "which may be that of a divided axis"},
		"product": {func(w, x tensor.Tensor) tensor.Tensor { return ops.Mul(w, x) }, "which may be that of a divided axis"},
	} {
		err := dist.Simulate(t.Context(), 2, dist.Options{}, func(ctx context.Context, comm *dist.Comm) error {
			m, err := mesh.New(ctx, comm, mesh.Axis{Name: "data", Size: 2})
			if err != nil {
				return err
			}
			layout := tenon.Must(tenon.Must(m.Plan(mesh.Unnamed(1, "data"))).Layout(w))
			part := tenon.Must(mesh.Local(layout, w))
			var divided mesh.Layout
			f := function.New(func(w, x tensor.Tensor) (y tensor.Tensor) {
				all := layout.Append(tenon.Must(tenon.Must(m.Plan()).Layout(x)))
				y, divided = mesh.Inside(all, func(v []tensor.Tensor) tensor.Tensor { return c.f(v[0], v[1]) }, []tensor.Tensor{w, x})
				return y
			}, function.Options{Signature: []any{part.Spec(), tensor.NewSpec(dtype.Float64, shape.Of(shape.Unknown))}})
			if ctx, err = m.With(ctx); err != nil {
				return err
			}
			out, err := f.CallContext(ctx, part, x)
			if err != nil {
				return err
			}
			got, err := mesh.Whole(ctx, divided, out[0].(tensor.Tensor))
			if err == nil {
				err = tensor.AllClose(got, c.f(w, x), tensor.CloseOptions{}) // integers are exact
			}
			return err
		})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// An open sum is closed before its entries are repeated, if that moves less.
func TestRepeatedSums(t *testing.T) {
	m := tenon.Must(mesh.Abstract(0, mesh.Axis{Name: "data", Size: 2}))
	x := ops.Ones(dtype.Float64, []int{8, 64})
	e, err := mesh.Function(m, func(x tensor.Tensor) tensor.Tensor {
		return ops.Mul(x, ops.BroadcastTo(ops.SumKeep(x, 1), []int{8, 64}))
	}).Explain(tenon.Must(m.Plan(mesh.Unnamed(1, "data"))), x)
	if err != nil || len(e.Collectives) != 1 || e.Collectives[0].Kind != "all_reduce" || e.Collectives[0].Bytes != 8*8 {
		t.Errorf("%v, %v; want an all-reduce of 8 sums", e, err)
	}
}
