package strided

import (
	"slices"
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/transpose"
	"github.com/tenonml/tenon/internal/par"
)

// grain is the number of elements that a worker moves at a time.
const grain = 64 << 10

// An axis is one dimension of a copy.
type axis struct {
	n        int // size
	dst, src int // strides in bytes
}

// Copy copies each element of src to the same index of dst. Both have the sizes dims; strides count
// elements of elem bytes, which is 1, 2, 4, 8 or 16. dst and src must not overlap, and no two
// indices of dst may share an element.
func Copy(dst, src unsafe.Pointer, dims, dstStrides, srcStrides []int, elem int) {
	var room [8]axis
	axes := room[:0]
	total := 1
	for i, n := range dims {
		total *= n
		if n != 1 {
			axes = append(axes, axis{n, dstStrides[i] * elem, srcStrides[i] * elem})
		}
	}
	if total == 0 {
		return
	}
	axes = ordered(axes, elem)
	if total <= grain {
		block(dst, src, axes, elem)
		return
	}
	split(dst, src, axes, total, elem)
}

// split divides a large copy among workers along its longest axis.
func split(dst, src unsafe.Pointer, axes []axis, total, elem int) {
	long := 0
	for i, a := range axes {
		if a.n > axes[long].n {
			long = i
		}
	}
	own := slices.Clone(axes) // a copy, so that the caller's axes do not escape
	a := axes[long]
	step := max(1, a.n/((total+grain-1)/grain))
	if step >= tile {
		step &^= tile - 1
	}
	par.For(a.n, step, func(lo, hi int) {
		var room [8]axis
		part := append(room[:0], own...)
		part[long].n = hi - lo
		block(unsafe.Add(dst, lo*a.dst), unsafe.Add(src, lo*a.src), part, elem)
	})
}

// ordered sorts the axes by the destination's strides, the largest first, and merges adjacent axes
// that form a single axis on both sides.
func ordered(axes []axis, elem int) []axis {
	slices.SortStableFunc(axes, func(a, b axis) int { return abs(b.dst) - abs(a.dst) })
	out := axes[:0]
	for _, a := range axes {
		if k := len(out) - 1; k >= 0 && out[k].dst == a.dst*a.n && out[k].src == a.src*a.n {
			out[k] = axis{out[k].n * a.n, a.dst, a.src}
			continue
		}
		out = append(out, a)
	}
	if len(out) == 0 {
		out = append(out, axis{1, elem, elem})
	}
	return out
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// block copies on the calling goroutine.
func block(dst, src unsafe.Pointer, axes []axis, elem int) {
	last := len(axes) - 1
	in := axes[last]
	if in.dst == elem && in.src == elem {
		each(dst, src, axes[:last], func(d, s unsafe.Pointer) {
			copy(unsafe.Slice((*byte)(d), in.n*elem), unsafe.Slice((*byte)(s), in.n*elem))
		})
		return
	}
	switch elem {
	case 1:
		typed[uint8](dst, src, axes)
	case 2:
		typed[uint16](dst, src, axes)
	case 4:
		typed[uint32](dst, src, axes)
	case 8:
		typed[uint64](dst, src, axes)
	case 16:
		typed[[2]uint64](dst, src, axes)
	}
}

// each calls f with the two positions at every index of the outer axes.
func each(dst, src unsafe.Pointer, outer []axis, f func(d, s unsafe.Pointer)) {
	var room [8]int
	index := append(room[:0], make([]int, len(outer))...)
	var d, s int
	for {
		f(unsafe.Add(dst, d), unsafe.Add(src, s))
		a := len(outer) - 1
		for ; a >= 0; a-- {
			index[a]++
			d += outer[a].dst
			s += outer[a].src
			if index[a] < outer[a].n {
				break
			}
			d -= outer[a].n * outer[a].dst
			s -= outer[a].n * outer[a].src
			index[a] = 0
		}
		if a < 0 {
			return
		}
	}
}

// tile is the edge length of the square blocks in which transposed arrays are copied, so that whole
// cache lines are used on both sides.
const tile = 32

// typed copies arrays whose innermost axis is not contiguous on both sides.
func typed[T any](dst, src unsafe.Pointer, axes []axis) {
	last := len(axes) - 1
	in := axes[last]
	var zero T
	elem := int(unsafe.Sizeof(zero))
	if in.src == 0 && in.dst == elem {
		each(dst, src, axes[:last], func(d, s unsafe.Pointer) { fill(unsafe.Slice((*T)(d), in.n), *(*T)(s)) })
		return
	}
	// The axis along which the source is dense, if there is one besides the last.
	dense := -1
	for i, a := range axes[:last] {
		if a.src == elem && a.n >= 4 {
			dense = i
		}
	}
	if dense < 0 || abs(in.src) == elem {
		each(dst, src, axes[:last], func(d, s unsafe.Pointer) { run[T](d, s, in) })
		return
	}
	row := axes[dense]
	outer := slices.Delete(slices.Clone(axes[:last]), dense, dense+1)
	if in.dst == elem && in.src >= row.n*elem && row.dst >= in.n*elem {
		each(dst, src, outer, func(d, s unsafe.Pointer) {
			transpose.Untyped(d, s, elem, in.n, row.n, row.dst/elem, in.src/elem)
		})
		return
	}
	each(dst, src, outer, func(d, s unsafe.Pointer) {
		for i := 0; i < row.n; i += tile {
			for j := 0; j < in.n; j += tile {
				square[T](unsafe.Add(d, i*row.dst+j*in.dst), unsafe.Add(s, i*row.src+j*in.src),
					axis{min(tile, row.n-i), row.dst, row.src}, axis{min(tile, in.n-j), in.dst, in.src})
			}
		}
	})
}

// fill sets all of dst to v, by doubling what is already set.
func fill[T any](dst []T, v T) {
	k := min(len(dst), 64)
	for i := range dst[:k] {
		dst[i] = v
	}
	for k < len(dst) {
		k += copy(dst[k:], dst[:k])
	}
}

// run copies one axis element by element. Positions are kept as integers, because a pointer must
// not point past the end of its array, not even after the last element.
func run[T any](dst, src unsafe.Pointer, a axis) {
	d, s := 0, 0
	for range a.n {
		*(*T)(unsafe.Add(dst, d)) = *(*T)(unsafe.Add(src, s))
		d += a.dst
		s += a.src
	}
}

// square copies a block of at most tile by tile elements.
func square[T any](dst, src unsafe.Pointer, row, col axis) {
	for i := range row.n {
		run[T](unsafe.Add(dst, i*row.dst), unsafe.Add(src, i*row.src), col)
	}
}
