package ops_test

import (
	"errors"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// Elementwise functions broadcast as NumPy's do, and take Go numbers, which adopt the element
// type of the tensor beside them.
func ExampleAdd() {
	x := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(ops.Add(x, tensor.Of([]float32{10, 20, 30})))
	fmt.Println(ops.Mul(x, 0.5))
	fmt.Println(ops.Add(ragged.FromSlices([][]int64{{1, 2}, {}, {3}}), 1))
	// Output:
	// [[11. 22. 33.]
	//  [14. 25. 36.]] float32[2, 3]
	// [[0.5 1.  1.5]
	//  [2.  2.5 3. ]] float32[2, 3]
	// [[2 3] [] [4]] int64[3, ~]
}

// Integers are divided as Go's floats are: use FloorDiv for whole numbers.
func ExampleDiv() {
	x := tensor.Of([]int64{7, -7})
	fmt.Println(ops.Div(x, 2))
	fmt.Println(ops.FloorDiv(x, 2), ops.TruncateDiv(x, 2))
	fmt.Println(ops.Mod(x, 2), ops.TruncateMod(x, 2))
	fmt.Println(ops.DivNoNaN(tensor.Of([]float64{1, 0}), 0))
	// Output:
	// [ 3.5 -3.5] float64[2]
	// [ 3 -4] int64[2] [ 3 -3] int64[2]
	// [1 1] int64[2] [ 1 -1] int64[2]
	// [0. 0.] float64[2]
}

// Comparisons give truth values, and Where chooses by them.
func ExampleWhere() {
	x := tensor.Of([]float64{-1, 0, 2})
	fmt.Println(ops.Greater(x, 0))
	fmt.Println(ops.Where(ops.Greater(x, 0), x, 0))
	fmt.Println(ops.LogicalAnd(ops.GreaterEqual(x, 0), ops.Less(x, 2)))
	// Output:
	// [false false  true] bool[3]
	// [0. 0. 2.] float64[3]
	// [false  true false] bool[3]
}

// Reductions go over all axes where none is named, over the named ones otherwise, negative
// ones counting from the last.
func ExampleSum() {
	x := tensor.Of([]int64{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(ops.Sum(x), ops.Sum(x, 0), ops.SumKeep(x, -1))
	fmt.Println(ops.Sum(ragged.FromSlices([][]int64{{1, 2}, {}, {3}}), -1))
	// Output:
	// 21 int64[] [5 7 9] int64[3] [[ 6]
	//  [15]] int64[2, 1]
	// [3 0 3] int64[3]
}

// Of nothing there is no largest element, and ArgMax refuses an axis without entries.
func ExampleMax() {
	x := tensor.Of([]float64{3, 1, 2, 0, 7, 5}, 2, 3)
	fmt.Println(ops.Max(x, 1), ops.ArgMax(x, 1))
	fmt.Println(ops.Mean(x, 0), ops.Std(x, 0))
	_, err := tenon.Try(func() tensor.Tensor { return ops.ArgMax(tensor.Of([]float64{}), 0) })
	fmt.Println(errors.Is(err, tenon.ErrShape) || errors.Is(err, tenon.ErrInvalid))
	// Output:
	// [3. 7.] float64[2] [0 1] int64[2]
	// [1.5 4.  3.5] float64[3] [1.5 3.  1.5] float64[3]
	// true
}

// Scans keep their axis.
func ExampleCumSum() {
	x := tensor.Of([]int64{1, 2, 3, 4})
	fmt.Println(ops.CumSum(x, 0, ops.CumOptions{}))
	fmt.Println(ops.CumSum(x, 0, ops.CumOptions{Exclusive: true, Reverse: true}))
	// Output:
	// [ 1  3  6 10] int64[4]
	// [9 7 4 0] int64[4]
}

// LinearScan runs a recurrence: here an exponential moving average.
func ExampleLinearScan() {
	x := tensor.Of([]float64{8, 0, 0, 8})
	fmt.Println(ops.LinearScan(ops.Fill([]int{4}, 0.5), ops.Mul(x, 0.5), 0, false))
	// Output:
	// [4.  2.  1.  4.5] float64[4]
}

// Sorting is stable, puts NaN last, and takes strings, too.
func ExampleSort() {
	x := tensor.Of([]float64{3, 1, 2})
	fmt.Println(ops.Sort(x, 0, ops.SortOptions{}), ops.ArgSort(x, 0, ops.SortOptions{Descending: true}))
	fmt.Println(ops.Sort(tensor.Of([]string{"pear", "apple", "fig"}), 0, ops.SortOptions{}))
	// Output:
	// [1. 2. 3.] float64[3] [0 2 1] int64[3]
	// ["apple" "fig" "pear"] string[3]
}

// TopK is along the last axis if none is named.
func ExampleTopK() {
	values, at := ops.TopK(tensor.Of([]int64{4, 9, 1, 7, 7, 8}, 2, 3), 2)
	fmt.Println(values)
	fmt.Println(at)
	// Output:
	// [[9 4]
	//  [8 7]] int64[2, 2]
	// [[1 0]
	//  [2 0]] int64[2, 2]
}

// Indices choose entries of an axis, in any order and as often as one likes.
func ExampleGather() {
	x := tensor.Of([]string{"a", "b", "c"})
	fmt.Println(ops.Gather(x, []int64{2, 0, 2}, 0))
	table := tensor.Of([]float32{0, 1, 2, 3, 4, 5}, 3, 2)
	fmt.Println(ops.Gather(table, ragged.FromSlices([][]int64{{0}, {2, 1}}), 0))
	// Output:
	// ["c" "a" "c"] string[3]
	// [[[0. 1.]] [[4. 5.] [2. 3.]]] float32[2, ~, 2]
}

// Scattering adds to, or replaces, entries of a tensor that stays what it was.
func ExampleTensorScatterAdd() {
	x := ops.Zeros(dtype.Int64, []int{4})
	at := tensor.Of([]int64{1, 3, 1}, 3, 1)
	fmt.Println(ops.TensorScatterAdd(x, at, []int64{10, 20, 30}))
	fmt.Println(ops.TensorScatterMax(x, at, []int64{10, 20, 30}))
	fmt.Println(x)
	// Output:
	// [ 0 40  0 20] int64[4]
	// [ 0 30  0 20] int64[4]
	// [0 0 0 0] int64[4]
}

// What stands between brackets in Python is a list of keys.
func ExampleIndex() {
	x := ops.Reshape(ops.Range(0, 12, 1), []int{3, 4})
	fmt.Println(ops.Index(x, -1))
	fmt.Println(ops.Index(x, key.All, key.Range(nil, nil, -2)))
	fmt.Println(ops.Index(x, ops.Equal(ops.Mod(ops.Index(x, key.All, 0), 8), 0)))
	fmt.Println(ops.IndexUpdate(x, -1, 1, key.From(2)))
	// Output:
	// [ 8  9 10 11] int64[4]
	// [[ 3  1]
	//  [ 7  5]
	//  [11  9]] int64[3, 2]
	// [[ 0  1  2  3]
	//  [ 8  9 10 11]] int64[2, 4]
	// [[ 0  1  2  3]
	//  [ 4  5 -1 -1]
	//  [ 8  9 10 11]] int64[3, 4]
}

// Reshape infers the size that is -1.
func ExampleReshape() {
	x := ops.Range(0, 6, 1)
	y := ops.Reshape(x, []int{2, -1})
	fmt.Println(y)
	fmt.Println(ops.Transpose(y))
	fmt.Println(ops.ExpandDims(x, 0).Shape(), ops.Squeeze(ops.ExpandDims(x, 0)).Shape(), ops.MoveAxis(ops.Zeros(dtype.Bool, []int{2, 3, 4}), 0, -1).Shape())
	// Output:
	// [[0 1 2]
	//  [3 4 5]] int64[2, 3]
	// [[0 3]
	//  [1 4]
	//  [2 5]] int64[3, 2]
	// [1, 6] [6] [3, 4, 2]
}

// Values are joined along an axis they have, or stacked along one that they get.
func ExampleConcat() {
	a, b := tensor.Of([]int64{1, 2}), tensor.Of([]int64{3, 4})
	fmt.Println(ops.Concat([]tensor.Tensor{a, b}, 0))
	fmt.Println(ops.Stack([]tensor.Tensor{a, b}, -1))
	parts := ops.Split(tensor.Of([]int64{1, 2, 3, 4, 5}), []int{2, 3}, 0)
	fmt.Println(parts[0], parts[1])
	// Output:
	// [1 2 3 4] int64[4]
	// [[1 3]
	//  [2 4]] int64[2, 2]
	// [1 2] int64[2] [3 4 5] int64[3]
}

// Margins are filled with a value, or mirror what is inside.
func ExamplePad() {
	x := tensor.Of([]int64{1, 2, 3})
	fmt.Println(ops.Pad(x, [][]int{{1, 2}}, ops.PadOptions{}))
	fmt.Println(ops.Pad(x, [][]int{{2, 2}}, ops.PadOptions{Mode: ops.PadReflect}))
	// Output:
	// [0 1 2 3 0 0] int64[6]
	// [3 2 1 2 3 2 1] int64[7]
}

// MatMul multiplies the last two axes, and the others are a batch.
func ExampleMatMul() {
	a := tensor.Of([]float64{1, 2, 3, 4}, 2, 2)
	fmt.Println(ops.MatMul(a, ops.Eye(dtype.Float64, 2, 2)))
	fmt.Println(ops.MatMulT(a, a, false, true))
	fmt.Println(ops.MatVec(a, []float64{1, -1}), ops.Dot(tensor.Of([]float64{1, 2}), []float64{3, 4}))
	// Output:
	// [[1. 2.]
	//  [3. 4.]] float64[2, 2]
	// [[ 5. 11.]
	//  [11. 25.]] float64[2, 2]
	// [-1. -1.] float64[2] 11.0 float64[]
}

// Convolve goes over as many axes of positions as the kernel has; features stand last.
func ExampleConvolve() {
	x := tensor.Of([]float32{1, 2, 3, 4, 5}, 5, 1)
	smooth := tensor.Of([]float32{0.25, 0.5, 0.25}, 3, 1, 1)
	y := ops.Convolve(x, smooth, ops.ConvolveOptions{Windows: ops.WindowOptions{Size: []int{3}, Same: true}})
	fmt.Println(ops.Squeeze(y, -1))
	// Output:
	// [1.  2.  3.  4.  3.5] float32[5]
}

// Softmax is along one axis. LogSumExp is its normaliser.
func ExampleSoftmax() {
	x := ops.Log(tensor.Of([]float64{1, 3, 2, 2}, 2, 2))
	fmt.Println(ops.Softmax(x, -1))
	fmt.Println(ops.Exp(ops.LogSumExp(x, -1)))
	// Output:
	// [[0.25 0.75]
	//  [0.5  0.5 ]] float64[2, 2]
	// [4. 4.] float64[2]
}

// A causal query sees the keys up to its own position.
func ExampleAttention() {
	query := ops.Zeros(dtype.Float64, []int{3, 2}) // all scores are alike
	value := tensor.Of([]float64{3, 6, 9}, 3, 1)
	fmt.Println(ops.Squeeze(ops.Attention(query, query, value, ops.AttentionOptions{Causal: true}), -1))
	// Output:
	// [3.  4.5 6. ] float64[3]
}

// Segments are rows that need not lie together: a number tells to which each item belongs.
func ExampleSegmentSum() {
	data := tensor.Of([]float64{1, 2, 3, 4})
	fmt.Println(ops.SegmentSum(data, []int64{2, 0, 2, -1}, 3))
	fmt.Println(ops.SegmentMean(data, []int64{2, 0, 2, 0}, nil))
	// Output:
	// [2. 0. 4.] float64[3]
	// [ 3. nan  2.] float64[3]
}

// What occurs, in the order of first appearance, and how often.
func ExampleUnique() {
	values, inverse, counts, _ := ops.Unique(tensor.Of([]string{"b", "a", "b"}))
	fmt.Println(values, inverse, counts)
	// Output:
	// ["b" "a"] string[2] [0 1 0] int64[3] [2 1] int64[2]
}

// Counting whole numbers, and real ones by intervals.
func ExampleBinCount() {
	fmt.Println(ops.BinCount(tensor.Of([]int64{0, 2, 2}), ops.BinCountOptions{MinLength: 4}))
	fmt.Println(ops.Histogram(tensor.Of([]float64{0.1, 0.4, 0.9, 2}), []float64{0, 1}, 2))
	fmt.Println(ops.SearchSorted(tensor.Of([]float64{1, 2, 3}), tensor.Of([]float64{2, 0}), false))
	// Output:
	// [1 0 2 0] int64[4]
	// [2 2] int64[2]
	// [1 0] int64[2]
}

// One-hot rows: of a number outside of the depth all are off.
func ExampleOneHot() {
	fmt.Println(ops.OneHot(tensor.Of([]int64{1, -1}), 3, -1, ops.OneHotOptions{DType: dtype.Int8}))
	fmt.Println(ops.SequenceMask(tensor.Of([]int64{1, 3}), 3))
	// Output:
	// [[0 1 0]
	//  [0 0 0]] int8[2, 3]
	// [[ true false false]
	//  [ true  true  true]] bool[2, 3]
}

// Whole numbers and even steps.
func ExampleRange() {
	fmt.Println(ops.Range(2, 8, 3), ops.LinSpace(0.0, 1.0, 5))
	grid := ops.Meshgrid(ops.IndexingIJ, ops.Range(0, 2, 1), ops.Range(0, 3, 1))
	fmt.Println(grid[0])
	fmt.Println(grid[1])
	// Output:
	// [2 5] int64[2] [0.   0.25 0.5  0.75 1.  ] float64[5]
	// [[0 0 0]
	//  [1 1 1]] int64[2, 3]
	// [[0 1 2]
	//  [0 1 2]] int64[2, 3]
}

// A cast rounds towards zero; a bitcast keeps the bits.
func ExampleCast() {
	x := tensor.Of([]float32{1.9, -1.9, 1})
	fmt.Println(ops.Cast(x, dtype.Int32))
	fmt.Printf("%x\n", tensor.Data[uint32](ops.Bitcast(x, dtype.Uint32))[2])
	// Output:
	// [ 1 -1  1] int32[3]
	// 3f800000
}

// Random numbers are a function of a key: the same key gives the same numbers, on any machine
// and with any number of workers.
func ExampleRandomNormal() {
	k := ops.RandomFor(ops.RandomKey(7), "weights")
	a, b := ops.RandomNormal(k, []int{1000}, dtype.Float64), ops.RandomNormal(k, []int{1000}, dtype.Float64)
	fmt.Println(ops.All(ops.Equal(a, b)))
	fmt.Println(ops.Less(ops.Abs(ops.Mean(a)), 0.1), ops.Less(ops.Abs(ops.Sub(ops.Std(a), 1)), 0.1))
	// Output:
	// true bool[]
	// true bool[] true bool[]
}

// Strings are elements, and functions of them go by bytes or by characters.
func ExampleStringSplit() {
	x := tensor.Of([]string{"to be", "", "or not to be"})
	pieces, splits := ops.StringSplit(x, ops.SplitOptions{})
	fmt.Println(tenon.Must(ragged.FromRowSplits(pieces, splits)))
	fmt.Println(ops.StringUpper(x, ops.UnitByte), ops.StringLength(tensor.Of([]string{"größe"}), ops.UnitChar))
	fmt.Println(ops.StringRegexReplace(x, "(be)", `<\1>`, ops.RegexReplaceOptions{}))
	fmt.Println(ops.StringToNumber(tensor.Of([]string{"3", "1e2"}), dtype.Float64))
	// Output:
	// [["to" "be"]
	//  []
	//  ["or" "not" "to" "be"]] string[3, ~]
	// ["TO BE" "" "OR NOT TO BE"] string[3] [5] int64[1]
	// ["to <be>" "" "or not to <be>"] string[3]
	// [  3. 100.] float64[2]
}

// Losses of classes work on logits, and stay finite where probabilities would not.
func ExampleSoftmaxCrossEntropy() {
	logits := tensor.Of([]float64{0, 0, 1000, 0}, 2, 2)
	fmt.Println(ops.SoftmaxCrossEntropy(logits, []int64{0, 1}))
	fmt.Println(ops.SigmoidCrossEntropy(tensor.Of([]float64{0, -1000}), []float64{1, 0}))
	// Output:
	// [6.93147181e-01 1.00000000e+03] float64[2]
	// [0.69314718 0.        ] float64[2]
}
