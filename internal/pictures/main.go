// Command pictures draws the pictures of docs/pictures: pages of package view, in light and dark and in a
// narrow window, by a Chromium without a window.
//
//	go run ./internal/pictures docs/pictures
package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/runs"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/show/view"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: pictures FOLDER")
	}
	if err := all(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// looks are the windows of which pictures are taken, high enough for the whole graph of a profile.
var looks = []struct {
	name  string
	flags []string
}{
	{"light", []string{"--window-size=900,1000", "--blink-settings=preferredColorScheme=1"}},
	{"dark", []string{"--window-size=900,1000", "--blink-settings=preferredColorScheme=0"}},
	{"narrow", []string{"--window-size=500,1000", "--blink-settings=preferredColorScheme=1"}},
}

func all(dir string) error {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		return fmt.Errorf("chromium draws the pictures: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	for name, fragmentOf := range map[string]func() (string, error){"values": values, "ragged": rows, "records": records, "runs": curves,
		"graph": func() (string, error) { return graphs(false) }, "profile": func() (string, error) { return graphs(true) },
	} {
		fragment, err := fragmentOf()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		page := filepath.Join(temp, name+".html")
		if err := os.WriteFile(page, []byte(view.Page(name, fragment)), 0o644); err != nil {
			return err
		}
		for _, l := range looks {
			file, err := filepath.Abs(filepath.Join(dir, name+"-"+l.name+".png"))
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--screenshot=" + file}, l.flags...)
			out, err := exec.CommandContext(ctx, chromium, append(args, "file://"+page)...).CombinedOutput()
			cancel()
			if err != nil {
				return fmt.Errorf("%s: %w\n%s", file, err, out)
			}
			if err := crop(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// crop cuts off the empty space below a page, and the strip that Chromium leaves at the end of a window.
func crop(file string) error {
	const strip, margin = 8, 16
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	b := img.Bounds()
	end := b.Max.Y - strip
	for end > b.Min.Y && blank(img, end-1) {
		end--
	}
	cut := image.NewNRGBA(image.Rect(0, 0, b.Dx(), min(end+margin, b.Max.Y-strip)-b.Min.Y))
	draw.Draw(cut, cut.Bounds(), img, b.Min, draw.Src)
	var w bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&w, cut); err != nil {
		return err
	}
	return os.WriteFile(file, w.Bytes(), 0o644)
}

// blank says whether a line of an image has one colour.
func blank(img image.Image, y int) bool {
	b := img.Bounds()
	for x := b.Min.X; x < b.Max.X; x++ {
		if img.At(x, y) != img.At(b.Min.X, y) {
			return false
		}
	}
	return true
}

type (
	// Head is a dimension.
	Head struct{ named.Dim[Head] }
	// Query is a dimension.
	Query struct{ named.Dim[Query] }
	// Key is a dimension.
	Key struct{ named.Dim[Key] }
)

func values() (html string, err error) {
	defer tenon.Catch(&err)
	type model struct {
		Attention *named.Tensor
		Layers    []nn.Dense
		Missing   tensor.Tensor
		Words     tensor.Tensor
		Rate      tensor.Tensor
	}
	weights := make([]float32, 4*24*24)
	for i := range weights {
		h, q, k := i/576, i/24%24, i%24
		weights[i] = float32(math.Exp(-math.Abs(float64(q-k-h)) / float64(h+1)))
	}
	present := make([]bool, 12*16)
	numbers := make([]float64, len(present))
	for i := range present {
		present[i], numbers[i] = (i*7)%5 != 0, math.Sin(float64(i)/9)
	}
	keys := ops.RandomKeys(ops.RandomKey(1), 2)
	m := model{
		Attention: named.Of(tensor.Of(weights, 4, 24, 24), Head{}, Query{}, Key{}),
		Layers:    []nn.Dense{nn.NewDense(keys[0], 32, 48), nn.NewDense(keys[1], 48, 10)},
		Missing:   tenon.Must(masked.New(tensor.Of(numbers, 12, 16), tensor.Of(present, 12, 16))),
		Words:     tensor.Of([]string{"tenon", "<b>mortise</b>", "größe"}),
		Rate:      tensor.Scalar(1e-3),
	}
	return view.HTML(m, view.Options{Name: "model"}), nil
}

func rows() (html string, err error) {
	defer tenon.Catch(&err)
	var lists [][]float64
	for i := range 90 {
		row := []float64{}
		for k := range (i * i) % 23 {
			row = append(row, math.Round(100*math.Cos(float64(i*k)))/100)
		}
		lists = append(lists, row)
	}
	return view.HTML(ragged.FromSlices(lists), view.Options{Name: "hits"}), nil
}

func records() (html string, err error) {
	defer tenon.Catch(&err)
	t, err := structured.FromNested([]any{
		map[string]any{"id": 1, "name": "Ada", "jets": []any{map[string]any{"pt": 3.5, "hits": []any{1, 2, 3}}, map[string]any{"pt": 7.25, "hits": []any{}}}, "met": nil},
		map[string]any{"id": 2, "name": "<script>alert(1)</script>", "jets": []any{}, "met": 2.5},
		map[string]any{"id": 3, "name": "Cy", "jets": []any{map[string]any{"pt": 1.0, "hits": []any{8}}}, "met": 40.5},
	}, structured.NestedOptions{Missing: structured.MissingMasked})
	if err != nil {
		return "", err
	}
	return view.HTML(t, view.Options{Name: "events"}), nil
}

// graphs is a function with a loop as it is written, or as it runs, coloured by the time that it took.
func graphs(measured bool) (html string, err error) {
	defer tenon.Catch(&err)
	f := function.New(func(x, w, b, n tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		h := ops.Tanh(ops.Add(ops.MatMul(x, w), b))
		sum := control.While(func(i tensor.Tensor) tensor.Tensor { return ops.Less(i, n) }, func(i tensor.Tensor) tensor.Tensor { return ops.Add(i, int64(1)) }, ops.ZerosLike(n))
		return ops.Softmax(h, -1), ops.Mul(ops.Mean(ops.Mul(h, h)), ops.Cast(sum, h.DType()))
	}, function.Options{Name: "layer"})
	x, w, b, n := ops.Ones(dtype.Float32, []int{256, 128}), ops.Ones(dtype.Float32, []int{128, 64}), ops.Ones(dtype.Float32, []int{64}), tensor.Scalar(int64(3))
	m := saved.NewModel()
	if err := m.Add("layer", f, x.Spec(), w.Spec(), b.Spec(), n.Spec()); err != nil {
		return "", err
	}
	layer := m.Functions()[0]
	if err := layer.AddWarmUp(x, w, b, n); err != nil {
		return "", err
	}
	if !measured {
		return view.Graph(layer.Graph(0), view.GraphOptions{}), nil
	}
	g, err := layer.Compiled(0)
	if err != nil {
		return "", err
	}
	p, err := layer.Measure(context.Background(), 0)
	if err != nil {
		return "", err
	}
	return view.Graph(g, view.GraphOptions{Profile: p}), nil
}

func curves() (string, error) {
	var list []*runs.Run
	for k, rate := range []float64{0.1, 0.03} {
		r := &runs.Run{Info: runs.Info{Name: fmt.Sprintf("rate %v", rate), Started: time.Date(2026, 3, 1, 9, k, 0, 0, time.UTC), Settings: map[string]any{"rate": rate, "width": 64}}, End: "finished"}
		for i := range 400 {
			x := float64(i)
			norm, lr := 3*math.Exp(-x/200)+0.4*math.Abs(math.Sin(x*1.7)), rate*(1+math.Cos(math.Pi*x/400))/2
			e := runs.Event{Step: i + 1, Steps: 400, Loss: math.Exp(-x*rate/9) + 0.2 + 0.1*math.Sin(x*2.3+float64(k)), Norm: &norm, Rate: &lr, Elapsed: time.Duration(i) * 20 * time.Millisecond}
			if (i+1)%50 == 0 {
				score := 0.9 - math.Exp(-x*rate/9)/2
				e.Score, e.Best = &score, true
			}
			r.Events = append(r.Events, e)
		}
		list = append(list, r)
	}
	return view.Runs(list, view.RunOptions{Smooth: 0.9}), nil
}
