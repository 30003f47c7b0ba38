// Package metric evaluates predictions in memory: classes by their confusion matrix, scores by their curves, numbers by
// their errors, rankings by their gains. The results agree with scikit-learn.
//
// The first argument is the truth, the second the prediction or score, and the third the weights of the items, or nil
// for 1. They must have the same items; nothing is broadcast. A mismatch is an error of kind tenon.ErrShape. Labels out
// of range, scores that are NaN, and a truth with only one class are errors of kind tenon.ErrInvalid. 0 of 0 is 0.
// Items may be in ragged rows; weights may then be given for the rows. Missing items of masked tensors do not count.
//
//	c, err := metric.NewConfusion(3)
//	err = c.Update(truth, predicted, nil)
//	fmt.Println(c.Accuracy(), c.F1(metric.Macro))
//
// [Confusion] (for classes), [Scored] (for curves), [Calibration], [Regression] and [RunningMean] (for anything else)
// are streaming: they are updated batch by batch, and merged across machines, for example by sending their fields as
// JSON. Their results are exact. Package nn has metrics that can be part of a traced step.
//
// Stability: stable.
package metric
