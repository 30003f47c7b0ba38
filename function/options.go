package function

import (
	"context"

	"github.com/tenonml/tenon/graph"
)

// RunOptions say how the calls under a context run: what they report, and when they stop. The zero
// value is the default.
type RunOptions = graph.RunOptions

// WithOptions returns a context whose calls follow o: calls of [Function.CallContext], and of
// functions with a parameter of type context.Context.
func WithOptions(ctx context.Context, o RunOptions) context.Context {
	return graph.WithRunOptions(ctx, o)
}
