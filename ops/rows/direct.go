package rows

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// direct runs an operation on arguments in memory that need no binding: tensors of the
// types that the operation wants, integers for scalars, and attributes of their Go types. It returns
// nil where the general way has to be taken, which also says what is wrong.
func direct(o *op.Op, args []any) []tensor.Tensor {
	if len(args) > len(o.Params) {
		return nil
	}
	c := &op.Call{Op: o, Args: make([]any, len(o.Params))}
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
	specs, err := o.Infer(c)
	if err != nil {
		return nil
	}
	c.Out = specs
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
