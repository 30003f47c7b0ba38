package train

import (
	"context"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

// A Trainer runs steps: the function [Step], traced once, on a state that it holds. It is for
// training loops of your own; [Fit] is such a loop. It is not safe for concurrent use.
type Trainer[P, B any] struct {
	opts  Options
	steps [2]*function.Function[func(State[P], B) (State[P], []tensor.Tensor)] // accumulating, updating
	state State[P]
	seen  int                     // batches
	specs batchSpecs              // of batches
	kept  map[unsafe.Pointer]bool // memory of the state that others may hold

	rate, norm *float64 // of the last step, if they are measured

	layout  mesh.Layout // of the state, if ranks share it
	scored  mesh.Layout // of what is scored of it
	divided bool        // the state is this rank's part
	losses  []float64   // of the ranks, in the last step

	program func(B) (string, error) // describes steps; nil once ranks have agreed on it
}

// NewTrainer returns a trainer in its initial state.
func NewTrainer[P, B any](params P, loss Loss[P, B], o Options) (*Trainer[P, B], error) {
	if loss == nil {
		return nil, noLoss("train.NewTrainer")
	}
	return newTrainer(params, loss.course(), o)
}

func newTrainer[P, B any](params P, loss lossOf[P, B], o Options) (*Trainer[P, B], error) {
	if err := nest.Check(params); err != nil {
		return nil, err
	}
	o.Shared = slices.Concat(o.Shared, sharedIn(params))
	state, err := tenon.Try(func() State[P] { return NewState(params, o) })
	if err != nil {
		return nil, err
	}
	t := &Trainer[P, B]{opts: o, state: state}
	t.share()
	if o.Ranks.active() {
		return t, t.onRanks(loss, o)
	}
	for i := range t.steps {
		t.steps[i] = function.New(func(s State[P], b B) (State[P], []tensor.Tensor) {
			return step(s, b, loss, o, i == 1)
		}, function.Options{Name: "train.Step", RelaxAfter: 1})
	}
	return t, nil
}

// Step processes one batch and returns the loss before it. After an error, which may be that of
// a context that is done, the state is unchanged. The Specs of a batch must be compatible with
// those of the first one: sizes may differ, element types and numbers of axes may not.
func (t *Trainer[P, B]) Step(ctx context.Context, batch B) (float64, error) {
	return t.step(ctx, batch, true)
}

// step is Step, but does not take the new state if the loss is not finite, unless always is
// set.
func (t *Trainer[P, B]) step(ctx context.Context, batch B, always bool) (float64, error) {
	if err := t.specs.check(batch); err != nil {
		return 0, t.opts.Ranks.fail(err)
	}
	if t.opts.Ranks.active() {
		var err error
		if ctx, batch, err = t.mine(ctx, batch); err != nil {
			return 0, t.opts.Ranks.fail(err)
		}
	}
	f := t.steps[1]
	if every := t.opts.Accumulate; every > 1 && (t.seen+1)%every != 0 {
		f = t.steps[0]
	}
	out, err := f.CallContext(ctx, t.state, batch)
	if err != nil {
		return 0, t.opts.Ranks.fail(err)
	}
	seen := out[1].([]tensor.Tensor)
	if t.losses = nil; t.opts.Ranks.perRank() {
		t.losses = tensor.Data[float64](seen[len(seen)-1].(*tensor.Dense))
		seen = seen[:len(seen)-1]
	}
	value := number(seen[0])
	if t.rate, t.norm = nil, nil; len(seen) > 1 {
		rate, norm := number(seen[1]), number(seen[2])
		t.rate, t.norm = &rate, &norm
	}
	if !always && (math.IsNaN(value) || math.IsInf(value, 0)) {
		return value, nil
	}
	old := t.state
	t.state = out[0].(State[P])
	t.seen++
	t.release(old)
	return value, nil
}

// batchSpecs are the Specs of the batches so far: for each leaf, the most specific Spec that
// includes them all.
type batchSpecs []tenon.Spec

// check compares a batch with earlier ones.
func (s *batchSpecs) check(batch any) error {
	paths, leaves, err := nest.FlattenWithPaths(batch, nest.Options{})
	if err != nil {
		return err
	}
	if *s == nil {
		*s = make(batchSpecs, len(leaves))
	}
	wrong := func(path, msg string) error {
		e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "train.Step", Where: path, Msg: msg}
		e.Hint = "give all batches the same structure, element types and numbers of axes"
		return e
	}
	if len(leaves) != len(*s) {
		return wrong("", fmt.Sprintf("the batch has %d values, earlier ones have %d", len(leaves), len(*s)))
	}
	for i, l := range leaves {
		v, ok := l.(tenon.Value)
		if !ok {
			continue
		}
		spec := v.Spec()
		if (*s)[i] == nil {
			(*s)[i] = spec
			continue
		}
		both, ok := tenon.Merge((*s)[i], spec)
		if d, isDense := both.(*tensor.Spec); ok && isDense && !d.Shape().HasRank() {
			ok = !v.(tensor.Tensor).Shape().HasRank()
		}
		if !ok {
			return wrong(paths[i].String(), fmt.Sprintf("the batch has %s, earlier ones have %s", tenon.String(spec), tenon.String((*s)[i])))
		}
		(*s)[i] = both
	}
	return nil
}

// State returns the state, which stays valid. If ranks keep it in parts, it is this rank's part; see
// [Trainer.Whole].
func (t *Trainer[P, B]) State() State[P] {
	t.share()
	return t.state
}

// share notes that others may hold the state's tensors from now on.
func (t *Trainer[P, B]) share() {
	t.kept = map[unsafe.Pointer]bool{}
	for _, d := range denseOf(t.state) {
		t.kept[d.Raw()] = true
	}
}

// denseOf returns the dense tensors in a state.
func denseOf[P any](s State[P]) []*tensor.Dense {
	var out []*tensor.Dense
	for _, l := range tenon.Must(nest.Flatten(s, nest.Options{Expand: true})) {
		if d, ok := l.(*tensor.Dense); ok {
			out = append(out, d)
		}
	}
	return out
}

// Steps returns the number of batches that were processed.
func (t *Trainer[P, B]) Steps() int { return t.seen }

// Restore continues from a state of another trainer with the same options.
func (t *Trainer[P, B]) Restore(s State[P]) error {
	if err := nest.Same(t.state, s, nest.Options{}); err != nil {
		return err
	}
	t.state, t.seen, t.divided = s, int(tensor.Item[int64](s.Step)), false
	t.share()
	return nil
}

// release frees the memory of an old state that neither the new state nor anybody else holds,
// so that the next step writes to warm memory.
func (t *Trainer[P, B]) release(old State[P]) {
	shared, kept := map[unsafe.Pointer]bool{}, map[unsafe.Pointer]bool{}
	for _, d := range denseOf(t.state) {
		shared[d.Raw()] = true
		if t.kept[d.Raw()] {
			kept[d.Raw()] = true // kept from step to step, for instance while gradients accumulate
		}
	}
	for _, d := range denseOf(old) {
		if p := d.Raw(); !shared[p] && !t.kept[p] {
			shared[p] = true
			tensor.Release(d)
		}
	}
	t.kept = kept
}
