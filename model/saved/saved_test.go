package saved_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type layer struct {
	W, B *state.Variable
}

type model struct {
	Layers []layer
	Words  tensor.Tensor
	Step   int
	Rates  []float64
	Name   string
	Act    func(float64) float64
	Extra  map[string]tenon.Value
}

func newModel(scale float32) model {
	var m model
	for i := range 2 {
		f := scale * float32(i+1)
		m.Layers = append(m.Layers, layer{
			must(state.New(tensor.Of([]float32{f, 2 * f, 3 * f, 4 * f}, 2, 2))),
			must(state.New([]float32{f, -f})),
		})
	}
	m.Words = tensor.Of([]string{"go", "", "ünï"}).(*tensor.Strings)
	m.Step, m.Rates, m.Name, m.Act = int(scale*10), []float64{0.5, float64(scale)}, "m", math.Sqrt
	rag := must(ragged.FromRowSplits(tensor.Of([]int64{1, 2, 3}), []int64{0, 2, 2, 3}))
	m.Extra = map[string]tenon.Value{
		"tokens": rag,
		"maybe":  must(masked.New([]float64{1, 0, 3}, []bool{true, false, true})),
		"a.b":    must(structured.FromNested([]any{map[string]any{"x": 1, "tags": []any{"a", "b"}}, map[string]any{"x": 2, "tags": []any{}}}, structured.NestedOptions{})),
	}
	return m
}

func TestTreeRoundTrip(t *testing.T) {
	name := filepath.Join(t.TempDir(), "m.safetensors")
	from := newModel(1.5)
	if err := saved.Write(name, from, saved.WriteOptions{Metadata: map[string]string{"note": "größer"}}); err != nil {
		t.Fatal(err)
	}
	into := newModel(0)
	into.Rates = nil
	w := into.Layers[1].W
	got, err := saved.Read(name, into, saved.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Layers[1].W != w {
		t.Error("the variable is another one")
	}
	if d := cmp.Diff([]float32{3, 6, 9, 12}, tensor.Data[float32](w.Value())); d != "" {
		t.Error(d)
	}
	if got.Step != 15 || got.Name != "m" || got.Act == nil || !cmp.Equal(got.Rates, from.Rates) {
		t.Errorf("got %v %v %v", got.Step, got.Name, got.Rates)
	}
	if !tensor.Equal(got.Words, from.Words, tensor.EqualOptions{}) {
		t.Errorf("got %v", got.Words)
	}
	for k, v := range from.Extra {
		if !tensor.Equal(v, got.Extra[k], tensor.EqualOptions{}) {
			t.Errorf("%s: got %v, want %v", k, got.Extra[k], v)
		}
	}
	f := must(saved.Open(name))
	defer f.Close()
	want := []string{"Layers[0].W", "Layers[0].B", "Layers[1].W", "Layers[1].B", "Words", "Step", "Rates", "Name", `Extra["a.b"]`, "Extra.maybe", "Extra.tokens"}
	if d := cmp.Diff(want, f.Names()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]string{"note": "größer"}, f.Metadata()); d != "" {
		t.Error(d)
	}
	if s, ok := f.VariableSpec("Layers[0].W"); !ok || !tenon.Equal(s, w.Spec()) {
		t.Errorf("got %v", s)
	}
	if _, ok := f.VariableSpec("Words"); ok {
		t.Error("Words were in no variable")
	}
	if _, err := f.Spec("nothing"); !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// every element type, at ranks 0 to 2, as a tree and without a template.
func TestElementTypes(t *testing.T) {
	tree := map[string]tenon.Value{}
	for _, d := range dtype.All() {
		for _, s := range [][]int{{}, {3}, {2, 0}, {2, 3}} {
			sh := shape.Of(s...)
			name := d.String() + sh.String()
			if d == dtype.String {
				words := strings.Fields("a bc def g hi jkl")
				tree[name] = tensor.Of(words[:sh.Size()], s...)
				if len(s) == 0 {
					tree[name] = tensor.Scalar("one")
				}
				continue
			}
			x := tensor.NewDense(d, sh)
			for i := range x.Bytes() {
				x.Bytes()[i] = byte(i * 7)
				if d == dtype.Bool {
					x.Bytes()[i] = byte(i & 1)
				}
			}
			tree[name] = x
		}
	}
	var b bytes.Buffer
	if err := saved.Encode(&b, tree, saved.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	f := must(saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len())))
	if len(f.Names()) != len(tree) {
		t.Errorf("%d names, want %d", len(f.Names()), len(tree))
	}
	for _, v := range tree {
		found := false
		for _, n := range f.Names() {
			got, err := f.Value(n)
			if err != nil {
				t.Fatal(err)
			}
			found = found || tensor.Equal(got, v, tensor.EqualOptions{NaN: true})
		}
		if !found {
			t.Errorf("lost %v", v)
		}
	}
	var again bytes.Buffer
	if err := saved.Encode(&again, tree, saved.WriteOptions{}); err != nil || !bytes.Equal(again.Bytes(), b.Bytes()) {
		t.Errorf("the same tree gives other bytes: %v", err)
	}
	back, err := saved.Fill(f, tree, saved.ReadOptions{})
	if err != nil || len(back) != len(tree) {
		t.Errorf("got %d, %v", len(back), err)
	}
}

func TestSpecsAsTemplate(t *testing.T) {
	var b bytes.Buffer
	tree := map[string]any{"w": tensor.Of([]float32{1, 2, 3}), "n": 3}
	if err := saved.Encode(&b, tree, saved.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	f := must(saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len())))
	like := map[string]any{"w": tensor.NewSpec(dtype.Float32, shape.Of(shape.Unknown)), "n": 0}
	got := must(saved.Fill(f, like, saved.ReadOptions{}))
	if d := cmp.Diff([]float32{1, 2, 3}, tensor.Data[float32](got["w"].(tenon.Value))); d != "" || got["n"] != 3 {
		t.Error(d, got["n"])
	}
}

func TestMisfits(t *testing.T) {
	var b bytes.Buffer
	tree := map[string]any{"w": tensor.Of([]float32{1, 2, 3}), "n": 3}
	if err := saved.Encode(&b, tree, saved.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	f := must(saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len())))
	v := must(state.New([]float32{7, 7}))
	ok := must(state.New([]float32{7, 7, 7}))
	for _, c := range []struct {
		name string
		like map[string]any
		o    saved.ReadOptions
		kind error
		text string
	}{
		{"another shape", map[string]any{"w": v, "n": 1}, saved.ReadOptions{}, tenon.ErrShape, "float32[3], but the place needs float32[2]"},
		{"another type", map[string]any{"w": tensor.NewSpec(dtype.Int32, shape.Of(3)), "n": 1}, saved.ReadOptions{}, tenon.ErrDType, "int32[3]"},
		{"other Go data", map[string]any{"w": ok, "n": "x"}, saved.ReadOptions{}, tenon.ErrDType, "the place needs a string"},
		{"missing", map[string]any{"w": ok, "n": 1, "z": 2.5}, saved.ReadOptions{}, tenon.ErrNotFound, "1 of 3 places have no value in the file: z"},
		{"extra", map[string]any{"w": ok}, saved.ReadOptions{}, tenon.ErrInvalid, "1 of 2 values in the file have no place: n"},
		{"a Spec cannot stay", map[string]any{"w": ok, "n": 1, "z": tensor.NewSpec(dtype.Int32, shape.Of(3))}, saved.ReadOptions{Partial: true}, tenon.ErrNotFound, "z"},
	} {
		_, err := saved.Fill(f, c.like, c.o)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v", c.name, err)
		}
		if got := tensor.Data[float32](ok.Value()); got[0] != 7 {
			t.Errorf("%s: assigned in spite of the error", c.name)
		}
	}
	got, err := saved.Fill(f, map[string]any{"W": ok, "z": 2.5}, saved.ReadOptions{Partial: true, Extra: true, Rename: strings.ToLower})
	if err != nil || got["z"] != 2.5 || tensor.Data[float32](ok.Value())[2] != 3 {
		t.Errorf("got %v, %v", got, err)
	}
}

type stranger struct{ v tensor.Tensor }
type strangerSpec struct{ v tenon.Spec }

func (s stranger) Spec() tenon.Spec           { return strangerSpec{s.v.Spec()} }
func (strangerSpec) TypeName() string         { return "saved_test.Stranger" }
func (s strangerSpec) Encode() tenon.Encoding { return tenon.Tuple{tenon.Int(7)} }
func (s strangerSpec) Components() []tenon.Field {
	return []tenon.Field{{Name: "inside", Spec: s.v}}
}
func (strangerSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	return []tenon.Value{v.(stranger).v}, nil
}
func (strangerSpec) Assemble(c []tenon.Value) (tenon.Value, error) {
	return stranger{c[0].(tensor.Tensor)}, nil
}

// A value of a type that is not registered comes back opaque, and is written again
// without loss.
func TestUnknownType(t *testing.T) {
	var b, again bytes.Buffer
	if err := saved.Encode(&b, stranger{tensor.Of([]int16{4, 5})}, saved.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	f := must(saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len())))
	v := must(f.Value(""))
	o, ok := v.(*tenon.OpaqueValue)
	if !ok || o.Spec().TypeName() != "saved_test.Stranger" {
		t.Fatalf("got %v", v)
	}
	if err := saved.Encode(&again, v, saved.WriteOptions{}); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("written again it differs: %v", err)
	}
}

// A file as another program writes it.
func foreign(header string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

func TestForeignFile(t *testing.T) {
	text := `{"__metadata__":{"format":"pt"},"layers.0.w":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},` +
		`"c":{"dtype":"C64","shape":[1],"data_offsets":[4,12]},"q":{"shape":[2,2],"data_offsets":[12,16],"dtype":"F8_E4M3"}}   `
	b := foreign(text, []byte{0x80, 0x3f, 0, 0x40, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 1, 2, 3, 4})
	f := must(saved.NewFile(bytes.NewReader(b), int64(len(b))))
	if d := cmp.Diff([]string{"layers.0.w", "c", "q"}, f.Names()); d != "" {
		t.Error(d)
	}
	if got := tensor.Data[dtype.BF16](must(f.Value("layers.0.w"))); got[0].Float32() != 1 || got[1].Float32() != 2 {
		t.Errorf("got %v", got)
	}
	if got := tensor.Data[complex64](must(f.Value("c"))); got[0] != complex(1, 2) {
		t.Errorf("got %v", got)
	}
	q := must(f.Value("q"))
	if _, ok := q.(*tenon.OpaqueValue); !ok || q.Spec().TypeName() != "safetensors.F8_E4M3" {
		t.Errorf("got %v", q)
	}
	var out bytes.Buffer
	if err := saved.Encode(&out, map[string]any{"q": q}, saved.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	g := must(saved.NewFile(bytes.NewReader(out.Bytes()), int64(out.Len())))
	if v := must(g.Value("q")); !tensor.Equal(v, q, tensor.EqualOptions{}) {
		t.Errorf("got %v", v)
	}
	like := struct{ W any }{tensor.NewSpec(dtype.BFloat16, shape.Of(2))}
	if _, err := saved.Fill(f, like, saved.ReadOptions{Extra: true, Rename: func(string) string { return "layers.0.w" }}); err != nil {
		t.Error(err)
	}
}

// What the library of the format's authors writes for Python.
func TestPythonFile(t *testing.T) {
	f := must(saved.Open("testdata/foreign.safetensors"))
	defer f.Close()
	for name, want := range map[string]string{"c": "[1.+2.i] complex64[1]", "b": "[ true false] bool[2]", "x": "[[0. 1. 2.]\n [3. 4. 5.]] float16[2, 3]"} {
		if got := fmt.Sprint(must(f.Value(name))); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if d := cmp.Diff(map[string]string{"k": "v"}, f.Metadata()); d != "" {
		t.Error(d)
	}
}

func TestHostileFiles(t *testing.T) {
	one := `"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}`
	four := []byte{1, 2, 3, 4}
	for _, c := range []struct {
		name string
		file []byte
		text string
	}{
		{"empty", nil, "too short"},
		{"seven bytes", make([]byte, 7), "too short"},
		{"huge header", binary.LittleEndian.AppendUint64(nil, 1<<60), "the limit of 100000000"},
		{"header behind the end", binary.LittleEndian.AppendUint64(nil, 1000), "only 0 bytes follow"},
		{"no object", foreign(`[]`, nil), "does not begin with {"},
		{"not UTF-8", foreign("{\"\xff\":1}", nil), "not UTF-8"},
		{"cut off", foreign(`{"a":`, nil), "not JSON"},
		{"behind the end", foreign(`{}x`, nil), "after top-level value"},
		{"name twice", foreign(`{`+one+`,`+one+`}`, four), `"a" twice`},
		{"metadata twice", foreign(`{"__metadata__":{"k":"v","k":"w"}}`, nil), `"k" twice`},
		{"metadata no text", foreign(`{"__metadata__":{"k":1}}`, nil), "not a string"},
		{"key twice", foreign(`{"a":{"dtype":"U8","dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, four), "occurs twice"},
		{"key unknown", foreign(`{"a":{"type":"U8"}}`, four), "not part of a description"},
		{"key missing", foreign(`{"a":{"dtype":"U8","shape":[4]}}`, four), `"data_offsets" is missing`},
		{"unknown type", foreign(`{"a":{"dtype":"U9","shape":[4],"data_offsets":[0,4]}}`, four), `"U9" is unknown`},
		{"size and offsets", foreign(`{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,4]}}`, four), "takes 16 bytes"},
		{"overflow", foreign(`{"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,4]}}`, four), "too many elements"},
		{"negative", foreign(`{"a":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}}`, four), "not a size"},
		{"fraction", foreign(`{"a":{"dtype":"U8","shape":[4.0],"data_offsets":[0,4]}}`, four), "not a size"},
		{"offsets reversed", foreign(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}}`, four), "a beginning and an end"},
		{"three offsets", foreign(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4,4]}}`, four), "more than 2"},
		{"gap", foreign(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}`, four), "belong to no tensor"},
		{"overlap", foreign(`{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}`, four), "overlap"},
		{"too few bytes", foreign(`{`+one+`}`, four[:3]), "the file has 3"},
		{"too many bytes", foreign(`{`+one+`}`, append(four, 0)), "the file has 5"},
		{"part of a byte", foreign(`{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}}`, four[:2]), "whole number of bytes"},
		{"Specs not base64", foreign(`{"__metadata__":{"tenon.version":"1","tenon.values":"*"}}`, nil), "Specs in the metadata"},
		{"Specs cut off", foreign(`{"__metadata__":{"tenon.version":"1","tenon.values":"Cg=="}}`, nil), "Specs in the metadata"},
		{"later version", foreign(`{"__metadata__":{"tenon.version":"2","tenon.values":""}}`, nil), `version "2"`},
	} {
		_, err := saved.NewFile(bytes.NewReader(c.file), int64(len(c.file)))
		if !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	b := foreign(`{"a":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]}}`, four)
	f := must(saved.NewFile(bytes.NewReader(b), int64(len(b))))
	if _, err := f.Value("a"); err == nil || !strings.Contains(err.Error(), "element 1 is 2") {
		t.Errorf("got %v", err)
	}
}

// Records of records of records are written and read; what could not be read again is
// not written.
func TestDeep(t *testing.T) {
	records := func(depth int, list bool) tenon.Value {
		x := any(1)
		for range depth {
			if x = any(map[string]any{"a": x}); list {
				x = []any{x}
			}
		}
		return must(structured.FromNested([]any{x}, structured.NestedOptions{Missing: structured.MissingMasked}))
	}
	for _, list := range []bool{false, true} {
		deep := records(300, list)
		var b bytes.Buffer
		if err := saved.Encode(&b, deep, saved.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		f := must(saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len())))
		again := must(f.Value(""))
		if s, ok := again.(*structured.Tensor); !ok || !s.Equal(deep.(*structured.Tensor)) {
			t.Errorf("lists %v: read again as %T", list, again)
		}
	}
	if err := saved.Encode(&bytes.Buffer{}, records(2000, true), saved.WriteOptions{}); !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "could not be read again: ") {
		t.Errorf("got %v", err)
	}
}

// failing fails after n bytes, as a full disk does.
type failing struct{ n int }

func (f *failing) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return 0, errors.New("no space left")
	}
	return len(b), nil
}

func TestFullDisk(t *testing.T) {
	if err := saved.Encode(&failing{100}, tensor.Of(make([]float32, 1000)), saved.WriteOptions{}); err == nil || err.Error() != "no space left" {
		t.Errorf("got %v", err)
	}
}

func TestAtomic(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.safetensors")
	if err := saved.Write(name, []int64{1}, saved.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	old := must(os.ReadFile(name))
	f := must(saved.Open(name)) // a reader of the old file keeps it
	defer f.Close()
	if err := saved.Write(name, make(chan int), saved.WriteOptions{Metadata: map[string]string{"tenon.x": ""}}); !errors.Is(err, tenon.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if !bytes.Equal(old, must(os.ReadFile(name))) {
		t.Error("a failure changed the file")
	}
	if err := saved.Write(name, []int64{2}, saved.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := tensor.Data[int64](must(f.Value(""))); got[0] != 1 {
		t.Errorf("got %v", got)
	}
	if got := must(saved.Read(name, []int64{}, saved.ReadOptions{})); got[0] != 2 {
		t.Errorf("got %v", got)
	}
	if err := saved.Write(filepath.Join(dir, "no", "x"), []int64{2}, saved.WriteOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := saved.Write(dir, []int64{2}, saved.WriteOptions{}); err == nil {
		t.Error("a directory was replaced")
	}
	if _, err := saved.Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := saved.Open(string([]byte{'a', 0})); err == nil || errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("a name that no file can have: got %v", err)
	}
	if _, err := saved.Open(dir); err == nil {
		t.Error("a directory was opened")
	}
	if files := must(os.ReadDir(dir)); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}
