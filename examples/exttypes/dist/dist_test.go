package dist_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/examples/exttypes/dist"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

func normal() dist.Normal {
	return tenon.Must(dist.NewNormal([]float64{0, 3}, []float64{1, 0.5}))
}

func mixture() dist.Mixture {
	w := tenon.Must(dist.NewCategorical([]float64{math.Log(0.25), math.Log(0.75)}))
	return tenon.Must(dist.NewMixture(w, normal()))
}

func Example() {
	d := tenon.Must(dist.NewNormal([]float64{0, 1}, 2.0))
	fmt.Printf("%.4f\n", d.LogProb(0.0))
	fmt.Printf("%.4f\n", d.Entropy())
	g := grad.Of(func(d dist.Normal) tensor.Tensor { return ops.Sum(d.LogProb(2.0)) })(d)
	fmt.Println(g.Loc)
	fmt.Println(mixture())
	// Output:
	// [-1.6121 -1.7371] float64[2]
	// 2.1121 float64[]
	// [0.5  0.25] float64[2]
	// Mixture(Weights=Categorical(Logits=[-1.38629436 -0.28768207] float64[2]), Components=Normal(Loc=[0. 3.] float64[2], Scale=[1.  0.5] float64[2]))
}

func TestLaws(t *testing.T) {
	spectest.Laws(t, spectest.Options{}, normal(), tenon.Must(dist.NewNormal(1.0, 2.0)))
	spectest.Laws(t, spectest.Options{}, tenon.Must(dist.NewCategorical([][]float32{{1, 2, 3}})))
	spectest.Laws(t, spectest.Options{}, mixture(), tenon.Must(dist.NewMixture(tenon.Must(dist.NewCategorical([]float32{0})),
		tenon.Must(dist.NewNormal([]float32{0}, []float32{1})))))
}

// near compares elements.
func near(t *testing.T, what string, got tensor.Tensor, tol float64, want ...float64) {
	t.Helper()
	data := tensor.Data[float64](got)
	if len(data) != len(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
		return
	}
	for i, x := range data {
		if math.Abs(x-want[i]) > tol {
			t.Errorf("%s: got %v, want %v", what, got, want)
			return
		}
	}
}

func TestMoments(t *testing.T) {
	key := ops.RandomKey(7)
	x := normal().Sample(key, 20000)
	near(t, "means", ops.Mean(x, 0), 0.03, 0, 3)
	near(t, "deviations", ops.Std(x, 0), 0.03, 1, 0.5)
	near(t, "mixture's mean", ops.Mean(mixture().Sample(key, 20000)), 0.05, 0.75*3)
	c := tenon.Must(dist.NewCategorical([]float64{math.Log(0.25), math.Log(0.75)})).Sample(key, 20000)
	near(t, "share of class 1", ops.Mean(c), 0.02, 0.75)
}

func TestFormulas(t *testing.T) {
	d := normal()
	near(t, "cdf", d.CDF([]float64{0, 3}), 1e-12, 0.5, 0.5)
	near(t, "kl to itself", d.KL(d), 1e-12, 0, 0)
	near(t, "kl", tenon.Must(dist.NewNormal(0.0, 1.0)).KL(tenon.Must(dist.NewNormal(1.0, 2.0))), 1e-6, 0.443147)
	c := tenon.Must(dist.NewCategorical([][]float64{{0, 0}, {0, math.Log(3)}}))
	near(t, "categorical", c.LogProb([]int64{0, 1}), 1e-12, math.Log(0.5), math.Log(0.75))
	near(t, "categorical entropy", c.Entropy(), 1e-6, math.Ln2, 0.562335)
	near(t, "categorical kl", c.KL(c), 1e-12, 0, 0)
	p := func(x, mu, sigma float64) float64 {
		return math.Exp(-(x-mu)*(x-mu)/(2*sigma*sigma)) / (sigma * math.Sqrt(2*math.Pi))
	}
	near(t, "mixture", mixture().LogProb([]float64{1}), 1e-12, math.Log(0.25*p(1, 0, 1)+0.75*p(1, 3, 0.5)))
}

// What is estimated is what the formulas say, and of a mixture to itself nothing.
func TestEstimateKL(t *testing.T) {
	key := ops.RandomKey(5)
	p, q := tenon.Must(dist.NewNormal(0.0, 1.0)), tenon.Must(dist.NewNormal(1.0, 2.0))
	near(t, "normal", dist.EstimateKL(p, q, key, 50_000), 0.01, 0.443147)
	c, d := tenon.Must(dist.NewCategorical([]float64{0, math.Log(3)})), tenon.Must(dist.NewCategorical([]float64{0, 0}))
	near(t, "categorical", dist.EstimateKL(c, d, key, 50_000), 0.01, tensor.Item[float64](c.KL(d)))
	near(t, "mixture to itself", dist.EstimateKL(mixture(), mixture(), key, 100), 1e-12, 0)
	away := dist.EstimateKL(mixture(), tenon.Must(dist.NewNormal(-3.0, 1.0)), key, 1000)
	if x := tensor.Item[float64](away); x < 5 {
		t.Errorf("a mixture is %v nats from a distribution far away", x)
	}
	g := grad.Of(func(q dist.Normal) tensor.Tensor { return dist.EstimateKL(p, q, key, 50_000) })(q)
	near(t, "gradient", g.Loc, 0.01, 0.25)
}

// A sample is a function of the parameters, so that its gradient is known.
func TestGradientThroughSamples(t *testing.T) {
	key := ops.RandomKey(3)
	g := grad.Of(func(d dist.Normal) tensor.Tensor { return ops.Mean(d.Sample(key, 1000)) })(normal())
	near(t, "means", g.Loc, 1e-9, 0.5, 0.5)
}

func TestTraced(t *testing.T) {
	f := function.New(func(d dist.Mixture, x tensor.Tensor) tensor.Tensor { return d.LogProb(x) })
	x := tensor.Vector([]float64{0, 1, 2})
	if got, want := f.Call(mixture(), x), mixture().LogProb(x); !tensor.Equal(got, want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBadParameters(t *testing.T) {
	if _, err := dist.NewNormal(0.0, []float64{1, 0}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a scale of 0: %v", err)
	}
	if _, err := dist.NewNormal(1, 2); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("integers: %v", err)
	}
	if _, err := dist.NewMixture(tenon.Must(dist.NewCategorical([]float64{0, 0, 0})), normal()); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("three weights for two components: %v", err)
	}
}
