package mesh

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A Func is a function of whole values that runs on the parts of the ranks.
type Func[X, Y any] struct {
	mesh *Mesh
	f    func(X) Y

	mu     sync.Mutex
	traces map[string]*trace[Y]
}

// A trace is a traced function, for arguments that are divided in one way.
type trace[Y any] struct {
	run     *function.Function[func([]tensor.Tensor) []tensor.Tensor]
	like    Y
	from    []layout // of the argument
	layouts []layout
	log     []Collective
	program []string // what ranks compare
	agreed  bool     // all ranks have agreed on it
}

// Function returns a function of parts. All ranks must call it in the same order. f is traced for
// each structure of its argument and each way in which it is divided.
func Function[X, Y any](m *Mesh, f func(X) Y) *Func[X, Y] {
	return &Func[X, Y]{mesh: m, f: f, traces: map[string]*trace[Y]{}}
}

// Call runs the function on the parts of this rank.
func (f *Func[X, Y]) Call(ctx context.Context, x Sharded[X]) (y Sharded[Y], err error) {
	ctx, err = f.mesh.With(ctx)
	if err != nil {
		return y, err
	}
	t, err := f.trace(x)
	if err != nil {
		return y, f.fail(err)
	}
	if !t.agreed {
		if err := f.mesh.world.Agree(ctx, "the program", strings.Join(t.program, "\n")); err != nil {
			return y, err
		}
		t.agreed = true
	}
	out, err := t.run.CallContext(ctx, x.parts)
	if err != nil {
		return y, f.fail(err)
	}
	return Sharded[Y]{f.mesh, t.like, renamed(t.layouts, t.from, x.layouts), out[0].([]tensor.Tensor)}, nil
}

// describeCall returns the text of a call that ranks compare: the operation, its attributes, and the contents of
// captured values.
func describeCall(c *op.Call) string {
	text := c.Op.Name
	for _, a := range c.Args {
		list, ok := a.([]tenon.Value)
		if !ok {
			list = []tenon.Value{nil}
			list[0], ok = a.(tenon.Value)
		}
		for _, v := range list {
			switch d, dense := v.(*tensor.Dense); {
			case dense:
				h := fnv.New128a()
				h.Write(tensor.Contiguous(d).Bytes())
				text += fmt.Sprintf(" %.40s of digest %x", strings.ReplaceAll(fmt.Sprint(d), "\n", " "), h.Sum(nil))
			case ok:
				text += " " + tenon.String(v.Spec())
			}
		}
		if e, data := op.EncodeAttr(a); data && !ok {
			text += " " + tenon.EncodingText(e)
		}
	}
	return text + "\tat " + source.Line()
}

// fail tells all ranks about an error of this one.
func (f *Func[X, Y]) fail(err error) error {
	if f.mesh.world == nil {
		return err
	}
	if first := f.mesh.world.Err(); first != nil {
		return first
	}
	return f.mesh.world.Fail(err)
}

// trace returns the trace for an argument.
func (f *Func[X, Y]) trace(x Sharded[X]) (*trace[Y], error) {
	key, err := x.signature()
	if err != nil {
		return nil, err
	}
	if x.mesh != f.mesh {
		return nil, tenon.NewError(tenon.ErrInvalid, "mesh.Func", "the argument is divided on another mesh than that of the function")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.traces[key]; t != nil {
		return t, nil
	}
	t := &trace[Y]{from: x.layouts}
	t.run = function.New(func(parts []tensor.Tensor) []tensor.Tensor {
		out, layouts, like, in := traced(f.mesh, f.f, x.like, x.layouts, parts)
		t.like, t.layouts, t.log, t.program = like, layouts, in.log, in.program
		for _, c := range t.log {
			t.program = append(t.program, fmt.Sprint(c.Kind, " over ", c.Axis, " of ", c.Of, "\tat ", c.Line))
		}
		t.program = append(t.program, f.mesh.textOf(layouts))
		return out
	})
	if _, err := t.run.Trace(x.parts); err != nil {
		return nil, err
	}
	f.traces[key] = t
	return t, nil
}

// traced runs f on variables that stand for the whole values of parts.
func traced[X, Y any](m *Mesh, f func(X) Y, like X, layouts []layout, parts []tensor.Tensor) ([]tensor.Tensor, []layout, Y, *tracer) {
	t := &tracer{mesh: m, level: op.NextLevel(), same: map[*entries]*entries{}, counts: map[*entries]counted{}, starts: map[*entries][2]tensor.Tensor{}}
	defer func() { t.done = true }()
	vars := make([]tensor.Tensor, len(parts))
	for i, x := range parts {
		if v, ok := x.(*graph.Value); ok {
			t.graph = v.Graph()
		}
		v := &variable{tracer: t, spec: layouts[i].spec, cuts: slices.Clone(layouts[i].cuts), local: x}
		t.register(v)
		vars[i] = v
	}
	y := f(tenon.Must(with(like, vars)))
	leaves := tenon.Must(tensorsOf(y))
	out, res := make([]tensor.Tensor, len(leaves)), make([]layout, len(leaves))
	for i, l := range leaves {
		v := t.placed(t.close(t.of(l).canonical()))
		out[i], res[i] = v.part(v.cuts), layout{v.spec, v.cuts}
	}
	return out, res, y, t
}

// Explain lists the collectives of a call whose argument is divided according to a plan, without running
// it. The mesh may be an [Abstract] one.
func (f *Func[X, Y]) Explain(p *Plan, x X) (e Explanation, err error) {
	defer tenon.Catch(&err)
	if p.mesh != f.mesh {
		return e, tenon.NewError(tenon.ErrInvalid, "mesh.Explain", "the plan belongs to another mesh than the function")
	}
	s, err := Shard(p, x)
	if err != nil {
		return e, err
	}
	t, err := f.trace(s)
	if err != nil {
		return e, err
	}
	g, err := t.run.Trace(s.parts)
	if err != nil {
		return e, err
	}
	e = Explanation{Mesh: f.mesh.String(), Plan: p.String(), Collectives: t.log, work: f.mesh.workOf(g)}
	for _, l := range s.layouts {
		e.Arguments = append(e.Arguments, f.mesh.describe(l, ""))
		e.ArgumentBytes += p.mesh.bytes(l)
	}
	for _, l := range t.layouts {
		e.Results = append(e.Results, f.mesh.describe(l, ""))
	}
	return e, nil
}

// bytes returns the number of bytes of a tensor that this rank has.
func (m *Mesh) bytes(l layout) int64 {
	s := m.shapeOf(l.spec.Shape(), l.cuts)
	if !known(s) {
		return 0
	}
	return int64(s.Size()) * int64(l.spec.DType().Size())
}
