package named_test

import (
	"fmt"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// The names of these examples.
type (
	Row    struct{ named.Dim[Row] }
	Column struct{ named.Dim[Column] }
	Other  struct{ named.Dim[Other] }
)

// grid has two rows of three columns.
func grid() *named.Tensor { return named.Of([][]float64{{3, 1, 2}, {4, 6, 5}}, Row{}, Column{}) }

// Sorting goes along a dimension, wherever it is stored.
func ExampleSort() {
	fmt.Println(named.Sort[Column](grid(), ops.SortOptions{}))
	fmt.Println(named.ArgSort[Row](grid(), ops.SortOptions{Descending: true}))
	// Output:
	// float64{Row:2 Column:3}
	// [[1. 2. 3.]
	//  [4. 5. 6.]]
	// int64{Row:2 Column:3}
	// [[1 1 1]
	//  [0 0 0]]
}

// Running sums, products and extremes along a dimension.
func ExampleCumSum() {
	fmt.Println(named.CumSum[Column](grid(), ops.CumOptions{}))
	fmt.Println(named.CumProd[Column](grid(), ops.CumOptions{Reverse: true}))
	fmt.Println(named.CumMax[Column](grid(), ops.CumOptions{}))
	fmt.Println(named.CumMin[Row](grid(), ops.CumOptions{}))
	fmt.Println(named.LogCumSumExp[Row](named.Map(ops.ZerosLike, grid()), ops.CumOptions{}).Spec())
	// Output:
	// float64{Row:2 Column:3}
	// [[ 3.  4.  6.]
	//  [ 4. 10. 15.]]
	// float64{Row:2 Column:3}
	// [[  6.   2.   2.]
	//  [120.  30.   5.]]
	// float64{Row:2 Column:3}
	// [[3. 3. 3.]
	//  [4. 6. 6.]]
	// float64{Row:2 Column:3}
	// [[3. 1. 2.]
	//  [3. 1. 2.]]
	// float64{Row:2 Column:3}
}

// Functions of package ops, element by element, whatever the order of the dimensions.
func ExampleMap() {
	fmt.Println(named.Map(ops.Neg, grid()))
	fmt.Println(named.Map2(ops.Greater, grid(), named.Mean[Column](grid())))
	// Output:
	// float64{Row:2 Column:3}
	// [[-3. -1. -2.]
	//  [-4. -6. -5.]]
	// bool{Row:2 Column:3}
	// [[ true false false]
	//  [false  true false]]
}

// Normalised along Column, with nothing learned.
func ExampleLayerNorm() {
	fmt.Printf("%.2f\n", tensor.Data[float64](named.Unnamed(named.LayerNorm[Column](grid(), nil, nil, 0), Row{}, Column{})))
	// Output:
	// [1.22 -1.22 0.00 -1.22 1.22 0.00]
}

// Margins along a dimension, and a new dimension with a one at a position.
func ExamplePad() {
	fmt.Println(named.Pad[Row](grid(), 0, 1, named.PadOptions{}))
	fmt.Println(named.OneHot[Column](named.Of([]int64{2, 0}, Row{}), 3, named.OneHotOptions{}))
	// Output:
	// float64{Row:3 Column:3}
	// [[3. 1. 2.]
	//  [4. 6. 5.]
	//  [0. 0. 0.]]
	// float32{Row:2 Column:3}
	// [[0. 0. 1.]
	//  [1. 0. 0.]]
}

// A moving difference along Column.
func ExampleConv() {
	kernel := named.Of([]float64{-1, 1}, Window{})
	fmt.Println(named.Conv[Column, Window, Window](grid(), kernel, named.ConvOptions{}))
	// Output:
	// float64{Row:2 Column:2}
	// [[-2.  1.]
	//  [ 2. -1.]]
}

// Each query takes the mean of the values, by how well their keys match.
func ExampleAttention() {
	query := named.Of([][]float64{{0, 0}}, Row{}, Other{})
	key := named.Of([][]float64{{1, 0}, {0, 1}}, Column{}, Other{})
	value := named.Of([]float64{10, 20}, Column{})
	fmt.Println(named.Attention[Column, Other](query, key, value, named.AttentionOptions{}))
	// Output:
	// float64{Row:1} [15.]
}

// Masks over two dimensions: what lies at or before a position, and what is near it.
func ExampleTriangle() {
	fmt.Println(named.Triangle(Row{}.Of(2), Column{}.Of(3), 0, 1, 0))
	fmt.Println(named.WindowMask(Row{}.Of(2), Column{}.Of(3), 0, 1))
	// Output:
	// int64{Row:2 Column:3}
	// [[1 0 0]
	//  [1 1 0]]
	// bool{Row:2 Column:3}
	// [[ true  true false]
	//  [false  true  true]]
}

// Random numbers between bounds, and elements that are dropped: the same rows for all columns.
func ExampleUniform() {
	key := ops.RandomKey(1)
	x := named.Uniform(key, dtype.Float64, 1, 2, Row{}.Of(2), Column{}.Of(3))
	fmt.Println(x.Spec(), tensor.Item[bool](ops.All(ops.GreaterEqual(named.Unnamed(x, Row{}, Column{}), 1.0))))
	fmt.Println(named.RandomInt(key, dtype.Int64, 5, 6, Row{}.Of(2)))
	fmt.Println(named.Dropout(key, grid(), 0, Column{}))
	// Output:
	// float64{Row:2 Column:3} true
	// int64{Row:2} [5 5]
	// float64{Row:2 Column:3}
	// [[3. 1. 2.]
	//  [4. 6. 5.]]
}

// Equal data, whatever the order in which the dimensions are stored.
func ExampleEqual() {
	turned := named.Of([][]float64{{3, 4}, {1, 6}, {2, 5}}, Column{}, Row{})
	fmt.Println(named.Equal(grid(), turned, tensor.EqualOptions{}))
	// Output:
	// true
}
