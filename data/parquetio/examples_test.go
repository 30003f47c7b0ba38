package parquetio_test

import (
	"bytes"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/structured/gostruct"
)

// Rows are written as they come; a row group is written where it is full.
func ExampleNewWriter() {
	type sale struct {
		Shop  string
		Price float64
	}
	var file bytes.Buffer
	w := parquetio.NewWriter(&file, parquetio.WriteOptions{GroupRows: 2})
	for _, batch := range [][]sale{{{"A", 2.5}}, {{"B", 4}, {"A", 1.5}}} {
		if err := w.Write(tenon.Must(gostruct.From(batch))); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	t, err := parquetio.Decode(file.Bytes(), parquetio.ReadOptions{Columns: []string{"Price"}})
	fmt.Println(t, err)
	// Output:
	// 3 * {Price: float64}
	//    Price
	//    float64
	// 0  2.5
	// 1  4.0
	// 2  1.5 <nil>
}
