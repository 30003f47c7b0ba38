package wire

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const intsTag, bytesTag = 3<<3 | 2, 1<<3 | 2

// field returns a field with a length.
func field(tag byte, parts ...[]byte) []byte {
	data := slices.Concat(parts...)
	return append(binary.AppendUvarint([]byte{tag}, uint64(len(data))), data...)
}

// anEntry returns the entry of a key, and how far before its end the elements start.
func anEntry(key string, tag byte, packed bool, elements []byte) (b []byte, from int) {
	list := elements
	if packed && len(elements) > 0 {
		list = field(firstTag, elements)
	}
	return field(firstTag, field(firstTag, []byte(key)), field(secondTag, field(tag, list))), len(elements)
}

// A table of four keys, one of which nobody asked for, with lists for the others.
func aTable(t *testing.T, rows int) ([]Entry, [][]Span) {
	var table []Entry
	var lists [][]Span
	for i, key := range []string{"", "bytes", "other", strings.Repeat("long", 13)} {
		tag := []byte{intsTag, bytesTag, 0, intsTag}[i]
		e, ok := NewEntry(key, tag, tag == intsTag)
		if !ok {
			t.Fatalf("%q has no entry", key)
		}
		if tag != 0 {
			list := slices.Repeat([]Span{Absent}, rows)
			e.To(list)
			lists = append(lists, list)
		} else {
			lists = append(lists, nil)
		}
		table = append(table, e)
	}
	return table, lists
}

func TestNewEntry(t *testing.T) {
	if _, ok := NewEntry(strings.Repeat("k", 54), intsTag, true); !ok {
		t.Error("54 bytes are too long")
	}
	if _, ok := NewEntry(strings.Repeat("k", 55), intsTag, true); ok {
		t.Error("55 bytes are not too long")
	}
}

// Messages with lists of all sizes, features missing and some that nobody asked for: the
// lists are noted where they lie.
func TestNote(t *testing.T) {
	draw := rand.New(rand.NewPCG(11, 12))
	const rows = 1500
	messages := make([][]byte, rows)
	_, want := aTable(t, rows)
	total := 0
	for row := range rows {
		var body []byte
		ends := map[int][2]int{}
		for i, key := range []string{"", "bytes", "other", strings.Repeat("long", 13)} {
			if draw.IntN(4) == 0 {
				continue
			}
			size := draw.IntN(40)
			switch draw.IntN(8) {
			case 0:
				size = 0
			case 1:
				size = 60 + draw.IntN(80)
			case 2:
				size = draw.IntN(4000)
			}
			list := make([]byte, size)
			for k := range list {
				list[k] = byte(draw.Uint32())
			}
			e, back := anEntry(key, []byte{intsTag, bytesTag, bytesTag, intsTag}[i], i == 0 || i == 3, list)
			body = append(body, e...)
			ends[i] = [2]int{len(body) - back, len(body)}
		}
		m := field(firstTag, body)
		for i, at := range ends {
			if i != 2 {
				want[i][row] = SpanOf(len(m)-len(body)+at[0], len(m)-len(body)+at[1])
			}
		}
		messages[row] = slices.Clip(m)
		total += len(m)
	}
	atEachFamily(t, func() {
		table, got := aTable(t, rows)
		row, bytes := 0, 0
		for row < rows {
			n, size := Note(messages, table, row, 5000)
			if row, bytes = row+n, bytes+size; n == 0 {
				if Notes() && len(messages[row]) > 3 {
					t.Fatalf("row %d of %d bytes is left: % x", row, len(messages[row]), messages[row][:min(200, len(messages[row]))])
				}
				for i := range got {
					if got[i] != nil {
						got[i][row] = want[i][row]
					}
				}
				bytes += len(messages[row])
				row++
			} else if size >= 5000+1<<14 {
				t.Errorf("%d bytes at once", size)
			}
		}
		for i := range got {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("lists %d are not noted as they lie", i)
			}
		}
		if bytes != total {
			t.Errorf("%d of %d bytes", bytes, total)
		}
	})
}

// Messages of any other form are left.
func TestNoteLeft(t *testing.T) {
	one, _ := anEntry("", intsTag, true, []byte{5})
	two, _ := anEntry("bytes", bytesTag, false, []byte{firstTag, 1, 'x'})
	large, _ := anEntry("bytes", bytesTag, false, make([]byte, 200))
	strange, _ := anEntry("strange", bytesTag, false, nil)
	float, _ := anEntry("", 2<<3|2, true, make([]byte, 4))
	for name, m := range map[string][]byte{
		"nothing":                   nil,
		"no features":               field(secondTag, one),
		"another field behind":      append(field(firstTag, one, two), field(secondTag, one)...),
		"cut off":                   field(firstTag, one, two)[:15],
		"another order":             field(firstTag, two, one),
		"a key twice":               field(firstTag, two, two),
		"an unknown key":            field(firstTag, one, strange),
		"a list of another type":    field(firstTag, float, two),
		"numbers that are single":   field(firstTag, field(firstTag, field(firstTag), field(secondTag, field(intsTag, []byte{8, 5})))),
		"a value in two pieces":     field(firstTag, field(firstTag, field(firstTag), field(secondTag, field(intsTag)), field(secondTag))),
		"a value before its key":    field(firstTag, field(firstTag, field(secondTag, field(intsTag)), field(firstTag))),
		"no list":                   field(firstTag, field(firstTag, field(firstTag), field(secondTag))),
		"a long entry cut off":      append([]byte{firstTag, byte(len(large) - 8 | 0x80), byte((len(large) - 8) >> 7)}, large[:len(large)-8]...),
		"an entry beyond its map":   append([]byte{firstTag, byte(len(one))}, append([]byte{firstTag, byte(len(one) + 9)}, one[2:]...)...),
		"a byte behind the entries": field(firstTag, one, two, []byte{firstTag}),
		"more than 16 KiB":          field(firstTag, field(firstTag, make([]byte, 17000))),
	} {
		atEachFamily(t, func() {
			good := field(firstTag, one, two)
			table, got := aTable(t, 3)
			n, size := Note([][]byte{good, slices.Clip(m), good}, table, 0, 1<<20)
			if Notes() && (n != 1 || size != len(good)) || !Notes() && n != 0 || got[0][2] != Absent {
				t.Errorf("%s: %d messages of %d bytes are done", name, n, size)
			}
		})
	}
}

// Whatever the bytes are, no list is noted beyond its message.
func TestNoteHostile(t *testing.T) {
	draw := rand.New(rand.NewPCG(13, 14))
	long := strings.Repeat("long", 13)
	for range 20_000 {
		a, _ := anEntry("", intsTag, true, make([]byte, draw.IntN(3)))
		b, _ := anEntry("bytes", bytesTag, false, make([]byte, draw.IntN(300)))
		c, _ := anEntry(long, intsTag, true, make([]byte, draw.IntN(3)*70))
		m := field(firstTag, a, b, c)
		for range 1 + draw.IntN(3) {
			m[draw.IntN(len(m))] = byte(draw.Uint32()) >> draw.IntN(8)
		}
		if draw.IntN(3) == 0 {
			m = m[:draw.IntN(len(m))]
		}
		m = slices.Clip(m)
		table, got := aTable(t, 1)
		Note([][]byte{m}, table, 0, 1)
		for i := range got {
			if got[i] == nil || got[i][0] == Absent {
				continue
			}
			if from, to := Bounds(got[i][0]); got[i][0] >= 0 || from > to || to > len(m) {
				t.Fatalf("list %d is at %d to %d of % x", i, from, to, m)
			}
		}
	}
}

func TestNotes(t *testing.T) {
	for family := range table.Each() {
		if Notes() != (family.String() == "avx512vbmi") {
			t.Errorf("with %v kernels it is used: %v", family, Notes())
		}
	}
}
