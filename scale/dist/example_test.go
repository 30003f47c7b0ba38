package dist_test

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/scale/dist"
)

func Example() {
	err := dist.Simulate(context.Background(), 3, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
		// Each rank has some rows of ragged data, of different sizes.
		rows := [][][]float32{{{1, 2}}, {{3}, {}}, {{4, 5, 6}}}[c.Rank()]
		x := ragged.FromSlices(rows)

		sum, err := c.AllReduce(ctx, ops.Sum(x), dist.Sum)
		if err != nil {
			return err
		}
		all, err := dist.Collect(ctx, c, x)
		if err != nil {
			return err
		}
		joined, err := all.Join()
		if c.Rank() == 0 && err == nil {
			fmt.Println(sum)
			fmt.Println(joined)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 21.0 float32[]
	// [[1. 2.] [3.] [] [4. 5. 6.]] float32[4, ~]
	// <nil>
}
