package beamio

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct" //lint:ignore SA1019 what it writes is compared with what Prism does
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	os.Exit(m.Run())
}

var (
	twice = Traced("test.twice", func(t *structured.Tensor) *structured.Tensor {
		return t.With("twice", ops.Mul(t.Path("x"), int64(2)))
	})
	numbers = Traced("test.numbers", func(t *structured.Tensor) *structured.Tensor {
		return t.Select("x", "l").With("twice", ops.Mul(t.Path("x"), int64(2)))
	})
	identity = Traced("test.identity", func(v tenon.Value) tenon.Value { return v })
	partial  = Traced("test.partial", func(t *structured.Tensor) *structured.Tensor {
		return t.GroupBy("k").Aggregate(structured.Sum("x"), structured.Count())
	})
	total = Traced("test.total", func(t *structured.Tensor) *structured.Tensor {
		return t.GroupBy("k").Sorted().Aggregate(structured.Sum("x"), structured.Sum("count"))
	})
	whole = Traced("test.whole", func(t *structured.Tensor) *structured.Tensor {
		return t.GroupBy("k").Sorted().Aggregate(structured.List("x"), structured.First("x").As("first"))
	})
	fails = Go("test.fails", func(context.Context, *structured.Tensor) (tenon.Value, error) { return nil, errors.New("no luck") })
	parse = Go("test.parse", func(_ context.Context, t tensor.Tensor) (*structured.Tensor, error) {
		var messages [][]byte
		for _, s := range tensor.Data[string](t) {
			messages = append(messages, []byte(s))
		}
		fs, err := protoio.InferFeatures(messages)
		if err != nil {
			return nil, err
		}
		return protoio.ParseStructured(messages, fs, protoio.ParseOptions{})
	})
)

// records are n lines with keys that are missing, unequal zeros and lists.
func records(n int) string {
	var b strings.Builder
	keys := []string{"1.5", "null", "-0.0", "0.0", "7.0"}
	for i := range n {
		fmt.Fprintf(&b, `{"k":%s,"x":%d,"l":[%s]}`+"\n", keys[i*i%len(keys)], i, strings.Repeat("1,", i%3)+"2")
	}
	return b.String()
}

// written writes files of records, and returns their pattern and their Spec.
func written(t *testing.T, files, lines int) (string, *structured.Spec) {
	t.Helper()
	dir := t.TempDir()
	for k := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("in-%d.jsonl", k)), []byte(records(lines+k)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := jsonl.Infer(jsonl.Bytes([]byte(records(lines+files))), 0, jsonl.Options{Missing: structured.MissingMasked})
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "in-*.jsonl"), s
}

// onRunners builds and runs a pipeline on each runner, which writes below a folder of its own.
func onRunners(t *testing.T, build func(s beam.Scope, dir string), check func(t *testing.T, dir string)) {
	t.Helper()
	for _, runner := range []string{"direct", "prism"} {
		dir := t.TempDir()
		p, s := beam.NewPipelineWithRoot()
		build(s, dir)
		if _, err := beam.Run(t.Context(), runner, p); err != nil {
			t.Fatal(runner, err)
		}
		t.Run(runner, func(t *testing.T) { check(t, dir) })
	}
}

// of returns the values of files in their order, as one list for each.
func of(t *testing.T, pattern string, o jsonl.Options, rows int) [][]*structured.Tensor {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]*structured.Tensor
	for _, f := range files {
		var list []*structured.Tensor
		for b, err := range jsonl.Batches(jsonl.Files(f), rows, o) {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, b)
		}
		out = append(out, list)
	}
	return out
}

// What each runner writes are the bytes that a loop over the files writes, in all formats, and reads again.
func TestFormats(t *testing.T) {
	pattern, spec := written(t, 3, 50)
	batches := of(t, pattern, jsonl.Options{Schema: spec}, 16)
	for _, format := range []Format{JSONLines, Parquet, Arrow, TFRecord} {
		f, paths := twice, []string{"k", "x", "l"}
		if format == TFRecord { // which has nothing that is missing
			f, paths = numbers, paths[1:]
		}
		onRunners(t, func(s beam.Scope, dir string) {
			in := Read(s, pattern, ReadOptions{Rows: 16, Schema: spec})
			Write(s, filepath.Join(dir, "out"), Map(s, f, in), WriteOptions{Format: format})
		}, func(t *testing.T, dir string) {
			for k, list := range batches {
				var want bytes.Buffer
				write, done, err := format.writer(t.Context(), &want)
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range list {
					if err := write(b.Select(paths...).With("twice", ops.Mul(b.Path("x"), int64(2)))); err != nil {
						t.Fatal(err)
					}
				}
				if err := done(); err != nil {
					t.Fatal(err)
				}
				name := filepath.Join(dir, fmt.Sprintf("out-%05d%s", k, extensions[format]))
				if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want.Bytes()) {
					t.Errorf("%s: %v; %d bytes, want %d", name, err, len(got), want.Len())
				}
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); left != nil {
				t.Error(left)
			}
		})
	}
}

// Files of each format are read by batches, and come back whole.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	_, spec := written(t, 1, 1)
	all, err := jsonl.Read(jsonl.Bytes([]byte(records(100))), jsonl.Options{Schema: spec})
	if err != nil {
		t.Fatal(err)
	}
	if err := arrowio.WriteFile(filepath.Join(dir, "a*[1].arrow"), all, arrowio.WriteOptions{BatchRows: 30}); err != nil {
		t.Fatal(err)
	}
	if err := parquetio.WriteFile(filepath.Join(dir, "a.parquet"), all, parquetio.WriteOptions{GroupRows: 30}); err != nil {
		t.Fatal(err)
	}
	var messages bytes.Buffer
	write, done, err := TFRecord.writer(t.Context(), &messages)
	if err == nil {
		err = errors.Join(write(all.Select("x")), done())
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "a.tfrecord"), messages.Bytes(), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]ReadOptions{
		"a*.arrow":   {},
		"a*.parquet": {Rows: 7, Columns: []string{"x", "l"}},
		"a.tfrecord": {Rows: 9},
	} {
		onRunners(t, func(s beam.Scope, to string) {
			in := Read(s, filepath.Join(dir, name), o)
			if filepath.Ext(name) == ".tfrecord" {
				in = Map(s, parse, in)
			}
			Write(s, filepath.Join(to, "out"), in, WriteOptions{Format: Arrow, Shards: 1})
		}, func(t *testing.T, to string) {
			got, err := arrowio.ReadFile(filepath.Join(to, "out-00000.arrow"), arrowio.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			x := got.(*structured.Tensor).Path("x")
			if fmt.Sprint(ops.Reshape(x, []int{-1})) != fmt.Sprint(all.Path("x")) {
				t.Errorf("%s: got %v", name, x)
			}
		})
	}
}

// Groups over batches are the groups of all records, however many partitions there are, and whether records are combined
// before they are moved. What depends on the order of records is the same as well.
func TestGroupBy(t *testing.T) {
	pattern, spec := written(t, 3, 60)
	var all []*structured.Tensor
	for _, list := range of(t, pattern, jsonl.Options{Schema: spec}, 16) {
		all = append(all, list...)
	}
	table, err := structured.Concat(all...)
	if err != nil {
		t.Fatal(err)
	}
	sums := table.GroupBy("k").Sorted().Aggregate(structured.Sum("x"), structured.Count())
	lists := table.GroupBy("k").Sorted().Aggregate(structured.List("x"), structured.First("x").As("first"))
	for name, c := range map[string]struct {
		f    *Function
		o    GroupOptions
		want *structured.Tensor
	}{
		"combined":        {total, GroupOptions{Keys: []string{"k"}, Combine: partial, Partitions: 1}, sums},
		"combined, parts": {total, GroupOptions{Keys: []string{"k"}, Combine: partial}, sums},
		"whole":           {whole, GroupOptions{Keys: []string{"k"}, Partitions: 1}, lists},
		"whole, parts":    {whole, GroupOptions{Keys: []string{"k"}, Partitions: 3}, lists},
	} {
		onRunners(t, func(s beam.Scope, to string) {
			groups := GroupBy(s, c.f, Read(s, pattern, ReadOptions{Rows: 16, Schema: spec}), c.o)
			Write(s, filepath.Join(to, "out"), groups, WriteOptions{Format: Arrow, Shards: 1})
		}, func(t *testing.T, to string) {
			v, err := arrowio.ReadFile(filepath.Join(to, "out-00000.arrow"), arrowio.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.(*structured.Tensor).Sort(0, structured.By{Path: []string{"k"}})
			if err != nil {
				t.Fatal(err)
			}
			want, err := c.want.Sort(0, structured.By{Path: []string{"k"}})
			if err != nil {
				t.Fatal(err)
			}
			var g, w bytes.Buffer
			if err := errors.Join(jsonl.Write(&g, got, jsonl.WriteOptions{}), jsonl.Write(&w, want, jsonl.WriteOptions{})); err != nil {
				t.Fatal(err)
			}
			if g.String() != w.String() {
				t.Errorf("%s: got\n%s\nwant\n%s", name, g.String(), w.String())
			}
		})
	}
}

// Batches of any Value come back from bytes, and damaged bytes are errors.
func TestCoder(t *testing.T) {
	table, err := jsonl.Read(jsonl.Bytes([]byte(records(9))), jsonl.Options{Missing: structured.MissingMasked})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []tenon.Value{
		table, ragged.FromSlices([][]int64{{1, 2}, {}, {3}}), tensor.Of([]string{"a", "", "ü"}), tensor.Of([]float32{1, 2}), tensor.Of([]bool{}),
	} {
		b, err := encodeBatch(Batch{1<<40 + 7, v})
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeBatch(b)
		if err != nil || got.Number != 1<<40+7 || fmt.Sprint(got.Value) != fmt.Sprint(v) {
			t.Errorf("%v: %v, want %v", err, got, v)
		}
		again, err := encodeBatch(got)
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%v: the bytes differ (%v)", v, err)
		}
		for n := range len(b) {
			decodeBatch(b[:n]) // no panic
		}
	}
	if _, err := encodeBatch(Batch{}); err == nil {
		t.Error("a batch without a Value has bytes")
	}
}

func FuzzDecodeBatch(f *testing.F) {
	for _, v := range []tenon.Value{tensor.Of([]int64{1, 2}), ragged.FromSlices([][]float32{{1}, {}}), tensor.Of([]string{"a"})} {
		b, err := encodeBatch(Batch{3, v})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := decodeBatch(b)
		if err != nil || x.Value == nil {
			return
		}
		if _, err := encodeBatch(x); err != nil {
			t.Error(err)
		}
	})
}

// What is wrong ends the pipeline with an error that says what and where.
func TestErrors(t *testing.T) {
	pattern, spec := written(t, 1, 20)
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad, []byte(records(3)+"{\"k\":"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		build func(s beam.Scope)
		want  []string
	}{
		"no files":  {func(s beam.Scope) { Read(s, pattern+".none.jsonl", ReadOptions{Schema: spec}) }, []string{"there are no files"}},
		"no schema": {func(s beam.Scope) { Read(s, pattern, ReadOptions{}) }, []string{"JSON lines need a schema", "jsonl.Infer"}},
		"damaged":   {func(s beam.Scope) { Read(s, bad, ReadOptions{Schema: spec}) }, []string{"bad.jsonl"}},
		"no format": {func(s beam.Scope) { Read(s, os.Args[0], ReadOptions{}) }, []string{"cannot be told from its name"}},
		"function":  {func(s beam.Scope) { Map(s, fails, Read(s, pattern, ReadOptions{Schema: spec, Rows: 8})) }, []string{`function "test.fails", batch 0 of file 0`, "no luck"}},
		"type":      {func(s beam.Scope) { Map(s, twice, Map(s, identity, lists(s))) }, []string{`function "test.twice": it takes a *structured.Tensor, and the batch is int64[2, ~]`}},
		"records":   {func(s beam.Scope) { GroupBy(s, total, lists(s), GroupOptions{Keys: []string{"k"}}) }, []string{"not a list of records"}},
		"key": {func(s beam.Scope) {
			GroupBy(s, total, Read(s, pattern, ReadOptions{Schema: spec}), GroupOptions{Keys: []string{"nokey"}})
		}, []string{"nokey"}},
	} {
		p, s := beam.NewPipelineWithRoot()
		c.build(s)
		_, err := beam.Run(t.Context(), "direct", p)
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v; want %q in it", name, err, w)
			}
		}
	}
	for name, f := range map[string]func(){
		"two functions": func() { Traced("test.twice", func(v tensor.Tensor) tensor.Tensor { return v }) },
		"no keys": func() {
			_, s := beam.NewPipelineWithRoot()
			GroupBy(s, total, lists(s), GroupOptions{})
		},
		"shards": func() {
			_, s := beam.NewPipelineWithRoot()
			Write(s, "x", lists(s), WriteOptions{Shards: -1})
		},
	} {
		if _, err := tenon.Try(func() any { f(); return nil }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// lists returns a collection of one batch of ragged rows.
func lists(s beam.Scope) beam.PCollection {
	return beam.Create(s, Batch{0, ragged.FromSlices([][]int64{{1}, {2, 3}})})
}
