package saved

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// A reading is a model that is being read.
type reading struct {
	folder
	opts      ModelOptions
	m         *Model
	files     map[string]jsonFile
	constants map[string]tensor.Tensor
}

// readModel reads a model and closes the folder.
func readModel(d folder, o ModelOptions) (m *Model, err error) {
	defer func() {
		d.Close()
		for _, free := range d.mappings() {
			if err == nil {
				m.free = append(m.free, free)
			} else {
				free()
			}
		}
	}()
	defer tenon.Catch(&err)
	r := &reading{folder: d, opts: o, m: NewModel(), files: map[string]jsonFile{}, constants: map[string]tensor.Tensor{}}
	text, err := r.text(manifestName, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("not a saved model: there is no %s in it", manifestName)
	}
	if err != nil {
		return nil, err
	}
	doc, err := parseManifest(text)
	if err != nil {
		return nil, inside(manifestName, err)
	}
	for _, f := range doc.Files {
		r.files[f.Path] = f
	}
	graphs, err := r.graphs(doc)
	if err != nil {
		return nil, err
	}
	if err := r.variables(doc.Variables); err != nil {
		return nil, err
	}
	if err := r.values(doc.Values); err != nil {
		return nil, err
	}
	for i, f := range doc.Functions {
		if r.m.Function(f.Name) != nil {
			return nil, inside(manifestName, fmt.Errorf("the function %q occurs twice", f.Name))
		}
		fn := &Func{name: f.Name, doc: f.Doc, rest: f.rest}
		for k, v := range f.Variants {
			x, err := r.variant(v, graphs[i][k])
			if err != nil {
				return nil, inside(fmt.Sprintf("function %s, variant %d", f.Name, k), err)
			}
			fn.variants = append(fn.variants, x)
		}
		r.m.functions = append(r.m.functions, fn)
	}
	if r.m.rest = doc.rest; doc.Metadata != nil {
		r.m.Metadata = doc.Metadata
	}
	return r.m, r.others(doc)
}

func inside(where string, err error) error { return fmt.Errorf("%s: %w", where, err) }

// text reads a small file.
func (r *reading) text(name string, most int64) ([]byte, error) {
	f, n, err := r.open(name)
	if err != nil {
		return nil, inside(name, err)
	}
	if n > most {
		return nil, inside(name, fmt.Errorf("it has %d bytes, more than the limit of %d", n, most))
	}
	b := make([]byte, n)
	if err := readAt(f, b, 0); err != nil {
		return nil, inside(name, err)
	}
	return b, nil
}

// listed opens a file that the manifest lists, and checks its size and digest.
func (r *reading) listed(name string) (io.ReaderAt, int64, error) {
	want, ok := r.files[name]
	if !ok {
		return nil, 0, inside(name, fmt.Errorf("the manifest does not list the file"))
	}
	f, n, err := r.open(name)
	if err != nil {
		return nil, 0, inside(name, err)
	}
	if n != want.Size {
		return nil, 0, inside(name, fmt.Errorf("the file has %d bytes, but the manifest says %d", n, want.Size))
	}
	if _, ok := f.(memory); ok && r.opts.Map && !r.opts.Verify && isWeights(name) {
		return f, n, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, n)); err != nil {
		return nil, 0, inside(name, err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want.SHA256 {
		return nil, 0, inside(name, fmt.Errorf("the file has the digest %s, but the manifest says %s", got, want.SHA256))
	}
	return f, n, nil
}

// isWeights reports whether a file holds tensors.
func isWeights(name string) bool { return name == variablesFile || name == constantsFile }

// graphs reads the graphs of all functions.
func (r *reading) graphs(doc *manifest) ([][]*graph.Graph, error) {
	out := make([][]*graph.Graph, len(doc.Functions))
	for i, f := range doc.Functions {
		for _, v := range f.Variants {
			file, n, err := r.listed(v.Graph)
			if err != nil {
				return nil, err
			}
			if n > maxGraph {
				return nil, inside(v.Graph, fmt.Errorf("it has %d bytes, more than the limit of %d", n, maxGraph))
			}
			b := make([]byte, n)
			if err := readAt(file, b, 0); err != nil {
				return nil, inside(v.Graph, err)
			}
			g, err := graph.ReadBinary(b)
			if err != nil {
				return nil, inside(v.Graph, err)
			}
			out[i] = append(out[i], g)
		}
	}
	return out, nil
}

// weights opens a file of tensors, if the model has it.
func (r *reading) weights(name string) (*File, error) {
	if _, ok := r.files[name]; !ok {
		return nil, nil
	}
	f, n, err := r.listed(name)
	if err != nil {
		return nil, err
	}
	file, err := NewFile(f, n)
	if err != nil {
		return nil, inside(name, err)
	}
	return file, nil
}

// variables reads the variables, and the constants.
func (r *reading) variables(list []jsonVariable) error {
	values, err := r.weights(variablesFile)
	if err != nil {
		return err
	}
	for _, x := range list {
		if values == nil || r.m.named(x.Path) != nil {
			return inside("variable "+x.Path, fmt.Errorf("it occurs twice, or the model has no file of variables"))
		}
		spec, err := specFromJSON(x.Spec)
		if err != nil {
			return inside("variable "+x.Path, err)
		}
		ts, ok := spec.(*tensor.Spec)
		if !ok {
			return inside("variable "+x.Path, fmt.Errorf("a variable has the Spec %s", tenon.String(spec)))
		}
		v, err := values.Value(x.Value)
		if err != nil {
			return inside("variable "+x.Path, err)
		}
		cell, err := state.WithSpec(v, ts)
		if err != nil {
			return inside("variable "+x.Path, err)
		}
		r.m.variables = append(r.m.variables, &variable{x.Path, cell, x.rest})
	}
	file, err := r.weights(constantsFile)
	if err != nil || file == nil {
		return err
	}
	for _, name := range file.Names() {
		v, err := file.Value(name)
		if err != nil {
			return inside(constantsFile, err)
		}
		if t, ok := v.(tensor.Tensor); ok {
			r.constants[name] = t
		}
	}
	return nil
}

// others reads the files that are neither graphs nor tensors: the README, and [Model.Files].
func (r *reading) others(doc *manifest) error {
	used := map[string]bool{variablesFile: true, constantsFile: true}
	for _, f := range doc.Functions {
		for _, v := range f.Variants {
			used[v.Graph], used[v.WarmUp] = true, true
		}
	}
	for _, f := range doc.Files {
		if used[f.Path] {
			continue
		}
		file, n, err := r.listed(f.Path)
		if err != nil {
			return err
		}
		if n > maxGraph {
			return inside(f.Path, fmt.Errorf("it has %d bytes, more than the limit of %d", n, maxGraph))
		}
		b := make([]byte, n)
		if err := readAt(file, b, 0); err != nil {
			return inside(f.Path, err)
		}
		r.m.Files[f.Path] = b
	}
	if text, ok := r.m.Files[readmeFile]; ok {
		delete(r.m.Files, readmeFile)
		var made bytes.Buffer
		if err := r.m.readme(&made, doc.Types); err != nil {
			return err
		}
		if !bytes.Equal(made.Bytes(), text) {
			r.m.Readme = string(text)
		}
	}
	return nil
}
