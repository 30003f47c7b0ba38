package train

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

// ofRank is what a rank gives: everything times its weight.
type ofRank struct {
	Weight tensor.Tensor
	Losses tensor.Tensor // the rank's own loss at its place, and zeros
	Loss   tensor.Tensor
	Grads  []tensor.Tensor
	Beside []tensor.Tensor // the floating tensors of what stands beside the parameters
}

// differentiateRanks is differentiate, for a batch of which each rank has some rows: the loss is the mean of those of
// the ranks, weighted by what they are means over.
func differentiateRanks[P, B any](s State[P], batch B, loss lossOf[P, B], o Options, flat *parameters) (value tensor.Tensor, grads []tensor.Tensor, after P, losses tensor.Tensor) {
	r := o.Ranks
	o.Ranks = nil
	if r.Compute != nil {
		c := s
		c.Params = mesh.To(r.Compute, s.Params)
		value, grads, after = differentiate(c, mesh.To(r.Compute, batch), loss, o, tenon.Must(flatten(c.Params, o)))
		after = tenon.Must(nest.Pack(after, tenon.Must(nest.Flatten(s.Params, nest.Options{})), nest.Options{}))
		return value, alike(grads, flat.tensors()), after, nil
	}
	size, rank := r.Mesh.SizeAlong(r.axis()), r.Mesh.RankAlong(r.axis())
	var local P
	out := mesh.PerRank(r.axis(), func(s State[P]) ofRank {
		s.Key = ops.RandomFoldIn(s.Key, tensor.Scalar(int64(rank)))
		// What is differentiated is weighted: a loss may depend on other ranks, whose gradients it then is part of.
		w := r.weight(batch)
		value, grads, after := differentiate(s, batch, func(p P, b B, key tensor.Tensor) seen {
			x := loss(p, b, key)
			x.Loss = ops.Mul(isLoss(x.Loss), ops.Cast(w, x.Loss.DType()))
			return x
		}, o, tenon.Must(flatten(s.Params, o)))
		local = after
		none := ops.Equal(w, 0.0)
		some := func(x tensor.Tensor) tensor.Tensor { return ops.Where(none, ops.ZerosLike(x), x) } // a mean over nothing is NaN
		place := make([]float64, size)
		place[rank] = 1
		y := ofRank{Weight: w, Loss: some(value)}
		own := some(ops.Div(ops.Cast(value, dtype.Float64), w))
		y.Losses = ops.Where(ops.Equal(tensor.Of(place), 1.0), own, 0.0)
		for _, g := range grads {
			y.Grads = append(y.Grads, some(g))
		}
		for _, t := range besideOf(after) {
			y.Beside = append(y.Beside, some(ops.Mul(t, ops.Cast(w, t.DType()))))
		}
		return y
	}, s)
	mean := func(x tensor.Tensor) tensor.Tensor { return ops.Div(x, ops.Cast(out.Weight, x.DType())) }
	for i := range out.Grads {
		grads = append(grads, mean(out.Grads[i]))
	}
	after = s.Params
	if w, ok := any(after).(besides); ok {
		means := make([]tensor.Tensor, len(out.Beside))
		for i := range means {
			means[i] = mean(out.Beside[i])
		}
		after = packBeside(w, local, means).(P)
	}
	return mean(out.Loss), alike(grads, flat.tensors()), after, out.Losses
}

// alike returns gradients divided as their parameters are.
func alike(grads, params []tensor.Tensor) []tensor.Tensor {
	out := make([]tensor.Tensor, len(grads))
	for i, g := range grads {
		out[i] = mesh.Like(g, params[i])
	}
	return out
}

// besideOf returns the floating tensors of what stands beside parameters.
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

// packBeside returns parameters beside which the floating tensors are means over ranks; others have to be the same on
// all ranks, such as numbers of batches.
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
