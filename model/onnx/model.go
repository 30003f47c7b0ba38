package onnx

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/relpath"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// A Model is an ONNX model that was read. It is a function of its inputs: see [Model.Call]. It
// is safe for concurrent use.
type Model struct {
	Producer string            // the program that wrote the model
	Metadata map[string]string // free-form properties of the model
	Opsets   map[string]int    // the version of the operations of each domain; "" is ONNX itself
	Inputs   []Port
	Outputs  []Port

	graph     *protoGraph
	functions map[string]*protoFunction
	weights   map[string]tensor.Tensor
	variables map[string]*state.Variable
}

// A Port is an input or output of a model.
type Port struct {
	Name string

	// Spec is what is known of a tensor; nil for a sequence or an optional value.
	Spec *tensor.Spec

	// Sizes are the names of unknown sizes, by axis. Sizes with the same name are equal.
	Sizes []string

	typ *protoType
}

// maxFile bounds the size of a model without external data; protocol buffers are limited to 2
// GiB.
const maxFile = 2 << 30

// Open reads a model from a file. Weights may be in other files in the same folder.
func Open(path string) (*Model, error) {
	b, err := readFile(path)
	if err == nil {
		var m *Model
		if m, err = read(b, folder(filepath.Dir(path)).read); err == nil {
			return m, nil
		}
	}
	return nil, failed(path, err)
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("the file has %d bytes, more than the limit of %d", info.Size(), maxFile)
	}
	return os.ReadFile(path)
}

// Parse reads a model from the bytes of a file, which must contain all its weights.
func Parse(b []byte) (*Model, error) {
	m, err := read(b, nil)
	if err != nil {
		return nil, failed("", err)
	}
	return m, nil
}

func failed(where string, err error) error {
	var e *tenon.Error
	if errors.As(err, &e) {
		f := *e
		f.Op, f.Line = "onnx", source.Line()
		if f.Where == "" {
			f.Where = where
		} else if where != "" {
			f.Where = where + ": " + f.Where
		}
		return &f
	}
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: "onnx", Where: where, Err: err, Line: source.Line()}
}

// A folder holds files of external data.
type folder string

// read returns the bytes of external data, of which the tensor needs size. The file must be in
// the folder, must not be reached through a symbolic link, and must have these bytes.
func (f folder) read(place map[string]string, size int) (_ []byte, err error) {
	name := strings.TrimPrefix(filepath.ToSlash(place["location"]), "./")
	number := func(key string, otherwise int64) (int64, error) {
		if place[key] == "" {
			return otherwise, nil
		}
		n, err := strconv.ParseInt(place[key], 10, 64)
		if err == nil && n < 0 {
			err = fmt.Errorf("it is negative")
		}
		if err != nil {
			return 0, fmt.Errorf("the %s of external data is %q", key, place[key])
		}
		return n, nil
	}
	at, err := number("offset", 0)
	if err != nil {
		return nil, err
	}
	n, err := number("length", int64(size))
	if err != nil {
		return nil, err
	}
	if n != int64(size) {
		return nil, fmt.Errorf("the external data has %d bytes, but the tensor needs %d", n, size)
	}
	root, err := relpath.OpenFolder(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, have, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("external data: %w", err)
	}
	defer file.Close()
	if at > have || n > have-at {
		return nil, fmt.Errorf("the external data needs %d bytes at offset %d of %q, which has %d", n, at, name, have)
	}
	b := make([]byte, n)
	_, err = file.ReadAt(b, at)
	return b, err
}

type reader = func(place map[string]string, size int) ([]byte, error)

// read makes a model from its message. Operations are looked up before any weight is read.
func read(b []byte, external reader) (*Model, error) {
	p, err := readModel(b)
	if err != nil {
		return nil, err
	}
	if p.graph == nil {
		return nil, fmt.Errorf("the model has no graph")
	}
	m := &Model{Producer: p.producer, Metadata: p.metadata, Opsets: p.opsets, graph: p.graph, functions: p.functions,
		weights: map[string]tensor.Tensor{}, variables: map[string]*state.Variable{}}
	if v := p.opsets[""]; v > NewestOpset {
		return nil, unsupported("the model uses operations of version %d; versions up to %d are supported", v, NewestOpset)
	} else if v < oldestOpset && v != 0 {
		return nil, unsupported("the model uses operations of version %d; versions from %d on are supported; convert the model with onnx.version_converter", v, oldestOpset)
	}
	if err := m.checkOps(); err != nil {
		return nil, err
	}
	if err := m.checkTypes(); err != nil {
		return nil, err
	}
	if err := m.checkNames(); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	for _, name := range p.graph.weights() {
		given[name] = true
	}
	for _, v := range p.graph.inputs {
		if !given[v.name] {
			port, err := portOf(v)
			if err != nil {
				return nil, fmt.Errorf("input %s: %w", v.name, err)
			}
			m.Inputs = append(m.Inputs, port)
		}
	}
	for _, v := range p.graph.outputs {
		port, err := portOf(v)
		if err != nil {
			return nil, fmt.Errorf("output %s: %w", v.name, err)
		}
		m.Outputs = append(m.Outputs, port)
	}
	return m, m.readWeights(external)
}

func unsupported(format string, args ...any) error {
	return &tenon.Error{Kind: tenon.ErrUnsupported, Msg: fmt.Sprintf(format, args...)}
}

func portOf(v *protoValue) (p Port, err error) {
	p = Port{Name: v.name, typ: v.typ}
	if v.typ == nil || v.typ.kind != kindTensor || v.typ.dtype == 0 {
		return p, nil
	}
	p.Sizes = v.typ.params()
	p.Spec, err = v.typ.spec()
	return p, err
}

// readWeights reads the initializers. Floating-point ones that operations compute with become
// variables.
func (m *Model) readWeights(external reader) error {
	fixed := map[string]bool{} // weights that operations use as parameters
	m.eachNode(func(n *protoNode) {
		if n.op == "Resize" || n.op == "Upsample" {
			for _, name := range n.inputs[min(1, len(n.inputs)):] {
				fixed[name] = true
			}
		}
	})
	put := func(name string, t tensor.Tensor) error {
		m.weights[name] = t
		if t.DType().IsFloat() && t.Shape().Rank() > 0 && !fixed[name] {
			v, err := state.New(t)
			m.variables[name] = v
			return err
		}
		return nil
	}
	for _, p := range m.graph.initializers {
		t, err := p.value(external)
		if err == nil {
			err = put(p.name, t)
		}
		if err != nil {
			return fmt.Errorf("weight %s: %w", p.name, err)
		}
		p.raw, p.floats, p.doubles = nil, nil, nil
	}
	for _, s := range m.graph.sparse {
		t, err := s.value(external)
		if err == nil {
			err = put(s.values.name, t)
		}
		if err != nil {
			return fmt.Errorf("sparse weight: %w", err)
		}
	}
	return nil
}

// eachNode calls f for each node of the model, including those of functions and of graphs
// inside of nodes.
func (m *Model) eachNode(f func(n *protoNode)) {
	var walk func(nodes []*protoNode)
	walk = func(nodes []*protoNode) {
		for _, n := range nodes {
			f(n)
			for _, g := range n.graphs() {
				walk(g.nodes)
			}
		}
	}
	walk(m.graph.nodes)
	for _, fn := range m.functions {
		walk(fn.nodes)
	}
}

// checkOps reports all unknown operations of the model.
func (m *Model) checkOps() error {
	unknown := map[string]bool{}
	m.eachNode(func(n *protoNode) {
		if m.functions[n.key()] == nil && lookup(n) == nil {
			name := n.op
			if n.domain != "" {
				name = n.domain + "." + name
			}
			unknown[name] = true
		}
	})
	if len(unknown) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(unknown))
	return &tenon.Error{Kind: tenon.ErrUnsupported, Msg: "the model has unsupported operations: " + strings.Join(names, ", "),
		Hint: "docs/onnx.md lists the supported ones"}
}

// readers are the inputs of operations that need only the values of elements whose type Tenon
// lacks, so that these can be read as another type.
var readers = map[string][]int{"Cast": {0}, "CastLike": {0}, "DequantizeLinear": {0, 1, 2}}

// checkTypes reports values of types that Tenon lacks, unless they are only converted.
func (m *Model) checkTypes() error {
	names := map[string]string{}
	note := func(name string, dtype int) {
		if f, ok := foreign[dtype]; ok {
			names[name] = f.name
		}
	}
	for _, t := range m.graph.initializers {
		note(t.name, t.dtype)
	}
	for _, v := range m.graph.inputs {
		if v.typ != nil {
			note(v.name, v.typ.dtype)
		}
	}
	for _, v := range m.graph.outputs {
		if v.typ != nil {
			if f, ok := foreign[v.typ.dtype]; ok {
				return unsupported("output %s is of type %s, which Tenon does not have", v.name, f.name)
			}
		}
	}
	var err error
	m.eachNode(func(n *protoNode) {
		if c := n.attrs["value"]; n.op == "Constant" && c != nil && c.t != nil && len(n.outputs) > 0 {
			note(n.outputs[0], c.t.dtype)
		}
		for i, name := range n.inputs {
			if t := names[name]; t != "" && !slices.Contains(readers[n.op], i) && err == nil {
				err = unsupported("%v takes %s, which is of type %s; Tenon does not have this type and can only convert from it", n, name, t)
			}
		}
		if to := n.attrs["to"]; to != nil && n.op != "BitCast" {
			if f, ok := foreign[int(to.i)]; ok && err == nil {
				err = unsupported("%v returns values of type %s, which Tenon does not have", n, f.name)
			}
		}
	})
	return err
}

// Variables returns the trainable weights by name. Assigning to a variable changes the results
// of later calls.
func (m *Model) Variables() map[string]*state.Variable { return maps.Clone(m.variables) }

// Call returns the outputs for inputs, in the order of [Model.Inputs] and [Model.Outputs]. A
// sequence is a []any, and nil is an absent optional value. Inputs may be symbolic; the model
// then becomes part of the function being traced.
func (m *Model) Call(inputs ...any) (out []any, err error) {
	defer tenon.Catch(&err)
	if len(inputs) != len(m.Inputs) {
		return nil, failed("", fmt.Errorf("got %d inputs, but the model has %d", len(inputs), len(m.Inputs)))
	}
	s := &scope{m: m, values: map[string]any{}, opsets: m.Opsets}
	for i, x := range inputs {
		p := m.Inputs[i]
		if p.Spec != nil && x != nil {
			t, err := tensor.Convert(x)
			if err == nil && !tenon.Compatible(t.Spec(), p.Spec) {
				err = fmt.Errorf("got %s, the model takes %s", tenon.String(t.Spec()), tenon.String(p.Spec))
			}
			if err != nil {
				return nil, failed("input "+p.Name, err)
			}
			x = t
		}
		s.values[p.Name] = x
	}
	for name, w := range m.weights {
		switch v := m.variables[name]; {
		case v == nil:
			s.values[name] = w
		case graph.Current() != nil: // a traced function reads the variable each time it runs
			s.values[name] = T(v)
		default:
			s.values[name] = v.Value()
		}
	}
	if err := s.run(m.graph.nodes); err != nil {
		return nil, failed("", err)
	}
	out = make([]any, len(m.Outputs))
	for i, p := range m.Outputs {
		if out[i], err = s.get(p.Name); err != nil {
			return nil, failed("output "+p.Name, err)
		}
	}
	return out, nil
}

// Function returns the model as a function from inputs by name to outputs by name, which runs
// as a graph.
func (m *Model) Function() *function.Function[func(in map[string]any) map[string]any] {
	return function.New(func(in map[string]any) map[string]any {
		args := make([]any, len(m.Inputs))
		for i, p := range m.Inputs {
			x, ok := in[p.Name]
			if !ok {
				tenon.Throw(failed("input "+p.Name, errors.New("it is missing")))
			}
			args[i] = x
		}
		out := map[string]any{}
		for i, y := range tenon.Must(m.Call(args...)) {
			out[m.Outputs[i].Name] = y
		}
		return out
	}, function.Options{Name: m.graph.name})
}

// Saved returns the model as a [saved.Model] with the function "main" from inputs by name to
// outputs by name. It has the model's variables. The inputs must be tensors.
func (m *Model) Saved() (*saved.Model, error) {
	args := map[string]any{}
	for _, p := range m.Inputs {
		if p.Spec == nil {
			return nil, failed("input "+p.Name, unsupported("it is not a tensor"))
		}
		args[p.Name] = p.Spec
	}
	s := saved.NewModel()
	maps.Copy(s.Metadata, m.Metadata)
	if err := s.Name(m.variables); err != nil {
		return nil, err
	}
	return s, s.Add("main", m.Function(), args)
}
