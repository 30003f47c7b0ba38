package train_test

import (
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// wave returns the numbers sin(start + 1.7·i)/2, which the references used too.
func wave[T float32 | float64](start float64, n int) tensor.Tensor {
	x := make([]T, n)
	for i := range x {
		x[i] = T(float32(math.Sin(float64(float32(start+1.7*float64(i)))))) * 0.5
	}
	if f, ok := any(x).([]float32); ok {
		return tensor.Of(f)
	}
	return tensor.Of(any(x).([]float64))
}

// Three steps of each optimizer against those of Keras 3 with the same numbers.
func TestOptimizers(t *testing.T) {
	rate := train.Constant(0.1)
	for name, c := range map[string]struct {
		o    train.Optimizer
		want []float64
	}{
		"sgd":      {train.SGD(rate), []float64{0.5247647, 0.1998298, -0.5762586, -0.0513343}},
		"momentum": {train.SGD(rate, train.SGDOptions{Momentum: 0.9}), []float64{0.6162781, 0.258984, -0.6830153, -0.0829784}},
		"nesterov": {train.SGD(rate, train.SGDOptions{Momentum: 0.9, Nesterov: true}), []float64{0.700753, 0.2405944, -0.7627515, -0.0440417}},
		"adam":     {train.Adam(rate), []float64{0.7134507, 0.3449461, -0.7659436, -0.1593154}},
		"adamw":    {train.AdamW(rate), []float64{0.7118925, 0.3440526, -0.764218, -0.1588282}},
		"adagrad":  {train.Adagrad(rate, train.AdagradOptions{Initial: 0.1}), []float64{0.60083, 0.2101335, -0.6438339, -0.044663}},
		"lion":     {train.Lion(rate), []float64{0.7207355, 0.11369, -0.7758011, 0.0089187}},
		"lamb":     {train.LAMB(rate), []float64{0.5572595, 0.261034, -0.610641, -0.105426}},
	} {
		for _, o := range []train.Optimizer{c.o, train.Sparse(c.o)} {
			p := wave[float32](1, 4)
			slots := o.Slots(p)
			for i := range 3 {
				p, slots = o.Update(p, wave[float32](float64(10+i), 4), slots, tensor.Scalar(float32(i+1)), o.Rate()(tensor.Scalar(float32(i))))
			}
			for i, x := range tensor.Data[float32](p) {
				if math.Abs(float64(x)-c.want[i]) > 3e-6 {
					t.Errorf("%s (%T): %v, want %v", name, o, tensor.Data[float32](p), c.want)
					break
				}
			}
		}
	}
}

// The kernel of Adam gives what its formula gives, for both types.
func TestAdamInDouble(t *testing.T) {
	o := train.AdamW(0.1, train.AdamOptions{WeightDecay: 0.02, Beta1: 0.8, Beta2: 0.99, Epsilon: 1e-3})
	p := wave[float64](1, 5)
	want := append([]float64(nil), tensor.Data[float64](p)...)
	m, v := make([]float64, 5), make([]float64, 5)
	slots := o.Slots(p)
	for i := range 4 {
		g := wave[float64](float64(10+i), 5)
		n := float64(i + 1)
		for k, x := range tensor.Data[float64](g) {
			m[k] = 0.8*m[k] + 0.2*x
			v[k] = 0.99*v[k] + 0.01*x*x
			want[k] -= 0.1*m[k]/(1-math.Pow(0.8, n))/(math.Sqrt(v[k]/(1-math.Pow(0.99, n)))+1e-3) + 0.1*0.02*want[k]
		}
		p, slots = o.Update(p, g, slots, tensor.Scalar(n), tensor.Scalar(0.1))
	}
	for k, x := range tensor.Data[float64](p) {
		if math.Abs(x-want[k]) > 1e-12 {
			t.Errorf("element %d is %v, want %v", k, x, want[k])
		}
	}
}

// Rows without a gradient stay, with their moments.
func TestSparse(t *testing.T) {
	for name, o := range map[string]train.Optimizer{
		"adam": train.AdamW(0.1, train.AdamOptions{WeightDecay: 0.5, Sparse: true}),
		"lion": train.Sparse(train.Lion(0.1, train.LionOptions{WeightDecay: 0.5})),
	} {
		p := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
		g := tensor.Of([]float32{1, 0, 0, 0, 0, -1}, 3, 2)
		slots := o.Slots(p)
		next, after := o.Update(p, g, slots, tensor.Scalar(float32(1)), tensor.Scalar(float32(0.1)))
		x, m := tensor.Data[float32](next), tensor.Data[float32](after[0])
		if x[2] != 3 || x[3] != 4 || m[2] != 0 || m[3] != 0 {
			t.Errorf("%s: the row without a gradient became %v, its moment %v", name, x[2:4], m[2:4])
		}
		if x[0] >= 1 || x[1] >= 2 || x[5] == 6 || m[0] == 0 {
			t.Errorf("%s: %v %v: rows with a gradient do not move and decay", name, x, m)
		}
	}
}

func TestSchedules(t *testing.T) {
	for name, c := range map[string]struct {
		s    train.Schedule
		want []float64 // at steps 0, 5, 10, 20
	}{
		"constant":  {train.Constant(3), []float64{3, 3, 3, 3}},
		"linear":    {train.Linear(1, 0, 10), []float64{1, 0.5, 0, 0}},
		"cosine":    {train.Cosine(2, 10), []float64{2, 1, 0, 0}},
		"warmup":    {train.Warmup(10, train.Constant(1)), []float64{0.1, 0.6, 1, 1}},
		"decay":     {train.Decay(1, 0.5, 10), []float64{1, math.Sqrt(0.5), 0.5, 0.25}},
		"steps":     {train.Steps(1, 0.1, 5, 15), []float64{1, 0.1, 0.1, 0.01}},
		"inverse":   {train.InverseSqrt(1, 5), []float64{1, 1, math.Sqrt(0.5), 0.5}},
		"one cycle": {train.OneCycle(1, 21, train.OneCycleOptions{Share: 11. / 21, Linear: true, FinalDiv: 4}), []float64{0.04, 0.52, 1, 0.01}},
	} {
		for i, step := range []float64{0, 5, 10, 20} {
			if got := tensor.Item[float64](c.s(tensor.Scalar(step))); math.Abs(got-c.want[i]) > 1e-12 {
				t.Errorf("%s at step %v is %v, want %v", name, step, got, c.want[i])
			}
		}
	}
}

func TestClip(t *testing.T) {
	g := []tensor.Tensor{tensor.Of([]float32{3, 0}), tensor.Of([]float32{4})}
	if n := tensor.Item[float32](train.GlobalNorm(g)); n != 5 {
		t.Errorf("norm %v, want 5", n)
	}
	if c := train.ClipByGlobalNorm(g, 1); math.Abs(float64(tensor.Item[float32](train.GlobalNorm(c)))-1) > 1e-6 {
		t.Errorf("clipped to %v", c)
	}
	if c := train.ClipByGlobalNorm(g, 10); !tensor.Equal(c[0], g[0], tensor.EqualOptions{}) || !tensor.Equal(ops.Mul(c[1], 1.0), g[1], tensor.EqualOptions{}) {
		t.Errorf("small gradients were scaled: %v", c)
	}
}

// Parameters of 16 bits are trained by every optimizer as those of 32 are, up to rounding, and keep their type, also
// beside others, with clipped gradients, an average and a scaled loss.
func TestOptimizersOfNarrowParameters(t *testing.T) {
	type pair struct{ W, B tensor.Tensor }
	x, y := ops.Reshape(wave[float32](3, 32), []int{8, 4}), ops.Reshape(wave[float32](4, 24), []int{8, 3})
	fit := func(d dtype.DType, o train.Options) (loss float64, s train.State[pair]) {
		m := pair{ops.Cast(ops.Reshape(wave[float32](1, 12), []int{4, 3}), d), wave[float32](2, 3)}
		trainer := tenon.Must(train.NewTrainer(m, func(m pair, _ tensor.Tensor, _ tensor.Tensor) tensor.Tensor {
			h := ops.Add(ops.Cast(ops.MatMul(ops.Cast(x, d), m.W), dtype.Float32), m.B)
			return ops.Mean(nn.SquaredError(h, y))
		}, o))
		for range 200 {
			loss = tenon.Must(trainer.Step(t.Context(), x))
		}
		return loss, trainer.State()
	}
	for name, o := range map[string]train.Options{
		"SGD": {Optimizer: train.SGD(0.1, train.SGDOptions{Momentum: 0.9}), ClipNorm: 0.5}, "Adam": {Optimizer: train.Adam(1e-2), ClipNorm: 0.5},
		"AdamW": {Optimizer: train.AdamW(train.Warmup(10, train.Cosine(1e-2, 300))), Average: 0.999}, "NAdam": {Optimizer: train.NAdam(1e-2), Accumulate: 2},
		"RAdam": {Optimizer: train.RAdam(1e-2), LossScale: train.LossScale{Start: 65536}}, "Adafactor": {Optimizer: train.Adafactor(1e-2)},
		"Adagrad": {Optimizer: train.Adagrad(0.1)}, "RMSProp": {Optimizer: train.RMSProp(1e-2), AverageEvery: 5}, "LAMB": {Optimizer: train.LAMB(1e-2)},
	} {
		want, whole := fit(dtype.Float32, o)
		for _, d := range []dtype.DType{dtype.BFloat16, dtype.Float16, dtype.Float64} {
			got, s := fit(d, o)
			if !(math.Abs(got-want) < 2e-3) {
				t.Errorf("%s of %v: the loss is %v, with 32 bits %v", name, d, got, want)
			}
			average := s.Averaged().W
			if average.DType() != d || s.Params.W.DType() != d || s.Params.B.DType() != dtype.Float32 {
				t.Errorf("%s of %v: the types are %v, %v and %v", name, d, s.Params.W.DType(), average.DType(), s.Params.B.DType())
			}
			if err := tensor.AllClose(ops.Cast(average, dtype.Float32), whole.Averaged().W, tensor.CloseOptions{RTol: 0.05, ATol: 0.05}); err != nil {
				t.Errorf("%s of %v: the average: %v", name, d, err)
			}
		}
	}
}
