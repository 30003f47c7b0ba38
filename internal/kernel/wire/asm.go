//go:build amd64 && !purego

package wire

import "github.com/tenonml/tenon/internal/cpu"

// level is the family of kernels in use; tests change it. PEXT is slow on processors
// of AMD before those that have AVX-512.
var level = cpu.Active()

// wide tells whether the kernel for 64 bytes at once can be used; tests change it.
var wide = cpu.PermutesBytes()

// long is how many bytes it takes for the wide kernel to be the faster one.
const long = 12

func fast(dst []int64, b []byte, i, end int) (n, used int) {
	if wide && level == cpu.AVX512 && end-i >= long {
		if n, used = varintsVBMI(&dst[0], &b[i], end-i); used > 0 {
			return n, used
		}
	}
	limit := min(end, len(b)-7)
	if i >= limit {
		return 0, 0
	}
	if level < cpu.AVX512 {
		return generic(dst, b, i, limit)
	}
	return varintsBMI2(&dst[0], &b[i], limit-i)
}

// Fetch asks for the memory of a message, up to its first 512 bytes, without waiting
// for it.
func Fetch(b []byte) {
	if len(b) > 0 {
		fetchLines(&b[0], (min(len(b), 512)+63)/64)
	}
}
