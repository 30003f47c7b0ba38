// Package metric judges predictions that are in memory: classes by their confusion matrix,
// scores by their curves, numbers by their errors, orders by their gains. The numbers are those
// of scikit-learn.
//
// The first argument is the truth, the second one what was predicted or scored, and the third
// one weights of the items, nil for 1. All have the same items, and nothing is
// broadcast: what does not fit is an error of kind tenon.ErrShape, and labels out of range,
// scores that are NaN and a truth of one class alone are of kind tenon.ErrInvalid. 0 of 0 is 0.
// Items may be in rows of any lengths, where weights may also be those of the rows, and of masked
// ones those that are missing do not count.
//
//	c, err := metric.NewConfusion(3)
//	err = c.Update(truth, predicted, nil)
//	fmt.Println(c.Accuracy(), c.F1(metric.Macro))
//
// A [Confusion] of classes, [Scored] items for curves, a [Calibration], a [Regression] and a [RunningMean] of
// whatever else are streaming: they are updated batch by batch, and merged with those of other machines, to which their
// fields go as JSON, for instance. What they say is exact. Metrics that are part of a traced step are in package nn.
//
// Stability: stable.
package metric
