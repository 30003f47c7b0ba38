package direct

import (
	"context"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A call is a call with room for its arguments, in one piece of memory. It serves again
// once the kernel has returned: the kernels of operations that come here keep no calls.
type call struct {
	op.Call
	room [8]any
}

var calls = sync.Pool{New: func() any { return new(call) }}

// free makes the call ready for another one. It keeps nothing alive until then.
func (c *call) free() {
	clear(c.Args)
	c.Out = nil
	c.SetContext(context.Background())
	calls.Put(c)
}

// checks has the operations whose kernels do without inferred Specs.
var checks = map[*op.Op]func(c *op.Call) bool{}

// Check has a function check the arguments of an operation in place of Infer: it reports
// whether the kernel may run, which then finds no inferred Specs. It is called while the
// program starts.
func Check(o *op.Op, fits func(c *op.Call) bool) { checks[o] = fits }

// Run runs an operation on arguments in memory that need no binding: tensors of the
// types that the operation wants, integers for scalars, and attributes of their Go types.
// It returns nil where the general way has to be taken, which also says what is wrong.
func Run(o *op.Op, args []any) []tensor.Tensor {
	if effects(o) || len(args) == 0 || len(args) > len(o.Params) || len(o.Params) > len(call{}.room) || !plausible(args[0]) {
		return nil
	}
	made := calls.Get().(*call)
	c := &made.Call
	c.Op, c.Args = o, made.room[:len(o.Params):len(o.Params)]
	if !bound(c, args) {
		made.free()
		return nil
	}
	return made.run()
}

// effects reports whether an operation does more than to compute its results. Those that
// check do not: they are stateful so that graphs keep them.
func effects(o *op.Op) bool { return o.Stateful && o.Class != op.Assert }

// bound puts arguments where the parameters want them; it reports false where they need
// more than that.
func bound(c *op.Call, args []any) bool {
	group := dtype.None
	for i := range c.Op.Params {
		p := &c.Op.Params[i]
		if i >= len(args) || args[i] == nil {
			switch {
			case p.Kind == op.Attr:
				c.Args[i] = p.Default
			case !p.Optional:
				return false
			}
			continue
		}
		var d dtype.DType
		switch p.Kind {
		case op.Attr:
			if !typed(p.Type, args[i]) {
				return false
			}
			c.Args[i] = args[i]
			continue
		case op.Tensor:
			t := inMemory(args[i])
			if t == nil {
				if v := vector(args[i]); v != nil {
					t = v
				} else {
					t = constant(args[i], p, group)
				}
			}
			if t == nil {
				return false
			}
			c.Args[i], d = t, t.DType()
		default:
			list, of := listInMemory(args[i])
			if list == nil {
				return false
			}
			c.Args[i], d = list, of
		}
		if p.Group != 0 {
			if d == dtype.None || group != dtype.None && d != group {
				return false
			}
			group = d
		}
	}
	return true
}

// typed reports whether an attribute has the Go type that binding gives it.
func typed(t op.Type, a any) (ok bool) {
	switch t {
	case op.AnyType:
		return true
	case op.BoolType:
		_, ok = a.(bool)
	case op.IntType:
		_, ok = a.(int)
	case op.FloatType:
		_, ok = a.(float64)
	case op.StringType:
		_, ok = a.(string)
	case op.DTypeType:
		_, ok = a.(dtype.DType)
	case op.ShapeType:
		_, ok = a.(shape.Shape)
	case op.IntsType:
		_, ok = a.([]int)
	case op.FloatsType:
		_, ok = a.([]float64)
	case op.StringsType:
		_, ok = a.([]string)
	}
	return ok
}

// constant returns a Go number behind a tensor of its group as binding converts it, nil
// where binding has to decide.
func constant(x any, p *op.Param, group dtype.DType) tensor.Tensor {
	if n, ok := x.(int); ok && p.Group == 0 {
		return tensor.Scalar(int64(n))
	}
	if p.Group == 0 || group == dtype.None {
		return nil
	}
	switch x.(type) {
	case int, float64, float32:
		if t, ok := tensor.ScalarLike(x, group); ok {
			return t
		}
	}
	return nil
}

// run checks and runs a bound call, and frees it.
func (made *call) run() []tensor.Tensor {
	c := &made.Call
	if fits := checks[c.Op]; fits == nil || !fits(c) {
		specs, err := c.Op.Infer(c)
		if err != nil {
			made.free()
			return nil
		}
		c.Out = specs
	}
	out, err := kernel(c)
	made.free()
	if err != nil {
		return nil
	}
	return out
}

func kernel(c *op.Call) (out []tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return c.Op.Kernel(c)
}

// plausible reports whether an argument may be one in memory: structured and symbolic
// tensors are told at once.
func plausible(x any) bool {
	switch x.(type) {
	case *tensor.Dense, *tensor.Strings, []tensor.Tensor, int64, nil:
		return true
	}
	return false
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
	for i, t := range ts {
		switch m := inMemory(t); {
		case m == nil:
			return nil, dtype.None
		case i == 0:
			d = m.DType()
		case m.DType() != d:
			d = dtype.None
		}
	}
	list = make([]tenon.Value, len(ts))
	for i, t := range ts {
		list[i] = t
	}
	return list, d
}

// Eval calls an operation with one result, by the short way where there is one. It throws errors.
func Eval(o *op.Op, args ...any) tensor.Tensor {
	if out := Run(o, args); len(out) == 1 {
		return out[0]
	}
	return op.Eval(o, converted(o, args)...)
}

// EvalN is [Eval] for operations with several results.
func EvalN(o *op.Op, args ...any) []tensor.Tensor {
	if out := Run(o, args); out != nil {
		return out
	}
	return op.EvalN(o, converted(o, args)...)
}

// converted returns arguments with slices as the vectors that binding makes of them, which
// tries first whether they are numbers.
func converted(o *op.Op, args []any) []any {
	for i, a := range args {
		if i >= len(o.Params) || o.Params[i].Kind != op.Tensor {
			continue
		}
		if v := vector(a); v != nil {
			args[i] = v
		}
	}
	return args
}

// vector returns a slice of numbers or truth values as a tensor, nil for anything else.
func vector(x any) *tensor.Dense {
	switch x := x.(type) {
	case []int:
		return tensor.Vector(x)
	case []int64:
		return tensor.Vector(x)
	case []int32:
		return tensor.Vector(x)
	case []float32:
		return tensor.Vector(x)
	case []float64:
		return tensor.Vector(x)
	case []bool:
		return tensor.Vector(x)
	case [][]int:
		return matrix(x)
	case [][]int64:
		return matrix(x)
	}
	return nil
}

// matrix returns rows of one length as a tensor, nil for others.
func matrix[T int | int64](rows [][]T) *tensor.Dense {
	if len(rows) == 0 {
		return nil
	}
	m := len(rows[0])
	out := make([]T, 0, len(rows)*m)
	for _, r := range rows {
		if len(r) != m {
			return nil
		}
		out = append(out, r...)
	}
	return tensor.Wrap(out, shape.Of(len(rows), m))
}

// Apply calls the operation of c, which has no lists of tensors, with other tensor
// arguments, in the order of [op.Call.Values], and the same attributes. It throws errors.
func Apply(c *op.Call, values []tenon.Value) tensor.Tensor {
	if out := c.Op.Fast(values); out != nil {
		return out
	}
	if out := applied(c, values); len(out) == 1 {
		return out[0]
	}
	return op.Apply(c, values...)
}

// applied is Apply for tensors in memory, nil where the general way has to be taken.
func applied(c *op.Call, values []tenon.Value) []tensor.Tensor {
	o := c.Op
	if effects(o) || len(o.Params) > len(call{}.room) {
		return nil
	}
	made := calls.Get().(*call)
	d := &made.Call
	d.Op, d.Args = o, made.room[:len(o.Params):len(o.Params)]
	d.SetContext(c.Context())
	group, k := dtype.None, 0
	for i := range o.Params {
		p := &o.Params[i]
		if p.Kind == op.Attr || c.Args[i] == nil {
			d.Args[i] = c.Args[i]
			continue
		}
		if p.Kind != op.Tensor || k == len(values) {
			made.free()
			return nil
		}
		t := inMemory(values[k])
		if k++; t == nil || p.Group != 0 && group != dtype.None && t.DType() != group {
			made.free()
			return nil
		}
		if d.Args[i] = t; p.Group != 0 {
			group = t.DType()
		}
	}
	if k != len(values) {
		made.free()
		return nil
	}
	return made.run()
}
