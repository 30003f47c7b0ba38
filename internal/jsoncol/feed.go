package jsoncol

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/tenonml/tenon/internal/abort"
)

// A chunk is a piece of an input that holds whole records. data is followed, within its capacity,
// by a sentinel and slack bytes that may be read.
type chunk struct {
	seq    int64
	input  *Input
	format Format
	first  bool  // first chunk of its input
	offset int64 // position of data in the input
	data   []byte
	read   int64 // bytes of all inputs up to the end of the chunk
	// tail is a fault after the records of the chunk; err is an error of reading.
	tail *failure
	err  error
	// more says that a chunk of a Document must hold another element, and closed that the array
	// ends after it.
	more, closed bool
}

// A feed divides inputs into chunks. Workers take turns to get one, and read it into a buffer of
// their own; lines in memory are used in place.
type feed struct {
	mu     sync.Mutex
	o      *Options
	inputs []Input
	size   int // size of a chunk in bytes

	seq   int64
	read  int64
	total int64 // size of all inputs, -1 if not known

	// The input that is being read.
	open    bool
	input   *Input
	src     io.ReadCloser
	data    []byte // text of an input in memory
	format  Format
	first   bool
	ended   bool  // src is exhausted
	err     error // error of src, reported after the text read before it
	offset  int64
	carry   []byte // text from offset on that is not yet part of a chunk
	inArray bool   // inside the array of a Document
	more    bool
	failed  bool
}

func newFeed(inputs []Input, o *Options) *feed {
	f := &feed{o: o, inputs: inputs, size: o.ChunkSize}
	for i := range inputs {
		size := inputs[i].size()
		if size < 0 {
			f.total = -1
			break
		}
		f.total += size
	}
	if f.total >= 0 { // a buffer no larger than it takes to reach the end of the input
		f.size = int(min(int64(f.size), f.total+1))
	}
	return f
}

// next returns the next chunk, reading it into *buf if necessary, or nil if there are no more.
// There are none after a chunk with an error.
func (f *feed) next(buf *[]byte) *chunk {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.failed {
		if err := abort.Done(f.o.Context); err != nil {
			return f.fail(err)
		}
		if !f.open {
			if len(f.inputs) == 0 {
				return nil
			}
			if err := f.begin(); err != nil {
				return f.fail(err)
			}
		}
		c, err := f.cut(buf)
		if err != nil {
			return f.fail(err)
		}
		if c == nil {
			if err := f.end(); err != nil {
				return f.fail(err)
			}
			continue
		}
		c.seq, c.input, c.format, c.first = f.seq, f.input, f.format, f.first
		f.seq++
		f.first = false
		f.read += int64(len(c.data))
		c.read = f.read
		f.failed = c.tail != nil
		return c
	}
	return nil
}

// fail returns a chunk that carries err.
func (f *feed) fail(err error) *chunk {
	f.failed = true
	if f.input != nil && f.input.Name != "" {
		err = fmt.Errorf("reading %s: %w", f.input.Name, err)
	} else {
		err = fmt.Errorf("reading: %w", err)
	}
	c := &chunk{seq: f.seq, input: f.input, err: err, read: f.read}
	f.seq++
	return c
}

// begin opens the next input.
func (f *feed) begin() error {
	f.input = &f.inputs[0]
	f.inputs = f.inputs[1:]
	f.open, f.first, f.ended = true, true, false
	f.offset, f.carry, f.inArray, f.more = 0, f.carry[:0], false, false
	f.format = f.o.Format
	f.data = f.input.Data
	if f.input.Open != nil {
		src, err := f.input.Open()
		if err != nil {
			return err
		}
		f.src, f.data = abort.Reader(f.o.Context, src), nil
	} else if f.format != Lines {
		f.src = io.NopCloser(bytes.NewReader(f.data))
		f.data = nil
	}
	return nil
}

// end closes the input.
func (f *feed) end() error {
	f.open = false
	f.data = nil
	if f.src == nil {
		return nil
	}
	err := f.src.Close()
	f.src = nil
	return err
}

// halt makes next return no more chunks.
func (f *feed) halt() {
	f.mu.Lock()
	f.failed = true
	f.mu.Unlock()
}

// close closes the input being read, if there is one.
func (f *feed) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = true
	if !f.open {
		return nil
	}
	return f.end()
}

var bom = []byte{0xef, 0xbb, 0xbf}

// cut returns the next chunk of the open input, or nil at its end.
func (f *feed) cut(buf *[]byte) (*chunk, error) {
	if f.src == nil {
		return f.cutData(buf), nil
	}
	if f.err != nil {
		return nil, f.err
	}
	if f.ended && len(f.carry) == 0 {
		return nil, nil
	}
	b := (*buf)[:0]
	if need := max(f.size, len(f.carry)) + slack; cap(b) < need {
		b = make([]byte, 0, need)
	}
	b = append(b, f.carry...)
	f.carry = f.carry[:0]
	s := splitter{cut: -1, end: -1}
	for {
		b = f.fill(b)
		if f.first {
			b = f.start(b)
		}
		n, c := f.boundary(b, &s)
		if c != nil {
			*buf = b
			c.offset = f.offset
			f.offset += int64(n)
			f.carry = append(f.carry, b[n:]...)
			seal(c.data, f.format)
			return c, nil
		}
		if f.err != nil {
			return nil, f.err
		}
	}
}

// fill reads more text after b: as much as a chunk lacks or, if b is a whole chunk already but does
// not hold a whole record, half as much again.
func (f *feed) fill(b []byte) []byte {
	want := f.size - len(b)
	if want <= 0 {
		want = max(f.size, len(b)/2)
	}
	want += len(b)
	if cap(b) < want+slack {
		room := want
		if all := f.input.size() - f.offset + 1; all > int64(len(b)) && len(b) > f.size && int64(room) > all/8 {
			room = int(all) // reads everything at once
			want = min(want, room)
		}
		b = append(make([]byte, 0, room+slack), b...)
	}
	for idle := 0; len(b) < want && !f.ended && f.err == nil; idle++ {
		n, err := f.src.Read(b[len(b):want])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			f.ended = true
		case err == nil && idle == 100:
			err = io.ErrNoProgress
			fallthrough
		default:
			f.err = err
		}
		if n > 0 {
			idle = 0
		}
	}
	return b
}

// start removes a byte order mark from the beginning of an input, and detects the format if it was
// left open.
func (f *feed) start(b []byte) []byte {
	if f.offset == 0 && bytes.HasPrefix(b, bom) {
		copy(b, b[len(bom):])
		b = b[:len(b)-len(bom)]
		f.offset = int64(len(bom))
	}
	if f.format == Auto {
		f.format = detect(b, f.ended)
	}
	return b
}

// cutData is cut for lines in memory. Chunks near the end of the memory are copied, because they
// need slack.
func (f *feed) cutData(buf *[]byte) *chunk {
	if f.first && bytes.HasPrefix(f.data, bom) {
		f.offset = int64(len(bom))
	}
	b := f.data[f.offset:]
	if len(b) == 0 {
		return nil
	}
	c := &chunk{offset: f.offset}
	n := min(f.size, len(b))
	if end := bytes.LastIndexByte(b[:n], '\n'); end >= 0 {
		n = end + 1
	} else if end := bytes.IndexByte(b[n:], '\n'); end >= 0 {
		n += end + 1
	} else {
		n = len(b)
	}
	f.offset += int64(n)
	if n+slack <= len(b) {
		c.data = b[:n]
		return c
	}
	if cap(*buf) < n+slack {
		*buf = make([]byte, 0, n+slack)
	}
	c.data = append((*buf)[:0], b[:n]...)
	seal(c.data, Lines)
	return c
}

// seal writes the sentinel after b, which has room for it: a byte that ends whatever the parser may
// be in the middle of.
func seal(b []byte, format Format) {
	end := b[len(b) : len(b)+1]
	end[0] = 0
	if format == Lines {
		end[0] = '\n'
	}
}

// boundary looks for the end of the last whole record in b. It returns a chunk and the number of
// bytes of b consumed, or no chunk if more text is needed.
func (f *feed) boundary(b []byte, s *splitter) (int, *chunk) {
	switch f.format {
	case Document:
		return f.boundaryDocument(b, s)
	case Concatenated:
		n := s.records(b)
		if f.ended {
			n = len(b)
		}
		if n > 0 || f.ended {
			return n, &chunk{data: b[:n]}
		}
	default:
		n := bytes.LastIndexByte(b[s.at:], '\n') + 1
		if n > 0 {
			n += s.at
		}
		if f.ended {
			n = len(b)
		}
		if n > 0 || f.ended {
			return n, &chunk{data: b[:n]}
		}
		s.at = len(b)
	}
	return 0, nil
}

// boundaryDocument is boundary for a single value.
func (f *feed) boundaryDocument(b []byte, s *splitter) (int, *chunk) {
	if f.first && !f.inArray {
		n := 0
		for n < len(b) && isSpace(b[n]) {
			n++
		}
		if n == len(b) && !f.ended {
			return 0, nil
		}
		if n == len(b) || b[n] != '[' {
			if !f.ended {
				return 0, nil
			}
			return len(b), &chunk{data: b, more: true} // the document is a single record
		}
		f.inArray = true
		// Replace the bracket by white space, so that positions do not change.
		b[n] = ' '
	}
	comma, end := s.elements(b)
	switch {
	case end >= 0:
		c := &chunk{data: b[:end], more: f.more, closed: true}
		rest := end + 1
		for rest < len(b) && isSpace(b[rest]) {
			rest++
		}
		if rest < len(b) {
			c.tail = &failure{code: Syntax, at: rest, detail: "text after the end of the document"}
		} else if !f.ended {
			return 0, nil // anything but white space may still follow
		}
		return len(b), c
	case f.ended:
		return len(b), &chunk{data: b, more: f.more, tail: &failure{code: Syntax, at: len(b),
			detail: "expected ',' or ']' after an element, found the end of the input"}}
	case comma >= 0:
		c := &chunk{data: b[:comma], more: true}
		f.more = true
		return comma + 1, c
	}
	return 0, nil
}
