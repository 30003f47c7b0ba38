package graph

import (
	"context"

	"github.com/tenonml/tenon/profile"
)

// RunOptions change how the graphs of one call run. The zero value is the default.
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

type runOptionsKey struct{}

// WithRunOptions returns a context whose runs follow o.
func WithRunOptions(ctx context.Context, o RunOptions) context.Context {
	return context.WithValue(ctx, runOptionsKey{}, &o)
}

// RunOptionsOf returns the options of the runs under a context, nil where there are none.
// They are not changed.
func RunOptionsOf(ctx context.Context) *RunOptions {
	if ctx == context.Background() {
		return nil
	}
	o, _ := ctx.Value(runOptionsKey{}).(*RunOptions)
	return o
}
