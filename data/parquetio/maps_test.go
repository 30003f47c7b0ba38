package parquetio_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// Maps with keys of any type are maps in Parquet, Arrow and JSON lines, and come back as they were: by their Spec, and by what the file says
// alone.
func TestMapsInFiles(t *testing.T) {
	parse := func(typ element.Type, texts ...string) tensor.Tensor { return must(element.Parse(texts, typ)) }
	p := must(ragged.PartitionFromRowSplits([]int64{0, 2, 2, 3}, ragged.PartitionOptions{}))
	fields := []structured.Field{}
	add := func(name string, keys, values any) {
		m := must(structured.NewMap(p, keys, values))
		fields = append(fields, structured.Field{Name: name, Value: m}, structured.Field{Name: name + "_some", Value: must(masked.New(m, []bool{true, false, true}))})
	}
	add("text", []string{"a", "b", "a"}, []int64{1, 2, 3})
	add("int", []int64{3, 1, 3}, must(masked.New([]string{"x", "", "z"}, []bool{true, false, true})))
	add("bool", []bool{true, false, true}, must(ragged.FromRowSplits([]float64{1, 2, 3}, []int64{0, 2, 2, 3})))
	add("at", parse(element.TimestampOf(time.Millisecond, "UTC"), "2024-02-29T10:11:12.001Z", "1970-01-01T00:00:00Z", "2024-02-29T10:11:12.001Z"), []float32{1, 2, 3})
	add("id", parse(element.UUIDType, "00000000-0000-4000-8000-000000000001", "00000000-0000-0000-0000-000000000000", "00000000-0000-4000-8000-000000000001"), parse(element.DateType, "2024-02-29", "1970-01-01", "2000-01-01"))
	add("price", parse(element.DecimalOf(12, 2), "1.50", "-0.05", "2.00"), []bool{true, false, true})
	v := must(structured.FromFields(fields, shape.Of(3), structured.Options{}))
	want := fmt.Sprint(must(v.ToNested()))

	var file, stream, lines bytes.Buffer
	for _, err := range []error{parquetio.Encode(&file, v, parquetio.WriteOptions{GroupRows: 2}), arrowio.Encode(&stream, v, arrowio.WriteOptions{}), jsonl.Write(&lines, v, jsonl.WriteOptions{})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	f := must(parquetio.Decode(file.Bytes(), parquetio.ReadOptions{}))
	plain := must(parquetio.Decode(file.Bytes(), parquetio.ReadOptions{Plain: true}))
	for name, got := range map[string]tenon.Value{
		"Parquet": f, "Parquet, plain": plain,
		"Arrow":        must(arrowio.Decode(stream.Bytes(), arrowio.ReadOptions{})),
		"Arrow, plain": must(arrowio.Decode(stream.Bytes(), arrowio.ReadOptions{Plain: true})),
		"JSON lines":   must(jsonl.Read(jsonl.Bytes(lines.Bytes()), jsonl.Options{Schema: v.Spec().(*structured.Spec)})),
	} {
		if x := fmt.Sprint(must(got.(*structured.Tensor).ToNested())); x != want {
			t.Errorf("%s: got %s, want %s", name, x, want)
		}
		if a, b := structured.Datashape(got.Spec()), structured.Datashape(v.Spec()); a != b {
			t.Errorf("%s: got %s, want %s", name, a, b)
		}
	}
	b := must(arrowio.ToRecord(v))
	for _, c := range b.Schema().Fields() {
		if c.Type.ID() != arrow.MAP {
			t.Errorf("%s is %v in Arrow", c.Name, c.Type)
		}
	}
}
