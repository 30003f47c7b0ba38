package train

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

// ofRank is a rank's contribution to the results of all ranks.
type ofRank struct {
	Losses tensor.Tensor // the rank's own loss at its index, and zeros
	Loss   tensor.Tensor
	Grads  []tensor.Tensor
	Beside []tensor.Tensor // the floating-point tensors beside the parameters
}

// differentiateRanks is differentiate for a batch whose rows are divided among ranks. The loss is the mean of the
// ranks' losses, weighted by the number of items of each.
func differentiateRanks[P, B any](s State[P], batch B, loss lossOf[P, B], o Options, flat *parameters) (value tensor.Tensor, grads []tensor.Tensor, after P, losses tensor.Tensor) {
	r := o.Ranks
	o.Ranks = nil
	if r.Compute != nil {
		c := s
		c.Params = mesh.To(r.Compute, s.Params)
		value, grads, after = differentiate(c, mesh.To(r.Compute, batch), loss, o, tenon.Must(flatten(c.Params, o)))
		after = tenon.Must(nest.Pack(after, tenon.Must(nest.Flatten(s.Params, nest.Options{})), nest.Options{}))
		return value, grads, after, nil
	}
	size, rank := r.Mesh.SizeAlong(r.axis()), r.Mesh.RankAlong(r.axis())
	type given struct {
		State  State[P] // the parts that a loss and its gradients need, which are gathered
		Weight tensor.Tensor
	}
	x := given{State: State[P]{Params: s.Params, Scale: s.Scale, Step: s.Step, Key: s.Key}}
	weight := r.weight(batch)
	x.Weight = mesh.PerRank(r.axis(), func(tensor.Tensor) tensor.Tensor { return weight }, s.Step)
	var local P
	out := mesh.PerRank(r.axis(), func(x given) ofRank {
		s := x.State
		s.Key = ops.RandomFoldIn(s.Key, tensor.Scalar(int64(rank)))
		share := ops.Div(weight, x.Weight)
		// The weighted loss is differentiated: it may depend on values of other ranks, so it is part of their
		// gradients.
		value, grads, after := differentiate(s, batch, func(p P, b B, key tensor.Tensor) seen {
			x := loss(p, b, key)
			x.Loss = ops.Mul(isLoss(x.Loss), ops.Cast(share, x.Loss.DType()))
			return x
		}, o, tenon.Must(flatten(s.Params, o)))
		local = after
		none := ops.Equal(share, 0.0)
		some := func(x tensor.Tensor) tensor.Tensor { // the mean of no items is NaN
			return control.Cond(none, func() tensor.Tensor { return ops.ZerosLike(x) }, func() tensor.Tensor { return x })
		}
		place := make([]float64, size)
		place[rank] = 1
		y := ofRank{Loss: some(value)}
		own := some(ops.Div(ops.Cast(value, dtype.Float64), share))
		y.Losses = ops.Where(ops.Equal(tensor.Of(place), 1.0), own, 0.0)
		for _, g := range grads {
			y.Grads = append(y.Grads, some(g))
		}
		for _, t := range besideOf(after) {
			y.Beside = append(y.Beside, some(ops.Mul(t, ops.Cast(share, t.DType()))))
		}
		return y
	}, x)
	after = s.Params
	if w, ok := any(after).(besides); ok {
		after = packBeside(w, local, out.Beside).(P)
	}
	return out.Loss, out.Grads, after, out.Losses
}

// alike returns gradients divided as what is kept for their parameters is, or as these are.
func alike(grads, params []tensor.Tensor, slots [][]tensor.Tensor) []tensor.Tensor {
	out := make([]tensor.Tensor, len(grads))
	for i, g := range grads {
		like := params[i]
		for _, t := range slots[i] {
			if t.Shape().Equal(like.Shape()) {
				like = t
			}
		}
		out[i] = mesh.Like(g, like)
	}
	return out
}

// besideOf returns the floating-point tensors beside the parameters.
func besideOf(p any) (out []tensor.Tensor) {
	if _, ok := p.(besides); !ok {
		return nil
	}
	paths, leaves, err := nest.FlattenWithPaths(p, nest.Options{Expand: true})
	tenon.Throw(err)
	for i, l := range leaves {
		if t, ok := l.(tensor.Tensor); ok && paths[i][0] == "Beside" && t.DType().IsFloat() {
			out = append(out, t)
		}
	}
	return out
}

// packBeside returns the parameters with other state in which floating-point tensors are means over the ranks. Other
// tensors, such as numbers of batches, must be the same on all ranks.
func packBeside(params besides, local any, means []tensor.Tensor) any {
	_, own, err := nest.FlattenWithPaths(local, nest.Options{Expand: true})
	tenon.Throw(err)
	paths, leaves, err := nest.FlattenWithPaths(any(params), nest.Options{Expand: true})
	tenon.Throw(err)
	k := 0
	for i, l := range leaves {
		if paths[i][0] != "Beside" {
			continue
		}
		leaves[i] = own[i]
		if t, ok := l.(tensor.Tensor); ok && t.DType().IsFloat() {
			leaves[i] = means[k]
			k++
		}
	}
	return tenon.Must(nest.Pack(any(params), leaves, nest.Options{Expand: true}))
}
