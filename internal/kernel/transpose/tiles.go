package transpose

import "github.com/tenonml/tenon/internal/cpu"

// kernels transpose square tiles of elements of 4 bytes (entry 0) and 8 bytes (entry 1).
type kernels [2]struct {
	side        int
	tiles, past tileKernel
}

type tileKernel = func(dst, src *byte, count, dstStride, srcStride int)

var table = cpu.NewTable(kernels{})

// tilesOf returns the kernel for elements of size bytes and the side length of its tiles, or nil if
// there is none. With stream, the kernel uses non-temporal stores.
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
