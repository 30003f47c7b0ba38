package nn_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

type (
	batch  struct{ named.Dim[batch] }
	seq    struct{ named.Dim[seq] }
	rep    struct{ named.Dim[rep] }
	hidden struct{ named.Dim[hidden] }
)

// float64Model has one of each layer.
type float64Model struct {
	Words nn.Embedding
	Norm  nn.LayerNorm
	RMS   nn.RMSNorm
	Mix   nn.MultiHeadAttention
	Conv  nn.Conv
	GRU   nn.GRU
	LSTM  nn.LSTM
	MLP   nn.MLP
	Drop  nn.Dropout
}

const vocabulary, features = 6, 4

func newModel() float64Model {
	d := dtype.Float64
	k := ops.RandomKeys(ops.RandomKey(3), 8)
	return float64Model{
		Words: nn.NewEmbedding(k[0], vocabulary, features, nn.EmbeddingOptions{Init: nn.LecunNormal, DType: d}),
		Norm:  nn.NewLayerNorm(features, nn.NormOptions{DType: d}),
		RMS:   nn.NewRMSNorm(features, nn.NormOptions{DType: d}),
		Mix:   nn.NewMultiHeadAttention(k[1], features, 2, nn.AttentionOptions{DType: d, Sight: nn.Sight{Causal: true}}),
		Conv:  nn.NewConv(k[2], []int{3}, features, 3, nn.ConvOptions{DType: d, Windows: nn.Windows{Padding: nn.Same}, Activation: nn.Gelu}),
		GRU:   nn.NewGRU(k[3], 3, 3, nn.RecurrentOptions{DType: d}),
		LSTM:  nn.NewLSTM(k[4], 3, 3, nn.RecurrentOptions{DType: d, Reverse: true}),
		MLP:   nn.NewMLP(k[5], []int{6, 5, 2}, nn.MLPOptions{DType: d, Activation: nn.Tanh}),
		Drop:  nn.Dropout{Rate: 0.3},
	}
}

func loss(m float64Model, ids *ragged.Tensor) tensor.Tensor {
	x := m.Words.Apply(ids)
	x = ops.Add(x, m.Mix.Apply(m.Norm.Apply(x)))
	x = m.Conv.Apply(m.RMS.Apply(x))
	states, _ := m.GRU.Apply(x)
	_, h, c := m.LSTM.Apply(states)
	y := m.MLP.Apply(m.Drop.Apply(ops.RandomKey(9), ops.Concat([]any{h, c}, -1)))
	bag := m.Words.Bag(ids, nil, nn.BagMean)
	con := nn.Contrastive(bag, ops.Roll(bag, 1, 0), nn.ContrastiveOptions{Temperature: 0.5, Symmetric: true})
	return ops.Add(ops.Sum(nn.SoftmaxCrossEntropy(y, tensor.Of([]int64{0, 1, 1, 0}), nn.CrossEntropyOptions{Smoothing: 0.1})), ops.Sum(con))
}

func someIDs() *ragged.Tensor {
	return ragged.FromSlices([][]int64{{0, 2, 5}, {1}, {}, {4, 4, 1, 3, 0}})
}

// The gradient of a model with every layer against central differences, and traced
// against eager.
func TestGradients(t *testing.T) {
	m, ids := newModel(), someIDs()
	value, g := grad.ValueAndGrad(loss)(m, ids)
	leaves, err := nest.Flatten(m, nest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	paths, grads, err := nest.FlattenWithPaths(g, nest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i, l := range leaves {
		p := l.(tensor.Tensor)
		data := tensor.Data[float64](p)
		got := tensor.Data[float64](grads[i].(tensor.Tensor))
		for e := 0; e < len(data); e += 1 + len(data)/6 {
			at := func(step float64) float64 {
				moved := append([]float64(nil), data...)
				moved[e] += step
				other := append([]any(nil), leaves...)
				other[i] = tensor.Of(moved, p.Shape().Dims()...)
				n, err := nest.Pack(m, other, nest.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return tensor.Item[float64](loss(n, ids))
			}
			const step = 1e-5
			want := (at(step) - at(-step)) / (2 * step)
			if math.Abs(got[e]-want) > 1e-7*(1+math.Abs(want)) {
				t.Errorf("gradient of %v[%d] is %v, want %v", paths[i], e, got[e], want)
			}
			compared++
		}
	}
	if compared < 100 {
		t.Errorf("only %d elements were compared", compared)
	}

	step := function.New(func(m float64Model, ids *ragged.Tensor) (tensor.Tensor, float64Model) {
		return grad.ValueAndGrad(loss)(m, ids)
	}, function.Options{RelaxAfter: 1})
	for _, rows := range [][][]int64{{{0, 2, 5}, {1}, {}, {4, 4, 1, 3, 0}}, {{5}, {1, 1, 2}, {3, 0}, {4}}, {{0, 2, 5}, {1}, {}, {4, 4, 1, 3, 0}}} {
		ids := ragged.FromSlices(rows)
		v, d := step.Call(m, ids)
		want, e := grad.ValueAndGrad(loss)(m, ids)
		if a, b := tensor.Item[float64](v), tensor.Item[float64](want); math.Abs(a-b) > 1e-9 {
			t.Errorf("the traced loss is %v, the eager one %v", a, b)
		}
		a, b := tensor.Data[float64](d.Words.Table), tensor.Data[float64](e.Words.Table)
		for i := range a {
			if math.Abs(a[i]-b[i]) > 1e-9 {
				t.Fatalf("traced gradient %v, eager %v", a[i], b[i])
			}
		}
	}
	if v := tensor.Item[float64](value); !(v > 0) {
		t.Errorf("the loss is %v", v)
	}
}

// A row gives the same alone, among other rows, and as a dense tensor.
func TestRaggedIsRowByRow(t *testing.T) {
	m := newModel()
	ids := someIDs()
	x := m.Words.Apply(ids)
	layers := map[string]func(tensor.Tensor) tensor.Tensor{
		"norm": m.Norm.Apply, "rms": m.RMS.Apply, "attention": m.Mix.Apply, "conv": m.Conv.Apply,
		"gru":   func(x tensor.Tensor) tensor.Tensor { y, _ := m.GRU.Apply(m.Conv.Apply(x)); return y },
		"lstm":  func(x tensor.Tensor) tensor.Tensor { y, _, _ := m.LSTM.Apply(m.Conv.Apply(x)); return y },
		"dense": m.Mix.Query.Apply,
	}
	for name, f := range layers {
		whole := f(x).(*ragged.Tensor)
		for r := range 4 {
			row := ops.Index(x, r)
			if row.Shape().Dim(0) == 0 {
				continue
			}
			near(t, fmt.Sprint(name, " row ", r), ops.Index(whole, r), flat(f(row))...)
		}
	}
}

// Named layers give what the unnamed ones give, whatever the order of storage.
func TestNamed(t *testing.T) {
	key := ops.RandomKey(5)
	names := nn.Names{In: rep{}, Out: hidden{}, Along: seq{}}
	same := nn.Names{In: rep{}, Along: seq{}}
	dense := nn.NewDense(key, features, 3, nn.DenseOptions{Activation: nn.Tanh, Names: names})
	conv := nn.NewConv(key, []int{3}, features, 3, nn.ConvOptions{Windows: nn.Windows{Padding: nn.Causal}, Names: names})
	mix := nn.NewMultiHeadAttention(key, features, 2, nn.AttentionOptions{Names: same})
	norm := nn.NewLayerNorm(features, nn.NormOptions{Names: same})
	gru := nn.NewGRU(key, features, 3, nn.RecurrentOptions{Names: names})
	drop := nn.Dropout{Rate: 0.5}
	data := wave(1, 2, 5, features)
	x := named.Of(data, batch{}, seq{}, rep{})
	turned := named.Order(x, rep{}, batch{}, seq{})
	for name, f := range map[string]func(tensor.Tensor) tensor.Tensor{
		"dense": dense.Apply, "conv": conv.Apply, "attention": mix.Apply, "norm": norm.Apply,
		"gru states": func(x tensor.Tensor) tensor.Tensor { y, _ := gru.Apply(x); return y },
	} {
		out := []named.Name{batch{}, seq{}, hidden{}}
		if name == "attention" || name == "norm" {
			out[2] = rep{}
		}
		want := flat(f(data))
		near(t, name, named.Unnamed(f(x), out...), want...)
		near(t, name+" turned", named.Unnamed(f(turned), out...), want...)
	}
	_, last := gru.Apply(x)
	_, want := gru.Apply(data)
	near(t, "last state", named.Unnamed(last, batch{}, hidden{}), flat(want)...)
	if y := drop.Apply(nil, x); y != tensor.Tensor(x) {
		t.Error("without a key, something is dropped")
	}
	if y := drop.Apply(key, x); !y.(*named.Tensor).Has(seq{}) {
		t.Error("dropout loses a dimension")
	}
	words := nn.NewEmbedding(key, vocabulary, 3, nn.EmbeddingOptions{Names: nn.Names{Out: rep{}}})
	ids := tensor.Of([]int64{0, 3, 5, 1}, 2, 2)
	near(t, "embedding", named.Unnamed(words.Apply(named.Of(ids, batch{}, seq{})), batch{}, seq{}, rep{}), flat(words.Apply(ids))...)
	logits, labels := wave(1, 3, 4), tensor.Of([]int64{2, 0, 3})
	o := nn.CrossEntropyOptions{Smoothing: 0.1, Classes: rep{}}
	near(t, "cross entropy", named.Unnamed(nn.SoftmaxCrossEntropy(named.Of(logits, batch{}, rep{}), named.Of(labels, batch{}), o), batch{}), flat(nn.SoftmaxCrossEntropy(logits, labels, o))...)

	// Rows of different lengths with names.
	rows := tensorOf(ragged.FromRowLengths(ops.Reshape(data, []int{10, features}), []int64{7, 0, 3}))
	y := mix.Apply(named.Of(rows, batch{}, seq{}, rep{})).(*named.Tensor)
	near(t, "ragged attention", named.Unnamed(y, batch{}, seq{}, rep{}), flat(mix.Apply(rows))...)
}

func TestVariables(t *testing.T) {
	m, ids := newModel(), someIDs()
	v, err := nn.Variables(m)
	if err != nil {
		t.Fatal(err)
	}
	list, err := state.Tree(v)
	if err != nil || len(list) < 20 || list[0].Name != "Words.Table" {
		t.Fatalf("%d variables, %v", len(list), err)
	}
	want, g := grad.ValueAndGrad(loss)(m, ids)
	got, h := grad.ValueAndGrad(loss)(v, ids)
	if tensor.Item[float64](got) != tensor.Item[float64](want) {
		t.Errorf("the loss of variables is %v, of data %v", got, want)
	}
	near(t, "gradient", h.Mix.Key.Kernel, flat(g.Mix.Key.Kernel)...)
	f := function.New(loss)
	if err := nn.Assign(v, g); err != nil {
		t.Fatal(err)
	}
	if a, b := tensor.Item[float64](loss(v, ids)), tensor.Item[float64](loss(g, ids)); a != b {
		t.Errorf("after assignment the loss is %v, want %v", a, b)
	}
	frozen, err := nn.Frozen(v)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := tensor.Item[float64](f.Call(frozen, ids)), tensor.Item[float64](loss(g, ids)); math.Abs(a-b) > 1e-9 {
		t.Errorf("the traced loss is %v, want %v", a, b)
	}
	near(t, "frozen", frozen.Words.Table, flat(g.Words.Table)...)
	if n, k := nn.Size(m), nn.Size(frozen); n != k || n < 200 {
		t.Errorf("sizes %d and %d", n, k)
	}
}

func TestInitialize(t *testing.T) {
	key := ops.RandomKey(11)
	const in, out = 200, 300
	for _, c := range []struct {
		how       nn.Init
		deviation float64
		limit     float64
	}{
		{nn.Uniform, 0.05 / math.Sqrt(3), 0.05}, {nn.Normal, 0.05, 1}, {nn.TruncatedNormal, 0.05 * 0.879625661, 0.1},
		{nn.GlorotUniform, math.Sqrt(2. / 500), math.Sqrt(6. / 500)}, {nn.GlorotNormal, math.Sqrt(2. / 500), 2.28 * math.Sqrt(2./500)},
		{nn.HeUniform, math.Sqrt(2. / 200), math.Sqrt(6. / 200)}, {nn.HeNormal, math.Sqrt(2. / 200), 2.28 * math.Sqrt(2./200)},
		{nn.LecunUniform, math.Sqrt(1. / 200), math.Sqrt(3. / 200)}, {nn.LecunNormal, math.Sqrt(1. / 200), 2.28 * math.Sqrt(1./200)},
	} {
		x := flat(nn.Initialize(c.how, key, dtype.Float32, in, out))
		sum, squares := 0.0, 0.0
		for _, v := range x {
			sum += v
			squares += v * v
			if math.Abs(v) > c.limit*1.0001 {
				t.Fatalf("%s: %v is beyond %v", c.how, v, c.limit)
			}
		}
		n := float64(len(x))
		if dev := math.Sqrt(squares / n); math.Abs(dev/c.deviation-1) > 0.015 || math.Abs(sum/n) > 4*c.deviation/math.Sqrt(n) {
			t.Errorf("%s: mean %v, deviation %v, want 0 and %v", c.how, sum/n, dev, c.deviation)
		}
	}
	for _, dims := range [][]int{{7, 4}, {4, 7}, {3, 2, 5}} {
		q := nn.Initialize(nn.Orthogonal, key, dtype.Float64, dims...)
		q = ops.Reshape(q, []int{-1, dims[len(dims)-1]})
		small := ops.MatMulT(q, q, true, false)
		if q.Shape().Dim(0) < q.Shape().Dim(1) {
			small = ops.MatMulT(q, q, false, true)
		}
		near(t, "orthogonal", small, flat(ops.Eye(dtype.Float64, small.Shape().Dim(0), small.Shape().Dim(0)))...)
	}
	near(t, "identity", nn.Initialize(nn.Identity, nil, dtype.Float32, 2, 2), 1, 0, 0, 1)
	near(t, "ones", nn.Initialize(nn.Ones, nil, dtype.Float32, 2), 1, 1)
	window := flat(nn.Initialize(nn.HeUniform, key, dtype.Float32, 5, 10, 20))
	for _, v := range window {
		if math.Abs(v) > math.Sqrt(6./50) {
			t.Fatalf("a window of 5 is not part of the fan in: %v", v)
		}
	}
}

func TestErrors(t *testing.T) {
	key := ops.RandomKey(0)
	dense := nn.NewDense(key, 4, 3, nn.DenseOptions{})
	x := tensor.Of(make([]float32, 8), 2, 4)
	ids := someIDs()
	for name, c := range map[string]struct {
		call func()
		kind error
		says string
	}{
		"init":             {func() { nn.Initialize("glorot", key, dtype.Float32, 2) }, tenon.ErrNotFound, "glorot_uniform"},
		"init type":        {func() { nn.Initialize(nn.Ones, key, dtype.Int32, 2) }, tenon.ErrDType, "int32"},
		"activation":       {func() { nn.Activation("rely").Apply(x) }, tenon.ErrNotFound, `"rely"`},
		"no features":      {func() { dense.Apply(ids) }, tenon.ErrShape, "nn.Embedding"},
		"sizes":            {func() { dense.Apply(tensor.Of(make([]float32, 6), 2, 3)) }, tenon.ErrShape, "3"},
		"names":            {func() { dense.Apply(named.Of(x, batch{}, rep{})) }, tenon.ErrInvalid, "give the layer Names"},
		"heads":            {func() { nn.NewMultiHeadAttention(key, 4, 3, nn.AttentionOptions{}) }, tenon.ErrShape, "3 heads"},
		"padding":          {func() { (nn.Conv{Kernel: wave(1, 1, 4, 4), Windows: nn.Windows{Padding: "full"}}).Apply(x) }, tenon.ErrNotFound, `"full"`},
		"combiner":         {func() { nn.NewEmbedding(key, 6, 2, nn.EmbeddingOptions{}).Bag(ids, nil, "least") }, tenon.ErrNotFound, `"least"`},
		"id":               {func() { nn.NewEmbedding(key, 3, 2, nn.EmbeddingOptions{}).Apply(ids) }, tenon.ErrInvalid, ""},
		"smoothing":        {func() { nn.SoftmaxCrossEntropy(x, tensor.Of([]int64{0, 1}), nn.CrossEntropyOptions{Smoothing: 1}) }, tenon.ErrInvalid, "smoothing"},
		"huber":            {func() { nn.Huber(x, x, 0) }, tenon.ErrInvalid, "delta"},
		"temperature":      {func() { nn.Contrastive(x, x, nn.ContrastiveOptions{Temperature: -1}) }, tenon.ErrInvalid, "temperature"},
		"kinds":            {func() { nn.SquaredError(x, named.Of(x, batch{}, rep{})) }, tenon.ErrUnsupported, "one kind"},
		"rows":             {func() { nn.SquaredError(ids, ragged.FromSlices([][]int64{{1}})) }, tenon.ErrInvalid, "rows"},
		"dense and ragged": {func() { newModel().Mix.ApplyTo(newModel().Words.Apply(ids), x, nil) }, tenon.ErrUnsupported, "one kind"},
	} {
		_, err := tenon.Try(func() int { c.call(); return 0 })
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %v with %q", name, err, c.kind, c.says)
		}
	}
}
