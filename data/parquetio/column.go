package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// block is how many entries are read at a time.
const block = 1 << 14

// A column is what has been read of a column chunk.
type column struct {
	stream stream
	count  int    // values, without those that are missing
	fixed  []byte // of values of a fixed width
	width  int
	number bool    // they are integers, lowest byte first
	ends   []int64 // of others
	text   []byte
	bits   []bool
}

// load reads the chunk of a column of a number of rows.
// It has as many entries as the footer says.
func (r *reading) load(c file.ColumnChunkReader, p *pages, rows, entries int64) (*column, error) {
	out := &column{}
	d := c.Descriptor()
	maxDef, maxRep := d.MaxDefinitionLevel(), d.MaxRepetitionLevel()
	var defs, reps []int16
	if maxDef > 0 {
		defs = make([]int16, block)
	}
	if maxRep > 0 {
		reps = make([]int16, block)
	}
	read := r.reader(c, out)
	starts := int64(0) // of rows
	page := 0
	for {
		if err := r.proceed(); err != nil {
			return nil, err
		}
		n, values, err := read(defs, reps)
		if err == nil {
			err = c.Err()
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			if !c.HasNext() {
				break
			}
			if p.n == page { // it was not an empty page
				return nil, errors.New("a page has fewer values than it says")
			}
			page = p.n
			continue
		}
		want := n
		for q := range min(n, len(defs)) {
			if defs[q] < 0 || defs[q] > maxDef {
				return nil, fmt.Errorf("definition level %d of %d", defs[q], maxDef)
			}
			if defs[q] < maxDef {
				want--
			}
		}
		if want != values {
			return nil, fmt.Errorf("%d values where the levels have %d", values, want)
		}
		for q := range min(n, len(reps)) {
			if reps[q] < 0 || reps[q] > maxRep || out.stream.n+q == 0 && reps[q] != 0 {
				return nil, fmt.Errorf("repetition level %d of %d at entry %d", reps[q], maxRep, out.stream.n+q)
			}
			if reps[q] == 0 {
				starts++
			}
		}
		if maxRep == 0 {
			starts += int64(n)
		}
		if starts > rows {
			return nil, fmt.Errorf("there are more than the %d rows of the row group", rows)
		}
		if err := r.take(int64(n)*4 + int64(values)*16); err != nil {
			return nil, err
		}
		if maxDef > 0 {
			out.stream.defs = append(out.stream.defs, defs[:n]...)
		}
		if maxRep > 0 {
			out.stream.reps = append(out.stream.reps, reps[:n]...)
		}
		out.stream.n += n
		out.count += values
	}
	if int64(out.stream.n) != entries {
		return nil, fmt.Errorf("there are %d values of the %d of the column chunk", out.stream.n, entries)
	}
	if starts != rows {
		return nil, fmt.Errorf("there are %d rows of the %d of the row group", starts, rows)
	}
	return out, nil
}

// reader returns what reads the next entries and keeps their values.
func (r *reading) reader(c file.ColumnChunkReader, out *column) func(defs, reps []int16) (n, values int, err error) {
	switch c := c.(type) {
	case *file.BooleanColumnChunkReader:
		return batches(c.ReadBatchInPage, func(v []bool) error { out.bits = append(out.bits, v...); return nil })
	case *file.Int32ColumnChunkReader:
		out.width, out.number = 4, true
		return batches(c.ReadBatchInPage, func(v []int32) error { return out.bytes(arrow.Int32Traits.CastToBytes(v)) })
	case *file.Int64ColumnChunkReader:
		out.width, out.number = 8, true
		return batches(c.ReadBatchInPage, func(v []int64) error { return out.bytes(arrow.Int64Traits.CastToBytes(v)) })
	case *file.Float32ColumnChunkReader:
		out.width = 4
		return batches(c.ReadBatchInPage, func(v []float32) error { return out.bytes(arrow.Float32Traits.CastToBytes(v)) })
	case *file.Float64ColumnChunkReader:
		out.width = 8
		return batches(c.ReadBatchInPage, func(v []float64) error { return out.bytes(arrow.Float64Traits.CastToBytes(v)) })
	case *file.Int96ColumnChunkReader:
		out.width = 8
		return batches(c.ReadBatchInPage, out.int96)
	case *file.ByteArrayColumnChunkReader:
		out.ends = []int64{0}
		return batches(c.ReadBatchInPage, func(v []parquet.ByteArray) error {
			for _, b := range v {
				if err := r.take(int64(len(b))); err != nil {
					return err
				}
				out.text = append(out.text, b...)
				out.ends = append(out.ends, int64(len(out.text)))
			}
			return nil
		})
	case *file.FixedLenByteArrayColumnChunkReader:
		out.width = c.Descriptor().TypeLength()
		return batches(c.ReadBatchInPage, func(v []parquet.FixedLenByteArray) error {
			for _, b := range v {
				if len(b) != out.width {
					return fmt.Errorf("a value of %d bytes, want %d", len(b), out.width)
				}
				if err := r.take(int64(len(b))); err != nil {
					return err
				}
				out.fixed = append(out.fixed, b...)
			}
			return nil
		})
	}
	return func(_, _ []int16) (int, int, error) { return 0, 0, fmt.Errorf("columns of %v are unknown", c.Type()) }
}

// batches returns a function that reads a block and hands its values on.
func batches[T any](read func(int64, []T, []int16, []int16) (int64, int, error), keep func([]T) error) func(defs, reps []int16) (int, int, error) {
	values := make([]T, block)
	return func(defs, reps []int16) (int, int, error) {
		n, k, err := read(block, values, defs, reps)
		if err != nil {
			return 0, 0, err
		}
		return int(n), k, keep(values[:k])
	}
}

func (c *column) bytes(b []byte) error {
	c.fixed = append(c.fixed, b...)
	return nil
}

// int96 keeps times as nanoseconds since 1970.
func (c *column) int96(v []parquet.Int96) error {
	const epoch, perDay = 2440588, 86400 * 1_000_000_000
	for _, x := range v {
		nanos, day := int64(binary.LittleEndian.Uint64(x[:8])), int64(int32(binary.LittleEndian.Uint32(x[8:])))
		t := new(big.Int).Add(new(big.Int).Mul(big.NewInt(day-epoch), big.NewInt(perDay)), big.NewInt(nanos))
		if !t.IsInt64() {
			return fmt.Errorf("the time of day %d is not within the 584 years around 1970 that nanoseconds count", day)
		}
		c.fixed = binary.LittleEndian.AppendUint64(c.fixed, uint64(t.Int64()))
	}
	return nil
}

// spread moves values of a width to where they are: at says in which slots; nil: in all.
func spread(b []byte, width, slots int, at []bool) []byte {
	if at == nil {
		return b
	}
	out := make([]byte, slots*width)
	k := 0
	for i, ok := range at {
		if ok {
			copy(out[i*width:(i+1)*width], b[k*width:])
			k++
		}
	}
	return out
}

// data returns the values of a column as an array of a type, with an element for each slot.
func (c *column) data(typ arrow.DataType, slots int, at []bool) (arrow.ArrayData, error) {
	have := 0
	for _, ok := range at {
		if ok {
			have++
		}
	}
	if at == nil {
		have = slots
	}
	if have != c.count {
		return nil, fmt.Errorf("%d values where the levels have %d", c.count, have)
	}
	if c.ends != nil {
		return c.texts(typ, slots, at)
	}
	width := c.width
	switch t := typ.(type) {
	case *arrow.BooleanType:
		bits, k := make([]byte, (slots+7)/8), 0
		for i := range slots {
			if at == nil || at[i] {
				if c.bits[k] {
					bits[i>>3] |= 1 << (i & 7)
				}
				k++
			}
		}
		return array.NewData(typ, slots, []*memory.Buffer{nil, memory.NewBufferBytes(bits)}, nil, 0, 0), nil
	case arrow.DecimalType:
		width = t.(arrow.FixedWidthDataType).BitWidth() / 8
		c.fixed = extended(c.fixed, c.width, width, c.count, !c.number)
	case *arrow.MonthDayNanoIntervalType:
		width = 16
		c.fixed = intervals(c.fixed)
	case arrow.FixedWidthDataType:
		if w := t.BitWidth() / 8; w < width { // small integers
			narrow := make([]byte, c.count*w)
			for i := range c.count {
				copy(narrow[i*w:(i+1)*w], c.fixed[i*width:])
			}
			c.fixed, width = narrow, w
		}
	}
	return array.NewData(typ, slots, []*memory.Buffer{nil, memory.NewBufferBytes(spread(c.fixed, width, slots, at))}, nil, 0, 0), nil
}

// texts returns byte arrays: as they are, or as the decimal numbers that they are.
func (c *column) texts(typ arrow.DataType, slots int, at []bool) (arrow.ArrayData, error) {
	if t, ok := typ.(arrow.DecimalType); ok {
		width := t.(arrow.FixedWidthDataType).BitWidth() / 8
		out := make([]byte, 0, c.count*width)
		for i := range c.count {
			b := c.text[c.ends[i]:c.ends[i+1]]
			if len(b) > width {
				return nil, fmt.Errorf("a decimal of %d bytes", len(b))
			}
			out = append(out, extended(b, len(b), width, 1, true)...)
		}
		return array.NewData(typ, slots, []*memory.Buffer{nil, memory.NewBufferBytes(spread(out, width, slots, at))}, nil, 0, 0), nil
	}
	ends := c.ends
	if at != nil {
		ends = make([]int64, slots+1)
		k := 0
		for i, ok := range at {
			if ok {
				k++
			}
			ends[i+1] = c.ends[k]
		}
	}
	return array.NewData(typ, slots, []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(ends)), memory.NewBufferBytes(c.text)}, nil, 0, 0), nil
}

// extended returns n numbers in two's complement with more bytes each, lowest first; those
// given begin with the highest byte where big says so.
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

// intervals returns months, days and milliseconds as months, days and nanoseconds.
func intervals(b []byte) []byte {
	out := make([]byte, 0, len(b)/12*16)
	for ; len(b) >= 12; b = b[12:] {
		out = append(out, b[:8]...)
		out = binary.LittleEndian.AppendUint64(out, uint64(binary.LittleEndian.Uint32(b[8:]))*1_000_000)
	}
	return out
}
