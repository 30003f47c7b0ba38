package saved

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/relpath"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
)

// The version of the format. A program reads every minor version of the major version that it
// knows: additions of later minor versions may be ignored, and are kept when the model is saved
// again. Additions that must not be ignored change an existing form, or the version of an
// operation, and so are rejected.
//
// Version 1.1 added values, files, sizes, batch axes, warm-up inputs, additions to variables,
// and versions of operations.
const (
	modelFormat = "tenon.model"
	modelMajor  = 1
	modelMinor  = 1
)

// manifestName is the file that describes all others.
const manifestName = "model.json"

// Limits on what a manifest may demand.
const (
	maxManifest = 16 << 20
	maxFiles    = 100_000
	maxGraph    = 1 << 30
)

// manifest is model.json.
type manifest struct {
	Format    string            `json:"format"`
	Version   [2]int            `json:"version"`
	Functions []jsonFunc        `json:"functions"`
	Variables []jsonVariable    `json:"variables"`
	Values    []jsonHeld        `json:"values,omitempty"`
	Types     []string          `json:"types"` // of the values, for error messages
	Ops       []string          `json:"ops"`   // by stored name
	Files     []jsonFile        `json:"files"`
	Metadata  map[string]string `json:"metadata"`

	rest rest
}

type jsonFunc struct {
	Name     string        `json:"name"`
	Doc      string        `json:"doc,omitempty"`
	Variants []jsonVariant `json:"variants"`

	rest rest
}

type jsonVariant struct {
	Graph    string        `json:"graph"` // a file name
	Args     []jsonLeaf    `json:"args"`
	Results  []jsonLeaf    `json:"results"`
	Captures []jsonCapture `json:"captures"`
	Effects  []jsonEffect  `json:"effects"`

	Sizes  map[string][]string `json:"sizes,omitempty"`  // names of sizes, by place; see Func.NameSizes
	Batch  string              `json:"batch,omitempty"`  // the name of the batch size
	WarmUp string              `json:"warmup,omitempty"` // a file name

	rest rest
}

// jsonEffect is the path of a variable that is assigned to, or {"add": path} for one that is
// added to.
type jsonEffect struct {
	path string
	add  bool
}

// MarshalJSON writes the effect.
func (e jsonEffect) MarshalJSON() ([]byte, error) {
	if e.add {
		return json.Marshal(map[string]string{"add": e.path})
	}
	return json.Marshal(e.path)
}

// UnmarshalJSON reads the effect.
func (e *jsonEffect) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &e.path); err == nil {
		return nil
	}
	var all map[string]string
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	path, ok := all["add"]
	if !ok || len(all) != 1 {
		return fmt.Errorf("%s is not an effect that this program knows", b)
	}
	*e = jsonEffect{path, true}
	return nil
}

// jsonHeld is a Value made of variables and constants.
type jsonHeld struct {
	Path  string        `json:"path"`
	Spec  string        `json:"spec"`
	Text  string        `json:"text"`
	Parts []jsonCapture `json:"parts"`
}

// jsonCapture is a variable's path, or the name of a constant.
type jsonCapture struct {
	Variable string `json:"variable,omitempty"`
	Constant string `json:"constant,omitempty"`
}

type jsonLeaf struct {
	Path  jsonPath   `json:"path"`
	Spec  string     `json:"spec,omitempty"` // in binary form, base64
	Text  string     `json:"text,omitempty"` // the Spec as text, for people
	Plain *jsonPlain `json:"plain,omitempty"`
}

// jsonPath is the steps of a path: names, and integers.
type jsonPath []any

// UnmarshalJSON decodes the steps. Integers stay integers.
func (p *jsonPath) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode((*[]any)(p))
}

// jsonPlain is plain data; numbers are strings, so that no digits are lost.
type jsonPlain struct {
	Kind  string `json:"kind"`
	Value string `json:"value,omitempty"`
}

type jsonVariable struct {
	Path  string `json:"path"`
	Spec  string `json:"spec"` // of the variable: what it accepts
	Text  string `json:"text"`
	Value string `json:"value"` // its name in weights/variables.safetensors

	rest rest
}

type jsonFile struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

func specJSON(s tenon.Spec) (binary, text string) {
	return base64.StdEncoding.EncodeToString(tenon.AppendBinary(nil, s)), tenon.Text(s)
}

func specFromJSON(text string) (tenon.Spec, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("a Spec is not valid base64: %w", err)
	}
	s, rest, err := tenon.DecodeBinary(b)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes follow a Spec", len(rest))
	}
	return s, err
}

func leavesJSON(leaves []function.Leaf) []jsonLeaf {
	out := make([]jsonLeaf, len(leaves))
	for i, l := range leaves {
		out[i].Path = jsonPath(l.Path)
		if l.Spec != nil {
			out[i].Spec, out[i].Text = specJSON(l.Spec)
		} else {
			out[i].Plain = plainJSON(l.Plain)
		}
	}
	return out
}

func plainJSON(x any) *jsonPlain {
	if x == nil {
		return &jsonPlain{Kind: "nil"}
	}
	v := reflect.ValueOf(x)
	switch {
	case v.Kind() == reflect.Bool:
		return &jsonPlain{"bool", strconv.FormatBool(v.Bool())}
	case v.CanInt():
		return &jsonPlain{"int", strconv.FormatInt(v.Int(), 10)}
	case v.CanUint():
		return &jsonPlain{"uint", strconv.FormatUint(v.Uint(), 10)}
	case v.CanFloat():
		return &jsonPlain{"float", strconv.FormatFloat(v.Float(), 'g', -1, 64)}
	}
	return &jsonPlain{"text", v.String()}
}

func (p *jsonPlain) value() (any, error) {
	switch p.Kind {
	case "nil":
		return nil, nil
	case "bool":
		return strconv.ParseBool(p.Value)
	case "int":
		return strconv.Atoi(p.Value)
	case "uint":
		return strconv.ParseUint(p.Value, 10, 64)
	case "float":
		return strconv.ParseFloat(p.Value, 64)
	case "text":
		return p.Value, nil
	}
	return nil, fmt.Errorf("plain data of kind %q is not supported", p.Kind)
}

func leavesFromJSON(list []jsonLeaf) ([]function.Leaf, error) {
	out := make([]function.Leaf, len(list))
	for i, l := range list {
		path, err := pathFromJSON(l.Path)
		if err != nil {
			return nil, err
		}
		out[i].Path = path
		switch {
		case l.Spec != "":
			out[i].Spec, err = specFromJSON(l.Spec)
		case l.Plain != nil:
			out[i].Plain, err = l.Plain.value()
		default:
			err = fmt.Errorf("it has neither a Spec nor plain data")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return out, nil
}

// maxSteps bounds the length of paths.
const maxSteps = 200

func pathFromJSON(steps []any) (nest.Path, error) {
	if len(steps) == 0 || len(steps) > maxSteps {
		return nil, fmt.Errorf("a path has %d steps, too many", len(steps))
	}
	out := make(nest.Path, len(steps))
	for i, s := range steps {
		switch s := s.(type) {
		case string:
			out[i] = s
		case json.Number:
			n, err := strconv.Atoi(s.String())
			if err != nil {
				return nil, fmt.Errorf("a path has the invalid step %s", s)
			}
			out[i] = n
		default:
			return nil, fmt.Errorf("a path has the invalid step %v", s)
		}
	}
	if n, ok := out[0].(int); !ok || n < 0 || n > 1<<16 {
		return nil, fmt.Errorf("a path does not begin with the number of an argument")
	}
	return out, nil
}

// parseManifest decodes model.json and checks what can be checked without other files.
func parseManifest(text []byte) (*manifest, error) {
	m := &manifest{}
	if json.Valid(text) {
		if err := once(text, 0); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, err
	}
	switch {
	case m.Format != modelFormat:
		return nil, fmt.Errorf("the format is %q, want %q", m.Format, modelFormat)
	case m.Version[0] != modelMajor:
		return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Msg: fmt.Sprintf("the model has version %d.%d of the format; this program supports version %d", m.Version[0], m.Version[1], modelMajor),
			Hint: "use a program of that version, which may be able to convert it"}
	case len(m.Files) > maxFiles:
		return nil, fmt.Errorf("the model has %d files, more than the limit of %d", len(m.Files), maxFiles)
	}
	seen := map[string]bool{}
	for _, f := range m.Files {
		if err := relpath.Check(f.Path); err != nil {
			return nil, err
		}
		if folded := strings.ToLower(f.Path); seen[folded] || f.Size < 0 {
			return nil, fmt.Errorf("the file %q occurs twice, or has a negative size", f.Path)
		} else {
			seen[folded] = true
		}
	}
	var unknown, why []string
	for _, name := range m.Ops {
		if err := op.Readable(name); err != nil {
			unknown, why = append(unknown, name), append(why, err.Error())
		}
	}
	if len(unknown) > 0 {
		return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Msg: "this program lacks operations of the model: " + some(unknown) + " (" + why[0] + ")",
			Hint: "import the packages that define them, in the version with which the model was made or a later one"}
	}
	return m, nil
}

// once reports duplicate keys of objects, and nesting that is too deep.
func once(text []byte, depth int) error {
	if depth > 64 {
		return fmt.Errorf("it is nested too deeply")
	}
	switch text[spaces(text)] {
	case '{':
		seen := map[string]bool{}
		return members(text, func(name string, value []byte) error {
			if seen[name] {
				return fmt.Errorf("the key %q occurs twice", name)
			}
			seen[name] = true
			return once(value, depth+1)
		})
	case '[':
		return elements(text, func(value []byte) error { return once(value, depth+1) })
	}
	return nil
}

// opsOf adds the stored names of the operations of a graph and its regions.
func opsOf(g *graph.Graph, names map[string]bool) {
	for _, n := range g.Nodes {
		names[n.Op.StoredName()] = true
		for _, r := range n.Regions() {
			opsOf(r, names)
		}
	}
}

// typesOf adds the names of the types of a Spec and its components.
func typesOf(s tenon.Spec, names map[string]bool) {
	names[s.TypeName()] = true
	for _, f := range s.Components() {
		typesOf(f.Spec, names)
	}
}
