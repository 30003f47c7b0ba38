package fused

import (
	"math"
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/stream"
	"github.com/tenonml/tenon/internal/par"
)

// AdamStep holds the parameters of one step of Adam (Kingma and Ba, arXiv:1412.6980) or AdamW
// (Loshchilov and Hutter, arXiv:1711.05101).
type AdamStep struct {
	Rate         float64 // learning rate
	Beta1, Beta2 float64 // decay rates of the moments
	Epsilon      float64 // added to the root of the second moment
	Step         int     // counted from 1, for the bias correction
	WeightDecay  float64 // decoupled: the parameter shrinks by the factor 1 - Rate·WeightDecay
	L2           float64 // coupled: L2·parameter is added to the gradient
}

// Adam computes a step for parameters p with moments m and v and gradient g, all of
// one length, into p1, m1 and v1, which may be the same memory:
//
//	g' = g + L2·p
//	m1 = m + (1-Beta1)·(g'-m)
//	v1 = v + (1-Beta2)·(g'²-v)
//	p1 = p·(1-Rate·WeightDecay) - Rate·m̂/(√v̂+Epsilon)
//
// with m̂ = m1/(1-Beta1^Step) and v̂ = v1/(1-Beta2^Step). Work is divided among the workers of
// package par; results that exceed the cache are written with non-temporal stores.
func Adam[T float](p1, m1, v1, p, m, v, g []T, s AdamStep) {
	a := newAdam(p1, m1, v1, p, m, v, serialBelow, s)
	share(len(p), func(lo, hi int) { a.run(lo, hi, g[lo:hi]) })
}

// AdamRows is [Adam] for a sparse gradient with rows of width elements. Row i is the sum, in order,
// of those items of values, each of width elements, whose id is i. Rows without items need no
// gradient in memory. Ids must be below the number of rows; items with a negative id are ignored.
func AdamRows[T float](p1, m1, v1, p, m, v, values []T, ids []int64, width int, s AdamStep) {
	if width == 0 {
		return
	}
	a := newAdam(p1, m1, v1, p, m, v, width, s)
	rows := len(p) / width
	ends, items := itemsByRow(ids, rows)
	par.For(rows, max(1, serialBelow/width), func(lo, hi int) {
		sum := make([]T, width)
		for r := lo; r < hi; {
			if ends[r] == ends[r+1] {
				next := r + 1
				for next < hi && ends[next] == ends[next+1] {
					next++
				}
				a.run(r*width, next*width, nil)
				r = next
				continue
			}
			clear(sum)
			for _, i := range items[ends[r]:ends[r+1]] {
				for j, x := range values[int(i)*width:][:width] {
					sum[j] += x
				}
			}
			a.run(r*width, (r+1)*width, sum)
			r++
		}
	})
}

// itemsByRow sorts items by id: those of row r are items[ends[r]:ends[r+1]].
func itemsByRow(ids []int64, rows int) (ends, items []int32) {
	ends = make([]int32, rows+2)
	for _, id := range ids {
		if id >= 0 {
			ends[id+2]++
		}
	}
	for r := range rows {
		ends[r+2] += ends[r+1]
	}
	items = make([]int32, len(ids))
	for i, id := range ids {
		if id >= 0 {
			items[ends[id+1]] = int32(i)
			ends[id+1]++
		}
	}
	return ends, items
}

// adam is a step together with its operands.
type adam[T float] struct {
	p1, m1, v1, p, m, v                     []T
	a1, a2, rate, correction, eps, keep, l2 T
	adam                                    adamKernel[T]
	idle                                    idleKernel[T]
}

type (
	adamKernel[T any] func(p1, m1, v1, p, m, v, g *T, n int, a1, a2, rate, correction, eps, keep, l2 T)
	idleKernel[T any] func(p1, m1, v1, p, m, v *T, n int, a1, a2, rate, correction, eps, keep, l2 T)
)

// newAdam prepares a step whose pieces begin at multiples of unit.
func newAdam[T float](p1, m1, v1, p, m, v []T, unit int, s AdamStep) *adam[T] {
	a := &adam[T]{
		p1: p1, m1: m1, v1: v1, p: p, m: m, v: v,
		a1: T(1 - s.Beta1), a2: T(1 - s.Beta2),
		rate:       T(s.Rate / (1 - math.Pow(s.Beta1, float64(s.Step)))),
		correction: T(1 / (1 - math.Pow(s.Beta2, float64(s.Step)))),
		eps:        T(s.Epsilon), keep: T(1 - s.Rate*s.WeightDecay), l2: T(s.L2),
	}
	k := assembly[T]()
	switch size := int(unsafe.Sizeof(a.a1)); {
	case k == nil:
	case 3*size*len(p) >= stream.Threshold && unit*size%64 == 0 && aligned(p1) && aligned(m1) && aligned(v1):
		a.adam, a.idle = k.adamStream, k.idleStream
	default:
		a.adam, a.idle = k.adam, k.idle
	}
	return a
}

// aligned reports whether x begins at a cache line.
func aligned[T float](x []T) bool { return uintptr(unsafe.Pointer(unsafe.SliceData(x)))%64 == 0 }

// run computes the elements [lo, hi), whose gradient is g; nil stands for 0.
func (a *adam[T]) run(lo, hi int, g []T) {
	if lo == hi {
		return
	}
	switch {
	case a.adam == nil:
		a.plain(lo, hi, g)
	case g == nil:
		a.idle(&a.p1[lo], &a.m1[lo], &a.v1[lo], &a.p[lo], &a.m[lo], &a.v[lo], hi-lo, a.a1, a.a2, a.rate, a.correction, a.eps, a.keep, a.l2)
	default:
		a.adam(&a.p1[lo], &a.m1[lo], &a.v1[lo], &a.p[lo], &a.m[lo], &a.v[lo], &g[0], hi-lo, a.a1, a.a2, a.rate, a.correction, a.eps, a.keep, a.l2)
	}
}

// plain is the reference implementation.
func (a *adam[T]) plain(lo, hi int, g []T) {
	for i := lo; i < hi; i++ {
		d := a.l2 * a.p[i]
		if g != nil {
			d += g[i-lo]
		}
		mean := a.m[i] + a.a1*(d-a.m[i])
		square := a.v[i] + a.a2*(d*d-a.v[i])
		root := T(math.Sqrt(float64(square * a.correction)))
		a.p1[i] = a.keep*a.p[i] - a.rate*(mean/(root+a.eps))
		a.m1[i], a.v1[i] = mean, square
	}
}
