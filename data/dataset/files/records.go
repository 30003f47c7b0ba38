package files

import (
	"fmt"
	"iter"

	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
)

// rowsAtOnce is the number of records in a batch of files that are read sequentially.
const rowsAtOnce = 1024

// JSONLines returns the stream of the records of JSON lines files, compressed or not, one file after the other. If o
// has no schema, each file gets the schema of its first 1024 records.
func JSONLines(o jsonl.Options, names ...string) *dataset.Dataset[*structured.Tensor] {
	return streams(names, func(name string) iter.Seq2[*structured.Tensor, error] {
		return jsonl.Batches(jsonl.Files(name), rowsAtOnce, o)
	})
}

// CSV returns the stream of the records of CSV files, compressed or not, one file after the other. If o has no types,
// each file gets those of its first 1024 records.
func CSV(o csvio.Options, names ...string) *dataset.Dataset[*structured.Tensor] {
	return streams(names, func(name string) iter.Seq2[*structured.Tensor, error] {
		return csvio.Batches(csvio.Files(name), rowsAtOnce, o)
	})
}

// streams returns the rows of the batches of files.
func streams[T any](names []string, open func(name string) iter.Seq2[T, error]) *dataset.Dataset[T] {
	var parts []*dataset.Dataset[T]
	for _, name := range names {
		d := dataset.FromSeq(func() iter.Seq2[T, error] { return open(name) })
		parts = append(parts, d.Origins(func(i int64) string { return fmt.Sprintf("%s: batch %d of %d", name, i, rowsAtOnce) }).Unbatch())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return dataset.Concat(parts...)
}
