package ext_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Three has three fields, as the goal for assembling says.
type Three struct {
	A, B tensor.Tensor
	C    tensor.Tensor
	N    int
}

func (x Three) Spec() tenon.Spec { return ext.SpecOf(x) }

func init() { ext.Register[Three]("ext_test.Three") }

func three() Three {
	v := tensor.Vector([]float32{1, 2})
	return Three{v, v, tensor.Vector([]int64{1}), 3}
}

func BenchmarkAssemble(b *testing.B) {
	x := three()
	s := x.Spec()
	parts, _ := s.Disassemble(x)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Assemble(parts); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDisassemble(b *testing.B) {
	x := tenon.Value(three())
	s := x.Spec()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Disassemble(x); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSpec(b *testing.B) {
	x := tenon.Value(three())
	b.ReportAllocs()
	for b.Loop() {
		x.Spec()
	}
}

func BenchmarkFunctionOfOne(b *testing.B) {
	x := three()
	f := function.New(func(x Three) tensor.Tensor { return ops.Add(x.A, x.B) })
	b.ReportAllocs()
	for b.Loop() {
		f.Call(x)
	}
}

func BenchmarkFunctionOfTensors(b *testing.B) {
	x := three()
	f := function.New(func(p, q, r tensor.Tensor) tensor.Tensor { return ops.Add(p, q) })
	b.ReportAllocs()
	for b.Loop() {
		f.Call(x.A, x.B, x.C)
	}
}

// BenchmarkFunctionByReflection has tensors only, in a signature without a way of its own.
func BenchmarkFunctionByReflection(b *testing.B) {
	x := three()
	f := function.New(func(p, q, r, s tensor.Tensor) tensor.Tensor { return ops.Add(p, q) })
	b.ReportAllocs()
	for b.Loop() {
		f.Call(x.A, x.B, x.C, x.C)
	}
}
