package train

import (
	"context"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// A Trainer runs steps: the function [Step], traced once, on a state that it holds. It is
// for loops of one's own; [Fit] is one around it. It is not safe for concurrent use.
type Trainer[P, B any] struct {
	opts  Options
	steps [2]*function.Function[func(State[P], B) (State[P], tensor.Tensor)] // accumulating, updating
	state State[P]
	seen  int  // batches
	keep  bool // others may hold the state's tensors
}

// NewTrainer returns a trainer at the start.
func NewTrainer[P, B any](params P, loss Loss[P, B], o Options) (*Trainer[P, B], error) {
	state, err := tenon.Try(func() State[P] { return NewState(params, o) })
	if err != nil {
		return nil, err
	}
	t := &Trainer[P, B]{opts: o, state: state, keep: true}
	for i := range t.steps {
		t.steps[i] = function.New(func(s State[P], b B) (State[P], tensor.Tensor) {
			return Step(s, b, loss, o, i == 1)
		}, function.Options{Name: "train.Step", RelaxAfter: 1})
	}
	return t, nil
}

// Step sees one batch and returns the loss before it. After an error, that of a context
// that is done included, the state is as before.
func (t *Trainer[P, B]) Step(ctx context.Context, batch B) (float64, error) {
	f := t.steps[1]
	if every := t.opts.Accumulate; every > 1 && (t.seen+1)%every != 0 {
		f = t.steps[0]
	}
	out, err := f.CallContext(ctx, t.state, batch)
	if err != nil {
		return 0, err
	}
	old := t.state
	t.state = out[0].(State[P])
	t.seen++
	if !t.keep {
		release(old, t.state)
	}
	t.keep = false
	return number(out[1].(tensor.Tensor)), nil
}

// State returns the state, which stays valid.
func (t *Trainer[P, B]) State() State[P] {
	t.keep = true
	return t.state
}

// Steps returns how many batches were seen.
func (t *Trainer[P, B]) Steps() int { return t.seen }

// Restore goes on from a state that another trainer with the same options had.
func (t *Trainer[P, B]) Restore(s State[P]) error {
	if err := nest.Same(t.state, s, nest.Options{}); err != nil {
		return err
	}
	t.state, t.seen, t.keep = s, int(tensor.Item[int64](s.Step)), true
	return nil
}

// release gives the memory of a state back, as far as the next one does not share it:
// the next step then writes to warm memory.
func release[P any](old, next State[P]) {
	gone, err := nest.Flatten(old, nest.Options{Expand: true})
	if err != nil {
		return
	}
	kept, err := nest.Flatten(next, nest.Options{Expand: true})
	if err != nil {
		return
	}
	shared := make(map[unsafe.Pointer]bool, len(kept))
	for _, l := range kept {
		if t, ok := l.(*tensor.Dense); ok {
			shared[t.Raw()] = true
		}
	}
	for _, l := range gone {
		if t, ok := l.(*tensor.Dense); ok && !shared[t.Raw()] {
			shared[t.Raw()] = true
			tensor.Release(t)
		}
	}
}
