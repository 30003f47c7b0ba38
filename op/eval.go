package op

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

func line() string { return source.Line() }

// Do calls an operation with positional arguments.
func Do(o *Op, args ...any) ([]tenon.Value, error) {
	c, err := Bind(o, args, nil)
	if err != nil {
		return nil, err
	}
	return c.Do()
}

// Eval calls an operation that has one result. It throws errors; it is what the
// functions of the catalogue are made of.
func Eval(o *Op, args ...any) tensor.Tensor {
	if !short(o, args) {
		return single(o, tenon.Must(Do(o, args...)))
	}
	c, out := doShort(o, args)
	t := single(o, out)
	c.free(out)
	return t
}

// EvalN calls an operation and returns all results. It throws errors.
func EvalN(o *Op, args ...any) []tensor.Tensor {
	if !short(o, args) {
		return tenon.Must(tensors(o, tenon.Must(Do(o, args...))))
	}
	c, out := doShort(o, args)
	ts := tenon.Must(tensors(o, out))
	c.free(out)
	return ts
}

// short reports whether a call fits a [shortCall] and may be given back.
func short(o *Op, args []any) bool { return len(o.Params) <= len(shortCall{}.room) && toAnswer(args) }

// doShort is [Do] for a short call, which the caller frees. It throws.
func doShort(o *Op, args []any) (*shortCall, []tenon.Value) {
	c := shortCallOf(o, len(o.Params))
	tenon.Throw(c.bind(args, nil))
	return c, tenon.Must(c.do(nil))
}

// Unary calls an operation on one tensor, by the short way where there is one.
func Unary(o *Op, x any) tensor.Tensor {
	if d, ok := x.(*tensor.Dense); ok && o.Fast1 != nil && d != nil {
		if out := o.Fast1(d); out != nil {
			return out
		}
	}
	if out := o.answered(x, nil, 1); out != nil {
		return out
	}
	return Eval(o, x)
}

// Binary calls an operation on two tensors, by the short way where there is one.
func Binary(o *Op, x, y any) tensor.Tensor {
	if o.Fast2 != nil {
		a, _ := x.(*tensor.Dense)
		b, _ := y.(*tensor.Dense)
		switch {
		case a != nil && b == nil:
			b = o.constant(y, a)
		case b != nil && a == nil:
			a = o.constant(x, b)
		}
		if a != nil && b != nil {
			if out := o.Fast2(a, b); out != nil {
				return out
			}
		}
	}
	if out := o.answered(x, y, 2); out != nil {
		return out
	}
	return Eval(o, x, y)
}

// constant returns a Go number beside a tensor as binding would convert it, or nil
// where it is none or binding has to decide.
func (o *Op) constant(x any, beside *tensor.Dense) *tensor.Dense {
	if len(o.Params) != 2 || o.Params[0].Group == 0 || o.Params[0].Group != o.Params[1].Group {
		return nil
	}
	switch x.(type) {
	case int, int64, float64, float32:
		t, _ := tensor.ScalarLike(x, beside.DType())
		d, _ := t.(*tensor.Dense)
		return d
	}
	return nil
}

// Apply calls the operation of c with other tensor arguments, in the order of
// [Call.Values], and the same attributes. It throws errors. Handlers use it to
// pass an operation on to the parts of a value.
func Apply(c *Call, values ...tenon.Value) tensor.Tensor {
	if out := c.Op.Fast(values); out != nil {
		return out
	}
	return single(c.Op, tenon.Must(c.apply(values)))
}

// ApplyN is Apply for operations with any number of results.
func ApplyN(c *Call, values ...tenon.Value) []tensor.Tensor {
	if out := c.Op.Fast(values); out != nil {
		return []tensor.Tensor{out}
	}
	return tenon.Must(tensors(c.Op, tenon.Must(c.apply(values))))
}

// Fast computes the result for dense tensors by the short way, for operations
// whose only parameters they are, and returns nil where the general way has to
// be taken.
func (o *Op) Fast(values []tenon.Value) *tensor.Dense {
	if len(values) != len(o.Params) {
		return nil
	}
	switch {
	case len(values) == 1 && o.Fast1 != nil:
		if x, ok := values[0].(*tensor.Dense); ok && x != nil {
			return o.Fast1(x)
		}
	case len(values) == 2 && o.Fast2 != nil:
		x, okx := values[0].(*tensor.Dense)
		y, oky := values[1].(*tensor.Dense)
		if okx && oky && x != nil && y != nil {
			return o.Fast2(x, y)
		}
	}
	return nil
}

func (c *Call) apply(values []tenon.Value) ([]tenon.Value, error) {
	if n := c.countValues(); n != len(values) {
		return nil, c.Errorf(tenon.ErrInvalid, "applied to %d values in place of %d", len(values), n)
	}
	for i, v := range values {
		if v == nil {
			return nil, c.Errorf(tenon.ErrDType, "applied to a nil value at position %d", i)
		}
	}
	return c.WithValues(values).Do()
}

// One is what a handler returns for an operation with one result.
func One(v tenon.Value) ([]tenon.Value, error) { return []tenon.Value{v}, nil }

func single(o *Op, out []tenon.Value) tensor.Tensor {
	if len(out) == 1 {
		if t, ok := out[0].(tensor.Tensor); ok {
			return t
		}
	}
	return notSingle(o, out)
}

// notSingle throws what is wrong with results that are not a single tensor.
func notSingle(o *Op, out []tenon.Value) tensor.Tensor {
	if len(out) != 1 {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, o.Func(), fmt.Sprintf("has %d results where one is expected", len(out))))
	}
	return tenon.Must(asTensor(o, out[0]))
}

func tensors(o *Op, out []tenon.Value) ([]tensor.Tensor, error) {
	ts := make([]tensor.Tensor, len(out))
	for i, v := range out {
		t, err := asTensor(o, v)
		if err != nil {
			return nil, err
		}
		ts[i] = t
	}
	return ts, nil
}

func asTensor(o *Op, v tenon.Value) (tensor.Tensor, error) {
	t, ok := v.(tensor.Tensor)
	if !ok {
		e := tenon.NewError(tenon.ErrDType, o.Func(), fmt.Sprintf("was answered with a %s, which has no element type and shape", v.Spec().TypeName()))
		e.Hint = "give the type DType and Shape methods, or call the operation with op.Do"
		return nil, e
	}
	return t, nil
}
