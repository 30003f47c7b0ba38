package jsonl

import (
	"io"
	"slices"

	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/jsoncol"
)

// A Source is JSON text to read: one or several pieces, none of whose records go on in
// the next. Text that is compressed with gzip or zstd is recognised by its first bytes,
// which no JSON begins with.
type Source struct {
	inputs []input.Input
	err    error // the files could not be found
}

// Bytes returns the text b. It is not changed, and nothing of it is kept.
func Bytes(b []byte) Source { return Source{inputs: []input.Input{input.Bytes(b)}} }

// Reader returns the text that r gives, once. The name is for errors.
func Reader(name string, r io.Reader) Source {
	return Source{inputs: []input.Input{input.Reader(name, r)}}
}

// Files returns the text in files, one behind the other.
func Files(names ...string) Source {
	var s Source
	for _, name := range names {
		s.inputs = append(s.inputs, input.File(name))
	}
	return s
}

// Glob returns the text in the files whose names match one of some patterns, as
// filepath.Match has them, in the order of their names. A pattern that matches none is an
// error of reading.
func Glob(patterns ...string) Source {
	names, err := input.Glob(patterns...)
	s := Files(names...)
	s.err = err
	return s
}

// Join returns the text of several sources, one behind the other.
func Join(sources ...Source) Source {
	var s Source
	for _, x := range sources {
		s.inputs = append(s.inputs, x.inputs...)
		if s.err == nil {
			s.err = x.err
		}
	}
	return s
}

// open returns the source as the reader of columns takes it.
func (s Source) open() []jsoncol.Input {
	out := make([]jsoncol.Input, len(s.inputs))
	for i, in := range s.inputs {
		out[i] = jsoncol.Input{Name: in.Name, Data: in.Data, Open: in.Open, Size: in.Size, Once: in.Once}
	}
	return out
}

// again reports whether the source can be read more than once.
func (s Source) again() bool {
	return !slices.ContainsFunc(s.inputs, func(in input.Input) bool { return in.Once })
}
