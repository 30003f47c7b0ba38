package saved

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// A Model holds functions over Values and the variables that they use. A program that has
// neither their code nor their types can call them.
//
//	m := saved.NewModel()
//	err := m.Add("predict", predict, inputSpec)          // traced for these Specs
//	err = m.Save("model.zip")
//
//	m, err := saved.OpenModel("model.zip")               // in another program
//	out, err := m.Function("predict").Call(input)
//	f, err := saved.As[func(x tensor.Tensor) Scores](m, "predict")
//
// A function has one or more variants, which differ in the Specs of their arguments. What
// the Go function captured is part of the model: variables, which stay variables, and
// constants.
type Model struct {
	// Metadata holds texts about the model, by key.
	Metadata map[string]string

	// Readme describes the model to people, in Markdown: it is the file README.md. If it is
	// empty, that file lists the functions.
	Readme string

	// Files are further files that the model needs, by their paths: assets/words.txt.
	Files map[string][]byte

	functions []*Func
	variables []*variable
	values    []*held
	rest      rest
	free      []func() error // unmap files
}

// A variable of a model.
type variable struct {
	path string
	v    *state.Variable
	rest rest
}

// A held is a Value made of variables and constants.
type held struct {
	path  string
	spec  tenon.Spec
	parts []capture
}

// A Func is a function of a model. It is safe for concurrent use.
type Func struct {
	name     string
	doc      string
	variants []*variant
	rest     rest
}

// A variant is a function for certain Specs.
type variant struct {
	args, results []function.Leaf
	graph         *graph.Graph
	captures      []capture // the last parameters of the graph
	effects       []effect
	sizes         map[string][]string // names of sizes, by place
	batch         string              // the name of the batch size
	warmUps       [][]any             // the leaves of arguments
	rest          rest

	traced  *function.Function[func(in []tensor.Tensor) []tensor.Tensor]
	program func() (backend.Program, error)
}

// An effect is an assignment to a variable, or an addition to it.
type effect struct {
	variable *variable
	add      bool
}

// A capture is a variable or a constant.
type capture struct {
	variable *variable
	constant tensor.Tensor
}

// NewModel returns a model without functions.
func NewModel() *Model { return &Model{Metadata: map[string]string{}, Files: map[string][]byte{}} }

// Traced is a function that can be traced for arguments, such as a [function.Function].
type Traced interface {
	Export(args ...any) (*function.Exported, error)
}

// Name names the variables in a tree, such as a struct of layers, by their paths, for functions
// that are added later. A variable that is in no tree is called variable0, variable1 and so on.
// A Value that consists of variables, as in a [state.Of], gives them the names of its
// components after its own path: cells.flat_values; [Model.Values] returns the Value.
func (m *Model) Name(tree any) error {
	paths, leaves, err := nest.FlattenWithPaths(tree, nest.Options{})
	if err != nil {
		return err
	}
	for i, l := range leaves {
		switch l := l.(type) {
		case *state.Variable:
			path := paths[i]
			if w := l.Whole(); w != nil && len(path) >= 2 { // after the path of the Of: Parts[k]
				err = m.nameWhole(path[:len(path)-2].String(), w)
			} else if m.find(l) == nil {
				err = m.addVariable(path.String(), l)
			}
		case tenon.Value:
			err = m.nameValue(paths[i].String(), l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// behind returns the text of a path that continues another one.
func behind(path string, p nest.Path) string {
	text := p.String()
	if path == "" || text == "" || text[0] == '[' {
		return path + text
	}
	return path + "." + text
}

func (m *Model) addVariable(path string, v *state.Variable) error {
	path = tensorName(path) // for a tree that is a single variable
	if m.named(path) != nil {
		return modelError(tenon.ErrInvalid, path, "two variables have this name")
	}
	m.variables = append(m.variables, &variable{path: path, v: v})
	return nil
}

// nameWhole names the variables that hold a Value.
func (m *Model) nameWhole(path string, w *state.Whole) error {
	if m.find(w.Parts[0]) != nil {
		return nil
	}
	parts := make([]any, len(w.Parts))
	for i, p := range w.Parts {
		parts[i] = p
	}
	return m.nameParts(path, w.Spec, parts)
}

// nameValue names the variables among the components of a Value.
func (m *Model) nameValue(path string, v tenon.Value) error {
	parts, err := nest.Flatten(v, nest.Options{Expand: true})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(parts, func(x any) bool { _, ok := x.(*state.Variable); return ok }) {
		return nil
	}
	return m.nameParts(path, v.Spec(), parts)
}

func (m *Model) nameParts(path string, s tenon.Spec, parts []any) error {
	names, _, err := nest.FlattenWithPaths(s, nest.Options{Expand: true})
	if err != nil {
		return err
	}
	h := &held{path: path, spec: s}
	for i, p := range parts {
		switch p := p.(type) {
		case *state.Variable:
			if m.find(p) == nil {
				if err := m.addVariable(behind(path, names[i]), p); err != nil {
					return err
				}
			}
			h.parts = append(h.parts, capture{variable: m.find(p)})
		case tensor.Tensor:
			t, err := tensor.Settled(p)
			if err != nil {
				return modelError(tenon.ErrUnsupported, path, "%v", err)
			}
			h.parts = append(h.parts, capture{constant: t.(tensor.Tensor)})
		default:
			return modelError(tenon.ErrUnsupported, path, "component %s is a %T, not a tensor", names[i], p)
		}
	}
	m.values = append(m.values, h)
	return nil
}

// Values returns the Values that have variables among their components, by path, with the
// variables' current contents or, in a function that is being traced, their contents in each
// call. If components no longer fit together, that is an error.
func (m *Model) Values() (map[string]tenon.Value, error) {
	out := map[string]tenon.Value{}
	for _, h := range m.values {
		parts := make([]any, len(h.parts))
		for i, p := range h.parts {
			switch {
			case p.variable == nil:
				parts[i] = p.constant
			case graph.Current() == nil:
				parts[i] = p.variable.v.Value()
			default:
				parts[i] = p.variable.v
			}
		}
		x, err := nest.Pack[any](h.spec, parts, nest.Options{Expand: true})
		if err != nil {
			return nil, &tenon.Error{Kind: tenon.AsError(err).Kind, Op: "saved.Model.Values", Where: h.path, Err: err, Line: source.Line()}
		}
		out[h.path] = x.(tenon.Value)
	}
	return out, nil
}

func (m *Model) find(v *state.Variable) *variable {
	for _, x := range m.variables {
		if x.v == v {
			return x
		}
	}
	return nil
}

func (m *Model) named(path string) *variable {
	for _, x := range m.variables {
		if x.path == path {
			return x
		}
	}
	return nil
}

func modelError(kind error, where, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: kind, Op: "saved.Model", Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

// Add traces a function for arguments, which may be Specs in place of Values, and adds it under
// a name. Adding a function again, for other Specs, adds a variant; a call uses the first
// variant that accepts its arguments. Arguments that are variables, alone or in structures,
// become part of the model, and callers leave them out. Whatever could not be loaded again,
// such as an operation that holds a Go function, is an error.
func (m *Model) Add(name string, f Traced, args ...any) error {
	if name == "" || strings.ContainsAny(name, "/\\") {
		return modelError(tenon.ErrInvalid, name, "is not a valid name for a function")
	}
	x, err := f.Export(args...)
	if err != nil {
		return &tenon.Error{Kind: tenon.AsError(err).Kind, Op: "saved.Model.Add", Where: name, Err: err, Line: source.Line()}
	}
	v := &variant{graph: x.Graph, results: x.Results}
	if v.args, err = m.arguments(name, x.Args); err != nil {
		return err
	}
	for i, l := range v.results {
		if l.Spec == nil && !storable(l.Plain) {
			return modelError(tenon.ErrUnsupported, fmt.Sprintf("%s: result %s", name, l.Path), "a %T cannot be stored", v.results[i].Plain)
		}
	}
	for i, c := range x.Graph.Captures {
		cell, _ := variableOf(c)
		if cell == nil {
			return modelError(tenon.ErrUnsupported, name, "captured value %d is a %T, which is not a variable", i, c)
		}
		v.captures = append(v.captures, capture{variable: m.variable(cell)})
	}
	for _, e := range x.Effects {
		cell, add := variableOf(e.Cell)
		if cell == nil {
			return modelError(tenon.ErrUnsupported, name, "it assigns to a %T, which is not a variable", e.Cell)
		}
		v.effects = append(v.effects, effect{m.variable(cell), add})
	}
	if err := v.loadable(); err != nil {
		return &tenon.Error{Kind: tenon.AsError(err).Kind, Op: "saved.Model.Add", Where: name, Err: err, Line: source.Line()}
	}
	v.ready()
	if fn := m.Function(name); fn != nil {
		fn.variants = append(fn.variants, v)
		return nil
	}
	m.functions = append(m.functions, &Func{name: name, variants: []*variant{v}})
	return nil
}

// variableOf returns the variable that a cell is, or to which it adds.
func variableOf(cell any) (v *state.Variable, add bool) {
	switch c := cell.(type) {
	case *state.Variable:
		return c, false
	case interface{ Target() *state.Variable }:
		return c.Target(), true
	}
	return nil, false
}

// loadable reports what could not be loaded again of a variant.
func (v *variant) loadable() error {
	b, _, err := v.graph.MarshalWithout(isLarge)
	if err != nil {
		return err
	}
	if _, err := graph.ReadBinary(b); err != nil {
		return err
	}
	for what, leaves := range map[string][]function.Leaf{"argument": v.args, "result": v.results} {
		for _, l := range leaves {
			if l.Spec == nil {
				continue
			}
			if _, _, err := tenon.DecodeBinary(tenon.AppendBinary(nil, l.Spec)); err != nil {
				return fmt.Errorf("%s %s: its Spec could not be loaded again: %w", what, l.Path, err)
			}
		}
	}
	return nil
}

// arguments returns the leaves that callers pass: all but variables.
func (m *Model) arguments(name string, leaves []function.Leaf) (out []function.Leaf, err error) {
	for _, l := range leaves {
		if _, ok := l.Plain.(*state.Variable); ok {
			continue
		}
		if l.Spec == nil && !storable(l.Plain) {
			return nil, modelError(tenon.ErrUnsupported, fmt.Sprintf("%s: argument %s", name, l.Path), "a %T cannot be stored", l.Plain)
		}
		out = append(out, l)
	}
	return out, nil
}

// variable returns the model's entry for a variable, which is made if necessary.
func (m *Model) variable(v *state.Variable) *variable {
	if x := m.find(v); x != nil {
		return x
	}
	for i := 0; ; i++ {
		path := fmt.Sprintf("variable%d", i)
		if m.named(path) != nil || slices.ContainsFunc(m.values, func(h *held) bool { return h.path == path }) {
			continue
		}
		if w := v.Whole(); w == nil || m.nameWhole(path, w) != nil {
			m.variables = append(m.variables, &variable{path: path, v: v})
		}
		return m.find(v)
	}
}

// storable reports whether plain data can be stored in a model: nil, bools, numbers and
// strings.
func storable(x any) bool {
	if x == nil {
		return true
	}
	switch k := reflect.TypeOf(x).Kind(); k {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64:
		return true
	default:
		return k >= reflect.Int && k <= reflect.Uint64
	}
}

// isLarge reports whether a constant is stored outside of the graph.
func isLarge(t tensor.Tensor) bool {
	if s, ok := t.(*tensor.Strings); ok {
		return s.Len() > 64 || len(s.Buffer()) > 1024
	}
	d, ok := t.(*tensor.Dense)
	return ok && d.Len()*d.DType().Size() > 1024
}

// Functions returns the functions in the order in which they were added.
func (m *Model) Functions() []*Func { return slices.Clone(m.functions) }

// Function returns the function with a name, or nil if there is none.
func (m *Model) Function(name string) *Func {
	for _, f := range m.functions {
		if f.name == name {
			return f
		}
	}
	return nil
}

// Variables returns the variables by path. They are the variables that the functions read:
// assigning to one changes the results of later calls, which is how a model is fine-tuned.
func (m *Model) Variables() map[string]*state.Variable {
	out := map[string]*state.Variable{}
	for _, x := range m.variables {
		out[x.path] = x.v
	}
	return out
}

// names returns the names of functions, for messages.
func (m *Model) names() []string {
	out := make([]string, len(m.functions))
	for i, f := range m.functions {
		out[i] = f.name
	}
	return out
}

// Name returns the function's name.
func (f *Func) Name() string { return f.name }

// Doc returns the function's documentation.
func (f *Func) Doc() string { return f.doc }

// SetDoc sets what [Func.Doc] returns.
func (f *Func) SetDoc(text string) { f.doc = text }

// Variants returns the number of variants of the function.
func (f *Func) Variants() int { return len(f.variants) }

// Args returns the Values and plain data that variant i takes, with their paths in the
// arguments. The first step of a path is the number of the argument.
func (f *Func) Args(i int) []function.Leaf { return slices.Clone(f.variants[i].args) }

// Results returns the Values and plain data that variant i returns.
func (f *Func) Results(i int) []function.Leaf { return slices.Clone(f.variants[i].results) }

// Graph returns the graph of variant i.
func (f *Func) Graph(i int) *graph.Graph { return f.variants[i].graph }

// String returns the signatures of the function:
//
//	predict(float32[?, 4]) → (scores: float32[?], labels: int64[?])
func (f *Func) String() string {
	var b strings.Builder
	for i, v := range f.variants {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s(%s) → (%s)", f.name, describe(v.args), describe(v.results))
	}
	return b.String()
}

func describe(leaves []function.Leaf) string {
	parts := make([]string, len(leaves))
	for i, l := range leaves {
		if len(l.Path) > 1 {
			parts[i] = l.Path[1:].String() + ": "
		}
		if l.Spec != nil {
			parts[i] += tenon.String(l.Spec)
		} else {
			parts[i] += fmt.Sprint(l.Plain)
		}
	}
	return strings.Join(parts, ", ")
}

// sortedKeys returns the sorted keys of a map.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
