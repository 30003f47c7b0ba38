package backend

import (
	"context"
	"fmt"
	"reflect"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/tensor"
)

// A Backend prepares graphs for running. It is used by many goroutines at once. Backends are
// compared with ==, since programs are cached by graph and Backend; a Backend with settings should
// be a pointer or a comparable struct.
type Backend interface {
	// Name returns the name for messages, such as "interpreter".
	Name() string

	// Devices returns the devices that the programs of this Backend run on, at least one. To run on
	// other devices, use another Backend value.
	Devices() []Device

	// Compile prepares a graph for inputs that belong to the Specs of its parameters, in which
	// sizes may be unknown. It must not change the graph.
	Compile(g *graph.Graph, o Options) (Program, error)
}

// A Device is something that runs programs.
type Device struct {
	Kind  string // "cpu", "cuda"
	Index int    // from 0, among the devices of its kind
	Name  string // a description for people: "AMD EPYC 9454, avx512"
}

// String returns the kind and index, such as "cpu:0".
func (d Device) String() string { return fmt.Sprintf("%s:%d", d.Kind, d.Index) }

// Options say how a graph is compiled. The zero value is the default.
type Options struct {
	// Region means that the graph is a region of a node, and that the node's kernel requests it in
	// each of its runs. If the node is part of a compiled graph, the region was optimized along
	// with that graph.
	Region bool

	// Rematerialise asks to recompute results when gradients need them instead of keeping them. A
	// Backend may ignore it.
	Rematerialise bool
}

// A Program is a graph that is ready to run. It may run in many goroutines at
// once.
type Program interface {
	// Graph returns the graph as it runs. It has the parameters, captures and outputs of the
	// original graph, but is otherwise as the Backend has optimized it.
	Graph() *graph.Graph

	// Reads reports whether a run reads input i. If it does not, the input may be nil.
	Reads(i int) bool

	// Run computes the outputs for inputs in the order of the parameters. It stops when the context
	// is done, passes the context to the kernels that it calls ([op.Call.SetContext]), and follows
	// [graph.RunOptionsOf] as far as it can.
	Run(ctx context.Context, inputs []tensor.Tensor) ([]tensor.Tensor, error)
}

// Check returns an error if a Backend cannot be used.
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
