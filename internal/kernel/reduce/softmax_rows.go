package reduce

// softmaxRows computes rows of softmax one behind the other. A row's exponentials are
// scaled by the inverse of their sum while those of the next row are computed: the
// loop has room for it, and what w writes past the cache has time to leave.
func softmaxRows[T float](k, w *kernels[T], dst, x []T, n int) {
	past := w != k
	var stage [2][]T
	if past {
		room := make([]T, 2*n)
		stage = [2][]T{room[:n], room[n:]}
	}
	var last []T // exponentials of the row before, to be scaled by a and put into done
	var done []T
	var a T
	finish := func() {
		switch {
		case last == nil:
		case past:
			copy(done, last)
			scale(done, a)
		default:
			scale(last, a)
		}
	}
	for i := 0; i < len(dst); i += n {
		row, to := x[i:i+n], dst[i:i+n]
		if past {
			to = stage[i/n%2]
		}
		m := topBlock(row)
		var sum float64
		if last != nil && moderate(m) {
			c, _ := exponent(m)
			sum = softmaxStep(w, to, done, row, last, c, a)
		} else {
			finish()
			sum, _ = exponentials(to, row, m) // a NaN shows up in the sum
		}
		last, done, a = to, dst[i:i+n], T(1/sum)
	}
	finish()
}

func softmaxStep[T float](w *kernels[T], dst, done, x, last []T, c, a T) (sum float64) {
	if len(x) <= piece {
		return w.softmaxStep(&dst[0], &done[0], &x[0], &last[0], len(x), c, a)
	}
	pieces(len(x), func(lo, hi int) {
		sum += w.softmaxStep(&dst[lo], &done[lo], &x[lo], &last[lo], hi-lo, c, a)
	})
	return sum
}
