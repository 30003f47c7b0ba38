package jsonl_test

import (
	"bytes"
	"fmt"

	"github.com/tenonml/tenon/data/jsonl"
)

func ExampleRead() {
	text := []byte(`{"id":1,"jets":[{"pt":3.5},{"pt":7.25}]}
{"id":2,"jets":[]}
`)
	t, err := jsonl.Read(jsonl.Bytes(text), jsonl.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(t.Select("jets.pt").FieldNames())
	var out bytes.Buffer
	if err := jsonl.Write(&out, t.Filter("any(@.jets.pt > 5)"), jsonl.WriteOptions{}); err != nil {
		panic(err)
	}
	fmt.Print(out.String())
	// Output:
	// [jets]
	// {"id":1,"jets":[{"pt":3.5},{"pt":7.25}]}
}
