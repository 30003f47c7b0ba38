package parquetio_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"pgregory.net/rapid"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// drawType draws what makes values of one random type: numbers, truth values and texts, of which some repeat, records and lists of
// those, and of each some that are missing.
func drawType(t *rapid.T, depth int) func() any {
	kinds := []string{"number", "word", "text", "truth", "float"}
	if depth > 0 {
		kinds = append(kinds, "list", "list", "record", "record")
	}
	make := func() any { return nil }
	switch rapid.SampledFrom(kinds).Draw(t, "type") {
	case "number":
		make = func() any { return rapid.Int64().Draw(t, "number") }
	case "word":
		make = func() any { return rapid.SampledFrom([]string{"a", "bb", "", "a longer word"}).Draw(t, "word") }
	case "text":
		make = func() any { return rapid.String().Draw(t, "text") }
	case "truth":
		make = func() any { return rapid.Bool().Draw(t, "truth") }
	case "float":
		make = func() any { return rapid.SampledFrom([]float64{0.5, -1, math.Inf(1), 1e300}).Draw(t, "float") }
	case "list":
		item := drawType(t, depth-1)
		make = func() any {
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "length") {
				list = append(list, item())
			}
			return list
		}
	case "record":
		a, b := drawType(t, depth-1), drawType(t, depth-1)
		make = func() any { return map[string]any{"a": a(), "b.c": b()} }
	}
	if rapid.Bool().Draw(t, "optional") {
		return func() any {
			if rapid.IntRange(0, 2).Draw(t, "missing") == 0 {
				return nil
			}
			return make()
		}
	}
	return make
}

// Whatever records hold, and however they are cut into row groups and pages, they come back as they were, also where another
// implementation reads them.
func TestWhatIsWrittenComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := drawType(t, 3)
		var list []any
		for range rapid.IntRange(1, 30).Draw(t, "rows") {
			list = append(list, map[string]any{"x": one(), "y": int64(7)})
		}
		v, err := structured.FromNested(list, structured.NestedOptions{Missing: structured.MissingMasked})
		if err != nil {
			t.Fatal(err)
		}
		o := parquetio.WriteOptions{
			GroupRows: rapid.SampledFrom([]int{0, 1, 7}).Draw(t, "group"), PageBytes: rapid.SampledFrom([]int{0, 1, 20}).Draw(t, "page"),
			Compression: parquetio.Compression(rapid.IntRange(0, 4).Draw(t, "codec")),
		}
		var b bytes.Buffer
		if err := parquetio.Encode(&b, v, o); err != nil {
			t.Skip(err) // unions, and what is missing everywhere
		}
		got, err := parquetio.Decode(b.Bytes(), parquetio.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !tenon.Equal(got.Spec(), v.Spec()) {
			t.Fatalf("got %s, want %s", tenon.String(got.Spec()), tenon.String(v.Spec()))
		}
		want := fmt.Sprint(must(v.(*structured.Tensor).ToNested()))
		if x := fmt.Sprint(must(got.(*structured.Tensor).ToNested())); x != want {
			t.Fatalf("got %v, want %v", x, want)
		}
		table, err := pqarrow.ReadTable(t.Context(), bytes.NewReader(b.Bytes()), parquet.NewReaderProperties(nil), pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		other, err := arrowio.FromTable(table, arrowio.ReadOptions{Plain: true})
		if err != nil {
			t.Fatal(err)
		}
		if x := fmt.Sprint(must(other.(*structured.Tensor).ToNested())); x != want {
			t.Fatalf("arrow-go reads %v, want %v", x, want)
		}
	})
}

// Statistics and the page index say what the values are: missing ones are counted, and numbers that are none have no bounds.
func TestStatistics(t *testing.T) {
	nan := math.NaN()
	there := []bool{true, true, false, true}
	fields := []structured.Field{
		{Name: "int", Value: must(masked.New([]int32{5, -7, 100, 3}, there))},
		{Name: "uint", Value: tensor.Of([]uint64{1, math.MaxUint64, 3, 4})},
		{Name: "float", Value: tensor.Of([]float64{nan, 2, -1, nan})},
		{Name: "nan", Value: tensor.Of([]float32{float32(nan), float32(nan), float32(nan), float32(nan)})},
		{Name: "zero", Value: tensor.Of([]float64{0, 0, 0, 0})},
		{Name: "text", Value: must(masked.New([]string{"b", "ä", "zzz", "a"}, there))},
		{Name: "truth", Value: tensor.Of([]bool{true, true, true, true})},
		{Name: "long", Value: tensor.Of([]string{"a", strings.Repeat("z", 5000), "c", "b"})},
	}
	v := must(structured.FromFields(fields, shape.Of(4), structured.Options{}))
	r := must(file.NewParquetReader(bytes.NewReader(encoded(t, v, parquetio.WriteOptions{}))))
	group := r.MetaData().RowGroup(0)
	for i, want := range []string{"1 -7 5", "0 1 18446744073709551615", "0 -1 2", "0 none", "0 -0 0", "1 a ä", "0 true true", "0 none"} {
		s := must(must(group.ColumnChunk(i)).Statistics())
		got := fmt.Sprint(s.NullCount())
		if !s.HasMinMax() {
			got += " none"
		} else {
			got += fmt.Sprintf(" %v %v", boundOf(s.EncodeMin(), fields[i].Name), boundOf(s.EncodeMax(), fields[i].Name))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", fields[i].Name, got, want)
		}
	}
}

// boundOf returns a bound of a column of TestStatistics.
func boundOf(b []byte, column string) any {
	switch column {
	case "int":
		return int32(binary.LittleEndian.Uint32(b))
	case "uint":
		return binary.LittleEndian.Uint64(b)
	case "float", "zero":
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case "truth":
		return b[0] == 1
	}
	return string(b)
}
