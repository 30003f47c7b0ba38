package control_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// One of several branches, by its number, and by the first condition that holds.
func ExampleSwitch() {
	f := function.New(func(i, x tensor.Tensor) tensor.Tensor {
		return control.Switch(i,
			func() tensor.Tensor { return ops.Neg(x) },
			func() tensor.Tensor { return ops.Square(x) })
	})
	fmt.Println(f.Call(tensor.Scalar(int64(0)), tensor.Scalar(3.0)), f.Call(tensor.Scalar(int64(1)), tensor.Scalar(3.0)))
	sign := control.Case([]control.When[string]{
		{If: ops.Less(tensor.Scalar(-2.0), 0.0), Then: func() string { return "negative" }},
		{If: ops.Equal(tensor.Scalar(-2.0), 0.0), Then: func() string { return "zero" }},
	}, func() string { return "positive" })
	fmt.Println(sign)
	// Output:
	// -3.0 float64[] 9.0 float64[]
	// negative
}

// A running mean, with the mean so far as an output for each row; and the last one alone.
func ExampleScan() {
	x := tensor.Of([]float64{4, 8, 16})
	mean, all := control.Scan(func(m, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		m = ops.Lerp(m, x, 0.5)
		return m, m
	}, tensor.Tensor(tensor.Scalar(0.0)), tensor.Tensor(x))
	fmt.Println(mean, all)
	sum := control.Fold(func(s, x tensor.Tensor) tensor.Tensor { return ops.Add(s, x) }, tensor.Tensor(tensor.Scalar(0.0)), tensor.Tensor(x), control.ScanOptions{Reverse: true})
	fmt.Println(sum)
	// Output:
	// 10.5 float64[] [ 2.   5.  10.5] float64[3]
	// 28.0 float64[]
}

// Elements are read while the loop runs.
func ExampleFoldSeq() {
	numbers := control.Source[tensor.Tensor]{
		Like: tensor.Scalar(int64(0)),
		Open: func(context.Context, []tensor.Tensor) iter.Seq2[tensor.Tensor, error] {
			return func(yield func(tensor.Tensor, error) bool) {
				for i := range int64(4) {
					if !yield(tensor.Scalar(i), nil) {
						return
					}
				}
			}
		},
	}
	fmt.Println(control.FoldSeq(func(s, x tensor.Tensor) tensor.Tensor { return ops.Add(s, x) }, tensor.Tensor(tensor.Scalar(int64(0))), numbers))
	// Output:
	// 6 int64[]
}

// A function of one row may look at its data.
func ExampleMapRows() {
	fmt.Println(control.MapRows(func(row tensor.Tensor) tensor.Tensor {
		if tensor.Item[float64](ops.Sum(row)) > 5 {
			return ops.ZerosLike(row)
		}
		return row
	}, tensor.Tensor(tensor.Of([]float64{1, 2, 3, 4}, 2, 2))))
	// Output:
	// [[1. 2.]
	//  [0. 0.]] float64[2, 2]
}

// Any Go code is a part of a traced function.
func ExampleGoFunc() {
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		y := control.GoFunc(func(x tensor.Tensor) ([]tenon.Value, error) {
			text := fmt.Sprintf("%.1f°", tensor.Item[float64](x))
			return []tenon.Value{tensor.Scalar(text)}, nil
		}, []tenon.Spec{tensor.NewSpec(dtype.String, shape.Of())}, x)
		return y[0].(tensor.Tensor)
	})
	fmt.Println(f.Call(tensor.Scalar(21.25)))
	// Output:
	// "21.2°" string[]
}
