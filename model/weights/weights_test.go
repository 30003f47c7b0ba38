package weights_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/model/weights"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

const files = "../../testdata/conformance/weights/files/"

// written writes a file into a folder of the test.
func written(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFormatIsFoundByTheFirstBytes(t *testing.T) {
	for path, want := range map[string]weights.Format{
		"npy/v1.npy": weights.NumPy, "npy/stored.npz": weights.NumPy, "pytorch/plain.pt": weights.PyTorch,
		"gguf/f32.gguf": weights.GGUF, "checkpoint/plain": weights.Checkpoint,
		"safetensors/plain.safetensors": weights.Safetensors, "safetensors/shards/model.safetensors.index.json": weights.Safetensors,
	} {
		f, err := weights.Open(files + path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if f.Format() != want {
			t.Errorf("%s: got %s, want %s", path, f.Format(), want)
		}
		f.Close()
	}
}

func TestNPYComesBack(t *testing.T) {
	values := map[string]tensor.Tensor{
		"bool":       tensor.Of([]bool{true, false}, 2),
		"int8":       tensor.Of([]int8{-1, 2, 3, 4}, 2, 2),
		"uint64":     tensor.Of([]uint64{1 << 63}, 1),
		"float16":    tensor.Of([]dtype.F16{dtype.F16From(1.5)}, 1, 1, 1),
		"float32":    tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2),
		"complex128": tensor.Of([]complex128{1 + 2i}),
		"scalar":     tensor.Scalar(2.5),
		"empty":      tensor.Of([]float64{}, 0, 3),
		"text":       tensor.Of([]string{"", "Größe", "日本", "a\x00b"}, 2, 2),
		"no text":    tensor.Of([]string{}, 0),
		"one text":   tensor.Scalar("alone"),
	}
	for name, v := range values {
		var b bytes.Buffer
		if err := weights.WriteNPY(&b, v); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := weights.Load(written(t, "x.npy", b.Bytes()))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !tensor.Equal(got[""], v, tensor.EqualOptions{}) {
			t.Errorf("%s: got %v, want %v", name, got[""], v)
		}
		if head := bytes.IndexByte(b.Bytes(), '\n') + 1; head%64 != 0 {
			t.Errorf("%s: the elements begin at %d, which is no multiple of 64", name, head)
		}
	}
	var b, again bytes.Buffer
	if err := errors.Join(weights.WriteNPZ(&b, values), weights.WriteNPZ(&again, values)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("the same tensors give other bytes")
	}
	all, err := weights.Load(written(t, "x.npz", b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range values {
		if !tensor.Equal(all[name], v, tensor.EqualOptions{}) {
			t.Errorf("%s: got %v, want %v", name, all[name], v)
		}
	}
}

func TestNumPyHasNoBFloat16(t *testing.T) {
	err := weights.WriteNPY(&bytes.Buffer{}, tensor.Of([]dtype.BF16{0}))
	if !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "cast it to float32") {
		t.Error(err)
	}
}

func TestMissingFilesAndNames(t *testing.T) {
	if _, err := weights.Open(files + "nothing.npy"); !errors.Is(err, tenon.ErrNotFound) || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	f, err := weights.Open(files + "gguf/f32.gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Read("nothing"); !errors.Is(err, tenon.ErrNotFound) || !strings.Contains(err.Error(), "nothing") {
		t.Error(err)
	}
	if f.Spec("nothing") != nil {
		t.Error("there is a Spec of nothing")
	}
	if _, err := weights.Open(written(t, "x", []byte("hello, this is a text and no model"))); !errors.Is(err, tenon.ErrInvalid) {
		t.Error(err)
	}
	if _, err := weights.Open(t.TempDir()); err == nil {
		t.Error("a folder was opened")
	}
}

// TestFill brings tensors of each format into a struct by rules, casts and transposes them, and
// tells what was left.
func TestFill(t *testing.T) {
	type layer struct{ W tensor.Tensor }
	for _, path := range []string{"gguf/f32.gguf", "pytorch/plain.pt", "npy/stored.npz", "checkpoint/plain", "safetensors/plain.safetensors"} {
		f, err := weights.Open(files + path)
		if err != nil {
			t.Fatal(err)
		}
		all, err := f.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for name, v := range all {
			if v.Shape().Rank() < 2 || !v.DType().IsFloat() {
				continue
			}
			n++
			var report saved.Report
			like := layer{ops.Cast(ops.SwapAxes(v, -1, -2), dtype.Float64)}
			got, err := saved.Fill(f, like, saved.ReadOptions{Rules: saved.Rules{{Path: "W", Name: strings.ReplaceAll(name, "$", "$$"), Transpose: true}}, Cast: true, Extra: true, Report: &report})
			if err != nil || !tensor.Equal(got.W, like.W) || len(report.Left) != len(all)-1 {
				t.Errorf("%s, %s: got %v, %v, %v", path, name, got, report, err)
			}
		}
		if n == 0 {
			t.Errorf("%s has no matrix", path)
		}
		if _, err := saved.Fill(f, layer{tensor.Scalar(1.0)}); !errors.Is(err, tenon.ErrNotFound) {
			t.Errorf("%s: got %v", path, err)
		}
		f.Close()
	}
}

// TestStoragesAreShared reads from several goroutines at once.
func TestStoragesAreShared(t *testing.T) {
	f, err := weights.Open(files + "pytorch/shared.pt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			if _, err := f.ReadAll(); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
}

func TestMetadataOfGGUF(t *testing.T) {
	f, err := weights.Open(files + "gguf/f32.gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, ok := f.Metadata()["general.architecture"].(string); !ok {
		t.Errorf("got %v", f.Metadata())
	}
}

// pickled is a PyTorch archive with a pickle and one storage of four floats.
func pickled(t testing.TB, pickle string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range map[string]string{"m/data.pkl": pickle, "m/data/0": "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40"} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name})
		if err == nil {
			_, err = w.Write([]byte(data))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rebuilt is the pickle of a tensor over the storage with the given sizes and strides.
func rebuilt(offset int, dims, strides []uint32) string {
	number := func(n uint32) string { return "J" + string(binary.LittleEndian.AppendUint32(nil, n)) }
	tuple := func(ns []uint32) string {
		s := "("
		for _, n := range ns {
			s += number(n)
		}
		return s + "t"
	}
	return "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQ" +
		number(uint32(offset)) + tuple(dims) + tuple(strides) + "\x89ccollections\nOrderedDict\n)RtR."
}

func TestHostilePickles(t *testing.T) {
	deep := "\x80\x02" + strings.Repeat("]", 300) + strings.Repeat("a", 299) + "."
	doubled := "\x80\x02]q\x00" // each list holds the one before twice
	for i := range 60 {
		doubled += fmt.Sprintf("](h%ch%ceq%c", i, i, i+1)
	}
	for name, c := range map[string]struct {
		pickle string
		kind   error
	}{
		"nested deep":           {deep, tenon.ErrInvalid},
		"doubling":              {doubled + ".", tenon.ErrInvalid},
		"holds itself":          {"\x80\x02]q\x00h\x00a.", tenon.ErrInvalid},
		"empty stack":           {"\x80\x02.", tenon.ErrInvalid},
		"no mark":               {"\x80\x02t.", tenon.ErrInvalid},
		"long text":             {"\x80\x02X\xff\xff\xff\x7f.", tenon.ErrInvalid},
		"code":                  {"cos\nsystem\n(X\x04\x00\x00\x00trueta.", tenon.ErrInvalid},
		"code that runs":        {"cos\nsystem\n(X\x04\x00\x00\x00truetR.", tenon.ErrUnsupported},
		"object":                {"\x80\x02cmodels\nNet\n)\x81.", tenon.ErrUnsupported},
		"a large view":          {rebuilt(0, []uint32{1 << 30, 4}, []uint32{0, 1}), tenon.ErrInvalid},
		"a view beyond":         {rebuilt(2, []uint32{3}, []uint32{1}), tenon.ErrInvalid},
		"strides that overflow": {rebuilt(0, []uint32{1 << 30, 1 << 17}, []uint32{1 << 30, 1 << 30}), tenon.ErrInvalid},
		"a negative offset":     {rebuilt(-1, []uint32{1}, []uint32{1}), tenon.ErrInvalid},
	} {
		if _, err := weights.Load(written(t, "x.pt", pickled(t, c.pickle))); !errors.Is(err, c.kind) {
			t.Errorf("%s: got %v, want an error of kind %v", name, err, c.kind)
		}
	}
	got, err := weights.Load(written(t, "x.pt", pickled(t, rebuilt(1, []uint32{2, 2}, []uint32{2, 0}))))
	if err != nil {
		t.Fatal(err)
	}
	if want := tensor.Of([]float32{2, 2, 4, 4}, 2, 2); !tensor.Equal(got[""], want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", got[""], want)
	}
}

// seeds adds the small files of a folder to a fuzz target.
func seeds(f *testing.F, pattern string) {
	paths, err := filepath.Glob(files + pattern)
	if err != nil || len(paths) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, p := range paths {
		if b, err := os.ReadFile(p); err == nil && len(b) < 4096 {
			f.Add(b)
		}
	}
}

// fuzz reads arbitrary bytes as a file of a format: an error or tensors of their Specs.
func fuzz(f *testing.F, format weights.Format) {
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := weights.NewFile(bytes.NewReader(b), int64(len(b)), format); err == nil {
			all(t, r)
		}
	})
}

func all(t *testing.T, r *weights.File) {
	for _, name := range r.Names() {
		v, err := r.Read(name)
		if err == nil && !tenon.Equal(v.Spec(), r.Spec(name)) {
			t.Errorf("%q is %v, its Spec %v", name, v.Spec(), r.Spec(name))
		}
	}
}

func FuzzNPY(f *testing.F)     { seeds(f, "npy/*.np?"); fuzz(f, weights.NumPy) }
func FuzzGGUF(f *testing.F)    { seeds(f, "gguf/*.gguf"); fuzz(f, weights.GGUF) }
func FuzzPyTorch(f *testing.F) { seeds(f, "pytorch/*.pt"); fuzz(f, weights.PyTorch) }

// FuzzCheckpoint is about the index; the data file holds zeros.
func FuzzCheckpoint(f *testing.F) {
	seeds(f, "checkpoint/*.index")
	path := filepath.Join(f.TempDir(), "x")
	if err := os.WriteFile(path+".data-00000-of-00001", make([]byte, 4096), 0o666); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path+".index", b, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := weights.OpenAs(path, weights.Checkpoint)
		if err != nil {
			return
		}
		defer r.Close()
		all(t, r)
	})
}
