package parquetio_test

import (
	"bytes"
	"fmt"

	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/ragged"
)

func ExampleEncode() {
	var file bytes.Buffer
	if err := parquetio.Encode(&file, ragged.FromSlices([][]int64{{1, 2}, {}, {3}}), parquetio.WriteOptions{}); err != nil {
		panic(err)
	}
	v, err := parquetio.Decode(file.Bytes(), parquetio.ReadOptions{})
	fmt.Println(v, err)
	// Output: [[1 2] [] [3]] int64[3, ~] <nil>
}
