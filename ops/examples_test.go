package ops_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

var square = tensor.Of([]float64{3, 1, 2, 4}, 2, 2)

// Elements are read, written and added to at positions along an axis.
func ExampleTakeAlongAxis() {
	at := ops.ArgSort(square, -1, ops.SortOptions{})
	fmt.Println(ops.TakeAlongAxis(square, at, -1))
	fmt.Println(ops.PutAlongAxis(square, [][]int64{{0}, {1}}, [][]float64{{-1}, {-1}}, 1))
	fmt.Println(ops.AddAlongAxis(square, [][]int64{{0}, {1}}, [][]float64{{10}, {10}}, 1))
	// Output:
	// [[1. 3.]
	//  [2. 4.]] float64[2, 2]
	// [[-1.  1.]
	//  [ 2. -1.]] float64[2, 2]
	// [[13.  1.]
	//  [ 2. 14.]] float64[2, 2]
}

// Complex numbers, their parts and their conjugates.
func ExampleComplex() {
	z := ops.Complex([]float64{3, 0}, []float64{4, 1})
	fmt.Println(z)
	fmt.Println(ops.Real(z), ops.Imag(z), ops.Abs(z))
	fmt.Println(ops.Conj(z))
	// Output:
	// [3.+4.i 0.+1.i] complex128[2]
	// [3. 0.] float64[2] [4. 1.] float64[2] [5. 1.] float64[2]
	// [3.-4.i 0.-1.i] complex128[2]
}

// Contract multiplies and sums over the labels that the result lacks; TensorDot says it by axes.
func ExampleContract() {
	x := tensor.Of([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(ops.Contract(x, x, []int{0, 1}, []int{2, 1}, []int{0, 2}))
	fmt.Println(ops.TensorDot(x, x, []int{0}, []int{0}))
	// Output:
	// [[14. 32.]
	//  [32. 77.]] float64[2, 2]
	// [[17. 22. 27.]
	//  [22. 29. 36.]
	//  [27. 36. 45.]] float64[3, 3]
}

// Diagonals and triangles.
func ExampleTril() {
	fmt.Println(ops.Tril(square, 0), ops.DiagPart(square), ops.Trace(square))
	fmt.Println(ops.Diag([]float64{1, 2}))
	fmt.Println(ops.BandPart(tensor.Of([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3), 1, 0))
	// Output:
	// [[3. 0.]
	//  [2. 4.]] float64[2, 2] [3. 4.] float64[2] 7.0 float64[]
	// [[1. 0.]
	//  [0. 2.]] float64[2, 2]
	// [[1. 0. 0.]
	//  [4. 5. 0.]
	//  [0. 8. 9.]] float64[3, 3]
}

// Values like others, and a guard against those that are no numbers.
func ExampleCheckNumerics() {
	fmt.Println(ops.ZerosLike(square), ops.OnesLike([]int64{7, 8}))
	_, err := tenon.Try(func() tensor.Tensor { return ops.CheckNumerics(ops.Log([]float64{1, -1}), "the loss") })
	fmt.Println(err != nil)
	// Output:
	// [[0. 0.]
	//  [0. 0.]] float64[2, 2] [1 1] int64[2]
	// true
}

// Sums of exponentials and odds, without overflow on the way.
func ExampleLogAddExp() {
	fmt.Println(ops.LogAddExp([]float64{1000}, []float64{1000}))
	fmt.Println(ops.Logit([]float64{0.5, 0.75}))
	// Output:
	// [1000.69314718] float64[1]
	// [0.         1.09861229] float64[2]
}

// The places where something holds, and the elements there.
func ExampleNonzero() {
	fmt.Println(ops.Nonzero(ops.Greater(square, 1.5)))
	fmt.Println(ops.BooleanMask(square, ops.Greater(square, 1.5), 0))
	// Output:
	// [[0 0]
	//  [1 0]
	//  [1 1]] int64[3, 2]
	// [3. 2. 4.] float64[3]
}

// The lengths of the rows, by two norms.
func ExampleNorm() {
	x := tensor.Of([]float64{3, 4, 6, 8}, 2, 2)
	fmt.Println(ops.Norm(x, 2, 1), ops.NormKeep(x, 1, 1))
	// Output:
	// [ 5. 10.] float64[2] [[ 7.]
	//  [14.]] float64[2, 1]
}

// Rows of mean 0 and variance 1, and rows of mean square 1.
func ExampleLayerNorm() {
	x := tensor.Of([]float64{1, 3, 2, 6}, 2, 2)
	fmt.Println(ops.LayerNorm(x, nil, nil, 0, 1))
	fmt.Printf("%.2f\n", tensor.Data[float64](ops.RMSNorm(x, nil, 0, 1)))
	// Output:
	// [[-1.  1.]
	//  [-1.  1.]] float64[2, 2]
	// [0.45 1.34 0.45 1.34]
}

// All products of two vectors.
func ExampleOuter() {
	fmt.Println(ops.Outer([]int64{1, 2}, []int64{10, 20, 30}))
	// Output:
	// [[10 20 30]
	//  [20 40 60]] int64[2, 3]
}

// The order of elements along an axis: reversed, turned round, and reversed as far as rows go.
func ExampleReverse() {
	x := tensor.Of([]int64{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(ops.Reverse(x, 1))
	fmt.Println(ops.Roll(x, []int64{1}, 1))
	fmt.Println(ops.ReverseSequence(x, []int64{2, 3}, 1, 0))
	// Output:
	// [[3 2 1]
	//  [6 5 4]] int64[2, 3]
	// [[3 1 2]
	//  [6 4 5]] int64[2, 3]
	// [[2 1 3]
	//  [6 5 4]] int64[2, 3]
}

// What is known of a tensor, as tensors.
func ExampleShape() {
	fmt.Println(ops.Shape(square), ops.Rank(square), ops.Size(square))
	// Output:
	// [2 2] int64[2] 2 int64[] 4 int64[]
}

// A part of a tensor, by where it begins and how large it is; -1 stands for what is left.
func ExampleSlice() {
	fmt.Println(ops.Slice(tensor.Of([]int64{1, 2, 3, 4, 5, 6}, 2, 3), []int64{0, 1}, []int64{-1, 2}))
	// Output:
	// [[2 3]
	//  [5 6]] int64[2, 2]
}

// Functions of statistics and of physics.
func ExampleErf() {
	fmt.Printf("%.4f\n", tensor.Data[float64](ops.Erf([]float64{0, 1})))
	fmt.Printf("%.4f\n", tensor.Data[float64](ops.Lgamma([]float64{5, 0.5})))
	fmt.Printf("%.4f\n", tensor.Data[float64](ops.Polygamma([]float64{1, 2}, 1)))
	// Output:
	// [0.0000 0.8427]
	// [3.1781 0.5724]
	// [1.6449 0.6449]
}

// Texts as code points and back: all characters behind one another, and where the rows end.
func ExampleStringDecode() {
	codes, splits, _ := ops.StringDecode([]string{"né", "日本"}, "UTF-8", ops.UnicodeOptions{})
	fmt.Println(codes, splits)
	fmt.Println(ops.StringEncode(codes, splits, "UTF-8", ops.UnicodeOptions{}))
	fmt.Println(ops.StringTranscode([]string{"né"}, "UTF-8", "UTF-16-BE", ops.UnicodeOptions{}))
	// Output:
	// [  110   233 26085 26412] int32[4] [0 2 4] int64[3]
	// ["né" "日本"] string[2]
	// ["\x00n\x00\xe9"] string[1]
}

// Copies of a tensor side by side, and of each element.
func ExampleTile() {
	fmt.Println(ops.Tile([]int64{1, 2}, []int64{3}), ops.Repeat([]int64{1, 2}, []int64{1, 3}, 0))
	// Output:
	// [1 2 1 2 1 2] int64[6] [1 2 2 2] int64[4]
}

// Windows of three elements that slide by one, their largest elements, and their sum back in place.
func ExampleWindows() {
	x := tensor.Of([]float64{1, 2, 3, 4})
	o := ops.WindowOptions{Size: []int{3}}
	w := ops.Windows(x, 0, o)
	fmt.Println(w)
	fmt.Println(ops.MaxWindows(x, 0, o))
	fmt.Println(ops.FoldWindows(w, []int64{4}, 0, o))
	// Output:
	// [[1. 2. 3.]
	//  [2. 3. 4.]] float64[2, 3]
	// [3. 4.] float64[2]
	// [1. 4. 6. 4.] float64[4]
}

// A row for each of three.
func ExampleBroadcastTo() {
	fmt.Println(ops.BroadcastTo([]int64{1, 2}, []int64{3, 2}))
	// Output:
	// [[1 2]
	//  [1 2]
	//  [1 2]] int64[3, 2]
}
