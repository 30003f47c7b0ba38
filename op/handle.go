package op

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

// NotHandled is returned by a handler to decline a call, so that the next one is
// asked.
var NotHandled = errors.New("op: not handled")

// A Handler is a Value that answers calls of operations. All Handlers of one Go type must have
// Specs with the same type name.
type Handler interface {
	tenon.Value

	// HandleOp answers a call in which the receiver is an argument, or returns
	// NotHandled. It may return another error, or throw one.
	HandleOp(c *Call) ([]tenon.Value, error)
}

// An Accepter is a Handler that accepts calls only with certain kinds of other
// values. If a call contains any other kind, the Handler is not asked.
type Accepter interface {
	Handler

	// AcceptsOp reports whether the handler accepts calls with v among the tensor
	// arguments. It is called for plain tensors too.
	AcceptsOp(v tenon.Value) bool
}

// An Overrider is a Handler that has code of its own for some operations and follows the statements
// of all others. [Explain] reports which it was.
type Overrider interface {
	Handler

	// Overrides reports whether the handler has code of its own for an operation.
	Overrides(o *Op) bool
}

// A Converter is a Value that stands for a plain tensor if no handler answers.
type Converter interface {
	tenon.Value
	AsTensor() (tensor.Tensor, error)
}

// HandlerFunc answers a call, or returns NotHandled.
type HandlerFunc func(c *Call) ([]tenon.Value, error)

// Match says which calls a registered handler is for. One of Op, Class and Any
// must be set.
type Match struct {
	Op    *Op   // this operation
	Class Class // every operation of the class, if Op is nil
	Any   bool  // every operation, if Op is nil

	// Types are the type names of the values that the handler accepts, if it does not accept all. A
	// call is not passed to it if it contains any other value, including a plain tensor unless
	// "tensor.Tensor" is listed.
	Types []string
}

type handler struct {
	match Match
	f     HandlerFunc
	line  string
}

// registry holds the handlers by type name. It is replaced as a whole, so that dispatch reads it
// without a lock. It is nil if there are no handlers, as in most programs.
type registry struct {
	handlers map[string][]*handler
	marks    [4]uint64 // a Bloom filter of names, which avoids most lookups in the map
}

var (
	handlersMu sync.Mutex // held by those who replace the registry
	handlers   atomic.Pointer[registry]
)

// mark returns the position of a name's bit.
func mark(name string) (word int, bit uint64) {
	n := len(name)
	if n == 0 {
		return 0, 1
	}
	h := uint(n)*37 + uint(name[0])*11 + uint(name[n-1])*5 + uint(name[n/2])
	return int(h >> 6 & 3), 1 << (h & 63)
}

// replace sets the handlers of one type. The caller holds handlersMu.
func replace(typeName string, list []*handler) {
	next := &registry{handlers: map[string][]*handler{}}
	if old := handlers.Load(); old != nil {
		maps.Copy(next.handlers, old.handlers)
	}
	next.handlers[typeName] = list
	if len(list) == 0 {
		delete(next.handlers, typeName)
	}
	if len(next.handlers) == 0 {
		handlers.Store(nil)
		return
	}
	for name := range next.handlers {
		w, b := mark(name)
		next.marks[w] |= b
	}
	handlers.Store(next)
}

// Handle registers a handler for values of the type with the given name, which
// may be a type of another package. It takes precedence over the type's own
// HandleOp; a handler for one operation takes precedence over one for a class,
// and that over one for all operations. Registering two handlers for the same
// calls is an error that names both places. The function it returns removes the
// handler.
func Handle(typeName string, m Match, f HandlerFunc) (remove func(), err error) {
	if m.Op == nil && m.Class == Other && !m.Any || f == nil || typeName == tensor.TypeName {
		return nil, tenon.NewError(tenon.ErrInvalid, "op.Handle", fmt.Sprintf("a handler for %q needs a function and an operation or class, and a type other than the plain tensor", typeName))
	}
	h := &handler{m, f, source.Line()}
	handlersMu.Lock()
	defer handlersMu.Unlock()
	for _, old := range registered(typeName) {
		if old.match.rank() == m.rank() && old.match.Op == m.Op && old.match.Class == m.Class && overlap(old.match.Types, m.Types) {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "op.Handle", Line: h.line,
				Msg: fmt.Sprintf("%s already has a handler for %s, from %s", typeName, m, old.line)}
		}
	}
	list := slices.Clone(registered(typeName))
	at := len(list)
	for at > 0 && list[at-1].match.rank() > m.rank() {
		at--
	}
	list = append(list[:at], append([]*handler{h}, list[at:]...)...)
	replace(typeName, list)
	return func() { unhandle(typeName, h) }, nil
}

func unhandle(typeName string, h *handler) {
	handlersMu.Lock()
	defer handlersMu.Unlock()
	replace(typeName, slices.DeleteFunc(slices.Clone(registered(typeName)), func(x *handler) bool { return x == h }))
}

func (m Match) rank() int {
	switch {
	case m.Op != nil:
		return 0
	case m.Class != Other:
		return 1
	}
	return 2
}

// String describes what the handler is for.
func (m Match) String() string {
	switch {
	case m.Op != nil:
		return m.Op.Name
	case m.Class != Other:
		return "every " + m.Class.String()
	}
	return "every operation"
}

func (m Match) takes(c *Call, values []tenon.Value) bool {
	switch {
	case m.Op != nil && m.Op != c.Op, m.Op == nil && m.Class != Other && m.Class != c.Op.Class:
		return false
	}
	return m.Types == nil || !slices.ContainsFunc(values, func(v tenon.Value) bool { return !slices.Contains(m.Types, v.Spec().TypeName()) })
}

// overlap reports whether two lists of types claim the same calls, that is,
// whether they are equal as sets.
func overlap(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x string) bool { return !slices.Contains(b, x) })
}

func registered(typeName string) []*handler {
	r := handlers.Load()
	if r == nil {
		return nil
	}
	if w, b := mark(typeName); r.marks[w]&b == 0 {
		return nil
	}
	return r.handlers[typeName]
}
