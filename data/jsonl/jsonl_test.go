package jsonl_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

const events = `{"id":1,"name":"first","jets":[{"pt":40.5,"hits":[1,2]},{"pt":22,"hits":[]}]}
{"id":2,"jets":[],"name":null}

{"id":3,"jets":[{"pt":7.25,"hits":[3]}]}
`

var masks = jsonl.Options{Missing: structured.MissingMasked}

func TestColumnsOut(t *testing.T) {
	e := must(jsonl.Read(jsonl.Bytes([]byte(events)), masks))
	want := "struct[3]{id: int64[3], name: masked string[3], jets: struct[3, ?]{pt: float64[?], hits: int64[?, ~]}}"
	if got := tenon.String(e.Spec()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	pt := must(e.Field("jets", "pt"))
	if got := tensor.Data[float64](ops.Sum(pt, -1)); !cmp.Equal(got, []float64{62.5, 0, 7.25}) {
		t.Errorf("got %v", got)
	}
	var b bytes.Buffer
	if err := jsonl.Write(&b, e, jsonl.WriteOptions{OmitMissing: true}); err != nil {
		t.Fatal(err)
	}
	lines := `{"id":1,"name":"first","jets":[{"pt":40.5,"hits":[1,2]},{"pt":22.0,"hits":[]}]}
{"id":2,"jets":[]}
{"id":3,"jets":[{"pt":7.25,"hits":[3]}]}
`
	if d := cmp.Diff(lines, b.String()); d != "" {
		t.Error(d)
	}
}

// What is read is written again without a difference, whatever the types are.
func TestRoundTrips(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"a":[]}`,
		`{"a":[[1],[]],"b":{"c":{"d":true}}}`,
		`{"a":null}`,
		`{"a":[null,1]}`,
		`{"a":[null,{"b":1}],"c":{"d":null}}`,
		`{"a":[["x",null],null,[]]}`,
		`{"weird key":1,"a.b":2,"ü":"\u0001\n\"\\é"}`,
		`{"a":[{"b":[{"c":[1.5,-0.0]}]},{"b":[]}]}`,
		"{\"a\":1.0,\"b\":9300000000000000000.0,\"c\":100000000000000000000.0,\"d\":1e+21}\n{\"a\":2.0,\"b\":-1.0,\"c\":0.0,\"d\":0.5}",
		"{\"a\":1}\n{\"a\":18446744073709551615}",
		"{\"a\":1}\n{\"a\":null}\n{\"a\":3}",
		"{\"a\":{\"b\":1}}\n{\"a\":null}\n{\"a\":{\"b\":null}}",
		"{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":null}\n{\"a\":[1,2]}\n{\"a\":{\"b\":true}}\n{\"a\":false}",
		"{\"a\":[1,\"x\",[2],null]}\n{\"a\":[]}",
		`{"a":9223372036854775807,"b":-9223372036854775808,"c":1e300,"d":5e-324,"e":0.1}`,
	} {
		o := masks
		o.Unions = true
		e, err := jsonl.Read(jsonl.Bytes([]byte(text)), o)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var b bytes.Buffer
		if err := jsonl.Write(&b, e, jsonl.WriteOptions{}); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if d := cmp.Diff(canonical(t, text), canonical(t, b.String())); d != "" {
			t.Errorf("%s: %s", text, d)
		}
		again, err := jsonl.Read(jsonl.Bytes(b.Bytes()), o)
		if err != nil || !tenon.Equal(again.Spec(), e.Spec()) {
			t.Errorf("%s: read again it is %v, want %v: %v", text, again.Spec(), e.Spec(), err)
		}
		s, err := jsonl.Infer(jsonl.Bytes([]byte(text)), 0, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Schema, o.Unions = s, false
		typed, err := jsonl.Read(jsonl.Bytes([]byte(text)), o)
		if err != nil || !tensor.Equal(typed, e, tensor.EqualOptions{}) {
			t.Errorf("%s: by its Spec it is %v, want %v: %v", text, typed, e, err)
		}
	}
}

// canonical returns the values of lines, without fields that are null: a field that
// some records lack is null after a round trip.
func canonical(t *testing.T, lines string) []any {
	t.Helper()
	var out []any
	d := json.NewDecoder(strings.NewReader(lines))
	for d.More() {
		var x any
		if err := d.Decode(&x); err != nil {
			t.Fatal(err)
		}
		out = append(out, withoutNull(x))
	}
	return out
}

func withoutNull(x any) any {
	switch x := x.(type) {
	case map[string]any:
		for k, v := range x {
			if x[k] = withoutNull(v); v == nil {
				delete(x, k)
			}
		}
	case []any:
		for i, v := range x {
			x[i] = withoutNull(v)
		}
	}
	return x
}

func TestSchema(t *testing.T) {
	rows := shape.Of(shape.Unknown)
	of := func(fields ...tenon.Field) *structured.Spec { return must(structured.NewSpec(rows, fields)) }
	vec := func(d dtype.DType, dims ...int) tenon.Spec {
		return tensor.NewSpec(d, shape.Of(append([]int{-1}, dims...)...))
	}
	for _, c := range []struct {
		name string
		s    *structured.Spec
		text string
		want string // the Spec, or a part of the error
	}{
		{"narrow types", of(tenon.Field{Name: "a", Spec: vec(dtype.Int8)}, tenon.Field{Name: "b", Spec: vec(dtype.Float32)}, tenon.Field{Name: "c", Spec: vec(dtype.BFloat16)}),
			`{"a":1,"b":2,"c":3}`, "struct[1]{a: int8[1], b: float32[1], c: bfloat16[1]}"},
		{"axes", of(tenon.Field{Name: "a", Spec: vec(dtype.Int32, 2, -1)}), `{"a":[[1,2,3],[4,5,6]]}`, "struct[1]{a: int32[1, 2, 3]}"},
		{"axes of another length", of(tenon.Field{Name: "a", Spec: vec(dtype.Int32, 2)}), `{"a":[1,2,3]}`, "list 0 has 3 elements, but the schema requires 2"},
		{"uniform lists", of(tenon.Field{Name: "a", Spec: must(ragged.NewSpec(dtype.Int64, shape.Of(-1, 2, -1), 2, dtype.Int64))}), `{"a":[[1],[2,3]]}`, "struct[1]{a: int64[1, 2, ~]}"},
		{"short splits", of(tenon.Field{Name: "a", Spec: must(ragged.NewSpec(dtype.Int64, shape.Of(-1, -1), 1, dtype.Int32))}), `{"a":[1]}`, "struct[1]{a: int64[1, ~]}"},
		{"dictionary", of(tenon.Field{Name: "a", Spec: structured.NewDictionarySpec(rows)}), `{"a":"x"}`, "struct[1]{a: "},
		{"optional", of(tenon.Field{Name: "a", Spec: must(masked.NewSpec(vec(dtype.Bool), -1))}), `{}`, "struct[1]{a: masked bool[1]}"},
		{"not optional", of(tenon.Field{Name: "a", Spec: vec(dtype.Bool)}), `{}`, "struct[1]{a: masked bool[1]}"},
		{"unknown key", of(tenon.Field{Name: "a", Spec: vec(dtype.Bool)}), `{"a":true,"b":1}`, `"b"`},
		{"too large", of(tenon.Field{Name: "a", Spec: vec(dtype.Int8)}), `{"a":300}`, "300"},
		{"no form in JSON", of(tenon.Field{Name: "a", Spec: vec(dtype.Complex64)}), `{"a":300}`, "JSON cannot represent complex64"},
	} {
		e, err := jsonl.Read(jsonl.Bytes([]byte(c.text)), jsonl.Options{Schema: c.s, Missing: structured.MissingMasked})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = tenon.String(e.Spec())
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestDefaultsAndPaths(t *testing.T) {
	o := jsonl.Options{Defaults: map[string]any{"n": 7, "in.x": 1.5, `"a b"`: "none"}}
	e := must(jsonl.Read(jsonl.Bytes([]byte("{\"n\":1,\"in\":{\"x\":2},\"a b\":\"y\",\"z\":1}\n{\"in\":{},\"z\":2}\n")), o))
	var b bytes.Buffer
	if err := jsonl.Write(&b, e, jsonl.WriteOptions{Array: true}); err != nil {
		t.Fatal(err)
	}
	want := []any{map[string]any{"n": 1., "in": map[string]any{"x": 2.}, "a b": "y", "z": 1.}, map[string]any{"n": 7., "in": map[string]any{"x": 1.5}, "a b": "none", "z": 2.}}
	var got []any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || !cmp.Equal(want, got) {
		t.Errorf("got %s", b.String())
	}
	e = must(jsonl.Read(jsonl.Bytes([]byte(events)), jsonl.Options{Paths: []string{"jets.pt", "id"}}))
	if got := tenon.String(e.Spec()); got != "struct[3]{id: int64[3], jets: struct[3, ?]{pt: float64[?]}}" {
		t.Errorf("got %s", got)
	}
	for _, p := range []string{"", "a.", `"a`, `"a"b`} {
		if _, err := jsonl.Read(jsonl.Bytes(nil), jsonl.Options{Paths: []string{p}}); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%q: got %v", p, err)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		f    jsonl.Format
		text string
		rows int
	}{
		{jsonl.Lines, "{\"a\":1}\r\n\n{\"a\":2}", 2},
		{jsonl.Lines, "", 0},
		{jsonl.Lines, "\ufeff{\"a\":1}", 1},
		{jsonl.Concatenated, "{\"a\":\n1}{\"a\":2}", 2},
		{jsonl.Document, "[\n{\"a\":1},\n{\"a\":2}\n]", 2},
		{jsonl.Document, "{\n\"a\":\n1}", 1},
		{jsonl.Document, "[]", 0},
		{jsonl.Auto, "[\n{\"a\":1}\n]", 1},
		{jsonl.Auto, "{\n\"a\":1}\n{\"a\":2}", 2},
	} {
		e, err := jsonl.Read(jsonl.Bytes([]byte(c.text)), jsonl.Options{Format: c.f})
		if err != nil || tensor.Item[int64](e.NRows()) != int64(c.rows) {
			t.Errorf("%q: got %v, %v", c.text, e, err)
		}
	}
	if _, err := jsonl.Read(jsonl.Bytes([]byte("1\n2")), jsonl.Options{}); err == nil || !strings.Contains(err.Error(), "ReadValues") {
		t.Errorf("got %v", err)
	}
	v := must(jsonl.ReadValues(jsonl.Bytes([]byte("[1]\n[2,3]")), jsonl.Options{}))
	if got := tenon.String(v.Spec()); got != "int64[2, ~]" {
		t.Errorf("got %s", got)
	}
}

// A file is replaced as a whole or not at all.
func TestFilesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	good := must(structured.FromNested([]any{map[string]any{"x": 1.5}}, structured.NestedOptions{}))
	bad := must(structured.FromNested([]any{map[string]any{"x": math.NaN()}}, structured.NestedOptions{}))
	for _, name := range []string{"a.jsonl", "a.jsonl.gz", "a.jsonl.zst"} {
		path := filepath.Join(dir, name)
		if err := jsonl.WriteFile(path, bad, jsonl.WriteOptions{}); err == nil {
			t.Errorf("%s: NaN was written", name)
		}
		if list := must(os.ReadDir(dir)); len(list) != 0 {
			t.Errorf("%s: %v is left of what failed", name, list)
		}
		for range 2 { // the second is written over the first
			if err := jsonl.WriteFile(path, good, jsonl.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		before := must(os.ReadFile(path))
		if err := jsonl.WriteFile(path, bad, jsonl.WriteOptions{}); err == nil || !bytes.Equal(must(os.ReadFile(path)), before) {
			t.Errorf("%s: what fails changed the file, %v", name, err)
		}
		if list := must(os.ReadDir(dir)); len(list) != 1 {
			t.Errorf("%s: the folder holds %v", name, list)
		}
		os.Remove(path)
	}
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if os.WriteFile(target, nil, 0o600) != nil || os.Symlink("target", link) != nil {
		return // a system without links
	}
	if err := jsonl.WriteFile(link, good, jsonl.WriteOptions{}); err != nil || string(must(os.ReadFile(target))) != "{\"x\":1.5}\n" {
		t.Errorf("the target of a link: %v", err)
	}
	if st := must(os.Lstat(link)); st.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if err := jsonl.WriteFile(dir, good, jsonl.WriteOptions{}); err == nil {
		t.Error("a folder was written over")
	}
	if err := jsonl.WriteFile(filepath.Join(dir, "none", "x"), good, jsonl.WriteOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if os.DevNull == "/dev/null" {
		if err := jsonl.WriteFile(os.DevNull, good, jsonl.WriteOptions{}); err != nil {
			t.Errorf("a device: %v", err)
		}
	}
}

func TestFilesAndCompression(t *testing.T) {
	dir := t.TempDir()
	e := must(jsonl.Read(jsonl.Bytes([]byte(events)), masks))
	for _, name := range []string{"a.jsonl", "a.jsonl.gz", "a.jsonl.zst"} {
		path := filepath.Join(dir, name)
		if err := jsonl.WriteFile(path, e, jsonl.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		got, err := jsonl.ReadFile(path, masks)
		if err != nil || !tensor.Equal(got, e, tensor.EqualOptions{}) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
		text := must(os.ReadFile(path))
		got, err = jsonl.Read(jsonl.Bytes(text), masks)
		if err != nil || !tensor.Equal(got, e, tensor.EqualOptions{}) {
			t.Errorf("%s in memory: got %v, %v", name, got, err)
		}
		if name != "a.jsonl" {
			if _, err = jsonl.Read(jsonl.Reader(name, bytes.NewReader(text[:len(text)/2])), masks); err == nil {
				t.Errorf("%s: half of it was read", name)
			}
		}
	}
	files := jsonl.Files(filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "a.jsonl.gz"), filepath.Join(dir, "a.jsonl.zst"))
	var last, all int64
	o := masks
	o.Progress = func(done, total int64) { last, all = done, total }
	got := must(jsonl.Read(files, o))
	if n := tensor.Item[int64](got.NRows()); n != 9 {
		t.Errorf("%d rows", n)
	}
	if plain := must(os.Stat(filepath.Join(dir, "a.jsonl"))).Size(); last != 3*plain || all != -1 {
		t.Errorf("progress ends at %d of %d, want %d", last, all, 3*plain)
	}
	if _, err := jsonl.ReadFile(filepath.Join(dir, "none"), masks); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := jsonl.ReadFile(dir, masks); err == nil {
		t.Error("a directory was read")
	}
}

// Compressed text in several members is one text.
func TestMembers(t *testing.T) {
	var gz, zs bytes.Buffer
	for range 2 {
		w := gzip.NewWriter(&gz)
		w.Write([]byte("{\"a\":1}\n"))
		w.Close()
		z := must(zstd.NewWriter(&zs))
		z.Write([]byte("{\"a\":1}\n"))
		z.Close()
	}
	for _, b := range [][]byte{gz.Bytes(), zs.Bytes()} {
		e := must(jsonl.Read(jsonl.Join(jsonl.Bytes(b), jsonl.Bytes([]byte(`{"a":2}`))), jsonl.Options{}))
		if got := tensor.Data[int64](must(e.Field("a"))); !cmp.Equal(got, []int64{1, 1, 2}) {
			t.Errorf("got %v", got)
		}
	}
}

func TestBatches(t *testing.T) {
	var text strings.Builder
	for i := range 10 {
		text.WriteString(`{"a":` + string(rune('0'+i)) + "}\n")
	}
	var got [][]int64
	var rep jsonl.Report
	for e, err := range jsonl.Batches(jsonl.Bytes([]byte(text.String())), 4, jsonl.Options{Report: &rep}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, tensor.Data[int64](must(e.Field("a"))))
	}
	if d := cmp.Diff([][]int64{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}, got); d != "" || rep.Rows != 10 {
		t.Error(d, rep)
	}
	for range jsonl.Batches(jsonl.Bytes([]byte(text.String())), 4, jsonl.Options{}) {
		break
	}
	for _, err := range jsonl.Batches(jsonl.Bytes(nil), 0, jsonl.Options{}) {
		if !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	}
	s := must(jsonl.Infer(jsonl.Bytes([]byte(text.String())), 3, jsonl.Options{}))
	if got := tenon.String(s); got != "struct[?]{a: int64[?]}" {
		t.Errorf("got %s", got)
	}
}

// What is written comes back with its element type and each bit of it, without a
// schema: floats that are whole or beyond int64, and integers that only uint64 holds.
func TestWrittenNumbersComeBackAsTheirType(t *testing.T) {
	for _, v := range []tensor.Tensor{
		tensor.Of([]float64{1, 2, 3}), tensor.Of([]float64{0}), tensor.Of([]float64{math.Copysign(0, -1)}),
		tensor.Of([]float64{1e18}), tensor.Of([]float64{9.3e18}), tensor.Of([]float64{1 << 63, -1 << 63}),
		tensor.Of([]float64{1e19, 123456789012345680000}), tensor.Of([]float64{1e21, 1.7e308, 5e-324}),
		tensor.Of([]int64{math.MinInt64, math.MaxInt64}), tensor.Of([]uint64{1 << 63, 0, math.MaxUint64}),
	} {
		var b bytes.Buffer
		in := must(structured.FromFields([]structured.Field{{Name: "a", Value: v}}, shape.OfRank(1), structured.Options{}))
		if err := jsonl.Write(&b, in, jsonl.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		got := must(must(jsonl.Read(jsonl.Bytes(b.Bytes()), jsonl.Options{})).Field("a")).(*tensor.Dense)
		if want := v.(*tensor.Dense); got.DType() != want.DType() || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%v is written as %s, and read as %v", v, b.Bytes(), got)
		}
	}
}

func TestGlob(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b.jsonl": `{"a":2}`, "a.jsonl": `{"a":1}`, "c.txt": `{"a":3}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got := must(jsonl.Read(jsonl.Glob(filepath.Join(dir, "*.jsonl")), jsonl.Options{}))
	if a := tensor.Data[int64](must(got.Field("a"))); !slices.Equal(a, []int64{1, 2}) {
		t.Errorf("got %v", a)
	}
	if _, err := jsonl.Read(jsonl.Glob(filepath.Join(dir, "*.json")), jsonl.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A context ends each way of reading and writing at once, also while a reader hangs.
func TestContextEndsReadingAndWriting(t *testing.T) {
	enough := errors.New("enough")
	for name, read := range map[string]func(s jsonl.Source, o jsonl.Options) error{
		"Read":       func(s jsonl.Source, o jsonl.Options) error { _, err := jsonl.Read(s, o); return err },
		"ReadValues": func(s jsonl.Source, o jsonl.Options) error { _, err := jsonl.ReadValues(s, o); return err },
		"Infer":      func(s jsonl.Source, o jsonl.Options) error { _, err := jsonl.Infer(s, 0, o); return err },
		"Batches": func(s jsonl.Source, o jsonl.Options) (err error) {
			for _, err = range jsonl.Batches(s, 1, o) {
			}
			return err
		},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r, w := io.Pipe()
		go func() {
			w.Write([]byte("{\"a\":1}\n{\"a\":2}\n{\"a\":3")) // and no more
			cancel(enough)
		}()
		if err := read(jsonl.Reader("pipe", r), jsonl.Options{Context: ctx}); !errors.Is(err, enough) {
			t.Errorf("%s: %v", name, err)
		}
		if err := read(jsonl.Bytes([]byte(`{"a":1}`)), jsonl.Options{Context: ctx}); !errors.Is(err, enough) {
			t.Errorf("%s of memory: %v", name, err)
		}
		r.Close()
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	var b bytes.Buffer
	if err := jsonl.Write(&b, tensor.Of([]int64{1, 2}), jsonl.WriteOptions{Context: ctx}); !errors.Is(err, enough) || b.Len() > 0 {
		t.Errorf("%q, %v", b.String(), err)
	}
	path := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(path, []byte("as it was"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := jsonl.WriteFile(path, tensor.Of([]int64{1, 2}), jsonl.WriteOptions{Context: ctx}); !errors.Is(err, enough) {
		t.Error(err)
	}
	if got := must(os.ReadFile(path)); string(got) != "as it was" {
		t.Errorf("%q", got)
	}
}
