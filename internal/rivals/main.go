// Command rivals writes a Parquet file and an Arrow file with elements of all types, some of them missing and in rows
// of different lengths, and the same records as JSON lines. For each codec it also writes a Parquet file of nested
// records with many row groups and pages, and an encrypted one. read.py reads them with pyarrow, polars and duckdb,
// including conditions that use statistics and page indexes, and compares the results with the lines:
//
//	go run ./internal/rivals DIR && python internal/rivals/read.py DIR
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

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

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: rivals DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// columns have three elements each.
var columns = []struct {
	name  string
	typ   element.Type
	texts []string
}{
	{"ms", element.TimestampOf(time.Millisecond, "UTC"), []string{"2024-02-29T10:11:12.001Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z"}},
	{"us", element.TimestampOf(time.Microsecond, ""), []string{"2024-07-01T12:00:00.000001", "2024-01-01T12:00:00", "1900-01-01T00:00:00"}},
	{"date", element.DateType, []string{"2024-02-29", "1900-01-01", "2100-12-31"}},
	{"time", element.TimeOf(time.Microsecond), []string{"10:11:12.000001", "23:59:59.999999", "00:00:00"}},
	{"price", element.DecimalOf(10, 2), []string{"12.30", "-0.05", "0.00"}},
	{"wide", element.DecimalOf(38, 4), []string{"1234567890123456789012345678901234.5678", "-0.0005", "1.0000"}},
	{"fixed", element.FixedOf(3), []string{"AAEC", "////", "YWJj"}},
	{"id", element.UUIDType, []string{"00000000-0000-4000-8000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000000"}},
}

func write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := writeAll(dir); err != nil {
		return err
	}
	return writeMany(dir)
}

// writeAll writes elements of all types.
func writeAll(dir string) (err error) {
	defer tenon.Catch(&err)
	fields := []structured.Field{
		{Name: "n", Value: tensor.Vector([]int64{1, 2, 3})},
		{Name: "text", Value: tenon.Must(masked.New([]string{"a", "", "βγ"}, []bool{true, false, true}))},
		{Name: "lists", Value: tenon.Must(ragged.FromNestedRowSplits([]float64{1.5, 2, 3}, []int64{0, 2, 2, 3}, []int64{0, 1, 1, 3}))},
	}
	for _, c := range columns {
		x := tenon.Must(element.Parse(c.texts, c.typ))
		fields = append(fields, structured.Field{Name: c.name, Value: tenon.Must(masked.New(x, []bool{true, false, true}))},
			structured.Field{Name: c.name + "_rows", Value: tenon.Must(ragged.FromRowSplits(x, []int64{0, 0, 2, 3}))})
	}
	entries := tenon.Must(ragged.PartitionFromRowSplits([]int64{0, 2, 2, 3}, ragged.PartitionOptions{}))
	fields = append(fields, structured.Field{Name: "numbers", Value: tenon.Must(structured.NewMap(entries, []int64{3, 1, 3}, tenon.Must(masked.New([]string{"x", "", "z"}, []bool{true, false, true}))))})
	t := tenon.Must(structured.FromFields(fields, shape.Of(3), structured.Options{NRows: 3}))
	for _, f := range []func() error{
		func() error {
			return parquetio.WriteFile(filepath.Join(dir, "all.parquet"), t, parquetio.WriteOptions{})
		},
		func() error { return arrowio.WriteFile(filepath.Join(dir, "all.arrow"), t, arrowio.WriteOptions{}) },
		func() error { return jsonl.WriteFile(filepath.Join(dir, "all.jsonl"), t, jsonl.WriteOptions{}) },
	} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// writeMany writes many records, in row groups of 700 whose pages are small.
func writeMany(dir string) error {
	const n = 5000
	draw := rand.New(rand.NewPCG(1, 2))
	some := func(f func() any) any {
		if draw.IntN(5) == 0 {
			return nil
		}
		return f()
	}
	list := make([]any, n)
	for i := range list {
		jets := []any{}
		for range draw.IntN(4) {
			hits := []any{}
			for range draw.IntN(5) {
				hits = append(hits, draw.Int64N(1000))
			}
			jets = append(jets, structured.Record{{Name: "cat", Value: some(func() any { return fmt.Sprint("cat", draw.IntN(7)) })}, {Name: "pt", Value: draw.Float64()}, {Name: "hits", Value: some(func() any { return hits })}})
		}
		list[i] = structured.Record{
			{Name: "i", Value: int64(i)}, {Name: "run", Value: int64(i / 100)}, {Name: "constant", Value: "x"},
			{Name: "word", Value: some(func() any { return fmt.Sprint("word", draw.IntN(300)) })},
			{Name: "text", Value: fmt.Sprintf("text %d ü", draw.Int64())},
			{Name: "flag", Value: some(func() any { return draw.IntN(2) == 0 })},
			{Name: "x", Value: some(func() any { return draw.NormFloat64() })},
			{Name: "jets", Value: some(func() any { return jets })},
			{Name: "geo", Value: some(func() any {
				return structured.Record{{Name: "lat", Value: draw.Float64()}, {Name: "name", Value: some(func() any { return "a name" })}}
			})},
		}
	}
	t, err := structured.FromNested(list, structured.NestedOptions{Missing: structured.MissingMasked})
	if err != nil {
		return err
	}
	if err := jsonl.WriteFile(filepath.Join(dir, "many.jsonl"), t, jsonl.WriteOptions{}); err != nil {
		return err
	}
	for codec, name := range map[parquetio.Compression]string{parquetio.Zstd: "zstd", parquetio.Uncompressed: "none", parquetio.Snappy: "snappy", parquetio.Gzip: "gzip", parquetio.LZ4: "lz4"} {
		o := parquetio.WriteOptions{GroupRows: 700, PageBytes: 1000, Compression: codec}
		if err := parquetio.WriteFile(filepath.Join(dir, "many-"+name+".parquet"), t, o); err != nil {
			return err
		}
	}
	keys := &parquetio.Keys{Footer: []byte("0123456789abcdef")}
	return parquetio.WriteFile(filepath.Join(dir, "sealed.parquet"), t, parquetio.WriteOptions{GroupRows: 700, PageBytes: 1000, Keys: keys})
}
