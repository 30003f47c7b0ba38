//go:build amd64 && !purego

package par

func init() { pause = hint }

// hint lets a sibling hyperthread run, too. It stays an ordinary function with a stack check,
// where the scheduler can interrupt a spinning goroutine; inside the assembly it cannot.
//
//go:noinline
func hint() { pauses(2) }
