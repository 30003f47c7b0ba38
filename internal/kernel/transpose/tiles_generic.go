//go:build !amd64 || purego

package transpose

func tilesOf(size int, stream bool) (side int, f func(dst, src *byte, count, dstStride, srcStride int)) {
	return 0, nil
}
