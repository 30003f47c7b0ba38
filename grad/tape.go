package grad

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A tape records the operations on its variables.
type tape struct {
	level int
	steps []step
	next  int
	ended bool
}

// step is a recorded operation.
type step struct {
	call *op.Call    // with primal arguments
	in   []*variable // by position among the tensor arguments; nil: not on the tape
	out  []tensor.Tensor
	vars []*variable // the results on the tape; nil for those without a gradient
	line string
}

// variable is a tensor on a tape.
type variable struct {
	tape   *tape
	primal tensor.Tensor
	id     int
}

var (
	_ op.Recorder      = (*variable)(nil)
	_ op.Constant      = (*variable)(nil)
	_ tensor.Concreter = (*variable)(nil)
)

func newTape() *tape { return &tape{level: op.NextLevel()} }

func (t *tape) variable(primal tensor.Tensor) *variable {
	v := &variable{tape: t, primal: primal, id: t.next}
	t.next++
	return v
}

func (v *variable) Spec() tenon.Spec   { return v.primal.Spec() }
func (v *variable) DType() dtype.DType { return v.primal.DType() }
func (v *variable) Shape() shape.Shape { return v.primal.Shape() }
func (v *variable) RecordLevel() int   { return v.tape.level }
func (v *variable) String() string     { return fmt.Sprint(v.primal) }

// Concrete returns the tensor itself, so that Go code can look at its elements.
func (v *variable) Concrete() (tensor.Tensor, error) {
	if c, ok := v.primal.(tensor.Concreter); ok {
		return c.Concrete()
	}
	return v.primal, nil
}

// NameDims names the dimensions of the tensor that the variable stands for.
func (v *variable) NameDims(names []string) tensor.Tensor {
	if n, ok := v.primal.(interface {
		NameDims(names []string) tensor.Tensor
	}); ok {
		v.primal = n.NameDims(names)
	}
	return v
}

// ConstValue returns the elements if they are known.
func (v *variable) ConstValue() (tensor.Tensor, bool) { return op.Known(v.primal) }

// Record runs the call on the primals and records it on the tape.
func (v *variable) Record(c *op.Call) ([]tenon.Value, error) {
	t := v.tape
	if t.ended {
		e := c.Errorf(tenon.ErrInvalid, "a value inside a gradient is used after the gradient has been taken")
		e.Hint = "return the value from the function instead of storing it outside"
		return nil, e
	}
	values := c.Values()
	in := make([]*variable, len(values))
	primals := make([]tenon.Value, len(values))
	differentiable := false
	for i, x := range values {
		primals[i] = x
		if y, ok := x.(*variable); ok && y.tape == t {
			in[i], primals[i] = y, y.primal
			differentiable = differentiable || y.DType().IsDifferentiable()
		}
	}
	pc := c.WithValues(primals)
	if c.Op.Nondifferentiable || !differentiable {
		return pc.Do()
	}
	results := -1
	if c.Op.Keep != nil {
		if err := catch(func() { pc, results = c.Op.Keep(pc) }); err != nil {
			return nil, err
		}
	}
	res, err := pc.Do()
	if err != nil {
		return nil, err
	}
	if results < 0 {
		results = len(res)
	}
	s := step{call: pc, in: in, out: make([]tensor.Tensor, len(res)), vars: make([]*variable, len(res)), line: source.Line()}
	for i, r := range res {
		s.out[i] = r.(tensor.Tensor)
		if s.out[i].DType().IsDifferentiable() {
			s.vars[i] = t.variable(s.out[i])
			res[i] = s.vars[i]
		}
	}
	t.steps = append(t.steps, s)
	return res[:results], nil
}

// back runs the backward pass from cotangents of some variables, and returns the
// cotangent of every variable by id, nil if it affects nothing.
func (t *tape) back(seeds map[*variable]tensor.Tensor) ([]tensor.Tensor, error) {
	cts := make([]tensor.Tensor, t.next)
	add := func(v *variable, ct tensor.Tensor) {
		if cts[v.id] == nil {
			cts[v.id] = ct
		} else {
			cts[v.id] = ops.Add(cts[v.id], ct)
		}
	}
	for v, ct := range seeds {
		add(v, ct)
	}
	for i := len(t.steps) - 1; i >= 0; i-- {
		s := &t.steps[i]
		outCts := make([]tensor.Tensor, len(s.out))
		any := false
		for k, v := range s.vars {
			if v != nil && cts[v.id] != nil {
				outCts[k], any = cts[v.id], true
			}
		}
		if !any {
			continue
		}
		inCts, err := s.vjp(outCts)
		if err != nil {
			return nil, err
		}
		err = catch(func() {
			for k, ct := range inCts {
				if v := s.in[k]; v != nil && ct != nil && v.DType().IsDifferentiable() {
					add(v, ct)
				}
			}
		})
		if err != nil {
			return nil, err
		}
		for _, v := range s.vars { // no longer needed; release the memory
			if v != nil {
				if _, seed := seeds[v]; !seed {
					cts[v.id] = nil
				}
			}
		}
	}
	return cts, nil
}

func (s *step) vjp(ct []tensor.Tensor) (in []tensor.Tensor, err error) {
	if s.call.Op.VJP == nil {
		e := s.call.Errorf(tenon.ErrUnsupported, "the operation has no gradient")
		e.Line = s.line
		e.Hint = "wrap the operand in ops.StopGradient, or define the gradient with grad.Custom"
		return nil, e
	}
	err = catch(func() { in = s.call.Op.VJP(s.call, s.out, ct) })
	if err != nil {
		e := *tenon.AsError(err)
		if e.Line == "" {
			e.Line = s.line
		}
		return nil, &e
	}
	if len(in) > len(s.in) {
		return nil, s.call.Errorf(tenon.ErrInvalid, "the gradient rule returned %d cotangents for %d arguments", len(in), len(s.in))
	}
	return in, nil
}

func catch(f func()) (err error) {
	defer tenon.Catch(&err)
	f()
	return nil
}
