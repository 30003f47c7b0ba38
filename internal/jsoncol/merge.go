package jsoncol

import "unsafe"

// A target is the destination of rows [lo, hi) of a node.
type target struct {
	lo, hi  int
	ints    []int64
	floats  []float64
	bools   []bool
	narrow  narrow
	offsets []int64
	base    int64 // added to the node's offsets
	bytes   []byte
	valid   []bool
	tags    []int8
	alt     []int64 // union: added to the index, by alternative
	taken   bool    // the column has taken over the node's elements
}

// taken makes an empty column take over the memory of a node's elements if they are more
// than the records of an ordinary chunk hold, so that the contents of one huge record are
// not held twice.
func taken[T any](m *merger, column, node *[]T, rows int) bool {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if len(*column) > 0 || rows*size < m.huge || (cap(*node)-rows)*size < slack || cap(*node) > 4*rows {
		return false
	}
	*column, *node = (*node)[:rows], nil
	return true
}

// reserve makes room in k for rows [lo, hi) of n and records their destination.
func (m *merger) reserve(k *sink, n *node, lo, hi int) {
	rows := hi - lo
	at := k.n
	to := &n.to
	to.lo, to.hi, to.taken = lo, hi, false
	all := lo == 0 && hi == n.n
	k.n += rows
	if k.valid == nil && n.hasInvalid(lo, hi) {
		k.valid = extend(m, k.valid, at)
		for i := range k.valid {
			k.valid[i] = true
		}
	}
	to.valid = nil
	if k.valid != nil {
		k.valid = extend(m, k.valid, rows)
		to.valid = k.valid[at:]
	}
	switch n.op {
	case opBool:
		k.bools = extend(m, k.bools, rows)
		to.bools = k.bools[at:]
	case opInt, opUint:
		if k.narrow != nil {
			k.narrow.grow(m, rows)
			to.narrow = k.narrow.target(at)
			break
		}
		if to.taken = all && taken(m, &k.ints, &n.ints, rows); to.taken {
			break
		}
		k.ints = extend(m, k.ints, rows)
		to.ints = k.ints[at:]
	case opFloat, opNarrow:
		if k.narrow != nil {
			k.narrow.grow(m, rows)
			to.narrow = k.narrow.target(at)
			break
		}
		if to.taken = all && taken(m, &k.floats, &n.floats, rows); to.taken {
			break
		}
		k.floats = extend(m, k.floats, rows)
		to.floats = k.floats[at:]
	case opString, opText:
		from, end := endOf(n.ends, lo), endOf(n.ends, hi)
		used := len(k.bytes)
		if to.taken = all && taken(m, &k.bytes, &n.bytes, int(end)); !to.taken {
			k.bytes = extend(m, k.bytes, int(end-from))
			to.bytes = k.bytes[used:]
		}
		k.offsets = extend(m, k.offsets, rows)
		to.offsets = k.offsets[at+1:]
		to.base = int64(used) - from
	case opList, opMap:
		from, end := endOf(n.ends, lo), endOf(n.ends, hi)
		k.offsets = extend(m, k.offsets, rows)
		to.offsets = k.offsets[at+1:]
		to.base = int64(k.elem.n) - from
		m.reserve(k.elem, n.elem, int(from), int(end))
	case opStruct:
		for i, f := range k.fields {
			m.reserve(f, n.fields[i].node, lo, hi)
		}
	case opUnion:
		k.tags = extend(m, k.tags, rows)
		to.tags = k.tags[at:]
		k.ints = extend(m, k.ints, rows)
		to.ints = k.ints[at:]
		to.alt = to.alt[:0]
		for i, f := range k.fields {
			from, end := n.alternativeRows(int8(i), lo, hi)
			to.alt = append(to.alt, int64(f.n-from))
			m.reserve(f, n.fields[i].node, from, end)
		}
	}
}

// hasInvalid reports whether any of the rows [lo, hi) is missing.
func (n *node) hasInvalid(lo, hi int) bool {
	for i := lo; i < min(hi, len(n.valid)); i++ {
		if !n.valid[i] {
			return true
		}
	}
	return false
}

// alternativeRows returns the range of rows of alternative tag that belong to rows [lo, hi) of
// union n.
func (n *node) alternativeRows(tag int8, lo, hi int) (from, end int) {
	found := false
	for r := lo; r < hi; r++ {
		if n.tags[r] == tag {
			if !found {
				from, found = int(n.ints[r]), true
			}
			end = int(n.ints[r]) + 1
		}
	}
	return from, end
}

// copyOut copies the rows of n to the destinations that reserve found.
func (n *node) copyOut() {
	to := &n.to
	lo, hi := to.lo, to.hi
	if to.valid != nil {
		known := min(max(len(n.valid), lo), hi)
		if known > lo {
			copy(to.valid, n.valid[lo:known])
		}
		rest := to.valid[known-lo : hi-lo]
		for i := range rest {
			rest[i] = true
		}
	}
	switch n.op {
	case opBool:
		copy(to.bools, n.bools[lo:hi])
	case opInt, opUint:
		if to.narrow != nil {
			to.narrow.copyInts(n.ints[lo:hi])
			break
		}
		if !to.taken {
			copy(to.ints, n.ints[lo:hi])
		}
	case opFloat, opNarrow:
		if to.narrow != nil {
			to.narrow.copyFloats(n.floats[lo:hi])
			break
		}
		if !to.taken {
			copy(to.floats, n.floats[lo:hi])
		}
	case opString, opText:
		if !to.taken {
			copy(to.bytes, n.bytes[endOf(n.ends, lo):endOf(n.ends, hi)])
		}
		shift(to.offsets, n.ends[lo:hi], to.base)
	case opList, opMap:
		shift(to.offsets, n.ends[lo:hi], to.base)
		n.elem.copyOut()
	case opStruct:
		for i := range n.fields {
			n.fields[i].node.copyOut()
		}
	case opUnion:
		copy(to.tags, n.tags[lo:hi])
		for i, tag := range n.tags[lo:hi] {
			to.ints[i] = 0
			if tag >= 0 {
				to.ints[i] = n.ints[lo+i] + to.alt[tag]
			}
		}
		for i := range n.fields {
			n.fields[i].node.copyOut()
		}
	}
}

// shift stores src[i]+base in dst.
func shift(dst, src []int64, base int64) {
	dst = dst[:len(src)]
	for len(src) >= 4 && len(dst) >= 4 {
		dst[0] = src[0] + base
		dst[1] = src[1] + base
		dst[2] = src[2] + base
		dst[3] = src[3] + base
		dst, src = dst[4:], src[4:]
	}
	for i, v := range src {
		dst[i] = v + base
	}
}
