package fused

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/kernel/stream"
	"github.com/tenonml/tenon/internal/par"
)

// Activation names a function that is applied to each element of a result.
type Activation uint8

// The activations; see the functions of the same names in package elementwise.
const (
	Identity Activation = iota
	Relu
	Gelu
	GeluTanh
	Silu
	Sigmoid
	Tanh
	activationCount
)

// op is the activation's name among the elementwise functions; None for Identity.
func (a Activation) op() elementwise.Op {
	return [activationCount]elementwise.Op{
		elementwise.None, elementwise.Relu, elementwise.Gelu, elementwise.GeluTanh,
		elementwise.Silu, elementwise.Sigmoid, elementwise.Tanh,
	}[a]
}

type float interface{ float32 | float64 }

const (
	blockLen    = 1024     // number of elements that stay in the first-level cache between steps
	serialBelow = 16 << 10 // number of elements below which workers do not pay off
)

// Bias sets each row of dst, of n elements, to act(x + bias) of the same row of x. dst may be the
// same memory as x. Rows are divided among the workers of package par.
func Bias[T float](act Activation, dst, x, bias []T, n int) {
	rows(act, dst, x, nil, bias, n)
}

// Affine sets each row of dst, of n elements, to act(x·scale + shift) of the same row of x.
// Assembly kernels round the product and the sum once. dst may be the same memory as x.
func Affine[T float](act Activation, dst, x, scale, shift []T, n int) {
	rows(act, dst, x, scale, shift, n)
}

func rows[T float](act Activation, dst, x, scale, shift []T, n int) {
	if len(dst) == 0 || n == 0 {
		return
	}
	x = x[:len(dst)]
	if short := len(dst) / n; n < blockLen/2 && short > 1 {
		// Treat several short rows as one long row.
		k := min(short, blockLen/n)
		scale, shift = repeat(scale, k), repeat(shift, k)
		if rest := len(dst) % (k * n); rest > 0 {
			at := len(dst) - rest
			row(act, dst[at:], x[at:], scale, shift, false)
			dst, x = dst[:at], x[:at]
		}
		n *= k
	}
	var t T
	size := int(unsafe.Sizeof(t))
	past := len(dst)*size >= stream.Threshold && &dst[0] != &x[0] &&
		uintptr(unsafe.Pointer(&dst[0]))%64 == 0 && n*size%64 == 0
	par.For(len(dst)/n, max(1, serialBelow/n), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row(act, dst[r*n:(r+1)*n], x[r*n:(r+1)*n], scale, shift, past)
		}
	})
}

func repeat[T any](x []T, k int) []T {
	if x == nil {
		return nil
	}
	out := make([]T, 0, k*len(x))
	for range k {
		out = append(out, x...)
	}
	return out
}

// row computes as much of a row as dst has room for.
func row[T float](act Activation, dst, x, scale, shift []T, past bool) {
	if d, ok := any(dst).([]float32); ok {
		bias, affine := kernelsOf(act, past)
		if bias != nil {
			rowFloat32(bias, affine, d, any(x).([]float32), any(scale).([]float32), any(shift).([]float32))
			return
		}
	}
	add, mul := elementwise.Binary[T](elementwise.Add), elementwise.Binary[T](elementwise.Mul)
	f := elementwise.Unary[T](act.op())
	for lo := 0; lo < len(dst); lo += blockLen {
		hi := min(lo+blockLen, len(dst))
		d, from := dst[lo:hi], x[lo:hi]
		if scale != nil {
			mul(d, from, scale[lo:hi])
			from = d
		}
		add(d, from, shift[lo:hi])
		if f != nil {
			f(d, d)
		}
	}
}

// biasKernel and affineKernel are assembly functions over n elements.
type (
	biasKernel   = func(dst, x, b *float32, n int)
	affineKernel = func(dst, x, w, b *float32, n int)
)

func rowFloat32(bias biasKernel, affine affineKernel, dst, x, scale, shift []float32) {
	const most = 64 << 10 // elements per call into assembly
	x, shift = x[:len(dst)], shift[:len(dst)]
	for lo := 0; lo < len(dst); lo += most {
		n := min(most, len(dst)-lo)
		if scale == nil {
			callBias(bias, &dst[lo], &x[lo], &shift[lo], n)
		} else {
			callAffine(affine, &dst[lo], &x[lo], &scale[lo], &shift[lo], n)
		}
	}
}

// The functions below are ordinary Go functions, so that goroutines can be preempted in their
// prologue.

//go:noinline
func callBias(f biasKernel, dst, x, b *float32, n int) { f(dst, x, b, n) }

//go:noinline
func callAffine(f affineKernel, dst, x, w, b *float32, n int) { f(dst, x, w, b, n) }
