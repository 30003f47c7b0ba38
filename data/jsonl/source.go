package jsonl

import (
	"io"
	"slices"

	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/jsoncol"
)

// A Source is JSON text to read, in one or several pieces. Records do not extend from one piece to
// the next. Text compressed with gzip or zstd is recognised by its first bytes, which no JSON text
// begins with.
type Source struct {
	inputs []input.Input
	err    error // error of finding the files
}

// Bytes returns a source of the text b, which is neither modified nor retained.
func Bytes(b []byte) Source { return Source{inputs: []input.Input{input.Bytes(b)}} }

// Reader returns a source of the text from r, which can be read only once. The name is used in
// errors.
func Reader(name string, r io.Reader) Source {
	return Source{inputs: []input.Input{input.Reader(name, r)}}
}

// Files returns a source of the text in files, one after the other.
func Files(names ...string) Source {
	var s Source
	for _, name := range names {
		s.inputs = append(s.inputs, input.File(name))
	}
	return s
}

// Glob returns a source of the text in the files whose names match any of the patterns, in the form
// of filepath.Match, sorted by name. A pattern without matches is an error when the source is read.
func Glob(patterns ...string) Source {
	names, err := input.Glob(patterns...)
	s := Files(names...)
	s.err = err
	return s
}

// Join returns a source of the text of several sources, one after the other.
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

// open returns the inputs of the source for package jsoncol.
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
