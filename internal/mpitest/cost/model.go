package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

// Dimensions of the model.
type (
	Batch  struct{ named.Dim[Batch] }
	Seq    struct{ named.Dim[Seq] }
	Key    struct{ named.Dim[Key] }
	Embed  struct{ named.Dim[Embed] }
	Head   struct{ named.Dim[Head] }
	Rep    struct{ named.Dim[Rep] }
	Hidden struct{ named.Dim[Hidden] }
	Heads  struct {
		named.Set[Heads]
		Head
		Rep
	}
)

// model is a layer of a transformer: 0.79 million float32.
type model struct{ Query, Keys, Value, Out, Up, Down *named.Tensor }

type step struct {
	Model model
	X     *named.Tensor
}

// newStep returns parameters, and a batch of sequences.
func newStep(sequences int) step {
	e, h, r, f := Embed{}.Of(256), Head{}.Of(4), Rep{}.Of(64), Hidden{}.Of(1024)
	fill := func(dims ...named.Sized) *named.Tensor {
		return ops.Mul(named.Ones(dtype.Float32, dims...), float32(0.01)).(*named.Tensor)
	}
	return step{model{fill(e, h, r), fill(e, h, r), fill(e, h, r), fill(h, r, e), fill(e, f), fill(f, e)}, fill(Batch{}.Of(sequences), Seq{}.Of(64), e)}
}

func loss(m model, x *named.Tensor) tensor.Tensor {
	q := named.Dot[Embed](x, m.Query)
	keys := named.Rename[Seq, Key](named.Dot[Embed](x, m.Keys))
	values := named.Rename[Seq, Key](named.Dot[Embed](x, m.Value))
	scores := named.Softmax[Key](named.Contract[Rep](q, keys))
	x = ops.Add(x, named.Dot[Heads](named.Contract[Key](scores, values), m.Out)).(*named.Tensor)
	up := ops.Relu(named.Dot[Embed](x, m.Up)).(*named.Tensor)
	return ops.Mean(ops.Square(ops.Add(x, named.Dot[Hidden](up, m.Down))))
}

// update is a step of gradient descent.
func update(s step) model {
	_, g := grad.ValueAndGrad(loss)(s.Model, s.X)
	down := func(p, g *named.Tensor) *named.Tensor {
		return ops.Sub(p, ops.Mul(g, float32(0.1))).(*named.Tensor)
	}
	m := s.Model
	return model{down(m.Query, g.Query), down(m.Keys, g.Keys), down(m.Value, g.Value), down(m.Out, g.Out), down(m.Up, g.Up), down(m.Down, g.Down)}
}

// explain returns what a step does on ranks that need not exist.
func explain(ranks, sequences int) (mesh.Explanation, error) {
	m, err := mesh.Abstract(0, mesh.Axis{Name: "data", Size: ranks})
	if err != nil {
		return mesh.Explanation{}, err
	}
	s := newStep(1)
	s.X = named.Ones(dtype.Float32, Batch{}.Of(sequences), Seq{}.Of(64), Embed{}.Of(256)) // one element is kept
	return mesh.Function(m, update).Explain(tenon.Must(m.Plan(mesh.On[Batch]("data"))), s)
}
