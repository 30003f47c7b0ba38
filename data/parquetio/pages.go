package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/tenonml/tenon/internal/arena"
)

// The kinds of pages.
const (
	pageData   = 0
	pageIndex  = 1
	pageDict   = 2
	pageDataV2 = 3
)

// The encodings.
const (
	encPlain       = 0
	encPlainDict   = 2
	encRLE         = 3
	encDelta       = 5
	encDeltaLength = 6
	encDeltaBytes  = 7
	encDict        = 8
	encSplit       = 9
)

// A page is a decompressed page of a column chunk.
type page struct {
	kind     int64
	encoding int64
	n        int    // number of entries, or of dictionary entries
	reps     []byte // run-length encoded levels
	defs     []byte
	values   []byte
}

// pages iterates over the pages of a column chunk. Data pages share memory: a page is valid until
// the next one.
type pages struct {
	r      *reading
	codec  codec
	b      []byte  // rest of the chunk
	left   int64   // number of entries still to come
	count  int     // number of pages so far
	ends   []int64 // number of rows up to the end of each data page; nil if unknown
	scheme *column
	buf    []byte // memory of the last data page
	lent   []*arena.Buffer

	secret  *secret // nil if pages are not encrypted
	dict    bool    // the next page is an encrypted dictionary
	data    int     // number of data pages so far
	numbers []int   // numbers of the data pages in b; nil means all
}

// begin starts with the pages of a column chunk.
func (p *pages) begin(s *secret, dict bool) {
	p.count, p.secret, p.dict, p.data = 0, s, dict, 0
}

// number returns the number of the next data page.
func (p *pages) number() int {
	if p.data < len(p.numbers) {
		return p.numbers[p.data]
	}
	return p.data
}

// room returns memory that is valid until release.
func (p *pages) room(n int) []byte {
	b := arena.Alloc(n)
	p.lent = append(p.lent, b)
	return arena.View[byte](b, n)
}

// release frees the memory that is needed until values have been read.
func (p *pages) release() {
	for _, b := range p.lent {
		b.Release()
	}
	p.lent, p.b, p.buf = nil, nil, nil
}

// header is the header of a page.
type header struct {
	kind, size, packed      int64
	crc                     int64
	summed                  bool // there is a crc
	n, encoding             int64
	reps, defs              int64 // encoding of the levels (v1), or their size in bytes (v2)
	raw                     bool  // the values are not compressed
	nulls                   int64
	ofData, ofDict, ofData2 bool
}

// header reads the header of the next page.
func (p *pages) header() (header, error) {
	var h header
	w := &thrift{b: p.b}
	rest := []byte(nil) // bytes after an encrypted header
	if p.secret != nil {
		in, behind, err := framed(p.b)
		if err == nil {
			of := byte(partDataHead)
			if p.dict {
				of = partDictHead
			}
			w.b, err = p.secret.open(in, p.secret.aad(of, p.number()), false)
		}
		if err != nil {
			return h, fmt.Errorf("page %d: %w", p.count, err)
		}
		rest = behind
	}
	w.fields(func(id int, kind byte) bool {
		if kind == kindStruct && (id == 5 || id == 7 || id == 8) {
			to := map[int]*int64{1: &h.n, 2: &h.encoding}
			switch id {
			case 5:
				h.ofData = true
				to[3], to[4] = &h.defs, &h.reps
			case 7:
				h.ofDict = true
			case 8:
				h.ofData2 = true
				to = map[int]*int64{1: &h.n, 2: &h.nulls, 4: &h.encoding, 5: &h.defs, 6: &h.reps}
			}
			w.fields(func(id int, kind byte) bool {
				if id == 7 && kind == kindFalse && h.ofData2 {
					h.raw = true
				}
				at, ok := to[id]
				return ok && w.number(kind, at)
			})
			return true
		}
		switch id {
		case 1:
			return w.number(kind, &h.kind)
		case 2:
			return w.number(kind, &h.size)
		case 3:
			return w.number(kind, &h.packed)
		case 4:
			h.summed = w.number(kind, &h.crc)
			return h.summed
		}
		return false
	})
	if w.bad {
		return h, fmt.Errorf("the header of page %d is damaged", p.count)
	}
	if p.b = w.b; p.secret != nil {
		p.b = rest
	}
	ok := h.kind == pageData && h.ofData || h.kind == pageDict && h.ofDict || h.kind == pageDataV2 && h.ofData2 || h.kind == pageIndex || h.kind > pageDataV2
	if !ok || h.n < 0 {
		return h, fmt.Errorf("page %d has kind %d and %d values", p.count, h.kind, h.n)
	}
	if h.packed < 0 || h.packed > int64(len(p.b)) {
		return h, fmt.Errorf("page %d has %d bytes, but only %d are left", p.count, h.packed, len(p.b))
	}
	if most := min(int64(64<<20)+1024*h.packed, p.r.most); h.size < 0 || h.size > most {
		return h, fmt.Errorf("page %d claims to decompress %d bytes to %d; raise ReadOptions.MaxBytes", p.count, h.packed, h.size)
	}
	return h, nil
}

// next returns the next page, or nil after the last one.
func (p *pages) next() (*page, error) {
	for p.left > 0 && len(p.b) > 0 {
		h, err := p.header()
		if err != nil {
			return nil, err
		}
		body := p.b[:h.packed]
		p.b = p.b[h.packed:]
		p.count++
		if h.kind == pageIndex || h.kind > pageDataV2 {
			continue
		}
		if p.secret != nil {
			of := byte(partData)
			if h.kind == pageDict {
				of = partDict
			}
			if body, err = p.secret.page(of, body, p.number()); err != nil {
				return nil, fmt.Errorf("page %d: %w", p.count-1, err)
			}
		} else if h.summed && crc32.ChecksumIEEE(body) != uint32(h.crc) {
			return nil, fmt.Errorf("page %d does not match its checksum", p.count-1)
		}
		if p.dict = false; h.kind != pageDict {
			p.data++
		}
		out, err := p.page(h, body)
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", p.count-1, err)
		}
		return out, nil
	}
	return nil, nil
}

func (p *pages) page(h header, body []byte) (*page, error) {
	out := &page{kind: h.kind, encoding: h.encoding, n: int(h.n)}
	switch h.kind {
	case pageDict:
		b, err := p.unpackedBytes(p.codec, body, nil, h.size)
		out.values = b
		return out, err
	case pageDataV2:
		levels := h.reps + h.defs
		if h.reps < 0 || h.defs < 0 || levels > int64(len(body)) || levels > h.size {
			return nil, errLevels
		}
		out.reps, out.defs = body[:h.reps], body[h.reps:levels]
		codec := p.codec
		if h.raw {
			codec = codecNone
		}
		var err error
		if out.values, err = p.unpacked(codec, body[levels:], h.size-levels); err != nil {
			return nil, err
		}
	default:
		b, err := p.unpacked(p.codec, body, h.size)
		if err != nil {
			return nil, err
		}
		if out.reps, b, err = runsOf(b, p.scheme.maxRep, h.reps); err != nil {
			return nil, err
		}
		if out.defs, b, err = runsOf(b, p.scheme.maxDef, h.defs); err != nil {
			return nil, err
		}
		out.values = b
	}
	p.left -= h.n
	return out, nil
}

// unpacked decompresses the body of a data page.
func (p *pages) unpacked(c codec, body []byte, size int64) ([]byte, error) {
	b, err := p.unpackedBytes(c, body, p.buf, size)
	if err == nil && c != codecNone {
		p.buf = b
	}
	return b, err
}

var errLevels = errors.New("the levels of a page end early")

// runsOf returns the run-length encoded levels that precede the values, and the values.
func runsOf(b []byte, most uint8, encoding int64) (runs, rest []byte, err error) {
	if most == 0 {
		return nil, b, nil
	}
	if encoding != encRLE {
		return nil, nil, fmt.Errorf("levels in the deprecated encoding %d are not supported", encoding)
	}
	if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
		return nil, nil, errLevels
	}
	n := binary.LittleEndian.Uint32(b)
	return b[4 : 4+n], b[4+n:], nil
}

// slack is the number of bytes after a page that may be overwritten.
const slack = 64

// unpackedBytes decompresses the body of a page, into a buffer if it has the capacity.
func (p *pages) unpackedBytes(c codec, body, buf []byte, size int64) ([]byte, error) {
	if c == codecNone {
		if int64(len(body)) != size {
			return nil, fmt.Errorf("there are %d bytes, want %d", len(body), size)
		}
		return body, nil
	}
	if size == 0 {
		return nil, nil
	}
	if int64(cap(buf)) < size+slack {
		buf = p.room(int(size + slack))
	}
	out, err := c.unpack(body, buf[:size+slack], size)
	if err != nil {
		return nil, err
	}
	if int64(len(out)) != size {
		return nil, fmt.Errorf("there are %d bytes, want %d", len(out), size)
	}
	return out, nil
}
