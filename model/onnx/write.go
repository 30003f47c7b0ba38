package onnx

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/atomicfile"
	"github.com/tenonml/tenon/internal/message"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// WriteOptions change how a model is written. The zero value writes a model with one function
// into one file, if possible.
type WriteOptions struct {
	// Function is the name of the function; it may be empty if the model has only one.
	Function string

	// Variant is the index of the variant of the function.
	Variant int

	// External puts weights of more than a kilobyte into a second file, whose name is that of
	// the model followed by ".data". Models above 2 GB are always written in this way: protocol
	// buffers cannot be larger.
	External bool
}

// externalSize is the number of bytes from which a weight may be in another file, and
// externalAlign the alignment of its elements there, so that they can be mapped.
const (
	externalSize  = 1 << 10
	externalAlign = 1 << 12
)

// Write writes a function of a model as an ONNX model to a file, which is replaced when everything
// has been written:
//
//	m := saved.NewModel()
//	err := m.Name(params)                         // weights get their paths as names
//	err = m.Add("predict", predict, inputSpec)
//	err = onnx.Write("model.onnx", m)
//
// Variables become initializers that are named after their paths. Unknown sizes get names; sizes
// that must be equal get the same name. Inputs and outputs are named after their paths, or "x" and
// "y"; values made of tensors are split into these. A function that assigns to variables, or that
// has an operation that ONNX lacks, is an error of kind [tenon.ErrUnsupported] with the place and
// line of the operation; docs/onnx.md lists the operations that can be written. Checks are left
// out.
func Write(path string, m *saved.Model, o ...WriteOptions) error {
	w, opts, err := prepared(m, o)
	if err != nil {
		return err
	}
	external := opts.External
	for {
		model, data := w.model(filepath.Base(path)+".data", external)
		if model.size >= maxFile && !external {
			external = true
			continue
		}
		if len(data) > 0 {
			err = atomicfile.Write(path+".data", func(f io.Writer) error { return writeData(f, data) })
		}
		if err == nil {
			err = atomicfile.Write(path, model.writeTo)
		}
		if err == nil && len(data) == 0 {
			if err = os.Remove(path + ".data"); errors.Is(err, os.ErrNotExist) {
				err = nil
			}
		}
		if err != nil {
			return failed(path, err)
		}
		return nil
	}
}

// Encode writes a function of a model like [Write], with all weights, to w.
func Encode(w io.Writer, m *saved.Model, o ...WriteOptions) error {
	x, opts, err := prepared(m, o)
	if err != nil {
		return err
	}
	model, _ := x.model("", false)
	if model.size >= maxFile || opts.External {
		return failed("", unsupported("weights cannot be put into another file without a path; use Write"))
	}
	return model.writeTo(w)
}

// A document is a written model before its weights are placed.
type document struct {
	*writing
	name            string
	nodes           [][]byte
	inputs, outputs [][]byte
	metadata        map[string]string
}

func prepared(m *saved.Model, o []WriteOptions) (d *document, opts WriteOptions, err error) {
	defer tenon.Catch(&err)
	if len(o) > 0 {
		opts = o[0]
	}
	f := m.Function(opts.Function)
	if all := m.Functions(); opts.Function == "" && len(all) == 1 {
		f = all[0]
	}
	if f == nil || opts.Variant < 0 || opts.Variant >= f.Variants() {
		var names []string
		for _, f := range m.Functions() {
			names = append(names, f.Name())
		}
		return nil, opts, failed("", fmt.Errorf("the model has no variant %[2]d of a function %[1]q; it has %[3]s", opts.Function, opts.Variant, strings.Join(names, ", ")))
	}
	d, err = documentOf(f, opts.Variant)
	if err == nil {
		d.metadata = m.Metadata
	}
	return d, opts, err
}

// documentOf writes the nodes of a function.
func documentOf(f *saved.Func, variant int) (*document, error) {
	if list := f.Assigns(variant); len(list) > 0 {
		return nil, failed(f.Name(), unsupported("the function assigns to %s, but ONNX has no variables", strings.Join(list, ", ")))
	}
	g := f.Graph(variant)
	w := &writing{where: f.Name(), used: map[string]bool{"": true}, known: map[string]string{}, held: map[tensor.Tensor]string{}}
	d := &document{writing: w, name: f.Name()}
	if err := unwritable(f.Name(), g); err != nil {
		return nil, err
	}
	inputs, err := leafNames(f.Args(variant), "x")
	if err != nil {
		return nil, err
	}
	outputs, err := leafNames(f.Results(variant), "y")
	if err != nil {
		return nil, err
	}
	captures := f.Captures(variant)
	sizes := newSizeNames(g)
	var params []string
	for i, p := range g.Params {
		if k := i - (len(g.Params) - len(captures)); k >= 0 {
			params = append(params, w.captured(captures[k]))
			continue
		}
		name := w.unique(inputs[i])
		params = append(params, name)
		d.inputs = append(d.inputs, valueMessage(name, p.DType(), p.Shape(), sizes.of(p, true)))
	}
	outs := make([]string, len(g.Outputs))
	for i := range outs {
		outs[i] = w.unique(outputs[i])
	}
	b := &block{w: w, turns: map[string]transposition{}}
	for i, from := range b.section(g, params).outputs() {
		v := g.Outputs[i]
		b.named(outs[i], from)
		d.outputs = append(d.outputs, valueMessage(outs[i], v.DType(), v.Shape(), sizes.of(v, false)))
	}
	d.nodes = b.nodes
	return d, nil
}

// captured makes an initializer of a value that a function captures.
func (w *writing) captured(c saved.Capture) string {
	if c.Variable == nil {
		return w.constant(c.Constant)
	}
	name := w.unique(saved.Dotted(c.Path))
	w.weights = append(w.weights, weight{name, c.Variable.Value()})
	return name
}

// unwritable reports all operations of a graph that cannot be written, with the place of the first
// one.
func unwritable(where string, g *graph.Graph) error {
	names := map[string]bool{}
	first := ""
	line := ""
	var walk func(g *graph.Graph)
	walk = func(g *graph.Graph) {
		for _, n := range used(g) {
			if _, ok := exports[n.Op.Name]; !ok {
				if len(names) == 0 && len(n.Outs) > 0 {
					first, line = fmt.Sprintf("%s: %%%d = %s", where, n.Outs[0].ID(), n.Op.Name), n.Line
				}
				names[n.Op.Name] = true
				continue
			}
			for _, r := range n.Regions() {
				walk(r)
			}
		}
	}
	walk(g)
	if len(names) == 0 {
		return nil
	}
	return &tenon.Error{Kind: tenon.ErrUnsupported, Op: "onnx", Where: first, Line: line,
		Msg: "ONNX has no operations for " + strings.Join(slices.Sorted(maps.Keys(names)), ", "), Hint: "docs/onnx.md lists the operations that are written"}
}

// used returns the nodes of a graph that its outputs depend on.
func used(g *graph.Graph) []*graph.Node {
	wanted := make([]bool, g.NumValues())
	for _, v := range g.Outputs {
		wanted[v.ID()] = true
	}
	var out []*graph.Node
	for _, n := range slices.Backward(g.Nodes) {
		if !slices.ContainsFunc(n.Outs, func(v *graph.Value) bool { return wanted[v.ID()] }) {
			continue
		}
		out = append(out, n)
		n.EachInput(func(v *graph.Value) { wanted[v.ID()] = true })
	}
	slices.Reverse(out)
	return out
}

// leafNames returns a name for each tensor of the arguments or results: its path.
func leafNames(leaves []function.Leaf, bare string) ([]string, error) {
	single := true // the number of a single argument is left out
	for _, l := range leaves {
		single = single && l.Path[0] == leaves[0].Path[0]
	}
	var names []string
	for _, l := range leaves {
		if l.Spec == nil {
			continue
		}
		path := l.Path
		if single {
			path = path[1:]
		}
		name := saved.Dotted(path.String())
		switch {
		case name == "":
			name = bare
		case !single && len(l.Path) == 1:
			name = bare + name
		}
		parts, _, err := nest.FlattenWithPaths(l.Spec, nest.Options{Expand: true})
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			part := saved.Dotted(p.String())
			if part != "" {
				part = "." + part
			}
			names = append(names, name+part)
		}
	}
	return names, nil
}

// sizeNames gives names to unknown sizes; equal sizes get the same name.
type sizeNames struct {
	sizes *graph.Sizes
	seen  []sizeName
}

type sizeName struct {
	v    *graph.Value
	axis int
	name string
}

func newSizeNames(g *graph.Graph) *sizeNames { return &sizeNames{sizes: g.Sizes()} }

// of returns a function that names the sizes of a value. A size of an output that no input has
// gets no name.
func (s *sizeNames) of(v *graph.Value, input bool) func(axis int) string {
	return func(axis int) string {
		for _, x := range s.seen {
			if x.v == v && x.axis == axis || s.sizes.Same(x.v, x.axis, v, axis) {
				return x.name
			}
		}
		if !input {
			return ""
		}
		name := fmt.Sprintf("n%d", len(s.seen))
		if d := v.Dims(); axis < len(d) && d[axis] != "" {
			name = d[axis]
		}
		s.seen = append(s.seen, sizeName{v, axis, name})
		return name
	}
}

// model returns the message of the model, and the weights that go to another file.
func (d *document) model(file string, external bool) (*body, []weight) {
	g := &body{}
	for _, n := range d.nodes {
		g.text(1, string(n))
	}
	g.text(2, d.name)
	var data []weight
	at := 0
	for _, w := range d.weights {
		var p *place
		if t, ok := w.t.(*tensor.Dense); ok && external && t.Len()*t.DType().Size() >= externalSize {
			n := t.Len() * t.DType().Size()
			p = &place{file, at, n}
			at += (n + externalAlign - 1) / externalAlign * externalAlign
			data = append(data, w)
		}
		g.field(5, tensorMessage(w.name, w.t, p))
	}
	for _, b := range d.inputs {
		g.text(11, string(b))
	}
	for _, b := range d.outputs {
		g.text(12, string(b))
	}
	m := &body{}
	m.number(1, irWritten)
	m.text(2, "tenon")
	m.field(7, g)
	m.add(message.AppendBytes(nil, 8, message.AppendVarint(nil, 2, opsetWritten)))
	for _, k := range slices.Sorted(maps.Keys(d.metadata)) {
		m.add(message.AppendBytes(nil, 14, message.AppendBytes(message.AppendBytes(nil, 1, k), 2, d.metadata[k])))
	}
	return m, data
}

// writeData writes the elements of weights at their places.
func writeData(w io.Writer, data []weight) error {
	var zeros [externalAlign]byte
	for i, x := range data {
		b := rawBytes(x.t)
		if _, err := w.Write(b); err != nil {
			return err
		}
		if rest := len(b) % externalAlign; rest > 0 && i < len(data)-1 {
			if _, err := w.Write(zeros[rest:]); err != nil {
				return err
			}
		}
	}
	return nil
}
