package function

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/batching"
)

// Vectorize returns a function that applies f, written for one example, to every
// row of its argument at once. See control.Map for the meaning of rows. It throws
// errors.
func Vectorize[X, Y any](f func(X) Y) func(X) Y {
	return func(xs X) Y { return tenon.Must(batching.Run("function.Vectorize", f, xs)) }
}
