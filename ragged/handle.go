package ragged

import (
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
	if f, ok := handlers[c.Op.Name]; ok {
		return f(c)
	}
	if f, ok := classHandlers[c.Op.Class]; ok {
		return f(c)
	}
	return nil, op.NotHandled
}
