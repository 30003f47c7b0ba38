package saved

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tenonml/tenon/shape"
)

// maxHeader is the limit that the format sets to the length of a header.
const maxHeader = 100_000_000

// header is the parsed header of a file.
type header struct {
	entries []entry // in the order of their bytes
	meta    map[string]string
}

// parseHeader reads a header and checks that its tensors cover n bytes without gaps or
// overlaps.
func parseHeader(text []byte, n int64) (*header, error) {
	text = bytes.TrimLeft(text, " \t\r\n") // a writer may pad it to a page, as the format's own library allows
	if len(text) == 0 || text[0] != '{' {
		return nil, fmt.Errorf("the header does not begin with {")
	}
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("the header is not UTF-8")
	}
	p := &headerParser{dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	h := &header{meta: map[string]string{}}
	seen := map[string]bool{}
	err := p.object("the header", func(name string) error {
		if seen[name] {
			return fmt.Errorf("the header has %q twice", name)
		}
		seen[name] = true
		if name == "__metadata__" {
			return p.metadata(h.meta)
		}
		e, err := p.entry(name)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		h.entries = append(h.entries, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if rest := bytes.TrimSpace(text[p.dec.InputOffset():]); len(rest) > 0 {
		return nil, fmt.Errorf("the header goes on behind its end")
	}
	return h, h.cover(n)
}

// cover sorts the tensors by their place.
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
		return fmt.Errorf("the tensors have %d bytes, the file has %d for them", at, n)
	}
	return nil
}

// headerParser reads JSON by tokens: keys that occur twice are not lost that way.
type headerParser struct {
	dec *json.Decoder
}

func (p *headerParser) delim(want json.Delim, what string) error {
	t, err := p.dec.Token()
	if err != nil {
		return syntax(err)
	}
	if t != want {
		return fmt.Errorf("%s is %v, want %v", what, t, want)
	}
	return nil
}

func syntax(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("the header is not JSON: %w", err)
}

// object reads an object and calls f in front of each value.
func (p *headerParser) object(what string, f func(key string) error) error {
	if err := p.delim('{', what); err != nil {
		return err
	}
	for p.dec.More() {
		t, err := p.dec.Token()
		if err != nil {
			return syntax(err)
		}
		if err := f(t.(string)); err != nil {
			return err
		}
	}
	return p.delim('}', what)
}

func (p *headerParser) metadata(meta map[string]string) error {
	return p.object("__metadata__", func(key string) error {
		if _, ok := meta[key]; ok {
			return fmt.Errorf("the metadata have %q twice", key)
		}
		s, err := p.string("the value of " + strconv.Quote(key))
		meta[key] = s
		return err
	})
}

func (p *headerParser) string(what string) (string, error) {
	t, err := p.dec.Token()
	if err != nil {
		return "", syntax(err)
	}
	s, ok := t.(string)
	if !ok {
		return "", fmt.Errorf("%s is no string", what)
	}
	return s, nil
}

// numbers reads a list of at most n whole numbers that are not negative.
func (p *headerParser) numbers(what string, n int) ([]int64, error) {
	if err := p.delim('[', what); err != nil {
		return nil, err
	}
	out := []int64{}
	for p.dec.More() {
		t, err := p.dec.Token()
		if err != nil {
			return nil, syntax(err)
		}
		num, _ := t.(json.Number)
		x, err := strconv.ParseUint(string(num), 10, 63)
		if err != nil {
			return nil, fmt.Errorf("%s: %v is no size", what, t)
		}
		if len(out) == n {
			return nil, fmt.Errorf("%s has more than %d numbers", what, n)
		}
		out = append(out, int64(x))
	}
	return out, p.delim(']', what)
}

func (p *headerParser) entry(name string) (entry, error) {
	e := entry{name: name}
	var dims, offsets []int64
	seen := map[string]bool{}
	err := p.object("its description", func(key string) error {
		if seen[key] {
			return fmt.Errorf("%q is there twice", key)
		}
		seen[key] = true
		var err error
		switch key {
		case "dtype":
			e.code, err = p.string("dtype")
		case "shape":
			dims, err = p.numbers("shape", shape.MaxRank)
		case "data_offsets":
			offsets, err = p.numbers("data_offsets", 2)
		default:
			err = fmt.Errorf("%q is no part of a description", key)
		}
		return err
	})
	if err != nil {
		return e, err
	}
	for _, key := range []string{"dtype", "shape", "data_offsets"} {
		if !seen[key] {
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
		return e, fmt.Errorf("data_offsets are %v, want the begin and the end", offsets)
	}
	e.begin, e.end = offsets[0], offsets[1]
	if e.end-e.begin != want {
		return e, fmt.Errorf("%s%v takes %d bytes, data_offsets say %d", e.code, e.shape, want, e.end-e.begin)
	}
	return e, nil
}

// appendHeader appends the header's text, as long as a multiple of eight bytes.
func appendHeader(b []byte, h *header) []byte {
	quote := func(s string) {
		q, _ := json.Marshal(s) // a string has a form in JSON
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
