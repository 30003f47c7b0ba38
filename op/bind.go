package op

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Bind assigns arguments to parameters: first positional arguments, then named ones, then defaults.
// It returns an error if an argument is superfluous, given twice, missing, unknown or of the wrong
// kind. Go constants among tensors become tensors; in a group of parameters they take the element
// type of the first tensor, if they fit it.
func Bind(o *Op, args []any, named map[string]any) (*Call, error) {
	c := newCall(o)
	if err := c.bind(args, named); err != nil {
		return nil, err
	}
	return c, nil
}

// bind is [Bind] for a call without arguments.
func (c *Call) bind(args []any, named map[string]any) error {
	o := c.Op
	if o.plain && len(args) == len(o.Params) && len(named) == 0 && allValues(args) {
		copy(c.Args, args)
		return nil
	}
	fail := func(kind error, where, format string, a ...any) error {
		return &tenon.Error{Kind: kind, Op: o.Func(), Where: where, Msg: fmt.Sprintf(format, a...), Args: []string{}, Line: line()}
	}
	if len(args) > len(o.Params) {
		return fail(tenon.ErrDType, "", "takes %d arguments, got %d", len(o.Params), len(args))
	}
	for i, a := range args {
		if o.Params[i].KeyOnly {
			return fail(tenon.ErrDType, o.Params[i].Name, "is given by name only")
		}
		c.Args[i] = a
	}
	if len(named) > 0 {
		for name, a := range named {
			i := o.Param(name)
			if i < 0 {
				return fail(tenon.ErrDType, name, "there is no such parameter; there are %v", names(o))
			}
			if i < len(args) {
				return fail(tenon.ErrDType, name, "is given twice")
			}
			c.Args[i] = a
		}
	}
	for i := range o.Params {
		p := &o.Params[i]
		given := i < len(args)
		if !given && len(named) > 0 {
			_, given = named[p.Name]
		}
		if !given || c.Args[i] == nil {
			if p.Default == nil && !p.Optional {
				if given {
					return fail(tenon.ErrDType, p.Name, "is nil")
				}
				return fail(tenon.ErrDType, p.Name, "is missing")
			}
			c.Args[i] = p.Default
			continue
		}
		if p.Kind == Attr {
			a, ok := p.attribute(c.Args[i])
			if !ok {
				return fail(tenon.ErrDType, p.Name, "got the %T %v, want %s", c.Args[i], c.Args[i], p.want())
			}
			c.Args[i] = a
		}
	}
	return bindTensors(c)
}

// allValues reports whether all arguments are Values already. They need no
// binding if all parameters are single tensors.
func allValues(args []any) bool {
	for _, a := range args {
		v, ok := a.(tenon.Value)
		if !ok || isNil(v) {
			return false
		}
	}
	return true
}

func names(o *Op) []string {
	out := make([]string, len(o.Params))
	for i, p := range o.Params {
		out[i] = p.Name
	}
	return out
}

var typeNames = [...]string{"anything", "a bool", "an integer", "a number", "a string", "an element type", "a shape", "a list of integers", "a list of numbers", "a list of strings", "a Spec"}

// attribute converts a to the Go type of an attribute.
func (p *Param) attribute(a any) (any, bool) {
	if p.Convert != nil {
		return p.Convert(a)
	}
	return attribute(p.Type, a)
}

// want describes what an attribute must be.
func (p *Param) want() string {
	if p.Convert != nil {
		return "a " + p.Name
	}
	return typeNames[p.Type]
}

// attribute converts a to the Go type of t.
func attribute(t Type, a any) (any, bool) {
	switch t {
	case AnyType:
		return a, true
	case BoolType:
		_, ok := a.(bool)
		return a, ok
	case IntType:
		return integer(a)
	case FloatType:
		if _, ok := a.(float64); ok {
			return a, true // unchanged, without allocating
		}
		v := reflect.ValueOf(a)
		switch {
		case v.CanFloat():
			return v.Float(), true
		case v.CanInt():
			return float64(v.Int()), true
		}
	case StringType:
		_, ok := a.(string)
		return a, ok
	case DTypeType:
		_, ok := a.(dtype.DType)
		return a, ok
	case ShapeType:
		switch v := a.(type) {
		case shape.Shape:
			return a, true
		case []int:
			s, err := shape.From(v)
			return s, err == nil
		}
	case IntsType:
		switch v := a.(type) {
		case []int:
			return a, true
		case []int64:
			out := make([]int, len(v))
			for i, x := range v {
				out[i] = int(x)
			}
			return out, true
		case shape.Shape:
			return v.Dims(), v.HasRank()
		}
		n, ok := integer(a)
		if ok {
			return []int{n.(int)}, true
		}
	case FloatsType:
		if _, ok := a.([]float64); ok {
			return a, true
		}
		if f, ok := attribute(FloatType, a); ok {
			return []float64{f.(float64)}, true
		}
	case StringsType:
		switch v := a.(type) {
		case []string:
			return a, true
		case string:
			return []string{v}, true
		}
	case SpecType:
		_, ok := a.(tenon.Spec)
		return a, ok
	}
	return nil, false
}

func integer(a any) (any, bool) {
	if _, ok := a.(int); ok {
		return a, true
	}
	v := reflect.ValueOf(a)
	if v.IsValid() && v.CanInt() {
		return int(v.Int()), true
	}
	return nil, false
}

// peers holds the element type of the first tensor of each group of parameters.
type peers [4]dtype.DType

// note records a tensor given for a parameter of a group.
func (p *peers) note(g uint8, t tensor.Tensor) {
	if g > 0 && int(g) < len(p) && p[g] == dtype.None {
		p[g] = t.DType()
	}
}

// number returns a Go number or boolean as a scalar of the element type of the parameter's peers,
// if it fits.
func (p *peers) number(of *Param, a any) (tensor.Tensor, bool) {
	if of.Group == 0 || int(of.Group) >= len(p) {
		return nil, false
	}
	return tensor.ScalarLike(a, p[of.Group])
}

// bindTensors converts the tensor arguments to Values.
func bindTensors(c *Call) error {
	o := c.Op
	var peers peers
	note := func(g uint8, v tenon.Value) {
		if t, ok := v.(tensor.Tensor); ok && !isNil(v) {
			peers.note(g, t)
		}
	}
	for _, i := range o.tensors {
		switch a := c.Args[i].(type) {
		case tenon.Value:
			note(o.Params[i].Group, a)
		case []tenon.Value:
			for _, v := range a {
				note(o.Params[i].Group, v)
			}
		}
	}
	for _, i := range o.tensors {
		p := &o.Params[i]
		if c.Args[i] == nil {
			continue
		}
		if p.Kind == Tensors {
			l, err := list(c, p, c.Args[i], peers)
			if err != nil {
				return err
			}
			if _, ok := c.Args[i].([]tenon.Value); !ok { // otherwise it is a list of Values already
				c.Args[i] = l
			}
			continue
		}
		v, err := operand(c, p, c.Args[i], peers)
		if err != nil {
			return err
		}
		c.Args[i] = v
	}
	return nil
}

// isNil reports whether a Value is a nil pointer, whose methods would panic.
func isNil(v tenon.Value) bool {
	switch v := v.(type) {
	case *tensor.Dense:
		return v == nil
	case *tensor.Strings:
		return v == nil
	}
	p := reflect.ValueOf(v)
	return p.Kind() == reflect.Pointer && p.IsNil()
}

func nilArg(c *Call, where string, v any) error {
	msg := "is nil"
	if v != nil {
		msg = fmt.Sprintf("is a nil %T", v)
	}
	return &tenon.Error{Kind: tenon.ErrDType, Op: c.Op.Func(), Where: where, Msg: msg, Args: []string{}, Line: line()}
}

func operand(c *Call, p *Param, a any, peers peers) (tenon.Value, error) {
	if v, ok := a.(tenon.Value); ok {
		if isNil(v) {
			return nil, nilArg(c, p.Name, v)
		}
		return v, nil
	}
	if t, ok := peers.number(p, a); ok {
		return t, nil
	}
	if s, ok := a.(shape.Shape); ok && s.HasRank() {
		return tensor.Vector(s.Dims()), nil
	}
	t, err := tensor.Convert(a)
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrDType, Op: c.Op.Func(), Where: p.Name, Msg: fmt.Sprintf("a %T is not a tensor", a), Args: []string{}, Line: line(), Err: err}
	}
	return t, nil
}

func list(c *Call, p *Param, a any, peers peers) ([]tenon.Value, error) {
	switch a := a.(type) {
	case []tenon.Value:
		for i, v := range a {
			if v == nil || isNil(v) {
				return nil, nilArg(c, fmt.Sprintf("%s[%d]", p.Name, i), v)
			}
		}
		return a, nil
	case []tensor.Tensor:
		out := make([]tenon.Value, len(a))
		for i, v := range a {
			if v == nil || isNil(v) {
				return nil, nilArg(c, fmt.Sprintf("%s[%d]", p.Name, i), v)
			}
			out[i] = v
		}
		return out, nil
	}
	elems, ok := a.([]any)
	if !ok {
		v := reflect.ValueOf(a)
		if !v.IsValid() || v.Kind() != reflect.Slice {
			return nil, &tenon.Error{Kind: tenon.ErrDType, Op: c.Op.Func(), Where: p.Name, Msg: fmt.Sprintf("a %T is not a list of tensors", a), Args: []string{}, Line: line()}
		}
		elems = make([]any, v.Len())
		for i := range elems {
			elems[i] = v.Index(i).Interface()
		}
	}
	for _, e := range elems {
		if t, ok := e.(tensor.Tensor); ok && !isNil(t) {
			peers.note(p.Group, t)
		}
	}
	out := make([]tenon.Value, len(elems))
	for i, e := range elems {
		x, err := operand(c, p, e, peers)
		if err != nil {
			tenon.AsError(err).Where = fmt.Sprintf("%s[%d]", p.Name, i)
			return nil, err
		}
		out[i] = x
	}
	return slices.Clip(out), nil
}
