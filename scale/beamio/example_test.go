package beamio_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/scale/beamio"
	"github.com/tenonml/tenon/structured"
)

// Sums of each batch, which are few, are what moves between workers.
var (
	salesOfBatch = beamio.Traced("sales of a batch", func(t *structured.Tensor) *structured.Tensor {
		return t.GroupBy("city").Aggregate(structured.Sum("price"), structured.Count())
	})
	salesOfCities = beamio.Traced("sales of cities", func(t *structured.Tensor) *structured.Tensor {
		return t.GroupBy("city").Sorted().Aggregate(structured.Sum("price"), structured.Sum("count"))
	})
)

func ExampleGroupBy() {
	slog.SetLogLoggerLevel(slog.LevelError)
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	lines := []byte(`{"city":"Bern","price":2}` + "\n" + `{"city":"Oslo","price":5}` + "\n" + `{"city":"Bern","price":4}` + "\n")
	if err := os.WriteFile(filepath.Join(dir, "sales.jsonl"), lines, 0o666); err != nil {
		log.Fatal(err)
	}
	schema, err := jsonl.Infer(jsonl.Bytes(lines), 0, jsonl.Options{})
	if err != nil {
		log.Fatal(err)
	}

	p, s := beam.NewPipelineWithRoot()
	sales := beamio.Read(s, filepath.Join(dir, "*.jsonl"), beamio.ReadOptions{Schema: schema})
	totals := beamio.GroupBy(s, salesOfCities, sales, beamio.GroupOptions{Keys: []string{"city"}, Combine: salesOfBatch, Partitions: 1})
	beamio.Write(s, filepath.Join(dir, "totals"), totals, beamio.WriteOptions{Format: beamio.JSONLines, Shards: 1})
	if _, err := beam.Run(context.Background(), "direct", p); err != nil {
		log.Fatal(err)
	}

	b, err := os.ReadFile(filepath.Join(dir, "totals-00000.jsonl"))
	fmt.Print(string(b))
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"city":"Bern","price":6,"count":2}
	// {"city":"Oslo","price":5,"count":1}
}
