package saved

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A File is an open file. It is safe for concurrent use.
type File struct {
	r       io.ReaderAt
	shards  map[string]*File // the file of each tensor, if there are several files
	start   int64            // of the elements
	header  *header
	tensors map[string]*entry
	names   []string // of the values, in the order of the tree
	specs   map[string]tenon.Spec
	holders map[string]tenon.Spec
	close   func() error
	label   string
}

// Open opens a file and reads its header. A file in another format is an error that says why. A
// name that ends in ".index.json" refers to an index of a model in several files, which are
// opened as one: its "weight_map" is an object that gives the file of each tensor, in the
// folder of the index. Errors of the operating system can be recognised by errors.Is; a missing
// file is also an error of kind tenon.ErrNotFound.
func Open(name string) (*File, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &tenon.Error{Kind: tenon.ErrNotFound, Op: "saved.Open", Err: err, Line: source.Line()}
	}
	if err != nil {
		return nil, openError("", err)
	}
	if strings.HasSuffix(name, indexSuffix) {
		defer f.Close()
		return openShards(name, f)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("is not a regular file")
	}
	var out *File
	if err == nil {
		out, err = newFile(f, info.Size(), name)
	}
	if err != nil {
		f.Close()
		return nil, openError(name, err)
	}
	out.close = f.Close
	return out, nil
}

// NewFile reads the header of a file of n bytes.
func NewFile(r io.ReaderAt, n int64) (*File, error) {
	f, err := newFile(r, n, "")
	if err != nil {
		return nil, openError("", err)
	}
	return f, nil
}

func openError(name string, err error) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: "saved.Open", Where: name, Err: err, Line: source.Line()}
}

// Close closes the file. Values that were read from it stay valid.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

func newFile(r io.ReaderAt, n int64, label string) (f *File, err error) {
	defer tenon.Catch(&err)
	var head [8]byte
	if n < 8 {
		return nil, fmt.Errorf("%d bytes are too short for a safetensors file", n)
	}
	if err := readAt(r, head[:], 0); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint64(head[:])
	switch {
	case length > maxHeader:
		return nil, fmt.Errorf("the header would have %d bytes, more than the limit of %d; it is not a safetensors file", length, maxHeader)
	case int64(length) > n-8:
		return nil, fmt.Errorf("the header has %d bytes, but only %d bytes follow its length", length, n-8)
	}
	text := make([]byte, length)
	if err := readAt(r, text, 8); err != nil {
		return nil, err
	}
	f = &File{r: r, start: 8 + int64(length), label: label, tensors: map[string]*entry{}, specs: map[string]tenon.Spec{}, holders: map[string]tenon.Spec{}}
	if f.header, err = parseHeader(text, n-f.start); err != nil {
		return nil, err
	}
	for i := range f.header.entries {
		f.tensors[f.header.entries[i].name] = &f.header.entries[i]
	}
	return f, f.index()
}

// readAt fills b. It is an error if the file ends before that.
func readAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("cannot read %d bytes at offset %d: %w", len(b), at, err)
}

// index finds the values: those whose Specs are in the metadata, and one for each other tensor.
func (f *File) index() error {
	claimed := map[string]bool{}
	if text, ok := f.header.meta[metaValues]; ok {
		if v := f.header.meta[metaVersion]; v != version {
			return fmt.Errorf("the metadata has version %q; this program supports %q", v, version)
		}
		if err := f.indexValues(text, claimed); err != nil {
			return err
		}
	}
	for i := range f.header.entries {
		e := &f.header.entries[i]
		if claimed[e.name] {
			continue
		}
		if f.specs[e.name] != nil {
			return fmt.Errorf("%q is the name of both a value and a tensor that does not belong to it", e.name)
		}
		f.names = append(f.names, e.name)
		if d, ok := codes[e.code]; ok {
			f.specs[e.name] = leafSpec(d, e.shape)
		} else {
			f.specs[e.name] = foreignSpec(e)
		}
	}
	return nil
}

func (f *File) indexValues(text string, claimed map[string]bool) error {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("cannot decode the Specs in the metadata: %w", err)
	}
	e, rest, err := tenon.DecodeEncoding(raw)
	if err != nil {
		return fmt.Errorf("cannot decode the Specs in the metadata: %w", err)
	}
	list, ok := e.(tenon.List)
	if !ok || len(rest) > 0 {
		return fmt.Errorf("the Specs in the metadata are not a list")
	}
	for i, x := range list {
		t, err := tenon.Elems(x, 3)
		if err != nil {
			return fmt.Errorf("cannot decode value %d of the metadata: %w", i, err)
		}
		name, ok := t[0].(tenon.Str)
		s, ok2 := t[1].(tenon.SpecOf)
		if !ok || !ok2 || s.Spec == nil {
			return fmt.Errorf("value %d of the metadata is not a pair of name and Spec", i)
		}
		if f.specs[string(name)] != nil {
			return fmt.Errorf("the metadata has the value %q twice", string(name))
		}
		if err := f.claim(string(name), s.Spec, claimed); err != nil {
			return err
		}
		f.names = append(f.names, string(name))
		f.specs[string(name)] = s.Spec
		if h, ok := t[2].(tenon.SpecOf); ok && h.Spec != nil {
			f.holders[string(name)] = h.Spec
		}
	}
	return nil
}

// below returns the name of a component of a value.
func below(name, component string) string {
	step := nest.Path{component}.String()
	if name == "" || step[0] == '[' {
		return name + step
	}
	return name + "." + step
}

// claim checks that the tensors of a value exist and belong to no other value.
func (f *File) claim(name string, s tenon.Spec, claimed map[string]bool) error {
	take := func(name string) error {
		if f.tensors[name] == nil {
			return fmt.Errorf("the metadata refers to a tensor %q that does not exist", name)
		}
		if claimed[name] {
			return fmt.Errorf("tensor %q belongs to two values", name)
		}
		claimed[name] = true
		return nil
	}
	if _, ok := foreignCode(s); ok {
		return take(tensorName(name))
	}
	if !tenon.IsLeaf(s) {
		for _, c := range s.Components() {
			if c.Name == "" || c.Spec == nil {
				return fmt.Errorf("value %q has a component without a name or Spec", name)
			}
			if err := f.claim(below(name, c.Name), c.Spec, claimed); err != nil {
				return err
			}
		}
		return nil
	}
	t, ok := s.(*tensor.Spec)
	if !ok {
		return fmt.Errorf("value %q is a %s, which files cannot hold", name, s.TypeName())
	}
	name = tensorName(name)
	if t.DType() != dtype.String {
		return take(name)
	}
	if f.tensors[name+partShape] != nil {
		if err := take(name + partShape); err != nil {
			return err
		}
	}
	if err := take(name + partOffsets); err != nil {
		return err
	}
	return take(name + partBytes)
}

// Names returns the names of the values, in the order in which they were written.
func (f *File) Names() []string { return slices.Clone(f.names) }

// Spec returns the Spec of a value. An unknown name is an error of kind tenon.ErrNotFound.
func (f *File) Spec(name string) (tenon.Spec, error) {
	s := f.specs[name]
	if s == nil {
		return nil, f.fail(tenon.ErrNotFound, "saved.File.Spec", name, "the file has no such value")
	}
	return s, nil
}

// VariableSpec returns the Spec of the variable from which a value was written: what the
// variable accepts. It returns false for a value that was not in a variable.
func (f *File) VariableSpec(name string) (*tensor.Spec, bool) {
	s, ok := f.holders[name].(*tensor.Spec)
	return s, ok
}

func (f *File) fail(kind error, op, name, format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	if f.label != "" {
		msg += " (" + f.label + ")"
	}
	return &tenon.Error{Kind: kind, Op: op, Where: name, Msg: msg, Line: source.Line()}
}

// Value reads a value. If it does not belong to its Spec, that is an error.
func (f *File) Value(name string) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	s, err := f.Spec(name)
	if err != nil {
		return nil, err
	}
	if v, err = f.value(name, s); err != nil {
		return nil, err
	}
	if err := tenon.Check(v); err != nil {
		return nil, &tenon.Error{Kind: tenon.AsError(err).Kind, Op: "saved.File.Value", Where: name, Err: err, Line: source.Line()}
	}
	return v, nil
}

func (f *File) value(name string, s tenon.Spec) (tenon.Value, error) {
	if _, ok := foreignCode(s); ok {
		return f.foreign(name, s)
	}
	if t, ok := s.(*tensor.Spec); ok {
		v, err := f.tensor(tensorName(name), t.DType())
		if err != nil {
			return nil, err
		}
		if !tenon.Belongs(v, t) {
			return nil, f.fail(tenon.ErrShape, "saved.File.Value", name, "the tensor is %s, but its Spec is %v", tenon.String(v.Spec()), t)
		}
		return v, nil
	}
	fields := s.Components()
	parts := make([]tenon.Value, len(fields))
	for i, c := range fields {
		var err error
		if parts[i], err = f.value(below(name, c.Name), c.Spec); err != nil {
			return nil, err
		}
	}
	v, err := s.Assemble(parts)
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.AsError(err).Kind, Op: "saved.File.Value", Where: name, Err: err, Line: source.Line()}
	}
	return v, nil
}

// foreign reads a tensor whose element type has no dtype.
func (f *File) foreign(name string, s tenon.Spec) (tenon.Value, error) {
	e := f.tensors[tensorName(name)]
	want := foreignSpec(e)
	if code, _ := foreignCode(s); code != e.code || !tenon.Equal(want, s) {
		return nil, f.fail(tenon.ErrShape, "saved.File.Value", name, "the tensor is %s%v, but its Spec is %s", e.code, e.shape, tenon.Text(s))
	}
	d, err := f.dense(e, dtype.Uint8, []int{int(e.end - e.begin)})
	if err != nil {
		return nil, err
	}
	return want.Assemble([]tenon.Value{d})
}

// tensor reads a tensor that must have a type.
func (f *File) tensor(name string, d dtype.DType) (tensor.Tensor, error) {
	if d == dtype.String {
		return f.strings(name)
	}
	e := f.tensors[name]
	stored, dims := codes[e.code], e.shape
	if d.IsComplex() && stored == d.Real() && len(dims) > 0 && dims[len(dims)-1] == 2 {
		stored, dims = d, dims[:len(dims)-1]
	}
	if stored != d {
		return nil, f.fail(tenon.ErrDType, "saved.File.Value", name, "the tensor is %s%v, but its Spec is %v", e.code, e.shape, d)
	}
	return f.dense(e, d, dims)
}

// dense reads the elements of a tensor.
func (f *File) dense(e *entry, d dtype.DType, dims []int) (*tensor.Dense, error) {
	from := f
	if shard, ok := f.shards[e.name]; ok {
		from = shard
	}
	if m, ok := from.r.(memory); ok && d != dtype.Bool {
		if b, ok := m.at(from.start+e.begin, e.end-e.begin); ok {
			t, err := tensor.FromBytes(d, leafSpec(d, dims).Shape(), b)
			if err != nil {
				return nil, f.fail(tenon.ErrShape, "saved.File.Value", e.name, "%v", err)
			}
			return t, nil
		}
	}
	t := tensor.NewDense(d, leafSpec(d, dims).Shape())
	b := t.Bytes()
	if int64(len(b)) != e.end-e.begin {
		return nil, f.fail(tenon.ErrShape, "saved.File.Value", e.name, "%d bytes do not fit elements of type %v", e.end-e.begin, t.Spec())
	}
	if err := readAt(from.r, b, from.start+e.begin); err != nil {
		return nil, f.fail(tenon.ErrInvalid, "saved.File.Value", e.name, "%v", err)
	}
	if d == dtype.Bool {
		for i, x := range b {
			if x > 1 {
				return nil, f.fail(tenon.ErrInvalid, "saved.File.Value", e.name, "element %d is %d, which is not a boolean", i, x)
			}
		}
	}
	return t, nil
}

// strings reads a tensor of strings from its parts.
func (f *File) strings(name string) (tensor.Tensor, error) {
	part := func(suffix string, d dtype.DType) (*tensor.Dense, error) {
		e := f.tensors[name+suffix]
		if codes[e.code] != d || len(e.shape) != 1 {
			return nil, f.fail(tenon.ErrDType, "saved.File.Value", e.name, "the tensor is %s%v, want a vector of %v", e.code, e.shape, d)
		}
		return f.dense(e, d, e.shape)
	}
	offsets, err := part(partOffsets, dtype.Int64)
	if err != nil {
		return nil, err
	}
	if offsets.Len() == 0 {
		return nil, f.fail(tenon.ErrInvalid, "saved.File.Value", name+partOffsets, "strings have at least one offset")
	}
	bytes, err := part(partBytes, dtype.Uint8)
	if err != nil {
		return nil, err
	}
	dims := []int{offsets.Len() - 1}
	if f.tensors[name+partShape] != nil {
		sizes, err := part(partShape, dtype.Int64)
		if err != nil {
			return nil, err
		}
		if dims, err = f.sizes(name, tensor.Data[int64](sizes), offsets.Len()-1); err != nil {
			return nil, err
		}
	}
	s, err := tensor.NewStrings(tensor.Data[int64](offsets), bytes.Bytes(), leafSpec(dtype.String, dims).Shape())
	if err != nil {
		return nil, f.fail(tenon.ErrInvalid, "saved.File.Value", name, "%v", tenon.AsError(err).Msg)
	}
	return s, nil
}

// sizes checks that the sizes are those of n strings.
func (f *File) sizes(name string, sizes []int64, n int) ([]int, error) {
	dims := make([]int, len(sizes))
	product := int64(1)
	if slices.Contains(sizes, 0) {
		product = 0
	}
	for i, x := range sizes {
		if x < 0 || x > maxBytes || len(sizes) > shape.MaxRank {
			return nil, f.fail(tenon.ErrInvalid, "saved.File.Value", name+partShape, "%v is not a shape", sizes)
		}
		dims[i] = int(x)
		if product > 0 && product <= int64(n)/x {
			product *= x
		} else if product > 0 {
			product = -1 // more than n
		}
	}
	if product != int64(n) {
		return nil, f.fail(tenon.ErrShape, "saved.File.Value", name+partShape, "%v is not a shape of %d strings", dims, n)
	}
	return dims, nil
}
