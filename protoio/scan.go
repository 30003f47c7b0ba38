package protoio

import (
	"bytes"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
)

// A scanner reads examples one after the other into buffers.
type scanner struct {
	plan  *plan
	bufs  []buffer // of the features asked for
	wrong []kind   // the list that a feature of this row has in place of its own
	bad   int      // how many of them are wrong
	row   int      // in this chunk

	// order has the features of earlier examples by their position: most examples
	// have the same ones in the same order, so that one comparison finds a feature.
	order [32]known
	join  []byte // the value of an entry that comes in pieces

	failed error // why the rest of the chunk was not read
}

type known struct {
	key    string
	source int
}

// ignored is the source of features that nobody asked for.
const ignored = -1

var (
	errTruncated = errors.New("the message is cut off or malformed")
	errPacked    = errors.New("a packed list is malformed")
	errExtra     = errors.New("was not asked for")
)

// Tags of the fields of examples, all of which have one byte.
const (
	tagFirst  = 1<<3 | 2 // field 1 with a length: features, entries, keys, lists of bytes, packed elements
	tagSecond = 2<<3 | 2 // field 2 with a length: the value of an entry, feature lists
)

// length reads a length at b[i] and returns where its data start and end; start is
// negative where they do not lie before end.
func length(b []byte, i, end int) (start, stop int) {
	if i < end && b[i] < 0x80 {
		start = i + 1
		stop = start + int(b[i])
	} else {
		start, stop = longLength(b, i, end)
	}
	if stop > end {
		return -1, 0
	}
	return start, stop
}

func longLength(b []byte, i, end int) (start, stop int) {
	n, size := protowire.ConsumeVarint(b[i:end])
	if size < 0 || n > uint64(end-i-size) {
		return -1, end + 1
	}
	return i + size, i + size + int(n)
}

// skip returns the end of the field that starts at b[i], or -1.
func skip(b []byte, i, end int) int {
	_, _, n := protowire.ConsumeField(b[i:end])
	if n < 0 {
		return -1
	}
	return i + n
}

// example reads a serialized Example as the next row.
func (s *scanner) example(b []byte) error {
	for i := 0; i < len(b); {
		if b[i] != tagFirst {
			if i = skip(b, i, len(b)); i < 0 {
				return errTruncated
			}
			continue
		}
		start, stop := length(b, i+1, len(b))
		if start < 0 {
			return errTruncated
		}
		if err := s.features(b, start, stop); err != nil {
			return err
		}
		i = stop
	}
	return s.endRow()
}

// endRow closes a row, which is wrong where a feature has a list of another type.
func (s *scanner) endRow() error {
	s.row++
	if s.bad == 0 {
		return nil
	}
	for i, k := range s.wrong {
		if k != noList {
			return &featureError{s.plan.keys[i], tenon.ErrInvalid, fmt.Sprintf("is a list of %v, not of %v", k.dtype(), s.plan.kinds[i].dtype())}
		}
	}
	return nil
}

// featureError is what is wrong with a feature of a row.
type featureError struct {
	key  string
	kind error
	msg  string
}

func (e *featureError) Error() string { return fmt.Sprintf("feature %q %s", e.key, e.msg) }

// features reads the entries of a Features message, which is b[i:end].
func (s *scanner) features(b []byte, i, end int) error {
	for at := 0; i < end; at++ {
		if b[i] != tagFirst {
			if i = skip(b, i, end); i < 0 {
				return errTruncated
			}
			continue
		}
		start, stop := length(b, i+1, end)
		if start < 0 {
			return errTruncated
		}
		i = stop
		if at < len(s.order) && s.usual(&s.order[at], b, start, stop) {
			continue
		}
		if err := s.entryAt(at, b, start, stop); err != nil {
			return err
		}
	}
	return nil
}

// usual reads an entry b[i:end] of the form that nearly all have: the key that stood
// at this position before, shorter than 128 bytes, and then a value with one list of
// the type asked for that is packed. It returns false, and has done nothing, where the
// entry is of another form or wrong.
func (s *scanner) usual(k *known, b []byte, i, end int) bool {
	n := len(k.key)
	if n == 0 || n >= 0x80 || end-i < n+4 || b[i] != tagFirst || int(b[i+1]) != n || b[i+2+n] != tagSecond || string(b[i+2:i+2+n]) != k.key {
		return false
	}
	i, stop := short(b, i+3+n, end)
	if stop != end {
		return false
	}
	if k.source == ignored {
		return true
	}
	f := &s.bufs[k.source]
	if end-i < 2 || b[i] != byte(f.kind)<<3|2 || f.lens[s.row] != absent || s.wrong[k.source] != noList {
		return false
	}
	if i, stop = short(b, i+1, end); stop != end {
		return false
	}
	var count int
	if f.kind == bytesList {
		count = f.usualStrings(b, i, end)
	} else {
		if end-i < 2 || b[i] != tagFirst {
			return false
		}
		if i, stop = short(b, i+1, end); stop != end {
			return false
		}
		if f.kind == int64List {
			count = f.packedInts(b, i, end)
		} else {
			count = f.packedFloats(b, i, end)
		}
	}
	if count < 0 {
		return false
	}
	f.lens[s.row] = int64(count)
	return true
}

// short reads a length of one or two bytes at b[i], which is before end, and returns
// where its data start and end: beyond end where there is no such length.
func short(b []byte, i, end int) (start, stop int) {
	n := int(b[i])
	if n < 0x80 {
		return i + 1, i + 1 + n
	}
	if i+1 >= end || b[i+1] >= 0x80 {
		return i, end + 1
	}
	return i + 2, i + 2 + n&0x7f + int(b[i+1])<<7
}

// entryAt reads the entry b[start:stop], which stands at a position of its example.
func (s *scanner) entryAt(at int, b []byte, start, stop int) error {
	key, from, to, err := s.entry(b, start, stop)
	if err != nil {
		return err
	}
	source, err := s.find(key, at)
	if err != nil || source == ignored {
		return err
	}
	if from < 0 { // in pieces
		b, from, to = s.join, 0, len(s.join)
	}
	if err := s.feature(source, b, from, to); err != nil {
		return &featureError{s.plan.keys[source], tenon.ErrInvalid, err.Error()}
	}
	return nil
}

// entry returns the key of a map entry and where its value lies. A value in several
// pieces, which protocol buffers add up, is put together in s.join, and from is
// negative.
func (s *scanner) entry(b []byte, i, end int) (key []byte, from, to int, err error) {
	pieces := 0
	for i < end {
		t := b[i]
		if t != tagFirst && t != tagSecond {
			if i = skip(b, i, end); i < 0 {
				return nil, 0, 0, errTruncated
			}
			continue
		}
		start, stop := length(b, i+1, end)
		if start < 0 {
			return nil, 0, 0, errTruncated
		}
		i = stop
		if t == tagFirst {
			key = b[start:stop]
			continue
		}
		switch pieces++; pieces {
		case 1:
			from, to = start, stop
		case 2:
			s.join = append(append(s.join[:0], b[from:to]...), b[start:stop]...)
			from = -1
		default:
			s.join = append(s.join, b[start:stop]...)
		}
	}
	return key, from, to, nil
}

// find returns the source of a key that stands at a position of its example.
func (s *scanner) find(key []byte, at int) (int, error) {
	var k *known
	if at < len(s.order) {
		k = &s.order[at]
		if k.key != "" && len(key) == len(k.key) && string(key) == k.key {
			return k.source, nil
		}
	}
	source, ok := s.plan.index[string(key)]
	if !ok {
		if s.plan.refuse {
			return 0, &featureError{string(bytes.Clone(key)), tenon.ErrNotFound, errExtra.Error()}
		}
		source = ignored
	}
	if k != nil && (k.key == "" || ok) { // a key asked for takes the place of one that is not
		*k = known{string(key), source}
	}
	return source, nil
}

// feature reads a Feature message, b[i:end], as the value of the source in this row.
// Of several entries with one key the last one counts.
func (s *scanner) feature(source int, b []byte, i, end int) error {
	buf := &s.bufs[source]
	if buf.lens[s.row] != absent {
		buf.undo(s.row)
	}
	if s.wrong[source] != noList {
		s.wrong[source] = noList
		s.bad--
	}
	before := buf.count()
	got, err := buf.feature(b, i, end)
	if err != nil {
		return err
	}
	switch got {
	case noList:
	case buf.kind:
		buf.lens[s.row] = int64(buf.count() - before)
	default:
		s.wrong[source] = got
		s.bad++
	}
	return nil
}
