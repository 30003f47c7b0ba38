package op

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/memory"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Elements are the element types that a parameter accepts.
type Elements struct {
	Name string // what an error asks for: "floating-point numbers"
	Has  func(dtype.DType) bool
}

// The predefined sets of element types.
var (
	Numbers       = &Elements{"numbers", dtype.DType.IsNumeric}
	Reals         = &Elements{"real numbers", dtype.DType.IsReal}
	Floats        = &Elements{"floating-point numbers", dtype.DType.IsFloat}
	Smooth        = &Elements{"floating-point or complex numbers", dtype.DType.IsDifferentiable}
	Integers      = &Elements{"integers", dtype.DType.IsInteger}
	Indices       = &Elements{"int32 or int64", func(d dtype.DType) bool { return d == dtype.Int32 || d == dtype.Int64 }}
	Bools         = &Elements{"booleans", dtype.DType.IsBool}
	NumbersBools  = &Elements{"numbers or booleans", func(d dtype.DType) bool { return d.IsNumeric() || d.IsBool() }}
	StringsOnly   = &Elements{"strings", dtype.DType.IsString}
	OrderedValues = &Elements{"real numbers, booleans or strings", func(d dtype.DType) bool { return d.IsReal() || d.IsBool() || d.IsString() }}
)

// Rank is the rank that a tensor parameter must have: [Scalar], [Vector] or, if it is positive, a
// minimum rank.
type Rank int8

// Ranks.
const (
	Scalar Rank = -1
	Vector Rank = -2
)

// Infer returns the Specs of a call's results. Tensor arguments may be symbolic. Infer first checks
// what the parameters accept and then calls [Op.Check]; element types and shapes follow from the
// statement unless the operation has functions of its own for them. Those functions may throw.
func (c *Call) Infer() (out []tenon.Spec, err error) {
	defer tenon.Catch(&err)
	o := c.Op
	for _, i := range o.tensors {
		if err := c.demand(&o.Params[i], c.Args[i]); err != nil {
			return nil, err
		}
	}
	if o.Check != nil {
		if err := o.Check(c); err != nil {
			return nil, err
		}
	}
	if o.Infer != nil {
		out, err := o.Infer(c)
		for _, s := range out {
			if t, ok := s.(*tensor.Spec); ok && err == nil {
				err = c.below(anyMemory, t.DType(), t.Shape())
			}
		}
		return out, err
	}
	d, err := c.elem()
	if err != nil {
		return nil, err
	}
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	if err := c.below(anyMemory, d, s); err != nil {
		return nil, err
	}
	out = make([]tenon.Spec, max(1, o.Results))
	for i := range out {
		if out[i] = tensor.NewSpec(d, s); o.Results > 1 && o.numbers(i) {
			out[i] = tensor.NewSpec(dtype.Int64, s)
		}
	}
	return out, nil
}

// numbers reports whether result i consists of positions or counts.
func (o *Op) numbers(i int) bool { return o.Places.Has(i) || o.Counts.Has(i) }

// demand checks an argument against what its parameter accepts.
func (c *Call) demand(p *Param, arg any) error {
	if p.Takes == nil && p.Rank == 0 {
		return nil
	}
	switch x := arg.(type) {
	case tensor.Tensor:
		if d := x.DType(); p.Takes != nil && !p.Takes.Has(d) {
			e := c.Errorf(tenon.ErrDType, "%s has the element type %v, want %s", p.Name, d, p.Takes.Name)
			if p.Takes == Indices && d.IsInteger() {
				e.Hint = "convert it with ops.Cast"
			}
			return e
		}
		s := x.Shape()
		want := ""
		switch {
		case p.Rank == 0 || !s.HasRank():
		case p.Rank == Scalar && s.Rank() != 0:
			want = "a scalar"
		case p.Rank == Vector && s.Rank() != 1:
			want = "a vector"
		case p.Rank > 0 && s.Rank() < int(p.Rank):
			return c.Errorf(tenon.ErrShape, "%s has rank %d, at least %d is needed", p.Name, s.Rank(), p.Rank)
		}
		if want != "" {
			return c.Errorf(tenon.ErrShape, "%s has the shape %v, want %s", p.Name, s, want)
		}
	case []tenon.Value:
		for _, v := range x {
			if err := c.demand(p, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// Demand checks that tensor argument i has one of the element types e. It is for
// requirements that depend on other arguments.
func (c *Call) Demand(i int, e *Elements) error {
	p := c.Op.Params[i]
	p.Takes = e
	return c.demand(&p, c.Args[i])
}

// Fits returns an error if a result does not fit in the machine's memory. Views of an operand may
// be larger.
func (c *Call) Fits(d dtype.DType, s shape.Shape) error {
	if o := c.Op; o.Axes == Broadcast || o.Axes == Create && o.Moves != 0 {
		return nil
	}
	return c.below(memory.Total(), d, s)
}

// anyMemory exceeds the memory of any machine; a traced function may run on
// another one.
const anyMemory = 1 << 46

// below returns an error if a tensor takes more than limit bytes.
func (c *Call) below(limit int64, d dtype.DType, s shape.Shape) error {
	size := max(1, d.Size())
	if !s.IsFull() {
		return nil
	}
	if n, err := s.CheckedSize(size); err != nil || int64(n) > limit/int64(size) {
		return c.Errorf(tenon.ErrShape, "%v%v is more than memory holds", d, s)
	}
	return nil
}

// elem returns the element type of the first result, usually that of the first operand that moves
// or, if none does, of the first operand.
func (c *Call) elem() (dtype.DType, error) {
	d := dtype.None
	for k, i := range c.Op.tensors {
		v := c.Args[i]
		if l, ok := v.([]tenon.Value); ok && len(l) > 0 {
			v = l[0]
		}
		moves := c.Op.Moves == 0 || c.Op.Moves.Has(k)
		if t, ok := v.(tensor.Tensor); ok && (d == dtype.None || moves) {
			if d = t.DType(); moves {
				break
			}
		}
	}
	switch {
	case c.Op.Elem != nil:
		e := c.Op.Elem(c, d)
		if e == dtype.None {
			return e, c.Errorf(tenon.ErrDType, "the operation is not defined for elements of type %v", d)
		}
		return e, nil
	case c.Op.numbers(0):
		return dtype.Int64, nil
	}
	return d, nil
}

// shaped reports whether the shape of an operation's results follows from its statement.
func (o *Op) shaped() bool {
	switch o.Axes {
	case Map, Scatter:
		return true
	case Join, Stack, Insert:
		return o.axis >= 0 && o.By == ByAxis
	case Reduce, Scan, Along:
		return o.By == ByAxis && (o.axis >= 0 || o.Core > 0) || o.By == ByRows && o.Control != 0
	}
	return false
}

// shape returns the shape of the first result.
func (c *Call) shape() (shape.Shape, error) {
	o := c.Op
	if o.Shape != nil {
		return o.Shape(c)
	}
	switch {
	case o.Axes == Map:
		return c.laid(shape.Shape{}, shape.Broadcast)
	case o.Axes == Join || o.Axes == Stack:
		return c.joined()
	case o.Axes == Insert:
		return c.inserted()
	case o.Axes == Scatter:
		return c.Tensor(o.tensors[0]).Shape(), nil
	case o.By == ByRows:
		return c.OfRows()
	}
	s, err := c.laid(shape.UnknownRank, func(s ...shape.Shape) (shape.Shape, error) { return shape.Merge(s[0], s[1]) })
	if err != nil {
		return s, err
	}
	if o.axis < 0 {
		switch {
		case s.HasRank() && s.Rank() < o.Core:
			return s, c.Errorf(tenon.ErrShape, "%s has rank %d, at least %d is needed", o.Params[o.tensors[0]].Name, s.Rank(), o.Core)
		case s.HasRank() && o.Axes == Reduce:
			s = s.Slice(0, s.Rank()-o.Core)
		}
		return s, nil
	}
	axes, known, err := c.SortedAxes(s)
	if err != nil || o.Axes != Reduce {
		return s, err
	}
	keep := o.keep >= 0 && c.Bool(o.keep)
	switch {
	case known:
		return Reduced(s, axes, keep), nil
	case c.Args[o.axis] == nil && !keep:
		return shape.Shape{}, nil
	}
	return shape.UnknownRank, nil
}

// laid combines the shapes of the operands that are not Control, as far as they are given.
func (c *Call) laid(s shape.Shape, by func(...shape.Shape) (shape.Shape, error)) (shape.Shape, error) {
	first := true
	for i, v := range c.Operands() {
		t, ok := v.(tensor.Tensor)
		if !ok || c.Op.Control.Has(i) {
			continue
		}
		if first {
			s, first = t.Shape(), false
			continue
		}
		m, err := by(s, t.Shape())
		if err != nil {
			return s, c.Errorf(tenon.ErrShape, "%s", strings.TrimPrefix(err.Error(), "shape: "))
		}
		s = m
	}
	return s, nil
}

// SortedAxes returns the axes of a tensor of shape s that a call names, sorted and counted from the
// start; all axes if the parameter is omitted. The list must not be changed. The axes are not known
// if the rank is unknown. An axis that does not exist, or is listed twice, is an error.
func (c *Call) SortedAxes(s shape.Shape) (list []int, known bool, err error) {
	if a, ok := c.Args[c.Op.axis].(int); ok {
		if a, err = c.Axis(a, s); err != nil || !s.HasRank() {
			return nil, s.HasRank(), err
		}
		return upTo[a : a+1 : a+1], true, nil
	}
	return c.AxesOf(c.Ints(c.Op.axis), s)
}

// upTo counts up from 0. Lists of all axes, and lists of one, are slices of it.
var upTo = func() (all [shape.MaxRank + 1]int) {
	for i := range all {
		all[i] = i
	}
	return all
}()

// AxesOf is [Call.SortedAxes] for a list of axes.
func (c *Call) AxesOf(axes []int, s shape.Shape) (list []int, known bool, err error) {
	switch {
	case !s.HasRank():
		return nil, false, nil
	case axes == nil:
		return upTo[:s.Rank():s.Rank()], true, nil
	}
	if len(axes) != 1 {
		list = make([]int, len(axes))
	}
	for i, a := range axes {
		if a, err = c.Axis(a, s); err != nil {
			return nil, true, err
		}
		if len(axes) == 1 {
			return upTo[a : a+1 : a+1], true, nil
		}
		list[i] = a
	}
	slices.Sort(list)
	for i := 1; i < len(list); i++ {
		if list[i] == list[i-1] {
			return nil, true, c.Errorf(tenon.ErrAxis, "axis %d is listed twice in %v", list[i], axes)
		}
	}
	return list, true, nil
}

// Axis converts an axis of a tensor of shape s to one that counts from the start. If the rank is
// unknown, it is returned unchanged.
func (c *Call) Axis(axis int, s shape.Shape) (int, error) {
	a, err := s.Axis(axis)
	if err != nil {
		return 0, c.Errorf(tenon.ErrAxis, "%v", err)
	}
	return a, nil
}

// Reduced returns a shape without the given sorted axes, or with size 1 there if
// keep is set.
func Reduced(s shape.Shape, axes []int, keep bool) shape.Shape {
	if len(axes) == s.Rank() && !keep {
		return shape.Shape{}
	}
	var room [8]int
	dims := s.AppendDims(room[:0])
	out := dims[:0]
	for i, d := range dims {
		switch {
		case !slices.Contains(axes, i):
			out = append(out, d)
		case keep:
			out = append(out, 1)
		}
	}
	return shape.Of(out...)
}
