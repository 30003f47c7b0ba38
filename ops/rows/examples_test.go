package rows_test

import (
	"fmt"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// The rows 3 1 2, nothing, and 5 4 are six values and their offsets.
var (
	values = tensor.Of([]int64{3, 1, 2, 5, 4})
	splits = tensor.Of([]int64{0, 3, 3, 5})
)

// Each row is summed up from its first value to its last, or the other way round.
func ExampleCumSum() {
	fmt.Println(rows.CumSum(values, splits, rows.CumOptions{}))
	fmt.Println(rows.CumSum(values, splits, rows.CumOptions{Reverse: true}))
	fmt.Println(rows.CumProd(values, splits, rows.CumOptions{Exclusive: true}))
	fmt.Println(rows.CumMax(values, splits, rows.CumOptions{}))
	fmt.Println(rows.CumMin(values, splits, rows.CumOptions{}))
	fmt.Println(rows.LogCumSumExp(ops.Log(tensor.Of([]float64{3, 1, 2, 5, 4})), splits, rows.CumOptions{}))
	// Output:
	// [3 4 6 5 9] int64[5]
	// [6 3 2 9 4] int64[5]
	// [1 3 3 1 5] int64[5]
	// [3 3 3 5 5] int64[5]
	// [3 1 1 5 4] int64[5]
	// [1.09861229 1.38629436 1.79175947 1.60943791 2.19722458] float64[5]
}

// A level that loses a part of itself in each step, and gets what comes in.
func ExampleLinearScan() {
	keep := tensor.Of([]float64{0.5, 0.5, 0.5, 0.5, 0.5})
	comes := tensor.Of([]float64{8, 0, 0, 4, 4})
	fmt.Println(rows.LinearScan(keep, comes, splits, false))
	// Output:
	// [8. 4. 2. 4. 6.] float64[5]
}

// Sort orders each row, and ArgSort says where its values were.
func ExampleSort() {
	fmt.Println(rows.Sort(values, splits, rows.SortOptions{}))
	fmt.Println(rows.ArgSort(values, splits, rows.SortOptions{Descending: true}))
	// Output:
	// [1 2 3 4 5] int64[5]
	// [0 2 1 0 1] int64[5]
}

// The last value of each row; the second row has none.
func ExamplePick() {
	items, found := rows.Pick(values, splits, -1, int64(-1))
	fmt.Println(items, found)
	// Output:
	// [ 2 -1  4] int64[3] [ true false  true] bool[3]
}

// Take reads values by their positions in their rows: two of the first row, none of the second, one of the third.
func ExampleTake() {
	at, lists := tensor.Of([]int64{2, 0, 1}), tensor.Of([]int64{0, 2, 2, 3})
	fmt.Println(rows.Take(values, at, lists, splits))
	// Output:
	// [2 3 4] int64[3]
}

// All rows get two values: longer ones are cut, shorter ones are filled up.
func ExampleToDense() {
	fmt.Println(rows.ToDense(values, splits, 2, int64(0)))
	// Output:
	// [[3 1]
	//  [0 0]
	//  [5 4]] int64[3, 2]
}

// The pairs of each row, by the positions of what is in them.
func ExampleCombinations() {
	pairs, index := rows.Combinations(splits, 2, rows.CombinationOptions{})
	fmt.Println(pairs)
	fmt.Println(ops.Gather(values, index[0], 0), ops.Gather(values, index[1], 0))
	// Output:
	// [0 3 3 4] int64[4]
	// [3 3 1 5] int64[4] [1 2 2 4] int64[4]
}

// Words that stand side by side, and all pairs of words of two lists, which hashing makes numbers of a bounded size.
func ExampleNGrams() {
	words := tensor.Of([]string{"to", "be", "or", "not", "to"})
	grams, of := rows.NGrams(words, splits, []int{2}, ops.NGramOptions{Separator: " "})
	fmt.Println(grams, of)
	hashes, of := rows.CrossHashed([]tensor.Tensor{words, words}, []tensor.Tensor{splits, splits}, "-", 10, ops.HashOptions{})
	fmt.Println(hashes.Shape(), of)
	// Output:
	// ["to be" "be or" "not to"] string[3] [0 2 2 3] int64[4]
	// [13] [ 0  9  9 13] int64[4]
}

// How often each number below six occurs in each row.
func ExampleBinCount() {
	fmt.Println(rows.BinCount(values, splits, 6, rows.BinCountOptions{}))
	// Output:
	// [[0 1 1 1 0 0]
	//  [0 0 0 0 0 0]
	//  [0 0 0 0 1 1]] int64[3, 6]
}

// Rows of numbers, from a start up to a limit.
func ExampleRange() {
	numbers, splits := rows.Range(tensor.Of([]int64{0, 5, 10}), tensor.Of([]int64{3, 5, 14}), tensor.Of([]int64{1, 1, 2}), dtype.Int64)
	fmt.Println(numbers, splits)
	// Output:
	// [ 0  1  2 10 12] int64[5] [0 3 3 5] int64[4]
}

// The rows 3 1 2 and 5 4, of which the second starts at position 1, are laid over each other and added.
func ExampleFold() {
	starts := tensor.Of([]int64{0, 0, 1})
	fmt.Println(rows.Fold(values, splits, starts, 3, rows.FoldSum))
	// Output:
	// [3 6 6] int64[3]
}

// The sums of the rows of a table that ids name, each times its weight.
func ExampleEmbeddingBag() {
	table := tensor.Of([]float32{1, 10, 2, 20, 3, 30}, 3, 2)
	ids, weights := tensor.Of([]int64{0, 2, 1}), tensor.Of([]float32{1, 0.5, 1})
	fmt.Println(rows.EmbeddingBag(table, ids, weights, tensor.Of([]int64{0, 2, 3})))
	// Output:
	// [[ 2.5 25. ]
	//  [ 2.  20. ]] float32[2, 2]
}

// Two products of matrices of different sizes: 1×2 with 2×1, and 2×1 with 1×1.
func ExampleMatMul() {
	a, aSizes := tensor.Of([]float64{1, 2, 3, 4}), tensor.Of([]int64{1, 2, 2, 1}, 2, 2)
	b, bSizes := tensor.Of([]float64{10, 20, 5}), tensor.Of([]int64{2, 1, 1, 1}, 2, 2)
	fmt.Println(rows.MatMul(a, b, aSizes, bSizes, false, false))
	// Output:
	// [50. 15. 20.] float64[3]
}
