package coords_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/coords"
	"github.com/tenonml/tenon/ops"
)

// The part whose label is nearest to a number, the last one up to it, and those between two.
func ExampleNearest() {
	x := coords.New(named.Of([]float64{6, 8, 9}, Year{}), coords.Along[Year](2010, 2015, 2020))
	fmt.Println(coords.Nearest[Year](x, 2018, coords.NearestOptions{}))
	fmt.Println(coords.NearestAt(x, Year{}, 2018, coords.NearestOptions{Before: true}))
	fmt.Println(coords.BetweenAt(x, Year{}, 2012, 2020))
	// Output:
	// float64{} 9.0
	// float64{} 8.0
	// float64{Year:2} [8. 9.]
	// Year: [2015 2020]
}

// The same array at other labels, with a number where there was none.
func ExampleReindexAt() {
	x := coords.New(named.Of([]float64{6, 8}, Year{}), coords.Along[Year](2010, 2015))
	fmt.Println(coords.ReindexAt(x, Year{}, tenon.Must(coords.NewLabels(2015, 2016)), -1.0))
	// Output:
	// float64{Year:2} [ 8. -1.]
	// Year: [2015 2016]
}

// A function of the tensor, which keeps the dimensions: the labels stay.
func ExampleApply() {
	x := coords.New(named.Of([]float64{1, 4}, City{}), coords.Along[City]("Oslo", "Rome"))
	fmt.Println(coords.Apply(func(x *named.Tensor) *named.Tensor { return named.Map(ops.Sqrt, x) }, x))
	// Output:
	// float64{City:2} [1. 2.]
	// City: ["Oslo" "Rome"]
}
