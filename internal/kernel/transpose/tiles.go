package transpose

import "github.com/tenonml/tenon/internal/cpu"

// kernels transpose square tiles of elements of 4 and of 8 bytes.
type kernels [2]struct {
	side        int
	tiles, past tileKernel
}

type tileKernel = func(dst, src *byte, count, dstStride, srcStride int)

var table = cpu.NewTable(kernels{})

// tilesOf returns the kernel for elements of size bytes and the side of its
// tiles, or nil if there is none. One that streams writes past the cache.
func tilesOf(size int, stream bool) (side int, f tileKernel) {
	if size != 4 && size != 8 {
		return 0, nil
	}
	k := &table.Now()[size/8]
	if stream {
		return k.side, k.past
	}
	return k.side, k.tiles
}
