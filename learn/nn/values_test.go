package nn_test

import (
	"math"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// wave returns the numbers sin(start + 1.7·i)/2, which the references used too.
func wave(start float64, dims ...int) tensor.Tensor {
	n := 1
	for _, d := range dims {
		n *= d
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Sin(float64(float32(start+1.7*float64(i))))) * 0.5
	}
	return tensor.Of(x, dims...)
}

func flat(x tensor.Tensor) []float64 {
	if r, ok := x.(*ragged.Tensor); ok {
		x = r.FlatValues()
	}
	return tensor.Data[float64](ops.Cast(x, dtype.Float64))
}

func near(t *testing.T, what string, got tensor.Tensor, want ...float64) {
	t.Helper()
	g := flat(got)
	if len(g) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(g), len(want))
	}
	for i := range g {
		if !(math.Abs(g[i]-want[i]) <= 2e-5) {
			t.Errorf("%s: value %d is %v, want %v", what, i, g[i], want[i])
		}
	}
}

// All references of this file were computed with TensorFlow 2 and Keras 3.

func TestGRU(t *testing.T) {
	l := nn.GRU{Kernel: wave(2, 2, 9), Recurrent: wave(3, 3, 9), Bias: wave(4, 2, 9)}
	x := wave(1, 2, 3, 2)
	states := []float64{0.1371423, -0.0139626, -0.1166797, 0.267871, -0.1525106, -0.1567164, 0.235258, 0.0108503, -0.2113829, 0.2609268, -0.1791776, -0.093332}
	rows := tensorOf(ragged.FromDense(x, ragged.FromDenseOptions{Lengths: []any{[]int64{3, 1}}}))
	y, last := l.Apply(rows)
	near(t, "ragged states", y, states...)
	near(t, "last states", last, 0.235258, 0.0108503, -0.2113829, 0.2609268, -0.1791776, -0.093332)
	y, last = l.Apply(ops.Index(x, 0))
	near(t, "one row", y, states[:9]...)
	near(t, "its last", last, states[6:9]...)
}

func TestLSTM(t *testing.T) {
	l := nn.LSTM{Kernel: wave(5, 2, 12), Recurrent: wave(6, 3, 12), Bias: wave(7, 12)}
	rows := tensorOf(ragged.FromDense(wave(1, 2, 3, 2), ragged.FromDenseOptions{Lengths: []any{[]int64{3, 1}}}))
	y, h, c := l.Apply(rows)
	near(t, "states", y, -0.123926, -0.0471752, 0.1083593, -0.1545545, 0.0381857, 0.1451523, -0.1661019, 0.0059017, 0.1368542, -0.1481503, 0.0460965, 0.1177363)
	near(t, "h", h, -0.1661019, 0.0059017, 0.1368542, -0.1481503, 0.0460965, 0.1177363)
	near(t, "c", c, -0.3488899, 0.0140426, 0.2665965, -0.3832807, 0.1252572, 0.1899326)
}

func TestConv(t *testing.T) {
	for _, c := range []struct {
		padding          nn.Padding
		stride, dilation int
		want             []float64
	}{
		{nn.Valid, 1, 1, []float64{0.080526, -0.6361586, 0.0280692, -0.321549, 0.142754, -0.7087426}},
		{nn.Valid, 2, 1, []float64{0.080526, -0.6361586, 0.142754, -0.7087426}},
		{nn.Valid, 1, 2, []float64{0.3352219, -1.1291416}},
		{nn.Same, 1, 1, []float64{0.1228726, -0.3870917, 0.080526, -0.6361586, 0.0280692, -0.321549, 0.142754, -0.7087426, -0.0344738, -0.6429747}},
		{nn.Same, 2, 1, []float64{0.1228726, -0.3870917, 0.0280692, -0.321549, -0.0344738, -0.6429747}},
		{nn.Same, 1, 2, []float64{0.179416, -0.8488046, -0.0663854, -0.0115199, 0.3352219, -1.1291416, -0.2830823, -0.1121895, 0.4928941, -0.9783171}},
		{nn.Causal, 1, 1, []float64{0.1092415, -0.6075876, 0.1228726, -0.3870917, 0.080526, -0.6361586, 0.0280692, -0.321549, 0.142754, -0.7087426}},
		{nn.Causal, 2, 1, []float64{0.1092415, -0.6075876, 0.080526, -0.6361586, 0.142754, -0.7087426}},
		{nn.Causal, 1, 2, []float64{0.1092415, -0.6075876, 0.0380998, -0.3058863, 0.179416, -0.8488046, -0.0663854, -0.0115199, 0.3352219, -1.1291416}},
	} {
		l := nn.Conv{Kernel: wave(2, 3, 2, 2), Bias: wave(3, 2), Windows: nn.Windows{Stride: []int{c.stride}, Dilation: []int{c.dilation}, Padding: c.padding}}
		x := wave(1, 1, 5, 2)
		near(t, string(c.padding)+" dense", l.Apply(x), c.want...)
		// The same row between others.
		rows := tensorOf(ragged.FromRowLengths(ops.Concat([]any{wave(7, 1, 2), ops.Index(x, 0), wave(8, 2, 2)}, 0), []int64{1, 5, 0, 2}))
		y := l.Apply(rows).(*ragged.Tensor)
		near(t, string(c.padding)+" ragged", ops.Index(y, 1), c.want...)
		if n := ops.Index(y, 2).Shape().Dim(0); n != 0 {
			t.Errorf("%s: an empty row has %d results", c.padding, n)
		}
	}
}

func TestMultiHeadAttention(t *testing.T) {
	dense := func(s float64, in, out int) nn.Dense {
		return nn.Dense{Kernel: wave(s, in, out), Bias: wave(s+1, out)}
	}
	l := nn.MultiHeadAttention{Query: dense(2, 4, 4), Key: dense(4, 4, 4), Value: dense(6, 4, 4), Out: dense(8, 4, 4), Heads: 2}
	causal := l
	causal.Causal = true
	x := wave(1, 1, 3, 4)
	all := []float64{0.4237028, -0.3479068, -0.334051, 0.433988, 0.4237056, -0.3479137, -0.3340521, 0.4339952, 0.4237095, -0.3479269, -0.3340526, 0.4340086}
	past := []float64{0.425179, -0.3529127, -0.3342373, 0.4390419, 0.4239495, -0.3511096, -0.3334725, 0.4370418, 0.4237095, -0.3479269, -0.3340526, 0.4340086}
	some := []float64{0.423948, -0.3511083, -0.3334713, 0.4370401, 0.4239495, -0.3511096, -0.3334725, 0.4370418, 0.423952, -0.3511122, -0.3334742, 0.4370449}
	near(t, "dense", l.Apply(x), all...)
	near(t, "dense causal", causal.Apply(x), past...)
	mask := tensor.Of([]bool{true, true, false}, 1, 1, 3)
	near(t, "dense mask", l.ApplyTo(x, x, ops.BroadcastTo(mask, []int{1, 3, 3})), some...)

	rows := tensorOf(ragged.FromRowLengths(ops.Concat([]any{wave(7, 2, 4), ops.Index(x, 0)}, 0), []int64{2, 0, 3}))
	near(t, "ragged", ops.Index(l.Apply(rows), 2), all...)
	near(t, "ragged causal", ops.Index(causal.Apply(rows), 2), past...)
	seen := tensorOf(ragged.FromRowLengths([]bool{true, true, true, true, false}, []int64{2, 0, 3}))
	near(t, "ragged mask", ops.Index(l.ApplyTo(rows, rows, seen), 2), some...)
}

func TestNorms(t *testing.T) {
	x, scale := wave(1, 2, 4), wave(2, 4)
	ln := nn.LayerNorm{Scale: scale, Offset: wave(3, 4), Epsilon: 1e-5}
	near(t, "layer norm", ln.Apply(x), 0.614208, -0.6543334, 0.6219255, 0.3684271, 0.6615118, -0.4470229, 0.6233527, 0.6170766)
	rms := nn.RMSNorm{Scale: scale, Epsilon: 1e-6}
	near(t, "RMS norm", rms.Apply(x), 0.5656947, -0.1674144, 0.5436753, -0.098176, 0.6312706, 0.0276834, 0.5260796, 0.1659699)
	near(t, "fresh", nn.NewLayerNorm(2, nn.NormOptions{Epsilon: 1e-9}).Apply(tensor.Of([]float32{1, 3}, 1, 2)), -1, 1)
	near(t, "fresh RMS", nn.NewRMSNorm(2, nn.NormOptions{Epsilon: 1e-9}).Apply(tensor.Of([]float32{3, 4}, 1, 2)), 3/math.Sqrt(12.5), 4/math.Sqrt(12.5))
}

func TestEmbedding(t *testing.T) {
	l := nn.Embedding{Table: wave(1, 5, 3)}
	ids := ragged.FromSlices([][]int64{{0, 2}, {}, {4, 4, 1}})
	weights := ragged.FromSlices([][]float32{{1, 2}, {}, {.5, .5, 3}})
	near(t, "sum", l.Bag(ids, weights, nn.BagSum), -0.5584422, 0.5411644, 0.4189901, 0, 0, 0, 0.0054138, 1.0502213, -0.2760442)
	near(t, "mean", l.Bag(ids, weights, nn.BagMean), -0.1861474, 0.1803881, 0.1396634, 0, 0, 0, 0.0013534, 0.2625553, -0.0690111)
	near(t, "sqrtn", l.Bag(ids, weights, nn.BagSqrtN), -0.249743, 0.2420161, 0.1873781, 0, 0, 0, 0.0017565, 0.3407368, -0.0895606)
	near(t, "no weights", l.Bag(ids, nil, nn.BagSum), flat(ops.Sum(l.Apply(ids), 1))...)
	near(t, "one", l.Apply(tensor.Of([]int32{2})), flat(ops.Index(l.Table, 2))...)
	near(t, "scores", l.Attend(ops.Index(l.Table, 1)), flat(ops.MatVec(l.Table, ops.Index(l.Table, 1)))...)
}

func TestLosses(t *testing.T) {
	logits, labels := ops.Mul(wave(1, 3, 4), 4.0), tensor.Of([]int64{2, 0, 3})
	near(t, "softmax", nn.SoftmaxCrossEntropy(logits, labels, nn.CrossEntropyOptions{}), 4.0521636, 0.3344885, 0.8977447)
	near(t, "smoothed", nn.SoftmaxCrossEntropy(logits, labels, nn.CrossEntropyOptions{Smoothing: 0.1}), 3.8550887, 0.5206127, 1.0311931)
	targets := ops.Greater(wave(9, 3, 4), 0.0)
	near(t, "binary", nn.BinaryCrossEntropy(logits, targets, nn.BinaryOptions{}),
		0.17044, 1.2092019, 0.1389704, 0.8918103, 2.1243625, 0.6208172, 2.0903397, 0.4183607, 1.9440444, 0.2833376, 1.7030278, 0.2008399)
	near(t, "weighted", nn.BinaryCrossEntropy(logits, targets, nn.BinaryOptions{Positive: 2.5}),
		0.4260999, 1.2092019, 0.1389704, 2.2295258, 2.1243625, 0.6208172, 5.2258492, 1.0459018, 1.9440444, 0.2833376, 4.2575698, 0.5020999)
	p, q := ops.Mul(wave(1, 2, 3), 3.0), ops.Mul(wave(5, 2, 3), 3.0)
	near(t, "Huber", nn.Huber(p, q, 0.7), 1.6454152, 0.000571, 1.6515111, 0.2206886, 1.5316719, 0.6778823)
	near(t, "cosine", nn.Cosine(p, q), 1.8017266, 1.5096525)
	near(t, "squared", nn.SquaredError(tensor.Of([]float32{1, 2}), tensor.Of([]float32{3, 2})), 4, 0)
	a, b := wave(1, 3, 4), wave(8, 3, 4)
	near(t, "contrastive", nn.Contrastive(a, b, nn.ContrastiveOptions{Temperature: 0.1}), 0.0243347, 2.0084403, 2.5173292)
	near(t, "symmetric", nn.Contrastive(a, b, nn.ContrastiveOptions{Temperature: 0.1, Symmetric: true}), 1.4726328, 2.0163822, 1.272009)
}

func TestSampledSoftmax(t *testing.T) {
	weights, bias, x, labels := wave(2, 6, 3), wave(3, 6), wave(4, 2, 3), tensor.Of([]int64{1, 4})
	s := nn.Sample{Classes: tensor.Of([]int64{0, 4, 2}), Size: 6, Log: true}
	// How often each of 0, 4 and 2 is expected among three draws by Zipf's law.
	s.Expected = tensor.Of([]float32{float32(3 * math.Log(2) / math.Log(7)), float32(3 * math.Log(6./5) / math.Log(7)), float32(3 * math.Log(4./3) / math.Log(7))})
	near(t, "without hits", nn.SampledSoftmax(weights, bias, x, labels, s, nn.SampledOptions{}), 2.503782, 0.6292895)
	near(t, "with hits", nn.SampledSoftmax(weights, bias, x, labels, s, nn.SampledOptions{KeepHits: true}), 2.503782, 1.0564967)

	// Draws follow their law.
	const n, size = 40000, 6
	for name, s := range map[string]nn.Sample{
		"uniform": nn.UniformSample(ops.RandomKey(1), n, size, dtype.Float32), "log": nn.LogUniformSample(ops.RandomKey(1), n, size, dtype.Float32),
	} {
		counts := flat(ops.BinCount(s.Classes, ops.BinCountOptions{}))
		for k, c := range counts {
			want := float64(n) / size
			if s.Log {
				want = n * math.Log(float64(k+2)/float64(k+1)) / math.Log(size+1)
			}
			if math.Abs(c-want) > 4*math.Sqrt(want) {
				t.Errorf("%s: class %d was drawn %v times, want about %.0f", name, k, c, want)
			}
		}
		if len(counts) != size {
			t.Errorf("%s: classes up to %d", name, len(counts))
		}
	}
}

func TestMetrics(t *testing.T) {
	acc := nn.NewAccuracy().Update(tensor.Of([]float32{1, 2, 3, 1}, 2, 2), tensor.Of([]int64{1, 1}))
	acc = acc.Merge(nn.NewAccuracy().Update(tensor.Of([]float32{0, 1}, 1, 2), tensor.Of([]int64{1})))
	if got := acc.Result(); math.Abs(got-2./3) > 1e-15 {
		t.Errorf("accuracy %v, want 2/3", got)
	}
	if got := nn.NewMean().Update(tensor.Of([]float32{1, 2, 6}), tensor.Of([]float32{1, 1, 2})).Result(); got != 3.75 {
		t.Errorf("mean %v, want 3.75", got)
	}
	if got := nn.NewMean().Result(); !math.IsNaN(got) {
		t.Errorf("the mean of nothing is %v", got)
	}
	nan := float32(math.NaN())
	scores := tensor.Of([]float32{1, 3, 2, 2, 2, 1, nan, 0, -1}, 3, 3)
	right := tensor.Of([]int64{2, 0, 0})
	// Ranks: 2; the first or second of two; 3, and the one that is not a number last.
	mrr, r1 := nn.NewMRR().Update(scores, right), nn.NewRecall(1).Update(scores, right)
	if got, want := mrr.Result(), (1./2+3./4+1./3)/3; math.Abs(got-want) > 1e-12 {
		t.Errorf("MRR %v, want %v", got, want)
	}
	if got, want := r1.Merge(nn.NewRecall(1)).Result(), 0.5/3; math.Abs(got-want) > 1e-12 {
		t.Errorf("recall@1 %v, want %v", got, want)
	}
	if got := nn.NewRecall(2).Update(scores, right).Result(); math.Abs(got-2./3) > 1e-12 {
		t.Errorf("recall@2 %v, want 2/3", got)
	}
	auc := nn.NewAUC(0).Update(tensor.Of([]float32{0.1, 0.4, 0.35, 0.8}), tensor.Of([]bool{false, false, true, true}))
	auc = auc.Merge(nn.NewAUC(0).Update(tensor.Of([]float32{0.65, 0.2, 0.9, 0.5}), tensor.Of([]float32{0, 0, 1, 1})))
	if got := auc.Result(); got != 0.8125 {
		t.Errorf("AUC %v, want 0.8125", got)
	}
}

func tensorOf[T tensor.Tensor](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
