package arrowio_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// encoded returns a Value as the bytes of a file.
func encoded(t *testing.T, v tenon.Value, o arrowio.WriteOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := arrowio.Encode(&b, v, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// onDisk writes bytes to a file and returns its name.
func onDisk(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// The footer says what the schema of a file is: some writers (Polars from 2.0 on) put none
// behind the first mark.
func TestSchemaIsTakenFromTheFooter(t *testing.T) {
	want := batch(5)
	b := encoded(t, want, arrowio.WriteOptions{BatchRows: 2})
	size := 8 + int(binary.LittleEndian.Uint32(b[12:])) // the first message
	for i := range size {
		b[8+i] = 0xee
	}
	got, err := arrowio.Decode(b, arrowio.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := same(want, got); err != nil {
		t.Error(err)
	}
}

func nestedRecords() *structured.Tensor {
	return must(structured.FromNested([]any{
		map[string]any{"id": 1, "jets": []any{map[string]any{"pt": 1.5, "eta": 0.5, "hits": []any{map[string]any{"x": 1, "y": 2}}}}, "met": map[string]any{"a": 1, "b": "x"}},
		map[string]any{"id": 2, "jets": []any{}, "met": map[string]any{"a": 2, "b": "y"}},
		map[string]any{"id": 3, "jets": []any{map[string]any{"pt": 2.5, "eta": 1.5, "hits": []any{}}, map[string]any{"pt": 3.5, "eta": 2.5, "hits": []any{map[string]any{"x": 3, "y": 4}}}}, "met": map[string]any{"a": 3, "b": "z"}},
	}, structured.NestedOptions{})).(*structured.Tensor)
}

func TestNestedColumnsAreChosen(t *testing.T) {
	in := nestedRecords()
	for _, o := range []arrowio.WriteOptions{{}, {BatchRows: 2}, {Plain: true}, {Stream: true, BatchRows: 1}} {
		b := encoded(t, in, o)
		for _, c := range []struct {
			columns []string
			want    string
		}{
			{[]string{"jets.pt"}, "3 * {jets: var * {pt: float64}}"},
			{[]string{"met.b", "id"}, "3 * {met: {b: string}, id: int64}"},
			{[]string{"jets.hits.y", "jets.pt"}, "3 * {jets: var * {hits: var * {y: int64}, pt: float64}}"},
			{[]string{"jets.hits", "jets.hits.x"}, "3 * {jets: var * {hits: var * {x: int64, y: int64}}}"},
			{[]string{"jets.pt", "jets"}, "3 * {jets: var * {pt: float64, eta: float64, hits: var * {x: int64, y: int64}}}"},
			{[]string{}, "3 * {}"},
		} {
			v, err := arrowio.Decode(b, arrowio.ReadOptions{Columns: c.columns})
			if err != nil {
				t.Errorf("%q: %v", c.columns, err)
				continue
			}
			rec := v.(*structured.Tensor)
			got := structured.Datashape(rec.Spec())
			fields := strings.FieldsFunc(got, func(r rune) bool { return strings.ContainsRune("{}, ", r) })
			want := strings.FieldsFunc(c.want, func(r rune) bool { return strings.ContainsRune("{}, ", r) })
			slices.Sort(fields)
			slices.Sort(want)
			if !slices.Equal(fields, want) { // FromNested sorts keys
				t.Errorf("%q: %s, want %s", c.columns, got, c.want)
			}
			if slices.Equal(c.columns, []string{"jets.pt"}) {
				if err := same(must(in.Field("jets", "pt")), must(rec.Field("jets", "pt"))); err != nil {
					t.Error(err)
				}
			}
		}
		for _, bad := range []string{"jet", "jets.px", "id.x", "met.a.b"} {
			if _, err := arrowio.Decode(b, arrowio.ReadOptions{Columns: []string{bad}}); !errors.Is(err, tenon.ErrNotFound) {
				t.Errorf("%s: %v", bad, err)
			}
		}
	}
}

// Batches of several files are read by number, in any order and at the same time.
func TestFileGivesBatchesByNumber(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a.arrow", "b.arrow", "c.arrow"} {
		x := iota_(12)[4*i : 4*i+4]
		part := must(structured.FromFields([]structured.Field{
			{Name: "x", Value: of(x)}, {Name: "w", Value: must(structured.EncodeStrings([]string{"a", "b", "a", "c"}))},
		}, shape.Of(4), structured.Options{}))
		if err := arrowio.WriteFile(filepath.Join(dir, name), part, arrowio.WriteOptions{BatchRows: 3, Compression: arrowio.Compression(i)}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := arrowio.Open(filepath.Join(dir, "*.arrow"), arrowio.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Len() != 6 {
		t.Fatalf("there are %d batches", f.Len())
	}
	sizes := []int{3, 1, 3, 1, 3, 1}
	var wait sync.WaitGroup
	for _, i := range []int64{5, 0, 3, 3, 1, 4, 2, 0} {
		wait.Go(func() {
			v, err := f.At(i)
			if err != nil {
				t.Errorf("batch %d: %v", i, err)
				return
			}
			x := tensor.Data[int32](must(v.(*structured.Tensor).Field("x")))
			if len(x) != sizes[i] || x[0] != int32(4*(i/2)+3*(i%2)) {
				t.Errorf("batch %d: %v", i, x)
			}
		})
	}
	wait.Wait()
	n := 0
	for v, err := range f.All() {
		if err != nil {
			t.Fatal(err)
		}
		n += v.(*structured.Tensor).Shape().Dim(0)
	}
	if n != 12 {
		t.Errorf("%d rows", n)
	}
	if _, err := f.At(6); !errors.Is(err, tenon.ErrNotFound) {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.At(0); !errors.Is(err, tenon.ErrInvalid) {
		t.Error(err)
	}
	if _, err := arrowio.Open(filepath.Join(dir, "*.feather"), arrowio.ReadOptions{}); !errors.Is(err, tenon.ErrNotFound) || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := arrowio.WriteFile(filepath.Join(dir, "d.arrow"), nestedRecords(), arrowio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := arrowio.Open(filepath.Join(dir, "*.arrow"), arrowio.ReadOptions{}); !errors.Is(err, tenon.ErrDType) || !strings.Contains(err.Error(), "d.arrow") {
		t.Error(err)
	}
}

// One column of a file takes the memory of that column, not of the file; its memory does
// not depend on the file.
func TestOneColumnTakesNoMoreMemoryThanIt(t *testing.T) {
	const n = 1 << 20
	fields := []structured.Field{{Name: "small", Value: tensor.Of(make([]int8, n))}}
	for _, name := range []string{"a", "b", "c", "d"} {
		fields = append(fields, structured.Field{Name: name, Value: tensor.Of(make([]int64, n))})
	}
	in := must(structured.FromFields(fields, shape.Of(n), structured.Options{}))
	path := onDisk(t, "wide.arrow", encoded(t, in, arrowio.WriteOptions{}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err := arrowio.ReadFile(path, arrowio.ReadOptions{Columns: []string{"small"}})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 3*n {
		t.Errorf("a column of %d bytes took %d", n, took)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := same(must(in.Field("small")), must(v.(*structured.Tensor).Field("small"))); err != nil {
		t.Error(err)
	}
}

func TestColumnNamesAreMadeToDiffer(t *testing.T) {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	var cols []arrow.Array
	var fields []arrow.Field
	for i, name := range []string{"a", "", "a", "a"} {
		b.Append(int64(i))
		cols = append(cols, b.NewArray())
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64})
	}
	rec := array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, 1)
	inner := array.NewStructData(array.NewData(arrow.StructOf(fields[1:]...), 1, []*memory.Buffer{nil}, []arrow.ArrayData{cols[1].Data(), cols[2].Data(), cols[3].Data()}, 0, 0))
	v := must(arrowio.FromRecord(rec, arrowio.ReadOptions{})).(*structured.Tensor)
	if got := v.FieldNames(); !slices.Equal(got, []string{"a", "", "a_1", "a_2"}) {
		t.Errorf("got %q", got)
	}
	v = must(arrowio.FromRecord(rec, arrowio.ReadOptions{Columns: []string{"a_2", ""}})).(*structured.Tensor)
	if got := tensor.Data[int64](must(v.Field("a_2"))); !slices.Equal(got, []int64{3}) || len(v.FieldNames()) != 2 {
		t.Errorf("got %v of %q", got, v.FieldNames())
	}
	s := must(arrowio.FromArray(arrow.Field{Name: "s"}, inner, arrowio.ReadOptions{})).(*structured.Tensor)
	if got := s.FieldNames(); !slices.Equal(got, []string{"", "a", "a_1"}) {
		t.Errorf("got %q", got)
	}
}

// A context ends reading and writing, also where a reader hangs.
func TestContextEndsReadingAndWriting(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	b := encoded(t, batch(7), arrowio.WriteOptions{Stream: true, BatchRows: 1})
	pipe, w := io.Pipe()
	begun := make(chan struct{})
	go func() {
		w.Write(b[:len(b)-100]) // and no more
		<-begun
		cancel(enough)
	}()
	x, err := arrowio.NewReader(pipe, arrowio.ReadOptions{Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	close(begun)
	n := 0
	for _, err = range x.All() {
		n++
	}
	if !errors.Is(err, enough) {
		t.Errorf("after %d batches: %v", n, err)
	}
	pipe.Close()
	if _, err := arrowio.Decode(b, arrowio.ReadOptions{Context: ctx}); !errors.Is(err, enough) {
		t.Error(err)
	}
	path := onDisk(t, "kept.arrow", []byte("as it was"))
	if err := arrowio.WriteFile(path, batch(7), arrowio.WriteOptions{Context: ctx}); !errors.Is(err, enough) {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "as it was" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := arrowio.ReadFile("testdata/types.arrow", arrowio.ReadOptions{Context: ctx}); !errors.Is(err, enough) {
		t.Error(err)
	}
	if _, err := arrowio.Open("testdata/types.arrow", arrowio.ReadOptions{Context: ctx}); err != nil {
		t.Error(err) // nothing is read yet
	}
}
