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

// Ranks say how the ranks of a job share the work of steps. If only Mesh is set, training is data parallel: each rank
// gets some of the rows of each batch, and all keep the same parameters.
//
// All ranks call [Fit] with the same options and parameters, and with a source that gives all of them the same whole
// batches; positions count whole batches. Results are the same on all ranks. Random keys are the same, too, except
// that the loss of a divided batch gets a key into which the rank is folded. Before the first step, the ranks compare
// its program, traced on the whole batch, with all constants and sizes. A loss that depends on the place of its rows,
// such as their numbers in the batch, must therefore find it in the batch.
type Ranks struct {
	Mesh *mesh.Mesh

	// Data is the axis of the mesh along which batches are divided; if empty, "data".
	Data string

	// Stored says how parameters are divided; nil means not at all. Slots says the same for the optimizers' slots,
	// averages and sums of gradients; nil means like Stored. The rule mesh.Unnamed(0, "data") divides all of them
	// along their first axis. Slots alone is the second stage of ZeRO: gradients reach each rank by reduce-scatter,
	// and the parameters that it has updated are gathered. Stored is the third stage, in which parameters are gathered
	// for the loss (S. Rajbhandari et al., "ZeRO", SC 2020).
	Stored, Slots *mesh.Plan

	// Compute, if it is not nil, divides the loss itself by the dimension names of parameters and batch: the loss
	// is a program of package mesh on the whole batch. Otherwise each rank computes the loss of its own rows,
	// whatever their type; if the loss gathers values from other ranks, by package dist, gradients flow through
	// that.
	Compute *mesh.Plan

	// Shards makes each rank write the parts that it keeps to a file of its own, such as
	// run-1200.shard-0-of-4.safetensors. The checkpoint holds the undivided tensors and lists these files, and is
	// written when all of them are complete. Any number of ranks can resume from it. Otherwise the first rank gathers
	// everything and writes one file.
	Shards bool

	// ByElements divides batches so that ranks get about the same number of elements, not of rows, which
	// matters if rows are ragged.
	ByElements bool

	// Weight returns the number of items over which the loss of a batch is a mean; nil stands for its rows. For a
	// loss that is a mean over the tokens of ragged rows, it returns the number of tokens, as a Go number or a
	// scalar, which may be symbolic.
	Weight func(batch any) any
}

// Group is the name by which operations of package dist find the ranks among which batches are divided.
func (r *Ranks) Group() string { return mesh.GroupOf(r.axis()) }

// active reports whether there is work to share.
func (r *Ranks) active() bool { return r != nil && r.Mesh != nil && r.Mesh.Size() > 1 }

func (r *Ranks) axis() string {
	if r.Data == "" {
		return "data"
	}
	return r.Data
}

// Leads reports whether this rank writes files and logs: the first rank, or the only one.
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
			return fail("a plan belongs to another mesh", "make all plans of Ranks.Mesh")
		}
	}
	if r.Compute == nil && r.Mesh.SizeAlong(r.axis()) != r.Mesh.Size() {
		return fail(fmt.Sprintf("batches are divided along %q, but the mesh is %v", r.axis(), r.Mesh), "name the axis of all ranks in Ranks.Data, or give Ranks.Compute")
	}
	return nil
}

// layoutOf returns how the ranks divide s, which is whole.
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
	kept, err := slots.Layout(s.Params) // for each parameter tensor, how what is kept for it is divided
	if err != nil {
		return out, err
	}
	place := func(leaf int) int { // index of a leaf among the tensors
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

// fail tells all ranks about an error of this one.
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

// onRanks makes the steps of a trainer that shares its work.
func (t *Trainer[P, B]) onRanks(loss lossOf[P, B], o Options) error {
	r := o.Ranks
	layout, err := layoutOf(r, t.state, o)
	if err != nil {
		return r.fail(err)
	}
	t.layout = layout
	if t.scored, err = layoutOf(r, t.state.scored(), o); err != nil {
		return r.fail(err)
	}
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
		}, function.Options{Name: "train.Step", RelaxAfter: 1})
	}
	return nil
}

// mine returns the part of a batch that this rank processes: its rows.
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

// averaged returns what [State.Averaged] does of the state as a whole.
func (t *Trainer[P, B]) averaged(ctx context.Context) (P, error) {
	s := t.state.scored()
	if t.divided && t.layout.Divided() {
		var err error
		if s, err = mesh.Whole(ctx, t.scored, s); err != nil {
			return s.Params, err
		}
	}
	return s.Averaged(), nil
}

// Whole returns the undivided state. If ranks keep it in parts, all of them must call it.
func (t *Trainer[P, B]) Whole(ctx context.Context) (State[P], error) {
	t.share()
	if !t.divided || !t.layout.Divided() {
		return t.state, nil
	}
	return mesh.Whole(ctx, t.layout, t.state)
}
