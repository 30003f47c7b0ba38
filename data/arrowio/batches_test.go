package arrowio_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// batch returns records of all kinds of columns, of n rows.
func batch(n int) *structured.Tensor {
	lengths := make([]int64, n)
	words := make([]string, n)
	for i := range lengths {
		lengths[i], words[i] = int64(i%3), []string{"a", "bb"}[i%2]
	}
	total := 0
	for _, l := range lengths {
		total += int(l)
	}
	r := must(ragged.FromRowLengths(iota_(total), lengths))
	return must(structured.FromFields([]structured.Field{
		{Name: "x", Value: of(iota_(n))},
		{Name: "m", Value: of(iota_(2*n), n, 2)},
		{Name: "r", Value: r},
		{Name: "w", Value: must(structured.EncodeStrings(words))},
		{Name: "u", Value: must(structured.NewUnion(make([]int8, n), []structured.Field{{Name: "i", Value: of(iota_(n))}, {Name: "s", Value: of(words)}}))},
		{Name: "p", Value: must(structured.HoldRows(Pair{of(iota_(n)), of(iota_(n)), "m"}))},
		{Name: "d", Value: named.Of(of(iota_(3*n), n, 3), named.Rows{}, Features{})},
	}, shape.Of(n), structured.Options{}))
}

func TestBatches(t *testing.T) {
	want := batch(7)
	for _, o := range []arrowio.WriteOptions{{BatchRows: 3}, {BatchRows: 3, Stream: true}, {BatchRows: 1, Stream: true, Compression: arrowio.LZ4}, {BatchRows: 100}} {
		var b bytes.Buffer
		if err := arrowio.Encode(&b, want, o); err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		got, err := arrowio.Decode(b.Bytes(), arrowio.ReadOptions{})
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		if err := same(want, got); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestStream(t *testing.T) {
	var b bytes.Buffer
	w := arrowio.NewWriter(&b, arrowio.WriteOptions{Stream: true})
	sizes := []int{3, 0, 5}
	for _, n := range sizes {
		if err := w.Write(batch(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(batch(1)); err == nil {
		t.Error("a closed writer takes values")
	}
	r, err := arrowio.NewReader(iotest{&b}, arrowio.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Schema().NumFields(); n != 7 {
		t.Errorf("%d columns", n)
	}
	var got []tenon.Value // which stay what they are while others are read
	for v, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	if _, err := r.Next(); len(got) != 3 || err != io.EOF {
		t.Fatalf("%d batches, then %v", len(got), err)
	}
	for i, v := range got {
		if err := same(batch(sizes[i]), v); err != nil {
			t.Errorf("batch %d: %v", i, err)
		}
	}
}

// iotest gives a byte at a time.
type iotest struct{ r io.Reader }

func (r iotest) Read(b []byte) (int, error) { return r.r.Read(b[:min(1, len(b))]) }

func TestTable(t *testing.T) {
	table, err := arrowio.ToTable(batch(2), batch(3))
	if err != nil {
		t.Fatal(err)
	}
	got, err := arrowio.FromTable(table, arrowio.ReadOptions{Columns: []string{"r", "x"}})
	if err != nil {
		t.Fatal(err)
	}
	rec := got.(*structured.Tensor)
	if x := tensor.Data[int32](must(rec.Field("x"))); len(x) != 5 || x[2] != 0 || x[4] != 2 {
		t.Errorf("x is %v", x)
	}
	if names := strings.Join(rec.FieldNames(), " "); names != "r x" {
		t.Errorf("the fields are %s", names)
	}
	if _, err := arrowio.ToTable(batch(2), tensor.Scalar(1)); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("different columns: %v", err)
	}
}

// What is UTF-8 by chance fits a column of bytes, and not the other way round.
func TestBytesThatAreText(t *testing.T) {
	for _, c := range []struct {
		first, second string
		ok            bool
	}{{"\xff", "ok", true}, {"ok", "\xff", false}} {
		w := arrowio.NewWriter(io.Discard, arrowio.WriteOptions{})
		if err := w.Write(rowsOf([]int64{0, 1}, []string{c.first})); err != nil {
			t.Fatal(err)
		}
		err := w.Write(rowsOf([]int64{0, 1}, []string{c.second}))
		if c.ok != (err == nil) {
			t.Errorf("%q after %q: %v", c.second, c.first, err)
		}
	}
}

func TestDictionariesThatChange(t *testing.T) {
	w := arrowio.NewWriter(io.Discard, arrowio.WriteOptions{})
	if err := w.Write(must(structured.EncodeStrings([]string{"a"}))); err != nil {
		t.Fatal(err)
	}
	err := w.Write(must(structured.EncodeStrings([]string{"b"})))
	if err == nil || tenon.AsError(err).Hint != "set WriteOptions.Stream" {
		t.Errorf("got %v", err)
	}
}

// Numbers, offsets and texts are not copied.
func TestZeroCopy(t *testing.T) {
	x := []float32{1, 2, 3, 4}
	v := must(ragged.FromRowSplits(x, []int64{0, 1, 4}))
	f, a, err := arrowio.ToArray("x", v)
	if err != nil {
		t.Fatal(err)
	}
	at := func(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
	if at(a.Data().Children()[0].Buffers()[1].Bytes()) != unsafe.Pointer(&x[0]) {
		t.Error("the values are copied to Arrow")
	}
	splits := tensor.Data[int64](v.RowSplits())
	if at(a.Data().Buffers()[1].Bytes()) != unsafe.Pointer(&splits[0]) {
		t.Error("the splits are copied to Arrow")
	}
	got := must(arrowio.FromArray(f, a, arrowio.ReadOptions{})).(*ragged.Tensor)
	if &tensor.Data[float32](got.FlatValues())[0] != &x[0] || &tensor.Data[int64](got.RowSplits())[0] != &splits[0] {
		t.Error("values or splits are copied from Arrow")
	}
	got = must(arrowio.FromArray(f, a, arrowio.ReadOptions{Copy: true})).(*ragged.Tensor)
	if &tensor.Data[float32](got.FlatValues())[0] == &x[0] || &tensor.Data[int64](got.RowSplits())[0] == &splits[0] {
		t.Error("values or splits are shared in spite of Copy")
	}
	var b bytes.Buffer
	if err := arrowio.Encode(&b, of(x), arrowio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	data := tensor.Data[float32](must(arrowio.Decode(b.Bytes(), arrowio.ReadOptions{})))
	if p := uintptr(unsafe.Pointer(&data[0])) - uintptr(at(b.Bytes())); p >= uintptr(b.Len()) {
		t.Error("a file in memory is copied")
	}
}

// A type that is not known while a file is read comes back opaque, goes into a file again,
// and is itself again where it is known.
func TestUnknownType(t *testing.T) {
	for _, rows := range []bool{false, true} {
		typ := must(ext.Declare("example.com/arrow.Unknown", reflect.TypeFor[struct{ A, B tensor.Tensor }]()))
		v := must(typ.New(map[string]any{"A": tensor.Scalar(1.5), "B": of([]string{"x", "y"})}))
		if rows {
			v = must(typ.New(map[string]any{"A": of([]int8{1, 2}), "B": of([]string{"x", "y"})}))
		}
		var b, again bytes.Buffer
		if err := arrowio.Encode(&b, v, arrowio.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := typ.Forget(); err != nil {
			t.Fatal(err)
		}
		got := must(arrowio.Decode(b.Bytes(), arrowio.ReadOptions{}))
		if _, ok := got.(*tenon.OpaqueValue); !ok {
			t.Fatalf("rows %v: got %v", rows, got)
		}
		if err := arrowio.Encode(&again, got, arrowio.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		typ = must(ext.Declare("example.com/arrow.Unknown", reflect.TypeFor[struct{ A, B tensor.Tensor }]()))
		v = must(typ.New(map[string]any{"A": must(v.Field("A")), "B": must(v.Field("B"))}))
		for _, data := range [][]byte{b.Bytes(), again.Bytes()} {
			back := must(arrowio.Decode(data, arrowio.ReadOptions{}))
			if err := same(v, back); err != nil {
				t.Errorf("rows %v: %v", rows, err)
			}
		}
		if err := typ.Forget(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPlain(t *testing.T) {
	var b bytes.Buffer
	x := named.Of(of([]dtype.BF16{1, 2}, 1, 2), Batch{}, Features{})
	if err := arrowio.Encode(&b, x, arrowio.WriteOptions{Plain: true}); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b.Bytes(), []byte("tenon.")) {
		t.Error("there are Specs in a plain file")
	}
	rec := must(arrowio.Decode(b.Bytes(), arrowio.ReadOptions{})).(*structured.Tensor)
	if got := tenon.String(must(rec.Field("value")).Spec()); got != "uint16{Rows:1 Features:2}" {
		t.Errorf("got %s", got)
	}
	got := must(arrowio.Decode(b.Bytes(), arrowio.ReadOptions{Spec: x.Spec()}))
	if err := same(x, got); err != nil {
		t.Error(err)
	}
	if _, err := arrowio.Decode(b.Bytes(), arrowio.ReadOptions{Spec: ops.Shape(of([]int32{1})).Spec()}); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("another Spec: %v", err)
	}
}
