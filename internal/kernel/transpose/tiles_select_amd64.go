//go:build amd64 && !purego

package transpose

import "github.com/tenonml/tenon/internal/cpu"

// level is the family of kernels in use. Tests change it.
var level = cpu.Active()

// tilesOf returns the kernel for elements of size bytes and the side of its
// tiles, or nil if there is none.
func tilesOf(size int, stream bool) (side int, f func(dst, src *byte, count, dstStride, srcStride int)) {
	switch {
	case level == cpu.AVX512 && size == 4 && stream:
		return 16, tiles32AVX512NT
	case level == cpu.AVX512 && size == 4:
		return 16, tiles32AVX512
	case level == cpu.AVX512 && size == 8 && stream:
		return 8, tiles64AVX512NT
	case level == cpu.AVX512 && size == 8:
		return 8, tiles64AVX512
	case level == cpu.AVX2 && size == 4 && stream:
		return 8, tiles32AVX2NT
	case level == cpu.AVX2 && size == 4:
		return 8, tiles32AVX2
	case level == cpu.AVX2 && size == 8 && stream:
		return 4, tiles64AVX2NT
	case level == cpu.AVX2 && size == 8:
		return 4, tiles64AVX2
	}
	return 0, nil
}
