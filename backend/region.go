package backend

import (
	"context"

	"github.com/tenonml/tenon/graph"
)

type contextKey struct{}

// With returns a context whose runs use b. Runs started by kernels, such as those of loop bodies,
// use it too.
func With(ctx context.Context, b Backend) context.Context {
	if Of(ctx) == b {
		return ctx
	}
	return context.WithValue(ctx, contextKey{}, b)
}

// Of returns the Backend of a context, or [Default] if it has none.
func Of(ctx context.Context) Backend {
	if ctx != context.Background() {
		if b, ok := ctx.Value(contextKey{}).(Backend); ok {
			return b
		}
	}
	return Default
}

// programKey is the key under which a graph stores the Program of a Backend.
type programKey struct{ b Backend }

type compiled struct {
	p   Program
	err error
}

// Region returns the Program of a node's region for the Backend of the context. It is compiled when
// it is first requested.
func Region(ctx context.Context, g *graph.Graph) (Program, error) {
	b := Of(ctx)
	c := g.Memo(programKey{b}, func() any {
		p, err := b.Compile(g, Options{Region: true})
		return compiled{p, err}
	}).(compiled)
	return c.p, c.err
}
