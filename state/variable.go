package state

import (
	"fmt"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Variable holds a tensor that can be replaced by another of its Spec. It is
// safe for concurrent use; readers see the value either before or after an
// assignment.
type Variable struct {
	spec *tensor.Spec
	mu   sync.RWMutex
	held tensor.Tensor

	whole *Whole // the whole that it is part of, or nil
}

// A Whole is what the variables of an [Of] represent together: a Value of a Spec.
type Whole struct {
	Spec  tenon.Spec
	Parts []*Variable // in the order of package nest
}

// Whole returns the whole that the variable is part of, or nil for a separate variable.
func (v *Variable) Whole() *Whole { return v.whole }

var (
	_ op.Recorder      = (*Variable)(nil)
	_ tensor.Concreter = (*Variable)(nil)
	_ graph.Cell       = (*Variable)(nil)
)

// New returns a variable that holds initial and accepts tensors of its element
// type and shape.
func New(initial any) (*Variable, error) {
	if v, ok := initial.(tenon.Value); ok && v != nil {
		if _, ok := v.Spec().(*tensor.Spec); !ok {
			e := tenon.NewError(tenon.ErrUnsupported, "state.New", fmt.Sprintf("the initial value is %s, and a Variable holds one tensor", tenon.String(v.Spec())))
			e.Hint = "state.NewOf holds Values of any type"
			return nil, e
		}
	}
	t, err := tensor.Convert(initial)
	if err != nil {
		return nil, err
	}
	s := t.Spec().(*tensor.Spec)
	return WithSpec(initial, s)
}

// WithSpec returns a variable that holds initial and accepts every tensor of spec.
func WithSpec(initial any, spec *tensor.Spec) (*Variable, error) {
	t, err := tensor.Convert(initial)
	if err != nil {
		return nil, err
	}
	if _, ok := op.Known(t); !ok {
		return nil, tenon.NewError(tenon.ErrUnsupported, "state.New", "a variable holds data, and the initial value is symbolic")
	}
	v := &Variable{spec: spec}
	return v, v.set(t)
}

func (v *Variable) set(t tensor.Tensor) error {
	if !tenon.Subtype(t.Spec(), v.spec) {
		return tenon.NewError(tenon.ErrShape, "state.Assign", fmt.Sprintf("a variable of %v cannot hold %s", v.spec, tenon.String(t.Spec())))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.held = t
	return nil
}

// Value returns the current tensor.
func (v *Variable) Value() tensor.Tensor {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.held
}

// Spec returns the *tensor.Spec of the tensors that the variable accepts.
func (v *Variable) Spec() tenon.Spec { return v.spec }

// DType returns the element type.
func (v *Variable) DType() dtype.DType { return v.spec.DType() }

// Shape returns the sizes as far as they are known.
func (v *Variable) Shape() shape.Shape { return v.spec.Shape() }

// Concrete returns the current tensor. While a function is being traced it returns an error, since
// another call of the function may find another tensor.
func (v *Variable) Concrete() (tensor.Tensor, error) {
	if graph.Current() == nil {
		return v.Value(), nil
	}
	e := tenon.NewError(tenon.ErrUnsupported, "tensor.Data", "a variable is read while a function is traced: what it holds may differ from call to call")
	e.Hint = "to branch or loop on data use control.Cond or control.While; to read what is there at the time of tracing use Variable.Value"
	return nil, e
}

// String formats the current tensor.
func (v *Variable) String() string { return fmt.Sprint(v.Value()) }

// RecordLevel returns 0, so that any trace or gradient takes precedence.
func (v *Variable) RecordLevel() int { return 0 }

// Record runs the operation on the current tensors of the variables among its arguments. While a
// function is being traced, it becomes part of the graph.
func (v *Variable) Record(c *op.Call) ([]tenon.Value, error) {
	if g := graph.Current(); g != nil {
		return g.Record(c)
	}
	values := c.Values()
	for i, x := range values {
		if y, ok := x.(*Variable); ok {
			values[i] = y.Value()
		}
	}
	return c.WithValues(values).Do()
}

// Assign replaces the tensor. A symbolic value makes the assignment part of the
// function being traced.
func (v *Variable) Assign(x any) error {
	t, err := tensor.Convert(x)
	if err != nil {
		return err
	}
	if g := graph.Current(); g != nil {
		switch t.(type) {
		case *Variable, *tensor.Dense, *tensor.Strings: // also part of the trace
			y, err := g.Import(t)
			if err != nil {
				return err
			}
			if !tenon.Compatible(y.Spec(), v.spec) || y.DType() != v.DType() {
				return tenon.NewError(tenon.ErrShape, "state.Assign", fmt.Sprintf("a variable of %v cannot hold %s", v.spec, tenon.String(y.Spec())))
			}
			return g.SetCell(v, y)
		}
	}
	for {
		switch y := t.(type) {
		case *Variable:
			t = y.Value()
			continue
		case *graph.Value:
			if _, ok := y.ConstValue(); !ok {
				if !tenon.Compatible(y.Spec(), v.spec) || y.DType() != v.DType() {
					return tenon.NewError(tenon.ErrShape, "state.Assign", fmt.Sprintf("a variable of %v cannot hold %s", v.spec, tenon.String(y.Spec())))
				}
				return y.Graph().SetCell(v, y)
			}
		}
		break
	}
	if known, ok := op.Known(t); ok {
		return v.set(known)
	}
	e := tenon.NewError(tenon.ErrUnsupported, "state.Assign", "a value that gradients are recorded for cannot be kept")
	e.Hint = "assign outside the function that is differentiated"
	return e
}

// Update atomically replaces the tensor x by f(x): if another assignment comes in between, f is
// called again. While a function is being traced, it assigns the result of f for the variable.
func (v *Variable) Update(f func(x tensor.Tensor) (tensor.Tensor, error)) error {
	if graph.Current() != nil {
		y, err := f(v)
		if err != nil {
			return err
		}
		return v.Assign(y)
	}
	for {
		old := v.Value()
		y, err := f(old)
		if err != nil {
			return err
		}
		known, ok := op.Known(y)
		if !ok {
			return v.Assign(y) // which returns the reason
		}
		if !tenon.Subtype(known.Spec(), v.spec) {
			return v.set(known)
		}
		v.mu.Lock()
		if v.held == old {
			v.held = known
			v.mu.Unlock()
			return nil
		}
		v.mu.Unlock()
	}
}

// Add atomically adds to the tensor, so that concurrent calls of traced functions lose no update.
// In a traced function, it takes place after each call has run; the function reads the value before
// the addition.
func (v *Variable) Add(delta any) error {
	d, err := tensor.Convert(delta)
	if err != nil {
		return err
	}
	g := graph.Current()
	if y, ok := d.(*graph.Value); ok && g == nil {
		g = y.Graph()
	}
	if g == nil {
		return v.Update(func(x tensor.Tensor) (tensor.Tensor, error) { return sum(x, d) })
	}
	y, err := g.Import(d)
	if err != nil {
		return err
	}
	if y.DType() != v.DType() {
		return tenon.NewError(tenon.ErrDType, "state.Add", fmt.Sprintf("%s cannot be added to a variable of %v", tenon.String(y.Spec()), v.spec))
	}
	return g.SetCell(&adder{v}, y)
}

// adder is a variable whose assignments are additions.
type adder struct{ *Variable }

// Target returns the variable.
func (a *adder) Target() *Variable { return a.Variable }

// Set adds to the variable.
func (a *adder) Set(t tensor.Tensor) error { return a.Add(t) }

func sum(x, y tensor.Tensor) (tensor.Tensor, error) {
	o, ok := op.Lookup("add")
	if !ok {
		return nil, tenon.NewError(tenon.ErrNotFound, "state.Add", "the operation add is not registered: import package ops")
	}
	c, err := op.NewCall(o, x, y)
	if err != nil {
		return nil, err
	}
	out, err := c.DoTensors()
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// Set is called after a traced function has run; see [Variable.Assign].
func (v *Variable) Set(t tensor.Tensor) error { return v.set(t) }

// A Named variable is a variable of a structure and its path there.
type Named struct {
	Name     string
	Variable *Variable
}

// Tree returns the variables of a structure in the order of package nest, named
// by their paths. It includes those inside Values.
func Tree(x any) ([]Named, error) {
	paths, leaves, err := nest.FlattenWithPaths(x, nest.Options{Expand: true})
	if err != nil {
		return nil, err
	}
	var out []Named
	for i, l := range leaves {
		if v, ok := l.(*Variable); ok {
			out = append(out, Named{paths[i].String(), v})
		}
	}
	return out, nil
}
