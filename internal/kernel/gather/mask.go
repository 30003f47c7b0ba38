package gather

import (
	"unsafe"

	"github.com/tenonml/tenon/dtype"
)

// CountTrue returns the number of true elements.
func CountTrue(mask []bool) int {
	n := 0
	for len(mask) >= 32 {
		// Eight byte-wide counters in a word can hold 255 additions each.
		block := mask[:min(len(mask), 32*63)&^31]
		mask = mask[len(block):]
		var a, b, c, d uint64
		for ; len(block) >= 32; block = block[32:] {
			a += word(block)
			b += word(block[8:])
			c += word(block[16:])
			d += word(block[24:])
		}
		const even = 0x00ff00ff00ff00ff
		sum := a + b + c + d // at most 4*63 in each byte
		sum = sum&even + sum>>8&even
		n += int(sum * 0x0001000100010001 >> 48)
	}
	for _, m := range mask {
		if m {
			n++
		}
	}
	return n
}

// word returns the first eight elements as a word; a bool is a byte that is 0 or 1.
func word(mask []bool) uint64 {
	return *(*uint64)(unsafe.Pointer(unsafe.SliceData(mask[:8])))
}

// Compact copies the rows of values whose mask is true to out, one after the other, and returns
// their number. [CountTrue] tells how many out must hold.
func Compact[T any](out, values []T, mask []bool, width int) int {
	n := 0
	if width == 1 && len(mask) >= indexed {
		b := NewBitmap(mask)
		CompactBy(out, values, b)
		return b.Count()
	}
	if width == 1 {
		for i, m := range mask {
			if m {
				out[n] = values[i]
				n++
			}
		}
		return n
	}
	for i, m := range mask {
		if m {
			copy(out[n*width:(n+1)*width], values[i*width:(i+1)*width])
			n++
		}
	}
	return n
}

// indexed is the length of a mask from which an index pays off.
const indexed = 1024

// TrueAt writes the positions of the true elements to out and returns their number. [CountTrue]
// tells how many out must hold.
func TrueAt(out []int64, mask []bool) int {
	if len(mask) >= indexed {
		b := NewBitmap(mask)
		b.positions(out)
		return b.Count()
	}
	n := 0
	for i, m := range mask {
		if m {
			out[n] = int64(i)
			n++
		}
	}
	return n
}

// Nonzero writes whether each element is nonzero to out. NaN is; both floating-point zeros are not.
func Nonzero[T dtype.Number](out []bool, x []T) {
	out = out[:len(x)]
	switch x := any(x).(type) {
	case []dtype.F16:
		for i, v := range x {
			out[i] = v&0x7fff != 0
		}
		return
	case []dtype.BF16:
		for i, v := range x {
			out[i] = v&0x7fff != 0
		}
		return
	}
	for i, v := range x {
		out[i] = v != 0
	}
}

// Coordinates turns flat row-major positions into tuples: tuple i, of len(dims) entries, goes to
// out[i*len(dims):]. dims must not contain zero unless positions is empty.
func Coordinates(out []int64, positions []int64, dims []int) {
	depth := len(dims)
	for i, p := range positions {
		for d := depth - 1; d >= 0; d-- {
			size := int64(dims[d])
			out[i*depth+d] = p % size
			p /= size
		}
	}
}
