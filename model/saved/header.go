package saved

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tenonml/tenon/shape"
)

// maxHeader is the format's limit on the length of a header.
const maxHeader = 100_000_000

// header is the parsed header of a file.
type header struct {
	entries []entry // in the order of their bytes
	meta    map[string]string
}

// parseHeader reads a header and checks that its tensors cover n bytes without gaps or
// overlaps.
func parseHeader(text []byte, n int64) (*header, error) {
	text = bytes.TrimLeft(text, " \t\r\n") // a writer may pad it to a page, and the format's own library allows that
	if len(text) == 0 || text[0] != '{' {
		return nil, fmt.Errorf("the header does not begin with {")
	}
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("the header is not UTF-8")
	}
	if !json.Valid(text) {
		return nil, fmt.Errorf("the header is not JSON: %w", json.Unmarshal(text, new(any)))
	}
	h := &header{meta: map[string]string{}}
	seen := map[string]bool{}
	left := n
	err := members(text, func(name string, value []byte) error {
		if seen[name] {
			return fmt.Errorf("the header has %q twice", name)
		}
		seen[name] = true
		if name == "__metadata__" {
			return h.metadata(value)
		}
		e, err := readEntry(name, value)
		if err == nil && e.end-e.begin > left {
			err = fmt.Errorf("the tensors up to it have %d bytes, but the file has %d for them: they overlap, or bytes are missing", n-left+e.end-e.begin, n)
		}
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		left -= e.end - e.begin
		h.entries = append(h.entries, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return h, h.cover(n)
}

// cover sorts the tensors by offset and checks that they cover n bytes.
func (h *header) cover(n int64) error {
	slices.SortStableFunc(h.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	at := int64(0)
	for i := range h.entries {
		e := &h.entries[i]
		switch {
		case e.begin < at:
			return fmt.Errorf("tensor %q: its bytes from %d on overlap those of %q", e.name, e.begin, h.entries[i-1].name)
		case e.begin > at:
			return fmt.Errorf("tensor %q: bytes %d to %d before it belong to no tensor", e.name, at, e.begin)
		}
		at = e.end
	}
	if at != n {
		return fmt.Errorf("the tensors have %d bytes, but the file has %d for them", at, n)
	}
	return nil
}

// metadata decodes the metadata of the header.
func (h *header) metadata(text []byte) error {
	return members(text, func(key string, value []byte) error {
		if _, ok := h.meta[key]; ok {
			return fmt.Errorf("the metadata has %q twice", key)
		}
		s, err := textOf(value)
		if err != nil {
			return fmt.Errorf("cannot decode the metadata: %q: %w", key, err)
		}
		h.meta[key] = s
		return nil
	})
}

// numbers decodes a list of at most n integers that are not negative.
func numbers(text []byte, n int) (out []int64, err error) {
	err = elements(text, func(value []byte) error {
		x, err := strconv.ParseUint(string(value), 10, 63)
		if err != nil {
			return fmt.Errorf("%s is not a size", short(value))
		}
		if len(out) == n {
			return fmt.Errorf("there are more than %d numbers", n)
		}
		out = append(out, int64(x))
		return nil
	})
	return out, err
}

// readEntry decodes the description of a tensor.
func readEntry(name string, text []byte) (entry, error) {
	e := entry{name: name}
	var dims, offsets []int64
	var seen [3]bool
	err := members(text, func(key string, value []byte) (err error) {
		i := slices.Index(descriptions, key)
		switch {
		case i < 0:
			return fmt.Errorf("%q is not part of a description", key)
		case seen[i]:
			return fmt.Errorf("%q occurs twice", key)
		}
		seen[i] = true
		switch i {
		case 0:
			e.code, err = textOf(value)
		case 1:
			dims, err = numbers(value, shape.MaxRank)
		case 2:
			offsets, err = numbers(value, 2)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
	if err != nil {
		return e, err
	}
	for i, key := range descriptions {
		if !seen[i] {
			return e, fmt.Errorf("%q is missing", key)
		}
	}
	e.shape = make([]int, len(dims))
	for i, d := range dims {
		e.shape[i] = int(d)
	}
	want, err := size(e.code, e.shape)
	if err != nil {
		return e, err
	}
	if len(offsets) != 2 || offsets[0] > offsets[1] {
		return e, fmt.Errorf("data_offsets are %v, want a beginning and an end", offsets)
	}
	e.begin, e.end = offsets[0], offsets[1]
	if e.end-e.begin != want {
		return e, fmt.Errorf("%s%v takes %d bytes, but data_offsets say %d", e.code, e.shape, want, e.end-e.begin)
	}
	return e, nil
}

// descriptions are the parts of a tensor's description.
var descriptions = []string{"dtype", "shape", "data_offsets"}

// appendHeader appends the text of the header, padded to a multiple of eight bytes.
func appendHeader(b []byte, h *header) []byte {
	quote := func(s string) {
		q, _ := json.Marshal(s) // a string always has an encoding
		b = append(b, q...)
	}
	ints := func(xs ...int64) {
		b = append(b, '[')
		for i, x := range xs {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, x, 10)
		}
		b = append(b, ']')
	}
	start := len(b)
	b = append(b, `{"__metadata__":`...)
	meta, _ := json.Marshal(h.meta)
	b = append(b, meta...)
	for _, e := range h.entries {
		b = append(b, ',')
		quote(e.name)
		b = append(b, `:{"dtype":`...)
		quote(e.code)
		b = append(b, `,"shape":`...)
		dims := make([]int64, len(e.shape))
		for i, d := range e.shape {
			dims[i] = int64(d)
		}
		ints(dims...)
		b = append(b, `,"data_offsets":`...)
		ints(e.begin, e.end)
		b = append(b, '}')
	}
	b = append(b, '}')
	for (len(b)-start)%8 != 0 {
		b = append(b, ' ')
	}
	return b
}
