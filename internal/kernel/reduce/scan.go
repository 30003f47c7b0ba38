package reduce

import (
	"math"
	"sync"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
)

// ScanOp names a cumulative operation.
type ScanOp uint8

// The cumulative operations. The comments state the initial value of an exclusive scan, and special
// cases.
const (
	CumSum       ScanOp = iota // 0; integers wrap
	CumProd                    // 1; integers wrap
	CumMax                     // the least value of the type; NaN from the first NaN on
	CumMin                     // the greatest value of the type; NaN from the first NaN on
	CumLogSumExp               // -Inf
	scanCount
)

// ScanFunc is a cumulative operation along the middle dimension of x, which holds outer·n·inner
// elements in row-major order; dst has as many, of the same type, and may be the same memory. An
// exclusive scan excludes each element from its own result; a reverse scan goes from the last
// element to the first.
type ScanFunc = func(dst, x unsafe.Pointer, outer, n, inner int, exclusive, reverse bool)

// Scan returns the cumulative operation on elements of type dt, or nil if there is none. Floats
// accumulate in float64; sums of float64 and of half precision are compensated.
func Scan(op ScanOp, dt dtype.DType) ScanFunc {
	all := scans()
	if int(op) >= len(all) || int(dt) >= len(all[op]) {
		return nil
	}
	return all[op][dt]
}

// scans returns the operations, which are created on first use.
var scans = sync.OnceValue(func() *[scanCount][dtype.Complex128 + 1]ScanFunc {
	var all [scanCount][dtype.Complex128 + 1]ScanFunc
	for op := range scanCount {
		for dt := range all[op] {
			all[op][dt] = makeScan(op, dtype.DType(dt))
		}
	}
	return &all
})

func makeScan(op ScanOp, dt dtype.DType) ScanFunc {
	switch dt {
	case dtype.Int8:
		return scanInt[int8](op)
	case dtype.Int16:
		return scanInt[int16](op)
	case dtype.Int32:
		return scanInt[int32](op)
	case dtype.Int64:
		return scanInt[int64](op)
	case dtype.Uint8:
		return scanInt[uint8](op)
	case dtype.Uint16:
		return scanInt[uint16](op)
	case dtype.Uint32:
		return scanInt[uint32](op)
	case dtype.Uint64:
		return scanInt[uint64](op)
	case dtype.Float16:
		return scanThrough(op, func(v dtype.F16) float64 { return float64(v.Float32()) }, dtype.F16From64)
	case dtype.BFloat16:
		return scanThrough(op, func(v dtype.BF16) float64 { return float64(v.Float32()) }, dtype.BF16From64)
	case dtype.Float32:
		if op == CumSum {
			return untypedScan(cumSum[float32, float64]())
		}
		return scanFloats[float32](op)
	case dtype.Float64:
		return scanFloats[float64](op)
	case dtype.Complex64:
		return scanComplex[complex64](op)
	case dtype.Complex128:
		return scanComplex[complex128](op)
	}
	return nil
}

// A scanner folds elements into an accumulator and converts it to an element.
type scanner[T, A any] struct {
	start A
	fold  func(a A, v T) A
	show  func(a A) T

	// line scans one contiguous line. It may be nil; it saves the calls of fold and show.
	line func(dst, x []T, exclusive, reverse bool)
}

// cumSum accumulates in A, which is float64 for float32 and T for integers.
func cumSum[T, A integer | float]() *scanner[T, A] {
	return &scanner[T, A]{
		fold: func(a A, v T) A { return a + A(v) },
		show: func(a A) T { return T(a) },
		line: func(dst, x []T, exclusive, reverse bool) {
			var sum A
			at, step := 0, 1
			if reverse {
				at, step = len(x)-1, -1
			}
			if exclusive {
				for range x {
					v := x[at] // read before writing: dst may be x
					dst[at] = T(sum)
					sum += A(v)
					at += step
				}
				return
			}
			for range x {
				sum += A(x[at])
				dst[at] = T(sum)
				at += step
			}
		},
	}
}

// run scans all rows. Those of one outer index are interleaved, so they advance together, a chunk
// of columns at a time.
func (s *scanner[T, A]) run(dst, x []T, outer, n, inner int, exclusive, reverse bool) {
	if outer == 0 || n == 0 || inner == 0 {
		return
	}
	if inner == 1 && s.line != nil && outer <= max(1, serialBelow/n) {
		for o := range outer {
			s.line(dst[o*n:(o+1)*n], x[o*n:(o+1)*n], exclusive, reverse)
		}
		return
	}
	if inner == 1 && s.line != nil {
		par.For(outer, max(1, serialBelow/n), func(lo, hi int) {
			for o := lo; o < hi; o++ {
				s.line(dst[o*n:(o+1)*n], x[o*n:(o+1)*n], exclusive, reverse)
			}
		})
		return
	}
	chunk := min(inner, fewColumns)
	chunks := (inner + chunk - 1) / chunk
	if grain := serialBelow / (n * chunk); outer*chunks > grain {
		par.For(outer*chunks, max(1, grain), func(lo, hi int) {
			s.columns(dst, x, n, inner, chunk, lo, hi, exclusive, reverse)
		})
		return
	}
	s.columns(dst, x, n, inner, chunk, 0, outer*chunks, exclusive, reverse)
}

// columns scans the chunks [lo, hi) of columns.
func (s *scanner[T, A]) columns(dst, x []T, n, inner, chunk, lo, hi int, exclusive, reverse bool) {
	var accs [fewColumns]A
	chunks := (inner + chunk - 1) / chunk
	for t := lo; t < hi; t++ {
		first := t % chunks * chunk
		acc := accs[:min(chunk, inner-first)]
		for j := range acc {
			acc[j] = s.start
		}
		base := t/chunks*n*inner + first
		for i := range n {
			at := base + i*inner
			if reverse {
				at = base + (n-1-i)*inner
			}
			from, to := x[at:at+len(acc)], dst[at:at+len(acc)]
			for j, v := range from {
				next := s.fold(acc[j], v)
				if exclusive {
					to[j] = s.show(acc[j])
				} else {
					to[j] = s.show(next)
				}
				acc[j] = next
			}
		}
	}
}

func untypedScan[T, A any](s *scanner[T, A]) ScanFunc {
	if s == nil {
		return nil
	}
	return func(dst, x unsafe.Pointer, outer, n, inner int, exclusive, reverse bool) {
		size := outer * n * inner
		s.run(unsafe.Slice((*T)(dst), size), unsafe.Slice((*T)(x), size), outer, n, inner, exclusive, reverse)
	}
}

func scanInt[T integer](op ScanOp) ScanFunc {
	lo, hi := extremes[T]()
	s := &scanner[T, T]{show: func(a T) T { return a }}
	switch op {
	case CumSum:
		s = cumSum[T, T]()
	case CumProd:
		s.start = 1
		s.fold = func(a, v T) T { return a * v }
	case CumMax:
		s.start = lo
		s.fold = func(a, v T) T { return max(a, v) }
		s.line = maxLine(lo)
	case CumMin:
		s.start = hi
		s.fold = func(a, v T) T { return min(a, v) }
		s.line = minLine(hi)
	default:
		return nil
	}
	return untypedScan(s)
}

// maxLine scans a line for the greatest element so far; start is the initial value.
func maxLine[T integer | float](start T) func(dst, x []T, exclusive, reverse bool) {
	return func(dst, x []T, exclusive, reverse bool) {
		most := start
		at, step := 0, 1
		if reverse {
			at, step = len(x)-1, -1
		}
		for range x {
			next := max(most, x[at]) // read before writing: dst may be x
			if dst[at] = next; exclusive {
				dst[at] = most
			}
			most = next
			at += step
		}
	}
}

// minLine is maxLine for the least element.
func minLine[T integer | float](start T) func(dst, x []T, exclusive, reverse bool) {
	return func(dst, x []T, exclusive, reverse bool) {
		least := start
		at, step := 0, 1
		if reverse {
			at, step = len(x)-1, -1
		}
		for range x {
			next := min(least, x[at])
			if dst[at] = next; exclusive {
				dst[at] = least
			}
			least = next
			at += step
		}
	}
}

// scanFloats scans elements of the native floating-point types.
func scanFloats[T float](op ScanOp) ScanFunc {
	switch op {
	case CumMax:
		return untypedScan(&scanner[T, T]{start: T(-inf), fold: func(a, v T) T { return max(a, v) }, show: func(a T) T { return a }, line: maxLine(T(-inf))})
	case CumMin:
		return untypedScan(&scanner[T, T]{start: T(inf), fold: func(a, v T) T { return min(a, v) }, show: func(a T) T { return a }, line: minLine(T(inf))})
	}
	return scanThrough(op, func(v T) float64 { return float64(v) }, func(v float64) T { return T(v) })
}

func scanFloat(op ScanOp) (plain *scanner[float64, float64], sum *scanner[float64, compensated], log *scanner[float64, logSum]) {
	same := func(a float64) float64 { return a }
	switch op {
	case CumSum:
		sum = &scanner[float64, compensated]{
			fold: func(a compensated, v float64) compensated { return a.plus(compensated{sum: v}) },
			show: compensated.value,
		}
	case CumProd:
		plain = &scanner[float64, float64]{start: 1, fold: func(a, v float64) float64 { return a * v }, show: same}
	case CumMax:
		plain = &scanner[float64, float64]{start: -inf, fold: func(a, v float64) float64 { return max(a, v) }, show: same}
	case CumMin:
		plain = &scanner[float64, float64]{start: inf, fold: func(a, v float64) float64 { return min(a, v) }, show: same}
	case CumLogSumExp:
		log = &scanner[float64, logSum]{
			start: logSum{-inf, 0},
			fold: func(a logSum, v float64) logSum {
				if math.IsInf(v, -1) {
					return a
				}
				return a.plus(logSum{v, 1})
			},
			show: logSum.value,
		}
	}
	return plain, sum, log
}

// scanThrough scans elements that to converts to float64 and from converts back.
func scanThrough[T any](op ScanOp, to func(T) float64, from func(float64) T) ScanFunc {
	plain, sum, log := scanFloat(op)
	switch {
	case plain != nil:
		return untypedScan(through(plain, to, from))
	case sum != nil:
		return untypedScan(through(sum, to, from))
	case log != nil:
		s := through(log, to, from)
		s.line = logSumLine(to, from)
		return untypedScan(s)
	}
	return nil
}

// logSumLine scans a line for the logarithm of the sum of exponentials so far.
func logSumLine[T any](to func(T) float64, from func(float64) T) func(dst, x []T, exclusive, reverse bool) {
	return func(dst, x []T, exclusive, reverse bool) {
		sum := logSum{-inf, 0}
		at, step := 0, 1
		if reverse {
			at, step = len(x)-1, -1
		}
		for range x {
			next := sum
			if v := to(x[at]); !math.IsInf(v, -1) { // read before writing: dst may be x
				next = sum.plus(logSum{v, 1})
			}
			if exclusive {
				dst[at] = from(sum.value())
			} else {
				dst[at] = from(next.value())
			}
			sum = next
			at += step
		}
	}
}

func through[T, A any](s *scanner[float64, A], to func(T) float64, from func(float64) T) *scanner[T, A] {
	return &scanner[T, A]{
		start: s.start,
		fold:  func(a A, v T) A { return s.fold(a, to(v)) },
		show:  func(a A) T { return from(s.show(a)) },
	}
}

func scanComplex[T complexNumber](op ScanOp) ScanFunc {
	s := &scanner[T, complex128]{show: func(a complex128) T { return T(a) }}
	switch op {
	case CumSum:
		s.fold = func(a complex128, v T) complex128 { return a + complex128(v) }
	case CumProd:
		s.start = 1
		s.fold = func(a complex128, v T) complex128 { return a * complex128(v) }
	default:
		return nil
	}
	return untypedScan(s)
}
