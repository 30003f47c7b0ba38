// Package csr implements sparse matrices in compressed sparse row form: the nonzero values
// row by row, the column of each value, and the offset at which each row begins.
//
// The form is described in Y. Saad, "Iterative Methods for Sparse Linear Systems",
// 2nd ed., SIAM 2003, §3.4.
package csr
