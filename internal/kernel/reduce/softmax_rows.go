package reduce

// softmaxRows computes consecutive rows of softmax. The exponentials of a row are scaled by the
// reciprocal of their sum while those of the next row are computed: the loop has execution slots to
// spare, and non-temporal stores by w have time to complete.
func softmaxRows[T float](k, w *kernels[T], dst, x []T, n int) {
	past := w != k
	var stage [2][]T
	if past {
		room := make([]T, 2*n)
		stage = [2][]T{room[:n], room[n:]}
	}
	var last []T // exponentials of the preceding row, to be scaled by a and stored in done
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
			sum, _ = exponentials(to, row, m) // a NaN in the row makes the sum NaN
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
