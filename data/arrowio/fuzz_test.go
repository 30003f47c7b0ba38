package arrowio_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
)

// maxFuzzed bounds inputs, so that many are tried.
const maxFuzzed = 12 << 10

// Whatever is read gives a Value that can be written and read again, or an error.
func FuzzDecode(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.arrow*")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) <= maxFuzzed {
			f.Add(b)
		}
	}
	for _, v := range values() {
		for _, o := range []arrowio.WriteOptions{{}, {Stream: true}, {Stream: true, Compression: arrowio.LZ4}} {
			var b bytes.Buffer
			if err := arrowio.Encode(&b, v, o); err != nil {
				f.Fatal(err)
			}
			f.Add(b.Bytes())
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > maxFuzzed {
			return
		}
		v, err := arrowio.Decode(b, arrowio.ReadOptions{MaxBytes: 1 << 24})
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := arrowio.Encode(&out, v, arrowio.WriteOptions{}); err != nil {
			return // a type of the input may have no place in a Spec that is kept
		}
		if _, err := arrowio.Decode(out.Bytes(), arrowio.ReadOptions{}); err != nil {
			t.Errorf("%v cannot be read again: %v", tenon.String(v.Spec()), err)
		}
	})
}

func bufferOf[T int32 | int64 | int8](x ...T) *memory.Buffer {
	b, err := binary.Append(nil, binary.LittleEndian, x)
	if err != nil {
		panic(err)
	}
	return memory.NewBufferBytes(b)
}

// Arrays that lie about their buffers are refused, whatever arrow-go makes of them.
func TestHostileArrays(t *testing.T) {
	ints := array.NewData(arrow.PrimitiveTypes.Int32, 3, []*memory.Buffer{nil, bufferOf[int32](1, 2, 3)}, nil, 0, 0)
	list := arrow.ListOf(arrow.PrimitiveTypes.Int32)
	text := func(offsets *memory.Buffer) arrow.ArrayData {
		return array.NewData(arrow.BinaryTypes.LargeBinary, 2, []*memory.Buffer{nil, offsets, memory.NewBufferBytes([]byte("abc"))}, nil, 0, 0)
	}
	dict := array.NewDataWithDictionary(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.LargeString}, 2,
		[]*memory.Buffer{nil, bufferOf[int32](0, 7)}, 0, 0, array.NewData(arrow.BinaryTypes.LargeString, 1, []*memory.Buffer{nil, bufferOf[int64](0, 1), memory.NewBufferBytes([]byte("a"))}, nil, 0, 0))
	for name, d := range map[string]arrow.ArrayData{
		"falling offsets":   array.NewData(list, 2, []*memory.Buffer{nil, bufferOf[int32](0, 3, 1)}, []arrow.ArrayData{ints}, 0, 0),
		"offsets beyond":    array.NewData(list, 2, []*memory.Buffer{nil, bufferOf[int32](0, 1, 4)}, []arrow.ArrayData{ints}, 0, 0),
		"negative offsets":  array.NewData(list, 1, []*memory.Buffer{nil, bufferOf[int32](-1, 1)}, []arrow.ArrayData{ints}, 0, 0),
		"text beyond":       text(bufferOf[int64](0, 2, 9)),
		"falling text":      text(bufferOf[int64](0, 3, 2)),
		"code beyond words": dict,
		"short child":       array.NewData(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), 2, []*memory.Buffer{nil}, []arrow.ArrayData{ints}, 0, 0),
		"short field":       array.NewData(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32}), 4, []*memory.Buffer{nil}, []arrow.ArrayData{ints}, 0, 0),
		"union tag":         array.NewData(arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}}, []arrow.UnionTypeCode{0}), 3, []*memory.Buffer{nil, bufferOf[int8](0, 5, 0)}, []arrow.ArrayData{ints}, 0, 0),
		"short bitmap":      array.NewData(arrow.PrimitiveTypes.Int32, 3, []*memory.Buffer{memory.NewBufferBytes(nil), bufferOf[int32](1, 2, 3)}, nil, 3, 0),
	} {
		var a arrow.Array
		func() {
			defer func() { _ = recover() }() // arrow-go may refuse it as well
			a = array.MakeFromData(d)
		}()
		if a == nil {
			continue
		}
		if v, err := arrowio.FromArray(arrow.Field{Name: "x"}, a, arrowio.ReadOptions{}); err == nil {
			t.Errorf("%s: read as %v", name, v)
		} else if !strings.Contains(err.Error(), "x") {
			t.Errorf("%s: the error does not name the column: %v", name, err)
		}
	}
}

func TestHostileFiles(t *testing.T) {
	var stream, file bytes.Buffer
	v := batch(3)
	for b, o := range map[*bytes.Buffer]arrowio.WriteOptions{&stream: {Stream: true}, &file: {}} {
		if err := arrowio.Encode(b, v, o); err != nil {
			t.Fatal(err)
		}
	}
	long := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, 1<<30)
	for name, b := range map[string][]byte{
		"nothing":          {},
		"text":             []byte("name,age\nAda,36\n"),
		"long metadata":    long,
		"negative length":  {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"cut stream":       stream.Bytes()[:stream.Len()/2],
		"cut file":         file.Bytes()[:file.Len()/2],
		"only a mark":      []byte("ARROW1\x00\x00"),
		"footer too long":  append([]byte("ARROW1\x00\x00\xff\xff\xff\x7f"), "ARROW1"...),
		"footer of no use": append(append([]byte("ARROW1\x00\x00"), make([]byte, 16)...), append([]byte{8, 0, 0, 0}, "ARROW1"...)...),
	} {
		if v, err := arrowio.Decode(b, arrowio.ReadOptions{}); err == nil {
			t.Errorf("%s: read as %v", name, v)
		}
	}
	// Every byte of the metadata, changed: an error or a value, and no panic or large allocation.
	for _, data := range [][]byte{stream.Bytes(), file.Bytes()} {
		for i := 0; i < len(data); i += 3 {
			b := bytes.Clone(data)
			b[i] ^= 0x55
			_, _ = arrowio.Decode(b, arrowio.ReadOptions{MaxBytes: 1 << 22})
		}
	}
}

// A length without any bytes behind it takes no memory.
func TestLengths(t *testing.T) {
	const n = 1 << 40
	empty := array.NewData(arrow.StructOf(), n, []*memory.Buffer{nil}, nil, 0, 0)
	pairs := array.NewData(arrow.FixedSizeListOf(2, arrow.StructOf()), n/2, []*memory.Buffer{nil}, []arrow.ArrayData{empty}, 0, 0)
	rec := must(structured.FromFields(nil, shape.Of(3), structured.Options{}))
	rows := must(ragged.PartitionFromRowLengths([]int64{1, 2}, ragged.PartitionOptions{}))
	for _, d := range []arrow.ArrayData{array.NewData(arrow.Null, n, nil, nil, n, 0), empty, pairs} {
		for _, s := range []tenon.Spec{nil, rec.Spec(), must(masked.New(rec, []bool{true, true, true})).Spec(), must(rec.PartitionOuterDimension(rows)).Spec()} {
			// Read without taking memory, or refused.
			_, _ = arrowio.FromArray(arrow.Field{Name: "x"}, array.MakeFromData(d), arrowio.ReadOptions{Spec: s})
		}
	}
}

// Compressed data may not take memory without end.
func TestBomb(t *testing.T) {
	var b bytes.Buffer
	if err := arrowio.Encode(&b, of(make([]int64, 1<<20)), arrowio.WriteOptions{Compression: arrowio.Zstd}); err != nil {
		t.Fatal(err)
	}
	if _, err := arrowio.Decode(b.Bytes(), arrowio.ReadOptions{MaxBytes: 1 << 20}); !errors.Is(err, arrowio.ErrMemory) {
		t.Errorf("8 MiB in %d bytes: %v", b.Len(), err)
	}
	if _, err := arrowio.Decode(b.Bytes(), arrowio.ReadOptions{}); err != nil {
		t.Error(err)
	}
}
