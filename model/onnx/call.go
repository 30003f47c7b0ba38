package onnx

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// A call is the execution of a node: its inputs and attributes.
type call struct {
	n        *protoNode
	s        *scope
	in       []any
	given    []bool
	opset    int
	mayBeNil bool // outputs may be absent optional values
}

// An impl computes the outputs of a node. It throws errors.
type impl func(c *call) []any

// one is the result of an operation with one output.
func one(t any) []any { return []any{t} }

// has reports whether an input is given.
func (c *call) has(i int) bool { return i < len(c.in) && c.given[i] }

// x returns input i, a tensor.
func (c *call) x(i int) T {
	if !c.has(i) {
		refuse(tenon.ErrInvalid, "input %d is missing", i)
	}
	t, ok := c.in[i].(T)
	if !ok {
		refuse(tenon.ErrDType, "input %d is not a tensor", i)
	}
	return t
}

// xs returns all inputs.
func (c *call) xs() []T {
	out := make([]T, len(c.in))
	for i := range c.in {
		out[i] = c.x(i)
	}
	return out
}

// list returns input i as a sequence.
func (c *call) list(i int) []any {
	l, ok := c.value(i).([]any)
	if !ok {
		refuse(tenon.ErrDType, "input %d is not a sequence", i)
	}
	return l
}

// value returns input i, of any type.
func (c *call) value(i int) any {
	if !c.has(i) {
		refuse(tenon.ErrInvalid, "input %d is missing", i)
	}
	return c.in[i]
}

// attr returns an attribute. If it refers to one of the enclosing function, attr returns that.
func (c *call) attr(name string) *protoAttr {
	a := c.n.attrs[name]
	if a != nil && a.ref != "" {
		return c.s.attrs[a.ref]
	}
	return a
}

func (c *call) int(name string, otherwise int) int {
	if a := c.attr(name); a != nil {
		return int(a.i)
	}
	return otherwise
}

func (c *call) flag(name string) bool { return c.int(name, 0) != 0 }

func (c *call) float(name string, otherwise float64) float64 {
	if a := c.attr(name); a != nil {
		return float64(a.f)
	}
	return otherwise
}

func (c *call) text(name, otherwise string) string {
	if a := c.attr(name); a != nil {
		return string(a.s)
	}
	return otherwise
}

// ints returns a list of integers, or nil if the attribute is absent.
func (c *call) ints(name string) []int {
	a := c.attr(name)
	if a == nil {
		return nil
	}
	out := make([]int, len(a.ints))
	for i, x := range a.ints {
		out[i] = int(x)
	}
	return out
}

// graph returns an attribute that is a graph.
func (c *call) graph(name string) *protoGraph {
	a := c.attr(name)
	if a == nil || a.g == nil {
		refuse(tenon.ErrInvalid, "the attribute %s is missing", name)
	}
	return a.g
}

// dtype returns an attribute that is an element type.
func (c *call) dtype(name string, otherwise dtype.DType) dtype.DType {
	a := c.attr(name)
	if a == nil || a.i == 0 {
		return otherwise
	}
	dt, err := elementType(int(a.i))
	if err != nil {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Msg: err.Error()})
	}
	return dt
}

// intsAt returns a list of integers from input i or, in older models, from an attribute; nil if
// there is neither.
func (c *call) intsAt(i int, name string) []int {
	if c.has(i) {
		return c.known(i)
	}
	return c.ints(name)
}

// known returns the elements of input i, integers that must be known when the model is traced.
func (c *call) known(i int) []int {
	d := c.concrete(i)
	x := tensor.Data[int64](ops.Cast(ops.Reshape(d, []int{-1}), dtype.Int64))
	out := make([]int, len(x))
	for k, v := range x {
		out[k] = int(v)
	}
	return out
}

// concrete returns input i, whose elements must be known when the model is traced.
func (c *call) concrete(i int) T {
	d, ok := known(c.x(i))
	if !ok {
		refuse(tenon.ErrUnsupported, "the elements of input %s must be known when the model is traced", c.n.inputs[i])
	}
	return d
}

// isKnown reports whether the elements of input i are known.
func (c *call) isKnown(i int) bool {
	_, ok := known(c.x(i))
	return ok
}

// known returns the elements of a tensor if they are known. Weights have known elements; an
// operation that uses them to decide what to compute makes them constant.
func known(x T) (T, bool) {
	if v, ok := x.(*state.Variable); ok {
		return v.Value(), true
	}
	return op.Known(x)
}

// scalar returns the only element of an input, which must be known.
func (c *call) scalar(i int, otherwise float64) float64 {
	if !c.has(i) {
		return otherwise
	}
	f := c.floats(i)
	if len(f) != 1 {
		refuse(tenon.ErrShape, "input %d has %d elements, want one", i, len(f))
	}
	return f[0]
}

// floats returns the elements of an input, which must be known.
func (c *call) floats(i int) []float64 {
	d := c.concrete(i)
	return tensor.Data[float64](ops.Cast(ops.Reshape(d, []int{-1}), dtype.Float64))
}

// dims returns the sizes of a tensor, which must be known.
func dims(t T) []int {
	if !t.Shape().IsFull() {
		refuse(tenon.ErrUnsupported, "the sizes of %s must be known when the model is traced", tenon.String(t.Spec()))
	}
	return t.Shape().Dims()
}

// rank returns the number of axes.
func rank(t T) int {
	if !t.Shape().HasRank() {
		refuse(tenon.ErrUnsupported, "the number of axes must be known when the model is traced")
	}
	return t.Shape().Rank()
}

// axis counts a negative axis from the end.
func axis(a, rank int) int {
	if a < 0 {
		a += rank
	}
	if a < 0 || a > rank {
		refuse(tenon.ErrInvalid, "there is no axis %d among %d", a, rank)
	}
	return a
}

// like returns a number as a scalar of the type of a tensor.
func like(x float64, t T) T { return ops.Cast(tensor.Scalar(x), t.DType()) }

// size returns the size of an axis: a Go number if it is known, otherwise a symbolic scalar.
func size(t T, axis int) any {
	if n := t.Shape().Dim(axis); n >= 0 {
		return n
	}
	return ops.Index(ops.Shape(t), axis)
}

// upTo returns 0, 1, … n-1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// vector returns integers as a tensor.
func vector(x []int) T {
	out := make([]int64, len(x))
	for i, v := range x {
		out[i] = int64(v)
	}
	return tensor.Of(out, len(x))
}

// lowest returns the smallest number of an element type.
func lowest(dt dtype.DType) float64 {
	switch {
	case dt.IsFloat():
		return math.Inf(-1)
	case dt.IsSigned():
		return -math.Ldexp(1, dt.Bits()-1)
	}
	return 0
}
