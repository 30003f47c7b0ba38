package transpose

import (
	"fmt"
	"testing"
	"unsafe"
)

func check[T comparable](t *testing.T, number func(i int) T, rows, cols, padDst, padSrc int) {
	t.Helper()
	ds, ss := rows+padDst, cols+padSrc
	src, dst := make([]T, rows*ss), make([]T, cols*ds)
	guard := number(1 << 20)
	for i := range src {
		src[i] = number(i)
	}
	for i := range dst {
		dst[i] = guard
	}
	Matrix(dst, src, rows, cols, ds, ss)
	for c := range cols {
		for r := range ds {
			want := guard
			if r < rows {
				want = src[r*ss+c]
			}
			if got := dst[c*ds+r]; got != want {
				t.Fatalf("%T [%d,%d] padded by %d and %d: (%d, %d) is %v, want %v", got, rows, cols, padDst, padSrc, c, r, got, want)
			}
		}
	}
}

func TestMatrix(t *testing.T) {
	sizes := []int{0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 130}
	eachFamily(t, func(t *testing.T) {
		for _, rows := range sizes {
			for _, cols := range sizes {
				pad := (rows + cols) % 3
				check(t, func(i int) uint32 { return uint32(i) }, rows, cols, pad, 2-pad)
				check(t, func(i int) float64 { return float64(i) }, rows, cols, 2-pad, pad)
				check(t, func(i int) uint8 { return uint8(i) }, rows, cols, pad, pad)
				check(t, func(i int) uint16 { return uint16(i) }, rows, cols, 0, pad)
				check(t, func(i int) complex128 { return complex(float64(i), 1) }, rows, cols, pad, 0)
			}
		}
		for _, s := range [][2]int{{700, 300}, {50000, 3}, {3, 50000}, {300, 40}} {
			check(t, func(i int) float32 { return float32(i % (1 << 19)) }, s[0], s[1], 0, 0)
			check(t, func(i int) int64 { return int64(i) }, s[0], s[1], 1, 0)
		}
	})
}

// Tiles that are written past the cache are the same.
func TestMatrixPastTheCache(t *testing.T) {
	const rows, cols = 160, 100
	src, want := make([]float32, rows*cols), make([]float32, rows*cols)
	for i := range src {
		src[i] = float32(i)
	}
	room := make([]float32, rows*cols+16)
	dst := room[(64-uintptr(unsafe.Pointer(&room[0]))%64)/4%16:][:rows*cols]
	eachFamily(t, func(t *testing.T) {
		Matrix(want, src, rows, cols, rows, cols)
		m := matrix[uint32]{unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), rows, cols, rows, cols, true}
		m.strip(0, cols)
		for i := range dst {
			if dst[i] != want[i] {
				t.Fatalf("element %d is %v, want %v", i, dst[i], want[i])
			}
		}
	})
}

func BenchmarkMatrix(b *testing.B) {
	for _, s := range [][2]int{{256, 256}, {1024, 1024}, {4096, 1024}, {4096, 4096}, {4000, 4001}, {1000000, 16}, {16, 1000000}, {1000000, 4}} {
		src, dst := make([]float32, s[0]*s[1]), make([]float32, s[0]*s[1])
		for i := range src { // untouched pages would all be the same one
			src[i] = float32(i)
		}
		b.Run(fmt.Sprint("copy", s), func(b *testing.B) {
			b.SetBytes(8 * int64(len(src)))
			for b.Loop() {
				copy(dst, src)
			}
		})
		b.Run(fmt.Sprint("transpose", s), func(b *testing.B) {
			b.SetBytes(8 * int64(len(src)))
			for b.Loop() {
				Matrix(dst, src, s[0], s[1], s[0], s[1])
			}
		})
	}
}
