// Package linalg holds matrix decompositions and solvers as operations, with
// gradients:
//
//	l := linalg.Cholesky(a)                  // a = l·lᵀ
//	x := linalg.Solve(a, b)                  // a·x = b
//	u, s, vt := linalg.SVD(a)                // a = u·diag(s)·vt
//
// They work on the last two axes; the axes before them are batches. Elements are
// float32 or float64; all are computed in float64 by gonum's LAPACK, and rounded once. A
// matrix that is singular (a pivot is exactly 0), or not positive definite where it
// has to be, is an error of kind [tenon.ErrInvalid] that names it.
//
// Gradients are written with operations, so they have gradients themselves. Those of
// eigenvectors and singular vectors exist where the values are distinct. Formulas are
// from M. Giles, "Collected matrix derivative results for forward and reverse mode
// algorithmic differentiation" (2008), I. Murray, "Differentiation of the Cholesky
// decomposition" (arXiv:1602.07527), and J. Townsend, "Differentiating the singular value
// decomposition" (2016), unless a comment says otherwise.
//
// Stability: stable.
package linalg
