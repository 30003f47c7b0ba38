// Command stranger calls the functions of a model, and fine-tunes it, without the code or the types with
// which the model was made: Values of unknown types are opaque.
//
//	stranger MODEL ARGS RESULTS TUNED
//
// ARGS holds the arguments of each function by the function's name and their places (scale[0],
// encode[0].Tokens), RESULTS receives the results under such names. A function whose name begins with loss,
// with a number as its only result, is minimized for a few steps, and the model with the new variables is
// written to TUNED. The exit status is 1 if something fails.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"

	_ "github.com/tenonml/tenon/control" // operations that models use
	_ "github.com/tenonml/tenon/ops/rows"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "stranger MODEL ARGS RESULTS TUNED")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The rate and number of steps of gradient descent.
const (
	rate  = 0.01
	steps = 3
)

func run(model, args, results, tuned string) error {
	m, err := saved.OpenModel(model)
	if err != nil {
		return err
	}
	given, err := saved.Open(args)
	if err != nil {
		return err
	}
	defer given.Close()
	out := map[string]any{}
	for _, f := range m.Functions() {
		in, err := arguments(f, given)
		if err != nil {
			return err
		}
		if strings.HasPrefix(f.Name(), "loss") {
			if err := descend(m, f, in); err != nil {
				return fmt.Errorf("%s: %w", f.Name(), err)
			}
			continue
		}
		res, err := f.Call(in...)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		out[f.Name()] = res
	}
	if err := saved.Write(results, out); err != nil {
		return err
	}
	return m.Save(tuned)
}

// arguments reads the arguments of a function by their places. An argument made of several Values
// is a map of them.
func arguments(f *saved.Func, given *saved.File) ([]any, error) {
	var in []any
	for _, l := range f.Args(0) {
		v, err := given.Value(f.Name() + l.Path.String())
		if err != nil {
			return nil, err
		}
		i := l.Path[0].(int)
		for len(in) <= i {
			in = append(in, nil)
		}
		if len(l.Path) == 1 {
			in[i] = v
			continue
		}
		fields, ok := in[i].(map[string]any)
		if !ok {
			fields = map[string]any{}
			in[i] = fields
		}
		fields[l.Path[1:].String()] = v
	}
	return in, nil
}

// descend takes steps of gradient descent on a loss.
func descend(m *saved.Model, f *saved.Func, in []any) error {
	gradient := grad.Of(func(p map[string]tensor.Tensor) tensor.Tensor {
		return tenon.Must(f.CallWith(p, in...))[0].(tensor.Tensor)
	})
	for range steps {
		p := m.Parameters()
		g, err := tenon.Try(func() map[string]tensor.Tensor { return gradient(p) })
		if err != nil {
			return err
		}
		for path := range p {
			p[path] = ops.Sub(p[path], ops.Mul(g[path], rate))
		}
		if err := m.SetParameters(p); err != nil {
			return err
		}
	}
	return nil
}
