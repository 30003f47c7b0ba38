package howto

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
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

func Example_buckets() {
	rows := tenon.Must(ragged.FromRowLengths([]int64{1, 2, 3, 4, 5, 6, 7, 8}, []int64{3, 1, 2, 2}))
	length := func(x tensor.Tensor) (int, error) { return x.Shape().Dim(0), nil }
	buckets := dataset.FromRows[tensor.Tensor](rows).Bucket(length, dataset.BucketOptions{
		Bounds: []int{3, 5}, Sizes: []int{2, 2, 1}, // below 3, below 5, and all others
		Batch: dataset.BatchOptions{Kind: dataset.Padded}, PadToBound: []string{""},
	})
	for batch, err := range buckets.All(context.Background()) {
		check(err)
		fmt.Println(batch.Shape(), tensor.Data[int64](batch))
	}
	// Output:
	// [2, 2] [4 0 5 6]
	// [1, 2] [7 8]
	// [1, 4] [1 2 3 0]
}

func Example_parts() {
	data := dataset.FromSlice([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).Shuffle(1)
	odd := func(x int) (bool, error) { return x%2 == 1, nil }
	parts := dataset.SplitBy(data, odd, 0.6, 0.4)
	for _, p := range parts {
		list, err := p.Collect(context.Background())
		check(err)
		slices.Sort(list)
		fmt.Println(list)
	}
	for _, fold := range data.Folds(5)[:2] {
		train, _ := fold.Train.Len()
		test, _ := fold.Test.Len()
		fmt.Println(train, test)
	}
	// Output:
	// [0 1 2 5 6 7]
	// [3 4 8 9]
	// 8 2
	// 8 2
}

func Example_tracedLoop() {
	rows := dataset.FromRows[tensor.Tensor](tensor.Of([]float64{1, 2, 3, 4, 5, 6}))
	batches := rows.Repeat(0).Batch(2, dataset.BatchOptions{}).Prefetch(2)
	step := func(w, batch tensor.Tensor) tensor.Tensor {
		slope := grad.Of(func(w tensor.Tensor) tensor.Tensor { return ops.Mean(ops.Square(ops.Sub(batch, w))) })(w)
		return ops.Sub(w, ops.Mul(slope, 0.1))
	}
	epoch := function.New(func(w, first tensor.Tensor) tensor.Tensor {
		return dataset.Reduce(batches, w, step, dataset.ReduceOptions{From: first, Count: 30})
	})
	w := tensor.Tensor(tensor.Scalar(0.0))
	for i := range int64(3) {
		w = epoch.Call(w, tensor.Scalar(30*i))
	}
	fmt.Printf("%.1f\n", tensor.Item[float64](w))
	// Output:
	// 3.8
}

func Example_failures() {
	data := dataset.FromSlice([]int{1, 2, 0, 4}).Map(func(x int) (int, error) {
		if x == 0 {
			return 0, errors.New("a zero")
		}
		return 12 / x, nil
	}).Prefetch(2)
	_, err := data.Collect(context.Background())
	fmt.Println(err)
	some := data.SkipErrors(1, func(e *dataset.ElementError) { fmt.Println("left out:", e.Index) })
	stats := some.Measure()
	list, err := some.Collect(context.Background())
	check(err)
	fmt.Println(list)
	for _, s := range stats.Stages() {
		fmt.Println(s.Name, s.Elements)
	}
	// Output:
	// dataset: element 2: a zero
	// left out: 2
	// [12 6 3]
	// SkipErrors 3
	// Prefetch 4
	// Map 4
	// FromSlice 4
}
