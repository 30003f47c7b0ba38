package ragged

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/throw"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A handlerFunc answers a call with a ragged tensor among its arguments. It may
// throw, and returns op.NotHandled if the operation is not defined for them.
type handlerFunc = func(c *op.Call) ([]tenon.Value, error)

// onFirst converts f, which answers calls whose first argument is ragged, to a
// handler.
func onFirst(f func(c *op.Call, x *Tensor) ([]tenon.Value, error)) handlerFunc {
	return func(c *op.Call) ([]tenon.Value, error) {
		x, ok := c.Value(0).(*Tensor)
		if !ok {
			return nil, op.NotHandled
		}
		return f(c, x)
	}
}

// onTwo converts f, which answers calls whose first two arguments are tensors, to a handler.
func onTwo(f func(c *op.Call, x, y tensor.Tensor) ([]tenon.Value, error)) handlerFunc {
	return func(c *op.Call) ([]tenon.Value, error) {
		x, ok := c.Value(0).(tensor.Tensor)
		y, ok2 := c.Value(1).(tensor.Tensor)
		if !ok || !ok2 {
			return nil, op.NotHandled
		}
		return f(c, x, y)
	}
}

// onTaken is onTwo for tensors that are ragged or without structure.
func onTaken(f func(c *op.Call, x, y tensor.Tensor) ([]tenon.Value, error)) handlerFunc {
	return onTwo(func(c *op.Call, x, y tensor.Tensor) ([]tenon.Value, error) {
		if !taken(x) || !taken(y) {
			return nil, op.NotHandled
		}
		return f(c, x, y)
	})
}

// handlers has an entry for each operation that is not answered by its kind. The files that add the
// entries say why.
var handlers = map[string]handlerFunc{}

// kinds make the handlers of operations without an entry in handlers, depending on what becomes of
// the axes. The result is nil if the operation is not defined for rows of different lengths.
var kinds map[op.Axes]func(o *op.Op) handlerFunc

func init() {
	always := func(f handlerFunc) func(*op.Op) handlerFunc { return func(*op.Op) handlerFunc { return f } }
	kinds = map[op.Axes]func(o *op.Op) handlerFunc{
		op.Map:     maps,
		op.Reduce:  reductions,
		op.Scan:    alongAxis,
		op.Along:   alongAxis,
		op.Select:  selections,
		op.Scatter: scatters,
		op.Join:    always(concat),
		op.Stack:   always(stack),
		op.Insert:  inserts,
		op.Remove:  removes,
		op.Permute: always(onFirst(transpose)),
		op.Regroup: regroups,
		op.Window:  always(onFirst(nGrams)),
	}
}

// ofKind returns an operation of a kind that takes a list of tensors and an axis.
func ofKind(a op.Axes) *op.Op {
	all := op.All()
	return all[slices.IndexFunc(all, func(o *op.Op) bool {
		return o.Axes == a && o.By == op.ByAxis && o.Params[0].Kind == op.Tensors && o.AxisParam() >= 0
	})]
}

// alone reports whether an operation has exactly one required operand that it looks at or moves.
func alone(o *op.Op) bool {
	n, k := 0, 0
	for _, p := range o.Params {
		if p.Kind == op.Attr {
			continue
		}
		if !p.Optional && !o.Control.Has(k) {
			n++
		}
		k++
	}
	return n == 1
}

// maps answers elementwise operations.
func maps(o *op.Op) handlerFunc {
	switch {
	case len(o.Params) > 0 && o.Params[0].Kind == op.Tensors:
		return mappedList
	case o.Checks && o.Control != 0:
		return nil
	case o.Checks && o.Moves != 0: // the shape is checked
		return onFirst(ensureShape)
	case o.Checks || o.Draws:
		return flatAt(o, 0)
	}
	return elementwise
}

// selections answers operations that select entries of an axis.
func selections(o *op.Op) handlerFunc {
	switch {
	case o.Results < 0:
		return onFirst(splitParts)
	case o.Fills:
		return onFirst(padded)
	case o.Control == 0:
		return onFirst(reverse)
	}
	return nil
}

// scatters answers operations that put elements into another tensor.
func scatters(o *op.Op) handlerFunc {
	if o.AxisParam() >= 0 {
		return putAlongAxis
	}
	if o.Param("key") >= 0 {
		return indexUpdate
	}
	return nil
}

// inserts answers operations that add axes, either anywhere or at the end.
func inserts(o *op.Op) handlerFunc {
	switch {
	case o.Moves != 0 && o.AxisParam() >= 0:
		return onFirst(expandDims)
	case o.AxisParam() >= 0:
		return onFirst(oneHot)
	case o.Control != 0:
		return flatAt(o, 0)
	}
	return nil
}

// removes answers operations that remove axes, with or without size 1.
func removes(o *op.Op) handlerFunc {
	switch {
	case o.AxisParam() < 0:
		return nil
	case o.Results < 0:
		return onFirst(unstack)
	}
	return onFirst(squeeze)
}

// regroups answers operations that distribute elements over other axes.
func regroups(o *op.Op) handlerFunc {
	if o.Core == 1 {
		return bitcast
	}
	if o.Moves != 0 && o.Control != 0 {
		return onFirst(flatly)
	}
	return nil
}

// handle registers a handler for operations by name.
func handle(f handlerFunc, names ...string) {
	for _, n := range names {
		if _, ok := handlers[n]; ok {
			throw.Bug("ragged: operation %s has two handlers", n)
		}
		handlers[n] = f
	}
}

// HandleOp answers the operations that are defined for rows of different lengths;
// see the package documentation.
func (t *Tensor) HandleOp(c *op.Call) ([]tenon.Value, error) {
	n := c.Op.Number()
	list := handled.Load()
	if list == nil || n >= len(*list) {
		list = allHandlers(n)
	}
	return (*list)[n](c)
}

// Overrides reports whether an operation is not answered by its kind.
func (*Tensor) Overrides(o *op.Op) bool { return handlers[o.Name] != nil }

// handled holds the handlers of operations by number. It is replaced when operations are registered
// later.
var handled atomic.Pointer[[]handlerFunc]

// allHandlers fills handled at least up to number n.
func allHandlers(n int) *[]handlerFunc {
	all := op.All()
	for _, o := range all {
		n = max(n, o.Number())
	}
	list := make([]handlerFunc, n+1)
	for i := range list {
		list[i] = declined // unregistered since
	}
	for _, o := range all {
		list[o.Number()] = handlerOf(o)
	}
	handled.Store(&list)
	return &list
}

func declined(*op.Call) ([]tenon.Value, error) { return nil, op.NotHandled }

func handlerOf(o *op.Op) handlerFunc {
	if f, ok := handlers[o.Name]; ok {
		return f
	}
	if f, ok := kinds[o.Axes]; ok && !strings.HasPrefix(o.Name, "ragged.") {
		if h := f(o); h != nil {
			return h
		}
	}
	return declined
}
