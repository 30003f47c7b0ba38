package parquetio

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"

	"github.com/tenonml/tenon"
)

// A chunk is a column chunk being written, together with its data for the footer and the page index. Offsets are
// relative to its beginning.
type chunk struct {
	c         *slot
	codec     codec
	pageBytes int
	secret    *secret // nil if it is not encrypted

	b       []byte
	packed  []byte // compressed body of a page
	levels  []byte // its levels
	plain   []byte // its values
	sealed  []byte // the encrypted page
	entries int
	rows    int
	full    int // size of the pages before compression
	dict    bool
	first   int // position of the first data page
	nulls   int
	bounds  bounds
	pages   []written
}

// written describes a data page that has been written.
type written struct {
	at, size, row int
	values, nulls int
	bounds        bounds
}

const (
	defaultPage = 1 << 20 // size of a page
	pageRows    = 20_000  // approximate maximum number of rows of a page, because conditions skip whole pages
)

// fill writes a leaf of the given number of rows.
func (k *chunk) fill(s *shred, rows int) {
	k.b, k.full, k.nulls, k.bounds, k.pages, k.first = k.b[:0], 0, 0, bounds{}, k.pages[:0], 0
	k.entries, k.rows = s.n, rows
	v := s.values(k.c)
	d := wordsOf(v)
	var seen []uint32
	if k.dict = d != nil; k.dict {
		k.dictionary(d)
		if d.ends != nil { // for numbers, comparing is as fast as a look-up
			seen = make([]uint32, d.n)
		}
	}
	k.first = len(k.b)
	step := k.step(s, v, d, rows)
	value, row := 0, 0
	for from := 0; from < s.n || len(k.pages) == 0; { // write one page even if there are no rows
		end, count := s.cut(from, step)
		for k.c.typ == typeByteArray && d == nil && end-from > 1 && v.ends[value+count]-v.ends[value] > int64(2*k.pageBytes) {
			shorter, n := s.cut(from, (end-from)/2)
			if shorter == end {
				break
			}
			end, count = shorter, n
		}
		p := written{at: len(k.b), row: row, values: count, nulls: end - from - count}
		b := bounds{}
		if seen != nil {
			b = k.c.boundsOfWords(d, d.numbers[value:value+count], seen, uint32(len(k.pages)+1))
		} else {
			b = k.c.boundsOf(v, value, value+count)
		}
		k.page(s, v, d, from, end, value, count)
		p.size, p.bounds = len(k.b)-p.at, b.kept()
		k.pages = append(k.pages, p)
		k.nulls += p.nulls
		k.bounds = k.c.join(k.bounds, b)
		row += s.rowsIn(from, end)
		value, from = value+count, end
	}
	if row != rows {
		tenon.Throw(fail(tenon.ErrInvalid, "parquetio.Writer.Write", k.c.path[0], "the column has %d rows instead of %d", row, rows))
	}
	k.bounds = k.bounds.kept()
}

// step returns the approximate number of entries of a page.
func (k *chunk) step(s *shred, v *values, d *words, rows int) int {
	if s.n == 0 {
		return 1
	}
	size := v.size() // size of all values
	if d != nil {
		size = v.n * d.bits() / 8
	}
	if v.width == 1 && v.ends == nil {
		size /= 8
	}
	n := float64(s.n)
	step := n * float64(k.pageBytes) / float64(max(size, 1))
	return max(1, int(min(step, n, n*pageRows/float64(max(rows, 1)))))
}

// cut returns the end of a page that begins with an entry and has about step entries: it lies at the beginning of a
// row or at the end. count is the number of entries that have a value.
func (s *shred) cut(from, step int) (end, count int) {
	end = min(from+step, s.n)
	if s.reps != nil && end < s.n {
		if k := bytes.IndexByte(s.reps[end:s.n], 0); k < 0 {
			end = s.n
		} else {
			end += k
		}
	}
	if s.defs == nil {
		return end, end - from
	}
	return end, bytes.Count(s.defs[from:end], []byte{s.def})
}

// rowsIn returns the number of rows that begin in a range of entries.
func (s *shred) rowsIn(from, end int) int {
	if s.reps == nil {
		return end - from
	}
	return bytes.Count(s.reps[from:end], []byte{0})
}

// page adds a data page.
func (k *chunk) page(s *shred, v *values, d *words, from, end, value, count int) {
	k.levels = s.appendLevels(k.levels[:0], k.c, from, end)
	body, encoding := []byte(nil), int64(encPlain)
	switch {
	case d != nil:
		encoding = encDict
		k.plain = appendNumbers(append(k.plain[:0], byte(d.bits())), d.numbers[value:value+count], d.bits())
		body = k.plain
	case k.c.typ == typeByteArray:
		k.plain = v.appendTexts(k.plain[:0], value, value+count)
		body = k.plain
	case k.c.typ == typeBoolean:
		k.plain = appendTruths(k.plain[:0], v.fixed[value:value+count])
		body = k.plain
	default:
		body = v.fixed[value*v.width : (value+count)*v.width]
	}
	k.add(k.levels, body, func(w *record) {
		w.in(5, func() {
			w.integer(1, kindInt32, int64(end-from))
			w.integer(2, kindInt32, encoding)
			w.integer(3, kindInt32, encRLE)
			w.integer(4, kindInt32, encRLE)
		})
	}, pageData)
}

// dictionary adds the dictionary page.
func (k *chunk) dictionary(d *words) {
	body := d.fixed
	if d.ends != nil {
		k.plain = d.appendTexts(k.plain[:0], 0, d.n)
		body = k.plain
	}
	k.add(nil, body, func(w *record) {
		w.in(7, func() {
			w.integer(1, kindInt32, int64(d.n))
			w.integer(2, kindInt32, encPlain)
		})
	}, pageDict)
}

// add adds a page: a header, whose kind-specific part is written by say, and the body, given in two
// pieces.
func (k *chunk) add(levels, body []byte, say func(w *record), kind int64) {
	size := len(levels) + len(body)
	if k.codec != codecNone {
		if len(levels) > 0 {
			k.levels = append(levels, body...)
			body = k.levels
		}
		k.packed = k.codec.pack(k.packed, body)
		levels, body = nil, k.packed
	}
	packed := len(levels) + len(body)
	head, in := byte(partDataHead), byte(partData)
	if kind == pageDict {
		head, in = partDictHead, partDict
	}
	if s := k.secret; s != nil {
		tenon.Must(0, numbered(len(k.pages)))
		k.sealed = s.seal(k.sealed[:0], append(levels, body...), s.aad(in, len(k.pages)))
		levels, body, packed = nil, k.sealed, len(k.sealed)
	}
	if max(size, packed) > math.MaxInt32 {
		tenon.Throw(fail(tenon.ErrUnsupported, "parquetio.Writer.Write", k.c.path[0], "a page has %d bytes, but Parquet allows at most %d", size, math.MaxInt32))
	}
	begin := len(k.b)
	w := &record{b: k.b}
	if k.secret != nil {
		w.b = nil
	}
	w.structure(func() {
		w.integer(1, kindInt32, kind)
		w.integer(2, kindInt32, int64(size))
		w.integer(3, kindInt32, int64(packed))
		if k.secret == nil { // encryption detects damage by itself
			w.integer(4, kindInt32, int64(int32(crc32.Update(crc32.ChecksumIEEE(levels), crc32.IEEETable, body))))
		}
		say(w)
	})
	if s := k.secret; s != nil {
		w.b = s.seal(k.b, w.b, s.aad(head, len(k.pages)))
	}
	k.full += len(w.b) - begin + size
	k.b = append(append(w.b, levels...), body...)
}

// appendLevels appends the levels of entries, each kind preceded by its length.
func (s *shred) appendLevels(to []byte, c *slot, from, end int) []byte {
	add := func(list []uint8, most, all uint8) {
		if most == 0 {
			return
		}
		at, width := len(to)+4, bits.Len8(most)
		to = append(to, 0, 0, 0, 0)
		if list == nil {
			if end > from {
				to = append(binary.AppendUvarint(to, uint64(end-from)<<1), all)
			}
		} else {
			to = appendLevels(to, list[from:end], width)
		}
		binary.LittleEndian.PutUint32(to[at-4:], uint32(len(to)-at))
	}
	add(s.reps, c.maxRep, 0)
	add(s.defs, c.maxDef, s.def)
	return to
}

// appendTexts appends texts, each preceded by its length.
func (v *values) appendTexts(to []byte, from, end int) []byte {
	for i := from; i < end; i++ {
		x := v.text[v.ends[i]:v.ends[i+1]]
		to = append(binary.LittleEndian.AppendUint32(to, uint32(len(x))), x...)
	}
	return to
}

// appendTruths appends booleans as bits.
func appendTruths(to, list []byte) []byte {
	for ; len(list) >= 8; list = list[8:] {
		to = packBytes(to, (*[8]uint8)(list), 1)
	}
	if len(list) > 0 {
		var rest [8]uint8
		copy(rest[:], list)
		to = packBytes(to, &rest, 1)
	}
	return to
}
