package reduce

import (
	"math"

	"github.com/tenonml/tenon/internal/kernel/elementwise"
)

// CrossEntropy sets loss[r] to -log softmax(x)[labels[r]] for each row r of n
// logits: log Σ e^x - x[label], with the greatest element subtracted first. Where
// grad is not nil, its rows become softmax(x) less 1 at the label, which is the
// gradient of the row's loss, in the same pass; grad may be the same memory as x.
//
// Labels lie in 0 ≤ label < n; the caller checks them.
func CrossEntropy[T float, I int32 | int64](loss, grad, x []T, labels []I, n int) {
	eachRow(len(x), n, func(i int) {
		r := i / n
		row, label := x[i:i+n], labels[r]
		m := maxBlock(row)
		chosen := float64(row[label]) - float64(m)
		if grad == nil {
			loss[r] = T(logSumAbout(row, m) - chosen)
			return
		}
		g := grad[i : i+n]
		s := softmaxInto(g, row, m)
		g[label]--
		loss[r] = T(math.Log(s) - chosen)
	})
}

// CrossEntropyGrad sets each row of dx to (softmax(x) - onehot(label))·dy of the
// row: the gradient of [CrossEntropy] at the logits x for the cotangent dy, which
// has one element for each row. dx may be the same memory as x.
func CrossEntropyGrad[T float, I int32 | int64](dx, x []T, labels []I, dy []T, n int) {
	eachRow(len(x), n, func(i int) {
		row := dx[i : i+n]
		softmaxInto(row, x[i:i+n], maxBlock(x[i:i+n]))
		row[labels[i/n]]--
		scale(row, dy[i/n])
	})
}

// CrossEntropyDense sets loss[r] to -Σ t·log softmax(x) for each row of n logits and
// targets t. Where grad is not nil, its rows become softmax(x)·Σt - t, the gradient
// of the row's loss with respect to x; grad may be the same memory as x.
func CrossEntropyDense[T float](loss, grad, x, targets []T, n int) {
	eachRow(len(x), n, func(i int) {
		row, t := x[i:i+n], targets[i:i+n]
		m := maxBlock(row)
		mass, dot := sumBlock(t), 0.0
		for j, v := range t {
			if v != 0 { // 0·(-Inf) counts as nothing
				dot += float64(v) * (float64(row[j]) - float64(m))
			}
		}
		if grad == nil {
			loss[i/n] = T(mass*logSumAbout(row, m) - dot)
			return
		}
		g := grad[i : i+n]
		s := softmaxInto(g, row, m)
		if mass != 1 {
			scale(g, T(mass))
		}
		elementwise.Binary[T](elementwise.Sub)(g, g, t)
		loss[i/n] = T(mass*math.Log(s) - dot)
	})
}

// logSumAbout returns log Σ e^(x-m).
func logSumAbout[T float](x []T, m T) float64 { return math.Log(expSumBlock(x, m)) }

// softmaxInto sets dst to softmax(x), of which m is the greatest element, and
// returns Σ e^(x-m).
func softmaxInto[T float](dst, x []T, m T) float64 {
	s := 0.0
	if k := assembly[T](); k != nil {
		exp := k.expShift
		if k.softmaxExp != nil && m-m == 0 {
			exp = k.softmaxExp
		}
		pieces(len(x), func(lo, hi int) { s += exp(&dst[lo], &x[lo], hi-lo, m) })
	} else {
		for i, v := range x {
			e := math.Exp(float64(v) - float64(m))
			s += e
			dst[i] = T(e)
		}
	}
	scale(dst, T(1/s))
	return s
}
