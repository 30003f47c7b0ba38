package element_test

import (
	"fmt"

	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/tensor"
)

func ExampleParse() {
	prices, err := element.Parse(tensor.Of([]string{"1.10", "20.05"}), element.DecimalOf(8, 2))
	if err != nil {
		panic(err)
	}
	texts, err := element.Texts(prices)
	fmt.Println(texts, err)
	// Output: ["1.10" "20.05"] string[2] <nil>
}
