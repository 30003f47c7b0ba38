package state

import (
	"fmt"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// Of holds a Value of any type that can be replaced by another one of its Spec: a ragged tensor,
// records, a derived type. It has a variable for each tensor that the Value consists of. It is safe
// for concurrent use; outside of traced functions, readers always see a complete Value.
//
// A [Variable] is a separate type rather than an Of that holds a tensor: it can be used as an
// operand itself, with the methods of tensor.Tensor, while a generic type has the same methods
// whatever it holds. The Value of an Of is read with its method Value.
type Of[T tenon.Value] struct {
	Parts []*Variable // for the tensors, in the order of package nest

	spec tenon.Spec
	mu   *sync.RWMutex
}

// NewOf returns an Of that holds initial and accepts Values of its Spec.
func NewOf[T tenon.Value](initial T) (*Of[T], error) {
	s := initial.Spec()
	specs, err := nest.Flatten(s, nest.Options{Expand: true})
	if err != nil {
		return nil, err
	}
	leaves, err := nest.Flatten(tenon.Value(initial), nest.Options{Expand: true})
	if err != nil {
		return nil, err
	}
	o := &Of[T]{spec: s, mu: &sync.RWMutex{}}
	for i, l := range leaves {
		spec, ok := specs[i].(*tensor.Spec)
		if !ok {
			return nil, tenon.NewError(tenon.ErrUnsupported, "state.NewOf", fmt.Sprintf("a component of %s is a %T, not a tensor", tenon.String(s), specs[i]))
		}
		v, err := WithSpec(l, tensor.NewSpec(spec.DType(), spec.Shape()))
		if err != nil {
			return nil, err
		}
		o.Parts = append(o.Parts, v)
	}
	whole := &Whole{s, o.Parts}
	for _, v := range o.Parts {
		v.whole = whole
	}
	return o, nil
}

// Accepts returns the Spec of the Values that it accepts.
func (o *Of[T]) Accepts() tenon.Spec { return o.spec }

// Value returns the current Value. In a traced function, each call reads it anew.
func (o *Of[T]) Value() (x T, err error) {
	x, _, err = o.read()
	return x, err
}

// read returns the current Value, and the tensors that it consists of.
func (o *Of[T]) read() (x T, leaves []any, err error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	leaves = make([]any, len(o.Parts))
	g := graph.Current()
	for i, p := range o.Parts {
		if g == nil {
			leaves[i] = p.Value()
		} else if leaves[i], err = g.Import(p); err != nil {
			return x, nil, err
		}
	}
	v, err := nest.Pack[any](o.spec, leaves, nest.Options{Expand: true})
	if err != nil {
		return x, nil, err
	}
	x, ok := v.(T)
	if !ok {
		return x, nil, tenon.NewError(tenon.ErrDType, "state.Value", fmt.Sprintf("%s is assembled as a %T", tenon.String(o.spec), v))
	}
	return x, leaves, nil
}

// Assign replaces the Value. In a traced function, the assignment takes place after each call has
// run.
func (o *Of[T]) Assign(x T) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.assign(x)
}

func (o *Of[T]) assign(x T) error {
	leaves, err := nest.Flatten(tenon.Value(x), nest.Options{Expand: true})
	if err != nil {
		return err
	}
	s := x.Spec()
	if !tenon.Compatible(s, o.spec) || len(leaves) != len(o.Parts) || graph.Current() == nil && !tenon.Subtype(s, o.spec) {
		e := tenon.NewError(tenon.ErrShape, "state.Assign", fmt.Sprintf("a variable of %s cannot hold %s%s", tenon.String(o.spec), tenon.String(s), tenon.HiddenDifference(o.spec, s)))
		e.Where, _ = tenon.Difference(o.spec, s)
		return e
	}
	for i, p := range o.Parts {
		if err := p.Assign(leaves[i]); err != nil {
			return err
		}
	}
	return nil
}

// Update atomically replaces the Value x by f(x): no other assignment comes in between.
func (o *Of[T]) Update(f func(T) (T, error)) error {
	for {
		x, held, err := o.read()
		if err != nil {
			return err
		}
		y, err := f(x)
		if err != nil {
			return err
		}
		if graph.Current() != nil {
			return o.Assign(y)
		}
		if done, err := o.swap(held, y); done || err != nil {
			return err
		}
	}
}

// swap assigns y if the tensors that were read are still current.
func (o *Of[T]) swap(read []any, y T) (done bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, p := range o.Parts {
		if any(p.Value()) != read[i] {
			return false, nil
		}
	}
	return true, o.assign(y)
}
