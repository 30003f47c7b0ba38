package strided

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"
)

// TestCopy compares with the definition, for permuted, reversed and repeated
// axes of every width and for sizes below and above the limits of the fast ways.
func TestCopy(t *testing.T) {
	cases := []struct {
		dims, dst, src []int
		from           int // first element of src
	}{
		{nil, nil, nil, 0},
		{[]int{0}, []int{1}, []int{1}, 0},
		{[]int{5}, []int{1}, []int{1}, 0},
		{[]int{5}, []int{1}, []int{-1}, 4},
		{[]int{5}, []int{2}, []int{3}, 0},
		{[]int{7}, []int{1}, []int{0}, 3},
		{[]int{3, 4}, []int{4, 1}, []int{4, 1}, 0},
		{[]int{40, 70}, []int{70, 1}, []int{1, 40}, 0},
		{[]int{70, 40}, []int{1, 70}, []int{40, 1}, 0},
		{[]int{3, 40, 70}, []int{2800, 70, 1}, []int{1, 3, 120}, 0},
		{[]int{3, 5, 4}, []int{20, 4, 1}, []int{0, 4, 1}, 0},
		{[]int{3, 5, 4}, []int{20, 4, 1}, []int{4, 0, 1}, 0},
		{[]int{3, 5, 4}, []int{20, 4, 1}, []int{1, 3, 0}, 0},
		{[]int{400, 500}, []int{500, 1}, []int{1, 400}, 0},
		{[]int{2, 150000}, []int{150000, 1}, []int{150000, -1}, 149999},
		{[]int{300000}, []int{1}, []int{0}, 0},
		{[]int{9, 1, 2, 2, 2, 2, 2, 2, 2, 3}, []int{384, 0, 192, 96, 48, 24, 12, 6, 3, 1}, []int{1, 0, 1728, 864, 432, 216, 108, 54, 27, 9}, 0},
	}
	for _, c := range cases {
		for _, elem := range []int{1, 2, 4, 8, 16} {
			t.Run(fmt.Sprint(c.dims, c.dst, c.src, elem), func(t *testing.T) {
				dst := make([]byte, (reach(c.dims, c.dst)+1)*elem+16)
				src := make([]byte, (c.from+reach(c.dims, c.src)+1)*elem+16)
				for i := range src {
					src[i] = byte(i*7 + i>>8*13 + 1)
				}
				want := slices.Clone(dst)
				reference(want, src, c.from, c.dims, c.dst, c.src, elem)
				Copy(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[c.from*elem]), c.dims, c.dst, c.src, elem)
				if !slices.Equal(dst, want) {
					t.Errorf("the copy differs from its definition")
				}
			})
		}
	}
}

// reach returns the largest offset that positive strides lead to.
func reach(dims, strides []int) int {
	n := 0
	for i, d := range dims {
		n += max(0, (d-1)*strides[i])
	}
	return n
}

func reference(dst, src []byte, from int, dims, ds, ss []int, elem int) {
	total := 1
	for _, d := range dims {
		total *= d
	}
	for k := range total {
		d, s, r := 0, from, k
		for i := len(dims) - 1; i >= 0; i-- {
			d += r % dims[i] * ds[i]
			s += r % dims[i] * ss[i]
			r /= dims[i]
		}
		copy(dst[d*elem:(d+1)*elem], src[s*elem:(s+1)*elem])
	}
}

func BenchmarkTranspose(b *testing.B) {
	const n = 1024
	src, dst := make([]float32, n*n), make([]float32, n*n)
	b.SetBytes(2 * 4 * n * n)
	for b.Loop() {
		Copy(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), []int{n, n}, []int{n, 1}, []int{1, n}, 4)
	}
}
