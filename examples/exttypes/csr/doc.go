// Package csr holds sparse matrices in compressed sparse row form: the values that are
// not zero row by row, the column of each, and where each row begins.
//
// The form is described in Y. Saad, "Iterative Methods for Sparse Linear Systems",
// 2nd ed., SIAM 2003, §3.4.
package csr
