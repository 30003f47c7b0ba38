package mpi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/dist/mpi"
	"github.com/tenonml/tenon/tensor"
)

// A program joins the group that its launcher has started. Without a launcher, it is a
// group of one. Most programs call Main instead, which ends the process with the right status.
func ExampleWorld() {
	c, err := mpi.World(dist.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close(context.Background())
	sum, err := c.AllReduce(context.Background(), ops.Add(tensor.Of([]int64{1, 2}), c.Rank()), dist.Sum)
	fmt.Println(c.Rank(), c.Size(), sum, err)
	// Output: 0 1 [1 2] int64[2] <nil>
}
