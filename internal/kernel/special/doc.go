// Package special holds scalar functions of float64 that package math lacks:
// the digamma function, the quantile function of the normal distribution, and
// the activation functions of neural networks written so that neither tail
// loses digits or overflows on the way.
//
// Each function states its formula and where it comes from. All propagate NaN.
package special
