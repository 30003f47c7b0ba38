package interp

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// scaledGelu is gelu of a scaled and shifted tensor: rows, scalars and shared
// intermediate results.
func scaledGelu(x, w, b tensor.Tensor) tensor.Tensor {
	y := ops.Add(ops.Mul(x, w), b)
	z := ops.Mul(ops.Add(y, ops.Mul(ops.Mul(ops.Mul(y, y), y), 0.044715)), 0.7978845608)
	return ops.Mul(ops.Mul(y, 0.5), ops.Add(ops.Tanh(z), 1.0))
}

// TestFused compares fused groups with the same operations one by one, for
// operands that are rows, scalars, columns (which do not fuse), full, and parts of larger ones.
func TestFused(t *testing.T) {
	rows := shape.Of(37, 128)
	for _, tt := range []struct {
		name string
		x, w shape.Shape
		part bool // x is a part of the last axis of what is in memory
	}{
		{"row", rows, shape.Of(128), false},
		{"scalar", rows, shape.Of(), false},
		{"short row", shape.Of(6, 50, 16), shape.Of(16), false},
		{"short rows of a prime number", shape.Of(1009, 5), shape.Of(5), false},
		{"one row", rows, shape.Of(1, 128), false},
		{"column", rows, shape.Of(37, 1), false},
		{"full", rows, rows, false},
		{"small", shape.Of(3), shape.Of(3), false},
		{"empty", shape.Of(0, 4), shape.Of(4), false},
		{"swapped", shape.Of(128), rows, false},
		{"part", rows, shape.Of(128), true},
		{"part beside full", rows, rows, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := []tensor.Tensor{filled(tt.x, 0.01), filled(tt.w, 0.02), filled(tt.w, -0.03)}
			if tt.part {
				in[0] = ops.Split(filled(shape.Of(tt.x.Dim(0), 2*tt.x.Dim(1)), 0.01), []int{tt.x.Dim(1), tt.x.Dim(1)}, -1)[1]
			}
			g, err := graph.Trace("chain", []*tensor.Spec{spec(tt.x), spec(tt.w), spec(tt.w)}, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
				y := scaledGelu(p[0], p[1], p[2])
				return []tensor.Tensor{y, ops.Add(p[0], p[1]), ops.Neg(y)}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := For(g).Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			y := scaledGelu(in[0], in[1], in[2])
			for i, want := range []tensor.Tensor{y, ops.Add(in[0], in[1]), ops.Neg(y)} {
				if !want.Shape().Equal(got[i].Shape()) {
					t.Fatalf("result %d has shape %v, want %v", i, got[i].Shape(), want.Shape())
				}
				if d := cmp.Diff(tensor.Data[float32](want), tensor.Data[float32](got[i])); d != "" {
					t.Errorf("result %d: %s", i, d)
				}
			}
		})
	}
}

// TestRowsFillAll adds rows that are as long as all elements, alone or once copies of them follow one another.
func TestRowsFillAll(t *testing.T) {
	for _, s := range []shape.Shape{shape.Of(1, 128), shape.Of(3, 70), shape.Of(5, 4, 16)} {
		f := func(x, y tensor.Tensor) tensor.Tensor { return ops.Mul(ops.Sub(ops.Mul(ops.Add(x, y), x), y), x) }
		row := shape.Of(s.Dim(-1))
		g, err := graph.Trace("rows", []*tensor.Spec{spec(s), spec(row)}, func(p []tensor.Tensor) ([]tensor.Tensor, error) { return []tensor.Tensor{f(p[0], p[1])}, nil })
		if err != nil {
			t.Fatal(err)
		}
		x, y := filled(s, 0.01), filled(row, 0.02)
		got, err := For(g).Run(t.Context(), []tensor.Tensor{x, y})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tensor.Data[float32](f(x, y)), tensor.Data[float32](got[0])); d != "" {
			t.Errorf("%v: %s", s, d)
		}
	}
}

func spec(s shape.Shape) *tensor.Spec { return tensor.NewSpec(dtype.Float32, s) }

func filled(s shape.Shape, step float32) tensor.Tensor {
	d, data := tensor.Make[float32](s)
	for i := range data {
		data[i] = step * float32(i%997-400)
	}
	return d
}

func BenchmarkChain(b *testing.B) {
	x, w, c := filled(shape.Of(16384, 1024), 0.01), filled(shape.Of(1024), 0.02), filled(shape.Of(1024), 0.03)
	g, err := graph.Trace("chain", []*tensor.Spec{spec(x.Shape()), spec(w.Shape()), spec(c.Shape())}, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		return []tensor.Tensor{scaledGelu(p[0], p[1], p[2])}, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	p := For(g)
	b.SetBytes(int64(x.Shape().Size()) * 8)
	for b.Loop() {
		out, err := p.Run(b.Context(), []tensor.Tensor{x, w, c})
		if err != nil {
			b.Fatal(err)
		}
		tensor.Release(out[0])
	}
}

// TestComposite compares groups that have a kernel of their own with the same
// operations one by one.
func TestComposite(t *testing.T) {
	type T = tensor.Tensor
	for name, f := range map[string]func(x, w, b T) T{
		"affine":        func(x, w, b T) T { return ops.Add(ops.Mul(x, w), b) },
		"affine, gelu":  func(x, w, b T) T { return ops.GeluTanh(ops.Add(b, ops.Mul(w, x))) },
		"bias, relu":    func(x, w, b T) T { return ops.Relu(ops.Add(x, b)) },
		"used twice":    func(x, w, b T) T { y := ops.Mul(x, w); return ops.Relu(ops.Add(y, y)) },
		"shift is full": func(x, w, b T) T { return ops.Tanh(ops.Add(ops.Mul(x, w), x)) },
	} {
		for _, d := range []dtype.DType{dtype.Float32, dtype.Float64} {
			for _, rows := range []shape.Shape{shape.Of(40, 128), shape.Of(40, 10, 16)} {
				row := shape.Of(rows.Dim(-1))
				in := []T{ops.Cast(filled(rows, 0.01), d), ops.Cast(filled(row, 0.02), d), ops.Cast(filled(row, -0.03), d)}
				var specs []*tensor.Spec
				for _, x := range in {
					specs = append(specs, x.Spec().(*tensor.Spec))
				}
				g, err := graph.Trace("f", specs, func(p []T) ([]T, error) { return []T{f(p[0], p[1], p[2])}, nil })
				if err != nil {
					t.Fatal(err)
				}
				got, err := For(g).Run(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				want := f(in[0], in[1], in[2])
				// The product and the sum may be rounded once.
				most := func(x T) float64 { return tensor.Data[float64](ops.Max(ops.Abs(ops.Cast(x, dtype.Float64))))[0] }
				if diff := most(ops.Sub(want, got[0])); diff > 2e-7*most(want) {
					t.Errorf("%s, %v%v: differs by %v", name, d, rows, diff)
				}
			}
		}
	}
}
