package howto

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
)

func Example_rowsA() {
	words := ragged.FromSlices([][]int64{{3, 1, 4}, {}, {1, 5}})
	same := tenon.Must(ragged.FromRowLengths([]int64{3, 1, 4, 1, 5}, []int64{3, 0, 2}))
	padded := tenon.Must(ragged.FromDense([][]int64{{3, 1, 4}, {0, 0, 0}, {1, 5, 0}}, ragged.FromDenseOptions{Padding: 0}))
	fmt.Println(words, words.Spec())
	fmt.Println(same, padded)
	// Output:
	// [[3 1 4] [] [1 5]] int64[3, ~] int64[3, ~]
	// [[3 1 4] [] [1 5]] int64[3, ~] [[3 1 4] [] [1 5]] int64[3, ~]
}

func Example_rowsB() {
	prices := ragged.FromSlices([][]float64{{3.5, 8}, {}, {4}})
	fmt.Println(ops.Sum(prices, 1), ops.Mean(prices, 1))
	fmt.Println(tenon.Must(prices.RowLengths(1)))
	// Output:
	// [11.5  0.   4. ] float64[3] [5.75  nan 4.  ] float64[3]
	// [2 0 1] int64[3]
}

func Example_rowsC() {
	prices := ragged.FromSlices([][]float64{{3, 9}, {}, {4, 4, 1}})
	share := ops.Div(prices, ops.SumKeep(prices, 1))
	fmt.Println(share)
	// Output:
	// [[0.25 0.75] [] [0.4444444444444444 0.4444444444444444 0.1111111111111111]] float64[3, ~]
}

func Example_rowsD() {
	scores := ragged.FromSlices([][]float64{{0.9, 0.2}, {0.1}, {0.8, 0.7, 0.3}})
	high := ops.Greater(scores, 0.5)
	fmt.Println(tenon.Must(ragged.BooleanMask(scores, high)))
	fmt.Println(ops.Any(high, 1))
	// Output:
	// [[0.9] [] [0.8 0.7]] float64[3, ~]
	// [ true false  true] bool[3]
}

func Example_rowsE() {
	scores := ragged.FromSlices([][]float64{{0.2, 0.9}, {0.1}, {0.8, 0.3, 0.7}})
	fmt.Println(ops.Sort(scores, 1, ops.SortOptions{Descending: true}))
	best, at := ops.TopK(scores, 2, 1)
	fmt.Println(best, at)
	// Output:
	// [[0.9 0.2] [0.1] [0.8 0.7 0.3]] float64[3, ~]
	// [[0.9 0.2] [0.1] [0.8 0.7]] float64[3, ~] [[1 0] [0] [0 2]] int64[3, ~]
}

func Example_rowsF() {
	words := ragged.FromSlices([][]int64{{3, 1, 4}, {}, {1, 5}})
	dense := tenon.Must(words.ToDense(ragged.DenseOptions{Default: -1}))
	fmt.Println(dense)
	fmt.Println(tenon.Must(ragged.FromDense(dense, ragged.FromDenseOptions{Padding: -1})))
	// Output:
	// [[ 3  1  4]
	//  [-1 -1 -1]
	//  [ 1  5 -1]] int64[3, 3]
	// [[3 1 4] [] [1 5]] int64[3, ~]
}

func Example_rowsG() {
	jets := ragged.FromSlices([][]string{{"a", "b", "c"}, {"d"}, {"e", "f"}})
	pairs := tenon.Must(ragged.Combinations(jets, 2, 1, ragged.CombinationOptions{}))
	fmt.Println(ops.StringJoin(pairs, "+"))
	// Output:
	// [["a+b" "a+c" "b+c"]
	//  []
	//  ["e+f"]] string[3, ~]
}
