package textnorm_test

import (
	"fmt"

	"github.com/tenonml/tenon/data/textnorm"
	"github.com/tenonml/tenon/tensor"
)

func ExampleNormalize() {
	fmt.Println(textnorm.Normalize(tensor.Of([]string{"ﬁne"}), textnorm.NFKC)) // a ligature
	// Output: ["fine"] string[1]
}
