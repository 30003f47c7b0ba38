package onnx_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/internal/onnxtest"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/model/onnx"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

type T = tensor.Tensor

// layer returns a model whose weights are variables, as a function of one argument.
func layer[M any](t *testing.T, m M, apply func(m M, x T) T, spec *tensor.Spec) *saved.Model {
	t.Helper()
	v, err := nn.Variables(m)
	if err != nil {
		t.Fatal(err)
	}
	s := saved.NewModel()
	if err := s.Name(v); err != nil {
		t.Fatal(err)
	}
	if err := s.Add("predict", function.New(func(x T) T { return apply(v, x) }), spec); err != nil {
		t.Fatal(err)
	}
	return s
}

// operations lists the operations of a written model: their names stand in it as they are.
func operations(t *testing.T, m *saved.Model, names ...string) {
	t.Helper()
	var b bytes.Buffer
	if err := onnx.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if !bytes.Contains(b.Bytes(), []byte(n)) {
			t.Errorf("there is no %s in the model", n)
		}
	}
}

// TestModelsAreWritten writes models of package nn, with rows whose number is not known.
func TestModelsAreWritten(t *testing.T) {
	key := ops.RandomKey(7)
	f32 := func(dims ...int) *tensor.Spec { return tensor.NewSpec(dtype.Float32, shape.Of(dims...)) }
	normal := func(dims ...int) T { return ops.RandomNormal(ops.RandomKey(3), dims, dtype.Float32) }
	any1 := shape.Unknown

	type convnet struct {
		First, Second nn.Conv
		Norm          nn.BatchNorm
		Stats         nn.Running
		Max, Mean     nn.Pool
		Out           nn.Dense
	}
	norm, stats := nn.NewBatchNorm(4)
	conv := convnet{
		First:  nn.NewConv(key, []int{3, 3}, 3, 4, nn.ConvOptions{Windows: nn.Windows{Padding: "same"}, Activation: "relu"}),
		Second: nn.NewConv(key, []int{3, 3}, 4, 6, nn.ConvOptions{Windows: nn.Windows{Stride: []int{2, 2}}}),
		Norm:   norm, Stats: stats, Max: nn.Pool{Kind: nn.MaxPool, Size: []int{2, 2}}, Mean: nn.Pool{Kind: nn.MeanPool, Size: []int{2, 2}},
		Out: nn.NewDense(key, 6, 5),
	}
	rows := func(m nn.LSTM, x T) T {
		y, h, c := m.Apply(x)
		return ops.Concat([]any{y, ops.ExpandDims(ops.Add(h, c), 1)}, 1)
	}
	for _, c := range []struct {
		name string
		m    *saved.Model
		x    T
		ops  []string
	}{
		{"mlp", layer(t, nn.NewMLP(key, []int{5, 8, 3}), nn.MLP.Apply, f32(any1, 5)), normal(4, 5), []string{"MatMul"}},
		{"conv", layer(t, conv, func(m convnet, x T) T {
			x = m.Max.Apply(m.Norm.Apply(m.First.Apply(x), m.Stats))
			x = m.Mean.Apply(m.Second.Apply(x))
			return ops.Softmax(m.Out.Apply(ops.Mean(x, 1, 2)), -1)
		}, f32(any1, 16, 12, 3)), normal(2, 16, 12, 3), []string{"Conv", "MaxPool", "AveragePool", "Softmax"}},
		{"conv_transpose", layer(t, nn.NewConvTranspose(key, []int{3}, 3, 2, nn.ConvOptions{Windows: nn.Windows{Stride: []int{2}}}), nn.ConvTranspose.Apply, f32(any1, 5, 3)), normal(2, 5, 3), []string{"ConvTranspose"}},
		{"depthwise", layer(t, nn.NewDepthwiseConv(key, []int{3}, 4, 2), nn.DepthwiseConv.Apply, f32(any1, 7, 4)), normal(2, 7, 4), nil},
		{"gru", layer(t, nn.NewGRU(key, 3, 4), func(m nn.GRU, x T) T { y, _ := m.Apply(x); return y }, f32(any1, any1, 3)), normal(2, 5, 3), []string{"Scan"}},
		{"lstm", layer(t, nn.NewLSTM(key, 3, 4), rows, f32(any1, any1, 3)), normal(2, 5, 3), []string{"Scan"}},
		{"lstm_reverse", layer(t, nn.NewLSTM(key, 3, 4, nn.RecurrentOptions{Reverse: true}), rows, f32(any1, any1, 3)), normal(2, 5, 3), []string{"Scan"}},
		{"transformer", layer(t, nn.NewEncoderBlock(key, 8, 2), nn.EncoderBlock.Apply, f32(any1, any1, 8)), normal(2, 5, 8), []string{"LayerNormalization", "Gelu", "Softmax"}},
		{"decoder", layer(t, nn.NewDecoderBlock(key, 8, 2), func(m nn.DecoderBlock, x T) T { return m.Apply(x, x, nil) }, f32(any1, any1, 8)), normal(2, 5, 8), nil},
		{"group_norm", layer(t, nn.NewGroupNorm(6, 2), nn.GroupNorm.Apply, f32(any1, any1, 6)), normal(2, 3, 6), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := onnxtest.Check("model_"+c.name, c.m, 64, c.x); err != nil {
				t.Fatal(err)
			}
			operations(t, c.m, c.ops...)
		})
	}
	m := layer(t, nn.NewEmbedding(key, 10, 4), func(m nn.Embedding, x T) T { return ops.Sum(m.Apply(x), 1) }, tensor.NewSpec(dtype.Int64, shape.Of(any1, any1)))
	if err := onnxtest.Check("model_embedding", m, 64, tensor.Of([]int64{1, 2, 3, 9, 0, 1}, 2, 3)); err != nil {
		t.Error(err)
	}
}

// TestControlFlowIsWritten writes branches, loops, scans, and functions with gradients of their own.
func TestControlFlowIsWritten(t *testing.T) {
	spec := tensor.NewSpec(dtype.Float32, shape.Of(shape.Unknown))
	for name, f := range map[string]func(x T) T{
		"cond": func(x T) T {
			return control.Cond(ops.Greater(ops.Sum(x), 0), func() T { return ops.Mul(x, 2) }, func() T { return x })
		},
		"switch": func(x T) T {
			return control.Switch(ops.Cast(ops.Sum(x), dtype.Int64), func() T { return x }, func() T { return ops.Neg(x) }, func() T { return ops.Mul(x, x) })
		},
		"while": func(x T) T {
			scale := ops.Add(ops.Sum(ops.Abs(x)), 1)
			return control.While(func(v []T) T { return ops.Less(ops.Sum(v[0]), 100) }, func(v []T) []T {
				return []T{ops.Add(ops.Mul(v[0], 2), scale), ops.Add(v[1], int64(1))}
			}, []T{x, T(tensor.Scalar(int64(0)))})[0]
		},
		"scan": func(x T) T {
			_, y := control.Scan(func(c, x T) (T, T) { c = ops.Add(ops.Mul(c, 0.5), x); return c, ops.Mul(c, c) }, T(tensor.Scalar(float32(1))), x)
			return y
		},
		"turns": func(x T) T {
			sum, _ := control.Scan(func(c T, _ []T) (T, T) { return ops.Add(c, x), c }, x, []T{}, control.ScanOptions{Length: 3})
			return sum
		},
		"nested": func(x T) T {
			_, y := control.Scan(func(c, row T) (T, T) {
				c = control.Cond(ops.Greater(row, 0), func() T { return ops.Add(c, row) }, func() T { return ops.Sub(c, ops.Sum(x)) })
				return c, c
			}, T(tensor.Scalar(float32(0))), x)
			return y
		},
		"gradient": func(x T) T {
			return grad.Of(func(x T) T { return ops.Sum(ops.Mul(ops.Sin(x), ops.Exp(x))) })(x)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i, x := range []T{tensor.Of([]float32{1, -2, 3}), tensor.Of([]float32{0.5, -1})} {
				m := saved.NewModel()
				if err := m.Add("f", function.New(f), spec); err != nil {
					t.Fatal(err)
				}
				if err := onnxtest.Check("control_"+name+string(rune('0'+i)), m, 16, x); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestWhatIsNotWritten says which operation it is, where in the function, and in which line.
func TestWhatIsNotWritten(t *testing.T) {
	spec := tensor.NewSpec(dtype.Float32, shape.Of(3))
	write := func(f func(x T) T) error {
		m := saved.NewModel()
		if err := m.Add("f", function.New(f), spec); err != nil {
			t.Fatal(err)
		}
		return onnx.Encode(&bytes.Buffer{}, m)
	}
	err := write(func(x T) T { return ops.Add(ops.Digamma(x), ops.Erfinv(x)) })
	for _, want := range []string{"digamma, erfinv", "f: %", "models_test.go"} {
		if !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not tell %q", err, want)
		}
	}
	// what the results do not need is not written
	if err := write(func(x T) T { ops.Digamma(x); return ops.Neg(x) }); err != nil {
		t.Error(err)
	}
	// a call that ONNX lacks, inside of an operation that it has
	err = write(func(x T) T { return ops.Cast(ops.LeftShift(ops.Cast(x, dtype.Int32), int32(1)), dtype.Float32) })
	if !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "models_test.go") || !strings.Contains(err.Error(), "left_shift") {
		t.Error(err)
	}
	if err := onnx.Encode(&bytes.Buffer{}, saved.NewModel()); err == nil {
		t.Error("a model without functions was written")
	}
}

// TestWeightsBesideTheModel writes weights to another file, and to the same one.
func TestWeightsBesideTheModel(t *testing.T) {
	m := layer(t, nn.NewMLP(ops.RandomKey(1), []int{20, 40, 30}), nn.MLP.Apply, tensor.NewSpec(dtype.Float32, shape.Of(shape.Unknown, 20)))
	x := ops.RandomNormal(ops.RandomKey(2), []int{3, 20}, dtype.Float32)
	want, err := m.Function("predict").Call(x)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "m.onnx")
	for _, external := range []bool{true, false} {
		if err := onnx.Write(file, m, onnx.WriteOptions{External: external}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(file + ".data"); (err == nil) != external {
			t.Errorf("external %v: %v", external, err)
		}
		read, err := onnx.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read.Call(x)
		if err != nil || !tensor.Equal(got[0].(T), want[0].(T)) {
			t.Errorf("external %v: got %v, want %v: %v", external, got, want, err)
		}
		var names []string
		for name := range read.Variables() {
			names = append(names, name)
		}
		if slices.Sort(names); !slices.Equal(names, []string{"Layers.0.Bias", "Layers.0.Kernel", "Layers.1.Bias", "Layers.1.Kernel"}) {
			t.Errorf("weights %v", names)
		}
	}
}

// TestWrittenModelsAreTheSame writes a model twice.
func TestWrittenModelsAreTheSame(t *testing.T) {
	write := func() []byte {
		m := layer(t, nn.NewEncoderBlock(ops.RandomKey(1), 8, 2), nn.EncoderBlock.Apply, tensor.NewSpec(dtype.Float32, shape.Of(shape.Unknown, shape.Unknown, 8)))
		var b bytes.Buffer
		if err := onnx.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if !bytes.Equal(write(), write()) {
		t.Error("the bytes differ")
	}
}
