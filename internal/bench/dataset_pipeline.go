package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dataset"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/jsonl"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("dataset_pipeline", datasetPipeline) }

// datasetPipeline reads shards of JSON lines, shuffles their rows and batches them
// raggedly, one epoch from files to the last batch.
func datasetPipeline(r *runner) {
	if r.err != nil || !r.want("jsonl") {
		return
	}
	dir, err := os.MkdirTemp("", "tenon-bench")
	if err != nil {
		r.err = err
		return
	}
	defer os.RemoveAll(dir)
	shards, per := r.pick(8, 4, 2), r.pick(25_000, 500, 50)
	var names []string
	for s := range shards {
		name := filepath.Join(dir, fmt.Sprintf("shard-%02d.jsonl", s))
		if r.err = os.WriteFile(name, shardLines(s, per), 0o666); r.err != nil {
			return
		}
		names = append(names, name)
	}
	schema := tenon.Must(structured.NewSpec(shape.OfRank(1), []tenon.Field{
		{Name: "label", Spec: tensor.NewSpec(dtype.Int64, shape.OfRank(1))},
		{Name: "tokens", Spec: tenon.Must(ragged.NewSpec(dtype.Int64, shape.OfRank(2), 1, dtype.Int64))},
	}))
	seed := uint64(0)
	r.run(benchCase{name: "jsonl", items: float64(shards * per), unit: "examples", check: func(x any) []float64 { return x.([]float64) }}, func() any {
		seed++
		return tenon.Must(epoch(names, schema, seed))
	})
}

// epoch reads all batches of an epoch, and returns their number and that of the rows, the
// sum of the labels and that of the tokens.
func epoch(names []string, schema *structured.Spec, seed uint64) ([]float64, error) {
	records, err := jsonl.Read(jsonl.Files(names...), jsonl.Options{Schema: schema})
	if err != nil {
		return nil, err
	}
	data := dataset.FromRows(records).Shuffle(seed).Batch(256, dataset.BatchOptions{Kind: dataset.Ragged}).Prefetch(4)
	var batches, rows, labels, tokens int64
	for b, err := range data.All(context.Background()) {
		if err != nil {
			return nil, err
		}
		l, err := b.Field("label")
		if err != nil {
			return nil, err
		}
		t, err := b.Field("tokens")
		if err != nil {
			return nil, err
		}
		batches++
		for _, x := range tensor.Data[int64](l) {
			rows++
			labels += x
		}
		for _, x := range tensor.Data[int64](t.(*ragged.Tensor).FlatValues()) {
			tokens += x
		}
	}
	return []float64{float64(batches), float64(rows), float64(labels), float64(tokens)}, nil
}

// shardLines returns the rows of a shard as JSON lines.
func shardLines(shard, rows int) []byte {
	s := inputs.NewStream(18, shard)
	var b []byte
	for range rows {
		b = strconv.AppendInt(append(b, `{"label":`...), int64(s.Below(10)), 10)
		b = append(b, `,"tokens":[`...)
		for i := range 1 + s.Below(47) {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(s.Below(20000)), 10)
		}
		b = append(b, "]}\n"...)
	}
	return b
}
