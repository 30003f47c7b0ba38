package backend

import (
	"context"
	"fmt"
	"reflect"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/tensor"
)

// A Backend makes graphs ready to run. It is used by many goroutines at once, and compared
// with ==: programs are kept by graph and Backend, so that one with settings is a pointer,
// or a struct of settings that can be compared.
type Backend interface {
	// Name says what runs graphs, in messages: "interpreter".
	Name() string

	// Devices returns what the programs of this Backend run on, at least one. To have them
	// run on others is to use another Backend value.
	Devices() []Device

	// Compile makes a graph ready to run for inputs that belong to the Specs of its
	// parameters, in which sizes may be unknown. It does not change the graph.
	Compile(g *graph.Graph, o Options) (Program, error)
}

// A Device is something that runs programs.
type Device struct {
	Kind  string // "cpu", "cuda"
	Index int    // from 0, among the devices of its kind
	Name  string // what it is, for people: "AMD EPYC 9454, avx512"
}

// String returns kind and number: "cpu:0".
func (d Device) String() string { return fmt.Sprintf("%s:%d", d.Kind, d.Index) }

// Options say what a graph is compiled for. The zero value is the default.
type Options struct {
	// Region says that the graph is the region of a node, and that the kernel of the node asks
	// for it, at each of its runs. If the node is part of a graph that was compiled, this one
	// was there to be improved with it.
	Region bool

	// Rematerialise computes results again where gradients need them, rather than keep them.
	// A Backend may do so or not.
	Rematerialise bool
}

// A Program is a graph made ready to run. It may run in many goroutines at once.
type Program interface {
	// Graph returns the graph as it runs, with the parameters, captures and outputs of the one
	// that was compiled, and for the rest as the Backend has improved it.
	Graph() *graph.Graph

	// Reads reports whether a run looks at input i; where it does not, that may be nil.
	Reads(i int) bool

	// Run computes the outputs for inputs in the order of the parameters. It ends with the
	// context, gives it to the kernels that it calls ([op.Call.SetContext]), and does what
	// [graph.RunOptionsOf] asks for as far as it can.
	Run(ctx context.Context, inputs []tensor.Tensor) ([]tensor.Tensor, error)
}

// Check returns an error where a Backend cannot be used.
func Check(b Backend) error {
	switch {
	case b == nil || reflect.ValueOf(b).Kind() == reflect.Pointer && reflect.ValueOf(b).IsNil():
		return tenon.NewError(tenon.ErrInvalid, "backend.Check", "the backend is nil")
	case !reflect.ValueOf(b).Comparable():
		e := tenon.NewError(tenon.ErrInvalid, "backend.Check", fmt.Sprintf("a %T cannot be compared with ==", b))
		e.Hint = "use a pointer to it"
		return e
	case len(b.Devices()) == 0:
		return tenon.NewError(tenon.ErrInvalid, "backend.Check", fmt.Sprintf("the backend %s has no device", b.Name()))
	}
	return nil
}
