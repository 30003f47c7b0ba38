package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon/internal/arena"
)

// A column holds what has been read of a column, from one or several row groups.
type column struct {
	stream
	typ    physical
	size   int    // size of a value in bytes, 0 for byte arrays and booleans
	count  int    // number of values that are not missing
	fixed  []byte // values of fixed width
	width  int
	number bool    // values are little-endian integers
	ends   []int64 // ends of other values
	text   []byte
	bits   []uint8
	hoped  int64 // expected number of entries
	likely int64 // number of bytes that may be reserved in advance

	dict    dictionary
	indexes []uint32 // some of the dictionary indices of a page
}

func newColumn(e *schemaElement) (*column, error) {
	c := &column{typ: e.typ, stream: stream{maxDef: e.maxDef, maxRep: e.maxRep}}
	switch c.typ {
	case typeBoolean:
	case typeInt32:
		c.size, c.number = 4, true
	case typeInt64:
		c.size, c.number = 8, true
	case typeFloat:
		c.size = 4
	case typeDouble:
		c.size = 8
	case typeInt96:
		c.size = 12
	case typeByteArray:
		c.ends = []int64{0}
	case typeFixed:
		if c.size = e.length; c.size <= 0 {
			return nil, fmt.Errorf("unsupported values of %d bytes", c.size)
		}
	default:
		return nil, fmt.Errorf("unsupported column type %v", c.typ)
	}
	if c.width = c.size; c.size == 12 && c.typ == typeInt96 {
		c.width = 8
	}
	return c, nil
}

// expect makes room for the number of entries that a file states, as far as its size makes that number
// plausible.
func (c *column) expect(entries, size int64) {
	entries = min(entries, 1<<16+32*size)
	c.hoped, c.likely = entries, 1<<20+32*size
	if c.maxDef > 0 {
		c.defs = c.lend(int(entries) + 8)
	}
	if c.maxRep > 0 {
		c.reps = c.lend(int(entries) + 8)
	}
	switch {
	case c.ends != nil:
		c.ends = append(uninitialised[int64](int(entries)+1), 0)
	case c.width > 0:
		c.fixed = uninitialised[uint8](int(max(min(entries*int64(c.width), c.likely), 16)))
	}
}

// textRoom makes room for n bytes of further texts, and for those that are likely to follow.
func (c *column) textRoom(n, texts int) {
	if cap(c.text)-len(c.text) >= n {
		return
	}
	all := len(c.text) + n
	most := max(8*float64(all), float64(c.likely))
	hoped := float64(all) * 1.05 * float64(max(c.hoped, 1)) / float64(max(c.count+texts, 1))
	c.text = append(uninitialised[uint8](int(min(max(hoped, 1.25*float64(all)), most))+slack), c.text...)
}

// uninitialised returns uncleared, garbage-collected memory for data to be read.
func uninitialised[T arena.Element](n int) []T {
	_, out := arena.Lend[T](n)
	return out[:0]
}

// lend returns memory for levels, which are needed until arrays have been built.
func (s *stream) lend(n int) []uint8 {
	b, out := arena.Lend[uint8](n)
	s.lent = append(s.lent, b)
	return out[:0]
}

// release returns the memory of the levels to the pool.
func (s *stream) release() {
	for _, b := range s.lent {
		b.Release()
	}
	*s = stream{}
}

// load reads pages with the given number of rows and, if they are a complete chunk, with the number of entries
// stated in the footer.
func (c *column) load(r *reading, p *pages, rows int64) error {
	n, starts, entries := c.n, int64(0), p.left
	c.dict = dictionary{}
	for {
		if err := r.proceed(); err != nil {
			return err
		}
		g, err := p.next()
		if err != nil {
			return err
		}
		if g == nil {
			break
		}
		if g.kind == pageDict {
			if err := c.dictionary(r, g); err != nil {
				return err
			}
			continue
		}
		first := c.n
		if err := c.page(r, g); err != nil {
			return fmt.Errorf("page %d: %w", p.count-1, err)
		}
		if c.maxRep == 0 {
			starts += int64(g.n)
		} else {
			if first == n && c.n > n && c.reps[n] != 0 {
				return fmt.Errorf("the first repetition level is %d instead of 0", c.reps[n])
			}
			starts += int64(c.n - first - above(c.reps[first:c.n], 0))
		}
		if len(p.ends) > 0 {
			if starts != p.ends[0] || c.maxRep > 0 && c.n > first && c.reps[first] != 0 {
				return fmt.Errorf("the rows of page %d differ from those in the page index", p.count-1)
			}
			p.ends = p.ends[1:]
		}
		if starts > rows {
			return fmt.Errorf("there are more rows than the %d of the row group", rows)
		}
	}
	if entries != everything && int64(c.n-n) != entries {
		return fmt.Errorf("there are %d values instead of the %d of the column chunk", c.n-n, entries)
	}
	if starts != rows {
		return fmt.Errorf("there are %d rows instead of the %d of the row group", starts, rows)
	}
	return nil
}

// page adds the entries of a data page.
func (c *column) page(r *reading, g *page) (err error) {
	if err := r.take(int64(g.n)*2 + int64(len(g.values))); err != nil {
		return err
	}
	have := g.n
	if c.maxRep > 0 {
		if c.reps, err = levels(c.reps, g.reps, g.n, c.maxRep); err != nil {
			return err
		}
	}
	if c.maxDef > 0 {
		if c.defs, err = levels(c.defs, g.defs, g.n, c.maxDef); err != nil {
			return err
		}
		have = above(c.defs[c.n:], c.maxDef-1)
	}
	if err := r.take(int64(have) * 16); err != nil {
		return err
	}
	if err := c.values(r, g, have); err != nil {
		return err
	}
	c.n += g.n
	c.count += have
	return nil
}

// levels appends the n levels of a page, which must be at most most.
func levels(to []uint8, b []byte, n int, most uint8) ([]uint8, error) {
	at := len(to)
	to, err := hybrid(to, b, n, bits.Len8(most), unpackBytes)
	if err != nil {
		return nil, errLevels
	}
	if most&(most+1) != 0 && above(to[at:], most) > 0 {
		return nil, fmt.Errorf("a level exceeds %d", most)
	}
	return to, nil
}

// int96 adds INT96 timestamps as nanoseconds since 1970.
func (c *column) int96(b []byte) error {
	const epoch, perDay = 2440588, 86400 * 1_000_000_000
	for ; len(b) >= 12; b = b[12:] {
		nanos, day := int64(binary.LittleEndian.Uint64(b)), int64(int32(binary.LittleEndian.Uint32(b[8:])))
		high, low := bits.Mul64(uint64(max(day-epoch, epoch-day)), perDay)
		if day < epoch { // 128-bit two's complement
			var borrow uint64
			low, borrow = bits.Sub64(0, low, 0)
			high, _ = bits.Sub64(0, high, borrow)
		}
		low, carry := bits.Add64(low, uint64(nanos), 0)
		high, _ = bits.Add64(high, uint64(nanos>>63), carry)
		if int64(high) != int64(low)>>63 {
			return fmt.Errorf("the timestamp on day %d cannot be represented in nanoseconds since 1970", day)
		}
		c.fixed = binary.LittleEndian.AppendUint64(c.fixed, low)
	}
	return nil
}

// data returns the values of a column as an array of a type, with an element for each slot: at says which slots have
// values; nil means all.
func (c *column) data(typ arrow.DataType, slots int, at bitset) (arrow.ArrayData, error) {
	have := slots
	if at != nil {
		have = at.count()
	}
	if have != c.count {
		return nil, fmt.Errorf("there are %d values, but the levels have %d", c.count, have)
	}
	if c.ends != nil {
		return c.texts(typ, slots, at)
	}
	width := c.width
	switch t := typ.(type) {
	case *arrow.BooleanType:
		packed := make([]byte, (slots+7)/8)
		for i, x := range spread(c.bits, 1, slots, at) {
			packed[i>>3] |= x << (i & 7)
		}
		return array.NewData(typ, slots, []*memory.Buffer{nil, memory.NewBufferBytes(packed)}, nil, 0, 0), nil
	case arrow.DecimalType:
		width = t.(arrow.FixedWidthDataType).BitWidth() / 8
		c.fixed = extended(c.fixed, c.width, width, c.count, !c.number)
	case *arrow.MonthDayNanoIntervalType:
		width = 16
		c.fixed = intervals(c.fixed)
	case arrow.FixedWidthDataType:
		if w := t.BitWidth() / 8; w < width { // narrow integers
			narrow := make([]byte, c.count*w)
			for i := range c.count {
				copy(narrow[i*w:(i+1)*w], c.fixed[i*width:])
			}
			c.fixed, width = narrow, w
		}
	}
	return array.NewData(typ, slots, []*memory.Buffer{nil, memory.NewBufferBytes(spread(c.fixed, width, slots, at))}, nil, 0, 0), nil
}

// texts returns byte arrays, either unchanged or, for decimals, as numbers.
func (c *column) texts(typ arrow.DataType, slots int, at bitset) (arrow.ArrayData, error) {
	if t, ok := typ.(arrow.DecimalType); ok {
		width := t.(arrow.FixedWidthDataType).BitWidth() / 8
		out := make([]byte, 0, c.count*width)
		for i := range c.count {
			b := c.text[c.ends[i]:c.ends[i+1]]
			if len(b) > width {
				return nil, fmt.Errorf("unsupported decimal of %d bytes", len(b))
			}
			out = append(out, extended(b, len(b), width, 1, true)...)
		}
		return array.NewData(typ, slots, []*memory.Buffer{nil, memory.NewBufferBytes(spread(out, width, slots, at))}, nil, 0, 0), nil
	}
	ends := c.ends
	if at != nil { // in place, as values of fixed width are spread
		ends = slices.Grow(ends, max(slots+1-len(ends), 0))[:slots+1]
		k := c.count
		for i := slots - 1; i >= 0; i-- {
			ends[i+1] = ends[k]
			k -= int(at[i>>6] >> (i & 63) & 1)
		}
	}
	return array.NewData(typ, slots, []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(ends)), memory.NewBufferBytes(c.text)}, nil, 0, 0), nil
}

// spread moves values of a given width to their slots: at says which slots have values; nil means all. It begins with
// the last value, so that it can work in place if the capacity suffices.
func spread(b []byte, width, slots int, at bitset) []byte {
	if at == nil {
		return b
	}
	out := b[:cap(b)]
	if len(out) < slots*width {
		out = uninitialised[uint8](max(slots*width, 16))[:slots*width]
	}
	out = out[:slots*width]
	k := len(b) / max(width, 1)
	for w := len(at) - 1; w >= 0; w-- {
		m := at[w]
		n := min(64, slots-64*w)
		if m == ^uint64(0)>>(64-n) {
			k -= n
			copy(out[64*w*width:(64*w+n)*width], b[k*width:(k+n)*width])
			continue
		}
		switch width {
		case 8:
			k = spreadWord[uint64](out[512*w:], b, m, n, k)
		case 4:
			k = spreadWord[uint32](out[256*w:], b, m, n, k)
		case 2:
			k = spreadWord[uint16](out[128*w:], b, m, n, k)
		case 1:
			k = spreadWord[uint8](out[64*w:], b, m, n, k)
		default:
			for i := n - 1; i >= 0; i-- {
				to := 64*w + i
				if m>>i&1 == 0 {
					clear(out[to*width : (to+1)*width])
					continue
				}
				k--
				copy(out[to*width:(to+1)*width], b[k*width:])
			}
		}
	}
	return out
}

// spreadWord moves the last of k values to the places given by the lowest n bits of a word, with zeros in between,
// and returns the number of values left.
func spreadWord[T uint8 | uint16 | uint32 | uint64](to, from []byte, m uint64, n, k int) int {
	size := int(unsafe.Sizeof(T(0)))
	if len(from) == 0 {
		clear(to[:n*size])
		return k
	}
	x := unsafe.Slice((*T)(unsafe.Pointer(&from[0])), len(from)/size)
	y := unsafe.Slice((*T)(unsafe.Pointer(&to[0])), len(to)/size)[:n]
	for i := n - 1; i >= 0; i-- { // without branches, which would be unpredictable
		bit := int(m >> (i & 63) & 1)
		k -= bit
		y[i] = x[min(k, len(x)-1)] & -T(bit)
	}
	return k
}

// extended sign-extends n two's complement numbers to more bytes each and returns them in
// little-endian order; big says that the given numbers are big-endian.
func extended(b []byte, from, to, n int, big bool) []byte {
	out := make([]byte, n*to)
	for i := range n {
		x, y := b[i*from:(i+1)*from], out[i*to:(i+1)*to]
		for k := range from {
			if big {
				y[k] = x[from-1-k]
			} else {
				y[k] = x[k]
			}
		}
		if from > 0 && y[from-1]&0x80 != 0 {
			for k := from; k < to; k++ {
				y[k] = 0xff
			}
		}
	}
	return out
}

// intervals converts months, days and milliseconds to months, days and nanoseconds.
func intervals(b []byte) []byte {
	out := make([]byte, 0, len(b)/12*16)
	for ; len(b) >= 12; b = b[12:] {
		out = append(out, b[:8]...)
		out = binary.LittleEndian.AppendUint64(out, uint64(binary.LittleEndian.Uint32(b[8:]))*1_000_000)
	}
	return out
}

var errValues = errors.New("the values of a page end early")
