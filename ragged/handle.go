package ragged

import (
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/throw"
	"github.com/tenonml/tenon/op"
)

// A handlerFunc answers a call with a ragged tensor among its arguments. It may
// throw, and returns op.NotHandled where the operation has no meaning for them.
type handlerFunc = func(c *op.Call) ([]tenon.Value, error)

// handlers has an entry for each operation that ragged tensors answer for by
// itself, filled in by the init functions of the files.
var handlers = map[string]handlerFunc{}

// classHandlers answer for whole classes of operations without an entry in handlers.
var classHandlers = map[op.Class]handlerFunc{}

// handle registers a handler for operations by name.
func handle(f handlerFunc, names ...string) {
	for _, n := range names {
		if _, ok := handlers[n]; ok {
			throw.Bug("ragged: operation %s has two handlers", n)
		}
		handlers[n] = f
	}
}

// HandleOp answers for the operations that have a meaning for rows of different
// lengths: see the documentation of the package for what each means.
func (t *Tensor) HandleOp(c *op.Call) ([]tenon.Value, error) {
	at := &handled[uintptr(unsafe.Pointer(c.Op))>>6%uintptr(len(handled))]
	h := at.Load()
	if h == nil || h.op != c.Op {
		h = &answer{c.Op, handlerOf(c.Op)}
		at.Store(h)
	}
	return h.f(c)
}

// An answer is the handler of an operation.
type answer struct {
	op *op.Op
	f  handlerFunc
}

// handled remembers the handlers of operations, each at a place that its address tells:
// that takes less than to look up its name.
var handled [512]atomic.Pointer[answer]

func handlerOf(o *op.Op) handlerFunc {
	if f, ok := handlers[o.Name]; ok {
		return f
	}
	if f, ok := classHandlers[o.Class]; ok {
		return f
	}
	return func(*op.Call) ([]tenon.Value, error) { return nil, op.NotHandled }
}
