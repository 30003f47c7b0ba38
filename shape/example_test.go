package shape_test

import (
	"fmt"

	"github.com/tenonml/tenon/shape"
)

func Example() {
	batch := shape.Of(shape.Unknown, 3) // any number of rows of 3
	fmt.Println(batch, batch.Rank(), batch.Size())
	fmt.Println(shape.Of(2, 3).SubtypeOf(batch))
	fmt.Println(shape.Join(shape.Of(2, 3), shape.Of(2, 4)))
	fmt.Println(shape.Broadcast(batch, shape.Of(5, 1)))
	// Output:
	// [?, 3] 2 -1
	// true
	// [2, ?]
	// [5, 3] <nil>
}
