package wire

// An Entry describes the usual encoding of the entry of a key in a map of features:
//
//	0a length  0a length key  12 length  tag length  [0a length]
//
// It consists of the key, the value, the list in the value, and the packed numbers of the list. If
// each length is one byte, the first length determines all others, so that one comparison
// recognises the encoding.
type Entry struct {
	head    [64]byte // the expected bytes; for a length, the difference to the first length
	all     uint64   // mask of the bytes of head in use
	lengths uint64   // mask of the bytes that are lengths
	size    int      // number of bytes of head in use
	least   int      // number of bytes of an entry without elements
	key     int      // number of bytes from the tag of the key to the tag of the value
	tag     int      // tag of the list
	packed  int      // 1 for lists of packed numbers
	rows    *Span    // spans of the lists; nil if they are not needed
}

// NewEntry returns the entry of a key whose values hold lists with the given tag, and reports
// whether the key is short enough to have one. A tag of 0 matches any value.
func NewEntry(key string, tag byte, packed bool) (Entry, bool) {
	e := Entry{key: len(key) + 3, tag: int(tag)}
	if e.key > len(e.head)-7 {
		return e, false
	}
	put := func(bytes ...byte) { e.size += copy(e.head[e.size:], bytes) }
	var places []int
	length := func(tag byte) {
		put(tag, 0)
		places = append(places, e.size-1)
	}
	length(firstTag)
	put(firstTag, byte(len(key)))
	put([]byte(key)...)
	length(secondTag)
	e.least = e.size
	if tag != 0 {
		length(tag)
		e.least = e.size
	}
	if packed {
		length(firstTag)
		e.packed = 1
	}
	e.all = 1<<e.size - 1
	for _, p := range places {
		e.head[p] = byte(places[0] - p) // this many fewer bytes follow it
		e.lengths |= 1 << p
	}
	return e, true
}

// secondTag precedes the value of an entry.
const secondTag = 2<<3 | 2

// To sets the destination of the spans of the lists, one for each message of a batch.
func (e *Entry) To(rows []Span) { e.rows = &rows[0] }

// Note scans messages, from the one numbered row on, that consist of one field 1 each, whose
// entries are fields 1 in turn. It notes the spans of the lists of entries that come in the order
// of entries; any of them may be missing. It stops before a message with any other content, some of
// whose lists may have been noted already, or as soon as it has scanned budget bytes, and returns
// the number of messages scanned and their size.
//
// [Entry.To] must have been called for all entries with a tag, with a span for each message.
func Note(messages [][]byte, entries []Entry, row, budget int) (done, size int) {
	if row >= len(messages) || len(entries) == 0 {
		return 0, 0
	}
	return note(messages[row:], entries, row, budget)
}

// Notes reports whether there is a kernel for [Note], which does nothing without one.
func Notes() bool { return table.Now().note != nil }
