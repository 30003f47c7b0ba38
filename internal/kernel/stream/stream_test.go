package stream

import (
	"testing"
	"unsafe"
)

func TestCopy(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 63, 64, 255, 256, 511, 512, 513, 700, 767, 768, 1024, 1025, 5000, 600000} {
			for offset := range 3 {
				src, dst := make([]byte, n+offset), make([]byte, n+200)
				for i := range src {
					src[i] = byte(i*7 + 1)
				}
				to := dst[70+11*offset:][:n:n]
				Copy(to, src[offset:])
				for i, v := range dst {
					want := byte(0)
					if j := i - 70 - 11*offset; j >= 0 && j < n {
						want = src[offset+j]
					}
					if v != want {
						t.Fatalf("n = %d, offset %d: byte %d is %d, want %d", n, offset, i, v, want)
					}
				}
			}
		}
	})
	x := make([]float64, 3)
	Copy(x, []float64{1, 2, 3, 4})
	if x[2] != 3 {
		t.Errorf("got %v", x)
	}
}

// TestFetch asks for memory that is there and for memory that is not.
func TestFetch(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		x := make([]byte, 1000)
		for i := range x {
			x[i] = byte(i)
		}
		at := uintptr(unsafe.Pointer(&x[0]))
		for _, n := range []int{-64, 0, 1, 64, 65, 1000, 1 << 16} {
			Fetch(at, n)
			Fetch(at+13, n)
			Fetch(0, n)
			Fetch(^uintptr(0)-100, n)
		}
		for i, v := range x {
			if v != byte(i) {
				t.Fatalf("byte %d is %d", i, v)
			}
		}
	})
}

func BenchmarkCopy(b *testing.B) {
	src, dst := make([]float32, 1<<24), make([]float32, 1<<24)
	for i := range src {
		src[i] = 1
	}
	b.Run("ordinary", func(b *testing.B) {
		b.SetBytes(8 << 24)
		for b.Loop() {
			copy(dst, src)
		}
	})
	b.Run("stream", func(b *testing.B) {
		b.SetBytes(8 << 24)
		for b.Loop() {
			Copy(dst, src)
		}
	})
	b.Run("blocks", func(b *testing.B) {
		b.SetBytes(8 << 24)
		var temp [1024]float32
		for b.Loop() {
			for i := 0; i < len(dst); i += len(temp) {
				copy(temp[:], src[i:])
				Copy(dst[i:], temp[:])
			}
		}
	})
}
