package howto

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func Example_missingA() {
	x := tenon.Must(masked.New([]float64{1, 2, 3}, []bool{true, false, true}))
	fmt.Println(x)
	nan := tenon.Must(ragged.NaNToMissing(tensor.Of([]float64{1, math.NaN(), 3})))
	fmt.Println(nan)
	// Output:
	// masked([1. 2. 3.] float64[3], [ true false  true] bool[3])
	// masked([ 1. nan  3.] float64[3], [ true false  true] bool[3])
}

func Example_missingB() {
	x := tenon.Must(masked.New([]float64{1, 2, 3}, []bool{true, false, true}))
	fmt.Println(ops.Mul(x, 10))
	fmt.Println(ops.Mean(x), ops.CountNonzero(masked.IsMissing(x)))
	// Output:
	// masked([10. 20. 30.] float64[3], [ true false  true] bool[3])
	// 2.0 float64[] 1 int64[]
}

func Example_missingC() {
	x := tenon.Must(masked.New([]float64{1, 2, 3}, []bool{true, false, true}))
	fmt.Println(masked.Fill(x, 0.0))
	fmt.Println(masked.Fill(x, ops.Mean(x)))
	fmt.Println(masked.Compress(x))
	// Output:
	// [1. 0. 3.] float64[3]
	// [1. 2. 3.] float64[3]
	// [1. 3.] float64[2]
}

func Example_missingD() {
	x := tenon.Must(masked.New([]bool{true, false, false}, []bool{true, true, false}))
	fmt.Println(masked.And(x, tensor.Scalar(false)))
	fmt.Println(masked.Or(x, tensor.Scalar(true)))
	// Output:
	// masked([false false false] bool[3], [ true  true  true] bool[3])
	// masked([ true  true  true] bool[3], [ true  true  true] bool[3])
}
