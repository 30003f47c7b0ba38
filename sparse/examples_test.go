package sparse_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/tensor"
)

// corner returns 2×2 matrices with 1 at the top left, and something at the bottom right.
func corner(x float64) *sparse.Tensor {
	return tenon.Must(sparse.New(tensor.Of([]int64{0, 0, 1, 1}, 2, 2), []float64{1, x}, []int64{2, 2}))
}

// Where both have a value the values are added; what comes out small may be left out.
func ExampleAdd() {
	fmt.Println(tenon.Must(sparse.Add(corner(2), corner(-2), sparse.AddOptions{})).Values())
	fmt.Println(tenon.Must(sparse.Add(corner(2), corner(-2), sparse.AddOptions{Threshold: 0.5})).Values())
	// Output:
	// [2. 0.] float64[2]
	// [2.] float64[1]
}

// Tensors stand behind one another along an axis.
func ExampleConcat() {
	fmt.Println(tenon.Must(sparse.Concat([]*sparse.Tensor{corner(2), corner(3)}, 1, sparse.ConcatOptions{})))
	// Output:
	// sparse(indices=[[0 0]
	//  [0 2]
	//  [1 1]
	//  [1 3]] int64[4, 2], values=[1. 1. 2. 3.] float64[4], shape=[2, 4])
}

// A function of the values alone.
func ExampleMapValues() {
	fmt.Println(tenon.Must(sparse.MapValues(func(v ...tensor.Tensor) tensor.Tensor { return ops.Add(v[0], 5.0) }, corner(2))).Values())
	// Output:
	// [6. 7.] float64[2]
}

// A matrix that is stored by rows, and one by columns, times a dense one.
func ExampleMatMul() {
	splits, at := []int64{0, 1, 3}, []int64{1, 0, 1}
	byRows := tenon.Must(sparse.NewCSR(splits, at, []float64{5, 6, 7}, 2))
	byColumns := tenon.Must(sparse.NewCSC(splits, at, []float64{5, 6, 7}, 2))
	x := tensor.Of([]float64{1, 10}, 2, 1)
	fmt.Println(tenon.Must(sparse.MatMul(tenon.Must(byRows.ToCOO()), x, sparse.MatMulOptions{})))
	fmt.Println(tenon.Must(sparse.MatMul(tenon.Must(byColumns.ToCOO()), x, sparse.MatMulOptions{})))
	fmt.Println(ops.MatMul(byRows, x))
	// Output:
	// [[50.]
	//  [76.]] float64[2, 1]
	// [[60.]
	//  [75.]] float64[2, 1]
	// [[50.]
	//  [76.]] float64[2, 1]
}

// Rows 0 and 2 of the data are one segment, row 1 another.
func ExampleSegmentSum() {
	data := tensor.Of([]float64{1, 2, 3})
	at, ids := tensor.Of([]int64{0, 2, 1}), tensor.Of([]int64{0, 0, 1})
	fmt.Println(tenon.Must(sparse.SegmentSum(data, at, ids, nil)))
	fmt.Println(tenon.Must(sparse.SegmentMean(data, at, ids, nil)))
	fmt.Println(tenon.Must(sparse.SegmentSqrtN(data, at, ids, 3)))
	// Output:
	// [4. 2.] float64[2]
	// [2. 2.] float64[2]
	// [2.82842712 2.         0.        ] float64[3]
}

// How often numbers occur in each row: numbers that do not take no room.
func ExampleBinCount() {
	fmt.Println(tenon.Must(sparse.BinCount(tensor.Of([]int64{7, 7, 1000, 7}, 2, 2), sparse.CountOptions{Rows: true})))
	// Output:
	// sparse(indices=[[   0    7]
	//  [   1    7]
	//  [   1 1000]] int64[3, 2], values=[2 1 1] int64[3], shape=[2, 1001])
}

// Pairs of words of two columns as numbers below 1000.
func ExampleCrossHashed() {
	x := tenon.Must(sparse.CrossHashed([]tensor.Tensor{tensor.Of([]string{"Rome", "Oslo"}, 2, 1), tensor.Of([]string{"May", "June"}, 2, 1)}, 1000, ops.HashOptions{}))
	fmt.Println(x.Spec())
	// Output:
	// sparse int64[2, 1]
}
