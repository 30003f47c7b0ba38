package jsoncol

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

// The benchmarks read and write 280,000 records of writeOrders, about 100 MB,
// and report bytes of text per second. The number at the end is the workers.

var benchText = sync.OnceValue(func() []byte { return writeOrders(280000) })

// benchFile writes the text to a file, which the page cache then holds.
func benchFile(b *testing.B) string {
	name := filepath.Join(b.TempDir(), "orders.jsonl")
	if err := os.WriteFile(name, benchText(), 0o600); err != nil {
		b.Fatal(err)
	}
	return name
}

func BenchmarkReadFile(b *testing.B) {
	name := benchFile(b)
	for _, mode := range []string{"typed", "inferred", "pruned"} {
		for _, workers := range []int{1, 2} {
			o := Options{Missing: MissingMasked, Workers: workers}
			switch mode {
			case "typed":
				o.Schema = ordersSchema()
			case "pruned":
				o.Paths = [][]string{{"id"}, {"orders", "price"}}
			}
			b.Run(fmt.Sprintf("%s/%d", mode, workers), func(b *testing.B) {
				b.SetBytes(int64(len(benchText())))
				for b.Loop() {
					if _, err := ReadFile(name, o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkParse is the parser alone, on text in memory, into nodes that are
// emptied after each chunk.
func BenchmarkParse(b *testing.B) {
	text := benchText()
	o := Options{MaxDepth: defaultMaxDepth}
	root, p := newNode(ordersSchema(), &o), newParser(&o)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		f := newFeed([]Input{FromBytes(text)}, &Options{ChunkSize: defaultChunkSize})
		var buf []byte
		for c := f.next(&buf); c != nil; c = f.next(&buf) {
			root.reset()
			p.t, p.end = newText(c.data), len(c.data)
			if !p.records(&cursor{}, root) {
				b.Fatal(p.failed)
			}
		}
	}
}

// BenchmarkTokens reads lists of small integers, as tokenised text has.
func BenchmarkTokens(b *testing.B) {
	var text bytes.Buffer
	for row := range 100000 {
		fmt.Fprintf(&text, `{"label":%d,"tokens":[`, row%10)
		for i := range row % 60 {
			if i > 0 {
				text.WriteByte(',')
			}
			fmt.Fprint(&text, (row*31+i*7919)%30000)
		}
		text.WriteString("]}\n")
	}
	for _, d := range []dtype.DType{dtype.Int64, dtype.Int32, dtype.Float32} {
		b.Run(d.String(), func(b *testing.B) {
			schema := NewStruct(SchemaField{"label", NewLeaf(dtype.Int64)}, SchemaField{"tokens", NewList(NewLeaf(d))})
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if _, err := ReadBytes(text.Bytes(), Options{Schema: schema, Workers: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	table, err := ReadBytes(benchText(), Options{Schema: ordersSchema()})
	if err != nil {
		b.Fatal(err)
	}
	var size countWriter
	if err := Write(&size, table.Column, WriteOptions{}); err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		o := WriteOptions{Workers: workers}
		b.Run(fmt.Sprintf("discard/%d", workers), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				if err := Write(io.Discard, table.Column, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// countWriter counts what is written to it.
type countWriter int64

func (w *countWriter) Write(b []byte) (int, error) {
	*w += countWriter(len(b))
	return len(b), nil
}

// BenchmarkMemory reports the memory that reading a file takes from the system,
// as a share of the file's size. It is right only for the first reading of a
// process, so it runs once.
func BenchmarkMemory(b *testing.B) {
	name := benchFile(b)
	st, err := os.Stat(name)
	if err != nil {
		b.Fatal(err)
	}
	var before, after runtime.MemStats
	//lint:ignore SA3001 one read is what is measured
	b.N = 1
	runtime.ReadMemStats(&before)
	table, err := ReadFile(name, Options{Schema: ordersSchema()})
	if err != nil {
		b.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(st.Size()), "allocated/input")
	b.ReportMetric(float64(table.Column.Size())/float64(st.Size()), "columns/input")
}
