package op

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

func line() string { return source.Line() }

// Do calls an operation with positional arguments: it binds them, finds out who answers the call,
// and lets it answer. All calls work this way, including those by the functions of the catalogue,
// by handlers and by traces.
func Do(o *Op, args ...any) ([]tenon.Value, error) {
	a, err := call(o, args)
	if err != nil {
		return nil, err
	}
	return a.list(), nil
}

// call is [Do], returning an answer.
func call(o *Op, args []any) (answer, error) {
	if out := evenOf(o, args); out != nil {
		return answer{tensors: []tensor.Tensor{out}}, nil
	}
	return bound(o, args)
}

// bound is [call] without the fast path of [Op.even].
func bound(o *Op, args []any) (answer, error) {
	c := newCall(o)
	p, hash := o.recall(args)
	if p != nil && c.planned(p, args) {
		out, err := c.finish(p.out)
		return answer{tensors: out}, err
	}
	c.plan = o.learns(args, hash)
	if err := c.bind(args, nil); err != nil {
		return answer{}, err
	}
	return c.answer(nil)
}

// Eval calls an operation that has one result. It throws errors. The functions of
// the catalogue are built on it.
func Eval(o *Op, args ...any) tensor.Tensor {
	if out := evenOf(o, args); out != nil {
		return out
	}
	return tenon.Must(bound(o, args)).single(o)
}

// EvalN calls an operation and returns all results. It throws errors.
func EvalN(o *Op, args ...any) []tensor.Tensor {
	return tenon.Must(tenon.Must(call(o, args)).all(o))
}

// Apply calls the operation of c with other tensor arguments, in the order of
// [Call.Values], and the same attributes. It throws errors. Handlers use it to
// apply an operation to the parts of a value.
func Apply(c *Call, values ...tenon.Value) tensor.Tensor {
	if out := evenOf(c.Op, values); out != nil {
		return out
	}
	return tenon.Must(c.apply(values)).single(c.Op)
}

// ApplyN is Apply for operations with any number of results.
func ApplyN(c *Call, values ...tenon.Value) []tensor.Tensor {
	return tenon.Must(tenon.Must(c.apply(values)).all(c.Op))
}

func (c *Call) apply(values []tenon.Value) (answer, error) {
	if n := c.countValues(); n != len(values) {
		return answer{}, c.Errorf(tenon.ErrInvalid, "applied to %d values instead of %d", len(values), n)
	}
	for i, v := range values {
		if v == nil {
			return answer{}, c.Errorf(tenon.ErrDType, "applied to a nil value at position %d", i)
		}
	}
	return c.WithValues(values).answer(nil)
}

// One returns the results of a handler for an operation with one result.
func One(v tenon.Value) ([]tenon.Value, error) { return []tenon.Value{v}, nil }

// An answer holds the results of a call: tensors from a kernel, or values from a handler or
// recorder. The other field is nil.
type answer struct {
	tensors []tensor.Tensor
	values  []tenon.Value
}

// list returns the results as values.
func (a answer) list() []tenon.Value {
	if a.tensors == nil {
		return a.values
	}
	out := make([]tenon.Value, len(a.tensors))
	for i, t := range a.tensors {
		out[i] = t
	}
	return out
}

// all returns the results of an operation as tensors.
func (a answer) all(o *Op) ([]tensor.Tensor, error) {
	if a.tensors != nil {
		return a.tensors, nil
	}
	out := make([]tensor.Tensor, len(a.values))
	for i, v := range a.values {
		t, err := asTensor(o, v)
		if err != nil {
			return nil, err
		}
		out[i] = t
	}
	return out, nil
}

// single returns the only result of an operation. It throws if there is not exactly one.
func (a answer) single(o *Op) tensor.Tensor {
	switch {
	case len(a.tensors) == 1:
		return a.tensors[0]
	case len(a.values) == 1:
		if t, ok := a.values[0].(tensor.Tensor); ok {
			return t
		}
		return tenon.Must(asTensor(o, a.values[0]))
	}
	n := len(a.tensors) + len(a.values)
	tenon.Throw(tenon.NewError(tenon.ErrInvalid, o.Func(), fmt.Sprintf("has %d results where one is expected", n)))
	return nil
}

func asTensor(o *Op, v tenon.Value) (tensor.Tensor, error) {
	t, ok := v.(tensor.Tensor)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, o.Func(), fmt.Sprintf("was answered with a %s, which has no element type and shape", v.Spec().TypeName())).
			WithHint("give the type DType and Shape methods, or call the operation with op.Do")
	}
	return t, nil
}
