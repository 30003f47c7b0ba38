package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/dataset/files"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/beamio"
	"github.com/tenonml/tenon/structured"
)

var ofEvents = beamio.Traced("features", features)

// features returns a row of numbers for each record: lists become sums, means and extremes.
func features(events *structured.Tensor) *structured.Tensor {
	pt, eta, phi := events.Path("jets.pt"), events.Path("jets.eta"), events.Path("jets.phi")
	x, y := ops.Mul(pt, ops.Cos(phi)), ops.Mul(pt, ops.Sin(phi))
	count := events.Lengths("jets")
	sumX, sumY := ops.Sum(x, 1), ops.Sum(y, 1)
	tracks := events.Path("vertices.tracks")
	return events.Select("event", "run", "missing").
		With("jets", count).
		With("ht", ops.Sum(pt, 1)).
		With("mht", ops.Hypot(sumX, sumY)).
		With("central", ops.Sum(ops.Where(ops.Less(ops.Abs(eta), 1.0), pt, 0.0), 1)).
		With("tracks", ops.Sum(ops.Sum(tracks, 2), 1))
}

// schema returns the Spec of the records in the first file.
func schema(prefix string) (*structured.Spec, error) {
	s, err := jsonl.Infer(jsonl.Files(prefix+"-00000.jsonl"), 0, jsonl.Options{Missing: structured.MissingMasked})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// pipeline reads records, computes features, and writes a shard for each file.
func pipeline(o options) (*beam.Pipeline, error) {
	spec, err := schema(o.in)
	if err != nil {
		return nil, err
	}
	p, s := beam.NewPipelineWithRoot()
	events := beamio.Read(s, o.in+"-*.jsonl", beamio.ReadOptions{Rows: o.rows, Schema: spec})
	beamio.Write(s, o.out, beamio.Map(s, ofEvents, events), beamio.WriteOptions{})
	return p, nil
}

// verify computes the features with a dataset for each file, and compares the files that this would write with the
// existing ones. Then it reads all shards as a dataset.
func verify(o options) error {
	spec, err := schema(o.in)
	if err != nil {
		return err
	}
	names, err := filepath.Glob(o.in + "-*.jsonl")
	if err != nil || len(names) == 0 {
		return errors.Join(err, fmt.Errorf("there are no files %s-*.jsonl", o.in))
	}
	for _, name := range names {
		var want bytes.Buffer
		w := parquetio.NewWriter(&want, parquetio.WriteOptions{})
		events := dataset.FromSeq(func() iter.Seq2[*structured.Tensor, error] {
			return jsonl.Batches(jsonl.Files(name), o.rows, jsonl.Options{Schema: spec})
		})
		table := dataset.Map(events, func(t *structured.Tensor) (*structured.Tensor, error) { return features(t), nil })
		for t, err := range table.All(context.Background()) {
			if err != nil {
				return err
			}
			if err := w.Write(t); err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		shard := o.verify + strings.TrimSuffix(strings.TrimPrefix(name, o.in), ".jsonl") + ".parquet"
		got, err := os.ReadFile(shard)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want.Bytes()) {
			return fmt.Errorf("%s differs from the result of a dataset", shard)
		}
	}
	f, err := parquetio.Open(o.verify+"-*.parquet", parquetio.ReadOptions{})
	if err != nil {
		return err
	}
	defer f.Close()
	rows, _ := files.Parquet(f, dataset.BlockOptions{}).Len()
	fmt.Printf("%d shards with %d rows equal the result of a dataset, byte for byte\n", len(names), rows)
	return nil
}
