package graph

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// A Cell is a tensor whose elements can be replaced between calls, such as a
// variable. A graph captures the cell rather than its contents. Each call reads
// the cell and, if the trace has assigned to it, sets it at the end.
type Cell interface {
	op.Recorder
	Value() tensor.Tensor
	Set(tensor.Tensor) error
}

// An Effect is an assignment that is carried out after a graph has run: the cell
// is set to Outputs[Output].
type Effect struct {
	Cell  Cell
	value *Value
}

// SetCell records an assignment to a cell: the rest of the trace reads value
// instead of the cell. Only the outermost graph of a function may assign; a
// region of a branch or loop must return the value instead.
func (g *Graph) SetCell(c Cell, value *Value) error {
	if value = value.origin(); value.graph != g || g.sealed.Load() {
		return tenon.NewError(tenon.ErrInvalid, "graph.SetCell", "the value belongs to another trace, or one that has ended")
	}
	if g.region {
		e := tenon.NewError(tenon.ErrUnsupported, "state.Assign", "a variable is assigned inside a branch or loop that is traced")
		e.Hint = "return the new value from the branch or make it a loop variable, and assign it outside"
		return e
	}
	g.captureCell(c)
	for i := range g.effects {
		if g.effects[i].Cell == c {
			g.effects[i].value = value
			g.cells[c] = value
			return nil
		}
	}
	g.effects = append(g.effects, Effect{c, value})
	g.cells[c] = value
	return nil
}

// captureCell returns the value of a cell at this point of the trace.
func (g *Graph) captureCell(c Cell) *Value {
	if v, ok := g.cells[c]; ok {
		return v
	}
	v := g.capture(c)
	if g.cells == nil {
		g.cells = map[Cell]*Value{}
	}
	g.cells[c] = v
	return v
}

// TakeEffects completes the graph with its effects: their values become outputs
// after the existing ones. It returns the effects in order.
func (g *Graph) TakeEffects() []Effect {
	for _, e := range g.effects {
		g.Outputs = append(g.Outputs, e.value)
	}
	return g.effects
}
