package sorting

import "github.com/tenonml/tenon/dtype"

// TopK writes the k = len(at) largest elements of x in descending order to values, and their
// positions to at. Equal elements keep their order; NaN ranks below everything else. There are at
// least k elements.
func TopK[T dtype.Real](values []T, at []int64, x []T) {
	k := len(at)
	if k == 0 {
		return
	}
	if !isHalf[T]() && k <= 64 && k*8 <= len(x) {
		selectLargest(values[:k], at, x)
		return
	}
	order := make([]int64, len(x))
	ArgSort(order, x, true)
	copy(at, order[:k])
	for i, p := range at {
		values[i] = x[p]
	}
}

func isHalf[T any]() bool {
	var t T
	switch any(t).(type) {
	case dtype.F16, dtype.BF16:
		return true
	}
	return false
}

// selectLargest keeps the largest elements seen so far in order; most elements of a long slice are
// not greater than the smallest of these.
func selectLargest[T dtype.Real](values []T, at []int64, x []T) {
	k, n := len(at), 0
	for i, v := range x {
		if n == k && !greater(v, values[k-1]) {
			continue
		}
		j := min(n, k-1)
		for ; j > 0 && greater(v, values[j-1]); j-- {
			values[j], at[j] = values[j-1], at[j-1]
		}
		values[j], at[j] = v, int64(i)
		n = min(n+1, k)
	}
}

// greater reports whether a comes before b in descending order.
func greater[T dtype.Real](a, b T) bool { return a > b || b != b && a == a }
