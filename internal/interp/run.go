package interp

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/dimtext"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Run computes the graph's outputs for the given values of its parameters. It stops when the
// context ends, and follows the [graph.RunOptionsOf] the context.
func (p *Plan) Run(ctx context.Context, inputs []tensor.Tensor) ([]tensor.Tensor, error) {
	g := p.graph
	if len(inputs) != len(g.Params) {
		return nil, tenon.NewError(tenon.ErrInvalid, "graph.Run", fmt.Sprintf("%s has %d parameters, got %d values", g.Name, len(g.Params), len(inputs)))
	}
	var few [16]tensor.Tensor
	slots := few[:]
	if p.slots > len(few) {
		slots = make([]tensor.Tensor, p.slots)
	}
	for i, in := range inputs {
		if at := p.params[i]; at >= 0 {
			slots[at] = in
		}
	}
	for _, c := range p.consts {
		slots[c.slot] = c.t
	}
	w := watcherOf(ctx, p)
	if w != nil {
		if err := w.start(); err != nil {
			return nil, err
		}
	}
	var mem memory
	done := ctx.Done()
	for i := range p.steps {
		s := &p.steps[i]
		if done != nil {
			select {
			case <-done:
				return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: g.Name, Err: context.Cause(ctx), Line: s.line}
			default:
			}
		}
		if w != nil {
			if err := w.run(i, s, slots); err != nil {
				return nil, err
			}
		} else if err := s.run(ctx, slots); err != nil {
			return nil, err
		}
		mem.made(p, s, slots)
		if w != nil {
			w.note(s, slots, &mem)
		}
		for _, f := range s.free {
			mem.free(slots, f)
		}
		if w != nil {
			w.freed(s)
		}
	}
	out := make([]tensor.Tensor, len(p.outs))
	for i, at := range p.outs {
		out[i] = slots[at]
	}
	return out, nil
}

// run runs a step and stores its results in their slots.
func (s *step) run(ctx context.Context, slots []tensor.Tensor) error {
	if s.group != nil {
		if s.group.run(slots) {
			return nil
		}
		return s.group.oneByOne(ctx, slots)
	}
	if s.even {
		var operands [3]tensor.Tensor
		for i, a := range s.args {
			operands[i] = slots[a.slot]
		}
		if out := s.op.Even(operands[:len(s.args)]...); out != nil {
			slots[s.outs[0]] = out
			return nil
		}
	}
	c := &op.Call{Op: s.op, Args: make([]any, len(s.args))}
	c.SetContext(ctx)
	for i, a := range s.args {
		switch {
		case a.list != nil:
			l := make([]tenon.Value, len(a.list))
			for k, at := range a.list {
				l[k] = slots[at]
			}
			c.Args[i] = l
		case a.slot >= 0:
			c.Args[i] = slots[a.slot]
		default:
			c.Args[i] = a.attr
		}
	}
	out, err := c.Run()
	if err != nil {
		e := tenon.AsError(err)
		dims := s.operands(c)
		if e.Line != s.line || dims != "" {
			f := *e
			f.Line, f.Msg = s.line, f.Msg+dims
			e = &f
		}
		return e
	}
	for i, o := range out {
		slots[s.outs[i]] = o
	}
	return nil
}

// operands describes the operands that have named dimensions, as lines of a message.
func (s *step) operands(c *op.Call) string {
	dims := s.node.InputDims()
	if dims == nil {
		return ""
	}
	var list []dimtext.Operand
	k := 0
	note := func(role string, v tenon.Value) {
		if x, ok := v.(tensor.Tensor); ok && dims[k] != nil {
			list = append(list, graph.Operand(role, x, dims[k]))
		}
		k++
	}
	for i, a := range c.Args {
		switch a := a.(type) {
		case []tenon.Value:
			for _, v := range a {
				note(c.Op.Params[i].Name, v)
			}
		case tenon.Value:
			note(c.Op.Params[i].Name, a)
		}
	}
	return "\n" + dimtext.Lines(list...)
}

// memory returns the pooled memory of results when it is no longer needed by later steps. Results
// may be views of one another, so references are counted for the tensor that owns the memory.
type memory struct {
	owner []int // by slot: 1 plus the slot of the tensor that owns the memory, or 0 if no owner is known
	uses  []int // by owner: number of slots that refer to its memory
	held  []*tensor.Dense
	bytes int64 // bytes held, including rounding to size classes
}

// forever is more uses than there can be.
const forever = 1 << 40

// made records the results of a step.
func (m *memory) made(p *Plan, s *step, slots []tensor.Tensor) {
	outs := s.outs
	if s.group != nil {
		outs = s.group.outs
	}
	for _, at := range outs {
		d, ok := slots[at].(*tensor.Dense)
		if !ok {
			continue
		}
		if m.owner != nil && s.group == nil {
			if o := m.shared(s, d); o > 0 {
				m.owner[at] = o
				m.uses[o-1]++
				continue
			}
		}
		if !d.Pooled() {
			continue
		}
		if m.owner == nil {
			m.owner, m.uses, m.held = make([]int, p.slots), make([]int, p.slots), make([]*tensor.Dense, p.slots)
		}
		if s.group == nil && (s.keep || readsFrom(s, slots, d) || s.isConst(d)) {
			continue // comes from outside, or may be referenced elsewhere
		}
		m.owner[at], m.uses[at], m.held[at] = at+1, 1, d
		m.bytes += int64(cap(d.Bytes()))
	}
	if s.keep && m.owner != nil {
		s.each(func(slot int) {
			if o := m.owner[slot]; o > 0 {
				m.uses[o-1] = forever
			}
		})
	}
}

// shared returns the owner of the memory that d shares with an operand of the step.
func (m *memory) shared(s *step, d *tensor.Dense) (owner int) {
	s.each(func(slot int) {
		if o := m.owner[slot]; o > 0 && tensor.Overlap(d, m.held[o-1]) {
			owner = o
		}
	})
	return owner
}

// readsFrom reports whether d shares memory with an operand of the step.
func readsFrom(s *step, slots []tensor.Tensor, d *tensor.Dense) (found bool) {
	s.each(func(slot int) {
		if x, ok := slots[slot].(*tensor.Dense); ok && tensor.Overlap(d, x) {
			found = true
		}
	})
	return found
}

// isConst reports whether d shares memory with a constant of a region of the step.
func (s *step) isConst(d *tensor.Dense) bool {
	return slices.ContainsFunc(s.consts, func(c *tensor.Dense) bool { return tensor.Overlap(d, c) })
}

// each calls f with the slots that a step reads.
func (s *step) each(f func(slot int)) {
	if s.group != nil {
		for _, in := range s.group.inputs {
			f(in.slot)
		}
		return
	}
	for _, a := range s.args {
		if a.slot >= 0 {
			f(a.slot)
		}
		for _, at := range a.list {
			f(at)
		}
	}
}

// free empties a slot.
func (m *memory) free(slots []tensor.Tensor, at int) {
	slots[at] = nil
	if m.owner == nil || m.owner[at] == 0 {
		return
	}
	o := m.owner[at] - 1
	if m.uses[o]--; m.uses[o] == 0 {
		m.bytes -= int64(cap(m.held[o].Bytes()))
		tensor.Release(m.held[o])
		m.held[o] = nil
	}
}
