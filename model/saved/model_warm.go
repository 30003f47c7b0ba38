package saved

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/profile"
)

// AddWarmUp stores arguments in the model with which the function can be called before requests
// arrive ([Model.WarmUp]). They are also an example of what it takes.
func (f *Func) AddWarmUp(args ...any) error {
	v, in, err := f.bind(args)
	if err != nil {
		return err
	}
	leaves, err := packed(v.args, in)
	if err != nil {
		return err
	}
	return v.addWarmUp(leaves)
}

// addWarmUp adds the leaves of arguments, which must fit the variant.
func (v *variant) addWarmUp(leaves []any) error {
	given := map[string]any{}
	for i, l := range v.args {
		given[l.Path.String()] = leaves[i]
	}
	if _, err := v.take(given); err != nil {
		return err
	}
	v.warmUps = append(v.warmUps, leaves)
	return nil
}

// WarmUps returns the warm-up inputs of variant i: arguments for [Func.Call].
func (f *Func) WarmUps(i int) ([][]any, error) {
	v := f.variants[i]
	out := make([][]any, len(v.warmUps))
	for n, leaves := range v.warmUps {
		var err error
		if out[n], err = built(v.args, leaves); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// WarmUp calls the functions with their warm-up inputs, so that later calls are not delayed.
// Variables do not change.
func (m *Model) WarmUp() error {
	for _, f := range m.functions {
		for _, v := range f.variants {
			if err := v.warmUp(context.Background()); err != nil {
				return &tenon.Error{Kind: tenon.AsError(err).Kind, Op: "saved.Model.WarmUp", Where: f.name, Err: err, Line: source.Line()}
			}
		}
	}
	return nil
}

// warmUp calls a variant with its warm-up inputs, without its effects.
func (v *variant) warmUp(ctx context.Context) error {
	for _, leaves := range v.warmUps {
		given := map[string]any{}
		for i, l := range v.args {
			given[l.Path.String()] = leaves[i]
		}
		in, err := v.take(given)
		if err == nil {
			_, err = v.run(ctx, in, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Compiled returns the graph of variant i after optimisation, as it runs.
func (f *Func) Compiled(i int) (*graph.Graph, error) {
	p, err := f.variants[i].program()
	if err != nil {
		return nil, err
	}
	return p.Graph(), nil
}

// Measure runs variant i twice for each of its warm-up inputs, and returns measurements of the
// second runs: the time and memory of each node of [Func.Compiled]. Variables do not change.
// Without warm-up inputs nothing is measured.
func (f *Func) Measure(ctx context.Context, i int) (*profile.Profile, error) {
	var p profile.Profile
	v := f.variants[i]
	err := v.warmUp(ctx)
	if err == nil {
		err = v.warmUp(graph.WithRunOptions(ctx, graph.RunOptions{Profile: &p}))
	}
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.AsError(err).Kind, Op: "saved.Func.Measure", Where: f.name, Err: err, Line: source.Line()}
	}
	return &p, nil
}

// warmUpName is the name, in their file, of leaf i of the nth warm-up inputs.
func warmUpName(n, i int) string { return fmt.Sprintf("w%d_%d", n, i) }

// warmUpTree returns the contents of the file of warm-up inputs.
func (v *variant) warmUpTree() map[string]any {
	tree := map[string]any{}
	for n, leaves := range v.warmUps {
		for i, x := range leaves {
			if v.args[i].Spec != nil {
				tree[warmUpName(n, i)] = x
			}
		}
	}
	return tree
}
