package train

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

// Ranks say how the ranks of a job share the work of steps. The zero value of all but Mesh is data
// parallel training: each rank gets some of the rows of each batch, and all keep the same parameters.
//
// All ranks call [Fit] with the same options and parameters, and a source that gives all of them the same
// batches: positions count batches as wholes. Results are the same on all ranks. So are random keys, into which
// the loss of a divided batch gets its rank folded. Before the first step the ranks compare its program, traced on the
// batch as a whole, with all constants and sizes: what a loss has to know of its place, such as the numbers of its
// rows in the batch, comes with the batch.
type Ranks struct {
	Mesh *mesh.Mesh

	// Data is the axis of the mesh along which batches are divided: "data" where it is empty.
	Data string

	// Stored says how parameters are kept, and Slots how what optimizers keep for them, and averages and sums of
	// gradients, are: nil stands for whole, and Slots for Stored. The rule mesh.Unnamed(0, "data") divides all
	// of them by their first axis. With Slots alone it is the second stage of ZeRO: gradients reach each rank by
	// reduce-scatters, and what it has updated is gathered. With Stored it is the third, in which parameters are
	// gathered for the loss (S. Rajbhandari et al., "ZeRO", SC 2020).
	Stored, Slots *mesh.Plan

	// Compute, if it is not nil, divides the loss itself by the names of dimensions, of parameters and batch: the
	// loss is a program of package mesh on the whole batch. Otherwise each rank computes the loss of its
	// rows, by itself, whatever their type is; what it gathers from the others, by package dist, has gradients.
	Compute *mesh.Plan

	// Shards has each rank write what it keeps in parts to a file of its own, beside the checkpoint, which has what is
	// whole, names the files, and is written once all are there: run-1200.shard-0-of-4.safetensors. Any number of ranks
	// goes on from it. Otherwise the first rank gathers and writes everything in one file.
	Shards bool

	// ByElements divides batches so that ranks get about the same number of elements, and not of rows, which
	// matters where rows are ragged.
	ByElements bool

	// Weight returns what the loss of a batch is the mean over: nil stands for its rows. A loss that is a mean over
	// the tokens of ragged rows returns their number, a number or a scalar, which may be symbolic.
	Weight func(batch any) any
}

// Group is the name by which operations of package dist find the ranks among which batches are divided.
func (r *Ranks) Group() string { return mesh.GroupOf(r.axis()) }

// active reports whether there is anything to share.
func (r *Ranks) active() bool { return r != nil && r.Mesh != nil && r.Mesh.Size() > 1 }

func (r *Ranks) axis() string {
	if r.Data == "" {
		return "data"
	}
	return r.Data
}

// Leads reports whether this rank is the one that writes files and logs: the first, or the only one.
func (r *Ranks) Leads() bool { return !r.active() || r.Mesh.Comm().Rank() == 0 }

func (r *Ranks) check() error {
	if r == nil || r.Mesh == nil {
		return nil
	}
	fail := func(text, hint string) error {
		return &tenon.Error{Kind: tenon.ErrInvalid, Op: "train.Ranks", Msg: text, Hint: hint}
	}
	if r.Mesh.Comm() == nil {
		return fail(fmt.Sprintf("the mesh %v has no ranks", r.Mesh), "make it by mesh.New")
	}
	for _, p := range []*mesh.Plan{r.Stored, r.Slots, r.Compute} {
		if p != nil && p.Mesh() != r.Mesh {
			return fail("a plan is one of another mesh", "make all plans of Ranks.Mesh")
		}
	}
	if r.Compute == nil && r.Mesh.SizeAlong(r.axis()) != r.Mesh.Size() {
		return fail(fmt.Sprintf("batches are divided along %q, and the mesh is %v", r.axis(), r.Mesh), "name the axis of all ranks in Ranks.Data, or give Ranks.Compute")
	}
	return nil
}

// layoutOf returns how ranks keep a state, which is whole.
func layoutOf[P any](r *Ranks, s State[P], o Options) (mesh.Layout, error) {
	whole, err := r.Mesh.Plan()
	if err != nil {
		return mesh.Layout{}, err
	}
	stored, slots := r.Stored, r.Slots
	if stored == nil {
		stored = whole
	}
	if slots == nil {
		slots = stored
	}
	out, err := stored.Layout(s.Params)
	if err != nil {
		return out, err
	}
	flat, err := flatten(s.Params, o)
	if err != nil {
		return out, err
	}
	kept, err := slots.Layout(s.Params) // of each tensor of the parameters, how what is kept for it is divided
	if err != nil {
		return out, err
	}
	place := func(leaf int) int { // of a leaf among tensors
		n := 0
		for _, l := range flat.leaves[:leaf] {
			if _, ok := l.(tensor.Tensor); ok {
				n++
			}
		}
		return n
	}
	add := func(t tensor.Tensor, leaf int) error {
		l, err := whole.Layout([]tensor.Tensor{t})
		if err != nil {
			return err
		}
		if t.Shape().Equal(flat.leaves[leaf].(tensor.Tensor).Shape()) {
			if l, err = kept.At(place(leaf)).Retyped(t); err != nil {
				return err
			}
		}
		out = out.Append(l)
		return nil
	}
	for i, list := range s.Slots {
		for _, t := range list {
			if err := add(t, flat.at[flat.trained[i][0]]); err != nil {
				return out, err
			}
		}
	}
	for i, t := range s.Sum {
		if err := add(t, flat.at[flat.trained[i][0]]); err != nil {
			return out, err
		}
	}
	for i, t := range s.Average {
		if err := add(t, flat.at[i]); err != nil {
			return out, err
		}
	}
	rest, err := whole.Layout(append(slices.Clone(s.Scale), s.Step, s.Key))
	return out.Append(rest), err
}

// fail tells all ranks of an error of this one.
func (r *Ranks) fail(err error) error {
	if !r.active() || err == nil {
		return err
	}
	if first := r.Mesh.Comm().Err(); first != nil {
		return first
	}
	return r.Mesh.Comm().Fail(err)
}

// perRank reports whether each rank has a loss of its own.
func (r *Ranks) perRank() bool { return r.active() && r.Compute == nil }

// onRanks makes the steps of a trainer whose work is shared.
func (t *Trainer[P, B]) onRanks(loss lossOf[P, B], o Options) error {
	r := o.Ranks
	layout, err := layoutOf(r, t.state, o)
	if err != nil {
		return r.fail(err)
	}
	t.layout = layout
	t.program = func(b B) (string, error) { return programOf(t.state, b, loss, o) }
	type stepped struct {
		State State[P]
		Seen  []tensor.Tensor
	}
	type given struct {
		State State[P]
		Batch B
	}
	for i := range t.steps {
		f := function.Options{Name: "train.Step", RelaxAfter: 1}
		if r.Compute != nil {
			f.RelaxAfter = 0 // what is divided by names has a size
		}
		t.steps[i] = function.New(func(s State[P], b B) (State[P], []tensor.Tensor) {
			var out stepped
			if r.Compute == nil {
				out, _ = mesh.Inside(layout, func(s State[P]) stepped {
					next, seen := step(s, b, loss, o, i == 1)
					return stepped{mesh.Lay(layout, next), seen}
				}, s)
				return out.State, out.Seen
			}
			whole := tenon.Must(tenon.Must(r.Mesh.Plan()).Layout(b))
			out, _ = mesh.Inside(layout.Append(whole), func(g given) stepped {
				next, seen := step(g.State, g.Batch, loss, o, i == 1)
				return stepped{mesh.Lay(layout, next), seen}
			}, given{s, b})
			return out.State, out.Seen
		}, f)
	}
	return nil
}

// mine returns what a step of this rank takes: the rows of the batch that are its own.
func (t *Trainer[P, B]) mine(ctx context.Context, batch B) (context.Context, B, error) {
	r := t.opts.Ranks
	if t.program != nil {
		text, err := t.program(batch)
		if err == nil {
			err = r.Mesh.Comm().Agree(ctx, "the program of a step", text)
		}
		if err != nil {
			return ctx, batch, err
		}
		t.program = nil
	}
	ctx, err := r.Mesh.With(ctx)
	if err != nil {
		return ctx, batch, err
	}
	if !t.divided && t.layout.Divided() {
		if t.state, err = mesh.Local(t.layout, t.state); err != nil {
			return ctx, batch, err
		}
		t.share()
	}
	t.divided = true
	if r.Compute == nil {
		batch, _, err = divide(r, batch)
	}
	return ctx, batch, err
}

// Whole returns the state as a whole. Where ranks keep it in parts, all of them call it.
func (t *Trainer[P, B]) Whole(ctx context.Context) (State[P], error) {
	t.share()
	if !t.divided || !t.layout.Divided() {
		return t.state, nil
	}
	return mesh.Whole(ctx, t.layout, t.state)
}
