package jsonl_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
)

// Lines may hold values of any type, and go to files that are compressed by their names.
func ExampleReadValues() {
	dir, err := os.MkdirTemp("", "jsonl")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	x, err := jsonl.ReadValues(jsonl.Bytes([]byte("[1, 2]\n[]\n[3]\n")), jsonl.Options{})
	fmt.Println(x, err)

	t, err := jsonl.Read(jsonl.Bytes([]byte("{\"a\": 1}\n{\"a\": null}\n")), jsonl.Options{Missing: structured.MissingMasked})
	if err != nil {
		panic(err)
	}
	name := filepath.Join(dir, "a.jsonl.zst")
	if err := jsonl.WriteFile(name, t, jsonl.WriteOptions{OmitMissing: true}); err != nil {
		panic(err)
	}
	back, err := jsonl.ReadFile(name, jsonl.Options{Missing: structured.MissingMasked})
	fmt.Println(back, err)
	// Output:
	// [[1 2] [] [3]] int64[3, ~] <nil>
	// 2 * {a: ?int64}
	//    a
	//    ?int64
	// 0  1
	// 1  - <nil>
}
