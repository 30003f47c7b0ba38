package dataset_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// all returns the elements of a dataset.
func all[T any](d *dataset.Dataset[T]) []T {
	var out []T
	for x, err := range d.All(context.Background()) {
		if err != nil {
			panic(err)
		}
		out = append(out, x)
	}
	return out
}

// Elements by their number, which goroutines ask for in any order.
func ExampleFromFunc() {
	squares := dataset.FromFunc(5, func(i int64) (int64, error) { return i * i, nil })
	fmt.Println(all(squares))
	// Output:
	// [0 1 4 9 16]
}

// Three blocks of rows, such as the row groups of a file: each is read whole, and its rows are the elements.
func ExampleFromBlocks() {
	read := func(block int64) (tensor.Tensor, error) {
		return ops.Range(10*block, 10*block+[]int64{2, 0, 1}[block], 1), nil
	}
	d := dataset.FromBlocks([]int64{2, 0, 1}, read, dataset.BlockOptions{Name: func(block int64) string { return fmt.Sprint("block ", block) }})
	fmt.Println(all(d))
	// Output:
	// [0 int64[] 1 int64[] 20 int64[]]
}

// Several elements of each, and running sums of all.
func ExampleFlatMap() {
	lines := dataset.FromSlice([]string{"to be", "or not"})
	words := dataset.FlatMap(lines, 0, func(line string) ([]string, error) { return strings.Fields(line), nil })
	fmt.Println(all(words))
	lengths := dataset.Scan(words, 0, func(sum int, word string) (int, int, error) { return sum + len(word), sum + len(word), nil })
	fmt.Println(all(lengths))
	// Output:
	// [to be or not]
	// [2 4 6 9]
}

// Noise that is the same whoever computes it and whenever, since its key is that of the element.
func ExampleMapIndexed() {
	noisy := dataset.MapIndexed(dataset.FromSlice([]float32{0, 0}), 7, func(i dataset.Index, x float32) (tensor.Tensor, error) {
		return ops.Add(x, ops.RandomNormal(i.Key(), []int{1}, dtype.Float32)), nil
	})
	first, again := all(noisy), all(noisy)
	fmt.Println(tensor.Equal(first[0], again[0]), tensor.Equal(first[0], first[1]))
	// Output:
	// true false
}

// Two elements of each dataset in turn, of which two are open at once.
func ExampleCycle() {
	list := []*dataset.Dataset[string]{dataset.FromSlice([]string{"a1", "a2", "a3"}), dataset.FromSlice([]string{"b1"}), dataset.FromSlice([]string{"c1", "c2"})}
	fmt.Println(all(dataset.Cycle(list, dataset.CycleOptions{Open: 2, Run: 2})))
	// Output:
	// [a1 a2 b1 c1 c2 a3]
}

// Folds in which each class has its share.
func ExampleFoldsBy() {
	d := dataset.FromSlice([]string{"cat 1", "cat 2", "dog 1", "dog 2"})
	for _, f := range dataset.FoldsBy(d, 2, func(s string) (string, error) { return s[:3], nil }) {
		fmt.Println(all(f.Train), all(f.Test))
	}
	// Output:
	// [cat 2 dog 2] [cat 1 dog 1]
	// [cat 1 dog 1] [cat 2 dog 2]
}
