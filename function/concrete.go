package function

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// A Concrete is one trace of a function: its graph for one signature.
type Concrete struct {
	sig     *signature
	graph   *graph.Graph
	program backend.Program
	backend backend.Backend
	effects []graph.Effect
	name    string
	like    []any // the results, with symbolic tensors
	leaves  []any // the leaves of like; nil where an output of the graph goes
	single  bool  // the only result is a dense tensor
	plain   bool  // every argument is a dense tensor
	values  bool  // every argument is a Value

	// structure identifies the structure of the arguments, and dense holds their Specs, if all
	// leaves are dense tensors; otherwise it is 0.
	structure uint64
	dense     []*tensor.Spec
	calls     sync.Pool // of *inputs

	args  []any         // symbolic, as passed to the Go function
	used  atomic.Uint64 // the time of the last call, measured in traces
	first *Concrete     // as it was recorded, if traces are checked
}

// Graph returns the traced graph after optimization.
func (t *Concrete) Graph() *graph.Graph { return t.graph }

// fast returns the tensors of a call whose arguments are dense tensors with
// exactly the trace's Specs, and nil for any other call.
func (t *Concrete) fast(args []any) []tensor.Tensor {
	if len(args) != len(t.sig.leaves) {
		return nil
	}
	if !t.plain {
		return t.components(args)
	}
	out := make([]tensor.Tensor, len(args), len(args)+len(t.graph.Captures))
	for i, a := range args {
		d, ok := a.(*tensor.Dense)
		if !ok || d == nil || !t.sig.leaves[i].spec.(*tensor.Spec).EqualSpec(d.Spec()) {
			return nil
		}
		out[i] = d
	}
	return out
}

// inputs holds the tensors of a call, for reuse by the next one.
type inputs struct {
	tensors []tensor.Tensor // with space for the captures; nil for those that no step reads
	at      int             // index of the next leaf
}

// nested is fast for arguments that are structures of dense tensors. Its result is returned with
// [Concrete.forget].
func (t *Concrete) nested(args []any) *inputs {
	in, _ := t.calls.Get().(*inputs)
	if in == nil {
		in = &inputs{tensors: make([]tensor.Tensor, len(t.sig.leaves), len(t.sig.leaves)+len(t.graph.Captures))}
	}
	in.at = 0
	structure := nest.VisitTensors(args, func(run []tensor.Tensor) bool {
		want := t.dense[in.at:]
		if len(run) > len(want) {
			return false
		}
		for i, x := range run {
			d, ok := x.(*tensor.Dense)
			if !ok || d == nil || want[i].DType() != d.DType() || !want[i].Shape().Equal(d.Shape()) {
				return false
			}
			if t.program.Reads(in.at + i) {
				in.tensors[in.at+i] = d
			}
		}
		in.at += len(run)
		return true
	})
	if structure != t.structure || in.at != len(t.sig.leaves) {
		t.forget(in)
		return nil
	}
	return in
}

// forget makes the inputs available to another call.
func (t *Concrete) forget(in *inputs) {
	for i, x := range in.tensors[:cap(in.tensors)] {
		if x != nil { // skipping unneeded writes saves the collector work
			in.tensors[:cap(in.tensors)][i] = nil
		}
	}
	t.calls.Put(in)
}

// matcher is a Spec, such as that of a derived type, that takes values apart if they have exactly
// that Spec, faster than by asking for theirs.
type matcher interface {
	Match(v tenon.Value, out []tenon.Value) (components []tenon.Value, ok bool)
}

// components is fast for Values whose components are dense tensors in memory.
func (t *Concrete) components(args []any) []tensor.Tensor {
	if !t.values {
		return nil
	}
	out := make([]tensor.Tensor, 0, len(t.graph.Params)+len(t.graph.Captures))
	for i, a := range args {
		want := t.sig.leaves[i].spec
		v, ok := a.(tenon.Value)
		if !ok || want == nil {
			return nil
		}
		if d, ok := v.(*tensor.Dense); ok {
			if d == nil || !tenon.Equal(want, d.Spec()) {
				return nil
			}
			out = append(out, d)
			continue
		}
		if m, ok := want.(matcher); ok {
			room := [8]tenon.Value{}
			if parts, ok := m.Match(v, room[:0]); ok {
				if out, ok = appendDense(out, parts); !ok {
					return nil
				}
				continue
			}
		}
		if r := reflect.ValueOf(a); r.Kind() == reflect.Pointer && r.IsNil() {
			return nil
		}
		s := v.Spec()
		if tenon.IsLeaf(s) || !tenon.Equal(want, s) {
			return nil
		}
		parts, err := s.Disassemble(v)
		if err != nil {
			return nil
		}
		if out, ok = appendDense(out, parts); !ok {
			return nil
		}
	}
	return out
}

// appendDense appends components that are dense tensors. It returns false for
// others.
func appendDense(out []tensor.Tensor, parts []tenon.Value) (_ []tensor.Tensor, ok bool) {
	for _, p := range parts {
		d, ok := p.(*tensor.Dense)
		if !ok || d == nil {
			return nil, false
		}
		out = append(out, d)
	}
	return out, true
}

// trace runs the Go function on symbolic arguments and prepares its graph to run.
func (c *core) trace(s *signature, args []any) (*Concrete, error) {
	t, err := c.record(s, args)
	if err != nil {
		return nil, err
	}
	s.keep(t.args)
	t.args = nil
	if c.checks() {
		t.first = &Concrete{sig: s, graph: t.graph, like: t.like, leaves: t.leaves}
	}
	t.backend = c.opts.Backend
	if t.program, err = t.backend.Compile(t.graph, backend.Options{Rematerialise: c.opts.Rematerialise}); err != nil {
		return nil, c.fail(err)
	}
	t.graph = t.program.Graph()
	t.plain, t.values = flat(s.args), flat(s.args)
	for _, l := range s.leaves {
		_, dense := l.spec.(*tensor.Spec)
		t.plain = t.plain && dense
	}
	if !t.plain && !s.declared {
		t.structured(args)
	}
	return t, nil
}

// record runs the Go function on symbolic arguments.
func (c *core) record(s *signature, args []any) (*Concrete, error) {
	specs, err := s.tensorSpecs()
	if err != nil {
		return nil, c.fail(err)
	}
	leave, err := c.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	t := &Concrete{sig: s, name: c.name}
	t.graph, err = graph.Trace(c.name, specs, func(params []tensor.Tensor) ([]tensor.Tensor, error) {
		symbolic, err := s.symbolic(params, args)
		if err != nil {
			return nil, err
		}
		t.args = symbolic
		for i, a := range symbolic {
			if a != nil && !reflect.TypeOf(a).AssignableTo(c.typ.In(i)) { // of a Spec of another type
				return nil, c.misfit(i, a)
			}
		}
		out, err := c.direct(symbolic)
		if err != nil {
			return nil, err
		}
		return t.results(out)
	})
	if err != nil {
		return nil, c.fail(err)
	}
	t.effects = t.graph.TakeEffects()
	return t, nil
}

// structured records the number that identifies the arguments' structure, unless a leaf is not a
// dense tensor.
func (t *Concrete) structured(args []any) {
	leaves, n, err := nest.FlattenWithStructure(args)
	if err != nil || len(leaves) != len(t.sig.leaves) {
		return
	}
	for i, l := range leaves {
		spec, ok := t.sig.leaves[i].spec.(*tensor.Spec)
		if _, dense := l.(*tensor.Dense); !dense || !ok || spec.Name() != "" {
			return
		}
		t.dense = append(t.dense, spec)
	}
	t.structure = n
}

// tensorSpecs returns the Specs of the tensors that the Values consist of.
func (s *signature) tensorSpecs() ([]*tensor.Spec, error) {
	var out []*tensor.Spec
	for _, l := range s.leaves {
		if l.spec == nil {
			continue
		}
		parts, err := nest.Flatten(l.spec, nest.Options{Expand: true})
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			ts, ok := p.(*tensor.Spec)
			if !ok {
				return nil, tenon.NewError(tenon.ErrDType, "", fmt.Sprintf("a component of %s is a %T, not a tensor", tenon.String(l.spec), p))
			}
			out = append(out, ts)
		}
	}
	return out, nil
}

// symbolic returns arguments like those of a call, with their tensors replaced by
// params.
func (s *signature) symbolic(params []tensor.Tensor, like []any) ([]any, error) {
	leaves := make([]any, len(s.leaves))
	for i, l := range s.leaves {
		if l.spec == nil {
			leaves[i] = l.plain
			continue
		}
		parts, err := nest.Flatten(l.spec, nest.Options{Expand: true})
		if err != nil {
			return nil, err
		}
		comps := make([]any, len(parts))
		for k := range parts {
			comps[k] = params[k]
		}
		params = params[len(parts):]
		if leaves[i], err = nest.Pack[any](l.spec, comps, nest.Options{Expand: true}); err != nil {
			return nil, err
		}
	}
	return nest.Pack(like, leaves, nest.Options{})
}

// results records the structure of the Go function's results and returns their
// tensors.
func (t *Concrete) results(out []any) ([]tensor.Tensor, error) {
	leaves, err := nest.Flatten(out, nest.Options{Expand: true})
	if err != nil {
		return nil, err
	}
	t.like, t.leaves = out, leaves
	var ts []tensor.Tensor
	for i, l := range leaves {
		if x, ok := l.(tensor.Tensor); ok {
			ts = append(ts, x)
			t.leaves[i] = nil
		}
	}
	if len(out) == 1 && len(ts) == 1 && len(leaves) == 1 {
		v, ok := out[0].(tensor.Tensor)
		t.single = ok && tenon.IsLeaf(v.Spec())
	}
	return ts, nil
}

// volatile reports whether the trace uses values of an enclosing one.
func (t *Concrete) volatile() bool {
	for _, c := range t.graph.Captures {
		if _, ok := c.(graph.Cell); !ok {
			return true
		}
	}
	return false
}

// run runs the program and puts the results together.
func (t *Concrete) run(ctx context.Context, inputs []tensor.Tensor) ([]any, error) {
	for _, c := range t.graph.Captures {
		cell, ok := c.(graph.Cell)
		if !ok {
			return nil, tenon.NewError(tenon.ErrUnsupported, t.name, "the function uses a symbolic value from outside and is called with data")
		}
		inputs = append(inputs, cell.Value())
	}
	out, err := t.program.Run(backend.With(ctx, t.backend), inputs)
	if err != nil {
		return nil, err
	}
	n := len(out) - len(t.effects)
	for i, e := range t.effects {
		if err := e.Cell.Set(out[n+i]); err != nil {
			return nil, err
		}
	}
	if t.single {
		return []any{out[0]}, nil
	}
	leaves := make([]any, len(t.leaves))
	k := 0
	for i, l := range t.leaves {
		if leaves[i] = l; l == nil {
			leaves[i] = out[k]
			k++
		}
	}
	return nest.Pack(t.like, leaves, nest.Options{Expand: true})
}
