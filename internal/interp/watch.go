package interp

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/profile"
	"github.com/tenonml/tenon/tensor"
)

// insideKey is the key of a context value that is set while a graph runs: graphs run with such a
// context are nested in another one.
type insideKey struct{}

// watcher observes one run of a plan.
type watcher struct {
	graph.RunOptions
	inside        bool // this graph is nested in another one
	plan          *Plan
	inner         context.Context // context of the graphs nested in this one
	live          int64
	size          []int64 // by slot: bytes accounted for
	own           []int64 // by slot: bytes not shared with another result
	needed, small int64   // total of own, and of results outside of pooled memory
	last          profile.Event
}

func watcherOf(ctx context.Context, p *Plan) *watcher {
	o := graph.RunOptionsOf(ctx)
	if o == nil {
		return nil
	}
	w := &watcher{RunOptions: *o, plan: p, inner: ctx, size: make([]int64, p.slots), own: make([]int64, p.slots)}
	if w.inside = ctx.Value(insideKey{}) == o; !w.inside {
		w.inner = context.WithValue(ctx, insideKey{}, o)
	}
	return w
}

func (w *watcher) start() error {
	if w.MemoryLimit > 0 {
		if need := w.plan.need(); need > w.MemoryLimit {
			return w.tooMuch(need, w.plan.graph.Name, "")
		}
	}
	if w.Progress != nil && !w.inside && len(w.plan.steps) == 0 {
		w.Progress(0, 0)
	}
	return nil
}

func (w *watcher) tooMuch(need int64, name, line string) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: name, Line: line, Args: []string{},
		Msg:  fmt.Sprintf("results need %d bytes at the same time, but the limit is %d", need, w.MemoryLimit),
		Hint: "use smaller batches, grad.Checkpoint, or raise the limit"}
}

// run runs a step and observes it.
func (w *watcher) run(i int, s *step, slots []tensor.Tensor) error {
	if w.Progress != nil && !w.inside {
		w.Progress(i, len(w.plan.steps))
	}
	start := time.Now()
	if err := w.step(s, slots); err != nil {
		return err
	}
	for _, at := range s.results() {
		w.size[at] = bytesOf(slots[at])
		w.live += w.size[at]
	}
	if w.Profile != nil {
		w.last = profile.Event{Op: s.name(), Dims: s.dims(), Line: s.line, Graph: w.plan.graph.Name, Nodes: s.nodes(), Start: start, Duration: time.Since(start), Bytes: w.made(s), Live: w.live}
	}
	if w.MemoryLimit > 0 && w.live > w.MemoryLimit {
		return w.tooMuch(w.live, s.name(), s.line)
	}
	if w.Progress != nil && !w.inside && i == len(w.plan.steps)-1 {
		w.Progress(i+1, len(w.plan.steps))
	}
	return nil
}

// dims returns the names of the dimensions of a step's result; for a group, of the result of its
// last node.
func (s *step) dims() []string {
	if s.group != nil {
		s = &s.group.steps[len(s.group.steps)-1]
	}
	if s.node == nil || len(s.node.Outs) == 0 {
		return nil
	}
	return s.node.Outs[0].Dims()
}

// note adds the step to the profile, with the current memory of the run.
func (w *watcher) note(s *step, slots []tensor.Tensor, m *memory) {
	if w.Profile == nil {
		return
	}
	for _, at := range s.results() {
		w.small += w.outside(at, m)
		if d, ok := slots[at].(*tensor.Dense); !ok || s.group != nil || !readsFrom(s, slots, d) {
			w.own[at] = w.size[at]
			w.needed += w.own[at]
		}
	}
	w.last.Held, w.last.Needed = m.bytes+w.small, w.needed
	w.Profile.Add(w.last)
	for _, at := range s.free {
		w.small -= w.outside(at, m)
		w.needed -= w.own[at]
		w.own[at] = 0
	}
}

// outside returns the size in bytes of a result that is not in pooled memory.
func (w *watcher) outside(at int, m *memory) int64 {
	if m.owner != nil && m.owner[at] > 0 {
		return 0
	}
	return w.size[at]
}

// step runs a step; the nodes of a group run one by one if each is observed.
func (w *watcher) step(s *step, slots []tensor.Tensor) error {
	if !w.CheckNumerics {
		return s.run(w.inner, slots)
	}
	if s.group != nil {
		return s.group.inTurn(w.inner, slots, checked)
	}
	if err := s.run(w.inner, slots); err != nil {
		return err
	}
	return checked(s, slots)
}

// checked returns an error if a result of a step is not finite although all its operands are.
func checked(s *step, slots []tensor.Tensor) error {
	for _, at := range s.outs {
		what := notFinite(slots[at])
		if what == "" {
			continue
		}
		var args []string
		fine := true
		s.each(func(slot int) {
			if t := slots[slot]; t != nil {
				args = append(args, tenon.String(t.Spec()))
				fine = fine && notFinite(t) == ""
			}
		})
		if fine {
			return &tenon.Error{Kind: tenon.ErrInvalid, Op: s.op.Func(), Args: args, Line: s.line,
				Msg: fmt.Sprintf("the result has %s, although all operands are finite", what)}
		}
	}
	return nil
}

// notFinite describes the first element that is not finite, and its position.
func notFinite(t tensor.Tensor) string {
	d, ok := t.(*tensor.Dense)
	if !ok || !d.DType().IsFloat() || d.Len() == 0 || tensor.Item[bool](ops.All(ops.IsFinite(d))) {
		return ""
	}
	bad := tensor.Data[bool](ops.Reshape(ops.LogicalNot(ops.IsFinite(d)), []int{-1}))
	for i, b := range bad {
		if !b {
			continue
		}
		x := tensor.Data[float64](ops.Cast(ops.Reshape(d, []int{-1}), dtype.Float64))[i]
		name := "an infinity"
		if math.IsNaN(x) {
			name = "a NaN"
		}
		index := make([]string, d.Rank())
		for a := d.Rank() - 1; a >= 0; a-- {
			index[a] = fmt.Sprint(i % d.Dim(a))
			i /= d.Dim(a)
		}
		return name + " at [" + strings.Join(index, ", ") + "]"
	}
	return ""
}

// freed subtracts from the account what no later step reads.
func (w *watcher) freed(s *step) {
	for _, at := range s.free {
		w.live -= w.size[at]
		w.size[at] = 0
	}
}

func (w *watcher) made(s *step) (n int64) {
	for _, at := range s.results() {
		n += w.size[at]
	}
	return n
}

func (s *step) results() []int {
	if s.group != nil {
		return s.group.outs
	}
	return s.outs
}

func (s *step) name() string {
	if s.group == nil {
		return s.op.Name
	}
	names := make([]string, len(s.group.steps))
	for i := range names {
		names[i] = s.group.steps[i].op.Name
	}
	return strings.Join(names, "+")
}

func (s *step) nodes() []any {
	if s.group == nil {
		return []any{s.node}
	}
	nodes := make([]any, len(s.group.steps))
	for i := range nodes {
		nodes[i] = s.group.steps[i].node
	}
	return nodes
}

func bytesOf(t tensor.Tensor) int64 {
	switch t := t.(type) {
	case *tensor.Dense:
		if !t.IsContiguous() {
			return 0 // a view
		}
		return int64(t.Len()) * int64(t.DType().Size())
	case *tensor.Strings:
		offsets, bytes := t.Offsets(), t.Buffer()
		return int64(8*len(offsets)) + int64(len(bytes))
	}
	return 0
}

// need returns a lower bound for the bytes that results take at the same time, according to the
// known sizes.
func (p *Plan) need() int64 {
	size := map[int]int64{}
	var live, most int64
	for i := range p.steps {
		s := &p.steps[i]
		for _, at := range s.results() {
			if spec := p.specs[at]; spec != nil && spec.Shape().IsFull() {
				size[at] = int64(spec.Shape().Size()) * int64(spec.DType().Size())
				live += size[at]
			}
		}
		most = max(most, live)
		for _, at := range s.free {
			live -= size[at]
		}
	}
	return most
}
