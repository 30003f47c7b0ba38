package str

import "unsafe"

// Choose returns string i of a if holds[i] is true, and string i of b otherwise. A column of one
// string is broadcast.
func Choose(holds []bool, a, b Column) Column {
	n := len(holds)
	x, y := stepping(a), stepping(b)
	which := unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(holds))), n)
	c := Column{Offsets: freshOffsets(n)}
	ends, total := c.Offsets[1:], int64(0)
	for i, w := range which {
		// Without a branch, which would be unpredictable.
		p, q := x.Offsets[i*x.step:][:2], y.Offsets[i*y.step:][:2]
		u, v := p[1]-p[0], q[1]-q[0]
		total += v ^ (u^v)&-int64(w)
		ends[i] = total
	}
	c.Bytes = freshBytes(int(total))
	from := [2][]byte{y.Bytes, x.Bytes}
	inChunks(n, chosen{c, which, x, y, from}, func(lo, hi int, with chosen) {
		dst := with.out.Bytes[:with.out.Offsets[hi]]
		for i := lo; i < hi; i++ {
			w := with.which[i] & 1
			p, q := with.a.Offsets[i*with.a.step], with.b.Offsets[i*with.b.step]
			put(dst, with.out.Offsets[i], with.from[w], q^(p^q)&-int64(w), with.out.Offsets[i+1]-with.out.Offsets[i])
		}
	})
	return c
}

// chosen is the arguments of a chunk of [Choose].
type chosen struct {
	out   Column
	which []uint8
	a, b  stepped
	from  [2][]byte
}

// put copies n bytes of src, from position lo on, to position at of dst. A string of up to sixteen
// bytes is copied as sixteen, without a call, if both dst and src are long enough.
func put(dst []byte, at int64, src []byte, lo, n int64) {
	if n <= 16 && at+16 <= int64(len(dst)) && lo+16 <= int64(len(src)) {
		*(*[16]byte)(dst[at:]) = *(*[16]byte)(src[lo:])
		return
	}
	copy(dst[at:at+n], src[lo:lo+n])
}
