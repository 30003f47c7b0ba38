package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// atEachFamily runs f with every family of kernels that this machine has.
func atEachFamily(t *testing.T, f func()) {
	for family := range table.Each() {
		f()
		if t.Failed() {
			t.Fatalf("with %v kernels", family)
		}
	}
}

func TestVarints(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for _, bits := range []int{7, 8, 14, 15, 21, 28, 29, 42, 56, 57, 63, 64} {
		for count := range 90 {
			for _, behind := range []int{0, 1, 7, 8, 30} {
				var b []byte
				var want []int64
				for range count {
					x := draw.Uint64() >> (64 - draw.IntN(bits) - 1)
					want = append(want, int64(x))
					b = binary.AppendUvarint(b, x)
				}
				end := len(b)
				for range behind {
					b = append(b, byte(draw.Uint32()))
				}
				atEachFamily(t, func() {
					dst := make([]int64, end+1)
					dst[end] = 4711
					n := Varints(dst, b, end)
					if n != count || !slices.Equal(want, dst[:max(n, 0)]) || dst[end] != 4711 {
						t.Errorf("%d bits, %d behind: got %v, want %v", bits, behind, dst[:max(n, 0)], want)
					}
				})
			}
		}
	}
}

func TestVarintsRefused(t *testing.T) {
	long := slices.Repeat([]byte{0xff}, 10)
	for _, b := range [][]byte{{0x80}, {1, 2, 0x80}, append(slices.Clone(long), 1), append([]byte{5, 6}, append(long, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)...)} {
		atEachFamily(t, func() {
			if n := Varints(make([]int64, len(b)), b, len(b)); n >= 0 {
				t.Errorf("% x is read as %d numbers", b, n)
			}
		})
	}
	atEachFamily(t, func() {
		dst := make([]int64, 10)
		if n := Varints(dst, binary.AppendUvarint(nil, math.MaxUint64), 10); n != 1 || dst[0] != -1 {
			t.Errorf("the largest number is %v", dst[:1])
		}
	})
}

func TestFetch(t *testing.T) {
	atEachFamily(t, func() {
		Fetch(nil)
		Fetch([][]byte{nil})
		for _, n := range []int{0, 1, 64, 65, 256, 257, 511, 512, 5000} {
			Fetch([][]byte{make([]byte, n), make([]byte, 5000-n)})
		}
	})
}

func BenchmarkVarints(b *testing.B) {
	draw := rand.New(rand.NewPCG(1, 2))
	for _, count := range []int{1, 5, 15, 1000} {
		var data []byte
		for range count {
			data = binary.AppendUvarint(data, uint64(draw.IntN(30000)))
		}
		end := len(data)
		data = append(data, make([]byte, 60)...)
		dst := make([]int64, end)
		for family := range table.Each() {
			b.Run(fmt.Sprintf("%d/%v", count, family), func(b *testing.B) {
				b.SetBytes(int64(end))
				for b.Loop() {
					Varints(dst, data, end)
				}
			})
		}
	}
}
