package interp_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

type batch struct {
	X tensor.Tensor // rows
	S tensor.Tensor // a number for each row
}

// batchOf has n rows of 1, 2, 0 and 3 elements in turn.
func batchOf(n int) batch {
	lengths := make([]int, n)
	var x []float64
	for i := range lengths {
		lengths[i] = []int{1, 2, 0, 3}[i%4]
		for k := range lengths[i] {
			x = append(x, math.Sin(float64(7*i+k)))
		}
	}
	s := make([]float64, n)
	for i := range s {
		s[i] = math.Cos(float64(i))
	}
	return batch{tenon.Must(ragged.FromRowLengths(tensor.Of(x), lengths)), tensor.Of(s)}
}

// Functions of a row and a number, lifted over rows whose number is not known when the graph is
// made: nothing in it asks whether one number stands for all rows, and its nodes run together
// as those of a graph for a known number of rows do.
func TestLiftedOverUnknownRows(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     func(r batch) tensor.Tensor
		steps string
		text  string
	}{
		{"numbers of rows", func(r batch) tensor.Tensor { return ops.Tanh(ops.Add(ops.Mul(r.X, r.S), 1)) }, "control.same_rows|ragged.repeat+mul+add+tanh",
			`(%0: float64[?], %1: int64[?], %2: float64[?]) {
  %3 = control.same_rows(x: %2, of: %1, less: #1) : float64[?]
  %4 = ragged.repeat(items: %3, splits: %1) : float64[?]
  %5 = mul(x: %0, y: %4) : float64[?]
  %6 = const float64[] "AAAAAAAA8D8="
  %7 = add(x: %5, y: %6) : float64[?]
  %8 = tanh(x: %7) : float64[?]
  return %8, %1
}
`},
		{"reductions of rows", func(r batch) tensor.Tensor {
			d := ops.Sub(r.X, ops.Mean(r.X))
			return ops.Div(d, ops.Sqrt(ops.Add(ops.Mean(ops.Square(d)), 1e-3)))
		}, "ragged.mean+ragged.repeat+sub+square+ragged.mean+add+sqrt+ragged.repeat+div",
			`(%0: float64[?], %1: int64[?], %2: float64[?]) {
  %3 = ragged.mean(values: %0, splits: %1) : float64[?]
  %4 = ragged.repeat(items: %3, splits: %1) : float64[?]
  %5 = sub(x: %0, y: %4) : float64[?]
  %6 = square(x: %5) : float64[?]
  %7 = ragged.mean(values: %6, splits: %1) : float64[?]
  %8 = const float64[] "/Knx0k1iUD8="
  %9 = add(x: %7, y: %8) : float64[?]
  %10 = sqrt(x: %9) : float64[?]
  %11 = ragged.repeat(items: %10, splits: %1) : float64[?]
  %12 = div(x: %5, y: %11) : float64[?]
  return %12, %1
}
`},
		{"softmax of rows", func(r batch) tensor.Tensor { return ops.Mul(ops.Softmax(ops.Mul(r.X, r.S), -1), r.S) }, "control.same_rows|ragged.repeat+mul+ragged.softmax+mul", ""},
		{"a choice", func(r batch) tensor.Tensor { return ops.Where(ops.Greater(r.X, r.S), r.X, r.S) }, "control.same_rows|ragged.repeat+greater+where", ""},
		{"numbers only", func(r batch) tensor.Tensor { return ops.Exp(ops.Neg(ops.Mul(r.S, ops.Sum(r.X)))) }, "control.same_rows|ragged.sum+mul+neg+exp", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			lift := func(b batch) tensor.Tensor { return control.Map(c.f, b) }
			f := function.New(lift)
			for n := range 4 {
				f.Call(batchOf(3 + n)) // until the trace is for any number
			}
			b := batchOf(20)
			g := tenon.Must(f.Trace(b))
			if got := strings.Join(interp.Steps(g), "|"); got != c.steps {
				t.Errorf("the steps are %s, want %s\n%v", got, c.steps, g)
			}
			_, text, _ := strings.Cut(withoutLines(g), "(")
			if d := cmp.Diff(c.text, "("+text); c.text != "" && d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(flat(lift(b)), flat(f.Call(b)), cmpopts.EquateApprox(1e-14, 1e-14), cmpopts.EquateNaNs()); d != "" {
				t.Error(d)
			}
			b.S = tensor.Of([]float64{1})
			if _, err := tenon.Try(func() tensor.Tensor { return f.Call(b) }); strings.Contains(c.steps, "same_rows") && (err == nil || !strings.Contains(err.Error(), "20 and 1 rows")) {
				t.Errorf("one number for twenty rows: %v", err)
			}
		})
	}
}

// What rows of a dense tensor have in common is one number also where it is not known: the
// gradient inside of a lifted function, whose rows are as long as the data say.
func TestLiftedOverUnknownSizes(t *testing.T) {
	body := func(x tensor.Tensor) tensor.Tensor {
		return grad.Of(func(x tensor.Tensor) tensor.Tensor {
			return ops.Div(ops.Sum(ops.Square(x)), ops.Cast(ops.Size(x), dtype.Float64))
		})(x)
	}
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return control.Map(body, x) })
	for n := 2; n < 7; n++ {
		x, want := make([]float64, n*(n+1)), make([]float64, n*(n+1))
		for i := range x {
			x[i] = float64(i)
			want[i] = 2 * float64(i) / float64(n+1)
		}
		if d := cmp.Diff(want, flat(f.Call(tensor.Of(x, n, n+1))), cmpopts.EquateApprox(1e-14, 0)); d != "" {
			t.Errorf("%d rows: %s", n, d)
		}
	}
	if text := f.Explain(); !strings.Contains(text, "(float64[?, ?])") && !strings.Contains(text, "?, ?") {
		t.Errorf("no trace is for unknown sizes: %s", text)
	}
}

func flat(x tensor.Tensor) []float64 {
	if r, ok := x.(*ragged.Tensor); ok {
		x = r.FlatValues()
	}
	return tensor.Data[float64](x)
}

func withoutLines(g *graph.Graph) string {
	var b strings.Builder
	for line := range strings.Lines(g.String()) {
		line, _, _ = strings.Cut(line, " @ ")
		b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}
