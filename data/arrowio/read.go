package arrowio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/abort"
)

// fileMark is the magic string at the beginning and at the end of a file.
const fileMark = "ARROW1"

// continuation precedes the length of a message.
const continuation = 0xffffffff

// Decode reads the bytes of a file or a stream as a single Value by concatenating its batches. The
// Value shares the memory of uncompressed data, so b must not change afterwards.
func Decode(b []byte, o ReadOptions) (v tenon.Value, err error) {
	const fn = "arrowio.Decode"
	defer recovered(fn, &err)
	defer tenon.Catch(&err)
	return newReading(fn, o, int64(len(b))).all(b), nil
}

// all returns the bytes of a file or stream as a single Value.
func (r *reading) all(b []byte) tenon.Value {
	m := &messages{all: b, ctx: r.o.Context}
	if bytes.HasPrefix(b, []byte(fileMark)) {
		f, err := footerOf(b)
		tenon.Throw(damaged(r.fn, "", err))
		m = f.messages(b, r.o.Context)
		m.blocks = slices.Concat(f.dictionaries, f.batches)
	}
	schema, batches, err := r.batches(m)
	tenon.Throw(damaged(r.fn, "", err))
	return r.together(schema, batches)
}

// together returns batches of one schema as a single Value.
func (r *reading) together(schema *arrow.Schema, batches []arrow.RecordBatch) tenon.Value {
	if len(batches) == 1 {
		return r.batch(batches[0])
	}
	n := int64(0)
	chunks := make([][]arrow.Array, schema.NumFields())
	for _, x := range batches {
		n += x.NumRows()
		for i, c := range x.Columns() {
			chunks[i] = append(chunks[i], c)
		}
	}
	return r.joined(schema, chunks, n)
}

// footerOf reads the footer of a file in memory.
func footerOf(b []byte) (*footer, error) {
	if len(b) < 2*len(fileMark)+8 || !bytes.HasSuffix(b, []byte(fileMark)) {
		return nil, errors.New("the file is truncated")
	}
	return checkFooter(b)
}

// messages returns the messages of a file: first the schema, and then the blocks that are added.
func (f *footer) messages(file []byte, ctx context.Context) *messages {
	return &messages{file: file, schema: f.schema, views: f.views, ctx: ctx}
}

// batches returns all batches of a stream.
func (r *reading) batches(m *messages) (*arrow.Schema, []arrow.RecordBatch, error) {
	x, err := ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(&limited{r: r}))
	if err != nil {
		return nil, nil, err
	}
	var out []arrow.RecordBatch
	for {
		batch, err := x.Read()
		if err == io.EOF {
			return x.Schema(), out, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("batch %d: %w", len(out), err)
		}
		batch.Retain()
		out = append(out, batch)
	}
}

// limited is an allocator that enforces the memory limit of a reading.
type limited struct{ r *reading }

func (l *limited) Allocate(n int) []byte {
	l.r.take("", int64(n))
	return memory.DefaultAllocator.Allocate(n)
}

func (l *limited) Reallocate(n int, b []byte) []byte {
	if n < 0 || n > cap(b) {
		l.r.take("", int64(n))
	}
	return memory.DefaultAllocator.Reallocate(n, b)
}

func (l *limited) Free(b []byte) { memory.DefaultAllocator.Free(b) }

// messages reads and checks the messages of a stream, from memory or from a reader. Memory is
// allocated as data arrives rather than according to stated lengths.
type messages struct {
	all  []byte
	from io.Reader
	size func(n int64) // called with the size of each message
	ctx  context.Context

	file   []byte  // contents of a file, or nil for a stream
	schema []byte  // metadata of the first message of a file, until it has been read
	blocks []block // messages of a file after the schema
	views  views   // views of the schema
}

func (m *messages) Retain()  {}
func (m *messages) Release() {}

// next returns the next n bytes.
func (m *messages) next(n int64) ([]byte, error) {
	if m.from == nil {
		if n > int64(len(m.all)) {
			m.all = nil
			return nil, io.ErrUnexpectedEOF
		}
		b := m.all[:n:n]
		m.all = m.all[n:]
		return b, nil
	}
	var b bytes.Buffer
	b.Grow(int(min(n, 1<<20)))
	if _, err := io.CopyN(&b, m.from, n); err != nil {
		if end := proceed(m.ctx); end != nil {
			return nil, end
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b.Bytes(), nil
}

// Message returns the next message, or io.EOF at the end of the stream.
func (m *messages) Message() (*ipc.Message, error) {
	if err := proceed(m.ctx); err != nil {
		return nil, err
	}
	if m.schema != nil {
		meta := m.schema
		m.schema = nil
		return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(nil)), nil
	}
	if m.file != nil {
		return m.block()
	}
	length, err := m.length()
	if err != nil || length == 0 {
		if err == nil {
			err = io.EOF
		}
		return nil, err
	}
	if length < 8 || length > maxMeta {
		return nil, fmt.Errorf("a message has %d bytes of metadata", length)
	}
	meta, err := m.next(length)
	if err != nil {
		return nil, err
	}
	size, err := checkMessage(meta, &m.views)
	if err != nil {
		return nil, err
	}
	body, err := m.next(size)
	if err != nil {
		return nil, err
	}
	if err := checkWindows(meta, body); err != nil {
		return nil, err
	}
	if m.size != nil {
		m.size(length + size)
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

// block returns the next message listed in a footer.
func (m *messages) block() (*ipc.Message, error) {
	if len(m.blocks) == 0 {
		return nil, io.EOF
	}
	b := m.blocks[0]
	m.blocks = m.blocks[1:]
	meta, err := b.check(m.file, &m.views)
	if err != nil {
		return nil, err
	}
	body := m.file[b.at+b.meta : b.at+b.meta+b.body]
	if err := checkWindows(meta, body); err != nil {
		return nil, err
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

// length reads the length of the next message's metadata. At the end of the stream, the length is 0
// or absent.
func (m *messages) length() (int64, error) {
	if m.from == nil && len(m.all) == 0 {
		return 0, nil
	}
	b, err := m.next(4)
	if err == nil && binary.LittleEndian.Uint32(b) == continuation {
		b, err = m.next(4)
	}
	if err != nil {
		return 0, err
	}
	return int64(int32(binary.LittleEndian.Uint32(b))), nil
}

// A Reader reads the batches of a stream one after the other.
type Reader struct {
	ipc *ipc.Reader
	r   *reading
	err error
}

// NewReader returns a Reader of a stream, which begins with a schema.
func NewReader(from io.Reader, o ReadOptions) (x *Reader, err error) {
	const fn = "arrowio.NewReader"
	defer recovered(fn, &err)
	r := newReading("arrowio.Reader.Next", o, 0)
	m := &messages{from: abort.Reader(o.Context, io.NopCloser(from)), ctx: o.Context, size: func(n int64) {
		if o.MaxBytes == 0 {
			r.budget = newReading("", o, n).budget
			r.allowed = r.budget
		}
	}}
	s, err := ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(&limited{r: r}))
	if err != nil {
		return nil, damaged(fn, "", err)
	}
	return &Reader{ipc: s, r: r}, nil
}

// Schema returns the columns and their types.
func (x *Reader) Schema() *arrow.Schema { return x.ipc.Schema() }

// Next returns the next batch as a Value, or io.EOF after the last one. After any other error there
// are no more batches.
func (x *Reader) Next() (v tenon.Value, err error) {
	if x.err != nil {
		return nil, x.err
	}
	defer func() { x.err = err }()
	defer recovered(x.r.fn, &err)
	defer tenon.Catch(&err)
	b, err := x.ipc.Read()
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		return nil, damaged(x.r.fn, "", err)
	}
	clear(x.r.parts)
	return x.r.batch(b), nil
}

// All returns the remaining batches. An error comes last.
func (x *Reader) All() iter.Seq2[tenon.Value, error] {
	return func(yield func(tenon.Value, error) bool) {
		for {
			v, err := x.Next()
			if err == io.EOF || !yield(v, err) || err != nil {
				return
			}
		}
	}
}
