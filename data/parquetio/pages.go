package parquetio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// pages gives the pages of a column chunk, of which it checks what the library below takes
// for granted: that a dictionary has as many entries as it says, and that levels do not end
// early.
type pages struct {
	file.PageReader
	col *schema.Column
	n   int       // pages so far
	now file.Page // the page, where it is not that of the reader
	err error
}

// GetDictionaryPage returns the dictionary of the chunk.
func (p *pages) GetDictionaryPage() (*file.DictionaryPage, error) {
	d, err := p.PageReader.GetDictionaryPage()
	if err != nil || d == nil {
		return d, err
	}
	return d, p.dictionary(d)
}

// Next goes to the next page.
func (p *pages) Next() bool {
	if p.err != nil || !p.PageReader.Next() {
		return false
	}
	p.n++
	p.now = nil
	switch x := p.Page().(type) {
	case *file.DictionaryPage:
		p.err = p.dictionary(x)
	case *file.DataPageV1:
		var n int
		if n, p.err = p.levels(x); p.err == nil && p.delta(x.Encoding()) {
			b, err := p.plain(x.Data(), n)
			p.now, p.err = file.NewDataPageV1(memory.NewBufferBytes(b), x.NumValues(), parquet.Encodings.Plain, x.DefinitionLevelEncoding(), x.RepetitionLevelEncoding(), int32(len(b))), err
		}
	case *file.DataPageV2:
		if n := int(x.RepetitionLevelByteLen()) + int(x.DefinitionLevelByteLen()); p.delta(x.Encoding()) {
			b, err := p.plain(x.Data(), n)
			p.now, p.err = file.NewDataPageV2(memory.NewBufferBytes(b), x.NumValues(), x.NumNulls(), x.NumRows(), parquet.Encodings.Plain, x.DefinitionLevelByteLen(), x.RepetitionLevelByteLen(), int32(len(b)), false), err
		}
	}
	return p.err == nil
}

// Page returns the page.
func (p *pages) Page() file.Page {
	if p.now != nil {
		return p.now
	}
	return p.PageReader.Page()
}

// delta reports whether values of a fixed width are stored by their differences.
func (p *pages) delta(e fmt.Stringer) bool {
	return p.col.PhysicalType() == parquet.Types.FixedLenByteArray && e.String() == "DELTA_BYTE_ARRAY"
}

// plain returns the bytes of a page with plain values behind its n bytes of levels.
func (p *pages) plain(b []byte, n int) ([]byte, error) {
	if n < 0 || n > len(b) {
		return nil, errLevels
	}
	values, err := plain(b[n:], p.col.TypeLength())
	return append(bytes.Clone(b[:n]), values...), err
}

// Err returns why there are no more pages.
func (p *pages) Err() error {
	if p.err != nil {
		return p.err
	}
	return p.PageReader.Err()
}

// dictionary checks the values of a dictionary, which are plain.
func (p *pages) dictionary(d *file.DictionaryPage) error {
	n, b := int64(d.NumValues()), d.Data()
	width := map[parquet.Type]int64{parquet.Types.Int32: 4, parquet.Types.Int64: 8, parquet.Types.Int96: 12, parquet.Types.Float: 4, parquet.Types.Double: 8, parquet.Types.FixedLenByteArray: int64(p.col.TypeLength())}[p.col.PhysicalType()]
	if n < 0 || width > 0 && n > int64(len(b))/width || n > int64(len(b)) {
		return fmt.Errorf("a dictionary of %d entries in %d bytes", n, len(b))
	}
	if p.col.PhysicalType() != parquet.Types.ByteArray {
		return nil
	}
	for i := range n {
		if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
			return fmt.Errorf("the dictionary ends in entry %d of %d", i, n)
		}
		b = b[4+binary.LittleEndian.Uint32(b):]
	}
	return nil
}

// levels checks the levels of a data page of the first version: they have a length in
// front, and are runs of equal levels and of packed ones. It returns how many bytes they
// take.
func (p *pages) levels(d *file.DataPageV1) (int, error) {
	b := d.Data()
	for _, most := range []int16{p.col.MaxRepetitionLevel(), p.col.MaxDefinitionLevel()} {
		if most == 0 {
			continue
		}
		if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
			return 0, errLevels
		}
		n := binary.LittleEndian.Uint32(b)
		if !enough(b[4:4+n], int64(d.NumValues()), bits.Len16(uint16(most))) {
			return 0, errLevels
		}
		b = b[4+n:]
	}
	return len(d.Data()) - len(b), nil
}

var errLevels = errors.New("the levels of a page end early")

// enough reports whether runs have n levels of a width in bits.
func enough(b []byte, n int64, width int) bool {
	for n > 0 {
		h, k := binary.Uvarint(b)
		if k <= 0 || h>>1 > 1<<40 {
			return false
		}
		b = b[k:]
		if h&1 == 0 {
			if n -= int64(h >> 1); len(b) < (width+7)/8 {
				return false
			}
			b = b[(width+7)/8:]
			continue
		}
		count := int64(h>>1) * 8
		need := count / 8 * int64(width)
		if need > int64(len(b)) {
			return false
		}
		n -= count
		b = b[need:]
	}
	return true
}
