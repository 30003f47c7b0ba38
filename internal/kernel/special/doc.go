// Package special implements scalar functions of float64 that package math lacks: the digamma
// function, the quantile function of the normal distribution, and the activation functions of
// neural networks, written so that neither tail loses accuracy or overflows in between.
//
// Each function documents its formula and source. All propagate NaN.
package special
