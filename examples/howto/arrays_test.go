package howto

import (
	"errors"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/linalg"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

func Example_arraysA() {
	x := ops.Reshape(ops.Range(0, 12, 1), []int{3, 4})
	fmt.Println(ops.Index(x, 1))
	fmt.Println(ops.Index(x, key.From(1), key.Range(nil, nil, 2)))
	fmt.Println(ops.Gather(x, []int{2, 0}, 0))
	// Output:
	// [4 5 6 7] int64[4]
	// [[ 4  6]
	//  [ 8 10]] int64[2, 2]
	// [[ 8  9 10 11]
	//  [ 0  1  2  3]] int64[2, 4]
}

func Example_arraysB() {
	a, b := ops.Ones(dtype.Float64, []int{2, 3}), ops.Ones(dtype.Float64, []int{3, 4})
	fmt.Println(ops.Einsum("ij,jk->ki", a, b))
	// Output:
	// [[3. 3.]
	//  [3. 3.]
	//  [3. 3.]
	//  [3. 3.]] float64[4, 2]
}

func Example_arraysC() {
	a := tensor.Of([]float64{4, 1, 1, 3}, 2, 2)
	x := linalg.Solve(a, [][]float64{{1}, {2}})
	fmt.Println(ops.AsString(x, ops.FormatOptions{Precision: new(4)}))
	w, _ := linalg.Eigh(a)
	fmt.Println(ops.Round(ops.Mul(w, 1000)))
	// Output:
	// [["0.0909"]
	//  ["0.6364"]] string[2, 1]
	// [2382. 4618.] float64[2]
}

func Example_arraysD() {
	k := ops.RandomKeys(ops.RandomKey(1), 2)
	fmt.Println(ops.RandomInt(k[0], []int{5}, 0, 10, dtype.Int64), ops.RandomInt(k[1], []int{5}, 0, 10, dtype.Int64))
	fmt.Println(ops.RandomInt(k[0], []int{5}, 0, 10, dtype.Int64))
	// Output:
	// [5 7 1 4 4] int64[5] [8 2 1 7 2] int64[5]
	// [5 7 1 4 4] int64[5]
}

func Example_arraysE() {
	fmt.Println(ops.SegmentSum([]float64{1, 2, 3, 4}, []int64{0, 0, 2, 2}, 3))
	// Output:
	// [3. 0. 7.] float64[3]
}

func Example_arraysF() {
	_, err := tenon.Try(func() tensor.Tensor { return ops.Add([]float64{1, 2}, []float64{1, 2, 3}) })
	var e *tenon.Error
	fmt.Println(errors.Is(err, tenon.ErrShape), errors.As(err, &e), e.Op)
	// Output:
	// true true ops.Add
}

func Example_arraysG() {
	x := tensor.Of([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(tensor.Data[float32](x), tensor.Item[float32](ops.Sum(x)))
	// Output:
	// [1 2 3 4] 10
}
