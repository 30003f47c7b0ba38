package parquetio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// panicking is a file that panics when columns are read.
type panicking struct {
	io.ReaderAt
	footer int64
}

func (p panicking) ReadAt(b []byte, at int64) (int, error) {
	if at < p.footer {
		panic("a bug below")
	}
	return p.ReaderAt.ReadAt(b, at)
}

// A panic in what is below is an error of ours, on whatever goroutine: columns are read and written side by side.
func TestPanicsBelowAreErrors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var fields []structured.Field
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		fields = append(fields, structured.Field{Name: name, Value: tensor.Of([]int64{1, 2, 3})})
	}
	v := tenon.Must(structured.FromFields(fields, shape.Of(3), structured.Options{}))
	check := func(what string, err error) {
		t.Helper()
		var e *tenon.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "a bug below") {
			t.Errorf("%s: %v", what, err)
		}
	}
	var b bytes.Buffer
	if err := Encode(&b, v, WriteOptions{Compression: LZ4}); err != nil {
		t.Fatal(err)
	}
	size := int64(b.Len())
	f := &File{}
	src := panicking{bytes.NewReader(b.Bytes()), size - 8 - int64(binary.LittleEndian.Uint32(b.Bytes()[size-8:]))}
	if err := f.open("parquetio.Decode", &part{src: src, size: size, close: func() error { return nil }}); err != nil {
		t.Fatal(err)
	}
	_, err := f.Read()
	check("reading", err)
	_, err = f.At(0)
	check("reading a row group", err)

	lz4Writers = sync.Pool{New: func() any { panic("a bug below") }}
	defer func() { lz4Writers = sync.Pool{New: newLZ4} }()
	check("writing", Encode(io.Discard, v, WriteOptions{Compression: LZ4}))
}
