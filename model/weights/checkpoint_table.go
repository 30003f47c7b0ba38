package weights

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/snappy"
)

// The index of a checkpoint is a table in LevelDB's format: blocks of sorted keys, without the
// prefix that a key shares with the one before, an index of blocks, and a footer.

const (
	tableFooter = 48
	tableMagic  = 0xdb4775248b80fb57
	maxBlock    = 1 << 28 // bytes of a decompressed block
)

// readTable calls f for each key and value in order.
func readTable(s section, f func(key, value []byte) error) error {
	if s.n < tableFooter {
		return invalid("%d bytes are too short for a table", s.n)
	}
	b, err := s.bytes()
	if err != nil {
		return err
	}
	footer := b[s.n-tableFooter:]
	if magic := binary.LittleEndian.Uint64(footer[40:]); magic != tableMagic {
		return invalid("it does not end like a table, but with %#x", magic)
	}
	_, _, rest, err := handle(footer[:40]) // of the meta index, which is empty
	if err != nil {
		return err
	}
	index, err := block(b, rest)
	if err != nil {
		return err
	}
	return eachEntry(index, func(_, value []byte) error {
		data, err := block(b, value)
		if err != nil {
			return err
		}
		return eachEntry(data, f)
	})
}

// handle decodes the offset and size of a block.
func handle(b []byte) (at, n uint64, rest []byte, err error) {
	at, i := binary.Uvarint(b)
	if i <= 0 {
		return 0, 0, nil, invalid("the location of a block is invalid")
	}
	n, j := binary.Uvarint(b[i:])
	if j <= 0 {
		return 0, 0, nil, invalid("the location of a block is invalid")
	}
	return at, n, b[i+j:], nil
}

// block returns the contents of the block to which a handle refers.
func block(b, place []byte) ([]byte, error) {
	at, n, _, err := handle(place)
	if err != nil {
		return nil, err
	}
	const trailer = 5 // its compression, and a checksum
	size := uint64(len(b))
	if at > size || n > size-at || size-at-n < trailer {
		return nil, invalid("a block of %d bytes at offset %d does not fit %d bytes", n, at, size)
	}
	data := b[at : at+n]
	if crc := masked(crc32.Checksum(b[at:at+n+1], castagnoli)); crc != binary.LittleEndian.Uint32(b[at+n+1:]) {
		return nil, invalid("the block at %d does not match its checksum", at)
	}
	switch kind := b[at+n]; kind {
	case 0:
		return data, nil
	case 1:
		if l, err := snappy.DecodedLen(data); err != nil || l > maxBlock || l > 64*(len(data)+1) {
			return nil, invalid("the block at %d cannot be decompressed", at)
		}
		out, err := snappy.Decode(nil, data)
		if err != nil {
			return nil, invalid("the block at %d cannot be decompressed: %v", at, err)
		}
		return out, nil
	default:
		return nil, invalid("a block is compressed by an unknown method %d", kind)
	}
}

// eachEntry calls f for each entry of a block.
func eachEntry(b []byte, f func(key, value []byte) error) error {
	wrong := func() error { return invalid("a block of the table is damaged") }
	if len(b) < 4 {
		return wrong()
	}
	restarts := binary.LittleEndian.Uint32(b[len(b)-4:])
	if uint64(restarts) > uint64(len(b)-4)/4 {
		return wrong()
	}
	b = b[:len(b)-4-4*int(restarts)]
	var key []byte
	for len(b) > 0 {
		var parts [3]uint64 // number of bytes shared with the key before, of other bytes, and of bytes of the value
		for i := range parts {
			x, n := binary.Uvarint(b)
			if n <= 0 {
				return wrong()
			}
			parts[i], b = x, b[n:]
		}
		shared, more, value := parts[0], parts[1], parts[2]
		if shared > uint64(len(key)) || more > uint64(len(b)) || value > uint64(len(b))-more {
			return wrong()
		}
		key = append(key[:shared:shared], b[:more]...)
		if err := f(key, b[more:more+value]); err != nil {
			return err
		}
		b = b[more+value:]
	}
	return nil
}

// sliceKey returns the key of a slice of a tensor (saved_tensor_slice_util.cc): zero, the name,
// the number of axes, and the start and length along each, in an order-preserving encoding.
func sliceKey(name string, s []extent) string {
	b := appendCount(nil, 0)
	b = appendText(b, name)
	b = appendCount(b, uint64(len(s)))
	for _, x := range s {
		b = appendSigned(b, int64(x.start))
		b = appendSigned(b, int64(x.length))
	}
	return string(b)
}

// appendCount appends the number of bytes of n, and these bytes in big-endian order.
func appendCount(b []byte, n uint64) []byte {
	var full [8]byte
	binary.BigEndian.PutUint64(full[:], n)
	i := 0
	for i < 8 && full[i] == 0 {
		i++
	}
	return append(append(b, byte(8-i)), full[i:]...)
}

// appendText appends a string with 0 and 255 escaped, and a terminator.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case 0:
			b = append(b, 0, 0xff)
		case 0xff:
			b = append(b, 0xff, 0)
		default:
			b = append(b, c)
		}
	}
	return append(b, 0, 1)
}

// appendSigned appends a number with seven bits in each byte, as many as it needs; the leading
// bits give their number, and are inverted for negative numbers.
func appendSigned(b []byte, x int64) []byte {
	y := x
	if x < 0 {
		y = ^x
	}
	n := 1
	for n < 10 && y>>(7*n-1) != 0 {
		n++
	}
	var full [10]byte
	if x < 0 {
		full[0], full[1] = 0xff, 0xff
	}
	binary.BigEndian.PutUint64(full[2:], uint64(x))
	out := full[10-n:]
	first := uint16(0xffff) << (16 - n) // n leading ones
	out[0] ^= byte(first >> 8)
	if n > 1 {
		out[1] ^= byte(first)
	}
	return append(b, out...)
}
