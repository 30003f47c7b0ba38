// Package transpose copies matrices with rows and columns exchanged, the inner
// loop of every permutation of axes that moves the last one.
//
// Large matrices are cut into blocks whose rows and columns both fill cache
// lines; elements of four and eight bytes go through square tiles in vector
// registers (see internal/asmgen/transpose). Results beyond some 16 MiB are
// written past the cache where their rows are aligned for it.
package transpose
