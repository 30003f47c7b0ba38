package train

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

// Ranks say how the ranks of a job share the work of steps. The zero value of all but Mesh is data
// parallel training: each rank gets some of the rows of each batch, and all keep the same parameters.
//
// All ranks call [Fit] with the same options and parameters, and a source that gives all of them the same
// batches: positions count batches as wholes. Results are the same on all ranks. So are random keys, into which
// the loss of a divided batch gets its rank folded.
type Ranks struct {
	Mesh *mesh.Mesh

	// Data is the axis of the mesh along which batches are divided: "data" where it is empty.
	Data string

	// Stored says how parameters are kept, and Slots how what optimizers keep for them, and averages and sums of
	// gradients, are: nil stands for whole, and Slots for Stored. The rule mesh.Unnamed(0, "data") divides all
	// of them by their first axis. With Slots alone it is the first stage of ZeRO, with Stored the third:
	// parameters are gathered for the loss, and gradients reach each rank by reduce-scatters (S. Rajbhandari et al.,
	// "ZeRO", SC 2020).
	Stored, Slots *mesh.Plan

	// Compute, if it is not nil, divides the loss itself by the names of dimensions, of parameters and batch: the
	// loss is a program of package mesh on the whole batch. Otherwise each rank computes the loss of its
	// rows, by itself, whatever their type is; what it gathers from the others, by package dist, has gradients.
	Compute *mesh.Plan

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

// divide returns the rows of a batch that are this rank's: of each Value with rows. Numbers and scalars
// are the same for all.
func divide[B any](r *Ranks, batch B) (part B, n int, err error) {
	leaves, n, err := countRows(batch)
	if err != nil {
		return part, 0, err
	}
	cuts, err := r.cuts(leaves, n)
	if err != nil {
		return part, 0, err
	}
	at := r.Mesh.RankAlong(r.axis())
	for i, l := range leaves {
		if v, ok := l.(tenon.Value); ok && !scalar(v) {
			if leaves[i], err = rows.Slice(v, cuts[at], cuts[at+1]); err != nil {
				return part, 0, rows.Named("train.Ranks", err)
			}
		}
	}
	part, err = nest.Pack(batch, leaves, nest.Options{})
	return part, n, err
}

// countRows returns the leaves of a batch, and how many rows those have that are no numbers or scalars.
func countRows(batch any) (leaves []any, n int, err error) {
	paths, leaves, err := nest.FlattenWithPaths(batch, nest.Options{})
	if err != nil {
		return nil, 0, err
	}
	n = -1
	for i, l := range leaves {
		v, ok := l.(tenon.Value)
		if !ok || scalar(v) {
			continue
		}
		m, err := rows.Count(v)
		if err == nil && n >= 0 && m != n {
			err = tenon.NewError(tenon.ErrShape, "", fmt.Sprintf("it has %d rows, others have %d", m, n))
		}
		if err != nil {
			e := *tenon.AsError(err)
			e.Op, e.Where = "train.Ranks", paths[i].String()
			return nil, 0, &e
		}
		n = m
	}
	if n < 0 {
		return nil, 0, tenon.NewError(tenon.ErrInvalid, "train.Ranks", "nothing in the batch has rows to divide")
	}
	return leaves, n, nil
}

func scalar(v tenon.Value) bool {
	t, ok := v.(tensor.Tensor)
	return ok && t.Shape().HasRank() && t.Shape().Rank() == 0
}

// cuts returns where the rows of each rank begin, and the end.
func (r *Ranks) cuts(leaves []any, n int) ([]int, error) {
	size := r.Mesh.SizeAlong(r.axis())
	cuts := make([]int, size+1)
	if !r.ByElements {
		for k := range size {
			_, cuts[k+1] = dist.Share(n, size, k)
		}
		return cuts, nil
	}
	var failed error
	upTo := func(k int) int { // elements of the first k rows
		sum := 0
		for _, l := range leaves {
			v, ok := l.(tenon.Value)
			if !ok || scalar(v) {
				continue
			}
			part, err := rows.Slice(v, 0, k)
			if err != nil {
				failed = err
				return 0
			}
			sum += elementsOf(part)
		}
		return sum
	}
	all := upTo(n)
	for k := 1; k < size; k++ {
		want := all * k / size
		c := sort.Search(n, func(i int) bool { return upTo(i) >= want })
		if c > 0 && want-upTo(c-1) < upTo(c)-want { // the nearer of two places
			c--
		}
		cuts[k] = max(c, cuts[k-1])
	}
	cuts[size] = n
	return cuts, failed
}

// elementsOf returns the number of elements in the tensors of a Value.
func elementsOf(v tenon.Value) int {
	leaves, err := nest.Flatten(v, nest.Options{Expand: true})
	if err != nil {
		return 0
	}
	n := 0
	for _, l := range leaves {
		if t, ok := l.(tensor.Tensor); ok && t.Shape().IsFull() {
			n += t.Shape().Size()
		}
	}
	return n
}

// weight returns what the loss of the rows of a rank is a mean over.
func (r *Ranks) weight(batch any) tensor.Tensor {
	if r.Weight != nil {
		return ops.Cast(r.Weight(batch), dtype.Float64)
	}
	for _, l := range tenon.Must(nest.Flatten(batch, nest.Options{})) {
		if v, ok := l.(tenon.Value); ok && !scalar(v) {
			return ops.Cast(tenon.Must(rows.CountTensor(v)), dtype.Float64)
		}
	}
	return tensor.Scalar(0.0)
}

// ofRank is what a rank gives: everything times its weight.
type ofRank struct {
	Weight tensor.Tensor
	Losses tensor.Tensor // the rank's own loss at its place, and zeros
	Loss   tensor.Tensor
	Grads  []tensor.Tensor
	Beside []tensor.Tensor // the floating tensors of what stands beside the parameters
}

// differentiateRanks is differentiate, for a batch of which each rank has some rows: the loss is the mean of those of
// the ranks, weighted by what they are means over.
func differentiateRanks[P, B any](s State[P], batch B, loss lossOf[P, B], o Options, flat *parameters) (value tensor.Tensor, grads []tensor.Tensor, after P, losses tensor.Tensor) {
	r := o.Ranks
	o.Ranks = nil
	if r.Compute != nil {
		c := s
		c.Params = mesh.To(r.Compute, s.Params)
		value, grads, after = differentiate(c, mesh.To(r.Compute, batch), loss, o, tenon.Must(flatten(c.Params, o)))
		after = tenon.Must(nest.Pack(after, tenon.Must(nest.Flatten(s.Params, nest.Options{})), nest.Options{}))
		return value, alike(grads, flat.tensors()), after, nil
	}
	size, rank := r.Mesh.SizeAlong(r.axis()), r.Mesh.RankAlong(r.axis())
	var local P
	out := mesh.PerRank(r.axis(), func(s State[P]) ofRank {
		s.Key = ops.RandomFoldIn(s.Key, tensor.Scalar(int64(rank)))
		// What is differentiated is weighted: a loss may depend on other ranks, whose gradients it then is part of.
		w := r.weight(batch)
		value, grads, after := differentiate(s, batch, func(p P, b B, key tensor.Tensor) seen {
			x := loss(p, b, key)
			x.Loss = ops.Mul(isLoss(x.Loss), ops.Cast(w, x.Loss.DType()))
			return x
		}, o, tenon.Must(flatten(s.Params, o)))
		local = after
		none := ops.Equal(w, 0.0)
		some := func(x tensor.Tensor) tensor.Tensor { return ops.Where(none, ops.ZerosLike(x), x) } // a mean over nothing is NaN
		place := make([]float64, size)
		place[rank] = 1
		y := ofRank{Weight: w, Loss: some(value)}
		own := some(ops.Div(ops.Cast(value, dtype.Float64), w))
		y.Losses = ops.Where(ops.Equal(tensor.Of(place), 1.0), own, 0.0)
		for _, g := range grads {
			y.Grads = append(y.Grads, some(g))
		}
		for _, t := range besideOf(after) {
			y.Beside = append(y.Beside, some(ops.Mul(t, ops.Cast(w, t.DType()))))
		}
		return y
	}, s)
	mean := func(x tensor.Tensor) tensor.Tensor { return ops.Div(x, ops.Cast(out.Weight, x.DType())) }
	for i := range out.Grads {
		grads = append(grads, mean(out.Grads[i]))
	}
	after = s.Params
	if w, ok := any(after).(besides); ok {
		means := make([]tensor.Tensor, len(out.Beside))
		for i := range means {
			means[i] = mean(out.Beside[i])
		}
		after = packBeside(w, local, means).(P)
	}
	return mean(out.Loss), alike(grads, flat.tensors()), after, out.Losses
}

// alike returns gradients divided as their parameters are.
func alike(grads, params []tensor.Tensor) []tensor.Tensor {
	out := make([]tensor.Tensor, len(grads))
	for i, g := range grads {
		out[i] = mesh.Like(g, params[i])
	}
	return out
}

// besideOf returns the floating tensors of what stands beside parameters.
func besideOf(p any) (out []tensor.Tensor) {
	if _, ok := p.(besides); !ok {
		return nil
	}
	paths, leaves, err := nest.FlattenWithPaths(p, nest.Options{Expand: true})
	tenon.Throw(err)
	for i, l := range leaves {
		if t, ok := l.(tensor.Tensor); ok && paths[i][0] == "Beside" && t.DType().IsFloat() {
			out = append(out, t)
		}
	}
	return out
}

// packBeside returns parameters beside which the floating tensors are means over ranks; others have to be the same on
// all ranks, such as numbers of batches.
func packBeside(params besides, local any, means []tensor.Tensor) any {
	_, own, err := nest.FlattenWithPaths(local, nest.Options{Expand: true})
	tenon.Throw(err)
	paths, leaves, err := nest.FlattenWithPaths(any(params), nest.Options{Expand: true})
	tenon.Throw(err)
	k := 0
	for i, l := range leaves {
		if paths[i][0] != "Beside" {
			continue
		}
		leaves[i] = own[i]
		if t, ok := l.(tensor.Tensor); ok && t.DType().IsFloat() {
			leaves[i] = means[k]
			k++
		}
	}
	return tenon.Must(nest.Pack(any(params), leaves, nest.Options{Expand: true}))
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

// agree is an error on all ranks where a batch, or the wish to go on, differs. It reports whether any rank stops.
func (r *Ranks) agree(ctx context.Context, step int, batch any, stop bool) (bool, error) {
	x := []int64{0, 0, 0, int64(step), -int64(step)}
	specs := ""
	if stop {
		x[0] = 1
	} else {
		var err error
		if specs, err = specsOf(batch); err != nil {
			return false, r.fail(err)
		}
		h := fnv.New64a()
		h.Write([]byte(specs))
		x[1] = int64(h.Sum64() >> 1)
		x[2] = -x[1]
	}
	c := r.Mesh.Comm()
	most, err := c.AllReduce(ctx, tensor.Of(x), dist.Max)
	if err != nil {
		return false, err
	}
	y := tensor.Data[int64](most.(*tensor.Dense))
	if y[0] != 0 {
		return true, nil
	}
	if y[1] == -y[2] && y[3] == -y[4] {
		return false, nil
	}
	all, err := dist.GatherValues(ctx, c, tensor.Scalar(fmt.Sprintf("is at step %d with %s", step, specs)))
	if err != nil {
		return false, err
	}
	var text []string
	for k, v := range all {
		text = append(text, fmt.Sprintf("rank %d %s", k, tensor.Item[string](v)))
	}
	e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "train.Ranks", Msg: "ranks disagree about the batch: " + strings.Join(text, "; ")}
	e.Hint = "the source has to give all ranks the same batches, by position"
	return false, c.Fail(e)
}

// specsOf returns the Specs of the Values of a batch, and how many rows each has.
func specsOf(batch any) (string, error) {
	paths, leaves, err := nest.FlattenWithPaths(batch, nest.Options{})
	if err != nil {
		return "", err
	}
	var text []string
	for i, l := range leaves {
		s := fmt.Sprintf("%T", l)
		if v, ok := l.(tenon.Value); ok {
			s = tenon.String(v.Spec())
			if n, err := rows.Count(v); err == nil {
				s += fmt.Sprintf(" of %d rows", n)
			}
		}
		if len(paths[i]) > 0 {
			s = paths[i].String() + " " + s
		}
		text = append(text, s)
	}
	return strings.Join(text, ", "), nil
}

// programOf returns a text that is the same for losses that compute the same of a batch as a whole: their operations, the
// types of what these give, and what goes into them. Constants and sizes may depend on the rank, as where a loss compares
// its rows with those of others.
func programOf[P, B any](params P, batch B, key tensor.Tensor, loss lossOf[P, B]) (string, error) {
	g, err := function.New(func(p P, b B, key tensor.Tensor) tensor.Tensor { return loss(p, b, key).Loss }).Trace(params, batch, key)
	if err != nil {
		return "", err
	}
	h, number := fnv.New64a(), map[*graph.Value]int{}
	for i, p := range g.Params {
		number[p] = i + 1
	}
	for _, n := range g.Nodes {
		fmt.Fprint(h, n.Op.Name)
		for _, v := range n.Inputs() {
			fmt.Fprint(h, " ", number[v]) // 0 for constants
		}
		for _, v := range n.Outs {
			number[v] = len(number) + 1
			fmt.Fprint(h, " ", v.DType(), v.Shape().Rank())
		}
		fmt.Fprintln(h)
	}
	return fmt.Sprintf("%d operations, digest %x", len(g.Nodes), h.Sum64()), nil
}

// sick names the ranks whose loss is no number.
func sick(losses []float64) string {
	text := ""
	for r, x := range losses {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			text += fmt.Sprintf(", %v on rank %d", x, r)
		}
	}
	return text
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
	t.program = func(b B) (string, error) { return programOf(t.state.Params, b, t.state.Key, loss) }
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
			err = r.Mesh.Comm().Agree(ctx, "the loss", text)
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
