//go:build amd64 && !purego

package par

// pause passes about 40 ns and lets a sibling hyperthread run. It stays an ordinary
// function with a stack check, where the scheduler can interrupt a spinning
// goroutine; inside the assembly it cannot.
//
//go:noinline
func pause() { pauses(2) }
