package protoio_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/protoio"
)

func written(t testing.TB, o protoio.RecordOptions, records ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := protoio.NewRecordWriter(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Write([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(b []byte, o protoio.RecordOptions) (out []string, err error) {
	r, err := protoio.NewRecordReader(bytes.NewReader(b), o)
	if err != nil {
		return nil, err
	}
	for record, err := range r.All() {
		if err != nil {
			return out, err
		}
		out = append(out, string(record))
	}
	return out, nil
}

func TestRecords(t *testing.T) {
	records := []string{"", "one", strings.Repeat("long ", 1<<19), "\x1f\x8b"}
	for _, c := range []protoio.Compression{protoio.None, protoio.GZIP, protoio.ZLIB} {
		b := written(t, protoio.RecordOptions{Compression: c}, records...)
		for _, as := range []protoio.Compression{c, protoio.Auto} {
			got, err := read(b, protoio.RecordOptions{Compression: as})
			if err != nil {
				t.Fatalf("compression %d read as %d: %v", c, as, err)
			}
			if diff := cmp.Diff(records, got); diff != "" {
				t.Errorf("compression %d read as %d differs", c, as)
			}
		}
	}
	if got, err := read(nil, protoio.RecordOptions{}); err != nil || len(got) != 0 {
		t.Errorf("an empty file: %v, %v", got, err)
	}
}

// A record that TensorFlow 2.21 wrote.
func TestRecordOfTensorFlow(t *testing.T) {
	const file = "\x03\x00\x00\x00\x00\x00\x00\x00\xb0\x99\x49\x0e\x61\x62\x63\x6e\x57\xf1\x21\x00\x00\x00\x00\x00\x00\x00\x00\x29\x03\x98\x07\xd8\xea\x82\xa2"
	got, err := read([]byte(file), protoio.RecordOptions{})
	if diff := cmp.Diff([]string{"abc", ""}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if b := written(t, protoio.RecordOptions{}, "abc", ""); string(b) != file {
		t.Errorf("got %q", b)
	}
}

// A length whose first bytes look like gzip's is a length where its check agrees.
func TestLengthThatLooksCompressed(t *testing.T) {
	want := []string{strings.Repeat("x", 0x8b1f)}
	b := written(t, protoio.RecordOptions{}, want...)
	if b[0] != 0x1f || b[1] != 0x8b {
		t.Fatalf("the file begins with % x", b[:2])
	}
	if got, err := read(b, protoio.RecordOptions{}); err != nil || cmp.Diff(want, got) != "" {
		t.Error(err)
	}
}

func TestRecordsRefused(t *testing.T) {
	good := written(t, protoio.RecordOptions{}, "first", "second")
	change := func(at int) []byte {
		b := bytes.Clone(good)
		b[at] ^= 1
		return b
	}
	for name, c := range map[string]struct {
		b     []byte
		o     protoio.RecordOptions
		where string
	}{
		"length":         {change(0), protoio.RecordOptions{}, "record 0"},
		"check":          {change(9), protoio.RecordOptions{}, "record 0"},
		"data":           {change(34), protoio.RecordOptions{}, "record 1"},
		"check of data":  {change(len(good) - 1), protoio.RecordOptions{}, "record 1"},
		"cut off":        {good[:len(good)-1], protoio.RecordOptions{}, "record 1"},
		"cut off header": {good[:25], protoio.RecordOptions{}, "record 1"},
		"too long":       {good, protoio.RecordOptions{MaxRecord: 5}, "record 1"},
		"not gzip":       {good, protoio.RecordOptions{Compression: protoio.GZIP}, "requested compression"},
		"not zlib":       {good, protoio.RecordOptions{Compression: protoio.ZLIB}, "requested compression"},
		"no such way":    {good, protoio.RecordOptions{Compression: 9}, "compression"},
	} {
		if _, err := read(c.b, c.o); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), c.where) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A length that the file does not have costs no memory.
func TestClaimedLength(t *testing.T) {
	b := written(t, protoio.RecordOptions{}, strings.Repeat("x", 1<<22))[:100]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := read(b, protoio.RecordOptions{}); err == nil {
		t.Error("it is accepted")
	}
	runtime.ReadMemStats(&after)
	allocs := after.TotalAlloc - before.TotalAlloc
	if allocs > 3<<20 {
		t.Errorf("%d bytes were allocated", allocs)
	}
}

func FuzzRecords(f *testing.F) {
	for _, c := range []protoio.Compression{protoio.None, protoio.GZIP, protoio.ZLIB} {
		f.Add(written(f, protoio.RecordOptions{Compression: c}, "a", "bc"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := protoio.NewRecordReader(bytes.NewReader(b), protoio.RecordOptions{MaxRecord: 1 << 20})
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, io.EOF) && !errors.As(err, new(*tenon.Error)) {
			t.Fatal(err)
		}
	})
}

// A context ends reading, also where the reader hangs, and writing.
func TestContextEndsRecords(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	b := written(t, protoio.RecordOptions{}, "one", "two", "three")
	pipe, w := io.Pipe()
	defer pipe.Close()
	go func() {
		w.Write(b[:len(b)-10]) // and no more
		cancel(enough)
	}()
	r, err := protoio.NewRecordReader(pipe, protoio.RecordOptions{Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	for _, err = range r.All() {
	}
	if !errors.Is(err, enough) {
		t.Error(err)
	}
	x, err := protoio.NewRecordWriter(io.Discard, protoio.RecordOptions{Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(x.Write([]byte("one")), x.Close()); !errors.Is(err, enough) {
		t.Error(err)
	}
}
