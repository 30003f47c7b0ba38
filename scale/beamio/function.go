package beamio

import (
	"context"
	"fmt"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
)

// A Function is a function of the Value of a batch, which workers look up by name.
type Function struct {
	name string
	call func(ctx context.Context, x tenon.Value) (tenon.Value, error)
}

// Name returns the name under which the function was defined.
func (f *Function) Name() string { return f.name }

var defined sync.Map // name → *Function

// Traced defines a function that is traced once for each Spec of its argument, regardless of sizes, and then runs as a
// graph. Call it to initialize package-level variables, because workers must define the same functions. It throws an
// error if the name is taken.
func Traced[X, Y tenon.Value](name string, f func(X) Y) *Function {
	traced := function.New(f, function.Options{Name: name, RelaxAfter: 1})
	return define(name, func(ctx context.Context, x X) (tenon.Value, error) {
		out, err := traced.CallContext(ctx, x)
		if err != nil {
			return nil, err
		}
		return out[0].(tenon.Value), nil
	})
}

// Go defines a function that is run as it is, such as one that parses messages. Call it like Traced.
func Go[X, Y tenon.Value](name string, f func(ctx context.Context, x X) (Y, error)) *Function {
	return define(name, func(ctx context.Context, x X) (y tenon.Value, err error) {
		defer tenon.Catch(&err)
		return f(ctx, x)
	})
}

func define[X tenon.Value](name string, f func(ctx context.Context, x X) (tenon.Value, error)) *Function {
	d := &Function{name, func(ctx context.Context, x tenon.Value) (tenon.Value, error) {
		v, ok := x.(X)
		if !ok {
			e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "beamio", Where: fmt.Sprintf("function %q", name)}
			e.Msg = fmt.Sprintf("it takes a %T, and the batch is %s", *new(X), tenon.String(x.Spec()))
			return nil, e
		}
		return f(ctx, v)
	}}
	if _, taken := defined.LoadOrStore(name, d); taken {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "beamio", fmt.Sprintf("two functions are called %q", name)))
	}
	return d
}

// apply calls a function on a batch.
func apply(ctx context.Context, name string, b Batch) (Batch, error) {
	d, ok := defined.Load(name)
	if !ok {
		e := tenon.NewError(tenon.ErrNotFound, "beamio", fmt.Sprintf("this worker has no function %q", name))
		e.Hint = "define it as a package-level variable, so that every process of the program has it"
		return b, e
	}
	v, err := d.(*Function).call(ctx, b.Value)
	if err != nil {
		return b, fmt.Errorf("beamio: function %q, batch %d of file %d: %w", name, b.Number&(1<<32-1), b.Number>>32, err)
	}
	return Batch{b.Number, v}, nil
}

// Map returns the batches that a function makes, one from each batch. They keep their numbers.
func Map(s beam.Scope, f *Function, in beam.PCollection) beam.PCollection {
	return beam.ParDo(s.Scope("beamio.Map "+f.name), &mapFn{f.name}, in)
}

// mapFn calls a function on each batch.
type mapFn struct{ Function string }

// ProcessElement is what Beam calls.
func (f *mapFn) ProcessElement(ctx context.Context, b Batch, emit func(Batch)) error {
	out, err := apply(ctx, f.Function, b)
	if err == nil {
		emit(out)
	}
	return err
}

func init() { register.DoFn3x1[context.Context, Batch, func(Batch), error](&mapFn{}) }
