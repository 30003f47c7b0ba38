package ext

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// As returns v as a T: v itself, or the T that its struct embeds. Handlers use it, since a type
// that refines T is handled as a T if it has no handler of its own.
func As[T tenon.Value](v tenon.Value) (T, bool) {
	if x, ok := v.(T); ok {
		return x, true
	}
	var zero T
	if v == nil {
		return zero, false
	}
	d, ok := specOf(v.Spec())
	if !ok || len(d.info.refines) == 0 {
		return zero, false
	}
	want := infoOf(reflect.TypeFor[T]())
	p, ok := d.info.unbox(v)
	if !ok || want == nil {
		return zero, false
	}
	x, ok := d.info.node.embedded(p, want)
	if !ok {
		return zero, false
	}
	return x.(T), true
}

// embedded returns the embedded struct of a type.
func (n *node) embedded(p unsafe.Pointer, want *info) (tenon.Value, bool) {
	for _, f := range n.fields {
		if !f.inline {
			continue
		}
		at := unsafe.Add(p, f.offset)
		if f.node.typ == want.node.typ {
			return want.box(want.clone(at)), true
		}
		if x, ok := f.node.embedded(at, want); ok {
			return x, true
		}
	}
	return nil, false
}

func at(p unsafe.Pointer, offset uintptr) unsafe.Pointer { return unsafe.Add(p, offset) }

// typeName returns the type name of the Values of a Go type.
func typeName[T tenon.Value]() (name string, err error) {
	t := reflect.TypeFor[T]()
	if i := infoOf(t); i != nil {
		return i.name, nil
	}
	if t == tensorType || t == reflect.TypeFor[*tensor.Dense]() || t == reflect.TypeFor[*tensor.Strings]() {
		return tensor.TypeName, nil
	}
	defer func() {
		if recover() != nil || name == "" {
			name, err = "", &tenon.Error{Kind: tenon.ErrUnsupported, Op: "ext.Handle", Line: source.Line(),
				Msg: fmt.Sprintf("the type name of %v is not known", t), Hint: "use op.Handle with the name"}
		}
	}()
	z := reflect.Zero(t)
	if t.Kind() == reflect.Pointer {
		z = reflect.New(t.Elem())
	}
	return z.Interface().(tenon.Value).Spec().TypeName(), nil
}

// Handle registers f for an operation on values of type T, which may be a type of another package.
// It takes precedence over T's own HandleOp method. Registering a second handler for the same
// operation and type is an error that names both places. The function that it returns removes the
// handler.
func Handle[T tenon.Value](o *op.Op, f op.HandlerFunc) (remove func(), err error) {
	if o == nil {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Handle", Msg: "there is no operation", Line: source.Line()}
	}
	name, err := typeName[T]()
	if err != nil {
		return nil, err
	}
	return op.Handle(name, op.Match{Op: o}, f)
}

// HandleClass registers f for all operations of a class on values of type T,
// including operations that are registered later.
func HandleClass[T tenon.Value](class op.Class, f op.HandlerFunc) (remove func(), err error) {
	name, err := typeName[T]()
	if err != nil {
		return nil, err
	}
	return op.Handle(name, op.Match{Class: class}, f)
}

// HandleUnary registers f for all unary elementwise operations on a T. f applies
// the operation to the parts of x with op.Apply(c, …).
func HandleUnary[T tenon.Value](f func(c *op.Call, x T) (tenon.Value, error)) (remove func(), err error) {
	return HandleClass[T](op.UnaryElementwise, first(f))
}

// HandleReduction registers f for all reductions of a T.
func HandleReduction[T tenon.Value](f func(c *op.Call, x T) (tenon.Value, error)) (remove func(), err error) {
	return HandleClass[T](op.Reduction, first(f))
}

// HandleAssert registers f for all assertions about a T, which return their argument.
func HandleAssert[T tenon.Value](f func(c *op.Call, x T) (tenon.Value, error)) (remove func(), err error) {
	return HandleClass[T](op.Assert, first(f))
}

func first[T tenon.Value](f func(c *op.Call, x T) (tenon.Value, error)) op.HandlerFunc {
	return func(c *op.Call) ([]tenon.Value, error) {
		for _, v := range c.Values() {
			x, ok := As[T](v)
			if !ok {
				continue
			}
			y, err := f(c, x)
			if err != nil {
				return nil, err
			}
			return []tenon.Value{y}, nil
		}
		return nil, op.NotHandled
	}
}

// pairHandler answers binary operations on two types, in this order.
type pairHandler struct {
	x, y   reflect.Type
	line   string
	handle op.HandlerFunc
}

// pairs holds the handlers for two types in either order. Package op sees them as one handler.
type pairs struct {
	list   []*pairHandler
	remove func()
}

var (
	pairsMu sync.RWMutex
	pairsOf = map[string]*pairs{}
)

// HandleBinary registers f for all binary elementwise operations whose first operand is an X and
// whose second is a Y. One of them may be tensor.Tensor: dense tensors, symbolic ones and Go
// constants. Registering a second handler for the same two types in the same order is an error that
// names both places.
func HandleBinary[X, Y tenon.Value](f func(c *op.Call, x X, y Y) (tenon.Value, error)) (remove func(), err error) {
	a, err := typeName[X]()
	if err != nil {
		return nil, err
	}
	b, err := typeName[Y]()
	if err != nil {
		return nil, err
	}
	names := []string{a, b}
	slices.Sort(names)
	names = slices.Compact(names)
	owner := names[0]
	if owner == tensor.TypeName {
		owner = names[len(names)-1]
	}
	h := &pairHandler{x: reflect.TypeFor[X](), y: reflect.TypeFor[Y](), line: source.Line()}
	h.handle = func(c *op.Call) ([]tenon.Value, error) {
		values := c.Values()
		if len(values) != 2 {
			return nil, op.NotHandled
		}
		x, okx := As[X](values[0])
		y, oky := As[Y](values[1])
		if !okx || !oky || !plain[X](values[0]) || !plain[Y](values[1]) {
			return nil, op.NotHandled
		}
		out, err := f(c, x, y)
		if err != nil {
			return nil, err
		}
		return []tenon.Value{out}, nil
	}
	id := fmt.Sprint(names)
	pairsMu.Lock()
	defer pairsMu.Unlock()
	p := pairsOf[id]
	if p == nil {
		p = &pairs{}
		if p.remove, err = op.Handle(owner, op.Match{Class: op.BinaryElementwise, Types: names}, p.ask); err != nil {
			return nil, err
		}
		pairsOf[id] = p
	}
	for _, old := range p.list {
		if old.x == h.x && old.y == h.y {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.HandleBinary", Line: h.line,
				Msg: fmt.Sprintf("there is a handler between %v and %v already, from %s", h.x, h.y, old.line)}
		}
	}
	p.list = append(slices.Clone(p.list), h)
	return func() { p.drop(id, h) }, nil
}

// plain reports whether a value that is expected to be a plain tensor is one: it has no components
// of its own.
func plain[T tenon.Value](v tenon.Value) bool {
	return reflect.TypeFor[T]() != tensorType || tenon.IsLeaf(v.Spec())
}

func (p *pairs) ask(c *op.Call) ([]tenon.Value, error) {
	pairsMu.RLock()
	list := p.list
	pairsMu.RUnlock()
	for _, h := range list {
		out, err := h.handle(c)
		if err != op.NotHandled {
			return out, err
		}
	}
	return nil, op.NotHandled
}

func (p *pairs) drop(id string, h *pairHandler) {
	pairsMu.Lock()
	defer pairsMu.Unlock()
	p.list = slices.DeleteFunc(slices.Clone(p.list), func(x *pairHandler) bool { return x == h })
	if len(p.list) == 0 && pairsOf[id] == p {
		p.remove()
		delete(pairsOf, id)
	}
}
