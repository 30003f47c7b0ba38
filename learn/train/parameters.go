package train

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/learn/internal/parts"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// parameters describes the floating-point tensors of a nest, except those beside the
// parameters, and which of them are trained.
type parameters struct {
	leaves []any
	at     []int // the leaves that are floating-point tensors
	paths  []string

	trained    [][]int // their indices in at; several if they are shared
	optimizers []Optimizer
}

func flatten(p any, o Options) (*parameters, error) {
	paths, leaves, err := nest.FlattenWithPaths(p, nest.Options{Expand: true})
	if err != nil {
		return nil, err
	}
	out := &parameters{leaves: leaves}
	model, inside := p, false
	if w, ok := p.(besides); ok {
		model, inside = w.trained(), true
	}
	unlearned := parts.Of[nn.Unlearned](model)
	for i, l := range leaves {
		path := paths[i]
		if inside {
			if path[0] == "Beside" {
				continue
			}
			path = path[1:]
		}
		t, ok := l.(tensor.Tensor)
		if name := path.String(); ok && t.DType().IsFloat() && !slices.ContainsFunc(unlearned, func(prefix string) bool { _, ok := parts.Below(name, prefix); return ok }) {
			out.at, out.paths = append(out.at, i), append(out.paths, name)
		}
	}
	homes, err := out.homes(o.Shared)
	if err != nil {
		return nil, err
	}
	for i, home := range homes {
		if home != i {
			continue
		}
		opt := o.optimizer(out.paths[i], leaves[out.at[i]].(tensor.Tensor))
		if _, frozen := opt.(fixed); frozen {
			continue
		}
		places := []int{i}
		for k, h := range homes {
			if h == i && k != i {
				places = append(places, k)
			}
		}
		out.trained, out.optimizers = append(out.trained, places), append(out.optimizers, opt)
	}
	return out, nil
}

// anyTrained rejects a model without trained parameters.
func (p *parameters) anyTrained(model any) error {
	if len(p.trained) > 0 {
		return nil
	}
	e := tenon.NewError(tenon.ErrInvalid, "train", fmt.Sprintf("a %T has no floating-point tensor to train", model))
	e.Hint = "parameters are the floating-point tensors in exported fields"
	if len(p.at) > 0 {
		e.Msg = fmt.Sprintf("all %d parameters of a %T are frozen", len(p.at), model)
		e.Hint = "use Options.For to give them an optimizer other than Fixed"
	}
	return e
}

// homes returns, for each floating-point tensor, the index of the tensor that it is identical
// to: its own, or that of the first in its group.
func (p *parameters) homes(groups [][]string) ([]int, error) {
	homes := make([]int, len(p.at))
	for i, path := range p.paths {
		homes[i] = i
		home := path
		for range len(groups) { // a group may lead to another one
			next := homeOf(home, groups)
			if next == home {
				break
			}
			home = next
		}
		if home == path {
			continue
		}
		at := slices.Index(p.paths, home)
		if at < 0 {
			return nil, &tenon.Error{Kind: tenon.ErrNotFound, Op: "train.Options.Shared", Where: path, Msg: fmt.Sprintf("it is shared with %s, which is not a parameter", home)}
		}
		a, b := p.leaves[p.at[at]].(tensor.Tensor), p.leaves[p.at[i]].(tensor.Tensor)
		if a.DType() != b.DType() || !a.Shape().CompatibleWith(b.Shape()) {
			return nil, &tenon.Error{Kind: tenon.ErrShape, Op: "train.Options.Shared", Where: path, Msg: fmt.Sprintf("it is shared with %s, and %s is not %s", home, tenon.String(b.Spec()), tenon.String(a.Spec()))}
		}
		homes[i] = at
	}
	for _, g := range groups {
		for _, prefix := range g {
			if !slices.ContainsFunc(p.paths, func(path string) bool { _, ok := parts.Below(path, prefix); return ok }) {
				return nil, &tenon.Error{Kind: tenon.ErrNotFound, Op: "train.Options.Shared", Where: prefix, Msg: "there is no parameter at or below this path"}
			}
		}
	}
	return homes, nil
}

func homeOf(path string, groups [][]string) string {
	for _, g := range groups {
		for _, prefix := range g[min(1, len(g)):] {
			if rest, ok := parts.Below(path, prefix); ok {
				return g[0] + rest
			}
		}
	}
	return path
}

// all returns all floating-point tensors.
func (p *parameters) all() []tensor.Tensor {
	out := make([]tensor.Tensor, len(p.at))
	for i, at := range p.at {
		out[i] = p.leaves[at].(tensor.Tensor)
	}
	return out
}

// tensors returns the trained tensors.
func (p *parameters) tensors() []tensor.Tensor {
	out := make([]tensor.Tensor, len(p.trained))
	for i, places := range p.trained {
		out[i] = p.leaves[p.at[places[0]]].(tensor.Tensor)
	}
	return out
}

// pack returns a nest like the one that was flattened, with other floating-point tensors.
func pack[P any](p *parameters, like P, ts []tensor.Tensor) P {
	leaves := slices.Clone(p.leaves)
	for i, at := range p.at {
		leaves[at] = ts[i]
	}
	return tenon.Must(nest.Pack(like, leaves, nest.Options{Expand: true}))
}

// packTrained returns a nest like the one that was flattened, with other trained tensors.
func packTrained[P any](p *parameters, like P, ts []tensor.Tensor) P {
	all := p.all()
	for i, places := range p.trained {
		for _, place := range places {
			all[place] = ts[i]
		}
	}
	return pack(p, like, all)
}

// A Group gives an optimizer to the parameters whose whole path matches a regular expression.
type Group struct {
	Path      string
	Optimizer Optimizer
}

// Groups returns a function for Options.For that uses the first group that matches. It throws
// an error if a pattern is not a valid regular expression.
//
//	For: train.Groups(
//		train.Group{Path: `Words\..*`, Optimizer: train.Fixed()},              // frozen
//		train.Group{Path: `.*\.Bias`, Optimizer: train.SGD(0.1)},
//	)
func Groups(groups ...Group) func(path string) Optimizer {
	match := make([]*regexp.Regexp, len(groups))
	for i, g := range groups {
		m, err := regexp.Compile("^(?:" + g.Path + ")$")
		if err != nil {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "train.Groups", Where: fmt.Sprintf("[%d].Path", i), Err: err})
		}
		match[i] = m
	}
	return func(path string) Optimizer {
		for i, m := range match {
			if m.MatchString(path) {
				return groups[i].Optimizer
			}
		}
		return nil
	}
}

// Shared returns the paths of pointers that occur more than once in a model, in the form of
// Options.Shared. The data that they point to are one part of the model. Tensors are values,
// and are never shared by themselves.
func Shared(params any) [][]string {
	at, groups := map[pointer]int{}, [][]string(nil)
	parts.Walk(params, func(path nest.Path, v reflect.Value) bool {
		if v.Kind() != reflect.Pointer || v.IsNil() || v.Type().Implements(reflect.TypeFor[tenon.Value]()) {
			return true
		}
		p := pointer{v.UnsafePointer(), v.Type()}
		i, seen := at[p]
		if !seen {
			i = len(groups)
			at[p], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], path.String())
		return !seen
	})
	var out [][]string
	for _, g := range groups {
		if len(g) > 1 {
			out = append(out, g)
		}
	}
	return out
}

// sharedIn is Shared for what a trainer trains.
func sharedIn(params any) [][]string {
	if w, ok := params.(besides); ok {
		params = w.trained()
	}
	return Shared(params)
}

// A pointer has a type, because a struct and its first field may have the same address.
type pointer struct {
	to  unsafe.Pointer
	typ reflect.Type
}
