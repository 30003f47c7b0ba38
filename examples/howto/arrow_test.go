package howto

import (
	"fmt"
	"path/filepath"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/dataset/files"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
)

func Example_arrowA() {
	x := tenon.Must(ragged.FromRowLengths([]int64{1, 2, 3, 4, 5, 6}, []int64{2, 0, 1, 3}))
	t := tenon.Must(structured.FromFields([]structured.Field{{Name: "x", Value: x}}, shape.Of(4), structured.Options{}))
	name := filepath.Join(folder, "x.feather")
	check(arrowio.WriteFile(name, t, arrowio.WriteOptions{BatchRows: 2}))

	again, err := arrowio.ReadFile(name, arrowio.ReadOptions{Columns: []string{"x"}})
	check(err)
	fmt.Println(again.(*structured.Tensor).Path("x"))
	// Output:
	// [[1 2] [] [3] [4 5 6]] int64[4, ~]
}

func Example_arrowB() {
	f, err := arrowio.Open(filepath.Join(folder, "x.feather"), arrowio.ReadOptions{})
	check(err)
	defer f.Close()
	data, err := files.Arrow(f, dataset.BlockOptions{})
	check(err)
	row, err := data.At(3)
	check(err)
	fmt.Println(f.Len(), row.Path("x"))
	// Output:
	// 2 [4 5 6] int64[3]
}
