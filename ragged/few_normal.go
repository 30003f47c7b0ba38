package ragged

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	kernel "github.com/tenonml/tenon/internal/kernel/elementwise"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/tensor"
)

// fewNormalized is layer normalisation, or with rms that by the root of the mean square, of
// a few rows of numbers; nil where the general way has to be taken.
func fewNormalized(x *Tensor, eps float64, rms bool) *Tensor {
	f, ok := fewOf(x)
	if !ok || f.flat.Rank() != 1 || f.nrows() > scratchSize || f.flat.Len() > scratchSize {
		return nil
	}
	switch d := f.flat.DType(); d {
	case dtype.Float32:
		return x.with(normalizedFew[float32](&f, eps, rms, kernel.UnaryOf(kernel.Rsqrt, d)))
	case dtype.Float64:
		return x.with(normalizedFew[float64](&f, eps, rms, kernel.UnaryOf(kernel.Rsqrt, d)))
	}
	return nil
}

// normalizedFew does one after the other what the general way does by operations.
func normalizedFew[T float32 | float64](f *few, eps float64, rms bool, rsqrt kernel.UnaryFunc) *tensor.Dense {
	out := tensor.Uninit(f.flat.DType(), f.flat.Shape())
	y, x := tensor.Data[T](out), tensor.Data[T](f.flat)
	room := make([]T, f.nrows()+len(x))
	means, squares := room[:f.nrows()], room[f.nrows():]
	copy(y, x)
	if !rms {
		segment.Mean(means, x, f.splits, 1)
		for r, mean := range means {
			for i := f.splits[r]; i < f.splits[r+1]; i++ {
				y[i] = x[i] - mean
			}
		}
	}
	for i, v := range y {
		squares[i] = v * v
	}
	segment.Mean(means, squares, f.splits, 1)
	for r := range means {
		means[r] += T(eps)
	}
	if len(means) > 0 {
		rsqrt(unsafe.Pointer(&means[0]), unsafe.Pointer(&means[0]), len(means))
	}
	for r, scale := range means {
		for i := f.splits[r]; i < f.splits[r+1]; i++ {
			y[i] *= scale
		}
	}
	return out
}
