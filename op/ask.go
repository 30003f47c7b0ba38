package op

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/throw"
)

// ask asks one candidate: first the registered handlers, then the type's method.
func (c *Call) ask(cand *candidate, values []tenon.Value) ([]tenon.Value, error) {
	for _, h := range cand.handlers {
		if !h.match.takes(c, values) {
			continue
		}
		out, err := c.guarded(h.f, nil, cand.name)
		if err == nil || !errors.Is(err, NotHandled) {
			return out, err
		}
	}
	if !cand.willing {
		return nil, NotHandled
	}
	return c.guarded(nil, cand.method, cand.name)
}

// endless is the number of handlers of one operation that may be running. A handler that calls its
// operation on its own value would overflow the stack, which a Go program does not survive. It may
// do so indirectly, through other values and operations and in calls that share nothing with the
// one it answers; all that is sure to grow is this number. So many concurrent handlers, in as many
// goroutines, are not expected in practice, and so many nested ones fit on the stack.
const endless = 1 << 14

// guarded calls f or, if f is nil, the method of h. A foreign panic becomes an
// error that names the handler; so do handlers that call each other endlessly,
// and results of the wrong number. If name is empty, the name of h's type is
// used. It is looked up only for an error, since that may require making a Spec.
func (c *Call) guarded(f HandlerFunc, h Handler, name string) (out []tenon.Value, err error) {
	returned, m := false, c.Op.memory
	defer c.recovered(h, name, &returned, &err)
	if m.depth.Add(1) > endless {
		err = &tenon.Error{Kind: tenon.ErrInvalid, Msg: fmt.Sprintf("the handler of %s calls itself without end", nameOf(h, name)),
			Hint: "a handler must apply the operation to the parts of its value, not to the value"}
	} else if f != nil {
		out, err = f(c)
	} else {
		out, err = h.HandleOp(c)
	}
	returned = true
	if err != nil {
		return nil, c.completed(err)
	}
	if len(out) == 1 && c.Op.Results == 1 && out[0] != nil {
		return out, nil
	}
	return c.counted(out, h, name)
}

// nameOf returns the name of a handler, or that of the type whose method it is.
func nameOf(h Handler, name string) string {
	if name == "" && h != nil {
		return h.Spec().TypeName()
	}
	return name
}

// recovered turns what a handler threw, or its panic, into an error.
func (c *Call) recovered(h Handler, name string, returned *bool, err *error) {
	c.Op.memory.depth.Add(-1)
	if *returned {
		return
	}
	if r := recover(); r != nil && !throw.Recovered(r, err) {
		*err = &tenon.Error{Kind: tenon.ErrInvalid, Msg: fmt.Sprintf("the handler of %s panicked: %v", nameOf(h, name), r), Err: &handlerPanic{debug.Stack()}}
	}
	if *err != nil {
		*err = c.completed(*err)
	}
}

// completed completes the error of a handler, unless it declines.
func (c *Call) completed(err error) error {
	if errors.Is(err, NotHandled) {
		return err
	}
	return c.Fail(err)
}

// counted checks what a handler returned.
func (c *Call) counted(out []tenon.Value, h Handler, name string) ([]tenon.Value, error) {
	if n := c.Op.Results; n >= 0 && len(out) != n {
		return nil, c.Errorf(tenon.ErrInvalid, "the handler of %s returned %d results, the operation has %d", nameOf(h, name), len(out), n)
	}
	for i, v := range out {
		if v == nil {
			return nil, c.Errorf(tenon.ErrInvalid, "the handler of %s returned nil as result %d", nameOf(h, name), i)
		}
	}
	return out, nil
}

// handlerPanic keeps the stack of a handler's panic.
type handlerPanic struct{ stack []byte }

func (h *handlerPanic) Error() string { return "see the cause for its stack" }

// Stack returns the stack at the panic.
func (h *handlerPanic) Stack() []byte { return h.stack }
