package mesh

import (
	"context"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/tensor"
)

// Measure measures the machine on which the ranks of a group run, with all ranks working at the same time, as they do
// in a program. It returns the figures of the slowest rank, and takes about a second. All ranks must call it. Within is
// the link between the ranks of the group. To find Between, use a group with one rank of each host:
//
//	on, err := mesh.Measure(ctx, host)       // the ranks of this host
//	far, err := mesh.Measure(ctx, leaders)   // a rank of each host
//	on.Between = far.Within
func Measure(ctx context.Context, c *dist.Comm) (on Machine, err error) {
	defer tenon.Catch(&err)
	on.Ranks = c.Size()
	const n, rows, long, many = 512, 512, 2 << 20, 64
	ones := func(dims ...int) tensor.Tensor {
		return tensor.Contiguous(ops.Ones(dtype.Float32, dims).(*tensor.Dense))
	}
	square, batch, vector, small := ones(n, n), ones(rows, n), ones(long), ones(4, 4)
	run := func(f func(x tensor.Tensor) tensor.Tensor, x tensor.Tensor) float64 {
		g := function.New(f)
		return tenon.Must(slowest(ctx, c, func() error {
			_, err := g.CallContext(ctx, x)
			return err
		}))
	}
	step := run(func(x tensor.Tensor) tensor.Tensor {
		for range many {
			x = ops.MatMul(x, small)
		}
		return x
	}, small) / many
	on.Step = seconds(step)
	// The products of a dense layer and its gradients. One of them has a transposed operand, which may take
	// longer.
	on.FLOPS = 3 * 2 * rows * n * n / run(func(x tensor.Tensor) tensor.Tensor {
		y := ops.MatMul(x, square)
		return ops.MatMul(ops.Transpose(x), ops.MatMul(y, ops.Transpose(square)))
	}, batch)
	on.Bandwidth = 3 * 4 * long / run(func(x tensor.Tensor) tensor.Tensor { return ops.Add(x, vector) }, vector)
	if c.Size() == 1 {
		return on, nil
	}
	reduce := func(x tensor.Tensor) float64 {
		return tenon.Must(slowest(ctx, c, func() error {
			_, err := c.AllReduce(ctx, x, dist.Sum)
			return err
		}))
	}
	p := c.Size()
	alpha := reduce(tensor.Scalar(float32(1))) / up(p)
	// A large all-reduce uses Rabenseifner's method: the rest of its time, without latency and sums,
	// is due to beta.
	w := wire{alpha: alpha, gamma: 3 / on.Bandwidth}
	left := max(reduce(vector)-w.reduceScatter(4*long, p)-w.allGather(4*long, p), 1e-12)
	on.Within = Link{Latency: seconds(alpha), Bandwidth: 2 * rest(p) * 4 * long / left}
	return on, nil
}

// slowest returns the seconds of a call on the slowest rank, the minimum over several groups of
// calls.
func slowest(ctx context.Context, c *dist.Comm, call func() error) (float64, error) {
	best := 0.0
	for group := range 5 { // the first one is a warm-up
		if _, err := c.AllReduce(ctx, tensor.Scalar(0.0), dist.Sum); err != nil {
			return 0, err
		}
		const calls = 3
		begin := time.Now()
		for range calls {
			if err := call(); err != nil {
				return 0, err
			}
		}
		took, err := c.AllReduce(ctx, tensor.Scalar(time.Since(begin).Seconds()/calls), dist.Max)
		if err != nil {
			return 0, err
		}
		if s := tensor.Item[float64](took); group > 0 && (best == 0 || s < best) {
			best = s
		}
	}
	return max(best, 1e-9), nil
}
