package saved_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

type (
	foreignLayer struct{ Kernel, Bias tensor.Tensor }
	foreignModel struct {
		Layers []foreignLayer
		Head   tensor.Tensor `tenon:"name=lm_head.weight"`
		Rest   map[string]tensor.Tensor
	}
)

func newForeign(scale float32) foreignModel {
	m := foreignModel{Rest: map[string]tensor.Tensor{"embeddings.word": tensor.Of([]float32{scale, 2})}, Head: tensor.Of([]float32{3 * scale})}
	for i := range 2 {
		f := scale * float32(i+1)
		m.Layers = append(m.Layers, foreignLayer{tensor.Of([]float32{f, 2 * f, 3 * f, 4 * f, 5 * f, 6 * f}, 2, 3), tensor.Of([]float32{f, f, f})})
	}
	return m
}

var hugging = saved.Rules{
	{Path: `Layers\[(\d+)\]\.Kernel`, Name: "encoder.layer.$1.weight", Transpose: true},
	{Path: `Layers\[(\d+)\]\.Bias`, Name: "encoder.layer.$1.bias"},
}

// The names that another program wants are written, and read back from its files, with
// matrices the other way round.
func TestNamesOfOtherPrograms(t *testing.T) {
	var b bytes.Buffer
	if err := saved.Encode(&b, newForeign(1), saved.WriteOptions{Rules: hugging, Rename: saved.Dotted}); err != nil {
		t.Fatal(err)
	}
	f := must(saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len())))
	want := []string{"encoder.layer.0.weight", "encoder.layer.0.bias", "encoder.layer.1.weight", "encoder.layer.1.bias", "lm_head.weight", "Rest.embeddings.word"}
	if d := cmp.Diff(want, f.Names()); d != "" {
		t.Error(d)
	}
	if s := tenon.String(must(f.TensorSpec("encoder.layer.0.weight"))); s != "float32[3, 2]" {
		t.Errorf("the matrix in the file is %s", s)
	}
	got, err := saved.Fill(f, newForeign(0), saved.ReadOptions{Rules: hugging, Rename: saved.Dotted})
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range newForeign(1).Layers {
		if !tensor.Equal(got.Layers[i].Kernel, l.Kernel) || !tensor.Equal(got.Layers[i].Bias, l.Bias) {
			t.Errorf("layer %d: got %v", i, got.Layers[i])
		}
	}
	for _, r := range []saved.Rules{{{Path: "("}}, {{Path: `.*\.Bias`, Name: "$0", Transpose: true}}, {{Path: ".*", Name: "same"}}} {
		if err := saved.Encode(&b, newForeign(1), saved.WriteOptions{Rules: r}); err == nil {
			t.Errorf("%v: no error", r)
		}
	}
}

// TestReport tells what a template and a file have not in common.
func TestReport(t *testing.T) {
	var b bytes.Buffer
	file := map[string]tensor.Tensor{"encoder.0.weight": tensor.Of([]float32{1, 2}, 2, 1), "encoder.0.bias": tensor.Of([]float32{3}), "pooler.bias": tensor.Of([]float32{4}), "position_ids": tensor.Of([]int64{5})}
	if err := saved.Encode(&b, file, saved.WriteOptions{Rename: saved.Dotted}); err != nil {
		t.Fatal(err)
	}
	f := must(saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len())))
	type layer struct{ W, B tensor.Tensor }
	type model struct {
		Layers []layer
		Head   tensor.Tensor
	}
	like := model{Layers: []layer{{tensor.Of([]float32{0, 0}, 1, 2), tensor.Of([]float32{0})}}, Head: tensor.Of([]float32{7})}
	rules := saved.Rules{{Path: `Layers\[(\d+)\]\.W`, Name: "encoder.$1.weight", Transpose: true}, {Path: `Layers\[(\d+)\]\.B`, Name: "encoder.$1.bias"}}
	want := saved.Report{Missing: []string{"Head"}, Left: []string{"position_ids", "pooler.bias"}}
	for name, o := range map[string]saved.ReadOptions{"allowed": {Partial: true, Extra: true}, "missing": {Extra: true}, "left": {Partial: true}, "both": {}} {
		var got saved.Report
		o.Rules, o.Report = rules, &got
		m, err := saved.Fill(f, like, o)
		slices.Sort(got.Left)
		slices.Sort(want.Left)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		switch {
		case name != "allowed":
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		case err != nil || !tensor.Equal(m.Layers[0].W, tensor.Of([]float32{1, 2}, 1, 2)) || !tensor.Equal(m.Head, like.Head):
			t.Errorf("got %v, %v", m, err)
		}
	}
}

func TestDotted(t *testing.T) {
	for path, want := range map[string]string{
		"": "", "a": "a", "a.b": "a.b", "a[3].b": "a.3.b", "[0][1]": "0.1", `a["x.y"].b`: "a.x.y.b", `["en.0.w"]`: "en.0.w", `a["]"][2]`: "a.].2",
	} {
		if got := saved.Dotted(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestCastOfSixteenBits(t *testing.T) {
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float64} {
		var b bytes.Buffer
		if err := saved.Encode(&b, map[string]tensor.Tensor{"w": ops.Cast([]float32{1, -2.5}, d)}); err != nil {
			t.Fatal(err)
		}
		f := must(saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len())))
		like := map[string]tensor.Tensor{"w": tensor.Of([]float32{0, 0})}
		if _, err := saved.Fill(f, like); !errors.Is(err, tenon.ErrDType) {
			t.Errorf("%v without Cast: got %v", d, err)
		}
		got, err := saved.Fill(f, like, saved.ReadOptions{Cast: true})
		if err != nil || !tensor.Equal(got["w"], tensor.Of([]float32{1, -2.5})) {
			t.Errorf("%v: got %v, %v", d, got, err)
		}
	}
}

func TestShards(t *testing.T) {
	dir := t.TempDir()
	for i, w := range [][]float32{{1, 2}, {3}} {
		name := filepath.Join(dir, fmt.Sprintf("model-%d.safetensors", i))
		if err := saved.Write(name, map[string]tensor.Tensor{"part.w": tensor.Of(w), "part.b": tensor.Of(w)}, saved.WriteOptions{
			Rename: func(path string) string { return fmt.Sprintf("%d.%s", i, saved.Dotted(path)) }}); err != nil {
			t.Fatal(err)
		}
	}
	index := func(name, text string) string {
		file := filepath.Join(dir, name+".safetensors.index.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	file := index("model", `{"metadata":{"total_size":24},"weight_map":{"0.part.w":"model-0.safetensors","0.part.b":"model-0.safetensors","1.part.w":"model-1.safetensors","1.part.b":"model-1.safetensors"}}`)
	type part struct{ W, B tensor.Tensor }
	like := []part{{tensor.Of([]float32{0, 0}), tensor.Of([]float32{0, 0})}, {tensor.Of([]float32{0}), tensor.Of([]float32{0})}}
	rules := saved.Rules{{Path: `\[(\d)\]\.W`, Name: "$1.part.w"}, {Path: `\[(\d)\]\.B`, Name: "$1.part.b"}}
	got, err := saved.Read(file, like, saved.ReadOptions{Rules: rules})
	if err != nil || !tensor.Equal(got[0].B, tensor.Of([]float32{1, 2})) || !tensor.Equal(got[1].W, tensor.Of([]float32{3})) {
		t.Errorf("got %v, %v", got, err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"not JSON":    {"{", "not an index"},
		"nothing":     {`{"weight_map":{}}`, `no "weight_map"`},
		"no file":     {`{"weight_map":{"a":"model-9.safetensors"}}`, "model-9"},
		"no tensor":   {`{"weight_map":{"a":"model-0.safetensors"}}`, `tensor "a" is not in model-0.safetensors`},
		"outside":     {`{"weight_map":{"a":"../model-0.safetensors"}}`, "is not a path inside a folder"},
		"the root":    {`{"weight_map":{"a":"/etc/passwd"}}`, "is not a path inside a folder"},
		"no tensors":  {`{"weight_map":{"a":"text.index.json"}}`, "text.index.json"},
		"wrong types": {`{"weight_map":{"a":3}}`, "not an index"},
	} {
		if _, err := saved.Open(index("bad", c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := saved.Open(index("bad", `{"weight_map":{"a":"model-9.safetensors"}}`)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestOpenPassesTheSystemsErrors(t *testing.T) {
	name := filepath.Join(t.TempDir(), "m.safetensors")
	if err := saved.Write(name, tensor.Of([]float32{1})); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(name); err == nil {
		f.Close() // of a user who may read everything
	} else if _, err := saved.Open(name); !errors.Is(err, fs.ErrPermission) || errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := saved.Open(filepath.Join(name, "below")); err == nil || errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("below a file: got %v", err)
	}
	if _, err := saved.Open(name + "x"); !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("no file: got %v", err)
	}
}
