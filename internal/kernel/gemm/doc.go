// Package gemm multiplies matrices.
//
//	gemm.Multiply(gemm.Params[float32]{
//		M: m, N: n, K: k,
//		A: a, ARow: k, ACol: 1, // [m,k], row-major
//		B: b, BRow: 1, BCol: k, // [n,k] used as its transpose [k,n]
//		C: c, CRow: n, CCol: 1,
//		Alpha: 1, Bias: bias, Then: relu,
//	})
//
// [Multiply] takes every number type; float32 and float64 have kernels for AVX-512 and for AVX2 with FMA, and
// the other types are computed in plain Go. Integers wrap around. Further arguments describe batch
// dimensions. [Half] takes 16-bit floating-point operands and sums in float32.
//
// # How it works
//
// The work is split as in Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication (2008),
// with two changes. A tile kernel computes up to 14 rows by two vectors of C in registers; it addresses A by
// strides, so that A is copied only if its rows would evict each other from the first-level cache; the tiles
// of one block then copy the rows of the next, one row each. B is copied into panels of a tile's width by the
// first tile that reads a panel, so that packing costs stores but no extra pass. While a tile is computed, it
// prefetches a line or two at a time: its own rows of C, and the panel or the rows of A that later tiles
// read. [Panels] are packed once for several products; [Powers] raises two to the products before they leave
// the registers. Products with one row or one column stream the matrix once, at memory speed; small products
// call the kernels without dividing the work.
//
// Glossary: a tile is the piece of C that a kernel keeps in registers; a panel is a strip of B of a tile's
// width; a block is a range of rows (mc), columns (nc) or steps (kc) that is processed while some operand
// stays in a cache.
//
// # What callers may rely on
//
//   - The order in which an element of C is summed depends on K alone: in blocks, each in the order
//     of k, to which C, or the bias, is added. It does not depend on the number of rows, columns
//     and workers, or on strides, so that a row has the same bits in every batch. Paths (AVX-512,
//     AVX2, plain Go) differ in rounding.
//   - NaN and infinities propagate as in the formula, and nothing is skipped
//     because a factor is zero. With Beta 0, what C held does not matter.
//   - Nothing outside the described elements is read or written.
//   - Large products run on all processors through internal/par; small ones stay on
//     the caller.
//   - A description that reaches outside its slices panics.
package gemm
