// Package linalg provides matrix decompositions and solvers as operations, with
// gradients:
//
//	l := linalg.Cholesky(a)                  // a = l·lᵀ
//	x := linalg.Solve(a, b)                  // a·x = b
//	u, s, vt := linalg.SVD(a)                // a = u·diag(s)·vt
//
// They work on the last two axes; the axes before them are batches. Elements are
// float32 or float64. All are computed in float64 by gonum's LAPACK and rounded once. A
// singular matrix (with a pivot of exactly 0), or one that should be positive definite and is
// not, is an error of kind [tenon.ErrInvalid] that names the matrix.
//
// Gradients are written with operations, so they have gradients themselves. Gradients of
// eigenvectors and singular vectors exist if the values are distinct. Formulas are
// from M. Giles, "Collected matrix derivative results for forward and reverse mode
// algorithmic differentiation" (2008), I. Murray, "Differentiation of the Cholesky
// decomposition" (arXiv:1602.07527), and J. Townsend, "Differentiating the singular value
// decomposition" (2016), unless a comment says otherwise.
//
// Stability: stable.
package linalg
