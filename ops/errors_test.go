package ops_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Bad arguments give one error of the right kind that says what is wrong and where.
func TestErrors(t *testing.T) {
	f32 := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	ints := tensor.Of([]int64{7, 8, 9, 10}, 2, 2)
	text := tensor.Of([]string{"a", "b"})
	key := ops.RandomKey(1)
	for _, c := range []struct {
		name string
		f    func() tensor.Tensor
		kind error
		says string
	}{
		{"shapes", func() tensor.Tensor { return ops.Add(f32, tensor.Of([]float32{1, 2})) }, tenon.ErrShape, "ops.Add(float32[2, 3], float32[2]): shapes [2, 3] and [2] do not broadcast"},
		{"promotion", func() tensor.Tensor { return ops.Add(tensor.Of([]uint64{1}), ints) }, tenon.ErrDType, "uint64"},
		{"strings", func() tensor.Tensor { return ops.Exp(text) }, tenon.ErrDType, "not defined for elements of type string"},
		{"division by zero", func() tensor.Tensor { return ops.FloorDiv(ints, tensor.Of([]int64{1, 0})) }, tenon.ErrInvalid, "element [0, 1]: an integer is divided by zero"},
		{"negative power", func() tensor.Tensor { return ops.Pow(ints, -1) }, tenon.ErrInvalid, "element [0, 0]: an integer is raised to a negative power"},
		{"logic of numbers", func() tensor.Tensor { return ops.LogicalAnd(true, ints) }, tenon.ErrDType, "boolean"},
		{"bits of floats", func() tensor.Tensor { return ops.BitwiseAnd(f32, f32) }, tenon.ErrDType, "integer"},
		{"order of complex", func() tensor.Tensor { return ops.Less(tensor.Scalar(1i), tensor.Scalar(2i)) }, tenon.ErrDType, "complex128"},
		{"axis", func() tensor.Tensor { return ops.Sum(f32, 2) }, tenon.ErrAxis, "ops.Sum(float32[2, 3]): axis 2 is out of range for rank 2"},
		{"axis twice", func() tensor.Tensor { return ops.Max(f32, 1, -1) }, tenon.ErrAxis, "axis 1 is listed twice"},
		{"any of numbers", func() tensor.Tensor { return ops.Any(f32) }, tenon.ErrDType, "float32"},
		{"argmax of nothing", func() tensor.Tensor { return ops.ArgMax(tensor.Of([]float32{}, 2, 0), 1) }, tenon.ErrShape, "an empty axis has no position of the largest element"},
		{"norm", func() tensor.Tensor { return ops.Norm(f32, 0) }, tenon.ErrInvalid, "ord is 0"},
		{"cumulative axis", func() tensor.Tensor { return ops.CumSum(f32, 5, ops.CumOptions{}) }, tenon.ErrAxis, "axis 5"},
		{"condition", func() tensor.Tensor { return ops.Where(f32, 1, 2) }, tenon.ErrDType, "condition has the element type float32"},
		{"cast of text", func() tensor.Tensor { return ops.Cast(text, dtype.Int64) }, tenon.ErrDType, "ops.ToNumber"},
		{"bitcast", func() tensor.Tensor { return ops.Bitcast(tensor.Of([]uint8{1, 2, 3}), dtype.Int32) }, tenon.ErrShape, "size 4"},
		{"numerics", func() tensor.Tensor {
			return ops.CheckNumerics(ops.Div(f32, tensor.Of([]float32{1, 0, 1})), "after the loss")
		}, tenon.ErrInvalid, "element [0, 1]: is NaN or infinite: after the loss"},
		{"inner sizes", func() tensor.Tensor { return ops.MatMul(f32, ints) }, tenon.ErrShape, "inner sizes 3 and 2 differ"},
		{"vectors", func() tensor.Tensor { return ops.MatMul(f32, tensor.Of([]float32{1, 2, 3})) }, tenon.ErrShape, "ops.MatVec"},
		{"batches", func() tensor.Tensor {
			return ops.MatMul(tensor.Of(make([]float32, 12), 3, 2, 2), tensor.Of(make([]float32, 8), 2, 2, 2))
		}, tenon.ErrShape, "do not broadcast"},
		{"dot", func() tensor.Tensor { return ops.Dot(f32, tensor.Of([]float32{1, 2})) }, tenon.ErrShape, "3 and 2 differ"},
		{"einsum terms", func() tensor.Tensor { return ops.Einsum("ij,jk", f32) }, tenon.ErrInvalid, "2 terms for 1 operands"},
		{"einsum sizes", func() tensor.Tensor { return ops.Einsum("ij,jk->ik", f32, f32) }, tenon.ErrShape, `axis "j" has size 2 in operand 1 and 3 before`},
		{"einsum result", func() tensor.Tensor { return ops.Einsum("ij->ik", f32) }, tenon.ErrInvalid, `the result has "k"`},
		{"einsum rank", func() tensor.Tensor { return ops.Einsum("ijk->i", f32) }, tenon.ErrShape, "rank 2"},
		{"einsum ellipsis", func() tensor.Tensor { return ops.Einsum("...i->i", f32) }, tenon.ErrInvalid, "lacks the ellipsis"},
		{"tensordot", func() tensor.Tensor { return ops.TensorDot(f32, f32, []int{0, 0}, []int{0, 1}) }, tenon.ErrAxis, "listed twice"},
		{"label", func() tensor.Tensor { return ops.SoftmaxCrossEntropy(f32, []int64{0, 3}) }, tenon.ErrInvalid, "labels[1]: label 3 is not one of 3 classes"},
		{"label shape", func() tensor.Tensor { return ops.SoftmaxCrossEntropy(f32, []int64{0}) }, tenon.ErrShape, "differ at axis 0"},
		{"layer norm", func() tensor.Tensor { return ops.LayerNorm(f32, []float32{1, 2}, nil, 1e-5, -1) }, tenon.ErrShape, "scale has shape [2]"},
		{"attention", func() tensor.Tensor {
			return ops.Attention(f32, tensor.Of(make([]float32, 4), 2, 2), f32, ops.AttentionOptions{})
		}, tenon.ErrShape, "sizes of queries and keys"},
		{"key", func() tensor.Tensor { return ops.RandomNormal(7, []int{2}, dtype.Float32) }, tenon.ErrDType, "ops.RandomKey"},
		{"key shape", func() tensor.Tensor { return ops.RandomNormal([]uint32{1, 2, 3}, []int{2}, dtype.Float32) }, tenon.ErrShape, "two elements"},
		{"random type", func() tensor.Tensor { return ops.RandomNormal(key, []int{2}, dtype.Int32) }, tenon.ErrDType, "floating"},
		{"random size", func() tensor.Tensor { return ops.RandomUniform(key, []int{-2}, dtype.Float32) }, tenon.ErrShape, "negative"},
		{"no integers", func() tensor.Tensor { return ops.RandomInt(key, []int{2}, 3, 3, dtype.Int64) }, tenon.ErrInvalid, "there is no integer"},
		{"integers too large", func() tensor.Tensor { return ops.RandomInt(key, []int{2}, 0, 300, dtype.Int8) }, tenon.ErrInvalid, "do not fit int8"},
		{"too many numbers", func() tensor.Tensor { return ops.RandomSplit(key, 1<<62) }, tenon.ErrShape, "more than memory holds"},
		{"too many products", func() tensor.Tensor {
			x := ops.BroadcastTo(float32(1), []int{1 << 40})
			return ops.Outer(x, x)
		}, tenon.ErrShape, "ops.Outer(float32[1099511627776], float32[1099511627776]): float32[1099511627776, 1099511627776] is more than memory holds"},
		{"rate", func() tensor.Tensor { return ops.Dropout(key, f32, 1) }, tenon.ErrInvalid, "rate is 1"},
		{"nil", func() tensor.Tensor { return ops.Add(f32, nil) }, tenon.ErrDType, "y: is nil"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tenon.Try(c.f)
			if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("got %v\nwant a %v that says %q", err, c.kind, c.says)
			}
		})
	}
}
