package segment

import "github.com/tenonml/tenon/dtype"

// Sum writes the sum of each row to out, which has rows*inner elements. Integers
// wrap. An empty row gives 0.
func Sum[T dtype.Number](out, values []T, splits []int64, inner int) {
	if w, ok := widen(values); ok {
		o := make([]float32, rowsOf(splits)*inner)
		Sum(o, w, splits, inner)
		narrow(out, o)
		return
	}
	if inner == 1 && reduceVectorised(reduceSum, out, values, splits) {
		return
	}
	if isShort(splits, inner) {
		sumRange(out, values, splits, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		sumRange(out, values, splits, inner, lo, hi)
	})
}

func sumRange[T dtype.Number](out, values []T, splits []int64, inner, lo, hi int) {
	if inner == 1 {
		// Where the loop over a short row ends is unpredictable to the processor, so integers, for
		// which the order of addition does not matter, use one loop instead of two.
		oneLoop := 0
		if wraps[T]() {
			oneLoop = 32
		}
		for r := lo; r < hi; r++ {
			x := values[splits[r]:splits[r+1]]
			if len(x) > oneLoop {
				out[r] = pairwiseSum(x)
				continue
			}
			var sum T
			for _, v := range x {
				sum += v
			}
			out[r] = sum
		}
		return
	}
	for r := lo; r < hi; r++ {
		pairwiseSumItems(item(out, r, inner), row(values, splits, r, inner), inner)
	}
}

// wraps reports whether T is an integer type, for which the order of addition does not matter.
func wraps[T dtype.Number]() bool {
	one := T(1)
	return one/(one+one) == 0
}

// row returns the elements of row r.
func row[T any](values []T, splits []int64, r, inner int) []T {
	return values[int(splits[r])*inner : int(splits[r+1])*inner]
}

// item returns item i of x, of inner elements.
func item[T any](x []T, i, inner int) []T { return x[i*inner : (i+1)*inner] }

// pairwiseLeaf is the number of elements up to which a sum is sequential.
const pairwiseLeaf = 256

// pairwiseSum adds blocks of pairwiseLeaf elements with four running sums each, and then the sums
// of the blocks pairwise (N. Higham, "The accuracy of floating point summation", 1993).
func pairwiseSum[T dtype.Number](x []T) T {
	if len(x) > pairwiseLeaf {
		h := middle(len(x), pairwiseLeaf)
		return pairwiseSum(x[:h]) + pairwiseSum(x[h:])
	}
	var a, b, c, d T
	for len(x) >= 4 {
		a += x[0]
		b += x[1]
		c += x[2]
		d += x[3]
		x = x[4:]
	}
	for _, v := range x {
		a += v
	}
	return (a + b) + (c + d)
}

// middle returns a multiple of leaf near n/2, above 0 and below n for n > leaf.
func middle(n, leaf int) int { return (n/2 + leaf - 1) / leaf * leaf }

// pairwiseSumItems is pairwiseSum for each element position of items.
func pairwiseSumItems[T dtype.Number](out, x []T, inner int) {
	n := len(x) / inner
	if n > pairwiseLeaf {
		h := middle(n, pairwiseLeaf) * inner
		pairwiseSumItems(out, x[:h], inner)
		right := make([]T, inner)
		pairwiseSumItems(right, x[h:], inner)
		for j, v := range right {
			out[j] += v
		}
		return
	}
	clear(out)
	for ; len(x) >= inner; x = x[inner:] {
		for j, v := range x[:inner] {
			out[j] += v
		}
	}
}

// Prod writes the product of each row to out, which has rows*inner elements.
// Integers wrap. An empty row gives 1.
func Prod[T dtype.Number](out, values []T, splits []int64, inner int) {
	if w, ok := widen(values); ok {
		o := make([]float32, rowsOf(splits)*inner)
		Prod(o, w, splits, inner)
		narrow(out, o)
		return
	}
	if inner == 1 && reduceVectorised(reduceProd, out, values, splits) {
		return
	}
	if isShort(splits, inner) {
		prodRange(out, values, splits, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		prodRange(out, values, splits, inner, lo, hi)
	})
}

func prodRange[T dtype.Number](out, values []T, splits []int64, inner, lo, hi int) {
	if inner == 1 {
		for r := lo; r < hi; r++ {
			out[r] = productOf(values[splits[r]:splits[r+1]])
		}
		return
	}
	for r := lo; r < hi; r++ {
		acc, x := item(out, r, inner), row(values, splits, r, inner)
		for j := range acc {
			acc[j] = 1
		}
		for ; len(x) >= inner; x = x[inner:] {
			for j, v := range x[:inner] {
				acc[j] *= v
			}
		}
	}
}

// productOf multiplies from left to right.
func productOf[T dtype.Number](x []T) T {
	product := T(1)
	for _, v := range x {
		product *= v
	}
	return product
}

// Mean writes the mean of each row to out, which has rows*inner elements. An empty
// row gives NaN.
func Mean[T Inexact](out, values []T, splits []int64, inner int) {
	if w, ok := widen(values); ok {
		o := make([]float32, rowsOf(splits)*inner)
		Mean(o, w, splits, inner)
		narrow(out, o)
		return
	}
	if inner == 1 && reduceVectorised(reduceMean, out, values, splits) {
		return
	}
	switch out := any(out).(type) {
	case []float32:
		meanReal(out, any(values).([]float32), splits, inner)
	case []float64:
		meanReal(out, any(values).([]float64), splits, inner)
	case []complex64:
		meanComplex(out, any(values).([]complex64), splits, inner, func(n int) complex64 { return complex(float32(n), 0) })
	case []complex128:
		meanComplex(out, any(values).([]complex128), splits, inner, func(n int) complex128 { return complex(float64(n), 0) })
	}
}

func meanReal[T float32 | float64](out, values []T, splits []int64, inner int) {
	if isShort(splits, inner) {
		meanRange(out, values, splits, inner, 0, rowsOf(splits))
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		meanRange(out, values, splits, inner, lo, hi)
	})
}

func meanRange[T float32 | float64](out, values []T, splits []int64, inner, lo, hi int) {
	sumRange(out, values, splits, inner, lo, hi)
	for r := lo; r < hi; r++ {
		n := T(splits[r+1] - splits[r])
		for j := range inner {
			out[r*inner+j] /= n
		}
	}
}

func meanComplex[T complex64 | complex128](out, values []T, splits []int64, inner int, number func(int) T) {
	eachRows(splits, inner, func(lo, hi int) {
		sumRange(out, values, splits, inner, lo, hi)
		for r := lo; r < hi; r++ {
			n := number(int(splits[r+1] - splits[r]))
			for j := range inner {
				out[r*inner+j] /= n
			}
		}
	})
}

// MeanInt is [Mean] for integers: the mean of each row in float64.
func MeanInt[T dtype.Integer](out []float64, values []T, splits []int64, inner int) {
	if inner == 1 && meansVectorised(out, values, splits) {
		return
	}
	eachRows(splits, inner, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			meanItems(item(out, r, inner), row(values, splits, r, inner), inner)
		}
	})
}

// meanItems writes the float64 mean of each element position of items.
func meanItems[T dtype.Real](mean []float64, x []T, inner int) {
	n := float64(len(x) / inner)
	clear(mean)
	for ; len(x) >= inner; x = x[inner:] {
		for j, v := range x[:inner] {
			mean[j] += float64(v)
		}
	}
	for j := range mean {
		mean[j] /= n
	}
}

// meansVectorised computes the means of integers of inner size 1 if there are kernels for the
// element type, and reports whether there are.
func meansVectorised[T any](out []float64, values []T, splits []int64) bool {
	if len(values) < worthVectors {
		return false
	}
	switch x := any(values).(type) {
	case []int32:
		return meanRows(out, x, splits)
	case []int64:
		return meanRows(out, x, splits)
	}
	return false
}

func meanRows[T int32 | int64](out []float64, x []T, splits []int64) bool {
	k := kernelsFor[T]()
	if k == nil || k.mean.kernel == nil {
		return false
	}
	k.mean.over(out, x, splits, func(i int) { meanItems(out[i:i+1], x[splits[i]:splits[i+1]], 1) })
	return true
}
