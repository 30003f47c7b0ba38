package ragged

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// fewNumbers are the element types with numbers.
var fewNumbers = []dtype.DType{
	dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64, dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64,
	dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64, dtype.Complex64, dtype.Complex128,
}

// fewRandom returns rows of small numbers, with empty rows among them.
func fewRandom(t *testing.T, r *rand.Rand, d dtype.DType, inner ...int) *Tensor {
	splits := []int64{0}
	for range r.IntN(6) {
		splits = append(splits, splits[len(splits)-1]+r.Int64N(4))
	}
	n := int(splits[len(splits)-1])
	size := n
	for _, k := range inner {
		size *= k
	}
	x := make([]int64, size)
	for i := range x {
		x[i] = r.Int64N(7)
	}
	values := ops.Cast(ops.Reshape(tensor.Of(x), append([]int{n}, inner...)), d)
	out, err := FromRowSplits(values, splits)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFewOfEveryType: the short ways give what the general ways give, for every element
// type and any rows.
func TestFewOfEveryType(t *testing.T) {
	defer func() { generalOnly = false }()
	r := rand.New(rand.NewPCG(6, 6))
	moves := map[string]func(x *Tensor, times tensor.Tensor) tensor.Tensor{
		"reverse rows": func(x *Tensor, _ tensor.Tensor) tensor.Tensor { return ops.Reverse(x, 0) },
		"roll rows":    func(x *Tensor, _ tensor.Tensor) tensor.Tensor { return ops.Roll(x, 2, 0) },
		"roll back":    func(x *Tensor, _ tensor.Tensor) tensor.Tensor { return ops.Roll(x, -7, 0) },
		"repeat each":  func(x *Tensor, times tensor.Tensor) tensor.Tensor { return ops.Repeat(x, times, 0) },
		"repeat":       func(x *Tensor, _ tensor.Tensor) tensor.Tensor { return ops.Repeat(x, 2, 1) },
		"nonzero":      func(x *Tensor, _ tensor.Tensor) tensor.Tensor { return ops.Nonzero(x) },
		"stack":        func(x *Tensor, _ tensor.Tensor) tensor.Tensor { return ops.Stack([]tensor.Tensor{x, x}, 0) },
	}
	along := map[string]func(x *Tensor) tensor.Tensor{
		"layer norm": func(x *Tensor) tensor.Tensor { return ops.LayerNorm(x, nil, nil, 1e-3, 1) },
		"scaled":     func(x *Tensor) tensor.Tensor { return ops.LayerNorm(x, 2.0, 1.0, 1e-3, -1) },
		"rms norm":   func(x *Tensor) tensor.Tensor { return ops.RMSNorm(x, nil, 1e-5, 1) },
	}
	segments := map[string]func(data, ids, n any) tensor.Tensor{
		"segment sum": ops.SegmentSum, "segment mean": ops.SegmentMean, "segment sqrt": ops.SegmentSqrtN,
		"segment product": ops.SegmentProd,
	}
	compare := func(name string, x *Tensor, f func() tensor.Tensor) {
		t.Helper()
		generalOnly = false
		short := f()
		generalOnly = true
		general := f()
		generalOnly = false
		if !sameBits(short, general) || fmt.Sprint(short.Spec()) != fmt.Sprint(general.Spec()) {
			t.Errorf("%s of %v is %v, the general way gives %v", name, x, short, general)
		}
	}
	for _, d := range append([]dtype.DType{dtype.Bool}, fewNumbers...) {
		for i := range 12 {
			var inner []int
			if i%3 == 2 {
				inner = []int{2}
			}
			x := fewRandom(t, r, d, inner...)
			times := make([]int64, x.parts[0].spec.nrows)
			for k := range times {
				times[k] = r.Int64N(3)
			}
			for name, f := range moves {
				compare(name, x, func() tensor.Tensor { return f(x, tensor.Of(times)) })
			}
			if d.IsFloat() && inner == nil {
				for name, f := range along {
					compare(name, x, func() tensor.Tensor { return f(x) })
				}
				for name, f := range segments {
					compare(name, x, func() tensor.Tensor { return f(ops.Sub(x, 3), tensor.Of(times), 3) })
				}
			}
		}
	}
}

// sameBits reports whether two tensors have the same rows and elements, bit by bit.
func sameBits(a, b tensor.Tensor) bool {
	x, p := split(a)
	y, q := split(b)
	if len(p) != len(q) || x.DType() != y.DType() {
		return false
	}
	for i := range p {
		s, _ := p[i].Splits64()
		t, _ := q[i].Splits64()
		if firstDifference(s, t) >= 0 || p[i].IsUniform() != q[i].IsUniform() {
			return false
		}
	}
	v, ok := x.(*tensor.Dense)
	w, ok2 := y.(*tensor.Dense)
	if !ok || !ok2 {
		return show(a) == show(b)
	}
	return v.Shape().Equal(w.Shape()) && string(tensor.Contiguous(v).Bytes()) == string(tensor.Contiguous(w).Bytes())
}
