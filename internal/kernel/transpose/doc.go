// Package transpose transposes matrices out of place, the inner loop of every permutation of axes
// that moves the last one.
//
// Large matrices are divided into blocks whose rows and columns both fill cache lines; elements of
// four and eight bytes are transposed as square tiles in vector registers (see
// internal/asmgen/transpose). Results of 16 MiB or more are written with non-temporal stores if
// their rows are aligned for it.
package transpose
