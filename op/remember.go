package op

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Calls whose arguments are tensors in memory of the same element types and shapes, with the same
// attributes, are bound alike and have results with the same Specs. An operation remembers the
// outcome for a few such kinds of calls, so that repeated calls only run the kernel.

// Limits on what is remembered: kinds of calls per operation, tensors in a list, and integers in a
// list or in an operand that says where or how many.
const (
	rememberedPlans    = 16 // a power of 2
	rememberedTensors  = 8
	rememberedIntegers = 8
)

// A plan is the outcome of binding and inference for calls of one kind. It is not changed once it
// is remembered, and it contains no values other than sizes given as numbers.
type plan struct {
	hash  uint64 // of the kind
	given []argument
	bound []any // arguments that do not depend on the call: attributes and sizes
	out   []tenon.Spec
}

// unplanned is the plan of a call that is not to be remembered.
var unplanned = new(plan)

// An argument describes an argument as it is given.
type argument struct {
	kind  argumentKind
	dtype dtype.DType // of a tensor, or of the scalar made from a number
	shape shape.Shape
	fixed any        // an attribute, a number, or sizes
	list  []argument // the tensors of a list
	read  bool       // the elements matter; those of a tensor are in fixed
}

type argumentKind uint8

const (
	isFixed  argumentKind = iota // bound holds the converted value
	isDense                      // a tensor
	isNumber                     // a Go number or boolean in place of a tensor
	isListed                     // a list of tensors
)

// plans holds the plans that an operation remembers. seen is the hash of the last kind of call that
// was not found; a kind that is seen twice is remembered. It is the complement of the hash if the
// kind turned out not to be remembered.
type plans [rememberedPlans]struct {
	plan atomic.Pointer[plan]
	seen atomic.Uint64
}

// plansOf returns the plans that the operation remembers, allocating them if
// necessary.
func (o *Op) plansOf() *plans {
	if p := o.memory.plans.Load(); p != nil {
		return p
	}
	o.memory.plans.CompareAndSwap(nil, new(plans))
	return o.memory.plans.Load()
}

// recall returns the plan for calls with such arguments, or nil if none is remembered. It also
// returns the hash of their kind, which is 0 if nothing is to be remembered.
func (o *Op) recall(args []any) (*plan, uint64) {
	if !o.alike || len(args) > len(o.Params) {
		return nil, 0
	}
	h := uint64(len(args)) + 1
	for _, a := range args {
		x, ok := hashOf(a)
		if !ok {
			return nil, 0
		}
		h = (h ^ x) * 0x9E3779B97F4A7C15
	}
	h = max(h^h>>32, 1)
	all := o.memory.plans.Load()
	if all == nil {
		return nil, h
	}
	p := all[h%rememberedPlans].plan.Load()
	if p == nil || p.hash != h || len(p.given) != len(args) {
		return nil, h
	}
	for i, a := range args {
		if !p.given[i].is(a) {
			return nil, h
		}
	}
	return p, h
}

// hashOf returns the hash of an argument's kind, and false for arguments that plans do not cover.
func hashOf(a any) (uint64, bool) {
	switch a := a.(type) {
	case *tensor.Dense:
		if a == nil {
			return 0, false
		}
		return a.Shape().Hash() + uint64(a.DType()), true
	case nil:
		return 1, true
	case bool:
		if a {
			return 2, true
		}
		return 3, true
	case int:
		return uint64(a) + 4, true
	case float64:
		return math.Float64bits(a), true
	case dtype.DType:
		return uint64(a) << 8, true
	case string:
		return uint64(len(a)) << 16, true
	case shape.Shape:
		return a.Hash() + 5, true
	case []int:
		h := uint64(len(a)) << 24
		for _, n := range a {
			h = h*31 + uint64(n)
		}
		return h, len(a) <= rememberedIntegers
	case []tensor.Tensor:
		return hashOfList(a)
	case []tenon.Value:
		return hashOfList(a)
	case []any:
		return hashOfList(a)
	}
	if a, ok := a.(SameAttribute); ok {
		return 6, a.SameAttr(a)
	}
	return 0, false
}

func hashOfList[T any](l []T) (uint64, bool) {
	h := uint64(len(l)) << 32
	if len(l) > rememberedTensors {
		return 0, false
	}
	for _, x := range l {
		d, ok := any(x).(*tensor.Dense)
		if !ok || d == nil {
			return 0, false
		}
		h = h*31 + d.Shape().Hash() + uint64(d.DType())
	}
	return h, true
}

// is reports whether an argument is of this kind.
func (g *argument) is(a any) bool {
	switch a := a.(type) {
	case *tensor.Dense:
		return g.kind == isDense && g.dtype == a.DType() && g.shape.Equal(a.Shape()) && (!g.read || hasInts(a, g.fixed.([]int)))
	case []int:
		l, ok := g.fixed.([]int)
		return g.kind == isFixed && ok && (a == nil) == (l == nil) && slices.Equal(a, l)
	case shape.Shape:
		s, ok := g.fixed.(shape.Shape)
		return g.kind == isFixed && ok && s.Equal(a)
	case []tensor.Tensor:
		return isList(g, a)
	case []tenon.Value:
		return isList(g, a)
	case []any:
		return isList(g, a)
	case nil, bool, int, float64, string, dtype.DType:
		switch g.kind {
		case isFixed:
			return g.fixed == a
		case isNumber:
			return sameType(g.fixed, a) && (!g.read || g.fixed == a)
		}
		return false
	}
	s, ok := g.fixed.(SameAttribute)
	return g.kind == isFixed && ok && s.SameAttr(a)
}

func isList[T any](g *argument, l []T) bool {
	if g.kind != isListed || len(l) != len(g.list) {
		return false
	}
	for i, x := range l {
		if !g.list[i].is(any(x)) {
			return false
		}
	}
	return true
}

// sameType reports whether two numbers or booleans have the same Go type.
func sameType(a, b any) bool {
	switch a.(type) {
	case int:
		_, ok := b.(int)
		return ok
	case float64:
		_, ok := b.(float64)
		return ok
	case bool:
		_, ok := b.(bool)
		return ok
	}
	return false
}

// hasInts reports whether want are the elements of a tensor.
func hasInts(d *tensor.Dense, want []int) bool {
	switch d.DType() {
	case dtype.Int64:
		return slices.Equal(tensor.Data[int](d), want)
	case dtype.Int32:
		return slices.EqualFunc(tensor.Data[int32](d), want, func(a int32, b int) bool { return int(a) == b })
	}
	return false
}

// planned binds arguments as the plan says. It returns false if a number does not fit the element
// type that it had last time.
func (c *Call) planned(p *plan, args []any) bool {
	for i, b := range p.bound {
		if i >= len(args) {
			c.Args[i] = b
			continue
		}
		switch g := &p.given[i]; g.kind {
		case isDense:
			c.Args[i] = args[i]
		case isNumber:
			t, ok := tensor.ScalarLike(args[i], g.dtype)
			if !ok {
				return false
			}
			c.Args[i] = t
		case isListed:
			c.Args[i] = valuesOf(args[i])
		default:
			c.Args[i] = b
		}
	}
	c.plan = p
	return true
}

// valuesOf returns a list of tensors as binding would.
func valuesOf(l any) []tenon.Value {
	switch l := l.(type) {
	case []tenon.Value:
		return l
	case []tensor.Tensor:
		return eachValue(l)
	case []any:
		return eachValue(l)
	}
	return nil
}

func eachValue[T any](l []T) []tenon.Value {
	out := make([]tenon.Value, len(l))
	for i, x := range l {
		out[i] = any(x).(tenon.Value)
	}
	return out
}

// learns returns a plan that is to be completed when a call with such arguments has run, or
// [unplanned]. The hash is that of their kind.
func (o *Op) learns(args []any, hash uint64) *plan {
	if hash == 0 {
		return unplanned
	}
	switch seen := &o.plansOf()[hash%rememberedPlans].seen; seen.Load() {
	case hash:
	case ^hash:
		return unplanned
	default:
		seen.Store(hash)
		return unplanned
	}
	p := &plan{hash: hash, given: make([]argument, len(args)), bound: make([]any, len(o.Params))}
	for i, a := range args {
		p.given[i] = argumentOf(a)
	}
	return p
}

// argumentOf describes an argument for which [hashOf] returns a hash.
func argumentOf(a any) argument {
	switch a := a.(type) {
	case *tensor.Dense:
		return argument{kind: isDense, dtype: a.DType(), shape: a.Shape()}
	case []int:
		return argument{fixed: append(a[:0:0], a...)}
	case []tensor.Tensor:
		return argumentsOf(a)
	case []tenon.Value:
		return argumentsOf(a)
	case []any:
		return argumentsOf(a)
	}
	return argument{fixed: a}
}

func argumentsOf[T any](l []T) argument {
	g := argument{kind: isListed}
	for _, x := range l {
		g.list = append(g.list, argumentOf(any(x)))
	}
	return g
}

// remember completes the plan of a call whose results have been inferred, and keeps it if the next
// call of its kind must have the same outcome.
func (c *Call) remember(out []tenon.Spec) {
	p := c.plan
	if p == nil || p == unplanned || p.out != nil {
		return
	}
	room := &c.Op.plansOf()[p.hash%rememberedPlans]
	if p.completed(c, out) {
		room.plan.Store(p)
	} else {
		room.seen.Store(^p.hash)
	}
}

// completed records the results of a call and the outcome of binding its arguments, and reports
// whether they can be remembered.
func (p *plan) completed(c *Call, out []tenon.Spec) bool {
	for _, s := range out {
		t, ok := s.(*tensor.Spec)
		if !ok {
			return false
		}
		own := *t
		p.out = append(p.out, &own)
	}
	seen, ok := c.watched(out)
	if !ok {
		return false
	}
	for i := range c.Op.Params {
		if i >= len(p.given) {
			p.bound[i] = c.Args[i]
		} else if !p.binds(i, c, seen.Args[i]) {
			return false
		}
	}
	return true
}

// binds records the outcome of binding argument i, as inference has seen it, and reports whether it
// can be remembered.
func (p *plan) binds(i int, c *Call, seen any) bool {
	g := &p.given[i]
	switch {
	case g.kind == isDense:
		return g.reads(seen)
	case g.kind == isListed:
		l, _ := seen.([]tenon.Value)
		for k := range l {
			if !g.list[k].reads(l[k]) {
				return false
			}
		}
		return len(l) == len(g.list)
	case c.Op.Params[i].Kind == Attr:
		if p.bound[i] = c.Args[i]; g.fixed != nil {
			if l, ok := c.Args[i].([]int); ok {
				p.bound[i] = append(l[:0:0], l...) // the caller's own slice may change
			}
		}
		return true
	}
	switch g.fixed.(type) {
	case nil:
		return true
	case bool, int, float64:
		w, ok := seen.(*watched)
		g.kind, g.dtype, g.read = isNumber, c.Tensor(i).DType(), ok && w.read
		return ok
	}
	p.bound[i] = c.Args[i]
	return c.control(i)
}

// control reports whether the operand for parameter i says where or how many.
func (c *Call) control(i int) bool {
	return c.Op.Control.Has(slices.Index(c.Op.tensors, i))
}

// reads records the elements of a tensor if inference has looked at them, and reports whether there
// are few enough.
func (g *argument) reads(seen any) bool {
	w, ok := seen.(*watched)
	if !ok || !w.read {
		return ok
	}
	l, ok := Ints(w.Tensor)
	g.fixed, g.read = l, true
	return ok && len(l) <= rememberedIntegers
}

// A watched tensor stands for an operand while the results of its call are inferred, and records
// whether its elements are looked at through [Call.Const] or [Known].
type watched struct {
	tensor.Tensor
	read bool
}

// ConstValue implements [Constant].
func (w *watched) ConstValue() (tensor.Tensor, bool) {
	w.read = true
	return w.Tensor, true
}

// watched infers the results of a call again with watched operands, and returns the call with them.
// It returns false if the results differ from out: then the operation looks at operands in a way
// that cannot be observed.
func (c *Call) watched(out []tenon.Spec) (seen *Call, same bool) {
	defer func() {
		if recover() != nil {
			same = false // as with a symbolic operand, which inference should expect
		}
	}()
	seen = c.WithValues(c.Values())
	for _, i := range c.Op.tensors {
		switch v := seen.Args[i].(type) {
		case []tenon.Value:
			for k, x := range v {
				if t, ok := x.(tensor.Tensor); ok {
					v[k] = &watched{Tensor: t}
				}
			}
		case tensor.Tensor:
			seen.Args[i] = &watched{Tensor: v}
		}
	}
	again, err := seen.Infer()
	return seen, err == nil && slices.EqualFunc(out, again, tenon.Equal)
}
