package function_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

type pv struct{ A, B tensor.Tensor }

func (v pv) Spec() tenon.Spec { return ext.SpecOf(v) }

func init() { ext.Register[pv]("function_test.pv") }

func number(t tensor.Tensor) float64 { return tensor.Data[float64](t)[0] }

func one(x float64) tensor.Tensor { return tensor.Of([]float64{x}) }

// Two closures of the same code are two arguments.
func TestClosuresDoNotShareATrace(t *testing.T) {
	type layer struct {
		W   tensor.Tensor
		Act func(tensor.Tensor) tensor.Tensor
	}
	call := function.New(func(g func(tensor.Tensor) tensor.Tensor, x tensor.Tensor) tensor.Tensor { return g(x) })
	inside := function.New(func(l layer, x tensor.Tensor) tensor.Tensor { return l.Act(ops.Mul(l.W, x)) })
	for k := 1.0; k <= 3; k++ {
		g := func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, k) }
		if got := number(call.Call(g, one(1))); got != k {
			t.Errorf("closure %v gives %v", k, got)
		}
		if got := number(inside.Call(layer{one(1), g}, one(1))); got != k {
			t.Errorf("closure %v in a struct gives %v", k, got)
		}
		call.Call(g, one(2))
	}
	if text := call.Explain(); !strings.Contains(text, ": 3 traces") || !strings.Contains(text, "structure or plain data") {
		t.Errorf("got %s", text)
	}
}

func TestCheckFindsWhatAClosureCapturedChange(t *testing.T) {
	k := 1.0
	g := func(x tensor.Tensor) tensor.Tensor { return ops.Mul(x, k) }
	f := function.New(func(g func(tensor.Tensor) tensor.Tensor, x tensor.Tensor) (tensor.Tensor, error) { return g(x), nil }, function.Options{Check: true})
	if _, err := f.Call(g, one(1)); err != nil {
		t.Fatal(err)
	}
	k = 2
	if _, err := f.Call(g, one(1)); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "Go data that change") {
		t.Errorf("got %v", err)
	}
}

// Fields that are not walked belong to the signature.
func TestHiddenFieldsArePartOfTheSignature(t *testing.T) {
	type scale struct {
		W      tensor.Tensor
		factor float64
		names  []string
		Note   any `tenon:"-"`
	}
	f := function.New(func(s scale, x tensor.Tensor) (scale, tensor.Tensor) {
		k := s.factor
		if n, ok := s.Note.(int); ok {
			k *= float64(n)
		}
		return s, ops.Mul(ops.Mul(s.W, x), k)
	})
	names := []string{"a"}
	for _, c := range []struct {
		s    scale
		want float64
	}{{scale{one(1), 2, names, nil}, 2}, {scale{one(1), 3, names, nil}, 3}, {scale{one(1), 3, nil, 2}, 6}, {scale{one(1), 2, names, nil}, 2}} {
		s, y := f.Call(c.s, one(1))
		if number(y) != c.want || s.factor != c.s.factor || fmt.Sprint(s.names, s.Note) != fmt.Sprint(c.s.names, c.s.Note) {
			t.Errorf("%v: got %v and %v", c.s, s, y)
		}
	}
	if text := f.Explain(); !strings.Contains(text, ": 3 traces") {
		t.Errorf("got %s", text)
	}
}

// A trace keeps copies: what a caller changes in place is another signature.
func TestArgumentsThatAreChangedInPlace(t *testing.T) {
	type config struct {
		W    tensor.Tensor
		Mode string `tenon:"static"`
		By   []float64
	}
	f := function.New(func(c *config) tensor.Tensor {
		y := ops.Mul(c.W, c.By[0])
		if c.Mode == "neg" {
			return ops.Neg(y)
		}
		return y
	})
	c := &config{one(1), "pos", []float64{2}}
	for _, step := range []struct {
		mode string
		by   float64
		want float64
	}{{"pos", 2, 2}, {"neg", 2, -2}, {"neg", 3, -3}, {"pos", 2, 2}} {
		c.Mode, c.By[0] = step.mode, step.by
		if got := number(f.Call(c)); got != step.want {
			t.Errorf("%v: got %v", step, got)
		}
	}
	if text := f.Explain(); !strings.Contains(text, ": 3 traces") {
		t.Errorf("got %s", text)
	}
}

func TestNaNIsOneSignature(t *testing.T) {
	type static struct {
		W tensor.Tensor
		X float64 `tenon:"static"`
	}
	f := function.New(func(x float64, list []float64, s static) tensor.Tensor { return ops.Add(s.W, len(list)) })
	nan := math.NaN()
	for range 5 {
		f.Call(nan, []float64{1, math.Float64frombits(math.Float64bits(nan) ^ 1)}, static{one(1), nan})
	}
	if text := f.Explain(); !strings.Contains(text, ": 1 traces") {
		t.Errorf("got %s", text)
	}
	g := function.New(func(x float64) tensor.Tensor { return tensor.Scalar(1 / x) })
	if a, b := tensor.Item[float64](g.Call(0)), tensor.Item[float64](g.Call(math.Copysign(0, -1))); a != math.Inf(1) || b != math.Inf(-1) {
		t.Errorf("of 0 and -0: %v, %v", a, b)
	}
}

// The traces that are called stay, the others go.
func TestTracesAreBounded(t *testing.T) {
	f := function.New(func(n int, x tensor.Tensor) tensor.Tensor { return ops.Add(x, n) }, function.Options{MaxTraces: 4})
	for n := range 50 {
		if got := number(f.Call(n, one(1))); got != float64(n+1) {
			t.Errorf("%d: got %v", n, got)
		}
		f.Call(0, one(2))
	}
	text := f.Explain()
	if !strings.Contains(text, ": 50 traces, of which 46 were dropped, as more than 4 are not kept") || strings.Count(text, "\n") != 5 {
		t.Errorf("got %s", text)
	}
}

// A variable inside an argument is read in each call.
func TestVariablesInsideOfArguments(t *testing.T) {
	v := tenon.Must(state.New(one(1)))
	add := function.New(func(p pv) tensor.Tensor { return ops.Add(p.A, p.B) })
	rows := tenon.Must(state.New(tensor.Of([]float64{1, 2})))
	r := tenon.Must(ragged.FromRowSplits(rows, tensor.Of([]int64{0, 1, 2})))
	sums := function.New(func(r *ragged.Tensor) tensor.Tensor { return ops.Sum(r, 1) })
	for k := 1.0; k <= 3; k++ {
		tenon.Throw(v.Assign(one(k)))
		tenon.Throw(rows.Assign(tensor.Of([]float64{k, 2 * k})))
		if got := number(add.Call(pv{v, one(1)})); got != k+1 {
			t.Errorf("in a derived type: %v gives %v", k, got)
		}
		if got := fmt.Sprint(tensor.Data[float64](sums.Call(r))); got != fmt.Sprint([]float64{k, 2 * k}) {
			t.Errorf("in ragged rows: %v gives %v", k, got)
		}
	}
	if text := add.Explain(); !strings.Contains(text, ": 1 traces") {
		t.Errorf("got %s", text)
	}
}
