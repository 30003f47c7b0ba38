package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("dataset_pipeline", datasetPipeline) }

// datasetPipeline reads shards of records, shuffles their rows and batches them raggedly,
// one epoch from files to the last batch.
func datasetPipeline(r *runner) {
	dir, err := os.MkdirTemp("", "tenon-bench")
	if r.fail(err) {
		return
	}
	defer os.RemoveAll(dir)
	shards, per := r.pick(8, 4, 2), r.pick(25_000, 500, 50)
	schema := tenon.Must(structured.NewSpec(shape.OfRank(1), []tenon.Field{
		{Name: "label", Spec: tensor.NewSpec(dtype.Int64, shape.OfRank(1))},
		{Name: "tokens", Spec: tenon.Must(ragged.NewSpec(dtype.Int64, shape.OfRank(2), 1, dtype.Int64))},
	}))
	var lines, records []string
	for s := range shards {
		name := filepath.Join(dir, fmt.Sprintf("shard-%02d", s))
		lines, records = append(lines, name+".jsonl"), append(records, name+".tfrecord")
		text := shardLines(s, per)
		if r.fail(os.WriteFile(lines[s], text, 0o666)) || r.fail(writeRecords(records[s], text, schema)) {
			return
		}
	}
	features := protoio.Features{"label": protoio.Fixed{DType: dtype.Int64}, "tokens": protoio.Ragged{DType: dtype.Int64}}
	seed := uint64(0)
	run := func(name string, read func() (*structured.Tensor, error)) {
		check := func(x any) []float64 { return x.([]float64) }
		r.run(benchCase{name: name, items: float64(shards * per), unit: "examples", check: check}, func() any {
			seed++
			facts, err := epoch(read, seed)
			r.fail(err)
			return facts
		})
	}
	run("jsonl", func() (*structured.Tensor, error) {
		return jsonl.Read(jsonl.Files(lines...), jsonl.Options{Schema: schema})
	})
	run("stream", func() (*structured.Tensor, error) { return readRecords(records, features) })
}

// writeRecords writes lines as a file of tf.Example messages.
func writeRecords(name string, lines []byte, schema *structured.Spec) error {
	rows, err := jsonl.Read(jsonl.Bytes(lines), jsonl.Options{Schema: schema})
	if err != nil {
		return err
	}
	messages, _, err := protoio.EncodeStructured(rows)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w, err := protoio.NewRecordWriter(&b, protoio.RecordOptions{})
	if err != nil {
		return err
	}
	for _, m := range messages {
		if err := w.Write(m); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o666)
}

// readRecords reads files of tf.Example messages, as many at once as there are threads.
func readRecords(names []string, features protoio.Features) (*structured.Tensor, error) {
	shards := make([][][]byte, len(names))
	errs := make([]error, len(names))
	var group sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range next {
				shards[i], errs[i] = readShard(names[i])
			}
		})
	}
	for i := range names {
		next <- i
	}
	close(next)
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return protoio.ParseStructured(slices.Concat(shards...), features, protoio.ParseOptions{})
}

func readShard(name string) ([][]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := protoio.NewRecordReader(f, protoio.RecordOptions{})
	if err != nil {
		return nil, err
	}
	var messages [][]byte
	for m, err := range r.All() {
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// epoch reads all batches of an epoch, and returns their number and that of the rows, the
// sum of the labels and that of the tokens.
func epoch(read func() (*structured.Tensor, error), seed uint64) ([]float64, error) {
	records, err := read()
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
