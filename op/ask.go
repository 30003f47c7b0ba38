package op

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/throw"
)

// ask asks one candidate: the registered handlers first, then the type's method.
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

// endless is how many handlers of one operation may be at work. A handler that calls its
// operation on its own value would overflow the stack, which Go does not recover from. It
// may do that by way of other values and operations, and with calls that know nothing of
// the one it answers, so that what grows is this number. So many handlers side by side, in
// as many goroutines, are not to be expected, and fit the stack above one another.
const endless = 1 << 14

// guarded calls f, or else the method of h. A panic that is not ours becomes an
// error that names the handler, and so do handlers that call one another without
// end and results that are none. Without a name it is that of h's type, which is
// asked only for an error: a Spec may be made for the asking.
func (c *Call) guarded(f HandlerFunc, h Handler, name string) (out []tenon.Value, err error) {
	returned, m := false, c.Op.memory
	defer c.recovered(h, name, &returned, &err)
	if m.depth.Add(1) > endless {
		err = &tenon.Error{Kind: tenon.ErrInvalid, Msg: fmt.Sprintf("the handler of %s calls itself without end", nameOf(h, name)),
			Hint: "a handler has to pass the operation on to the parts of its value, not to the value"}
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

// nameOf returns the name of a handler, or else that of the type whose method it is.
func nameOf(h Handler, name string) string {
	if name == "" && h != nil {
		return h.Spec().TypeName()
	}
	return name
}

// recovered makes an error of what a handler threw, or of its panic.
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

// handlerPanic keeps the stack of a handler's panic for whoever looks for it.
type handlerPanic struct{ stack []byte }

func (h *handlerPanic) Error() string { return "see the cause for its stack" }

// Stack returns the stack at the panic.
func (h *handlerPanic) Stack() []byte { return h.stack }
