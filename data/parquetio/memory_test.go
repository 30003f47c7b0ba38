package parquetio_test

import (
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/internal/memtest"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// The row groups of a file are read one after another: what the process holds at once, text that is
// decompressed included, are two of them at most, however many the file has. The test starts a process
// that reads, whose heap says what there was.
func TestStreamsHoldTwoRowGroups(t *testing.T) {
	const (
		columns = 8
		rows    = 400_000
		group   = columns * rows * 8
	)
	if memtest.Measured(t, func(name string) any {
		f := must(parquetio.Open(name, parquetio.ReadOptions{}))
		for v, err := range f.All() {
			if err != nil {
				t.Fatal(err)
			}
			runtime.KeepAlive(v)
		}
		return f
	}) {
		return
	}
	memtest.Skip(t)
	const groups = 3
	rng := rand.New(rand.NewPCG(1, 2))
	var fields []structured.Field
	for c := range columns {
		x := make([]float64, groups*rows)
		for i := range x {
			x[i] = rng.Float64()
		}
		v := tensor.Tensor(tensor.Of(x))
		if c == 0 { // each row one number
			v = must(ragged.FromUniformRowLength(v, 1, nil))
		}
		fields = append(fields, structured.Field{Name: "x" + strconv.Itoa(c), Value: v})
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := parquetio.WriteFile(path, must(structured.FromFields(fields, shape.Of(groups*rows), structured.Options{})), parquetio.WriteOptions{GroupRows: rows}); err != nil {
		t.Fatal(err)
	}
	peak := memtest.Peak(t, path)
	// What decompresses holds some memory of its own; a third row group would be more.
	if most := 2*group + 16<<20; peak > most {
		t.Errorf("%d bytes for row groups of %d, want %d at most", peak, group, most)
	}
	t.Logf("row groups of %d: peak %d", group, peak)
}
