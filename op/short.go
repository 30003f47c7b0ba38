package op

import (
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// shortCall is a call with room for its arguments, in one piece of memory. It serves
// again once a handler has given it back by [Call.One] or [Call.Many].
type shortCall struct {
	Call
	room [8]any
}

var shortCalls = sync.Pool{New: func() any { return new(shortCall) }}

// shortCallOf returns a call of an operation with n parameters, for which there is room,
// without arguments.
func shortCallOf(o *Op, n int) *shortCall {
	c := shortCalls.Get().(*shortCall)
	if c.Op != o || len(c.Args) != n { // what is not written costs the collector nothing
		c.Op, c.Args = o, c.room[:n:n]
	}
	return c
}

// free makes the call ready for another one, if out says that the handler has given
// it back. It keeps nothing alive until then.
func (c *shortCall) free(out []tenon.Value) {
	switch first := unsafe.SliceData(out); {
	case first == nil:
		return
	case first == &c.one[0]:
		c.one[0] = nil
	case first != c.many:
		return
	}
	if c.many != nil {
		c.many = nil
	}
	switch len(c.Args) {
	case 2: // without asking the collector whether it looks at a piece of memory
		c.room[0], c.room[1] = nil, nil
	case 1:
		c.room[0] = nil
	default:
		clear(c.Args)
	}
	if c.Out != nil || c.ctx != nil {
		c.Out, c.ctx = nil, nil
	}
	shortCalls.Put(c)
}

// toAnswer reports whether one of a call's arguments may answer for itself, and so give
// the call back.
func toAnswer(args []any) bool {
	for _, a := range args {
		switch a := a.(type) {
		case *tensor.Dense, *tensor.Strings, nil, int, bool, float64, []int:
		case Handler:
			return true
		case []tensor.Tensor:
			for _, x := range a {
				if _, ok := x.(Handler); ok {
					return true
				}
			}
		case []tenon.Value:
			for _, x := range a {
				if _, ok := x.(Handler); ok {
					return true
				}
			}
		}
	}
	return false
}

// answered calls an operation whose only parameters are tensors and whose first
// argument answers for itself, when nobody else has to be asked: no handlers are
// registered, and the second argument, if there is one, is of the same Go type or a
// plain tensor. It returns nil where the general way has to be taken, which is the
// case too when the handler declines: then it is asked again, for the record.
func (o *Op) answered(x, y any, n int) tensor.Tensor {
	h, ok := x.(Handler)
	if !ok || *data(&x) == nil || n == 2 && *data(&y) == nil || len(o.Params) != n || len(o.tensors) != n {
		return nil
	}
	if n == 2 && reflect.TypeOf(x) != reflect.TypeOf(y) {
		if d, ok := y.(*tensor.Dense); !ok || d == nil {
			return nil
		}
	}
	if !undemanding(x) {
		if _, ok := x.(Recorder); ok || Handled(h.Spec().TypeName()) {
			return nil
		}
		if a := x.(Accepter); !a.AcceptsOp(h) || n == 2 && !a.AcceptsOp(y.(tenon.Value)) {
			return nil
		}
	}
	c := shortCallOf(o, n)
	c.room[0] = x
	if n == 2 {
		c.room[1] = y
	}
	out, err := c.guarded(nil, h, "")
	if err != nil {
		if errors.Is(err, NotHandled) {
			return nil
		}
		tenon.Throw(err)
	}
	t := single(o, out)
	c.free(out)
	return t
}

// data is the second word of an interface, which is the pointer that it holds, or
// points to the value. It is nil for nil and for a nil pointer, whose methods may panic.
func data[T any](x *T) *unsafe.Pointer { return &(*[2]unsafe.Pointer)(unsafe.Pointer(x))[1] }

// typeWord is the first word of an interface that is not nil, which tells its Go type.
func typeWord(x any) uintptr { return (*[2]uintptr)(unsafe.Pointer(&x))[0] }

// undemanded is a Go type whose values answer for themselves and ask for nothing more:
// they are neither Recorders nor Accepters, and the registry has no handler for them.
type undemanded struct {
	typ uintptr
	in  *registry
}

// easy remembers such types, each at a place that its address tells.
var easy [64]atomic.Pointer[undemanded]

// undemanding reports whether a Handler is of such a type.
func undemanding(h any) bool {
	typ := typeWord(h)
	known, now := &easy[typ>>6%uintptr(len(easy))], handlers.Load()
	if k := known.Load(); k != nil && k.typ == typ && k.in == now {
		return true
	}
	switch h.(type) {
	case Recorder, Accepter:
		return false
	}
	if Handled(h.(Handler).Spec().TypeName()) {
		return false
	}
	known.Store(&undemanded{typ, now})
	return true
}
