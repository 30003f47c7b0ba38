package dataset

import (
	"context"
	"iter"
	"runtime/debug"
)

// A Cursor is a loop over a dataset whose state can be stored, so that another process can
// continue from it:
//
//	c, err := data.Cursor(ctx, nil)
//	defer c.Close()
//	for batch, err := range c.All() {
//		…
//		state, err := c.State() // store it
//	}
//
// Numbered datasets need no cursor, because their position is a number. Streams are resumed
// from the state of their stages. For a filter, the state is the position in its input. For
// stages that hold elements, such as shuffle windows and buckets, it is the numbers of these
// elements, which are then read again. A state is small and does not contain elements. A
// Cursor is not safe for concurrent use.
type Cursor[T any] struct {
	ctx      context.Context
	w        walk[T]
	position int64
	over     bool
	err      error
}

// Cursor returns a loop that starts at the given state, or at the beginning if it is nil. The state
// must come from a cursor of the same stages over the same data; any other state is an error.
func (d *Dataset[T]) Cursor(ctx context.Context, from []byte) (*Cursor[T], error) {
	if d.err != nil {
		return nil, d.err
	}
	o := opening[T]{ctx: ctx, saves: true}
	c := &Cursor[T]{ctx: ctx}
	if from != nil {
		o.from = &state{b: from}
		if v := o.from.int(); o.from.err == nil && v != stateVersion {
			o.from.fail("the state has version %d, want %d", v, stateVersion)
		}
		c.position = o.from.int()
		c.over = o.from.int() > 0
		if o.from.err != nil {
			return nil, o.from.err
		}
	}
	c.w = d.n.walk(o)
	if s := o.from; s != nil && (s.err != nil || len(s.b) > 0) {
		c.Close()
		s.fail("the state has more stages than the dataset")
		return nil, s.err
	}
	return c, nil
}

// All returns the remaining elements. If a loop ends early, the next one continues it. An error
// comes last.
func (c *Cursor[T]) All() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) { c.each(yield) }
}

func (c *Cursor[T]) each(yield func(T, error) bool) {
	var zero T
	if c.err != nil {
		yield(zero, c.err)
		return
	}
	for !c.over {
		it, ok := c.w.next()
		if c.ctx.Err() != nil {
			c.err = context.Cause(c.ctx)
			yield(zero, c.err)
			return
		}
		if !ok {
			c.over = true
			return
		}
		x, err := it.value()
		if err != nil {
			c.err = elementError(c.position, err)
			yield(zero, c.err)
			return
		}
		c.position++
		if !yield(x, nil) {
			return
		}
	}
}

// Position returns the number of elements read in total, including those before the state.
func (c *Cursor[T]) Position() int64 { return c.position }

// State returns the current state. It returns an error after the cursor has returned one.
func (c *Cursor[T]) State() ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	s := &state{}
	s.put(stateVersion)
	s.put(c.position)
	over := int64(0)
	if c.over {
		over = 1
	}
	s.put(over)
	c.w.save(s)
	return s.b, s.err
}

// Close ends the loop and stops everything that runs for it.
func (c *Cursor[T]) Close() {
	c.over = true
	c.w.end()
	c.w.close = nil
}

// panicked returns a panic as the error of an element, with the stack.
func panicked(i int64, r any) error {
	e := errOf("Prefetch", "a function of the dataset panicked: %v", r)
	if err, ok := r.(error); ok {
		e.Err = err
	}
	return &ElementError{Index: i, Err: e, Stack: string(debug.Stack())}
}
