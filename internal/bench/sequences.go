package main

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	register("dataset_epoch", datasetEpoch)
	register("pack", packLengths)
}

// datasetEpoch reads rows of tokens, shuffled over all of them, in ragged batches.
func datasetEpoch(r *runner) {
	if !r.want("epoch") {
		return
	}
	n := r.pick(1_000_000, 10_000, 1000)
	splits := make([]int64, n+1)
	for i, l := range inputs.Lengths(27, 0, n) {
		splits[i+1] = splits[i] + max(1, l/16)
	}
	rows, err := ragged.FromRowSplits(inputs.Belows(27, 1, int(splits[n]), 32000), splits)
	if r.fail(err) {
		return
	}
	seed := uint64(0)
	check := func(x any) []float64 {
		out := make([]float64, 4)
		for _, b := range x.([]tensor.Tensor) {
			t := b.(*ragged.Tensor)
			ends, tokens := tensor.Data[int64](t.Partition().RowSplits()), tensor.Data[int64](t.FlatValues())
			out[0]++
			for k := range len(ends) - 1 {
				out[1]++
				for i, v := range tokens[ends[k]:ends[k+1]] {
					out[2] += float64(v)
					out[3] += float64(v * int64(1+i%31))
				}
			}
		}
		return out
	}
	r.run(benchCase{name: "epoch", items: float64(n), unit: "rows", check: check}, func() any {
		seed++
		var batches []tensor.Tensor
		data := dataset.FromRows[tensor.Tensor](rows).Shuffle(seed).Batch(256, dataset.BatchOptions{Kind: dataset.Ragged})
		for b, err := range data.All(context.Background()) {
			if r.fail(err) {
				return batches
			}
			batches = append(batches, b)
		}
		return batches
	})
}

// packLengths puts lengths into bins.
func packLengths(r *runner) {
	if !r.want("pack2048") {
		return
	}
	const room = 2048
	lengths := inputs.Lengths(28, 0, r.pick(10_000_000, 100_000, 10_000))
	type plan struct {
		bin  []int32
		bins int
	}
	full := &Facts{}
	check := func(x any) []float64 {
		p := x.(plan)
		left := make([]int64, p.bins)
		sum := int64(0)
		for i, b := range p.bin {
			left[b] += lengths[i]
			sum += lengths[i]
		}
		for b, n := range left {
			if n > room || n == 0 {
				r.fail(fmt.Errorf("bin %d holds %d", b, n))
			}
		}
		full.Fill, full.Bins = float64(sum)/float64(p.bins)/room, p.bins
		return []float64{float64(len(p.bin)), float64(sum)}
	}
	r.run(benchCase{name: "pack2048", items: float64(len(lengths)), unit: "lengths", check: check, facts: full}, func() any {
		bin, bins, err := dataset.PlanBins(lengths, room, 0)
		r.fail(err)
		return plan{bin, bins}
	})
}
