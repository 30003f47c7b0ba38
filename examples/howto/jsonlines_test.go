package howto

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
)

func Example_jsonLinesA() {
	text := "{\"id\": 1, \"jets\": [{\"pt\": 31.5}, {\"pt\": 12}]}\n{\"id\": 2, \"jets\": []}\n"
	events, err := jsonl.Read(jsonl.Bytes([]byte(text)), jsonl.Options{})
	check(err)
	fmt.Println(tenon.String(events.Spec()))
	fmt.Println(events.Path("jets.pt"))
	check(jsonl.Write(os.Stdout, events, jsonl.WriteOptions{}))
	// Output:
	// struct[2]{id: int64[2], jets: struct[2, ?]{pt: float64[?]}}
	// [[31.5 12.] []] float64[2, ~]
	// {"id":1,"jets":[{"pt":31.5},{"pt":12.0}]}
	// {"id":2,"jets":[]}
}

func Example_jsonLinesB() {
	text := "{\"id\": 1, \"note\": \"a\", \"other\": true}\n{\"id\": 2}\n"
	spec, err := jsonl.Infer(jsonl.Bytes([]byte(text)), 1, jsonl.Options{Paths: []string{"id", "note"}})
	check(err)
	_, err = jsonl.Read(jsonl.Bytes([]byte(text)), jsonl.Options{Schema: spec, SkipUnknown: true})
	var fault *jsonl.Error
	fmt.Println(errors.As(err, &fault), fault.Line)
	t, err := jsonl.Read(jsonl.Bytes([]byte(text)), jsonl.Options{Schema: spec, SkipUnknown: true, Missing: structured.MissingMasked})
	check(err)
	fmt.Println(t.Path("note"))
	// Output:
	// true 2
	// masked(["a" ""] string[2], [ true false] bool[2])
}

func Example_jsonLinesC() {
	text := "{\"x\": 1}\n{\"x\": \n{\"x\": 3}\n"
	var report jsonl.Report
	t, err := jsonl.Read(jsonl.Bytes([]byte(text)), jsonl.Options{Lenient: true, Report: &report})
	check(err)
	fmt.Println(t.Path("x"), report.Skipped, report.Bad[0].Line)
	// Output:
	// [1 3] int64[2] 1 2
}

func Example_jsonLinesD() {
	text := "{\"x\": [1]}\n{\"x\": []}\n{\"x\": [2, 3]}\n"
	data := dataset.FromBatches(func() iter.Seq2[*structured.Tensor, error] {
		return jsonl.Batches(jsonl.Bytes([]byte(text)), 2, jsonl.Options{})
	}).Batch(3, dataset.BatchOptions{Kind: dataset.Ragged})
	for batch, err := range data.All(context.Background()) {
		check(err)
		fmt.Println(batch.Path("x"))
	}
	// Output:
	// [[1] [] [2 3]] int64[3, ~]
}
