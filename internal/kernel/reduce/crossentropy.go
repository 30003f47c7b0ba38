package reduce

import (
	"math"

	"github.com/tenonml/tenon/internal/kernel/elementwise"
)

// CrossEntropy sets loss[r] to -log softmax(x)[labels[r]] for each row r of n logits: log Σ e^x -
// x[label], with the greatest element subtracted first. If grad is not nil, the same pass sets its
// rows to softmax(x) minus 1 at the label, the gradient of the row's loss; grad may be the same
// memory as x.
//
// The caller checks that 0 ≤ label < n.
func CrossEntropy[T float, I int32 | int64](loss, grad, x []T, labels []I, n int) {
	if isShort(len(x), n) {
		crossEntropyRows(loss, grad, x, labels, n, 0, len(x))
		return
	}
	eachRows(len(x), n, func(lo, hi int) { crossEntropyRows(loss, grad, x, labels, n, lo, hi) })
}

// crossEntropyRows processes the rows between two offsets.
func crossEntropyRows[T float, I int32 | int64](loss, grad, x []T, labels []I, n, lo, hi int) {
	for i := lo; i < hi; i += n {
		r := i / n
		row, label := x[i:i+n], labels[r]
		m := topBlock(row)
		chosen := float64(row[label]) - float64(m)
		if grad == nil {
			loss[r] = T(logSumAbout(row, m) - chosen)
			continue
		}
		g := grad[i : i+n]
		log := softmaxInto(g, row, m)
		g[label]--
		loss[r] = T(log - chosen)
	}
}

// CrossEntropyGrad sets each row of dx to (softmax(x) - onehot(label))·dy of the row: the gradient
// of [CrossEntropy] at the logits x for the cotangent dy, which has one element per row. dx may be
// the same memory as x.
func CrossEntropyGrad[T float, I int32 | int64](dx, x []T, labels []I, dy []T, n int) {
	eachRow(len(x), n, func(i int) {
		row := dx[i : i+n]
		softmaxInto(row, x[i:i+n], topBlock(x[i:i+n]))
		row[labels[i/n]]--
		scale(row, dy[i/n])
	})
}

// CrossEntropyDense sets loss[r] to -Σ t·log softmax(x) for each row of n logits and targets t. If
// grad is not nil, its rows become softmax(x)·Σt - t, the gradient of the row's loss with respect
// to x; grad may be the same memory as x.
func CrossEntropyDense[T float](loss, grad, x, targets []T, n int) {
	if isShort(len(x), n) {
		crossEntropyDenseRows(loss, grad, x, targets, n, 0, len(x))
		return
	}
	eachRows(len(x), n, func(lo, hi int) { crossEntropyDenseRows(loss, grad, x, targets, n, lo, hi) })
}

// crossEntropyDenseRows processes the rows between two offsets.
func crossEntropyDenseRows[T float](loss, grad, x, targets []T, n, lo, hi int) {
	for i := lo; i < hi; i += n {
		row, t := x[i:i+n], targets[i:i+n]
		m := topBlock(row)
		mass, dot := sumBlock(t), 0.0
		for j, v := range t {
			if v != 0 { // 0·(-Inf) counts as 0
				dot += float64(v) * (float64(row[j]) - float64(m))
			}
		}
		if grad == nil {
			loss[i/n] = T(mass*logSumAbout(row, m) - dot)
			continue
		}
		g := grad[i : i+n]
		log := softmaxInto(g, row, m)
		if mass != 1 {
			scale(g, T(mass))
		}
		elementwise.Binary[T](elementwise.Sub)(g, g, t)
		loss[i/n] = T(mass*log - dot)
	}
}

// logSumAbout returns log Σ e^(x-m).
func logSumAbout[T float](x []T, m T) float64 { return math.Log(expSumBlock(x, m)) }

// softmaxInto sets dst to softmax(x) and returns log Σ e^(x-m), where m is the greatest element of
// x.
func softmaxInto[T float](dst, x []T, m T) (log float64) {
	s, off := exponentials(dst, x, m)
	scale(dst, T(1/s))
	return math.Log(s) - off
}

// exponentials sets dst to e^(x-m+off), where m is the greatest element of x, for a small number
// off, and returns their sum and off.
func exponentials[T float](dst, x []T, m T) (sum, off float64) {
	k := assembly[T]()
	switch {
	case k == nil:
		for i, v := range x {
			e := math.Exp(float64(v) - float64(m))
			sum += e
			dst[i] = T(e)
		}
	case k.softmaxExp != nil && moderate(m):
		c, off := exponent(m)
		if len(x) <= piece {
			return k.softmaxExp(&dst[0], &x[0], len(x), c), off
		}
		return softmaxLong(k, dst, x, c), off
	default: // m is infinite or NaN, or as good as that
		sum = expShiftLong(k, dst, x, m)
	}
	return sum, 0
}

// moderate reports whether m·log2 e is finite in T with a wide margin.
func moderate[T float](m T) bool { return math.Abs(float64(m)) < 1e30 }

// exponent returns the c for which 2^(x·log2 e + c) is e^(x-m+off). off is the rounding error of
// m·log2 e, which all exponents share, so that dividing by the sum cancels it.
func exponent[T float](m T) (c T, off float64) {
	const log2e = math.Log2E
	product := float64(m) * float64(T(log2e))
	c = T(-product)
	return c, (product + float64(c)) * math.Ln2
}

func expShiftLong[T float](k *kernels[T], dst, x []T, m T) (sum float64) {
	pieces(len(x), func(lo, hi int) { sum += k.expShift(&dst[lo], &x[lo], hi-lo, m) })
	return sum
}

// ExpShift replaces x by e^(x-m) and returns the sum.
func ExpShift[T float](x []T, m T) (sum float64) {
	if k := assembly[T](); k != nil && k.expShift != nil && len(x) > 0 {
		return expShiftLong(k, x, x, m)
	}
	for i, v := range x {
		x[i] = T(math.Exp(float64(v - m)))
		sum += float64(x[i])
	}
	return sum
}

func softmaxLong[T float](k *kernels[T], dst, x []T, c T) (sum float64) {
	pieces(len(x), func(lo, hi int) { sum += k.softmaxExp(&dst[lo], &x[lo], hi-lo, c) })
	return sum
}
