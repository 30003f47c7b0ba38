package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/structured"
)

// What is written is what is kept, and read.py has compared with the lines by pyarrow, polars and duckdb. A change of how files
// are written, or of a codec, wants read.py to run again, and the new files to be kept.
func TestKeptFiles(t *testing.T) {
	dir := t.TempDir()
	if err := writeAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"all.parquet", "all.arrow", "all.jsonl"} {
		got, want := tenon.Must(os.ReadFile(filepath.Join(dir, name))), tenon.Must(os.ReadFile(filepath.Join("testdata", name)))
		if !bytes.Equal(got, want) {
			t.Errorf("%s is written in another way than it was: let read.py compare it, and keep it", name)
		}
	}
	parquet := tenon.Must(parquetio.ReadFile("testdata/all.parquet", parquetio.ReadOptions{}))
	arrow := tenon.Must(arrowio.ReadFile("testdata/all.arrow", arrowio.ReadOptions{}))
	lines := tenon.Must(jsonl.Read(jsonl.Files("testdata/all.jsonl"), jsonl.Options{Schema: parquet.Spec().(*structured.Spec)}))
	want := fmt.Sprint(tenon.Must(lines.ToNested()))
	for name, v := range map[string]tenon.Value{"Parquet": parquet, "Arrow": arrow} {
		if got := fmt.Sprint(tenon.Must(v.(*structured.Tensor).ToNested())); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
