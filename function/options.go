package function

import (
	"context"

	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/profile"
)

// RunOptions change how the calls under a context run. The zero value is the default.
type RunOptions struct {
	// Progress is called before each step of a function's graph, and at the end.
	Progress func(done, total int)

	// Profile gets the time and memory of every step, those in branches and loops too.
	Profile *profile.Profile

	// MemoryLimit, if it is positive, is the number of bytes that results which are
	// needed at one time may take. A graph whose sizes are known not to fit is
	// refused before it runs, any other stops at the step that exceeds the limit.
	MemoryLimit int64

	// CheckNumerics stops a run at the first operation whose result has a NaN or an
	// infinity where its operands have none, with an error that names the operation,
	// the user's line, and the first such element.
	CheckNumerics bool
}

// WithOptions returns a context whose calls follow o: those of [Function.CallContext],
// and of functions with a parameter of the type context.Context.
func WithOptions(ctx context.Context, o RunOptions) context.Context {
	return interp.WithOptions(ctx, interp.Options(o))
}
