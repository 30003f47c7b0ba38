package ragged_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A literal whose rows differ in length is a ragged tensor; numbers and options choose its element type.
func ExampleConst() {
	fmt.Println(tenon.Must(ragged.Const([][]int{{1, 2}, {}, {3}}, ragged.Options{})))
	fmt.Println(tenon.Must(ragged.Const([]any{[]any{1, 2.5}, []any{3}}, ragged.Options{DType: dtype.Float32})))
	// Output:
	// [[1 2] [] [3]] int64[3, ~]
	// [[1. 2.5] [3.]] float32[2, ~]
}

// One partition, said in the six ways that there are.
func ExamplePartitionFromRowSplits() {
	for _, p := range []*ragged.RowPartition{
		tenon.Must(ragged.PartitionFromRowSplits([]int64{0, 2, 4, 6}, ragged.PartitionOptions{})),
		tenon.Must(ragged.PartitionFromRowLengths([]int64{2, 2, 2}, ragged.PartitionOptions{})),
		tenon.Must(ragged.PartitionFromRowStarts([]int64{0, 2, 4}, ragged.PartitionOptions{NVals: 6})),
		tenon.Must(ragged.PartitionFromRowLimits([]int64{2, 4, 6}, ragged.PartitionOptions{})),
		tenon.Must(ragged.PartitionFromValueRowIDs([]int64{0, 0, 1, 1, 2, 2}, ragged.PartitionOptions{NRows: 3})),
		tenon.Must(ragged.PartitionFromUniformRowLength(2, ragged.PartitionOptions{NRows: 3})),
	} {
		fmt.Println(p.RowSplits())
	}
	// Output:
	// [0 2 4 6] int64[4]
	// [0 2 4 6] int64[4]
	// [0 2 4 6] int64[4]
	// [0 2 4 6] int64[4]
	// [0 2 4 6] int64[4]
	// [0 2 4 6] int64[4]
}

// What is not known is left open; what follows from the rest is filled in.
func ExampleNewPartitionSpec() {
	fmt.Println(ragged.NewPartitionSpec(dtype.Int64, 3, -1, 2))
	_, err := ragged.NewPartitionSpec(dtype.Int64, 3, 7, 2)
	fmt.Println(err != nil)
	// Output:
	// rows<int64>[3, 2] of 6 values <nil>
	// true
}

// Rows of numbers from 0 up to limits.
func ExampleRange() {
	fmt.Println(tenon.Must(ragged.Range([]int64{3, 0, 2}, nil, nil, ragged.RangeOptions{})))
	// Output:
	// [[0 1 2] [] [0 1]] int64[3, ~]
}

// The elements of a sparse matrix that stand at the left of its rows are rows.
func ExampleFromSparse() {
	at := tensor.Of([]int64{0, 0, 0, 1, 2, 0}, 3, 2)
	fmt.Println(tenon.Must(ragged.FromSparse(at, []int64{7, 8, 9}, []int64{3, 4}, dtype.None)))
	// Output:
	// [[7 8] [] [9]] int64[3, ~]
}

// All pairs of an entry of the one and an entry of the other, row by row, and where the entries stand.
func ExampleCartesian() {
	x, y := ragged.FromSlices([][]int64{{1, 2}, {3}}), ragged.FromSlices([][]string{{"a", "b"}, {}})
	for _, part := range tenon.Must(ragged.Cartesian([]tensor.Tensor{x, y}, 1, ragged.CartesianOptions{})) {
		fmt.Println(part)
	}
	for _, at := range tenon.Must(ragged.ArgCartesian([]tensor.Tensor{x, y}, 1, ragged.CartesianOptions{})) {
		fmt.Println(at)
	}
	// Output:
	// [[1 1 2 2] []] int64[2, ~]
	// [["a" "b" "a" "b"]
	//  []] string[2, ~]
	// [[0 0 1 1] []] int64[2, ~]
	// [[0 1 0 1] []] int64[2, ~]
}

// The pairs within each row, and where their entries stand.
func ExampleCombinations() {
	x := ragged.FromSlices([][]int64{{7, 8, 9}, {5}})
	for _, part := range tenon.Must(ragged.Combinations(x, 2, 1, ragged.CombinationOptions{})) {
		fmt.Println(part)
	}
	for _, at := range tenon.Must(ragged.ArgCombinations(x, 2, 1, ragged.CombinationOptions{Replacement: true})) {
		fmt.Println(at)
	}
	// Output:
	// [[7 7 8] []] int64[2, ~]
	// [[8 9 9] []] int64[2, ~]
	// [[0 0 0 1 1 2] [0]] int64[2, ~]
	// [[0 1 2 1 2 2] [0]] int64[2, ~]
}

// The means of the rows of a table that ids name.
func ExampleEmbeddingLookup() {
	table := tensor.Of([]float32{1, 10, 2, 20, 3, 30}, 3, 2)
	ids := ragged.FromSlices([][]int64{{0, 2}, {}, {1}})
	fmt.Println(tenon.Must(ragged.EmbeddingLookup(table, ids, ragged.EmbeddingOptions{})))
	fmt.Println(tenon.Must(ragged.EmbeddingLookup(table, ids, ragged.EmbeddingOptions{Combiner: ragged.MeanRows})))
	// Output:
	// [[[1. 10.] [3. 30.]] [] [[2. 20.]]] float32[3, ~, 2]
	// [[ 2. 20.]
	//  [ 0.  0.]
	//  [ 2. 20.]] float32[3, 2]
}

// Pairs of words of two lists as numbers below 100, the same everywhere.
func ExampleCrossHashed() {
	place := ragged.FromSlices([][]string{{"Rome"}, {"Oslo"}})
	when := ragged.FromSlices([][]string{{"May", "June"}, {}})
	y := tenon.Must(ragged.CrossHashed([]tensor.Tensor{place, when}, ragged.CrossOptions{Buckets: 100}))
	fmt.Println(tenon.Must(ragged.Num(y, 1)))
	// Output:
	// [2 0] int64[2]
}

// How often each number occurs in each row.
func ExampleBinCountRows() {
	fmt.Println(tenon.Must(ragged.BinCountRows(ragged.FromSlices([][]int64{{0, 2, 2}, {1}}), ragged.BinCountOptions{})))
	// Output:
	// [[1 0 2]
	//  [0 1 0]] int64[2, 3]
}

// Any function of plain tensors is applied to what is in the rows.
func ExampleMapFlatValues() {
	x := ragged.FromSlices([][]float64{{1, 4}, {9}})
	fmt.Println(tenon.Must(ragged.MapFlatValues(func(flat ...tensor.Tensor) tensor.Tensor { return ops.Sqrt(flat[0]) }, x)))
	// Output:
	// [[1. 2.] [3.]] float64[2, ~]
}

// A number for each row goes to everything in it.
func ExampleBroadcastRows() {
	xs := tenon.Must(ragged.BroadcastRows([]tensor.Tensor{ragged.FromSlices([][]int64{{1, 2}, {}, {3}}), tensor.Of([]int64{10, 20, 30})}, ragged.BroadcastRowsOptions{}))
	fmt.Println(xs[1])
	// Output:
	// [[10 10] [] [30]] int64[3, ~]
}

// Each row gets three entries: the ones that are added are missing.
func ExamplePadMissing() {
	x := ragged.FromSlices([][]int64{{1, 2}, {3, 4, 5, 6}})
	fmt.Println(tenon.Must(ragged.PadMissing(x, 3, 1, ragged.PadOptions{})))
	fmt.Println(tenon.Must(ragged.PadMissing(x, 3, 1, ragged.PadOptions{Clip: true})))
	// Output:
	// masked([[1 2 0] [3 4 5 6]] int64[2, ~], [[true true false] [true true true true]] bool[2, ~])
	// masked([[1 2 0] [3 4 5]] int64[2, 3], [[true true false] [true true true]] bool[2, 3])
}

// The characters of texts: as texts, as numbers, and with the byte at which each begins.
func ExampleSplitChars() {
	x := tensor.Of([]string{"né", "", "日"})
	fmt.Println(tenon.Must(ragged.SplitChars(x, "UTF-8", ops.UnicodeOptions{})))
	fmt.Println(tenon.Must(ragged.DecodeStrings(x, "UTF-8", ops.UnicodeOptions{})))
	_, offsets, err := ragged.DecodeStringsWithOffsets(x, "UTF-8", ops.UnicodeOptions{})
	fmt.Println(offsets, err)
	// Output:
	// [["n" "é"]
	//  []
	//  ["日"]] string[3, ~]
	// [[110 233] [] [26085]] int32[3, ~]
	// [[0 1] [] [0]] int64[3, ~] <nil>
}
