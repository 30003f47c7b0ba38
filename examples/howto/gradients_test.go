package howto

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func Example_gradientsA() {
	type Line struct{ Slope, Offset tensor.Tensor }
	loss := func(l Line, x tensor.Tensor) tensor.Tensor {
		return ops.Mean(ops.Square(ops.Sub(ops.Add(ops.Mul(x, l.Slope), l.Offset), 1)))
	}
	value, g := grad.ValueAndGrad(loss)(Line{tensor.Scalar(2.0), tensor.Scalar(0.0)}, tensor.Of([]float64{0, 1, 2}))
	fmt.Println(value, g.Slope, g.Offset)
	// Output:
	// 3.6666666666666665 float64[] 4.666666666666667 float64[] 2.0 float64[]
}

func Example_gradientsB() {
	f := func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, ops.Sum(x)) }
	x := tensor.Of([]float64{1, 2})
	fmt.Println(tenon.Must(grad.Jacobian(f, x)))
	fmt.Println(tenon.Must(grad.Hessian(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Mul(ops.Square(x), x)) }, x)))
	// Output:
	// [[4. 1.]
	//  [2. 5.]] float64[2, 2]
	// [[ 6.  0.]
	//  [ 0. 12.]] float64[2, 2]
}

func Example_gradientsC() {
	clipped := grad.Custom(
		func(x tensor.Tensor) tensor.Tensor { return x },
		func(_, _, ct tensor.Tensor) tensor.Tensor { return ops.Clip(ct, -1, 1) })
	g := grad.Of(func(x tensor.Tensor) tensor.Tensor { return ops.Sum(ops.Mul(clipped(x), []float64{5, 0.5})) })
	fmt.Println(g(tensor.Of([]float64{1, 1})))
	// Output:
	// [1.  0.5] float64[2]
}

func Example_gradientsD() {
	g := grad.Of(func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, grad.StopGradient(ops.Square(x))) })
	fmt.Println(g(tensor.Scalar(3.0)))
	// Output:
	// 9.0 float64[]
}

func Example_gradientsE() {
	calls := 0
	f := function.New(func(x *ragged.Tensor) tensor.Tensor {
		calls++ // while it is traced
		return ops.Sum(x, 1)
	})
	for _, rows := range [][][]int64{{{1, 2}, {3}}, {{4}}, {{}, {5, 6}, {7}}, {{8}, {9}}} {
		fmt.Println(f.Call(ragged.FromSlices(rows)))
	}
	fmt.Println(calls, "traces")
	// Output:
	// [3 3] int64[2]
	// [4] int64[1]
	// [ 0 11  7] int64[3]
	// [8 9] int64[2]
	// 3 traces
}

func Example_gradientsF() {
	collatz := function.New(func(n tensor.Tensor) tensor.Tensor {
		type state struct{ N, Steps tensor.Tensor }
		end := control.While(
			func(s state) tensor.Tensor { return ops.Greater(s.N, 1) },
			func(s state) state {
				next := control.Cond(ops.Equal(ops.Mod(s.N, 2), 0),
					func() tensor.Tensor { return ops.FloorDiv(s.N, 2) },
					func() tensor.Tensor { return ops.Add(ops.Mul(s.N, 3), 1) })
				return state{next, ops.Add(s.Steps, 1)}
			}, state{n, tensor.Scalar(int64(0))})
		return end.Steps
	})
	fmt.Println(collatz.Call(tensor.Scalar(int64(27))))
	// Output:
	// 111 int64[]
}

func Example_gradientsG() {
	f := func(row tensor.Tensor) tensor.Tensor { return ops.Sub(ops.Max(row), ops.Min(row)) }
	fmt.Println(control.Map(f, tensor.Tensor(ragged.FromSlices([][]float64{{1, 5}, {2}, {9, 4, 7}}))))
	// Output:
	// [4. 0. 5.] float64[3]
}
