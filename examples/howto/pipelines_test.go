package howto

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func Example_pipelinesA() {
	a, b := dataset.FromSlice([]int{0, 1, 2, 3, 4, 5}), dataset.FromSlice([]int{100, 101})
	mixed := dataset.Mix(dataset.Last, dataset.Part[int]{Data: a, Weight: 3}, dataset.Part[int]{Data: b.Shuffle(1), Weight: 1})
	n, _ := mixed.Len()
	third, err := mixed.At(2)
	check(err)
	fmt.Println(n, third)
	// Output:
	// 8 2
}

func Example_pipelinesB() {
	rows := tenon.Must(ragged.FromRowLengths([]int64{1, 2, 3, 4, 5, 6, 7, 8}, []int64{3, 1, 2, 2}))
	bins := dataset.FromRows[tensor.Tensor](rows).Pack(dataset.PackOptions{Length: 4})
	for bin, err := range bins.All(context.Background()) {
		check(err)
		fmt.Println(bin)
	}
	// Output:
	// [[1 2 3] [4]] int64[2, ~]
	// [[5 6] [7 8]] int64[2, ~]
}

func Example_pipelinesC() {
	small := func(x int) (bool, error) { return x%3 == 0, nil }
	data := dataset.FromSlice([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).Filter(small).ShuffleWindow(2, 1)
	c, err := data.Cursor(context.Background(), nil)
	check(err)
	var before []int
	for x, err := range c.All() {
		check(err)
		if before = append(before, x); len(before) == 2 {
			break
		}
	}
	state, err := c.State()
	check(err)
	c.Close()

	c, err = data.Cursor(context.Background(), state) // in another process
	check(err)
	defer c.Close()
	for x, err := range c.All() {
		check(err)
		before = append(before, x)
	}
	all, err := data.Collect(context.Background())
	check(err)
	fmt.Println(slices.Equal(before, all), len(state) < 100)
	// Output:
	// true true
}

func Example_pipelinesD() {
	dir := filepath.Join(folder, "squares")
	squares := dataset.Map(dataset.FromSlice([]int64{1, 2, 3}), func(x int64) (tensor.Tensor, error) { return tensor.Scalar(x * x), nil })
	kept, err := squares.Cache(context.Background(), dir, "v1", dataset.CacheOptions{})
	check(err)
	x, err := kept.At(2)
	check(err)
	_, err = squares.Cache(context.Background(), dir, "v2", dataset.CacheOptions{})
	fmt.Println(x, errors.Is(err, tenon.ErrInvalid))
	// Output:
	// 9 int64[] true
}

func Example_pipelinesE() {
	rows := dataset.FromRows[tensor.Tensor](tensor.Of([]int64{0, 1, 2, 3, 4, 5, 6, 7}))
	batches := rows.Batch(4, dataset.BatchOptions{})
	for rank := range 2 {
		x, err := batches.Share(rank, 2).At(1)
		check(err)
		fmt.Println(rank, x)
	}
	// Output:
	// 0 [4 5] int64[2]
	// 1 [6 7] int64[2]
}
