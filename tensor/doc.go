// Package tensor defines the tensors that all values consist of: dense arrays of
// numbers and of strings.
//
// A [Tensor] is any value with an element type and a shape. Two concrete types
// hold data: [*Dense] for numbers and booleans, and [*Strings]. Ragged,
// sparse, masked, named and symbolic tensors are Tensors, too, defined in other
// packages.
//
// Make a tensor with [Of] from a Go slice (it shares the slice's memory, which must
// not change afterwards), with [Scalar], or with [Const] from a nested literal.
// Read it with [Data] or [Item].
//
//	x := tensor.Of([]float32{1, 2, 3, 4}, 2, 2)
//	fmt.Println(x)                    // [[1. 2.]
//	                                  //  [3. 4.]] float32[2, 2]
//	tensor.Data[float32](x)           // []float32{1, 2, 3, 4}
//
// Tensors are immutable and safe for concurrent readers. Views, such as a
// transposed tensor, share memory with the original; [Contiguous] returns
// row-major memory.
//
// A buffer allocated by this package has at least [Slack] readable bytes after
// its last element, so that vector kernels may read past the end. Tensors of up to
// 128 bytes have no separate buffer and no room after their elements, as shown by the capacity of the
// slices that [Elems] and [Dense.Bytes] return.
//
// Stability: stable.
package tensor
