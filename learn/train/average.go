package train

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// averages reports whether a mean of the parameters is kept.
func (o Options) averages() bool { return o.Average != 0 || o.AverageEvery != 0 }

// averaged returns the mean of a parameter after an update. done, an integer scalar, is the
// number of earlier updates.
func (o Options) averaged(mean, p, done tensor.Tensor) tensor.Tensor {
	if o.AverageEvery == 0 {
		next := ops.Add(scaled(mean, o.Average), scaled(p, 1-o.Average))
		if o.AverageFrom == 0 {
			return next
		}
		return ops.Where(ops.Less(done, int64(o.AverageFrom)), p, next)
	}
	// The mean of n tensors is the mean of the first n-1, moved by 1/n of the way to the last
	// one. Before the first, it is the parameter itself.
	every := int64(o.AverageEvery)
	since := ops.Sub(ops.Add(done, int64(1)), int64(o.AverageFrom))
	n := ops.FloorDiv(since, every)
	share := ops.Div(1.0, ops.Cast(ops.Maximum(n, int64(1)), dtype.Float64))
	now := ops.Add(mean, ops.Mul(ops.Sub(p, mean), ops.Cast(share, p.DType())))
	taken := ops.Equal(ops.Mod(since, every), int64(0))
	return ops.Where(ops.Less(n, int64(1)), p, ops.Where(taken, now, mean))
}
