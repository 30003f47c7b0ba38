package main

import (
	"context"
	"fmt"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/mesh"
)

// planned prints how long a step takes without a plan and with one of a single device, one after the other in turn: the
// least of each.
func planned(ctx context.Context, m *mesh.Mesh, p *mesh.Plan, sequences int) error {
	x := newStep(sequences)
	s, err := mesh.Shard(p, x)
	if err != nil {
		return err
	}
	plain, divided := function.New(update), mesh.Function(m, update)
	var least [2]time.Duration
	for i := range 31 { // the first are traced
		for k, f := range []func() error{
			func() error { _, err := plain.CallContext(ctx, x); return err },
			func() error { _, err := divided.Call(ctx, s); return err },
		} {
			took, err := timed(f)
			if err != nil {
				return err
			}
			if i == 1 || i > 1 && took < least[k] {
				least[k] = took
			}
		}
	}
	fmt.Printf("%d sequences: %v without a plan, %v with one of a single device, %+.2f%%\n", sequences, least[0], least[1], 100*(least[1].Seconds()/least[0].Seconds()-1))
	return nil
}

// split prints how long it takes to take the rows of this rank of a batch, and to join those of all ranks.
func split(ctx context.Context, c *dist.Comm) error {
	const n = 1024
	texts := func(tokens int) *ragged.Tensor {
		splits := make([]int64, n+1)
		for i := range n {
			splits[i+1] = splits[i] + int64(i*7919%(2*tokens))
		}
		return tenon.Must(ragged.FromRowSplits(ops.Range(int64(0), splits[n], int64(1)), splits))
	}
	positions := texts(50)
	points := tenon.Must(ragged.FromPartition(ops.Zeros(dtype.Float32, []int{positions.FlatValues().Shape().Dim(0), 64}), positions.Partition()))
	for _, b := range []struct {
		name  string
		batch []tenon.Value
	}{
		{"questions and declarations", []tenon.Value{ops.Range(int64(0), int64(n), int64(1)), texts(8), texts(8), texts(90), texts(90)}},
		{"ragged points", []tenon.Value{points}},
	} {
		lo, hi := dist.Share(n, c.Size(), c.Rank())
		parts := make([]tenon.Value, len(b.batch))
		var least [2]time.Duration
		for i := range 100 {
			for k, f := range []func() (err error){
				func() (err error) {
					for j, v := range b.batch {
						if parts[j], err = rows.Slice(v, lo, hi); err != nil {
							return err
						}
					}
					return nil
				},
				func() error {
					for _, v := range parts {
						all, err := dist.GatherValues(ctx, c, v)
						if err == nil {
							_, err = rows.Concat(all)
						}
						if err != nil {
							return err
						}
					}
					return nil
				},
			} {
				took, err := timed(f)
				if err != nil {
					return err
				}
				if i == 0 || took < least[k] {
					least[k] = took
				}
			}
		}
		if c.Rank() == 0 {
			fmt.Printf("%s: split among %d ranks in %v, joined in %v\n", b.name, c.Size(), least[0], least[1])
		}
	}
	return nil
}

func timed(f func() error) (time.Duration, error) {
	begin := time.Now()
	err := f()
	return time.Since(begin), err
}
