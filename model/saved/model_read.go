package saved

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/filemap"
	"github.com/tenonml/tenon/internal/relpath"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/internal/zipbounds"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// A folder is the files of a model that is being read.
type folder interface {
	// open returns a file that is stored as it is, with its size.
	open(name string) (io.ReaderAt, int64, error)
	io.Closer

	// mappings are what gives mapped files free.
	mappings() []func() error
}

// memory is a file, or a part of one, whose bytes are in memory and stay there.
type memory []byte

// ReadAt copies bytes.
func (m memory) ReadAt(b []byte, at int64) (int, error) { return bytes.NewReader(m).ReadAt(b, at) }

// at returns n bytes from a position on, without copying them; those behind them, which
// may be looked at, are within their capacity.
func (m memory) at(from, n int64) ([]byte, bool) {
	if from < 0 || n < 0 || from > int64(len(m)) || n > int64(len(m))-from {
		return nil, false
	}
	return m[from : from+n], true
}

// ModelOptions are options of [OpenModel]. The zero value reads everything.
type ModelOptions struct {
	// Map leaves weights in their file, from which the system brings them into memory when
	// they are used: a model is open at once, whatever its size, and programs share the
	// memory. Their digests are not compared (with Verify they are); the file must not be
	// changed in the meantime, and [Model.Close] gives it free.
	Map bool

	// Verify compares the digests of weights that are mapped, too, for which they are read
	// once.
	Verify bool
}

// OpenModel reads a model, a folder or one file. Nothing of it is trusted: the files are
// those that the manifest names, of the sizes and digests that it states, and no code
// is run. An operation that this program lacks is named before any weights are read.
func OpenModel(path string, o ...ModelOptions) (*Model, error) {
	var opts ModelOptions
	if len(o) > 0 {
		opts = o[len(o)-1]
	}
	m, err := openModel(path, opts)
	if err != nil {
		return nil, modelFailure(path, err)
	}
	return m, nil
}

// DecodeModel reads a model from a ZIP file of n bytes.
func DecodeModel(r io.ReaderAt, n int64) (*Model, error) {
	d, err := openArchive(r, n)
	if err != nil {
		return nil, modelFailure("", err)
	}
	m, err := readModel(d, ModelOptions{})
	if err != nil {
		return nil, modelFailure("", err)
	}
	return m, nil
}

// Close gives the file of a model free that is mapped. Nothing of the model, and no tensor
// that is one of its weights, may be used afterwards. Other models need no Close.
func (m *Model) Close() error {
	var errs []error
	for _, free := range m.free {
		errs = append(errs, free())
	}
	m.free = nil
	return errors.Join(errs...)
}

func modelFailure(where string, err error) error {
	e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "saved.OpenModel", Where: where, Err: err, Line: source.Line()}
	if t := tenon.AsError(err); t.Kind == tenon.ErrUnsupported {
		e.Kind, e.Hint = t.Kind, t.Hint
	}
	if os.IsNotExist(err) {
		e.Kind = tenon.ErrNotFound
	}
	return e
}

func openModel(path string, o ModelOptions) (*Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		folder, err := relpath.OpenFolder(path)
		if err != nil {
			return nil, err
		}
		return readModel(&directory{folder: folder, mapped: o.Map}, o)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if o.Map {
		b, free, err := filemap.Bytes(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		d, err := openArchive(memory(b), int64(len(b)))
		if err != nil {
			free()
			return nil, err
		}
		d.frees = append(d.frees, free)
		return readModel(d, o)
	}
	d, err := openArchive(f, info.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	d.file = f
	return readModel(d, o)
}

// A directory is a model in a folder.
type directory struct {
	folder *relpath.Folder
	files  []*os.File
	mapped bool
	frees  []func() error
}

func (d *directory) mappings() []func() error { return d.frees }

func (d *directory) open(name string) (io.ReaderAt, int64, error) {
	f, n, err := d.folder.Open(name)
	if err != nil {
		return nil, 0, err
	}
	d.files = append(d.files, f)
	if d.mapped && n > 0 {
		b, free, err := filemap.Bytes(f)
		if err != nil {
			return nil, 0, err
		}
		d.frees = append(d.frees, free)
		return memory(b), int64(len(b)), nil
	}
	return f, n, nil
}

// Close closes the files that were opened.
func (d *directory) Close() error {
	for _, f := range d.files {
		f.Close()
	}
	return d.folder.Close()
}

// An archive is a model in one file.
type archive struct {
	r       io.ReaderAt
	records map[string]*zip.File
	file    *os.File
	frees   []func() error
}

func (a *archive) mappings() []func() error { return a.frees }

// openArchive reads the directory of a ZIP file. Records that are encrypted, overlap, stand
// twice, or have names outside of a folder are refused.
func openArchive(r io.ReaderAt, n int64) (*archive, error) {
	z, err := zip.NewReader(r, n)
	if err != nil {
		return nil, err
	}
	if len(z.File) > maxFiles {
		return nil, fmt.Errorf("%d records, at most %d are read", len(z.File), maxFiles)
	}
	if err := zipbounds.Check(r, z, n); err != nil {
		return nil, err
	}
	if z.Comment != "" {
		return nil, errors.New("it has a comment, in which another format may hide")
	}
	a := &archive{r: r, records: map[string]*zip.File{}}
	seen := map[string]bool{}
	for _, f := range z.File {
		if folder, ok := strings.CutSuffix(f.Name, "/"); ok && f.UncompressedSize64 == 0 && relpath.Check(folder) == nil {
			continue // which other programs add
		}
		if err := relpath.Check(f.Name); err != nil {
			return nil, err
		}
		folded := strings.ToLower(f.Name)
		switch {
		case seen[folded]:
			return nil, fmt.Errorf("the record %q stands twice", f.Name)
		case f.Flags&1 != 0:
			return nil, fmt.Errorf("the record %q is encrypted", f.Name)
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return nil, fmt.Errorf("the record %q is compressed by method %d", f.Name, f.Method)
		case !f.Mode().IsRegular():
			return nil, fmt.Errorf("the record %q is no regular file", f.Name)
		case f.Method != zip.Store && f.UncompressedSize64 > maxGrowth*(f.CompressedSize64+minGrowth):
			return nil, fmt.Errorf("the record %q has %d bytes and %d compressed, more than %d times as many", f.Name, f.UncompressedSize64, f.CompressedSize64, maxGrowth)
		}
		seen[folded], a.records[f.Name] = true, f
	}
	return a, nil
}

// maxGrowth bounds how much a compressed record grows, and with that what an archive takes in
// memory; one that is shorter than minGrowth may grow as much as that one.
const (
	maxGrowth = 100
	minGrowth = 64
)

// maxInflated bounds a record that is compressed, which only small ones should be.
const maxInflated = 256 << 20

func (a *archive) open(name string) (io.ReaderAt, int64, error) {
	f := a.records[name]
	if f == nil {
		return nil, 0, os.ErrNotExist
	}
	at, err := f.DataOffset()
	if err != nil {
		return nil, 0, err
	}
	if err := zipbounds.Grows(f); err != nil {
		return nil, 0, err
	}
	raw := io.NewSectionReader(a.r, at, int64(f.CompressedSize64))
	if m, ok := a.r.(memory); ok && f.Method == zip.Store && name != manifestName {
		if b, ok := m.at(at, raw.Size()); ok {
			return memory(b), raw.Size(), nil // its digest is in the manifest
		}
	}
	if f.Method == zip.Store {
		if raw.Size() > maxManifest {
			return raw, raw.Size(), nil // its digest is in the manifest
		}
		b := make([]byte, raw.Size())
		if err := readAt(raw, b, 0); err != nil {
			return nil, 0, err
		}
		return checked(f, b)
	}
	if f.UncompressedSize64 > maxInflated {
		return nil, 0, fmt.Errorf("a compressed record has %d bytes, at most %d are read", f.UncompressedSize64, maxInflated)
	}
	b := make([]byte, f.UncompressedSize64)
	inflated := flate.NewReader(raw)
	if _, err := io.ReadFull(inflated, b); err != nil {
		return nil, 0, err
	}
	if n, err := io.CopyN(io.Discard, inflated, 1); n > 0 || err != io.EOF {
		return nil, 0, errors.New("the record is longer than the archive says")
	}
	return checked(f, b)
}

// checked compares the checksum of a record, which is all that guards the manifest.
func checked(f *zip.File, b []byte) (io.ReaderAt, int64, error) {
	if crc32.ChecksumIEEE(b) != f.CRC32 {
		return nil, 0, fmt.Errorf("the record differs from its checksum")
	}
	return bytes.NewReader(b), int64(len(b)), nil
}

// Close closes the file.
func (a *archive) Close() error {
	if a.file != nil {
		return a.file.Close()
	}
	return nil
}

// reading is a model that is being read.
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
			return nil, inside(manifestName, fmt.Errorf("the function %q stands twice", f.Name))
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
		return nil, inside(name, fmt.Errorf("%d bytes, at most %d are read", n, most))
	}
	b := make([]byte, n)
	if err := readAt(f, b, 0); err != nil {
		return nil, inside(name, err)
	}
	return b, nil
}

// listed opens a file that the manifest lists and compares size and digest.
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
		return nil, 0, inside(name, fmt.Errorf("the file has %d bytes, the manifest says %d", n, want.Size))
	}
	if _, ok := f.(memory); ok && r.opts.Map && !r.opts.Verify && isWeights(name) {
		return f, n, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, n)); err != nil {
		return nil, 0, inside(name, err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want.SHA256 {
		return nil, 0, inside(name, fmt.Errorf("the file has the digest %s, the manifest says %s", got, want.SHA256))
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
				return nil, inside(v.Graph, fmt.Errorf("%d bytes, at most %d are read", n, maxGraph))
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
			return inside("variable "+x.Path, fmt.Errorf("it stands twice, or the model has no variables' values"))
		}
		spec, err := specFromJSON(x.Spec)
		if err != nil {
			return inside("variable "+x.Path, err)
		}
		ts, ok := spec.(*tensor.Spec)
		if !ok {
			return inside("variable "+x.Path, fmt.Errorf("a variable of %s", tenon.String(spec)))
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

// variant puts a variant together and checks that its parts fit.
func (r *reading) variant(j jsonVariant, g *graph.Graph) (*variant, error) {
	v := &variant{graph: g}
	var err error
	if v.args, err = leavesFromJSON(j.Args); err != nil {
		return nil, inside("arguments", err)
	}
	if v.results, err = leavesFromJSON(j.Results); err != nil {
		return nil, inside("results", err)
	}
	if v.captures, err = r.captured(j.Captures); err != nil {
		return nil, err
	}
	for _, e := range j.Effects {
		x := r.m.named(e.path)
		if x == nil {
			return nil, fmt.Errorf("there is no variable %q to assign to", e.path)
		}
		v.effects = append(v.effects, effect{x, e.add})
	}
	if err := v.check(); err != nil {
		return nil, err
	}
	v.ready()
	v.rest = j.rest
	if err := v.nameSizes(j.Sizes); err != nil {
		return nil, err
	}
	if err := v.setBatch(j.Batch); err != nil {
		return nil, err
	}
	return v, r.warmUps(v, j.WarmUp)
}

// captured finds variables and constants.
func (r *reading) captured(list []jsonCapture) ([]capture, error) {
	var out []capture
	for _, c := range list {
		x := capture{variable: r.m.named(c.Variable), constant: r.constants[c.Constant]}
		if x.variable == nil && x.constant == nil || c.Variable != "" && c.Constant != "" {
			return nil, fmt.Errorf("there is no variable %q and no constant %q", c.Variable, c.Constant)
		}
		out = append(out, x)
	}
	return out, nil
}

// values reads the Values that are made of variables. They fit together.
func (r *reading) values(list []jsonHeld) error {
	seen := map[string]bool{}
	for _, x := range list {
		if seen[x.Path] {
			return inside("value "+x.Path, fmt.Errorf("it stands twice"))
		}
		seen[x.Path] = true
		s, err := specFromJSON(x.Spec)
		if err != nil {
			return inside("value "+x.Path, err)
		}
		parts, err := r.captured(x.Parts)
		if err != nil {
			return inside("value "+x.Path, err)
		}
		r.m.values = append(r.m.values, &held{x.Path, s, parts})
	}
	all, err := r.m.Values()
	if err != nil {
		return err
	}
	for path, v := range all {
		if err := tenon.Check(v); err != nil {
			return inside("value "+path, err)
		}
	}
	return nil
}

// warmUps reads the warm-up inputs of a variant.
func (r *reading) warmUps(v *variant, name string) error {
	if name == "" {
		return nil
	}
	file, err := r.weights(name)
	if err == nil && file == nil {
		err = fmt.Errorf("the manifest does not list the file")
	}
	if err != nil {
		return inside(name, err)
	}
	for n := 0; ; n++ {
		leaves, found := make([]any, len(v.args)), 0
		for i, l := range v.args {
			if leaves[i] = l.Plain; l.Spec == nil {
				continue
			}
			at := warmUpName(n, i)
			if _, err := file.Spec(at); err != nil && found == 0 {
				return nil // that was the last
			}
			x, err := file.Value(at)
			if err != nil {
				return inside(name, err)
			}
			leaves[i] = x
			found++
		}
		if found == 0 {
			return nil
		}
		if err := v.addWarmUp(leaves); err != nil {
			return inside(name, err)
		}
	}
}

// others reads the files that are neither graphs nor tensors: the README, and those that
// the model keeps.
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
			return inside(f.Path, fmt.Errorf("%d bytes, at most %d are read", n, maxGraph))
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

// check compares the graph's parameters and outputs with the Specs of the variant.
func (v *variant) check() error {
	params, err := tensorsOf(v.args)
	if err != nil {
		return err
	}
	for _, c := range v.captures {
		s := tenon.Spec(nil)
		if c.variable != nil {
			s = c.variable.v.Spec()
		} else {
			s = c.constant.Spec()
		}
		ts, ok := s.(*tensor.Spec)
		if !ok {
			return fmt.Errorf("a captured %s", tenon.String(s))
		}
		params = append(params, ts)
	}
	if len(params) != len(v.graph.Params) {
		return fmt.Errorf("the graph has %d parameters, the arguments have %d tensors", len(v.graph.Params), len(params))
	}
	for i, s := range params {
		if p := v.graph.Params[i].Spec(); !tenon.Compatible(s, p) {
			return fmt.Errorf("parameter %d of the graph is %s, its argument %s", i, tenon.String(p), tenon.String(s))
		}
	}
	outs, err := tensorsOf(v.results)
	if err != nil {
		return err
	}
	for _, e := range v.effects {
		outs = append(outs, e.variable.v.Spec().(*tensor.Spec))
	}
	if len(outs) != len(v.graph.Outputs) {
		return fmt.Errorf("the graph has %d outputs, the results have %d tensors", len(v.graph.Outputs), len(outs))
	}
	for i, s := range outs {
		if o := v.graph.Outputs[i].Spec(); !tenon.Compatible(s, o) {
			return fmt.Errorf("output %d of the graph is %s, its result %s", i, tenon.String(o), tenon.String(s))
		}
	}
	return nil
}
