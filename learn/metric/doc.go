// Package metric evaluates predictions in memory: classes by their confusion matrix,
// scores by their curves, numbers by their errors, rankings by their gains. The results are
// those of scikit-learn.
//
// The first argument is the truth, the second the prediction or score, and the third
// the weights of the items, or nil for 1. All have the same items; nothing is
// broadcast. A mismatch is an error of kind tenon.ErrShape. Labels out of range,
// scores that are NaN, and a truth with only one class are errors of kind tenon.ErrInvalid. 0 of 0 is 0.
// Items may be in rows of any lengths, and weights may then be those of the rows. Missing items of masked
// tensors do not count.
//
//	c, err := metric.NewConfusion(3)
//	err = c.Update(truth, predicted, nil)
//	fmt.Println(c.Accuracy(), c.F1(metric.Macro))
//
// A [Confusion] of classes, [Scored] items for curves, a [Calibration], a [Regression] and a [RunningMean] of
// anything else are streaming: they are updated batch by batch, and merged with those of other machines, for example by sending
// their fields as JSON. Their results are exact. Package nn has the metrics that are part of a traced step.
//
// Stability: stable.
package metric
