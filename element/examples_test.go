package element_test

import (
	"fmt"
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/element"
)

// Decimals whose numbers take more than 64 bits are given by both halves of these.
func ExampleFromHalves() {
	fmt.Println(tenon.Must(element.FromHalves([]int64{1, -1}, []int64{0, -math.MaxInt64 - 1}, element.DecimalOf(30, 2))))
	// Output:
	// ["184467440737095516.16" "-92233720368547758.08"] string[2] decimal(30, 2)
}
