package protoio

import (
	"encoding/binary"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon/internal/kernel/wire"
)

// A buffer collects the values of one feature in a sequence of examples.
type buffer struct {
	kind   kind
	lens   []int64 // lengths of the rows, absent if a row lacks the feature, or a [wire.Span]
	ints   []int64
	floats []float32
	bytes  []byte
	ends   []int64 // ends of the strings in bytes, after an initial zero

	steps []int64 // for feature lists: the number of rows of each example

	done    int  // number of leading rows without spans
	pending bool // later rows may have spans
}

const absent = wire.Absent

// reset empties the buffer; the given number of rows lack the feature so far.
func (f *buffer) reset(k kind, rows int) {
	*f = buffer{kind: k, lens: lacking(f.lens, rows), ints: f.ints[:0], floats: f.floats[:0], bytes: f.bytes[:0], ends: append(f.ends[:0], 0), steps: f.steps[:0]}
}

// rewind drops all values but the first n; the given number of rows lack the feature so far.
func (f *buffer) rewind(n, rows int) {
	f.cut(n)
	f.lens, f.steps, f.done, f.pending = lacking(f.lens, rows), f.steps[:0], 0, false
}

// lacking sets lens to rows that lack the feature.
func lacking(lens []int64, rows int) []int64 {
	lens = lens[:0]
	for rows > len(lens) {
		lens = append(lens, allAbsent[:min(rows-len(lens), len(allAbsent))]...)
	}
	return lens
}

// allAbsent is copied, which is faster than writing numbers one by one.
var allAbsent = slices.Repeat([]int64{absent}, 256)

// decode decodes the lists of all rows before row that have only been noted. It reports false if
// one is malformed.
func (f *buffer) decode(messages [][]byte, row int) bool {
	for f.pending && f.done < row {
		lists, spans := messages[f.done:row], f.lens[f.done:row]
		done, n := 0, 0
		switch f.kind {
		case int64List:
			done, n = wire.Ints(f.ints[len(f.ints):cap(f.ints)], lists, spans)
			f.ints = f.ints[:len(f.ints)+n]
		case floatList:
			done, n = wire.Floats(f.floats[len(f.floats):cap(f.floats)], lists, spans)
			f.floats = f.floats[:len(f.floats)+n]
		default:
			var size int
			done, size, n = wire.Strings(f.bytes[len(f.bytes):cap(f.bytes)], f.ends[len(f.ends):cap(f.ends)], int64(len(f.bytes)), lists, spans)
			f.bytes, f.ends = f.bytes[:len(f.bytes)+size], f.ends[:len(f.ends)+n]
		}
		f.done += done
		if done < len(lists) {
			if !f.decodeRow(lists[done]) {
				return false
			}
			f.done++
		}
	}
	f.done, f.pending = max(f.done, row), false
	return true
}

// decodeRow decodes the list in b as the next row.
func (f *buffer) decodeRow(b []byte) bool {
	i, end := wire.Bounds(f.lens[f.done])
	before := f.count()
	switch f.kind {
	case int64List:
		if f.packedInts(b, i, end) < 0 {
			return false
		}
	case floatList:
		if f.packedFloats(b, i, end) < 0 {
			return false
		}
	default:
		if f.strings(b, i, end) != nil {
			return false
		}
	}
	f.lens[f.done] = int64(f.count() - before)
	return true
}

// count returns the number of values.
func (f *buffer) count() int {
	switch f.kind {
	case int64List:
		return len(f.ints)
	case floatList:
		return len(f.floats)
	}
	return len(f.ends) - 1
}

// cut drops all values from n on.
func (f *buffer) cut(n int) {
	switch f.kind {
	case int64List:
		f.ints = f.ints[:n]
	case floatList:
		f.floats = f.floats[:n]
	default:
		f.ends = f.ends[:n+1]
		f.bytes = f.bytes[:f.ends[n]]
	}
}

// undo drops the values of the row, which must be the last one.
func (f *buffer) undo(row int) {
	if n := f.lens[row]; n != absent {
		f.cut(f.count() - int(n))
		f.lens[row] = absent
	}
}

// feature appends the values of a Feature message and returns which list it has. If there are
// several lists, the last one counts; lists of the same kind are concatenated.
func (f *buffer) feature(b []byte, i, end int) (got kind, err error) {
	start := f.count()
	for i < end {
		t := b[i]
		k := kind(t >> 3)
		if t&7 != 2 || k == noList || k >= otherLists {
			next := skip(b, i, end)
			if next < 0 {
				return noList, truncated(i)
			}
			i = next
			continue
		}
		from, to := length(b, i+1, end)
		if from < 0 {
			return noList, truncated(i)
		}
		i = to
		if got != k {
			f.cut(start)
			got = k
		}
		if k != f.kind {
			continue
		}
		if err = f.list(b, from, to); err != nil {
			return noList, err
		}
	}
	return got, nil
}

// list appends the values of a list of the buffer's kind.
func (f *buffer) list(b []byte, i, end int) error {
	switch f.kind {
	case int64List:
		return f.int64s(b, i, end)
	case floatList:
		return f.float32s(b, i, end)
	}
	return f.strings(b, i, end)
}

// strings appends the elements of a BytesList.
func (f *buffer) strings(b []byte, i, end int) error {
	for i < end {
		if b[i] != tagFirst {
			next := skip(b, i, end)
			if next < 0 {
				return truncated(i)
			}
			i = next
			continue
		}
		from, to := length(b, i+1, end)
		if from < 0 {
			return truncated(i)
		}
		if n := to - from + wire.Slack; cap(f.bytes)-len(f.bytes) < n {
			f.bytes = grow(f.bytes, n)
		}
		if cap(f.ends)-len(f.ends) < 1 {
			f.ends = grow(f.ends, 1)
		}
		f.bytes = append(f.bytes, b[from:to]...)
		f.ends = append(f.ends, int64(len(f.bytes)))
		i = to
	}
	return nil
}

// tagFloat and tagInt precede the elements of lists that are not packed.
const (
	tagFloat = 1<<3 | 5
	tagInt   = 1 << 3
)

// float32s appends the elements of a FloatList.
func (f *buffer) float32s(b []byte, i, end int) error {
	for i < end {
		switch b[i] {
		case tagFirst:
			from, to := length(b, i+1, end)
			if from < 0 {
				return truncated(i)
			}
			if f.packedFloats(b, from, to) < 0 {
				return badList(from)
			}
			i = to
		case tagFloat:
			if end-i < 5 {
				return truncated(i)
			}
			f.floats = append(f.floats, math.Float32frombits(binary.LittleEndian.Uint32(b[i+1:])))
			i += 5
		default:
			next := skip(b, i, end)
			if next < 0 {
				return truncated(i)
			}
			i = next
		}
	}
	return nil
}

// int64s appends the elements of an Int64List.
func (f *buffer) int64s(b []byte, i, end int) error {
	for i < end {
		switch b[i] {
		case tagFirst:
			from, to := length(b, i+1, end)
			if from < 0 {
				return truncated(i)
			}
			if f.packedInts(b, from, to) < 0 {
				return badList(from)
			}
			i = to
		case tagInt:
			x, n := protowire.ConsumeVarint(b[i+1 : end])
			if n < 0 {
				return truncated(i)
			}
			f.ints = append(f.ints, int64(x))
			i += 1 + n
		default:
			next := skip(b, i, end)
			if next < 0 {
				return truncated(i)
			}
			i = next
		}
	}
	return nil
}

// packedInts appends the numbers packed in b[i:end] and returns how many there are, or -1 if they
// are malformed.
func (f *buffer) packedInts(b []byte, i, end int) int {
	// A number takes at least one byte, so there are no more numbers than bytes.
	at := len(f.ints)
	if cap(f.ints)-at < end-i {
		f.ints = grow(f.ints, end-i)
	}
	n := wire.Varints(f.ints[at:cap(f.ints)], b[i:], end-i)
	if n > 0 {
		f.ints = f.ints[:at+n]
	}
	return n
}

// packedFloats is packedInts for four-byte numbers.
func (f *buffer) packedFloats(b []byte, i, end int) int {
	if (end-i)%4 != 0 {
		return -1
	}
	n, at := (end-i)/4, len(f.floats)
	if cap(f.floats)-at < n {
		f.floats = grow(f.floats, n)
	}
	f.floats = f.floats[:at+n]
	wire.CopyFloats(f.floats[at:], b[i:end])
	return n
}

// grow returns s with room for n more elements, and for what kernels write past them.
func grow[T any](s []T, n int) []T {
	t := make([]T, len(s), max(len(s)+n+wire.Slack, 2*cap(s)))
	copy(t, s)
	return t
}
