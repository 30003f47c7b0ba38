package mpi_test

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/dist/mpi"
)

// What most programs are: all ranks run the function, and an error of any of them is the status of the program.
func ExampleMain() {
	mpi.Main(dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
		fmt.Println("rank", c.Rank(), "of", c.Size())
		return nil
	})
	// Output:
	// rank 0 of 1
}
