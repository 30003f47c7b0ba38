package graph

import (
	"context"

	"github.com/tenonml/tenon/profile"
)

// RunOptions say how the graphs of a call run. The zero value is the default.
type RunOptions struct {
	// Progress is called before each step of a function's graph, and at the end.
	Progress func(done, total int)

	// Profile collects the time and memory of every step, including those in branches and loops.
	Profile *profile.Profile

	// MemoryLimit, if positive, limits the number of bytes of the results that are live at the same
	// time. A graph whose sizes are known not to fit is rejected before it runs; any other stops at
	// the step that exceeds the limit.
	MemoryLimit int64

	// CheckNumerics stops a run at the first operation whose result contains a NaN or an infinity
	// that its operands do not. The error names the operation, the user's line, and the first such
	// element.
	CheckNumerics bool
}

type runOptionsKey struct{}

// WithRunOptions returns a context whose runs follow o.
func WithRunOptions(ctx context.Context, o RunOptions) context.Context {
	return context.WithValue(ctx, runOptionsKey{}, &o)
}

// RunOptionsOf returns the options of the runs under a context, or nil if there are none. They must
// not be changed.
func RunOptionsOf(ctx context.Context) *RunOptions {
	if ctx == context.Background() {
		return nil
	}
	o, _ := ctx.Value(runOptionsKey{}).(*RunOptions)
	return o
}
