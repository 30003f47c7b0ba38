package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// linesPerBlock is the number of lines that are read at a time.
const linesPerBlock = 1024

// Lines returns the dataset of the lines of text files, without their ends (\n or \r\n), one file
// after the other. Elements are scalar strings. Each file is scanned once to locate its lines, and
// is then read in blocks of 1024 lines. A compressed file makes the dataset a stream.
func Lines(names ...string) (*dataset.Dataset[tensor.Tensor], error) {
	var parts []*dataset.Dataset[tensor.Tensor]
	for _, name := range names {
		in := input.File(name)
		var d *dataset.Dataset[tensor.Tensor]
		if in.Size > 0 {
			x, err := indexed(name)
			if err != nil {
				return nil, inFile("Lines", name, err)
			}
			d = dataset.FromBlocks(x.sizes, x.read, dataset.BlockOptions{Name: func(block int64) string { return fmt.Sprintf("%s: block %d of lines", name, block) }})
		} else {
			d = dataset.FromBatches(func() iter.Seq2[tensor.Tensor, error] { return streamed(name, in) })
		}
		parts = append(parts, d)
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return dataset.Concat(parts...), nil
}

// lineIndex locates the blocks of lines in a file.
type lineIndex struct {
	name   string
	starts []int64 // positions of the blocks, and the end
	sizes  []int64
}

// indexed scans a file.
func indexed(name string) (x *lineIndex, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	x = &lineIndex{name: name}
	buf := make([]byte, 1<<18)
	at, lines, open := int64(0), int64(0), false // open: there is text after the last line end
	for {
		n, err := f.Read(buf)
		for b, base := buf[:n], at; len(b) > 0; {
			if lines == 0 && !open {
				x.starts = append(x.starts, base)
			}
			k := bytes.IndexByte(b, '\n')
			if k < 0 {
				open = true
				break
			}
			b, base, open = b[k+1:], base+int64(k)+1, false
			if lines++; lines == linesPerBlock {
				x.sizes, lines = append(x.sizes, lines), 0
			}
		}
		at += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if open {
		lines++
	}
	if lines > 0 {
		x.sizes = append(x.sizes, lines)
	}
	x.starts = append(x.starts, at)
	return x, nil
}

// read reads a block of lines.
func (x *lineIndex) read(i int64) (t tensor.Tensor, err error) {
	f, err := os.Open(x.name)
	if err != nil {
		return nil, inFile("Lines", x.name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := make([]byte, x.starts[i+1]-x.starts[i])
	if _, err := f.ReadAt(b, x.starts[i]); err != nil {
		return nil, inFile("Lines", x.name, err)
	}
	ends, text := []int64{0}, b[:0:0]
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte{'\n'})
		text = append(text, bytes.TrimSuffix(line, []byte{'\r'})...)
		ends, b = append(ends, int64(len(text))), rest
	}
	return tensor.NewStrings(ends, text, shape.Of(len(ends)-1))
}

// streamed returns the lines of a file as vectors.
func streamed(name string, in input.Input) iter.Seq2[tensor.Tensor, error] {
	return func(yield func(tensor.Tensor, error) bool) {
		r, err := in.Open()
		if err != nil {
			yield(nil, inFile("Lines", name, err))
			return
		}
		defer func() { _ = r.Close() }() // everything read has been passed on
		from := bufio.NewReaderSize(r, 1<<16)
		ends, text := []int64{0}, []byte(nil)
		flush := func() bool {
			if len(ends) == 1 {
				return true
			}
			t, err := tensor.NewStrings(slices.Clone(ends), slices.Clone(text), shape.Of(len(ends)-1))
			ends, text = ends[:1], text[:0]
			return yield(t, err)
		}
		for {
			line, err := from.ReadBytes('\n')
			if len(line) > 0 {
				if line[len(line)-1] == '\n' {
					line = bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'})
				} else {
					line = bytes.TrimSuffix(line, []byte{'\r'})
				}
				text = append(text, line...)
				ends = append(ends, int64(len(text)))
			}
			if err != nil && err != io.EOF {
				if flush() {
					yield(nil, inFile("Lines", name, err))
				}
				return
			}
			if len(ends) > linesPerBlock || err != nil {
				if !flush() || err != nil {
					return
				}
			}
		}
	}
}
