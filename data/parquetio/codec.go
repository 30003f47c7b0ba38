package parquetio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/tenonml/tenon"
)

// A codec is the compression of pages, by its number in files.
type codec int64

const (
	codecNone   codec = 0
	codecSnappy codec = 1
	codecGzip   codec = 2
	codecBrotli codec = 4
	codecZstd   codec = 6
	codecLZ4    codec = 7 // LZ4 blocks without a frame
)

// zstdReader decompresses into the given buffer and never beyond it.
var zstdReader = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
})

// unpack decompresses a page of the given size into a buffer that has the capacity.
func (c codec) unpack(body, buf []byte, size int64) ([]byte, error) {
	buf = buf[:size:len(buf)]
	switch c {
	case codecZstd:
		d, err := zstdReader()
		if err != nil {
			return nil, err
		}
		return d.DecodeAll(body, buf[:0])
	case codecSnappy:
		if n, _ := binary.Uvarint(body); n != uint64(size) {
			return nil, fmt.Errorf("there are %d bytes, want %d", n, size)
		}
		return snappy.Decode(buf, body)
	case codecGzip:
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		return whole(r, buf)
	case codecBrotli:
		return whole(brotli.NewReader(bytes.NewReader(body)), buf)
	case codecLZ4:
		n, err := lz4.UncompressBlock(body, buf)
		if err != nil {
			return nil, err
		}
		return buf[:n], nil
	}
	return nil, fmt.Errorf("compression %d is not supported", c)
}

// whole reads exactly len(b) bytes.
func whole(r io.Reader, b []byte) ([]byte, error) {
	if n, err := io.ReadFull(r, b); err != nil {
		return b[:n], fmt.Errorf("there are %d bytes, want %d: %w", n, len(b), err)
	}
	var more [1]byte
	if n, err := r.Read(more[:]); n > 0 || !errors.Is(err, io.EOF) {
		return nil, errors.Join(fmt.Errorf("there are more than %d bytes", len(b)), err)
	}
	return b, nil
}

// zstdWriter uses fast compression, the usual choice for tables.
var zstdWriter = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
})

// The writers of gzip and LZ4 are reused because they have large tables.
var (
	gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	lz4Writers  = sync.Pool{New: newLZ4}
)

// pack compresses bytes, into a buffer if it has the capacity.
func (c codec) pack(buf, b []byte) []byte {
	switch c {
	case codecZstd:
		return tenon.Must(zstdWriter()).EncodeAll(b, buf[:0])
	case codecSnappy:
		return snappy.Encode(buf[:cap(buf)], b)
	case codecGzip:
		out := bytes.NewBuffer(buf[:0])
		w := gzipWriters.Get().(*gzip.Writer)
		defer gzipWriters.Put(w)
		w.Reset(out)
		tenon.Must(w.Write(b))
		if err := w.Close(); err != nil {
			tenon.Throw(err)
		}
		return out.Bytes()
	}
	if most := lz4.CompressBlockBound(len(b)); cap(buf) < most {
		buf = make([]byte, most)
	}
	w := lz4Writers.Get().(*lz4.Compressor)
	defer lz4Writers.Put(w)
	n := tenon.Must(w.CompressBlock(b, buf[:cap(buf)]))
	return buf[:n]
}

func newLZ4() any { return new(lz4.Compressor) }
