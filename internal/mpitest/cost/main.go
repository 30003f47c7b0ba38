// Command cost measures the machine that its ranks run on, predicts how long a step of training takes on
// them, and measures that too. It also measures what a plan of one device adds to the step, and how long it
// takes to split and to join batches:
//
//	go build -o cost ./internal/mpitest/cost
//	GOMAXPROCS=1 ./cost
//	GOMAXPROCS=1 mpiexec -n 2 ./cost
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/dist/mpi"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

const sequences = 32

func main() { mpi.Main(dist.Options{Timeout: time.Minute}, run) }

func run(ctx context.Context, c *dist.Comm) error {
	on, err := mesh.Measure(ctx, c)
	if err != nil {
		return err
	}
	m, err := mesh.New(ctx, c, mesh.Axis{Name: "data", Size: c.Size()})
	if err != nil {
		return err
	}
	p, err := m.Plan(mesh.On[Batch]("data"))
	if err != nil {
		return err
	}
	e, err := mesh.Function(m, update).Explain(p, newStep(sequences))
	if err != nil {
		return err
	}
	cost, err := e.Cost(on)
	if err != nil {
		return err
	}
	took, err := measured(ctx, c, m, p)
	if err != nil {
		return err
	}
	if c.Rank() == 0 {
		fmt.Printf("%d ranks, %+v\n%.3g GFLOP, %.3g MB read and written, %d collectives\n", c.Size(), on, cost.FLOPs/1e9, cost.Bytes/1e6, len(e.Collectives))
		fmt.Printf("predicted %v, measured %v, %+.1f%%\n", cost, took, 100*(cost.Total().Seconds()/took.Seconds()-1))
	}
	if c.Size() == 1 {
		for _, n := range []int{1, sequences} {
			if err := planned(ctx, m, p, n); err != nil {
				return err
			}
		}
	}
	return split(ctx, c)
}

// measured returns how long a step takes on the slowest rank: the least of some.
func measured(ctx context.Context, c *dist.Comm, m *mesh.Mesh, p *mesh.Plan) (time.Duration, error) {
	x, err := mesh.Shard(p, newStep(sequences))
	if err != nil {
		return 0, err
	}
	f := mesh.Function(m, update)
	best := time.Duration(0)
	for i := range 6 { // the first is traced
		if _, err := c.AllReduce(ctx, tensor.Scalar(0.0), dist.Sum); err != nil {
			return 0, err
		}
		begin := time.Now()
		if _, err := f.Call(ctx, x); err != nil {
			return 0, err
		}
		took, err := c.AllReduce(ctx, tensor.Scalar(time.Since(begin).Seconds()), dist.Max)
		if err != nil {
			return 0, err
		}
		if d := time.Duration(tensor.Item[float64](took) * 1e9); i > 0 && (best == 0 || d < best) {
			best = d
		}
	}
	return best, nil
}
