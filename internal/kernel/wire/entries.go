package wire

// An Entry is how the entry of a key in a map of features usually lies in a message:
//
//	0a length  0a length key  12 length  tag length  [0a length]
//
// the key, the value, the list in it, and the packed numbers of that. With lengths of
// one byte all of them follow from the first, so that one comparison tells whether the
// bytes are there.
type Entry struct {
	head    [64]byte // those bytes; of a length what the first one has to have added
	all     uint64   // which bytes of head there are
	lengths uint64   // which of them are lengths
	size    int      // how many there are
	least   int      // how many an entry without elements has
	key     int      // how many of them from the tag of the key to that of the value
	tag     int      // of the list
	packed  int      // 1 for lists of packed numbers
	rows    *Span    // of the lists; nil where nobody asked for them
}

// NewEntry returns the entry of a key whose values have lists with a tag, and reports
// whether it can be one: the key is short. A tag of 0 is that of any value.
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
		e.head[p] = byte(places[0] - p) // so many bytes less lie behind it
		e.lengths |= 1 << p
	}
	return e, true
}

// secondTag precedes the value of an entry.
const secondTag = 2<<3 | 2

// To sets where the spans of the lists go, one for each message of a batch.
func (e *Entry) To(rows []Span) { e.rows = &rows[0] }

// Note goes over messages that are one field 1 each, of which the entries are fields 1
// again, from the one numbered row on. It notes where the lists lie for entries that
// come in their order; any of them may be missing. It stops before a message
// with anything else in it, which may have some of its lists noted, or as soon as it has
// gone over budget bytes, and returns how many messages it has done and their bytes.
//
// Lists must have been set for all entries with a tag, with a span for each message.
func Note(messages [][]byte, entries []Entry, row, budget int) (done, size int) {
	if row >= len(messages) || len(entries) == 0 {
		return 0, 0
	}
	return note(messages[row:], entries, row, budget)
}

// Notes reports whether there is a kernel for [Note], which does nothing without one.
func Notes() bool { return table.Now().note != nil }
