package files_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/dataset/files"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/model/weights"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

var ctx = context.Background()

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// write writes a file of a folder that is made.
func write(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	must(w.Write(b))
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// records are n records with the numbers from first on.
func records(first, n int) *structured.Tensor {
	id, lengths := make([]int64, n), make([]int64, n)
	var words []string
	for i := range n {
		id[i], lengths[i] = int64(first+i), int64(i%3)
		for k := range i % 3 {
			words = append(words, fmt.Sprintf("w%d.%d", first+i, k))
		}
	}
	return must(structured.FromFields([]structured.Field{{Name: "id", Value: tensor.Of(id)},
		{Name: "words", Value: must(ragged.FromRowLengths(words, lengths))}}, shape.Of(n), structured.Options{NRows: n}))
}

// ids returns the field id of rows.
func ids(t *testing.T, d *dataset.Dataset[*structured.Tensor]) []int64 {
	t.Helper()
	var out []int64
	for r, err := range d.Batch(4, dataset.BatchOptions{Kind: dataset.Ragged}).All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tensor.Data[int64](must(r.Field("id")))...)
	}
	return out
}

func upTo(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

// Row groups and record batches are blocks: their rows come by number, and shuffled with some
// blocks in memory.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	all := records(0, 23)
	file := filepath.Join(dir, "a.parquet")
	if err := parquetio.WriteFile(file, all, parquetio.WriteOptions{GroupRows: 5}); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "a.arrow")
	if err := arrowio.WriteFile(other, all, arrowio.WriteOptions{BatchRows: 5, Compression: arrowio.Zstd}); err != nil {
		t.Fatal(err)
	}
	p := must(parquetio.Open(file, parquetio.ReadOptions{}))
	defer p.Close()
	a := must(arrowio.Open(other, arrowio.ReadOptions{}))
	defer a.Close()
	for name, d := range map[string]*dataset.Dataset[*structured.Tensor]{
		"parquet": files.Parquet(p, dataset.BlockOptions{}), "arrow": must(files.Arrow(a, dataset.BlockOptions{Bytes: 1})),
	} {
		if got := ids(t, d); !slices.Equal(got, upTo(23)) {
			t.Errorf("%s: got %v", name, got)
		}
		r := must(d.At(17))
		if got := fmt.Sprint(must(r.Field("id")), must(r.Field("words"))); got != `17 int64[] ["w17.0" "w17.1"] string[2]` {
			t.Errorf("%s: row 17 is %s", name, got)
		}
		got := ids(t, d.ShuffleBlocks(2, 1))
		if slices.Equal(got, upTo(23)) {
			t.Errorf("%s is not shuffled", name)
		}
		if slices.Sort(got); !slices.Equal(got, upTo(23)) {
			t.Errorf("%s, shuffled: %v", name, got)
		}
	}
	single := filepath.Join(dir, "v.arrow")
	if err := arrowio.WriteFile(single, tensor.Of([]int64{1}), arrowio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	f := must(arrowio.Open(single, arrowio.ReadOptions{}))
	defer f.Close()
	if _, err := files.Arrow(f, dataset.BlockOptions{}); !errors.Is(err, tenon.ErrDType) {
		t.Errorf("no table: %v", err)
	}
}

func TestNumPy(t *testing.T) {
	dir := t.TempDir()
	x, y := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2), tensor.Of([]int64{7, 8, 9})
	var b bytes.Buffer
	if err := weights.WriteNPY(&b, x); err != nil {
		t.Fatal(err)
	}
	name := write(t, dir, "x.npy", b.Bytes())
	d := must(files.NPY(name))
	if n, _ := d.Len(); n != 3 || fmt.Sprint(must(d.At(1))) != "[3. 4.] float32[2]" {
		t.Errorf("%d rows, %v", n, must(d.At(1)))
	}
	b.Reset()
	if err := weights.WriteNPZ(&b, map[string]tensor.Tensor{"x": x, "y": y}); err != nil {
		t.Fatal(err)
	}
	name = write(t, dir, "xy.npz", b.Bytes())
	if got := fmt.Sprint(must(must(files.NPZ(name)).At(2))); got != "map[x:[5. 6.] float32[2] y:9 int64[]]" {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprint(must(must(files.NPZ(name, "y")).Batch(2, dataset.BatchOptions{}).At(0))); got != "map[y:[7 8] int64[2]]" {
		t.Errorf("got %s", got)
	}
	if _, err := files.NPZ(name, "z"); !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := files.NPY(filepath.Join(dir, "none.npy")); !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	b.Reset()
	if err := weights.WriteNPY(&b, tensor.Scalar(1.0)); err != nil {
		t.Fatal(err)
	}
	if _, err := files.NPY(write(t, dir, "scalar.npy", b.Bytes())); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "scalar.npy") {
		t.Errorf("a scalar has no rows: %v", err)
	}
}

func TestLines(t *testing.T) {
	dir := t.TempDir()
	var long strings.Builder
	var want []string
	for i := range 3000 {
		want = append(want, strings.Repeat("é", i%200)+fmt.Sprint(i))
		long.WriteString(want[i] + []string{"\n", "\r\n"}[i%2])
	}
	a := write(t, dir, "a.txt", []byte(long.String()))
	b := write(t, dir, "b.txt", []byte("\nx\n\nlast"))
	c := write(t, dir, "c.txt.gz", zipped([]byte(long.String())))
	empty := write(t, dir, "empty.txt", nil)
	text := func(d *dataset.Dataset[tensor.Tensor]) (out []string) {
		for x, err := range d.All(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, tensor.Item[string](x))
		}
		return out
	}
	tail := []string{"", "x", "", "last"}
	for name, x := range map[string]struct {
		d    *dataset.Dataset[tensor.Tensor]
		want []string
	}{
		"one":    {must(files.Lines(a)), want},
		"two":    {must(files.Lines(a, b)), slices.Concat(want, tail)},
		"zipped": {must(files.Lines(c)), want},
		"mixed":  {must(files.Lines(b, c, empty, b)), slices.Concat(tail, want, tail)},
		"skip":   {must(files.Lines(a, c)).Skip(2999), append([]string{want[2999]}, want...)},
		"empty":  {must(files.Lines(empty)), nil},
		"none":   {must(files.Lines()), nil},
	} {
		if got := text(x.d); !slices.Equal(got, x.want) {
			t.Errorf("%s: %d lines, want %d", name, len(got), len(x.want))
		}
	}
	d := must(files.Lines(a, b))
	if n, ok := d.Len(); n != 3004 || !ok {
		t.Errorf("%d lines", n)
	}
	if got := tensor.Item[string](must(d.At(2048))); got != want[2048] {
		t.Errorf("line 2048 is %q", got)
	}
	if _, err := must(files.Lines(filepath.Join(dir, "none"))).Collect(ctx); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestImages(t *testing.T) {
	picture := func(encode func(*bytes.Buffer, image.Image) error, m image.Image) []byte {
		var b bytes.Buffer
		if err := encode(&b, m); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	asPNG := func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }
	asJPEG := func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, &jpeg.Options{Quality: 100}) }
	gray := image.NewGray(image.Rect(0, 0, 2, 1))
	gray.SetGray(1, 0, color.Gray{Y: 200})
	glass := image.NewNRGBA(image.Rect(0, 0, 1, 2))
	glass.SetNRGBA(0, 0, color.NRGBA{R: 10, G: 20, B: 30, A: 40})
	red := image.NewRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		red.SetRGBA(i%8, i/8, color.RGBA{R: 255, A: 255})
	}
	fsys := fstest.MapFS{
		"dog/b.png": {Data: picture(asPNG, glass)}, "dog/deep/a.PNG": {Data: picture(asPNG, gray)}, "cat/x.jpeg": {Data: picture(asJPEG, red)},
		"cat/readme.txt": {Data: []byte("no image")}, "top.png": {Data: picture(asPNG, gray)}, "empty/.keep": {},
	}
	d, classes, err := files.ImagesFS(fsys, files.ImageOptions{})
	if n, _ := d.Len(); err != nil || n != 3 || !slices.Equal(classes, []string{"cat", "dog", "empty"}) {
		t.Fatalf("%d images of %v, %v", n, classes, err)
	}
	cat, dog, grayDog := must(d.At(0)), must(d.At(1)), must(d.At(2))
	if p := tensor.Data[uint8](cat.X); tenon.String(cat.X.Spec()) != "uint8[8, 8, 3]" || p[0] < 250 || p[1] > 5 {
		t.Errorf("the JPEG is %v", cat.X)
	}
	if got := fmt.Sprint(dog.X, dog.Label); got != "[[[10 20 30 40]]\n\n [[ 0  0  0  0]]] uint8[2, 1, 4] 1 int64[]" {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprint(tensor.Data[uint8](grayDog.X), grayDog.X.Shape()); got != "[0 200] [1, 2, 1]" {
		t.Errorf("got %s", got)
	}
	d, _, _ = files.ImagesFS(fsys, files.ImageOptions{Channels: 3})
	if got := fmt.Sprint(tensor.Data[uint8](must(d.At(2)).X)); got != "[0 0 0 200 200 200]" {
		t.Errorf("in colour: %s", got)
	}
	d, _, _ = files.ImagesFS(fsys, files.ImageOptions{MaxPixels: 10})
	if _, err := d.At(0); err == nil || !strings.Contains(err.Error(), "cat/x.jpeg") || !strings.Contains(err.Error(), "the limit of 10") {
		t.Errorf("a large one: %v", err)
	}
	fsys["dog/bad.png"] = &fstest.MapFile{Data: fsys["dog/b.png"].Data[:40]}
	d, _, _ = files.ImagesFS(fsys, files.ImageOptions{})
	if _, err := d.Collect(ctx); err == nil || !strings.Contains(err.Error(), "dog/bad.png") {
		t.Errorf("a damaged one: %v", err)
	}
	if _, _, err := files.Images(filepath.Join(t.TempDir(), "none"), files.ImageOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if _, _, err := files.ImagesFS(fsys, files.ImageOptions{Channels: 2}); err == nil {
		t.Error("two channels")
	}
}

// idx returns a file in the form of MNIST.
func idx(typ byte, dims []int, data ...byte) []byte {
	b := []byte{0, 0, typ, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return append(b, data...)
}

func TestMNIST(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "train-images-idx3-ubyte.gz", zipped(idx(8, []int{2, 1, 3}, 1, 2, 3, 4, 5, 6)))
	write(t, dir, "train-labels-idx1-ubyte", idx(8, []int{2}, 7, 9))
	write(t, dir, "t10k-images.idx3-ubyte", idx(8, []int{1, 1, 3}, 250, 251, 252))
	if _, _, err := files.MNIST(dir, ""); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "labels") {
		t.Errorf("without labels: %v", err)
	}
	write(t, dir, "t10k-labels.idx1-ubyte", idx(8, []int{1}, 5))
	train, test, err := files.MNIST(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	x, y := must(train.At(1)), must(test.At(0))
	if got := fmt.Sprint(x.X, x.Label, y.X, y.Label); got != "[[4 5 6]] uint8[1, 3] 9 int64[] [[250 251 252]] uint8[1, 3] 5 int64[]" {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprint(must(files.DecodeIDX(bytes.NewReader(idx(0x0B, []int{2}, 1, 2, 255, 254))))); got != "[258  -2] int16[2]" {
		t.Errorf("got %s", got)
	}
	for name, b := range map[string][]byte{"empty": nil, "no type": idx(7, []int{1}, 1), "cut": idx(8, []int{5}, 1), "more": idx(8, []int{1}, 1, 2), "large": idx(0x0E, []int{1 << 31, 1 << 31}), "no sizes": {0, 0, 8, 2, 0}} {
		if _, err := files.IDX(write(t, dir, "bad", b)); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "bad") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestScikitLearn(t *testing.T) {
	dir := t.TempDir()
	iris := must(files.ScikitLearn(write(t, dir, "iris.csv", []byte("3,2,setosa,virginica\n5.1,3.5,0\n4.9,3,1\n1e1,-2,1\n"))))
	if got := fmt.Sprint(iris.Data, iris.Target, iris.Classes); got != "[[ 5.1  3.5]\n [ 4.9  3. ]\n [10.  -2. ]] float64[3, 2] [0 1 1] int64[3] [setosa virginica]" {
		t.Errorf("got %s", got)
	}
	if n, _ := iris.Dataset().Len(); n != 3 {
		t.Errorf("%d rows", n)
	}
	digits := must(files.ScikitLearn(write(t, dir, "digits.csv.gz", zipped([]byte(strings.Repeat(strings.Repeat("1,", 64)+"7\n", 2))))))
	if got := fmt.Sprint(digits.Data.Shape(), digits.Target); got != "[2, 64] [7 7] int64[2]" {
		t.Errorf("got %s", got)
	}
	linnerud := must(files.ScikitLearn(write(t, dir, "linnerud.csv", []byte("Chins Situps\n5 162\n2 110\n"))))
	if got := fmt.Sprint(linnerud.Data, linnerud.Target == nil, must(linnerud.Dataset().At(1)).X); got != "[[  5. 162.]\n [  2. 110.]] float64[2, 2] true [  2. 110.] float64[2]" {
		t.Errorf("got %s", got)
	}
	for name, text := range map[string]string{"empty": "", "rows": "3,2,a,b\n1,2,0\n", "class": "1,2,a,b\n1,2,2\n", "fields": "1,2\n1\n", "text": "1 2\nx y\n"} {
		if _, err := files.ScikitLearn(write(t, dir, "bad.csv", []byte(text))); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "bad.csv") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHuggingFace(t *testing.T) {
	parquet := func(first, n int) []byte {
		var b bytes.Buffer
		if err := parquetio.Encode(&b, records(first, n), parquetio.WriteOptions{GroupRows: 2, Plain: true}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	dir := t.TempDir()
	write(t, dir, "data/train-00000-of-00002.parquet", parquet(0, 3))
	write(t, dir, "data/train-00001-of-00002.parquet", parquet(3, 4))
	write(t, dir, "data/dev.parquet", parquet(100, 1))
	write(t, dir, "fr/some/x.parquet", parquet(50, 2))
	read := func(h *files.Hub, config, split string) []int64 {
		s, err := h.Open(config, split, parquetio.ReadOptions{Columns: []string{"id"}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return ids(t, s.Data)
	}
	h := must(files.HuggingFace(dir))
	if got := fmt.Sprint(h.Configs(), h.Splits(""), read(h, "", "train"), read(h, "default", "validation")); got != "[default] [train validation] [0 1 2 3 4 5 6] [100]" {
		t.Errorf("by names: %s", got)
	}
	write(t, dir, "README.md", []byte("---\nlicense: mit\nconfigs:\n- config_name: fr\n  data_files: fr/**\n- config_name: en\n  default: true\n  data_files:\n  - split: train\n    path: \"data/train-*\"\n  - split: held\n    path:\n    - data/dev.parquet\n---\n# Text\n"))
	h = must(files.HuggingFace(dir))
	if got := fmt.Sprint(h.Configs(), h.Splits(""), read(h, "", "train"), read(h, "en", "held"), read(h, "fr", "train"), h.Card()["license"]); got != "[en fr] [train held] [0 1 2 3 4 5 6] [100] [50 51]mit" {
		t.Errorf("by the README: %s", got)
	}
	for name, err := range map[string]error{
		"config": func() error { _, err := h.Files("de", "train"); return err }(),
		"split":  func() error { _, err := h.Open("en", "dev", parquetio.ReadOptions{}); return err }(),
		"folder": func() error { _, err := files.HuggingFace(filepath.Join(dir, "none")); return err }(),
	} {
		if !errors.Is(err, tenon.ErrNotFound) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	write(t, dir, "README.md", []byte("---\nconfigs: [\n---\n"))
	if _, err := files.HuggingFace(dir); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "README.md") {
		t.Errorf("damaged YAML: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(idx(8, []int{2}, 7, 9))
	f.Add([]byte("3,2,setosa,virginica\n5.1,3.5,0\n4.9,3,1\n1e1,-2,1\n"))
	f.Add([]byte("1 2\n3 4\n"))
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1024 {
			return
		}
		if x, err := files.DecodeIDX(bytes.NewReader(b)); err == nil && x.Shape().Size() > len(b) {
			t.Errorf("%v of %d bytes", x.Shape(), len(b))
		}
		if x, err := files.DecodeScikitLearn(bytes.NewReader(b)); err == nil && x.Data == nil {
			t.Error("no data")
		}
		if x, err := files.DecodeImage(bytes.NewReader(b), files.ImageOptions{MaxPixels: 1 << 12}); err == nil && x.Shape().Rank() != 3 {
			t.Errorf("%v", x.Shape())
		}
	})
}
