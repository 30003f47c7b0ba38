package reduce

import (
	"sync"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
)

type (
	float         interface{ float32 | float64 }
	complexNumber interface{ complex64 | complex128 }
	signed        interface{ int8 | int16 | int32 | int64 }
	unsigned      interface {
		uint8 | uint16 | uint32 | uint64
	}
	integer interface{ signed | unsigned }
	ordered interface{ integer | float }
	number  interface{ ordered | complexNumber }
	half    interface{ dtype.F16 | dtype.BF16 }
)

// A compensated sum carries the rounding errors of its additions in a second number (Neumaier's
// variant of Kahan summation), so that merging many blocks adds negligible error.
type compensated struct{ sum, err float64 }

func (a compensated) plus(b compensated) compensated {
	s := a.sum + b.sum
	t := s - a.sum
	e := (a.sum - (s - t)) + (b.sum - t)
	if e != e { // sum is infinite or NaN: there is no error to carry
		return compensated{s, 0}
	}
	return compensated{s, a.err + b.err + e}
}

func (a compensated) value() float64 { return a.sum + a.err }

// pairwise sums by halves down to runs of 256 elements, which are summed in eight accumulators: the
// error grows with the logarithm of the length (N. J. Higham, "The accuracy of floating point
// summation", 1993).
func pairwise[T float](x []T) float64 {
	const run = 256
	if len(x) > run {
		half := (len(x)/run + 1) / 2 * run
		return pairwise(x[:half]) + pairwise(x[half:])
	}
	var a [8]float64
	for ; len(x) >= 8; x = x[8:] {
		a[0] += float64(x[0])
		a[1] += float64(x[1])
		a[2] += float64(x[2])
		a[3] += float64(x[3])
		a[4] += float64(x[4])
		a[5] += float64(x[5])
		a[6] += float64(x[6])
		a[7] += float64(x[7])
	}
	for i, v := range x {
		a[i] += float64(v)
	}
	return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}

func sumFloat[T float](mean bool) *reducer[T, compensated, T] {
	r := &reducer[T, compensated, T]{
		block:   func(x []T) compensated { return compensated{sum: sumBlock(x)} },
		merge:   compensated.plus,
		finish:  func(a compensated, n int) T { return T(a.value()) },
		columns: sumColumns[T],
		short:   foldColumns[T](elementwise.Add),
	}
	if mean {
		r.short = nil
		r.finish = func(a compensated, n int) T { return T(a.value() / float64(n)) }
		r.empty = T(nan)
	}
	return r
}

// rowSums is the scratch memory of sumColumns, for the largest number of columns.
type rowSums[T float] struct {
	part       [manyColumns]T // sums over a group of rows
	wide, sums [manyColumns]float64
}

var rowSums32 = sync.Pool{New: func() any { return new(rowSums[float32]) }}
var rowSums64 = sync.Pool{New: func() any { return new(rowSums[float64]) }}

// sumColumns adds up sixteen rows at a time in the element type, and these sums in float64,
// so that the error grows slowly here as well. If there are so few rows and columns that a
// kernel call per row would not pay off, it uses a plain loop.
func sumColumns[T float]() columns[T, compensated] {
	const group, few = 16, 64
	pool := &rowSums64
	if width[T]() == 32 {
		pool = &rowSums32
	}
	addT, add64 := elementwise.Binary[T](elementwise.Add), elementwise.Binary[float64](elementwise.Add)
	return func(acc []compensated, x []T, rows, stride int) {
		n := len(acc)
		if rows <= group && n <= few {
			for j, v := range x[:n] {
				acc[j] = compensated{sum: float64(v)}
			}
			for k := 1; k < rows; k++ {
				for j, v := range x[k*stride:][:n] {
					acc[j].sum += float64(v)
				}
			}
			return
		}
		s := pool.Get().(*rowSums[T])
		part, wide, sums := s.part[:n], s.wide[:n], s.sums[:n]
		clear(sums)
		for i := 0; i < rows; i += group {
			copy(part, x[i*stride:])
			for k := i + 1; k < min(i+group, rows); k++ {
				addT(part, part, x[k*stride:][:n])
			}
			elementwise.Cast(wide, part)
			add64(sums, sums, wide)
		}
		for j, v := range sums {
			acc[j] = compensated{sum: v}
		}
		pool.Put(s)
	}
}

func sumInt[T integer]() *reducer[T, T, T] {
	return &reducer[T, T, T]{
		block: func(x []T) T {
			var s T
			for _, v := range x {
				s += v
			}
			return s
		},
		merge:   func(a, b T) T { return a + b },
		finish:  func(a T, n int) T { return a },
		columns: foldColumns[T](elementwise.Add),
		short:   foldColumns[T](elementwise.Add),
	}
}

// foldColumns combines rows element by element.
func foldColumns[T dtype.Native](op elementwise.Op) func() columns[T, T] {
	return func() columns[T, T] {
		f := elementwise.Binary[T](op)
		return func(acc, x []T, rows, stride int) {
			if rows == 1 {
				copy(acc, x)
				return
			}
			f(acc, x, x[stride:])
			for i := 2; i < rows; i++ {
				f(acc, acc, x[i*stride:])
			}
		}
	}
}

// meanInt sums integers in float64: exactly up to 2^53, and without overflow for int64.
func meanInt[T integer]() *reducer[T, compensated, float64] {
	return &reducer[T, compensated, float64]{
		block: func(x []T) compensated {
			// The sum of 2^16 elements of up to 32 bits is exact in an int64.
			if width[T]() <= 32 {
				var s int64
				for _, v := range x {
					s += int64(v)
				}
				return compensated{sum: float64(s)}
			}
			var s compensated
			for _, v := range x {
				s = s.plus(compensated{sum: float64(v), err: lost(v)})
			}
			return s
		},
		merge:  compensated.plus,
		finish: func(a compensated, n int) float64 { return a.value() / float64(n) },
		empty:  nan,
	}
}

// lost returns the rounding error of float64(v).
func lost[T integer](v T) float64 {
	const low = 1<<11 - 1
	u := uint64(v)
	hi, lo := u&^low, u&low
	if v < 0 {
		return (float64(int64(hi)) - float64(v)) + float64(lo)
	}
	return (float64(hi) - float64(v)) + float64(lo)
}

func sumComplex[T complexNumber](mean bool) *reducer[T, [2]compensated, T] {
	n := func(int) float64 { return 1 }
	r := &reducer[T, [2]compensated, T]{}
	if mean {
		n = func(n int) float64 { return float64(n) }
		r.empty = T(complex(nan, nan))
	}
	r.block = func(x []T) [2]compensated {
		var a [2]compensated
		for len(x) > 0 {
			m := min(len(x), 512)
			re, im := 0.0, 0.0
			for _, v := range x[:m] {
				re += real(complex128(v))
				im += imag(complex128(v))
			}
			a[0] = a[0].plus(compensated{sum: re})
			a[1] = a[1].plus(compensated{sum: im})
			x = x[m:]
		}
		return a
	}
	r.merge = func(a, b [2]compensated) [2]compensated {
		return [2]compensated{a[0].plus(b[0]), a[1].plus(b[1])}
	}
	r.finish = func(a [2]compensated, count int) T {
		return T(complex(a[0].value()/n(count), a[1].value()/n(count)))
	}
	return r
}

// prodFloat multiplies float32 in float64, so that partial products neither overflow nor lose
// digits as subnormals.
func prodFloat[T float]() *reducer[T, float64, T] {
	return &reducer[T, float64, T]{
		block: func(x []T) float64 {
			p, q := 1.0, 1.0
			for ; len(x) >= 2; x = x[2:] {
				p *= float64(x[0])
				q *= float64(x[1])
			}
			if len(x) > 0 {
				p *= float64(x[0])
			}
			return p * q
		},
		merge:  func(a, b float64) float64 { return a * b },
		finish: func(a float64, n int) T { return T(a) },
		empty:  1,
	}
}

func prod[T integer | complexNumber]() *reducer[T, T, T] {
	return &reducer[T, T, T]{
		block: func(x []T) T {
			p := T(1)
			for _, v := range x {
				p *= v
			}
			return p
		},
		merge:  func(a, b T) T { return a * b },
		finish: func(a T, n int) T { return a },
		empty:  1,
	}
}

func sumSquaresFloat[T float]() *reducer[T, compensated, T] {
	return &reducer[T, compensated, T]{
		block:  func(x []T) compensated { return compensated{sum: sumSquaresBlock(x, 0)} },
		merge:  compensated.plus,
		finish: func(a compensated, n int) T { return T(a.value()) },
	}
}

// squaresAbout returns Σ(x-center)², summed pairwise.
func squaresAbout[T float](x []T, center float64) float64 {
	const run = 256
	if len(x) > run {
		half := (len(x)/run + 1) / 2 * run
		return squaresAbout(x[:half], center) + squaresAbout(x[half:], center)
	}
	var a, b float64
	for ; len(x) >= 2; x = x[2:] {
		d, e := float64(x[0])-center, float64(x[1])-center
		a += d * d
		b += e * e
	}
	if len(x) > 0 {
		d := float64(x[0]) - center
		a += d * d
	}
	return a + b
}

func sumSquaresInt[T integer]() *reducer[T, T, T] {
	r := sumInt[T]()
	r.columns, r.short = nil, nil
	r.block = func(x []T) T {
		var s T
		for _, v := range x {
			s += v * v
		}
		return s
	}
	return r
}
