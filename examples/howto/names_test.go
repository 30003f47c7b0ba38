package howto

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named"
)

func Example_namesA() {
	sales := named.Of([][]float64{{1, 2, 3}, {4, 5, 6}}, Shop{}, Day{})
	fmt.Println(named.Sum[Day](sales))
	fmt.Println(named.Mean[Shop](sales))
	// Output:
	// float64{Shop:2} [ 6. 15.]
	// float64{Day:3} [2.5 3.5 4.5]
}

func Example_namesB() {
	sales := named.Of([][]float64{{1, 2, 3}, {4, 5, 6}}, Shop{}, Day{})
	weight := named.Of([]float64{1, 10, 100}, Day{})
	fmt.Println(named.Mul(weight, sales).Dims())
	fmt.Println(named.Dot[Day](sales, weight))
	// Output:
	// Shop, Day
	// float64{Shop:2} [321. 654.]
}

func Example_namesC() {
	sales := named.Of([][]float64{{1, 2, 3}, {4, 5, 6}}, Shop{}, Day{})
	fmt.Println(named.Rename[Day, Price](sales).Spec())
	fmt.Println(named.Unnamed(sales, Day{}, Shop{}))
	// Output:
	// float64{Shop:2 Price:3}
	// [[1. 4.]
	//  [2. 5.]
	//  [3. 6.]] float64[3, 2]
}

func Example_namesD() {
	header := map[string][]named.Name{"sales": {Shop{}, Day{}}}
	sales := named.Of([][]float64{{1, 2, 3}, {4, 5, 6}}, header["sales"]...)
	_, err := tenon.Try(func() *named.Tensor { return named.Sum[Price](sales) })
	var e *tenon.Error
	if errors.As(err, &e) {
		what, _, _ := strings.Cut(e.Msg, "\n")
		fmt.Println(e.Op, what)
	}
	// Output:
	// named.Sum over Price the tensor has no Price
}
