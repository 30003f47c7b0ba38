package parquetio

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"
)

// A dictionary holds the values that indices in data pages refer to.
type dictionary struct {
	there bool
	n     int
	fixed []byte
	long  []uint64 // fixed as 8-byte words
	short []uint32 // fixed as 4-byte words
	ends  []uint32 // ends of byte arrays in text, which is followed by slack
	text  []byte
}

// dictionary reads the dictionary of a chunk, whose values have plain encoding.
func (c *column) dictionary(r *reading, g *page) error {
	if c.dict.there || g.encoding != encPlain && g.encoding != encPlainDict {
		return fmt.Errorf("unsupported dictionary encoding %d", g.encoding)
	}
	b := g.values
	if c.size == 0 && c.ends == nil || c.size > 0 && g.n > len(b)/c.size || c.ends != nil && g.n > len(b)/4 {
		return fmt.Errorf("a dictionary of %d entries in %d bytes", g.n, len(b))
	}
	d := dictionary{there: true, n: g.n}
	switch {
	case c.ends != nil:
		if err := r.take(int64(len(b)) + 4*int64(g.n)); err != nil {
			return err
		}
		d.ends, d.text = make([]uint32, 1, g.n+1), make([]byte, 0, len(b)+slack)
		for i := range g.n {
			if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
				return fmt.Errorf("the dictionary ends in entry %d of %d", i, g.n)
			}
			end := 4 + int(binary.LittleEndian.Uint32(b))
			d.text = append(d.text, b[4:end]...)
			d.ends = append(d.ends, uint32(len(d.text)))
			b = b[end:]
		}
	case c.size == 8:
		d.long = wordsIn[uint64](b, g.n)
	case c.size == 4:
		d.short = wordsIn[uint32](b, g.n)
	default:
		d.fixed = slices.Clone(b[:g.n*c.size])
	}
	c.dict = d
	return nil
}

// wordsIn returns the first n words of a page, valid as long as its chunk is being read. It does not copy if they are
// aligned.
func wordsIn[T uint32 | uint64](b []byte, n int) []T {
	if n == 0 {
		return []T{}
	}
	if p := unsafe.Pointer(&b[0]); uintptr(p)%unsafe.Sizeof(T(0)) == 0 {
		return unsafe.Slice((*T)(p), n)
	}
	out := make([]T, n)
	copy(asBytes(out), b)
	return out
}

// values adds the values of a page, as many as its levels indicate.
func (c *column) values(r *reading, g *page, have int) error {
	if have == 0 {
		return nil // without values, the encoding does not matter
	}
	b := g.values
	switch {
	case g.encoding == encDict || g.encoding == encPlainDict:
		return c.looked(r, b, have)
	case c.typ == typeBoolean:
		return c.truths(g, have)
	case c.ends != nil:
		return c.strings(r, g, have)
	}
	size := have * c.size
	switch {
	case g.encoding == encPlain:
		if len(b) < size {
			return errValues
		}
		return c.keep(b[:size])
	case g.encoding == encDelta && c.number:
		list, _, err := deltas(b, g.n)
		if err != nil || len(list) < have {
			return errDelta
		}
		c.fixed = slices.Grow(c.fixed, size)
		for _, x := range list[:have] {
			if c.size == 4 {
				c.fixed = binary.LittleEndian.AppendUint32(c.fixed, uint32(x))
			} else {
				c.fixed = binary.LittleEndian.AppendUint64(c.fixed, uint64(x))
			}
		}
		return nil
	case g.encoding == encDeltaBytes && c.typ == typeFixed:
		return prefixed(b, g.n, have, func(last, rest []byte) error {
			if len(last)+len(rest) != c.size {
				return errDelta
			}
			c.fixed = append(append(c.fixed, last...), rest...)
			return nil
		}, func() []byte { return c.fixed[len(c.fixed)-c.size:] })
	case g.encoding == encSplit && c.typ != typeInt96:
		if len(b) < size || len(b)%c.size != 0 {
			return errValues
		}
		at, n := len(c.fixed), len(b)/c.size
		c.fixed = slices.Grow(c.fixed, size)[:at+size]
		for k := range c.size {
			to := c.fixed[at+k:]
			for i, x := range b[k*n : k*n+have] {
				to[i*c.size] = x
			}
		}
		return nil
	}
	return fmt.Errorf("values of %v in encoding %d are not supported", c.typ, g.encoding)
}

// keep adds values of fixed width.
func (c *column) keep(b []byte) error {
	if c.typ == typeInt96 {
		return c.int96(b)
	}
	c.fixed = append(c.fixed, b...)
	return nil
}

// truths adds booleans.
func (c *column) truths(g *page, have int) error {
	b := g.values
	c.bits = slices.Grow(c.bits, have+8)
	switch g.encoding {
	case encPlain:
		if len(b) < (have+7)/8 {
			return errValues
		}
		at := len(c.bits)
		c.bits = c.bits[:at+(have+7)/8*8]
		unpackBytes(c.bits[at:], b, 1)
		c.bits = c.bits[:at+have]
		return nil
	case encRLE:
		if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
			return errValues
		}
		var err error
		c.bits, err = hybrid(c.bits, b[4:4+binary.LittleEndian.Uint32(b)], have, 1, unpackBytes)
		return err
	}
	return fmt.Errorf("booleans in encoding %d are not supported", g.encoding)
}

// looked adds values that are dictionary indices, some at a time.
func (c *column) looked(r *reading, b []byte, have int) error {
	if !c.dict.there {
		return fmt.Errorf("there is no dictionary")
	}
	if len(b) == 0 || b[0] > 32 {
		return errValues
	}
	at := len(c.fixed)
	if c.typ != typeInt96 && c.ends == nil {
		c.fixed = room(c.fixed, have*c.size)
	}
	const some = 2048 // fit into the first-level cache
	if c.indexes == nil {
		c.indexes = make([]uint32, some+8)
	}
	runs := runReader[uint32]{b: b[1:], width: int(b[0]), unpack: unpackNumbers}
	for have > 0 {
		n, err := runs.read(c.indexes[:min(have, some)])
		if err != nil {
			return err
		}
		list := c.indexes[:n]
		if c.ends != nil {
			err = c.lookedStrings(r, list)
		} else {
			err = c.lookedFixed(at, list)
		}
		if err != nil {
			return err
		}
		have, at = have-n, at+n*c.size
	}
	return nil
}

// beyond returns the error for an index outside of the dictionary.
func (d *dictionary) beyond(list []uint32) error {
	return fmt.Errorf("index %d in a dictionary of %d", slices.Max(list), d.n)
}

// lookedFixed sets values of fixed width, from byte at on, to the dictionary entries.
func (c *column) lookedFixed(at int, list []uint32) error {
	d := &c.dict
	switch {
	case d.n == 0:
		return d.beyond(list)
	case d.long != nil:
		return gather(c.fixed[at:], d.long, list, d)
	case d.short != nil:
		return gather(c.fixed[at:], d.short, list, d)
	}
	for i, k := range list {
		if int64(k) >= int64(d.n) {
			return d.beyond(list)
		}
		x := d.fixed[int(k)*c.size : (int(k)+1)*c.size]
		if c.typ != typeInt96 {
			copy(c.fixed[at+i*c.size:], x)
		} else if err := c.int96(x); err != nil {
			return err
		}
	}
	return nil
}

// gather sets values to the dictionary entries of the given indices.
func gather[T uint32 | uint64](b []byte, words []T, list []uint32, d *dictionary) error {
	to := unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(list))[:len(list)]
	for i, k := range list {
		if uint(k) >= uint(len(words)) {
			return d.beyond(list)
		}
		to[i] = words[k]
	}
	return nil
}

// room returns bytes with room for n more.
func room(b []byte, n int) []byte {
	if cap(b) == 0 {
		b = make([]byte, 0, max(n, 16)) // aligned
	}
	return slices.Grow(b, n)[:len(b)+n]
}

// lookedStrings adds byte arrays from the dictionary.
func (c *column) lookedStrings(r *reading, list []uint32) error {
	d, size := &c.dict, int64(0)
	for _, k := range list {
		if int64(k) >= int64(d.n) {
			return d.beyond(list)
		}
		size += int64(d.ends[k+1] - d.ends[k])
	}
	if err := r.take(size); err != nil {
		return err
	}
	at := len(c.text)
	c.textRoom(int(size)+slack, len(list))
	to, text := c.text[:at+int(size)+slack], d.text[:cap(d.text)]
	ends := slices.Grow(c.ends, len(list))
	for _, k := range list {
		from, n := int(d.ends[k]), int(d.ends[k+1]-d.ends[k])
		if n <= 16 { // copy two words; later values overwrite the excess
			x, y := text[from:from+16:from+16], to[at:at+16:at+16]
			binary.LittleEndian.PutUint64(y, binary.LittleEndian.Uint64(x))
			binary.LittleEndian.PutUint64(y[8:], binary.LittleEndian.Uint64(x[8:]))
		} else {
			copy(to[at:], text[from:from+n])
		}
		at += n
		ends = append(ends, int64(at))
	}
	c.text, c.ends = to[:at], ends
	return nil
}

// strings adds byte arrays that are not dictionary indices.
func (c *column) strings(r *reading, g *page, have int) error {
	b := g.values
	switch g.encoding {
	case encPlain:
		at := len(c.text)
		c.textRoom(len(b)+slack, have)
		to, ends := c.text[:cap(c.text)], slices.Grow(c.ends, have)
		for range have {
			if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
				return errValues
			}
			n := int(binary.LittleEndian.Uint32(b))
			if n <= 16 && len(b) >= 20 {
				y := to[at : at+16 : at+16]
				binary.LittleEndian.PutUint64(y, binary.LittleEndian.Uint64(b[4:]))
				binary.LittleEndian.PutUint64(y[8:], binary.LittleEndian.Uint64(b[12:]))
			} else {
				copy(to[at:], b[4:4+n])
			}
			at += n
			b = b[4+n:]
			ends = append(ends, int64(at))
		}
		c.text, c.ends = to[:at], ends
		return nil
	case encDeltaLength:
		lengths, b, err := deltas(b, g.n)
		if err != nil || len(lengths) < have {
			return errDelta
		}
		size := 0
		for _, n := range lengths[:have] {
			if n < 0 || n > int64(len(b)-size) {
				return errDelta
			}
			size += int(n)
			c.ends = append(c.ends, int64(len(c.text)+size))
		}
		c.text = append(c.text, b[:size]...)
		return nil
	case encDeltaBytes:
		return prefixed(b, g.n, have, func(last, rest []byte) error {
			if err := r.take(int64(len(last) + len(rest))); err != nil {
				return err
			}
			c.text = append(append(c.text, last...), rest...)
			c.ends = append(c.ends, int64(len(c.text)))
			return nil
		}, func() []byte { k := len(c.ends); return c.text[c.ends[k-2]:c.ends[k-1]] })
	}
	return fmt.Errorf("strings in encoding %d are not supported", g.encoding)
}

// prefixed decodes DELTA_BYTE_ARRAY: it calls add, for each value, with the prefix that it shares with the preceding
// value, which last returns, and with its suffix.
func prefixed(b []byte, most, have int, add func(prefix, rest []byte) error, last func() []byte) error {
	prefixes, b, err := deltas(b, most)
	if err != nil {
		return err
	}
	lengths, b, err := deltas(b, most)
	if err != nil || len(lengths) != len(prefixes) || len(lengths) < have {
		return errDelta
	}
	for i, k := range prefixes[:have] {
		var before []byte
		if i > 0 {
			before = last()
		}
		n := lengths[i]
		if k < 0 || k > int64(len(before)) || n < 0 || n > int64(len(b)) {
			return errDelta
		}
		if err := add(before[:k], b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
