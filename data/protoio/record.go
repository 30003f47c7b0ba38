package protoio

import (
	"bufio"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/abort"
)

// Compression is the compression of a file of records.
type Compression uint8

// The compressions.
const (
	Auto Compression = iota // when reading, detected from the beginning of the file; when writing, None
	None
	GZIP
	ZLIB
)

// RecordOptions control how records are read and written. The zero value reads any file and writes
// an uncompressed one.
type RecordOptions struct {
	Compression Compression

	// MaxRecord is the maximum size of a record when reading, in bytes; 0 means 1<<30.
	MaxRecord int

	// Context ends reading and writing when it ends, with its cause as the error, even while a
	// reader hangs. Nil means no context.
	Context context.Context
}

// A record consists of
//
//	length   uint64, little-endian
//	check    uint32 of the length
//	data
//	check    uint32 of the data
//
// where a check is a masked CRC-32C (see tensorflow/core/lib/io/record_writer.h).
const (
	headerSize = 12
	footerSize = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked returns the check of b: a CRC that is rotated and shifted, because computing the CRC of
// data that contains CRCs is problematic.
func masked(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// A RecordReader reads the records of a TFRecord file in turn.
type RecordReader struct {
	r      io.Reader
	buf    []byte
	max    int
	record int // number of the next record
	err    error
}

// NewRecordReader returns a reader of the records in r. With [Auto] it detects whether they are
// compressed: an uncompressed file begins with a length and its check.
func NewRecordReader(r io.Reader, o RecordOptions) (*RecordReader, error) {
	b := bufio.NewReaderSize(abort.Reader(o.Context, io.NopCloser(r)), 1<<16)
	c := o.Compression
	if c == Auto {
		c = detect(b)
	}
	out := &RecordReader{r: b, max: o.MaxRecord}
	if out.max <= 0 {
		out.max = 1 << 30
	}
	var err error
	switch c {
	case None:
	case GZIP:
		out.r, err = gzip.NewReader(b)
	case ZLIB:
		out.r, err = zlib.NewReader(b)
	default:
		return nil, fail(tenon.ErrInvalid, "", "unknown compression %d", c)
	}
	if err != nil {
		return nil, fail(tenon.ErrInvalid, "", "the file does not have the requested compression: %v", err)
	}
	return out, nil
}

func detect(b *bufio.Reader) Compression {
	head, _ := b.Peek(headerSize)
	if len(head) == headerSize && masked(head[:8]) == binary.LittleEndian.Uint32(head[8:]) {
		return None
	}
	if len(head) >= 2 {
		switch {
		case head[0] == 0x1f && head[1] == 0x8b:
			return GZIP
		case head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0: // RFC 1950, 2.2
			return ZLIB
		}
	}
	return None
}

// Next returns the next record, or io.EOF after the last one. The bytes are valid until the next
// call. A record that is truncated, too long or does not match its check is an error that names it;
// no further records follow.
func (r *RecordReader) Next() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	b, err := r.next()
	if err != nil {
		r.err = err
		return nil, err
	}
	r.record++
	return b, nil
}

func (r *RecordReader) next() ([]byte, error) {
	var head [headerSize]byte
	if n, err := io.ReadFull(r.r, head[:]); err != nil {
		if n == 0 && errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		return nil, r.fail("is truncated in its header", err)
	}
	if masked(head[:8]) != binary.LittleEndian.Uint32(head[8:]) {
		return nil, r.fail("has a length that does not match its check: the file is not a file of records, or is damaged", nil)
	}
	n := binary.LittleEndian.Uint64(head[:8])
	if n > uint64(r.max) {
		return nil, r.fail(fmt.Sprintf("has %d bytes, more than MaxRecord allows", n), nil)
	}
	if err := r.fill(int(n) + footerSize); err != nil {
		return nil, r.fail("is truncated", err)
	}
	data := r.buf[:n]
	if masked(data) != binary.LittleEndian.Uint32(r.buf[n:]) {
		return nil, r.fail("does not match its check", nil)
	}
	return data, nil
}

// fill reads n bytes into the buffer, which grows with the data that arrives rather than with the
// stated length.
func (r *RecordReader) fill(n int) error {
	const first = 1 << 20
	r.buf = r.buf[:0]
	for len(r.buf) < n {
		if len(r.buf) == cap(r.buf) {
			r.buf = append(make([]byte, 0, min(n, max(2*cap(r.buf), first))), r.buf...)
		}
		at := len(r.buf)
		r.buf = r.buf[:min(n, cap(r.buf))]
		if _, err := io.ReadFull(r.r, r.buf[at:]); err != nil {
			return err
		}
	}
	return nil
}

func (r *RecordReader) fail(msg string, cause error) error {
	if errors.Is(cause, io.EOF) { // the file ends in the middle of a record
		cause = io.ErrUnexpectedEOF
	}
	e := fail(tenon.ErrInvalid, fmt.Sprintf("record %d", r.record), "%s", msg).(*tenon.Error)
	e.Err = cause
	return e
}

// All returns copies of the remaining records. An error comes last.
func (r *RecordReader) All() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			b, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				b = append(make([]byte, 0, len(b)), b...)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// A RecordWriter writes records as a TFRecord file. It is not safe for concurrent use.
type RecordWriter struct {
	w    *bufio.Writer
	pack io.WriteCloser // compresses the output of w; nil if there is no compression
	out  *bufio.Writer
}

// NewRecordWriter returns a writer of records to w. [RecordWriter.Close] completes the file.
func NewRecordWriter(w io.Writer, o RecordOptions) (*RecordWriter, error) {
	out := bufio.NewWriterSize(abort.Writer(o.Context, w), 1<<16)
	r := &RecordWriter{w: out, out: out}
	switch o.Compression {
	case Auto, None:
		return r, nil
	case GZIP:
		r.pack = gzip.NewWriter(out)
	case ZLIB:
		r.pack = zlib.NewWriter(out)
	default:
		return nil, fail(tenon.ErrInvalid, "", "unknown compression %d", o.Compression)
	}
	r.w = bufio.NewWriterSize(r.pack, 1<<16)
	return r, nil
}

// Write appends a record.
func (w *RecordWriter) Write(record []byte) error {
	var b [headerSize]byte
	binary.LittleEndian.PutUint64(b[:8], uint64(len(record)))
	binary.LittleEndian.PutUint32(b[8:], masked(b[:8]))
	for _, part := range [][]byte{b[:], record, binary.LittleEndian.AppendUint32(nil, masked(record))} {
		if _, err := w.w.Write(part); err != nil {
			return tenon.AsError(fmt.Errorf("writing a record: %w", err))
		}
	}
	return nil
}

// Close writes buffered data. It does not close the underlying writer.
func (w *RecordWriter) Close() error {
	err := w.w.Flush()
	if w.pack != nil {
		err = errors.Join(err, w.pack.Close(), w.out.Flush())
	}
	if err != nil {
		return tenon.AsError(fmt.Errorf("ending a file of records: %w", err))
	}
	return nil
}
