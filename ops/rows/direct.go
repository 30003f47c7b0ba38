package rows

import (
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A directCall is a call with room for its arguments, in one piece of memory. It serves
// again once the kernel has returned: kernels keep no calls.
type directCall struct {
	op.Call
	room [8]any
}

var directCalls = sync.Pool{New: func() any { return new(directCall) }}

// free makes the call ready for another one. It keeps nothing alive until then.
func (c *directCall) free() {
	clear(c.Args)
	c.Out = nil
	directCalls.Put(c)
}

// needless has the operations whose kernels do without inferred Specs: the function checks
// what inference does, and reports whether all is well.
var needless = map[*op.Op]func(c *op.Call) bool{}

// alike reports whether argument 1 of a call divides the rows of argument 0, whose
// element type is accepted.
func alike(accepts func(dtype.DType) bool) func(c *op.Call) bool {
	return func(c *op.Call) bool {
		x := c.Dense(0)
		return divided(x, c.Dense(1)) != nil && accepts(x.DType())
	}
}

// direct runs an operation on arguments in memory that need no binding: tensors of the
// types that the operation wants, integers for scalars, and attributes of their Go types. It returns
// nil where the general way has to be taken, which also says what is wrong.
func direct(o *op.Op, args []any) []tensor.Tensor {
	made := directCalls.Get().(*directCall)
	if len(args) > len(o.Params) || len(o.Params) > len(made.room) {
		directCalls.Put(made)
		return nil
	}
	c := &made.Call
	c.Op, c.Args = o, made.room[:len(o.Params):len(o.Params)]
	defer made.free()
	group := dtype.None
	for i := range o.Params {
		p := &o.Params[i]
		if i >= len(args) || args[i] == nil {
			switch {
			case p.Kind == op.Attr:
				c.Args[i] = p.Default
			case !p.Optional:
				return nil
			}
			continue
		}
		switch {
		case p.Kind == op.Attr:
			c.Args[i] = args[i]
		case p.Kind == op.Tensor && p.Group == 0:
			t := inMemory(args[i])
			if t == nil {
				return nil
			}
			c.Args[i] = t
		case p.Kind == op.Tensor:
			t := inMemory(args[i])
			if t == nil || group != dtype.None && t.DType() != group {
				return nil
			}
			group = t.DType()
			c.Args[i] = t
		default:
			list, d := listInMemory(args[i])
			if list == nil || p.Group != 0 && (d == dtype.None || group != dtype.None && d != group) {
				return nil
			}
			if p.Group != 0 {
				group = d
			}
			c.Args[i] = list
		}
	}
	if fits := needless[o]; fits == nil || !fits(c) {
		specs, err := o.Infer(c)
		if err != nil {
			return nil
		}
		c.Out = specs
	}
	out, err := o.Kernel(c)
	if err != nil {
		return nil
	}
	return out
}

// inMemory returns a tensor that a kernel can take as it is, nil for anything else.
func inMemory(x any) tensor.Tensor {
	switch x := x.(type) {
	case *tensor.Dense:
		if x != nil && x.IsContiguous() {
			return x
		}
	case *tensor.Strings:
		if x != nil {
			return x
		}
	case int64:
		return tensor.Scalar(x)
	}
	return nil
}

// listInMemory is inMemory for lists, with the element type that all members have.
func listInMemory(x any) (list []tenon.Value, d dtype.DType) {
	ts, ok := x.([]tensor.Tensor)
	if !ok || len(ts) == 0 {
		return nil, dtype.None
	}
	list = make([]tenon.Value, len(ts))
	d = ts[0].DType()
	for i, t := range ts {
		m := inMemory(t)
		if m == nil {
			return nil, dtype.None
		}
		if m.DType() != d {
			d = dtype.None
		}
		list[i] = m
	}
	return list, d
}

// eval calls an operation with one result, by the short way where there is one. It throws errors.
func eval(o *op.Op, args ...any) tensor.Tensor {
	if out := direct(o, args); len(out) == 1 {
		return out[0]
	}
	return op.Eval(o, args...)
}

// evalN is eval for operations with several results.
func evalN(o *op.Op, args ...any) []tensor.Tensor {
	if out := direct(o, args); out != nil {
		return out
	}
	return op.EvalN(o, args...)
}
