package state_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

type pair struct {
	R    *ragged.Tensor
	N    tensor.Tensor
	Unit string
}

func (p pair) Spec() tenon.Spec { return ext.SpecOf(p) }

func init() { ext.Register[pair]("state_test.pair") }

// What is added by calls at the same time adds up, however it is added.
func TestConcurrentUpdates(t *testing.T) {
	one := tensor.Scalar(1.0)
	add := func(x tensor.Tensor) (tensor.Tensor, error) { return ops.Add(x, 1.0), nil }
	v := tenon.Must(state.New(0.0))
	traced := function.New(func(x tensor.Tensor) (tensor.Tensor, error) { return x, v.Add(x) })
	held := tenon.Must(state.NewOf(pair{ragged.FromSlices([][]float64{{0}, {0, 0}}), tensor.Scalar(0.0), "m"}))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 25 {
				tenon.Throw(v.Update(add))
				tenon.Throw(v.Add(1.0))
				tenon.Must(traced.Call(one))
				tenon.Throw(held.Update(func(p pair) (pair, error) {
					p.R, p.N = ops.Add(p.R, 1.0).(*ragged.Tensor), ops.Add(p.N, 1.0)
					return p, nil
				}))
				p, err := held.Value()
				if a := tensor.Data[float64](p.R.FlatValues()); err != nil || a[0] != tensor.Item[float64](p.N) || a[2] != a[0] {
					t.Errorf("a reader sees half of an update: %v, %v", p, err)
				}
			}
		})
	}
	all.Wait()
	if got := tensor.Item[float64](v.Value()); got != 600 {
		t.Errorf("600 updates add up to %v", got)
	}
	p, err := held.Value()
	if got := fmt.Sprint(p.R, p.N, p.Unit, err); got != "[[200.] [200. 200.]] float64[2, ~] 200.0 float64[]m<nil>" {
		t.Errorf("200 updates of a pair: %s", got)
	}
}

func TestVariablesOfAnyValue(t *testing.T) {
	r := ragged.FromSlices([][]float64{{1}, {2, 3}})
	held := tenon.Must(state.NewOf(r))
	double := function.New(func() (tensor.Tensor, error) {
		x, err := held.Value()
		if err != nil {
			return nil, err
		}
		y := ops.Mul(x, 2).(*ragged.Tensor)
		return ops.Sum(y, 1), held.Assign(y)
	})
	for _, want := range []string{"[ 2. 10.] float64[2]", "[ 4. 20.] float64[2]"} {
		if got := fmt.Sprint(tenon.Must(double.Call())); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := fmt.Sprint(tenon.Must(held.Value())); got != "[[4.] [8. 12.]] float64[2, ~]" {
		t.Errorf("got %s", got)
	}
	if got := tenon.Must(state.Tree(struct{ X *state.Of[*ragged.Tensor] }{held})); len(got) != len(held.Parts) || got[0].Name != "X.Parts[0]" {
		t.Errorf("the variables are %v", got)
	}
	other := tenon.Must(state.NewOf(pair{r, tensor.Scalar(0.0), "m"}))
	var e *tenon.Error
	if err := other.Assign(pair{r, tensor.Scalar(0.0), "km"}); !errors.As(err, &e) || e.Where != "Unit" {
		t.Errorf("another unit: %v", err)
	}
	for _, v := range []tenon.Value{r, pair{r, tensor.Scalar(0.0), "m"}} {
		if _, err := state.New(v); !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "state.NewOf") {
			t.Errorf("a variable of %s: %v", tenon.String(v.Spec()), err)
		}
	}
}

// What is held is what is written and logged.
func TestFormsOfWhatIsHeld(t *testing.T) {
	held := tenon.Must(state.NewOf(ragged.FromSlices([][]float64{{1}, {2, 3}})))
	v := tenon.Must(state.New([]float64{1, 2}))
	b, err := json.Marshal([]any{held, v})
	if got := string(b); err != nil || got != "[[[1.0],[2.0,3.0]],[1.0,2.0]]" {
		t.Errorf("%s, %v", got, err)
	}
	if got := fmt.Sprint(held.LogValue(), v.LogValue()); got != "float64[2, ~] [[1.0],[2.0,3.0]] float64[2] [1.0,2.0]" {
		t.Errorf("logged as %s", got)
	}
}
