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

// A Model is a model that was read. It is a function of its inputs: see [Model.Call]. It is
// safe for concurrent use.
type Model struct {
	Producer string            // the program that wrote it
	Metadata map[string]string // texts about the model
	Opsets   map[string]int    // the version of the operations of each domain; "" is that of ONNX itself
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

	// Sizes are the names of sizes that are not known, by axis: equal ones are equal sizes.
	Sizes []string

	typ *protoType
}

// maxFile bounds the size of a model without external data; protocol buffers end at 2 GiB.
const maxFile = 2 << 30

// Open reads a model from a file. Weights may lie in other files of the same folder.
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
		return nil, fmt.Errorf("%d bytes, at most %d are read", info.Size(), maxFile)
	}
	return os.ReadFile(path)
}

// Parse reads a model from the bytes of a file. All its weights have to be in there.
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

// read returns the bytes that a place names, of which a tensor needs a number. The file has
// to lie in the folder, be reached by no symbolic link, and have these bytes.
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
		return nil, fmt.Errorf("external data of %d bytes for a tensor of %d", n, size)
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
		return nil, fmt.Errorf("external data of %d bytes at %d of %q, which has %d", n, at, name, have)
	}
	b := make([]byte, n)
	_, err = file.ReadAt(b, at)
	return b, err
}

type reader = func(place map[string]string, size int) ([]byte, error)

// read makes a model of its message. Operations are looked up before any weight is read.
func read(b []byte, external reader) (*Model, error) {
	p, err := readModel(b)
	if err != nil {
		return nil, err
	}
	if p.graph == nil {
		return nil, fmt.Errorf("there is no graph in the model")
	}
	m := &Model{Producer: p.producer, Metadata: p.metadata, Opsets: p.opsets, graph: p.graph, functions: p.functions,
		weights: map[string]tensor.Tensor{}, variables: map[string]*state.Variable{}}
	if v := p.opsets[""]; v > NewestOpset {
		return nil, unsupported("operations of version %d, this program knows those up to %d", v, NewestOpset)
	} else if v < oldestOpset && v != 0 {
		return nil, unsupported("operations of version %d, this program knows those from %d on; convert the model with onnx.version_converter", v, oldestOpset)
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

// readWeights reads the initializers. Those that are floating and that operations compute
// with become variables.
func (m *Model) readWeights(external reader) error {
	fixed := map[string]bool{} // which operations take as parameters
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

// eachNode calls f with each node of the model, those of graphs inside of nodes and of
// functions too.
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

// checkOps reports all operations of the model that are not known.
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
	return &tenon.Error{Kind: tenon.ErrUnsupported, Msg: "the model has operations that are not known: " + strings.Join(names, ", "),
		Hint: "docs/onnx.md lists those that are"}
}

// readers are the inputs of operations that take elements of types that Tenon lacks by their
// value only, so that they may be read as those of another type.
var readers = map[string][]int{"Cast": {0}, "CastLike": {0}, "DequantizeLinear": {0, 1, 2}}

// checkTypes reports values of types that Tenon lacks which are more than converted.
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
				return unsupported("output %s is of type %s, which Tenon has not", v.name, f.name)
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
				err = unsupported("%v takes %s, which is of type %s: values of types that Tenon has not are only converted", n, name, t)
			}
		}
		if to := n.attrs["to"]; to != nil && n.op != "BitCast" {
			if f, ok := foreign[int(to.i)]; ok && err == nil {
				err = unsupported("%v makes values of type %s, which Tenon has not", n, f.name)
			}
		}
	})
	return err
}

// Variables returns the weights that can be trained, by name: assigning to one changes what
// later calls answer.
func (m *Model) Variables() map[string]*state.Variable { return maps.Clone(m.variables) }

// Call returns the outputs for inputs, in the order of [Model.Inputs] and [Model.Outputs]. A
// sequence is a []any, and nil an optional value that is not there. Inputs may be symbolic:
// the model then becomes part of the function that is traced.
func (m *Model) Call(inputs ...any) (out []any, err error) {
	defer tenon.Catch(&err)
	if len(inputs) != len(m.Inputs) {
		return nil, failed("", fmt.Errorf("%d inputs, the model has %d", len(inputs), len(m.Inputs)))
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
		case graph.Current() != nil: // what is traced reads the variable whenever it runs
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

// Function returns the model as a function of its inputs by name, which gives its outputs by
// name: it runs as a graph.
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

// Saved returns the model as one of package saved, with the function "main" from inputs by
// name to outputs by name. Its variables are those of the model. The inputs have to be
// tensors.
func (m *Model) Saved() (*saved.Model, error) {
	args := map[string]any{}
	for _, p := range m.Inputs {
		if p.Spec == nil {
			return nil, failed("input "+p.Name, unsupported("it is no tensor"))
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
