package backend

import (
	"runtime"
	"slices"

	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/cpu"
	"github.com/tenonml/tenon/internal/interp"
	"github.com/tenonml/tenon/internal/passes"
)

// Default optimizes graphs by passes and runs them operation by operation in this process, fusing
// adjacent elementwise operations.
var Default Backend = interpreter{}

type interpreter struct{}

func (interpreter) Name() string { return "interpreter" }

func (interpreter) Devices() []Device {
	return []Device{{Kind: "cpu", Name: runtime.GOARCH + ", " + cpu.Active().String()}}
}

func (interpreter) Compile(g *graph.Graph, o Options) (Program, error) {
	if o.Region { // it was optimized with the enclosing graph, if there is one
		return interp.For(g), nil
	}
	list := passes.Default
	if o.Rematerialise {
		list = append(slices.Clone(list), passes.Pass{Name: "rematerialise", Run: passes.Rematerialise})
	}
	g, err := passes.Apply(g, list)
	if err != nil {
		return nil, err
	}
	return interp.For(g), nil
}
