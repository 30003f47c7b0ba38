package howto

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func Example_stringsA() {
	texts := tensor.Of([]string{"The cat sat", "", "on the mat"})
	words := tenon.Must(ragged.SplitStrings(ops.StringLower(texts, ops.UnitChar), ops.SplitOptions{}))
	fmt.Println(words)
	// Output:
	// [["the" "cat" "sat"]
	//  []
	//  ["on" "the" "mat"]] string[3, ~]
}

func Example_stringsB() {
	words := ragged.FromSlices([][]string{{"the", "cat"}, {"the", "mat", "the"}})
	vocabulary, ids, counts, _ := ops.Unique(words.FlatValues())
	fmt.Println(vocabulary, counts)
	fmt.Println(tenon.Must(words.WithFlatValues(ids)))
	fmt.Println(ops.StringHash(words, 100, ops.HashOptions{}))
	// Output:
	// ["the" "cat" "mat"] string[3] [3 1 1] int64[3]
	// [[0 1] [0 2 0]] int64[2, ~]
	// [[54 96] [54 26 54]] int64[2, ~]
}

func Example_stringsC() {
	x := tensor.Of([]string{"tel 030-1234", "none"})
	fmt.Println(ops.StringRegexReplace(x, `\d+`, "#", ops.RegexReplaceOptions{}))
	fmt.Println(ops.StringRegexFullMatch(x, `.*\d.*`))
	// Output:
	// ["tel #-#" "none"] string[2]
	// [ true false] bool[2]
}

func Example_stringsD() {
	words := ragged.FromSlices([][]string{{"the", "cat", "sat"}, {"on"}})
	fmt.Println(ops.StringNGrams(words, []int{2}, ops.NGramOptions{Separator: " "}))
	// Output:
	// [["the cat" "cat sat"]
	//  []] string[2, ~]
}

func Example_stringsE() {
	x := ops.StringToNumber([]string{"1.5", "-2"}, dtype.Float64)
	fmt.Println(x, ops.AsString(x, ops.FormatOptions{}))
	// Output:
	// [ 1.5 -2. ] float64[2] ["1.500000" "-2.000000"] string[2]
}
