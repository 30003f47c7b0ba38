package sparse_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/tensor"
)

type T = tensor.Tensor

// show prints a tensor: the coordinates, values and sizes of a sparse one.
func show(x any) string {
	switch x := x.(type) {
	case *sparse.Tensor:
		if x.Indices().Shape().Dim(0) == 0 {
			return fmt.Sprintf("none in %v", tensor.Data[int64](x.DenseShape()))
		}
		return fmt.Sprintf("%v %v in %v", flat(x.Indices()), flat(x.Values()), flat(x.DenseShape()))
	case []*sparse.Tensor:
		var out []string
		for _, t := range x {
			out = append(out, show(t))
		}
		return strings.Join(out, "; ")
	case T:
		return flat(x)
	}
	return fmt.Sprint(x)
}

// flat prints elements in nested brackets.
func flat(x T) string {
	var elems []string
	switch x.DType() {
	case dtype.String:
		elems = tensor.Data[string](x)
	case dtype.Bool:
		for _, e := range tensor.Data[bool](x) {
			elems = append(elems, fmt.Sprint(e))
		}
	default:
		for _, e := range tensor.Data[float64](ops.Cast(x, dtype.Float64)) {
			elems = append(elems, fmt.Sprintf("%.4g", e))
		}
	}
	return nested(elems, x.Shape().Dims())
}

func nested(elems []string, dims []int) string {
	if len(dims) == 0 {
		return elems[0]
	}
	var out []string
	for i := range dims[0] {
		n := len(elems) / dims[0]
		out = append(out, nested(elems[i*n:(i+1)*n], dims[1:]))
	}
	return "[" + strings.Join(out, " ") + "]"
}

func at[V dtype.Native](shape []int64, values []V, coordinates ...int64) *sparse.Tensor {
	n := len(values)
	return tenon.Must(sparse.New(tensor.Of(coordinates, n, len(shape)), values, shape))
}

func matrixA() *sparse.Tensor {
	return at([]int64{3, 4}, []float32{1, -2, 3, 4}, 0, 1, 1, 0, 1, 3, 2, 2)
}

func matrixB() *sparse.Tensor { return at([]int64{3, 4}, []float32{-1, 5, 6}, 0, 1, 0, 2, 1, 3) }

// functions has every function of the package on small tensors. The answers are those
// of tf.sparse, TensorFlow 2.21, except where there is none.
func functions() []struct {
	name string
	f    func(a, b *sparse.Tensor) (any, error)
	want string
} {
	type S = *sparse.Tensor
	one := func(t any, err error) (any, error) { return t, err }
	numbers := at([]int64{3, 3}, []int32{2, 2, 5}, 0, 0, 0, 1, 1, 0)
	weights := at([]int64{3, 3}, []float32{.5, 2, 3}, 0, 0, 0, 1, 1, 0)
	s1 := at([]int64{2, 2}, []string{"a", "b", "c"}, 0, 0, 1, 0, 1, 1)
	s2 := at([]int64{2, 1}, []string{"d", "e"}, 0, 0, 1, 0)
	s3 := at([]int64{2, 2}, []int64{1, 2, 3}, 0, 0, 1, 0, 1, 1)
	grid := func(dims ...int) T { return ops.Reshape(ops.Range(float32(0), float32(8), float32(1)), dims) }
	six := func(dims ...int) T { return ops.Reshape(ops.Range(float32(0), float32(6), float32(1)), dims) }
	counted, uneven := tensor.Of([]int64{2, 2, 0, 5, 0, 1}, 2, 3), ragged.FromSlices([][]int64{{1, 1}, {}, {4, 0, 1}})
	none := at([]int64{2, 2}, []float32{})
	data := ops.Reshape(ops.Range(float32(1), float32(9), float32(1)), []int{4, 2})
	return []struct {
		name string
		f    func(a, b *sparse.Tensor) (any, error)
		want string
	}{
		{"add", func(a, b S) (any, error) { return one(sparse.Add(a, b, sparse.AddOptions{})) }, "[[0 1] [0 2] [1 0] [1 3] [2 2]] [0 5 -2 9 4] in [3 4]"},
		{"add above", func(a, b S) (any, error) { return one(sparse.Add(a, b, sparse.AddOptions{Threshold: .5})) }, "[[0 2] [1 0] [1 3] [2 2]] [5 -2 9 4] in [3 4]"},
		{"maximum", func(a, b S) (any, error) { return one(ops.Maximum(a, b), nil) }, "[[0 1] [0 2] [1 0] [1 3] [2 2]] [1 5 0 6 4] in [3 4]"},
		{"minimum", func(a, b S) (any, error) { return one(ops.Minimum(a, b), nil) }, "[[0 1] [0 2] [1 0] [1 3] [2 2]] [-1 0 -2 3 0] in [3 4]"},
		{"bincount", func(a, b S) (any, error) { return one(numbers.BinCount(sparse.CountOptions{})) }, "[[2] [5]] [2 1] in [6]"},
		{"bincount rows", func(a, b S) (any, error) { return one(numbers.BinCount(sparse.CountOptions{Rows: true})) }, "[[0 2] [1 5]] [2 1] in [3 6]"},
		{"bincount weights", func(a, b S) (any, error) {
			return one(numbers.BinCount(sparse.CountOptions{Rows: true, Weights: weights}))
		}, "[[0 2] [1 5]] [2.5 3] in [3 6]"},
		{"bincount all weights", func(a, b S) (any, error) { return one(numbers.BinCount(sparse.CountOptions{Weights: weights})) }, "[[2] [5]] [2.5 3] in [6]"},
		{"bincount at least", func(a, b S) (any, error) { return one(numbers.BinCount(sparse.CountOptions{Rows: true, MinLength: 9})) }, "[[0 2] [1 5]] [2 1] in [3 9]"},
		{"bincount at most", func(a, b S) (any, error) { return one(numbers.BinCount(sparse.CountOptions{Rows: true, MaxLength: 4})) }, "[[0 2]] [2] in [3 4]"},
		{"bincount binary", func(a, b S) (any, error) { return one(numbers.BinCount(sparse.CountOptions{Rows: true, Binary: true})) }, "[[0 2] [1 5]] [1 1] in [3 6]"},
		{"bincount dense", func(a, b S) (any, error) { return one(sparse.BinCount(counted, sparse.CountOptions{})) }, "[[0] [1] [2] [5]] [2 1 2 1] in [6]"},
		{"bincount dense rows", func(a, b S) (any, error) { return one(sparse.BinCount(counted, sparse.CountOptions{Rows: true})) }, "[[0 0] [0 2] [1 0] [1 1] [1 5]] [1 2 1 1 1] in [2 6]"},
		{"bincount dense weights", func(a, b S) (any, error) {
			return one(sparse.BinCount(counted, sparse.CountOptions{Rows: true, Weights: tensor.Of([]float32{.5, 1, 2, 3, 4, 5}, 2, 3)}))
		}, "[[0 0] [0 2] [1 0] [1 1] [1 5]] [2 1.5 4 5 3] in [2 6]"},
		{"bincount dense binary", func(a, b S) (any, error) {
			return one(sparse.BinCount(counted, sparse.CountOptions{Rows: true, MaxLength: 3, Binary: true}))
		}, "[[0 0] [0 2] [1 0] [1 1]] [1 1 1 1] in [2 3]"},
		{"bincount vector", func(a, b S) (any, error) {
			return one(sparse.BinCount([]int64{1, 1, 3}, sparse.CountOptions{Rows: true}))
		}, "[[1] [3]] [2 1] in [4]"},
		{"bincount ragged", func(a, b S) (any, error) { return one(sparse.BinCount(uneven, sparse.CountOptions{})) }, "[[0] [1] [4]] [1 3 1] in [5]"},
		{"bincount ragged rows", func(a, b S) (any, error) {
			return one(sparse.BinCount(uneven, sparse.CountOptions{Rows: true, MinLength: 8}))
		}, "[[0 1] [2 0] [2 1] [2 4]] [2 1 1 1] in [3 8]"},
		{"clip", func(a, b S) (any, error) { return ops.Clip(a, float32(-1), float32(3)), nil }, "[[0 1] [1 0] [1 3] [2 2]] [1 -1 3 3] in [3 4]"},
		{"check_numerics", func(a, b S) (any, error) { return ops.CheckNumerics(a, ""), nil }, "[[0 1] [1 0] [1 3] [2 2]] [1 -2 3 4] in [3 4]"},
		{"empty, softmax", func(a, b S) (any, error) { return one(none.Softmax()) }, "none in [2 2]"},
		{"empty, filled", func(a, b S) (any, error) { r, _, err := none.FillEmptyRows(float32(7)); return r, err }, "[[0 0] [1 0]] [7 7] in [2 2]"},
		{"empty, max", func(a, b S) (any, error) { return one(none.ReduceMax(sparse.ReduceOptions{Axes: []int{1}})) }, "[0 0]"},
		{"empty, reset_shape", func(a, b S) (any, error) { return one(none.ResetShape()) }, "none in [0 0]"},
		{"empty, matmul", func(a, b S) (any, error) {
			return one(sparse.MatMul(none, ops.Ones(dtype.Float32, []int{2, 1}), sparse.MatMulOptions{}))
		}, "[[0] [0]]"},
		{"empty, dense", func(a, b S) (any, error) { return one(none.ToDense(sparse.DenseOptions{})) }, "[[0 0] [0 0]]"},
		{"empty, transpose", func(a, b S) (any, error) { return one(ops.Transpose(none), nil) }, "none in [2 2]"},
		{"empty, add", func(a, b S) (any, error) { return one(sparse.Add(none, none, sparse.AddOptions{})) }, "none in [2 2]"},
		{"empty, concat", func(a, b S) (any, error) { return one(sparse.Concat([]S{none, none}, 0, sparse.ConcatOptions{})) }, "none in [4 2]"},
		{"segments without rows", func(a, b S) (any, error) { return one(sparse.SegmentMean(data, []int64{}, []int64{}, 1)) }, "[[0 0]]"},
		{"concat 0", func(a, b S) (any, error) { return one(sparse.Concat([]S{a, b}, 0, sparse.ConcatOptions{})) }, "[[0 1] [1 0] [1 3] [2 2] [3 1] [3 2] [4 3]] [1 -2 3 4 -1 5 6] in [6 4]"},
		{"concat -1", func(a, b S) (any, error) { return one(sparse.Concat([]S{a, b}, -1, sparse.ConcatOptions{})) }, "[[0 1] [0 5] [0 6] [1 0] [1 3] [1 7] [2 2]] [1 -1 5 -2 3 6 4] in [3 8]"},
		{"concat expanded", func(a, b S) (any, error) {
			return one(sparse.Concat([]S{a, at([]int64{2, 1}, []float32{9}, 0, 0)}, 0, sparse.ConcatOptions{Expand: true}))
		}, "[[0 1] [1 0] [1 3] [2 2] [3 0]] [1 -2 3 4 9] in [5 4]"},
		{"cross", func(a, b S) (any, error) { return one(sparse.Cross([]T{s1, s2, s3}, "")) }, "[[0 0] [1 0] [1 1] [1 2] [1 3]] [a_X_d_X_1 b_X_e_X_2 b_X_e_X_3 c_X_e_X_2 c_X_e_X_3] in [2 4]"},
		{"cross with", func(a, b S) (any, error) { return one(sparse.Cross([]T{s1, s2}, "-")) }, "[[0 0] [1 0] [1 1]] [a-d b-e c-e] in [2 2]"},
		{"cross dense", func(a, b S) (any, error) { return one(sparse.Cross([]T{s1, tensor.Of([]string{"x", "y"}, 2, 1)}, "")) }, "[[0 0] [1 0] [1 1]] [a_X_x b_X_y c_X_y] in [2 2]"},
		{"expand_dims", func(a, b S) (any, error) { return one(ops.ExpandDims(a, 1), nil) }, "[[0 0 1] [1 0 0] [1 0 3] [2 0 2]] [1 -2 3 4] in [3 1 4]"},
		{"expand_dims -1", func(a, b S) (any, error) { return one(ops.ExpandDims(a, -1), nil) }, "[[0 1 0] [1 0 0] [1 3 0] [2 2 0]] [1 -2 3 4] in [3 4 1]"},
		{"eye", func(a, b S) (any, error) { return one(sparse.Eye(dtype.Float32, 2, 3)) }, "[[0 0] [1 1]] [1 1] in [2 3]"},
		{"fill_empty_rows", func(a, b S) (any, error) {
			r, empty, err := at([]int64{5, 4}, []int64{1, 2, 3}, 0, 1, 3, 0, 3, 2).FillEmptyRows(-1)
			return show(r) + ", " + show(empty), err
		}, "[[0 1] [1 0] [2 0] [3 0] [3 2] [4 0]] [1 -1 -1 2 3 -1] in [5 4], [false true true false true]"},
		{"reduce_sum", func(a, b S) (any, error) { return one(a.ReduceSum(sparse.ReduceOptions{Axes: []int{1}})) }, "[1 1 4]"},
		{"reduce_sum all", func(a, b S) (any, error) { return one(a.ReduceSum(sparse.ReduceOptions{})) }, "6"},
		{"reduce_sum keep", func(a, b S) (any, error) {
			return one(a.ReduceSum(sparse.ReduceOptions{Axes: []int{0}, KeepDims: true}))
		}, "[[-2 1 4 3]]"},
		{"reduce_sum sparse", func(a, b S) (any, error) { return one(a.ReduceSum(sparse.ReduceOptions{Axes: []int{1}, Sparse: true})) }, "[[0] [1] [2]] [1 1 4] in [3]"},
		{"reduce_max", func(a, b S) (any, error) {
			return one(at([]int64{3, 2}, []float32{-7, 4, 3}, 0, 0, 1, 0, 1, 1).ReduceMax(sparse.ReduceOptions{Axes: []int{-1}}))
		}, "[-7 4 0]"},
		{"reduce_max sparse", func(a, b S) (any, error) {
			return one(at([]int64{3, 2}, []float32{-7, 4, 3}, 0, 0, 1, 0, 1, 1).ReduceMax(sparse.ReduceOptions{Axes: []int{1}, Sparse: true}))
		}, "[[0] [1]] [-7 4] in [3]"},
		{"reduce_max all", func(a, b S) (any, error) { return one(a.ReduceMax(sparse.ReduceOptions{})) }, "4"},
		{"reset_shape", func(a, b S) (any, error) { return one(a.ResetShape(4, 5)) }, "[[0 1] [1 0] [1 3] [2 2]] [1 -2 3 4] in [4 5]"},
		{"reset_shape tight", func(a, b S) (any, error) { return one(at([]int64{9, 9}, []int64{1, 2}, 0, 1, 1, 0).ResetShape()) }, "[[0 1] [1 0]] [1 2] in [2 2]"},
		{"reshape", func(a, b S) (any, error) { return one(ops.Reshape(a, []int{2, -1}), nil) }, "[[0 1] [0 4] [1 1] [1 4]] [1 -2 3 4] in [2 6]"},
		{"reshape 3", func(a, b S) (any, error) { return one(ops.Reshape(a, []int{2, 3, 2}), nil) }, "[[0 0 1] [0 2 0] [1 0 1] [1 2 0]] [1 -2 3 4] in [2 3 2]"},
		{"retain", func(a, b S) (any, error) { return one(a.Retain([]bool{true, false, true, false})) }, "[[0 1] [1 3]] [1 3] in [3 4]"},
		{"mask", func(a, b S) (any, error) { return one(a.Mask([]int64{1, 0})) }, "[[2 2]] [4] in [3 4]"},
		{"sampled_addmm", func(a, b S) (any, error) { return one(a.SampledAddMM(six(3, 2), grid(2, 4), 3, 2)) }, "[[0 1] [1 0] [1 3] [2 2]] [17 32 87 122] in [3 4]"},
		{"segment_sum", func(a, b S) (any, error) {
			return one(sparse.SegmentSum(data, []int64{0, 1, 3}, []int64{0, 0, 2}, nil))
		}, "[[4 6] [0 0] [7 8]]"},
		{"segment_mean", func(a, b S) (any, error) { return one(sparse.SegmentMean(data, []int64{0, 1, 3}, []int64{0, 0, 2}, 4)) }, "[[2 3] [0 0] [7 8] [0 0]]"},
		{"segment_sqrt_n", func(a, b S) (any, error) {
			return one(sparse.SegmentSqrtN(data, []int64{0, 1, 3}, []int64{0, 0, 2}, nil))
		}, "[[2.828 4.243] [0 0] [7 8]]"},
		{"slice", func(a, b S) (any, error) { return one(a.Slice([]int{1, 0}, []int{2, 3})) }, "[[0 0] [1 2]] [-2 4] in [2 3]"},
		{"slice over", func(a, b S) (any, error) { return one(a.Slice([]int{1, 2}, []int{9, 9})) }, "[[0 1] [1 0]] [3 4] in [2 2]"},
		{"slice beyond", func(a, b S) (any, error) { return one(a.Slice([]int{4, 0}, []int{1, 1})) }, "none in [0 1]"},
		{"softmax", func(a, b S) (any, error) { return one(a.Softmax()) }, "[[0 1] [1 0] [1 3] [2 2]] [1 0.006693 0.9933 1] in [3 4]"},
		{"softmax 3", func(a, b S) (any, error) {
			return one(at([]int64{2, 2, 2}, []float32{1, 2, 3}, 0, 0, 0, 0, 0, 1, 1, 1, 0).Softmax())
		}, "[[0 0 0] [0 0 1] [1 1 0]] [0.2689 0.7311 1] in [2 2 2]"},
		{"matmul", func(a, b S) (any, error) { return one(sparse.MatMul(a, grid(4, 2), sparse.MatMulOptions{})) }, "[[2 3] [18 19] [16 20]]"},
		{"matmul adjoint a", func(a, b S) (any, error) {
			return one(sparse.MatMul(a, six(3, 2), sparse.MatMulOptions{AdjointA: true}))
		}, "[[-4 -6] [0 1] [16 20] [6 9]]"},
		{"matmul adjoint b", func(a, b S) (any, error) {
			return one(sparse.MatMul(a, grid(2, 4), sparse.MatMulOptions{AdjointB: true}))
		}, "[[1 5] [9 13] [8 24]]"},
		{"matmul dense sparse", func(a, b S) (any, error) { return one(sparse.MatMul(six(2, 3), a, sparse.MatMulOptions{})) }, "[[-2 0 8 3] [-8 3 20 12]]"},
		{"matmul sparse", func(a, b S) (any, error) { return one(sparse.MatMul(a, b, sparse.MatMulOptions{AdjointB: true})) }, "[[0 0] [1 1] [2 0]] [-1 18 20] in [3 3]"},
		{"split", func(a, b S) (any, error) { return one(a.Split(3, 1)) }, "[[0 1] [1 0]] [1 -2] in [3 2]; [[2 0]] [4] in [3 1]; [[1 0]] [3] in [3 1]"},
		{"split 0", func(a, b S) (any, error) { return one(a.Split(2, 0)) }, "[[0 1] [1 0] [1 3]] [1 -2 3] in [2 4]; [[0 2]] [4] in [1 4]"},
		{"to_indicator", func(a, b S) (any, error) {
			return one(at([]int64{2, 2}, []int64{0, 3, 1}, 0, 0, 0, 1, 1, 0).ToIndicator(4))
		}, "[[true false false true] [false true false false]]"},
		{"transpose", func(a, b S) (any, error) { return one(ops.Transpose(a), nil) }, "[[0 1] [1 0] [2 2] [3 1]] [-2 1 4 3] in [4 3]"},
		{"transpose 3", func(a, b S) (any, error) {
			return one(ops.Transpose(at([]int64{2, 3, 4}, []int64{1, 2}, 0, 1, 2, 1, 0, 0), 2, 0, 1), nil)
		}, "[[0 1 0] [2 0 1]] [2 1] in [4 2 3]"},
		{"to_dense", func(a, b S) (any, error) { return one(a.ToDense(sparse.DenseOptions{Default: float32(-1)})) }, "[[-1 1 -1 -1] [-2 -1 -1 3] [-1 -1 4 -1]]"},
		{"to_dense strings", func(a, b S) (any, error) { return one(s1.ToDense(sparse.DenseOptions{})) }, "[[a ] [b c]]"},
		{"to_dense sum", func(a, b S) (any, error) {
			return one(at([]int64{2}, []int64{1, 2}, 0, 0).ToDense(sparse.DenseOptions{}))
		}, "[3 0]"},
		{"reorder", func(a, b S) (any, error) { return one(at([]int64{2, 2}, []int64{1, 2, 3}, 1, 0, 0, 1, 1, 0).Reorder()) }, "[[0 1] [1 0] [1 0]] [2 1 3] in [2 2]"},
		{"coalesce", func(a, b S) (any, error) {
			return one(at([]int64{2, 2}, []int64{1, 2, 3}, 1, 0, 0, 1, 1, 0).Coalesce())
		}, "[[0 1] [1 0]] [2 4] in [2 2]"},
		{"map_values", func(a, b S) (any, error) {
			return one(sparse.MapValues(func(v ...T) T { return ops.Add(v[0], 5.0) }, a))
		}, "[[0 1] [1 0] [1 3] [2 2]] [6 3 8 9] in [3 4]"},
		{"mul dense", func(a, b S) (any, error) {
			return one(ops.Mul(a, ops.Reshape(ops.Range(float32(0), float32(12), float32(1)), []int{3, 4})), nil)
		}, "[[0 1] [1 0] [1 3] [2 2]] [1 -8 21 40] in [3 4]"},
		{"mul column", func(a, b S) (any, error) { return one(ops.Mul(tensor.Of([]float32{1, 2, 3}, 3, 1), a), nil) }, "[[0 1] [1 0] [1 3] [2 2]] [1 -4 6 12] in [3 4]"},
		{"mul sparse", func(a, b S) (any, error) { return one(ops.Mul(a, b), nil) }, "[[0 1] [1 3]] [-1 18] in [3 4]"},
		{"div", func(a, b S) (any, error) { return one(ops.Div(a, 2.0), nil) }, "[[0 1] [1 0] [1 3] [2 2]] [0.5 -1 1.5 2] in [3 4]"},
		{"sub", func(a, b S) (any, error) { return one(ops.Sub(a, b), nil) }, "[[0 1] [0 2] [1 0] [1 3] [2 2]] [2 -5 -2 -3 4] in [3 4]"},
		{"abs", func(a, b S) (any, error) { return one(ops.Abs(a), nil) }, "[[0 1] [1 0] [1 3] [2 2]] [1 2 3 4] in [3 4]"},
		{"greater", func(a, b S) (any, error) { return one(ops.Greater(a, 2.0), nil) }, "[[0 1] [1 0] [1 3] [2 2]] [false false true true] in [3 4]"},
		{"pow", func(a, b S) (any, error) { return one(ops.Pow(a, 2.0), nil) }, "[[0 1] [1 0] [1 3] [2 2]] [1 4 9 16] in [3 4]"},
		{"max with zeros", func(a, b S) (any, error) { return one(ops.Max(ops.Neg(a), 1), nil) }, "[0 2 0]"},
		{"min", func(a, b S) (any, error) { return one(ops.Min(a), nil) }, "-2"},
		{"mean", func(a, b S) (any, error) { return one(ops.Mean(a, 1), nil) }, "[0.25 0.25 1]"},
		{"any", func(a, b S) (any, error) { return one(ops.Any(ops.Greater(a, 2.0), 1), nil) }, "[false true true]"},
		{"count_nonzero", func(a, b S) (any, error) { return one(ops.CountNonzero(a, 0), nil) }, "[1 1 1 1]"},
		{"index", func(a, b S) (any, error) { return one(ops.Index(a, 1), nil) }, "[[0] [3]] [-2 3] in [4]"},
		{"reversed", func(a, b S) (any, error) { return one(ops.Index(a, key.All, key.Range(nil, nil, -2)), nil) }, "[[0 1] [1 0]] [1 3] in [3 2]"},
		{"new axis", func(a, b S) (any, error) { return one(ops.Index(a, key.NewAxis, key.From(2)), nil) }, "[[0 0 2]] [4] in [1 1 4]"},
		{"gather", func(a, b S) (any, error) { return one(ops.Gather(a, []int64{2, -2, 2}, 0), nil) }, "[[0 2] [1 0] [1 3] [2 2]] [4 -2 3 4] in [3 4]"},
		{"matvec", func(a, b S) (any, error) { return one(ops.MatVec(a, []float32{1, 2, 3, 4}), nil) }, "[2 10 12]"},
		{"stack", func(a, b S) (any, error) { return one(ops.Stack([]T{a, b}, 1), nil) }, "[[0 0 1] [0 1 1] [0 1 2] [1 0 0] [1 0 3] [1 1 3] [2 0 2]] [1 -1 5 -2 3 6 4] in [3 2 4]"},
		{"broadcast", func(a, b S) (any, error) {
			return one(ops.Mul(at([]int64{1, 4}, []float32{10, 20}, 0, 0, 0, 2), a), nil)
		}, "[[1 0] [2 2]] [-20 80] in [3 4]"},
		{"broadcast sum", func(a, b S) (any, error) {
			return one(ops.Add(at([]int64{2, 1}, []float32{10}, 1, 0), at([]int64{3}, []float32{1}, 2)), nil)
		}, "[[0 2] [1 0] [1 1] [1 2]] [1 10 10 11] in [2 3]"},
		{"logical", func(a, b S) (any, error) { return one(ops.LogicalOr(ops.Greater(a, 2.0), ops.Greater(b, 2.0)), nil) }, "[[0 1] [0 2] [1 0] [1 3] [2 2]] [false true false true true] in [3 4]"},
		{"squeeze", func(a, b S) (any, error) { return one(ops.Squeeze(ops.ExpandDims(a, 0, -1)), nil) }, "[[0 1] [1 0] [1 3] [2 2]] [1 -2 3 4] in [3 4]"},
	}
}

func TestFunctions(t *testing.T) {
	for _, c := range functions() {
		t.Run(c.name, func(t *testing.T) {
			got, err := tenon.Try(func() any { return tenon.Must(c.f(matrixA(), matrixB())) })
			if err != nil {
				t.Fatal(err)
			}
			if s := show(got); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}

// Recorded as a graph, every function gives the same.
func TestFunctionsTraced(t *testing.T) {
	for _, c := range functions() {
		t.Run(c.name, func(t *testing.T) {
			f := function.New(func(a, b *sparse.Tensor) (T, error) {
				x, err := c.f(a, b)
				if err != nil {
					return nil, err
				}
				if y, ok := x.(T); ok {
					return y, nil
				}
				return tensor.Scalar(int64(0)), nil
			})
			got, err := f.Call(matrixA(), matrixB())
			if err != nil {
				t.Fatal(err)
			}
			if s := show(got); s != c.want && s != "0" {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}

// Recorded with sizes that are not known, what does not need them gives the same.
func TestFunctionsWithoutSizes(t *testing.T) {
	unknown := sparse.NewSpec(dtype.Float32, shape.Of(-1, -1))
	needs := map[string]bool{"split": true, "split 0": true, "reshape": true, "reshape 3": true, "reset_shape": true, "concat expanded": true,
		"reversed": true, "mul dense": true, "mul column": true, "broadcast": true}
	for _, c := range functions() {
		t.Run(c.name, func(t *testing.T) {
			f := function.New(func(a, b *sparse.Tensor) (T, error) {
				x, err := c.f(a, b)
				if err != nil {
					return nil, err
				}
				if y, ok := x.(T); ok {
					return y, nil
				}
				return tensor.Scalar(int64(0)), nil
			}, function.Options{Signature: []any{unknown, unknown}})
			got, err := f.Call(matrixA(), matrixB())
			switch {
			case err != nil && !needs[c.name]:
				t.Error(err)
			case err != nil && !errors.As(err, new(*tenon.Error)):
				t.Errorf("%T: %v", err, err)
			case err == nil && show(got) != c.want && show(got) != "0":
				t.Errorf("got  %s\nwant %s", show(got), c.want)
			}
		})
	}
}

// Values in any order, and several at one place, mean the same.
func TestOrderDoesNotMatter(t *testing.T) {
	a := at([]int64{3, 4}, []float32{4, 3, -5, 1, 3}, 2, 2, 1, 3, 1, 0, 0, 1, 1, 0)
	b := at([]int64{3, 4}, []float32{6, -1, 5}, 1, 3, 0, 1, 0, 2)
	for _, c := range functions() {
		switch c.name {
		case "retain", "sampled_addmm", "map_values", "softmax", "reorder": // of the values as they stand
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			x := tenon.Must(c.f(a, b))
			y := tenon.Must(c.f(matrixA(), matrixB()))
			if s, ok := x.(T); ok && !tensor.Equal(dense(s), dense(y.(T)), tensor.EqualOptions{}) {
				t.Errorf("got  %s\nwant %s", show(x), show(y))
			}
		})
	}
}

func dense(x T) T {
	if s, ok := x.(*sparse.Tensor); ok {
		return tenon.Must(s.ToDense(sparse.DenseOptions{}))
	}
	return x
}

func TestRefusedOperations(t *testing.T) {
	a, b := matrixA(), matrixB()
	for name, c := range map[string]struct {
		f    func() (any, error)
		kind error
		text string
	}{
		"cos":         {func() (any, error) { return ops.Cos(a), nil }, tenon.ErrUnsupported, "ToDense"},
		"add dense":   {func() (any, error) { return ops.Add(a, ops.Ones(dtype.Float32, []int{3, 4})), nil }, tenon.ErrUnsupported, "ToDense"},
		"add one":     {func() (any, error) { return ops.Add(a, 1.0), nil }, tenon.ErrUnsupported, "ToDense"},
		"equal":       {func() (any, error) { return ops.Equal(a, b), nil }, tenon.ErrUnsupported, "ToDense"},
		"div sparse":  {func() (any, error) { return ops.Div(a, b), nil }, tenon.ErrUnsupported, "ToDense"},
		"clip away":   {func() (any, error) { return ops.Clip(a, float32(1), float32(3)), nil }, tenon.ErrUnsupported, "ToDense"},
		"sort":        {func() (any, error) { return ops.Sort(a, 0, ops.SortOptions{}), nil }, tenon.ErrUnsupported, "ToDense"},
		"shapes":      {func() (any, error) { return ops.Mul(a, at([]int64{2, 4}, []float32{1}, 0, 0)), nil }, tenon.ErrShape, "broadcast"},
		"inner sizes": {func() (any, error) { return ops.MatMul(a, b), nil }, tenon.ErrShape, "inner sizes 4 and 3"},
		"reshape":     {func() (any, error) { return tenon.Try(func() any { return ops.Reshape(a, []int{5, 2}) }) }, tenon.ErrInvalid, "12 elements"},
		"reset":       {func() (any, error) { return a.ResetShape(3, 3) }, tenon.ErrInvalid, "does not fit"},
		"concat": {func() (any, error) {
			return sparse.Concat([]*sparse.Tensor{a, at([]int64{2, 1}, []float32{1}, 0, 0)}, 0, sparse.ConcatOptions{})
		}, tenon.ErrInvalid, "Expand"},
		"concat nothing":  {func() (any, error) { return sparse.Concat(nil, 0, sparse.ConcatOptions{}) }, tenon.ErrInvalid, ""},
		"axis":            {func() (any, error) { return ops.Sum(a, 2), nil }, tenon.ErrAxis, ""},
		"axis twice":      {func() (any, error) { return a.ReduceSum(sparse.ReduceOptions{Axes: []int{0, -2}}) }, tenon.ErrAxis, ""},
		"transpose":       {func() (any, error) { return tenon.Try(func() any { return ops.Transpose(a, 0, 0) }) }, tenon.ErrAxis, "twice"},
		"retain":          {func() (any, error) { return a.Retain([]bool{true}) }, tenon.ErrShape, ""},
		"slice":           {func() (any, error) { return a.Slice([]int{-1, 0}, []int{1, 1}) }, tenon.ErrInvalid, "negative"},
		"split":           {func() (any, error) { return a.Split(5, 1) }, tenon.ErrInvalid, ""},
		"index":           {func() (any, error) { return ops.Index(a, 3), nil }, tenon.ErrRange, ""},
		"gather":          {func() (any, error) { return tenon.Try(func() any { return ops.Gather(a, []int64{4}, 1) }) }, tenon.ErrInvalid, "position 0 is 4"},
		"indicator":       {func() (any, error) { return at([]int64{1, 1}, []int64{9}, 0, 0).ToIndicator(4) }, tenon.ErrInvalid, ""},
		"count":           {func() (any, error) { return at([]int64{1, 1}, []int64{-9}, 0, 0).BinCount(sparse.CountOptions{}) }, tenon.ErrInvalid, "value 0 is -9"},
		"map":             {func() (any, error) { return sparse.MapValues(func(v ...T) T { return v[0] }, a, b) }, tenon.ErrInvalid, "different coordinates"},
		"map to a scalar": {func() (any, error) { return sparse.MapValues(func(v ...T) T { return ops.Sum(v[0]) }, a) }, tenon.ErrShape, ""},
		"eye":             {func() (any, error) { return sparse.Eye(dtype.Int8, -1, 2) }, tenon.ErrInvalid, ""},
		"no sparse operand": {func() (any, error) {
			return sparse.MatMul(tensor.Of([]float32{1}, 1, 1), tensor.Of([]float32{1}, 1, 1), sparse.MatMulOptions{})
		}, tenon.ErrDType, ""},
	} {
		got, err := tenon.Try(func() any { return tenon.Must(c.f()) })
		if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}
