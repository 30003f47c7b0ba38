package dataset_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
)

func Example() {
	lines := []byte(`{"label":0,"tokens":[1,2,3]}
{"label":1,"tokens":[]}
{"label":2,"tokens":[4]}
{"label":3,"tokens":[5,6]}
`)
	records, err := jsonl.Read(jsonl.Bytes(lines), jsonl.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	data := dataset.FromRows(records).Shuffle(1).Batch(3, dataset.BatchOptions{Kind: dataset.Ragged}).Prefetch(2)
	n, _ := data.Len()
	fmt.Println(n, "batches")
	for batch, err := range data.From(context.Background(), 1) { // the first was read before
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(batch.NRows(), batch.FieldNames())
	}
	// Output:
	// 2 batches
	// 1 int64[] [label tokens]
}

// Files that do not fit into memory are read as a stream.
func ExampleFromBatches() {
	source := jsonl.Bytes([]byte("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n"))
	data := dataset.FromBatches(func() iter.Seq2[*structured.Tensor, error] {
		return jsonl.Batches(source, 2, jsonl.Options{})
	}).Skip(1)
	for row, err := range data.All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		a, err := row.Field("a")
		fmt.Println(a, err)
	}
	// Output:
	// 2 int64[] <nil>
	// 3 int64[] <nil>
}
