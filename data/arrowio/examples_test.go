package arrowio_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured/gostruct"
)

// Values as what programs of Arrow hand on, and back: an array, a record batch, a table.
func ExampleFromRecord() {
	field, array, err := arrowio.ToArray("x", ragged.FromSlices([][]int32{{1, 2}, {}}))
	if err != nil {
		panic(err)
	}
	fmt.Println(arrowio.FromArray(field, array, arrowio.ReadOptions{}))

	orders := tenon.Must(gostruct.From([]order{{ID: 1, Items: []string{"cup"}}, {ID: 2}}))
	batch := tenon.Must(arrowio.ToRecord(orders))
	fmt.Println(batch.NumRows(), batch.NumCols())
	ids, err := arrowio.FromRecord(batch, arrowio.ReadOptions{Columns: []string{"ID"}})
	fmt.Println(ids, err)

	table := tenon.Must(arrowio.ToTable(orders, orders))
	twice, err := arrowio.FromTable(table, arrowio.ReadOptions{})
	fmt.Println(twice.Spec(), err)
	// Output:
	// [[1 2] []] int32[2, ~] <nil>
	// 2 3
	// 2 * {ID: int64}
	//    ID
	//    int64
	// 0  1
	// 1  2 <nil>
	// struct[4]{ID: int64[4], Items: string[4, ~], Note: masked string[4]} <nil>
}
