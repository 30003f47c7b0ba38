package howto

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/tensor"
)

func Example_sparseA() {
	x := tenon.Must(sparse.New([][]int64{{0, 1}, {2, 0}}, []float64{5, 7}, []int64{3, 2}))
	fmt.Println(x)
	fmt.Println(tenon.Must(x.ToDense(sparse.DenseOptions{})))
	csr := tenon.Must(sparse.ToCSR(x))
	fmt.Println(csr.Splits(), csr.Indices(), csr.Values())
	// Output:
	// sparse(indices=[[0 1]
	//  [2 0]] int64[2, 2], values=[5. 7.] float64[2], shape=[3, 2])
	// [[0. 5.]
	//  [0. 0.]
	//  [7. 0.]] float64[3, 2]
	// [0 1 1 2] int64[4] [1 0] int64[2] [5. 7.] float64[2]
}

func Example_sparseB() {
	x := tenon.Must(sparse.New([][]int64{{0, 1}, {2, 0}}, []float64{5, 7}, []int64{3, 2}))
	fmt.Println(ops.MatMul(x, [][]float64{{1, 2}, {3, 4}}))
	// Output:
	// [[15. 20.]
	//  [ 0.  0.]
	//  [ 7. 14.]] float64[3, 2]
}

func Example_sparseC() {
	x := tenon.Must(sparse.New([][]int64{{0, 1}, {2, 0}}, []float64{5, 7}, []int64{3, 2}))
	g := grad.Of(func(x *sparse.Tensor) tensor.Tensor { return ops.Sum(ops.Square(x)) })(x)
	fmt.Println(g.Values(), g.Shape())
	// Output:
	// [10. 14.] float64[2] [3, 2]
}
