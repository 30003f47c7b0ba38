package jsoncol_test

import (
	"fmt"
	"os"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/jsoncol"
)

const events = `{"id":1,"name":"first","jets":[{"pt":40.5},{"pt":22}]}
{"id":2,"jets":[]}
{"id":3,"name":"third","jets":[{"pt":7.25}]}
`

// Types are found in the data; a field that records may lack has a validity.
func ExampleReadBytes() {
	t, err := jsoncol.ReadBytes([]byte(events), jsoncol.Options{Missing: jsoncol.MissingMasked})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Schema)
	fmt.Println(t.Column.Path("jets").Offsets, jsoncol.Values[float64](t.Column.Path("jets", "pt")))
	fmt.Println(t.Column.Path("name").Valid)
	// Output:
	// {id: int64, name: ?string, jets: var * {pt: float64}}
	// [0 2 2 3] [40.5 22 7.25]
	// [true false true]
}

// A schema is strict: an error says where the text differs from it.
func ExampleSchema() {
	schema := jsoncol.NewStruct(
		jsoncol.SchemaField{Name: "id", Schema: jsoncol.NewLeaf(dtype.Int32)},
		jsoncol.SchemaField{Name: "name", Schema: jsoncol.NewLeaf(dtype.String)},
		jsoncol.SchemaField{Name: "jets", Schema: jsoncol.NewList(jsoncol.NewStruct(
			jsoncol.SchemaField{Name: "pt", Schema: jsoncol.NewLeaf(dtype.Float32)}))},
	)
	_, err := jsoncol.ReadBytes([]byte(events), jsoncol.Options{Schema: schema})
	fmt.Println(err)
	// Output:
	// json:2:18: name: no value where a JSON string is needed (another policy for missing values, or an optional field in the schema, would accept it) (row 1, byte 72)
}

// Only the paths asked for become columns; the rest is checked and skipped.
func ExampleWrite() {
	t, err := jsoncol.ReadBytes([]byte(events), jsoncol.Options{Paths: [][]string{{"id"}, {"jets", "pt"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := jsoncol.Write(os.Stdout, t.Column, jsoncol.WriteOptions{Array: true}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [{"id":1,"jets":[{"pt":40.5},{"pt":22.0}]},{"id":2,"jets":[]},{"id":3,"jets":[{"pt":7.25}]}]
}

// Batches keep the memory small, however long the input is.
func ExampleBatches() {
	for t, err := range jsoncol.Batches([]jsoncol.Input{jsoncol.FromBytes([]byte(events))}, 2, jsoncol.Options{Missing: jsoncol.MissingMasked}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(t.Column.Len, jsoncol.Values[int64](t.Column.Field("id")))
	}
	// Output:
	// 2 [1 2]
	// 1 [3]
}
