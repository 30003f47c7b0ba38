package reduce

import (
	"math"
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/elementwise"
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// width returns the number of bits of T.
func width[T ordered]() uint {
	var t T
	return uint(unsafe.Sizeof(t)) * 8
}

// isFloat reports whether T is a floating-point type.
func isFloat[T ordered]() bool { half := 0.5; return T(half) != 0 }

// extremes returns the least and the greatest T, infinities included.
func extremes[T ordered]() (lo, hi T) {
	bits := width[T]()
	switch {
	case isFloat[T]():
		return T(-inf), T(inf)
	case T(0)-1 > 0: // unsigned
		lo--
		return 0, lo
	}
	lo = T(-(int64(1) << (bits - 1)))
	return lo, lo - 1
}

func maximum[T ordered]() *reducer[T, T, T] {
	lo, _ := extremes[T]()
	return &reducer[T, T, T]{
		block:   maxBlock[T],
		merge:   func(a, b T) T { return max(a, b) },
		finish:  func(a T, n int) T { return a },
		empty:   lo,
		columns: foldColumns[T](elementwise.Maximum),
		short:   foldColumns[T](elementwise.Maximum),
	}
}

func minimum[T ordered]() *reducer[T, T, T] {
	_, hi := extremes[T]()
	return &reducer[T, T, T]{
		block:   minBlock[T],
		merge:   func(a, b T) T { return min(a, b) },
		finish:  func(a T, n int) T { return a },
		empty:   hi,
		columns: foldColumns[T](elementwise.Minimum),
		short:   foldColumns[T](elementwise.Minimum),
	}
}

func maxPlain[T ordered](x []T) T {
	m := x[0]
	for _, v := range x[1:] {
		m = max(m, v)
	}
	return m
}

func minPlain[T ordered](x []T) T {
	m := x[0]
	for _, v := range x[1:] {
		m = min(m, v)
	}
	return m
}

// A place is a value and its position within its block, or within all blocks merged so far; length
// is the number of elements in them.
type place[T any] struct {
	value      T
	at, length int
}

// arg finds the first of the greatest or least elements.
func arg[T ordered](least bool) *reducer[T, place[T], int64] {
	better := func(a, b T) bool { return a > b || a != a && b == b }
	block := argMaxBlock[T]
	if least {
		better = func(a, b T) bool { return a < b || a != a && b == b }
		block = argMinBlock[T]
	}
	return &reducer[T, place[T], int64]{
		block: func(x []T) place[T] {
			i := block(x)
			return place[T]{x[i], i, len(x)}
		},
		merge: func(a, b place[T]) place[T] {
			length := a.length + b.length
			if better(b.value, a.value) {
				return place[T]{b.value, a.length + b.at, length}
			}
			return place[T]{a.value, a.at, length}
		},
		finish: func(a place[T], n int) int64 { return int64(a.at) },
	}
}

func argMaxPlain[T ordered](x []T) int {
	at, m := 0, x[0]
	for i, v := range x {
		if m != m {
			return at
		}
		if v > m || v != v {
			at, m = i, v
		}
	}
	return at
}

func argMinPlain[T ordered](x []T) int {
	at, m := 0, x[0]
	for i, v := range x {
		if m != m {
			return at
		}
		if v < m || v != v {
			at, m = i, v
		}
	}
	return at
}
