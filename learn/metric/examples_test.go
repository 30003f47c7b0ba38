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

// Probabilities that are too sure of themselves, in two bins.
func ExampleCalibrationError() {
	truth, p := tensor.Of([]int64{0, 1, 1, 1}), tensor.Of([]float64{0.25, 0.25, 0.75, 0.75})
	fmt.Println(metric.CalibrationError(truth, p, nil, 2))
	// Output:
	// 0.25 <nil>
}

// Scores of three classes: how often the right one is the highest, and the area of all pairs.
func ExampleTopK() {
	truth := tensor.Of([]int64{0, 1, 2})
	score := tensor.Of([]float64{0.5, 0.25, 0.125, 0.5, 0.25, 0.125, 0.125, 0.25, 0.5}, 3, 3)
	fmt.Println(metric.TopK(truth, score, nil, 1))
	fmt.Println(metric.AUCOfClasses(truth, score, nil, true))
	// Output:
	// 0.6666666666666666 <nil>
	// 0.75 <nil>
}
