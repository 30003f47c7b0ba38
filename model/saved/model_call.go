package saved

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// ready makes a variant callable. The graph becomes an ordinary function: it can be traced into
// other functions and differentiated. With data, the graph is run directly.
func (v *variant) ready() {
	v.traced = function.New(func(in []tensor.Tensor) []tensor.Tensor {
		return v.inline(v.withCaptures(in))
	}, function.Options{Name: v.graph.Name})
	v.program = sync.OnceValues(func() (backend.Program, error) {
		return backend.Default.Compile(v.graph, backend.Options{})
	})
}

// withCaptures returns the inputs of the graph, given those of the function.
func (v *variant) withCaptures(in []tensor.Tensor) []tensor.Tensor {
	for _, c := range v.captures {
		if c.variable != nil {
			in = append(in, c.variable.v)
		} else {
			in = append(in, c.constant)
		}
	}
	return in
}

// run runs the variant on tensors, with or without its effects.
func (v *variant) run(ctx context.Context, in []tensor.Tensor, effects bool) (out []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	all, ok := v.data(in)
	if !ok {
		return v.traced.Call(in), nil
	}
	p, err := v.program()
	if err != nil {
		return nil, err
	}
	if out, err = p.Run(ctx, all); err != nil {
		return nil, err
	}
	n := len(out) - len(v.effects)
	for i, e := range v.effects {
		if effects {
			if err := e.have(out[n+i]); err != nil {
				return nil, err
			}
		}
	}
	return out[:n], nil
}

// data returns the inputs of the graph as data. It returns false if one of them is not data,
// for instance in a trace, or is not what the graph was checked for.
func (v *variant) data(in []tensor.Tensor) ([]tensor.Tensor, bool) {
	if graph.Current() != nil || len(in)+len(v.captures) != len(v.graph.Params) {
		return nil, false
	}
	all := slices.Grow(slices.Clone(in), len(v.captures))
	for _, c := range v.captures {
		t := c.constant
		if c.variable != nil {
			t = c.variable.v.Value()
		}
		all = append(all, t)
	}
	for i, t := range all {
		if x, ok := t.(*state.Variable); ok {
			t = x.Value()
			all[i] = t
		}
		switch t.(type) {
		case *tensor.Dense, *tensor.Strings:
		default:
			return nil, false // it is being recorded, for instance for a gradient
		}
		if p := v.graph.Params[i]; t.DType() != p.DType() || !t.Shape().CompatibleWith(p.Shape()) {
			return nil, false
		}
	}
	return all, true
}

// have carries out the effect.
func (e effect) have(t tensor.Tensor) error {
	if e.add {
		return e.variable.v.Add(t)
	}
	return e.variable.v.Assign(t)
}

// Call calls the function. Arguments are any nests whose leaves have the paths of [Func.Args];
// a struct and a map with the same names are equivalent. A Value of a type that this program
// does not know is passed as a [tenon.OpaqueValue], or as a map of its components by name.
//
// A result that is a single Value is returned as that Value. Structures are returned as maps by
// name (map[string]any) and lists ([]any); see [As] for Go types.
func (f *Func) Call(args ...any) ([]any, error) {
	v, in, err := f.bind(args)
	if err != nil {
		return nil, err
	}
	out, err := v.run(context.Background(), in, true)
	if err != nil {
		return nil, err
	}
	leaves, err := packed(v.results, out)
	if err != nil {
		return nil, err
	}
	return built(v.results, leaves)
}

// bind finds the variant for the arguments, and their tensors.
func (f *Func) bind(args []any) (*variant, []tensor.Tensor, error) {
	given, err := leavesAt(args)
	if err != nil {
		return nil, nil, err
	}
	var why []string
	for _, v := range f.variants {
		in, err := v.take(given)
		if err == nil {
			return v, in, nil
		}
		why = append(why, err.Error())
	}
	e := &tenon.Error{Kind: tenon.ErrDType, Op: f.name, Msg: strings.Join(why, "; "), Line: source.Line(), Hint: "the function is " + f.String()}
	return nil, nil, e
}

// take returns the tensors of the arguments, by path.
func (v *variant) take(given map[string]any) ([]tensor.Tensor, error) {
	var in []tensor.Tensor
	used := 0
	for _, l := range v.args {
		place := l.Path.String()
		x, ok := given[place]
		switch {
		case l.Spec == nil:
			if !ok || !samePlain(x, l.Plain) {
				return nil, fmt.Errorf("argument %s is %v, but the function was saved for %v", place, x, l.Plain)
			}
			used++
		case ok:
			ts, err := taken(x, l.Spec)
			if err != nil {
				return nil, fmt.Errorf("argument %s %w", place, err)
			}
			in = append(in, ts...)
			used++
		default:
			ts, n, err := components(given, place, l.Spec)
			if err != nil {
				return nil, err
			}
			in = append(in, ts...)
			used += n
		}
	}
	if used < len(given) {
		return nil, fmt.Errorf("the function has no place for %d leaves of the arguments", len(given)-used)
	}
	return in, v.sameSizes(given)
}

// samePlain compares plain data by value, because a stored number loses its Go type.
func samePlain(a, b any) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.CanInt() && y.CanInt():
		return x.Int() == y.Int()
	case x.CanUint() && y.CanUint():
		return x.Uint() == y.Uint()
	case x.CanFloat() && y.CanFloat():
		return x.Float() == y.Float()
	}
	return x.Kind() == y.Kind() && fmt.Sprint(a) == fmt.Sprint(b)
}

// taken returns the tensors of which a Value of a Spec is made.
func taken(x any, s tenon.Spec) ([]tensor.Tensor, error) {
	v, ok := x.(tenon.Value)
	if !ok {
		t, err := tensor.Convert(x)
		if err != nil {
			return nil, fmt.Errorf("is a %T, want %s", x, tenon.String(s))
		}
		v = t
	}
	if !tenon.Compatible(v.Spec(), s) {
		return nil, fmt.Errorf("is %s, want %s", tenon.String(v.Spec()), tenon.String(s))
	}
	return apart(v, s)
}

// apart returns the tensors of a Value by a Spec that it is compatible with. An earlier version of
// the Value's type may have other components.
func apart(v tenon.Value, s tenon.Spec) ([]tensor.Tensor, error) {
	if t, ok := v.(tensor.Tensor); ok && tenon.IsLeaf(s) {
		return []tensor.Tensor{t}, nil
	}
	parts, err := s.Disassemble(v)
	if err == nil {
		err = tenon.CheckComponents(s, parts)
	}
	if err != nil {
		return nil, fmt.Errorf("is %s, want %s: %w", tenon.String(v.Spec()), tenon.String(s), err)
	}
	var out []tensor.Tensor
	for k, f := range s.Components() {
		ts, err := apart(parts[k], f.Spec)
		if err != nil {
			return nil, err
		}
		out = append(out, ts...)
	}
	return out, nil
}

// components returns the components of a Value of a Spec, which are given by name below its
// path, and how many of them were found.
func components(given map[string]any, place string, s tenon.Spec) (out []tensor.Tensor, n int, err error) {
	fields := s.Components()
	if len(fields) == 0 {
		return nil, 0, fmt.Errorf("argument %s is missing, want %s", place, tenon.String(s))
	}
	for _, f := range fields {
		at := below(place, f.Name)
		x, ok := given[at]
		if !ok {
			ts, k, err := components(given, at, f.Spec)
			if err != nil {
				return nil, 0, err
			}
			out, n = append(out, ts...), n+k
			continue
		}
		ts, err := taken(x, f.Spec)
		if err != nil {
			return nil, 0, fmt.Errorf("argument %s %w", at, err)
		}
		out, n = append(out, ts...), n+1
	}
	return out, n, nil
}

// packed assembles the Values of leaves from tensors. A graph from elsewhere may compute
// something else than its Specs say, so its results are compared with them.
func packed(leaves []function.Leaf, ts []tensor.Tensor) ([]any, error) {
	out := make([]any, len(leaves))
	for i, l := range leaves {
		if l.Spec == nil {
			out[i] = l.Plain
			continue
		}
		specs, err := leafSpecs(l.Spec)
		if err != nil {
			return nil, err
		}
		v, err := whole(l.Spec, specs, ts[:len(specs)])
		if err != nil {
			return nil, &tenon.Error{Kind: tenon.AsError(err).Kind, Op: "saved.Func", Where: "result " + l.Path.String(), Err: err, Line: source.Line()}
		}
		out[i], ts = v, ts[len(specs):]
	}
	return out, nil
}

// leafSpecs returns the Specs of the tensors of which a Value of a Spec is made.
func leafSpecs(s tenon.Spec) ([]any, error) {
	if tenon.IsLeaf(s) {
		return []any{s}, nil
	}
	return nest.Flatten(s, nest.Options{Expand: true})
}

// whole returns the Value of a Spec that is made of tensors.
func whole(s tenon.Spec, specs []any, ts []tensor.Tensor) (any, error) {
	parts := make([]any, len(ts))
	for i, t := range ts {
		want, ok := specs[i].(tenon.Spec)
		fits := ok && tenon.Compatible(t.Spec(), want)
		if _, known := op.Known(t); known {
			fits = ok && tenon.Belongs(t, want)
		}
		if !fits {
			return nil, tenon.NewError(tenon.ErrShape, "saved.Func", fmt.Sprintf("the graph computes %s, but the model declares %v", tenon.String(t.Spec()), specs[i]))
		}
		parts[i] = t
	}
	if tenon.IsLeaf(s) {
		return parts[0], nil
	}
	x, err := nest.Pack[any](s, parts, nest.Options{Expand: true})
	if err != nil {
		return nil, err
	}
	return x, tenon.Check(x.(tenon.Value))
}

// built puts leaves into maps and lists by their paths. The first step of a path is the number
// of the result.
func built(places []function.Leaf, leaves []any) ([]any, error) {
	var root any = []any{}
	for i, l := range places {
		var err error
		if root, err = placed(root, l.Path, leaves[i]); err != nil {
			return nil, err
		}
	}
	return root.([]any), nil
}

var errTwice = errors.New("saved: two results have the same path")

// placed returns a structure with a leaf added at a path.
func placed(root any, path nest.Path, leaf any) (any, error) {
	if len(path) == 0 {
		if root != nil {
			return nil, errTwice
		}
		return leaf, nil
	}
	switch step := path[0].(type) {
	case int:
		if root == nil {
			root = []any{}
		}
		if m, ok := root.(map[string]any); ok { // integer keys beside others
			return placed(m, append(nest.Path{fmt.Sprint(step)}, path[1:]...), leaf)
		}
		l, ok := root.([]any)
		if !ok || step < 0 || step > len(l)+1<<16 {
			return nil, errTwice
		}
		for len(l) <= step {
			l = append(l, nil)
		}
		x, err := placed(l[step], path[1:], leaf)
		l[step] = x
		return l, err
	case string:
		if root == nil {
			root = map[string]any{}
		}
		m, ok := root.(map[string]any)
		if !ok {
			return nil, errTwice
		}
		x, err := placed(m[step], path[1:], leaf)
		m[step] = x
		return m, err
	}
	return nil, errTwice
}

// tensorsOf returns the Specs of the tensors of which leaves are made.
func tensorsOf(leaves []function.Leaf) ([]*tensor.Spec, error) {
	var out []*tensor.Spec
	for _, l := range leaves {
		if l.Spec == nil {
			continue
		}
		parts, err := nest.Flatten(l.Spec, nest.Options{Expand: true})
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			s, ok := p.(*tensor.Spec)
			if !ok {
				return nil, fmt.Errorf("%s: a component is a %T", l.Path, p)
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// CallFlat calls the first variant with Values in the order of [Func.Args], and returns Values
// in the order of [Func.Results]. It is for servers and other callers that handle signatures
// generically.
func (f *Func) CallFlat(args []tenon.Value) ([]tenon.Value, error) {
	v := f.variants[0]
	if len(args) != len(v.args) {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: f.name, Msg: fmt.Sprintf("it takes %d Values, got %d", len(v.args), len(args)), Line: source.Line()}
	}
	in := make([]tensor.Tensor, 0, len(args))
	for i, l := range v.args {
		if l.Spec == nil {
			return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: f.name, Msg: "it takes plain data at " + l.Path.String(), Line: source.Line()}
		}
		ts, err := taken(args[i], l.Spec)
		if err != nil {
			return nil, &tenon.Error{Kind: tenon.ErrDType, Op: f.name, Err: fmt.Errorf("argument %s %w", l.Path, err), Line: source.Line()}
		}
		in = append(in, ts...)
	}
	ts, err := v.run(context.Background(), in, true)
	if err != nil {
		return nil, err
	}
	leaves, err := packed(v.results, ts)
	if err != nil {
		return nil, err
	}
	out := make([]tenon.Value, len(leaves))
	for i, x := range leaves {
		y, ok := x.(tenon.Value)
		if !ok {
			return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: f.name, Msg: "it returns plain data", Line: source.Line()}
		}
		out[i] = y
	}
	return out, nil
}
