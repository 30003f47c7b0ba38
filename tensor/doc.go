// Package tensor holds the values that all others are made of: dense arrays of
// numbers and of strings.
//
// A [Tensor] is any value with an element type and a shape. Two concrete types
// hold data: [*Dense] for numbers and truth values, and [*Strings]. Ragged,
// sparse, masked, named and symbolic tensors are Tensors too, defined in other
// packages.
//
// Make one with [Of] from a Go slice (it shares the slice's memory, which must
// not change afterwards), with [Scalar], or with [Const] from a nested literal.
// Read it with [Data] or [Item].
//
//	x := tensor.Of([]float32{1, 2, 3, 4}, 2, 2)
//	fmt.Println(x)                    // [[1. 2.]
//	                                  //  [3. 4.]] float32[2, 2]
//	tensor.Data[float32](x)           // []float32{1, 2, 3, 4}
//
// Tensors are immutable and safe for concurrent readers. Views, such as a
// transposed tensor, share memory with what they look at; [Contiguous] gives
// row-major memory.
//
// A buffer that this package allocates has at least [Slack] readable bytes after
// its last element, so that vector kernels may read past the end. Tensors of up to
// 128 bytes have no buffer, and no room behind their elements: the capacity of what
// [Elems] and [Dense.Bytes] return tells.
//
// Stability: stable.
package tensor
