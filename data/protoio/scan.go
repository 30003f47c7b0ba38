package protoio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/wire"
)

// A scanner reads examples one after the other into buffers.
type scanner struct {
	plan     *plan
	messages [][]byte // messages of this chunk
	bufs     []buffer // buffers of the requested features
	wrong    []kind   // the kind of list that a feature of this row has instead of its own
	bad      int      // number of features with a wrong kind of list
	row      int      // number of the row in this chunk
	exact    bool     // read entries one by one, to find the first fault

	// Most examples have the same features in the same order, so that one comparison recognises a
	// feature: with the one that followed its predecessor the last time. What follows first starts
	// an example.
	keys  map[string]*known
	first known
	other known // stands for unrequested keys once there are many of them

	// A kernel reads rows whose features are all in this order.
	order  []*known
	table  []wire.Entry // entries of the keys in order
	noting bool         // try the kernel with the next row
	left   int          // number of rows of this chunk that the kernel did not read

	join []byte // value of an entry that comes in pieces

	failed error // why the rest of the chunk was not read
	lent   bool  // bufs hold the values of the columns themselves
}

// mostKeys limits the number of unrequested keys that a scanner remembers.
const mostKeys = 1024

// A known key is one that has been seen.
type known struct {
	key    string
	source int
	next   *known // key that followed it the last time

	// head is the beginning of the entry: the key and the tag of the value; it is empty if the
	// length of the key takes more than one byte. lo and hi are its first 16 bytes, with masks for
	// those that it has.
	head           string
	lo, hi         uint64
	loMask, hiMask uint64
	brief          bool // it has at most 16 bytes
}

func know(key string, source int) *known {
	k := &known{key: key, source: source}
	if len(key) >= 0x80 {
		return k
	}
	k.head = string([]byte{tagFirst, byte(len(key))}) + key + string([]byte{tagSecond})
	k.brief = len(k.head) <= 16
	var first, mask [16]byte
	for i := range copy(first[:], k.head) {
		mask[i] = 0xff
	}
	k.lo, k.hi = binary.LittleEndian.Uint64(first[:]), binary.LittleEndian.Uint64(first[8:])
	k.loMask, k.hiMask = binary.LittleEndian.Uint64(mask[:]), binary.LittleEndian.Uint64(mask[8:])
	return k
}

// heads reports whether b[i:] begins like the entry. Two comparisons suffice if both have 16 bytes,
// or if the entry has fewer.
func (k *known) heads(b []byte, i int) bool {
	if len(b)-i < 16 || !k.brief {
		return k.head != "" && len(b)-i >= len(k.head) && string(b[i:i+len(k.head)]) == k.head
	}
	return k.headsBrief((*[16]byte)(b[i:]))
}

func (k *known) headsBrief(b *[16]byte) bool {
	return (binary.LittleEndian.Uint64(b[:8])^k.lo)&k.loMask|(binary.LittleEndian.Uint64(b[8:])^k.hi)&k.hiMask == 0
}

// ignored is the source of features that are not requested.
const ignored = -1

// malformed is a fault in the bytes of a message.
type malformed struct {
	what string
	at   int // position in the message; negative if the bytes are not part of the message
}

func (e *malformed) Error() string {
	if e.at < 0 {
		return e.what
	}
	return fmt.Sprintf("%s at byte %d", e.what, e.at)
}

func truncated(at int) error { return &malformed{"the message is truncated or malformed", at} }

// placed returns an error, without the position if the bytes are a value assembled from pieces.
func placed(err error, joined bool) error {
	if m := (*malformed)(nil); joined && errors.As(err, &m) {
		m.at = -1
	}
	return err
}

func badList(at int) error { return &malformed{"a packed list is malformed", at} }

// Tags of the fields of examples, all of which take one byte.
const (
	tagFirst  = 1<<3 | 2 // field 1 with a length: features, entries, keys, lists of bytes, packed elements
	tagSecond = 2<<3 | 2 // field 2 with a length: the value of an entry, feature lists
)

// length reads a length at b[i] and returns the start and end of its data; start is negative if
// they do not lie before end.
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

// errMalformedList stands for a fault in a list that was only noted at first. Reading everything
// again, with exact set, finds its position.
var errMalformedList = errors.New("a list is malformed")

// example reads a serialized Example as the next row.
func (s *scanner) example(b []byte) error {
	for i := 0; i < len(b); {
		if b[i] != tagFirst {
			next := skip(b, i, len(b))
			if next < 0 {
				return truncated(i)
			}
			i = next
			continue
		}
		if len(b)-i < 2 {
			return truncated(i)
		}
		start, stop := short(b, i+1, len(b))
		if stop > len(b) {
			start, stop = length(b, i+1, len(b))
		}
		if start < 0 {
			return truncated(i)
		}
		if err := s.features(b, start, stop); err != nil {
			return err
		}
		i = stop
	}
	return s.endRow()
}

// endRow ends a row, which is invalid if a feature has a list of a different type.
func (s *scanner) endRow() error {
	s.row++
	if s.bad == 0 {
		return nil
	}
	for i, k := range s.wrong {
		if k != noList {
			return &featureError{s.plan.keys[i], tenon.ErrInvalid, fmt.Sprintf("is a list of %v instead of %v", k.dtype(), s.plan.kinds[i].dtype())}
		}
	}
	return nil
}

// featureError is a fault in a feature of a row.
type featureError struct {
	key  string
	kind error
	msg  string
}

func (e *featureError) Error() string { return fmt.Sprintf("feature %q %s", e.key, e.msg) }

// features reads the entries of the Features message b[i:end].
func (s *scanner) features(b []byte, i, end int) error {
	for prev := &s.first; ; {
		if i, prev = s.usual(b, i, end, prev); i >= end {
			return nil
		}
		if b[i] != tagFirst {
			next := skip(b, i, end)
			if next < 0 {
				return truncated(i)
			}
			i = next
			continue
		}
		start, stop := length(b, i+1, end)
		if start < 0 {
			return truncated(i)
		}
		var err error
		if prev, err = s.entryAfter(prev, b, start, stop); err != nil {
			return err
		}
		i = stop
	}
}

// usual reads entries in b[i:end] as long as they have the usual form: a known key shorter than 128
// bytes, followed by a value with a single packed list of the requested type. It notes the position
// of such a list. It returns the position of the first entry that has a different form or is
// malformed, which it leaves untouched, and the key of the preceding entry; prev is the key before
// the first entry.
func (s *scanner) usual(b []byte, i, end int, prev *known) (int, *known) {
	if s.bad != 0 || s.exact || end > wire.MostSpan {
		return i, prev
	}
	b = b[:end]
	for end-i > 2 && b[i] == tagFirst {
		start, stop := short(b, i+1, end)
		if stop > end {
			break
		}
		k := prev.next
		if k == nil || !(k.brief && len(b)-start >= 16 && k.headsBrief((*[16]byte)(b[start:])) || k.heads(b, start)) {
			if k = s.lookup(b, start, stop); k == nil {
				break
			}
			prev.next = k
		}
		from := start + len(k.head)
		if from >= stop {
			break
		}
		if k.source == ignored {
			if _, last := short(b, from, stop); last != stop {
				break
			}
			i, prev = stop, k
			continue
		}
		f := &s.bufs[k.source]
		if f.lens[s.row] != absent {
			break
		}
		if from = f.open(b, from, stop); from < 0 {
			break
		}
		f.lens[s.row] = wire.SpanOf(from, stop)
		f.pending = true
		i, prev = stop, k
	}
	return i, prev
}

// lookup returns the key of the entry b[i:end] if it has the usual form and a known key, and
// otherwise nil.
func (s *scanner) lookup(b []byte, i, end int) *known {
	if end-i < 3 || b[i] != tagFirst || b[i+1] >= 0x80 {
		return nil
	}
	stop := i + 2 + int(b[i+1])
	if stop >= end || b[stop] != tagSecond {
		return nil
	}
	return s.keys[string(b[i+2:stop])]
}

// open returns the position of the elements in the nonempty value b[i:end] if it has a single list
// of the requested type, packed in the case of numbers, and otherwise -1. All lengths follow from
// the end of the value, so that the bytes before the elements are known and a single comparison
// recognises them.
func (f *buffer) open(b []byte, i, end int) int {
	rest := end - i
	if rest <= 0x80 && rest >= 3 && len(b)-i >= 8 {
		// The length of the value, the tag of the list, its length, and those of the packed
		// numbers.
		want := uint64(rest)*0x1_0001_0001 + uint64(f.kind)<<11 + (2<<8 + tagFirst<<24) - (1 + 3<<16 + 5<<32)
		diff := binary.LittleEndian.Uint64(b[i:]) ^ want
		switch {
		case diff<<24 == 0 && f.kind != bytesList && rest >= 5:
			return i + 5
		case diff<<40 == 0 && (f.kind == bytesList || rest == 3):
			return i + 3
		}
		return -1
	}
	i, stop := short(b, i, end)
	if stop != end || end-i < 2 || b[i] != f.kind.tag() {
		return -1
	}
	if i, stop = short(b, i+1, end); stop != end {
		return -1
	}
	if f.kind == bytesList || i == end {
		return i
	}
	if end-i < 2 || b[i] != tagFirst {
		return -1
	}
	if i, stop = short(b, i+1, end); stop != end {
		return -1
	}
	return i
}

// short reads a length of one or two bytes at b[i], which is before end, and returns the start and
// end of its data. The data extends beyond end if there is no such length.
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

// entryAfter reads the entry b[start:stop], which follows that of prev, and returns its key.
func (s *scanner) entryAfter(prev *known, b []byte, start, stop int) (*known, error) {
	key, from, to, err := s.entry(b, start, stop)
	if err != nil {
		return nil, err
	}
	k, err := s.find(key, prev)
	if err != nil || k.source == ignored {
		return k, err
	}
	joined := from < 0
	if joined {
		b, from, to = s.join, 0, len(s.join)
	}
	if err := s.feature(k.source, b, from, to); err != nil {
		err = placed(err, joined)
		return nil, &featureError{k.key, tenon.ErrInvalid, err.Error()}
	}
	return k, nil
}

// entry returns the key of a map entry and the position of its value. A value in several pieces,
// which protocol buffers merge, is assembled in s.join; from is then negative.
func (s *scanner) entry(b []byte, i, end int) (key []byte, from, to int, err error) {
	pieces := 0
	for i < end {
		t := b[i]
		if t != tagFirst && t != tagSecond {
			next := skip(b, i, end)
			if next < 0 {
				return nil, 0, 0, truncated(i)
			}
			i = next
			continue
		}
		start, stop := length(b, i+1, end)
		if start < 0 {
			return nil, 0, 0, truncated(i)
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

// find returns the known key that follows another one.
func (s *scanner) find(key []byte, prev *known) (*known, error) {
	if k := prev.next; k != nil && string(key) == k.key {
		return k, nil
	}
	k, ok := s.keys[string(key)]
	if !ok {
		source, asked := s.plan.index[string(key)]
		switch {
		case asked:
		case s.plan.refuse:
			return nil, &featureError{string(bytes.Clone(key)), tenon.ErrNotFound, "was not requested"}
		case len(s.keys) >= mostKeys+len(s.plan.keys):
			return &s.other, nil
		default:
			source = ignored
		}
		k = know(string(key), source)
		s.keys[k.key] = k
	}
	prev.next = k
	return k, nil
}

// feature reads the Feature message b[i:end] as the value of the source in this row. Of several
// entries with the same key the last one counts.
func (s *scanner) feature(source int, b []byte, i, end int) error {
	buf := &s.bufs[source]
	if !buf.decode(s.messages, s.row+1) {
		return errMalformedList
	}
	buf.done = s.row // the row may still get another list
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
