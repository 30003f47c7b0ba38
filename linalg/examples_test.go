package linalg_test

import (
	"fmt"

	"github.com/tenonml/tenon/linalg"
	"github.com/tenonml/tenon/tensor"
)

// The upper triangle is solved from the bottom, the lower one from the top; the rest is not looked at.
func ExampleTriangularSolve() {
	a, b := tensor.Of([]float64{2, 1, 1, 4}, 2, 2), tensor.Of([]float64{4, 8}, 2, 1)
	fmt.Println(linalg.TriangularSolve(a, b, linalg.TriangularOptions{}))
	fmt.Println(linalg.TriangularSolve(a, b, linalg.TriangularOptions{Lower: true}))
	// Output:
	// [[1.]
	//  [2.]] float64[2, 1]
	// [[2. ]
	//  [1.5]] float64[2, 1]
}
