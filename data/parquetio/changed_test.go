package parquetio_test

import (
	"bytes"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// smallFiles are files of a few hundred bytes: of pages of both versions, plain and in dictionaries, compressed and not.
func smallFiles(t *testing.T) map[string][]byte {
	v := must(structured.FromFields([]structured.Field{
		{Name: "a", Value: must(ragged.FromRowSplits([]int64{1, 2, 3}, []int64{0, 2, 2, 3}))}, {Name: "s", Value: tensor.Of([]string{"x", "", "yy"})},
	}, shape.Of(3), structured.Options{}))
	files := map[string][]byte{
		"ours":      encoded(t, v, parquetio.WriteOptions{Plain: true}),
		"ours, raw": encoded(t, v, parquetio.WriteOptions{Plain: true, Compression: parquetio.Uncompressed}),
	}
	for _, name := range []string{"hand-dictionary-no-offset", "hand-list-tuple", "hand-map-key-value", "hand-page-v2", "hand-two-level-struct", "hand-two-pages-one-empty"} {
		files[name] = must(os.ReadFile("../../testdata/conformance/parquet/" + name + ".parquet"))
	}
	return files
}

// A file of which one byte is another one is an error or records: it neither panics nor hangs, nor takes memory that the
// file does not account for.
func TestChangedBytes(t *testing.T) {
	const most = 1 << 20 // bytes a file
	for name, good := range smallFiles(t) {
		all := !testing.Short() && name == "ours"
		var before, after runtime.MemStats
		for i := range good {
			runtime.ReadMemStats(&before)
			started := time.Now()
			b := bytes.Clone(good)
			for x := 1; x < 256; x++ {
				if !all && x&(x-1) != 0 && x != 255 { // single bits, and all of them
					continue
				}
				b[i] = good[i] ^ byte(x)
				v, err := parquetio.Decode(b, parquetio.ReadOptions{})
				if err != nil {
					continue
				}
				if x, ok := v.(*structured.Tensor); ok { // what is read is whole
					if _, err := x.ToNested(); err != nil {
						t.Errorf("%s: byte %d ^ %#x: %v", name, i, b[i]^good[i], err)
					}
				}
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 255*most {
				t.Errorf("%s: byte %d of %d: the values of one byte take %d MB", name, i, len(good), took>>20)
			}
			if took := time.Since(started); took > 20*time.Second {
				t.Errorf("%s: byte %d takes %v", name, i, took)
			}
		}
		for n := range good {
			if _, err := parquetio.Decode(good[:n], parquetio.ReadOptions{}); err == nil {
				t.Errorf("%s: %d of %d bytes are read", name, n, len(good))
			}
		}
	}
}
