package metric_test

import (
	"fmt"

	"github.com/tenonml/tenon/learn/metric"
	"github.com/tenonml/tenon/tensor"
)

// The loss of the quantile 0.9: what is predicted too low counts nine times as much as what is too high.
func ExamplePinball() {
	truth := tensor.Of([]float64{10, 10})
	fmt.Println(metric.Pinball(truth, tensor.Of([]float64{8, 8}), nil, 0.9))
	fmt.Println(metric.Pinball(truth, tensor.Of([]float64{12, 12}), nil, 0.9))
	// Output:
	// 1.8 <nil>
	// 0.19999999999999996 <nil>
}
