//go:build amd64 && !purego

package par

func init() { pause = hint }

// hint lets a sibling hyperthread run. It must remain an ordinary function with a stack
// check, in which the scheduler can preempt a spinning goroutine; it cannot in assembly.
//
//go:noinline
func hint() { pauses(2) }
