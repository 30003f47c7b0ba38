package op

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Call is an operation with arguments bound to its parameters.
type Call struct {
	Op *Op

	// Args has an entry for each parameter: a tenon.Value or nil, a
	// []tenon.Value, or an attribute's value. It must not be changed.
	Args []any

	// Out holds the inferred Specs of the results when the kernel runs.
	Out []tenon.Spec

	ctx context.Context

	plan *plan // what is remembered about such calls; nil if that has not been looked up

	result [1]tensor.Tensor // memory for the result of an operation that has one
}

// Result returns t in the form in which a kernel with one result returns it. The first call uses
// memory of the Call itself.
func (c *Call) Result(t tensor.Tensor) ([]tensor.Tensor, error) {
	if c.result[0] != nil {
		return []tensor.Tensor{t}, nil
	}
	c.result[0] = t
	return c.result[:], nil
}

// Context returns the context of the run that a kernel is part of. Kernels that take long, or that
// run graphs, stop when it is done.
func (c *Call) Context() context.Context {
	if c.ctx == nil {
		return context.Background()
	}
	return c.ctx
}

// SetContext sets the result of [Call.Context]. It must be called before the call
// runs.
func (c *Call) SetContext(ctx context.Context) { c.ctx = ctx }

// A Call together with memory for its arguments, so that most calls need only one allocation, no
// larger than necessary: allocation is most of the cost of a call.
type (
	callOf2 struct {
		Call
		args [2]any
	}
	callOf3 struct {
		Call
		args [3]any
	}
	callOf4 struct {
		Call
		args [4]any
	}
)

// newCall returns a call without arguments.
func newCall(o *Op) *Call {
	var c *Call
	switch n := len(o.Params); {
	case n <= 2:
		x := new(callOf2)
		c, x.Args = &x.Call, x.args[:n:n]
	case n == 3:
		x := new(callOf3)
		c, x.Args = &x.Call, x.args[:]
	case n == 4:
		x := new(callOf4)
		c, x.Args = &x.Call, x.args[:]
	default:
		c = &Call{Args: make([]any, n)}
	}
	c.Op = o
	return c
}

// NewCall binds positional arguments; see [Bind].
func NewCall(o *Op, args ...any) (*Call, error) { return Bind(o, args, nil) }

// Value returns tensor argument i, which may be nil if it is optional.
func (c *Call) Value(i int) tenon.Value {
	v, _ := c.Args[i].(tenon.Value)
	return v
}

// Arg returns argument i of a call if it is a T. Handlers use it to get at values of their own
// type:
//
//	x, ok := op.Arg[*Pair](c, 0)
func Arg[T any](c *Call, i int) (T, bool) {
	x, ok := c.Args[i].(T)
	return x, ok
}

// Tensor returns tensor argument i as a tensor, or nil.
func (c *Call) Tensor(i int) tensor.Tensor {
	t, _ := c.Args[i].(tensor.Tensor)
	return t
}

// Dense returns tensor argument i of a kernel's call as a dense tensor, or nil if
// it is absent or holds strings.
func (c *Call) Dense(i int) *tensor.Dense {
	d, _ := c.Args[i].(*tensor.Dense)
	return d
}

// Strings returns tensor argument i of a kernel's call as a string tensor.
func (c *Call) Strings(i int) *tensor.Strings {
	s, _ := c.Args[i].(*tensor.Strings)
	return s
}

// List returns list argument i.
func (c *Call) List(i int) []tenon.Value {
	l, _ := c.Args[i].([]tenon.Value)
	return l
}

// Tensors returns list argument i of a kernel's call, or of a recorded call, in which all values of
// the list are tensors.
func (c *Call) Tensors(i int) []tensor.Tensor {
	l := c.List(i)
	out := make([]tensor.Tensor, len(l))
	for k, v := range l {
		out[k] = v.(tensor.Tensor)
	}
	return out
}

// Has reports whether argument i was given or has a non-nil default.
func (c *Call) Has(i int) bool { return c.Args[i] != nil }

// Bool returns attribute i, a bool.
func (c *Call) Bool(i int) bool { b, _ := c.Args[i].(bool); return b }

// Int returns attribute i, an int.
func (c *Call) Int(i int) int { n, _ := c.Args[i].(int); return n }

// Float returns attribute i, a float64.
func (c *Call) Float(i int) float64 { f, _ := c.Args[i].(float64); return f }

// Str returns attribute i, a string.
func (c *Call) Str(i int) string { s, _ := c.Args[i].(string); return s }

// DType returns attribute i, an element type.
func (c *Call) DType(i int) dtype.DType { d, _ := c.Args[i].(dtype.DType); return d }

// Shape returns attribute i, a shape.
func (c *Call) Shape(i int) shape.Shape { s, _ := c.Args[i].(shape.Shape); return s }

// Ints returns attribute i, a list of integers. It returns nil if the attribute
// was omitted.
func (c *Call) Ints(i int) []int { l, _ := c.Args[i].([]int); return l }

// Floats returns attribute i, a list of numbers. It returns nil if the attribute
// was omitted.
func (c *Call) Floats(i int) []float64 { l, _ := c.Args[i].([]float64); return l }

// Strs returns attribute i, a list of strings. It returns nil if the attribute
// was omitted.
func (c *Call) Strs(i int) []string { l, _ := c.Args[i].([]string); return l }

// Attr returns the argument of the parameter with the given name, or nil if there
// is none.
func (c *Call) Attr(name string) any {
	if i := c.Op.Param(name); i >= 0 {
		return c.Args[i]
	}
	return nil
}

// A Constant is a symbolic tensor whose elements may be known.
type Constant interface {
	ConstValue() (tensor.Tensor, bool)
}

// Const returns tensor argument i if its elements are known, because it is
// concrete or a constant of a graph.
func (c *Call) Const(i int) (tensor.Tensor, bool) {
	return Known(c.Args[i])
}

// Known returns v as a concrete tensor if its elements are known.
func Known(v any) (tensor.Tensor, bool) {
	switch v := v.(type) {
	case *tensor.Dense:
		return v, true
	case *tensor.Strings:
		return v, true
	case Constant:
		return v.ConstValue()
	}
	return nil, false
}

// ConstInts returns an integer tensor argument as a slice if its elements are known.
func (c *Call) ConstInts(i int) ([]int, bool) {
	t, ok := c.Const(i)
	if !ok {
		return nil, false
	}
	return Ints(t)
}

// Ints returns the elements of a concrete integer tensor.
func Ints(t tensor.Tensor) ([]int, bool) {
	d, ok := t.(*tensor.Dense)
	if !ok {
		return nil, false
	}
	switch d.DType() {
	case dtype.Int64:
		return slices.Clone(tensor.Data[int](d)), true
	case dtype.Int32:
		out := make([]int, d.Len())
		for k, x := range tensor.Data[int32](d) {
			out[k] = int(x)
		}
		return out, true
	}
	return nil, false
}

// Values returns the tensor arguments in the order of the parameters, with lists
// flattened and absent arguments omitted.
func (c *Call) Values() []tenon.Value {
	return c.AppendValues(make([]tenon.Value, 0, len(c.Op.tensors)))
}

// AppendValues appends the result of [Call.Values] to a slice, for callers that have memory for it.
func (c *Call) AppendValues(out []tenon.Value) []tenon.Value {
	for _, i := range c.Op.tensors {
		switch v := c.Args[i].(type) {
		case []tenon.Value:
			out = append(out, v...)
		case tenon.Value:
			out = append(out, v)
		}
	}
	return out
}

// countValues returns the length of [Call.Values].
func (c *Call) countValues() int {
	n := 0
	for _, i := range c.Op.tensors {
		switch v := c.Args[i].(type) {
		case []tenon.Value:
			n += len(v)
		case tenon.Value:
			n++
		}
	}
	return n
}

// WithValues returns the same call with other tensor arguments, in the order of
// [Call.Values].
func (c *Call) WithValues(values []tenon.Value) *Call {
	d := newCall(c.Op)
	d.ctx = c.ctx
	copy(d.Args, c.Args)
	k := 0
	for _, i := range c.Op.tensors {
		switch v := c.Args[i].(type) {
		case []tenon.Value:
			d.Args[i] = slices.Clone(values[k : k+len(v)])
			k += len(v)
		case tenon.Value:
			d.Args[i] = values[k]
			k++
		}
	}
	return d
}

// WithArg returns the same call with another argument for one parameter.
func (c *Call) WithArg(i int, arg any) *Call {
	d := newCall(c.Op)
	d.ctx = c.ctx
	copy(d.Args, c.Args)
	d.Args[i] = arg
	return d
}

// Errorf returns an error about the call: its operation, the Specs of its
// arguments and the user's line.
func (c *Call) Errorf(kind error, format string, args ...any) *tenon.Error {
	return c.Fail(&tenon.Error{Kind: kind, Msg: fmt.Sprintf(format, args...)})
}

// Fail completes an error with the call's operation, arguments and line.
func (c *Call) Fail(err error) *tenon.Error {
	if err == NotHandled {
		return c.unanswered()
	}
	e := tenon.AsError(err)
	if e.Op != "" && e.Args != nil {
		return e
	}
	f := *e
	f.Op = c.Op.Func()
	f.Args = c.describe()
	if f.Line == "" {
		f.Line = source.Line()
	}
	return &f
}

func (c *Call) describe() []string {
	out := []string{}
	for _, i := range c.Op.tensors {
		switch v := c.Args[i].(type) {
		case []tenon.Value:
			s := "["
			for k, x := range v {
				if k > 0 {
					s += ", "
				}
				if k == 8 && len(v) > 9 {
					s += fmt.Sprintf("… %d more", len(v)-k)
					break
				}
				s += describe(x)
			}
			out = append(out, s+"]")
		case tenon.Value:
			out = append(out, describe(v))
		}
	}
	return out
}

func describe(v tenon.Value) string {
	if v == nil {
		return "nil"
	}
	return tenon.String(v.Spec())
}
