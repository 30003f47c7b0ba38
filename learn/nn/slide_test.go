package nn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Windows over masked positions, on one axis and on two, against loops: what is missing is as what lies
// beyond the ends, and a result is there where any of its window is.
func TestWindowsOverWhatIsMissing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const rows, h, w, features = 2, 5, 4, 3
	x := make([]float64, rows*h*w*features)
	there := make([]bool, rows*h*w)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for i := range there {
		there[i] = r.IntN(3) == 0
	}
	values, mask := tensor.Of(x, rows, h, w, features), tensor.Of(there, rows, h, w)
	// What is hidden must not matter.
	hidden := ops.Where(ops.ExpandDims(mask, -1), values, math.NaN())
	m := tenon.Must(masked.New(hidden, mask))
	o := nn.Windows{Stride: []int{2, 1}, Dilation: []int{1, 2}, Pads: [][2]int{{1, 0}, {1, 1}}}
	size := []int{2, 2}
	conv := nn.NewConv(ops.RandomKey(3), size, features, 2, nn.ConvOptions{Windows: o, DType: dtype.Float64})
	conv.Bias = tensor.Of([]float64{0.5, -1})
	depthwise := nn.NewDepthwiseConv(ops.RandomKey(4), size, features, 2, nn.ConvOptions{Windows: o, DType: dtype.Float64})
	mean, greatest := nn.Pool{Kind: nn.MeanPool, Size: size, Windows: o}, nn.Pool{Kind: nn.MaxPool, Size: size, Windows: o}
	oh, ow := (h+1-2)/2+1, w+2-3+1
	type window = [][]float64 // the features of what is there; nil for what is not
	windows := make([]window, 0, rows*oh*ow)
	for b := range rows {
		for i := range oh {
			for j := range ow {
				var in window
				for p := range 2 {
					for q := range 2 {
						y, x2 := i*2+p-1, j+q*2-1
						if y < 0 || y >= h || x2 < 0 || x2 >= w || !there[(b*h+y)*w+x2] {
							in = append(in, nil)
							continue
						}
						at := ((b*h+y)*w + x2) * features
						in = append(in, x[at:at+features])
					}
				}
				windows = append(windows, in)
			}
		}
	}
	kernel, depth := tensor.Data[float64](conv.Kernel), tensor.Data[float64](depthwise.Kernel)
	for name, c := range map[string]struct {
		f   func(tensor.Tensor) tensor.Tensor
		out int
		of  func(in window, c int) float64
	}{
		"conv": {conv.Apply, 2, func(in window, c int) float64 {
			sum := []float64{0.5, -1}[c]
			for k, x := range in {
				for f := range x {
					sum += x[f] * kernel[(k*features+f)*2+c]
				}
			}
			return sum
		}},
		"depthwise conv": {depthwise.Apply, 6, func(in window, c int) (sum float64) {
			for k, x := range in {
				if x != nil {
					sum += x[c/2] * depth[k*6+c]
				}
			}
			return sum
		}},
		"mean pool": {mean.Apply, features, func(in window, c int) float64 {
			sum, n := 0.0, 0.0
			for _, x := range in {
				if x != nil {
					sum, n = sum+x[c], n+1
				}
			}
			return sum / n
		}},
		"max pool": {greatest.Apply, features, func(in window, c int) float64 {
			best := math.Inf(-1)
			for _, x := range in {
				if x != nil {
					best = max(best, x[c])
				}
			}
			return best
		}},
	} {
		for how, f := range map[string]func(tensor.Tensor) tensor.Tensor{"at once": c.f, "traced": function.New(c.f).Call} {
			y, ok := f(m).(*masked.Tensor)
			if !ok {
				t.Errorf("%s, %s: no mask", name, how)
				continue
			}
			got, is := tensor.Data[float64](y.Values()), tensor.Data[bool](y.Mask())
			for i, in := range windows {
				some := slices.ContainsFunc(in, func(x []float64) bool { return x != nil })
				if is[i] != some {
					t.Fatalf("%s, %s: result %d is there: %v", name, how, i, is[i])
				}
				for c2 := range c.out {
					want := 0.0
					if some {
						want = c.of(in, c2)
					}
					if math.Abs(got[i*c.out+c2]-want) > 1e-12 {
						t.Fatalf("%s, %s: result %d, %d is %v, want %v", name, how, i, c2, got[i*c.out+c2], want)
					}
				}
			}
		}
		// Gradients, of what is there, against central differences.
		loss := func(v tensor.Tensor) tensor.Tensor {
			return ops.Sum(ops.Square(masked.Fill(c.f(tenon.Must(masked.New(v, mask))), 0.0)))
		}
		g := grad.Of(loss)(values)
		along := func(step float64) float64 { return tensor.Item[float64](loss(ops.Add(values, ops.Mul(g, step)))) }
		want := tensor.Item[float64](ops.Sum(ops.Square(g)))
		if got := (along(1e-6) - along(-1e-6)) / 2e-6; want == 0 || math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s: the slope along the gradient is %v, want %v", name, got, want)
		}
	}
}

// A transposed convolution and parts of positions, where some are missing and where none are.
func TestOtherWindowsOverWhatIsMissing(t *testing.T) {
	x := ops.Cast(wave(3, 2, 4, 3), dtype.Float64)
	mask := tensor.Of([]bool{true, false, false, false, true, true, false, true}, 2, 4)
	m := tenon.Must(masked.New(x, mask))
	zeros := ops.Where(ops.ExpandDims(mask, -1), x, 0.0)
	back := nn.NewConvTranspose(ops.RandomKey(1), []int{2}, 3, 2, nn.ConvOptions{DType: dtype.Float64, Windows: nn.Windows{Stride: []int{2}}})
	y := back.Apply(m).(*masked.Tensor)
	if got := tensor.Data[bool](y.Mask()); !slices.Equal(got, []bool{true, true, false, false, false, false, false, false, true, true, true, true, false, false, true, true}) {
		t.Errorf("transposed: there are %v", got)
	}
	if err := tensor.AllClose(y.Values(), back.Apply(zeros)); err != nil { // the bias is 0
		t.Errorf("transposed: %v", err)
	}
	parts := nn.AdaptivePool{Kind: nn.MeanPool, Size: []int{2}}
	z := parts.Apply(m)
	want := tensor.Data[float64](x)
	got := tensor.Data[float64](masked.Fill(z, 0.0))
	for f := range 3 {
		for i, w := range []float64{want[f], math.NaN(), (want[12+f] + want[15+f]) / 2, want[21+f]} {
			if g := got[i*3+f]; i != 1 && math.Abs(g-w) > 1e-12 {
				t.Errorf("part %d: %v, want %v", i, g, w)
			}
		}
	}
	all := tenon.Must(masked.New(x, tensor.Of(slices.Repeat([]bool{true}, 8), 2, 4)))
	for name, f := range layersOfRows(dtype.Float64) {
		if name == "max pool" || name == "mean pool" || name == "conv" || name == "depthwise conv" || name == "transposed conv" {
			x4 := ops.Cast(wave(3, 2, 4, 4), dtype.Float64)
			m4 := tenon.Must(masked.New(x4, all.Mask()))
			if err := tensor.AllClose(masked.Fill(f(m4), math.NaN()), f(x4)); err != nil {
				t.Errorf("%s where nothing is missing: %v", name, err)
			}
			u := f(named.Of(m4, batch{}, seq{}, rep{}))
			if err := tensor.AllClose(masked.Fill(named.Unnamed(u, batch{}, seq{}, rep{}), math.NaN()), f(x4)); err != nil {
				t.Errorf("%s with names: %v", name, err)
			}
		}
	}
}
