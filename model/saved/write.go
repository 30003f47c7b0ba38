package saved

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/atomicfile"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// WriteOptions change how a tree is written.
type WriteOptions struct {
	// Metadata are texts to store with the tree; [File.Metadata] returns them. Keys that begin
	// with "tenon." are reserved.
	Metadata map[string]string

	// Rename returns the name in the file for the path of a value, and Rules give names by
	// patterns, as in [ReadOptions], so that a model can be written in the form that another
	// program expects. [Dotted] is a Rename. A value that is not a dense tensor is stored as
	// its parts, whose names extend its name.
	Rename func(path string) string
	Rules  Rules
}

// option returns the options that were given, or the default.
func option[O any](o []O) (out O) {
	if len(o) > 0 {
		out = o[0]
	}
	return out
}

// Write writes a tree to a file, replacing an existing one atomically. Functions and channels
// in the tree are left out. Any other leaf that is not data is an error of kind
// tenon.ErrUnsupported that names its path; so is a Spec that is nested too deeply to be read
// again (records from about 18 levels on).
func Write(name string, tree any, o ...WriteOptions) error {
	p, err := plan(tree, option(o))
	if err != nil {
		return err
	}
	if err := atomicfile.Write(name, p.writeTo); err != nil {
		return &tenon.Error{Kind: tenon.ErrInvalid, Op: "saved.Write", Where: name, Err: err, Line: source.Line()}
	}
	return nil
}

// Encode writes a tree to w in the format of a file.
func Encode(w io.Writer, tree any, o ...WriteOptions) error {
	p, err := plan(tree, option(o))
	if err != nil {
		return err
	}
	return p.writeTo(w)
}

// A writing is a file that is about to be written.
type writing struct {
	header header
	data   map[string][]byte // of each tensor
	values tenon.List        // name, Spec and variable's Spec of each value
}

// plan collects the values and tensors of a tree.
func plan(tree any, o WriteOptions) (*writing, error) {
	paths, leaves, err := nest.FlattenWithPaths(tree, nest.Options{})
	if err != nil {
		return nil, err
	}
	p := &writing{data: map[string][]byte{}, header: header{meta: map[string]string{}}}
	for k, text := range o.Metadata {
		if strings.HasPrefix(k, "tenon.") || !utf8.ValidString(k) || !utf8.ValidString(text) {
			return nil, writeError(k, "is not valid metadata: keys and texts must be UTF-8, and the prefix tenon. is reserved")
		}
		p.header.meta[k] = text
	}
	names, err := newNaming("saved.Write", o.Rules, o.Rename)
	if err != nil {
		return nil, err
	}
	for i, l := range leaves {
		if err := p.leaf(paths[i], l, names); err != nil {
			return nil, err
		}
	}
	specs := tenon.AppendEncoding(nil, p.values)
	if _, _, err := tenon.DecodeEncoding(specs); err != nil { // before a file is replaced by one that nobody can read
		return nil, writeError("", "the Specs could not be read again: %s", tenon.AsError(err).Msg)
	}
	p.header.meta[metaVersion] = version
	p.header.meta[metaValues] = base64.StdEncoding.EncodeToString(specs)
	p.layout()
	return p, nil
}

func writeError(where, format string, args ...any) *tenon.Error {
	return &tenon.Error{Kind: tenon.ErrUnsupported, Op: "saved.Write", Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

// leaf adds a leaf of the tree.
func (p *writing) leaf(path nest.Path, x any, names *naming) error {
	v, ok := x.(tenon.Value)
	if !ok {
		if skipped(x) {
			return nil
		}
		t, err := tensor.Convert(x)
		if err != nil {
			return writeError(path.String(), "a %T cannot be saved", x)
		}
		v = t
	}
	holder := tenon.Encoding(tenon.Nil{})
	if y, ok := v.(*state.Variable); ok {
		holder = tenon.SpecOf{Spec: y.Spec()}
		v = y.Value()
	}
	v, err := tensor.Settled(v)
	if err != nil {
		return writeError(path.String(), "%v", err)
	}
	name, rule := names.of(path.String())
	if rule.Transpose {
		t, err := turned("saved.Write", path.String(), v)
		if err != nil {
			return err
		}
		v, holder = t, tenon.Nil{}
	}
	p.values = append(p.values, tenon.Tuple{tenon.Str(name), tenon.SpecOf{Spec: v.Spec()}, holder})
	return p.value(name, v)
}

// skipped reports whether a leaf is a function or channel.
func skipped(x any) bool {
	k := reflect.TypeOf(x).Kind()
	return k == reflect.Func || k == reflect.Chan
}

// value adds the tensors of which a value is made.
func (p *writing) value(path string, v tenon.Value) error {
	if v == nil {
		return writeError(path, "the component is nil")
	}
	v, err := tensor.Settled(v)
	if err != nil {
		return writeError(path, "%v", err)
	}
	s := v.Spec()
	if code, ok := foreignCode(s); ok {
		return p.foreign(path, code, v)
	}
	if tenon.IsLeaf(s) {
		return p.tensor(tensorName(path), path, v)
	}
	parts, err := s.Disassemble(v)
	if err != nil {
		return err
	}
	fields := s.Components()
	if len(fields) != len(parts) {
		return writeError(path, "%s has %d components, but its Spec has %d", tenon.String(s), len(parts), len(fields))
	}
	for i, c := range parts {
		if err := p.value(below(path, fields[i].Name), c); err != nil {
			return err
		}
	}
	return nil
}

// tensorName returns the name of a tensor: its path, which is empty for a tree that is a single
// tensor.
func tensorName(path string) string { return cmp.Or(path, "value") }

func (p *writing) tensor(name, path string, v tenon.Value) error {
	switch t := v.(type) {
	case *tensor.Dense:
		dims := t.Shape().Dims()
		d := t.DType()
		if d.IsComplex() {
			dims, d = append(slices.Clone(dims), 2), d.Real()
		}
		return p.add(name, codeOf[d], dims, tensor.Contiguous(t).Bytes())
	case *tensor.Strings:
		offsets := t.Offsets()
		from, to := offsets[0], offsets[len(offsets)-1]
		raw := make([]byte, 0, 8*len(offsets))
		for _, o := range offsets {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(o-from))
		}
		if err := p.add(name+partOffsets, "I64", []int{len(offsets)}, raw); err != nil {
			return err
		}
		if dims := t.Shape().Dims(); len(dims) != 1 {
			raw := make([]byte, 0, 8*len(dims))
			for _, n := range dims {
				raw = binary.LittleEndian.AppendUint64(raw, uint64(n))
			}
			if err := p.add(name+partShape, "I64", []int{len(dims)}, raw); err != nil {
				return err
			}
		}
		return p.add(name+partBytes, "U8", []int{int(to - from)}, t.Buffer()[from:to])
	}
	return writeError(path, "the elements of a %T cannot be saved", v)
}

// foreignCode returns the element type of a tensor that [foreignSpec] describes.
func foreignCode(s tenon.Spec) (string, bool) {
	o, ok := s.(*tenon.Opaque)
	if !ok {
		return "", false
	}
	code, ok := strings.CutPrefix(o.TypeName(), foreignPrefix)
	return code, ok && foreignBits[code] > 0
}

func (p *writing) foreign(path, code string, v tenon.Value) error {
	s, _ := v.Spec().Encode().(tenon.Shape)
	parts, err := v.Spec().Disassemble(v)
	if err != nil {
		return err
	}
	d, ok := parts[0].(*tensor.Dense)
	if n, err := size(code, s.Dims()); err != nil || !ok || d.DType() != dtype.Uint8 || int64(d.Len()) != n {
		return writeError(path, "%s does not have the bytes of %s%v", v.Spec().TypeName(), code, s.Shape)
	}
	return p.add(tensorName(path), code, s.Dims(), tensor.Contiguous(d).Bytes())
}

// add adds a tensor to the file.
func (p *writing) add(name, code string, dims []int, data []byte) error {
	if _, ok := p.data[name]; ok || name == "__metadata__" {
		return writeError(name, "two tensors have the same name")
	}
	p.data[name] = data
	p.header.entries = append(p.header.entries, entry{name: name, code: code, shape: dims, end: int64(len(data))})
	return nil
}

// layout gives each tensor its place: wide elements first, so that all are aligned, and
// otherwise sorted by name.
func (p *writing) layout() {
	width := func(e entry) int { return codes[e.code].Size() }
	slices.SortFunc(p.header.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(width(b), width(a)), strings.Compare(a.name, b.name))
	})
	at := int64(0)
	for i := range p.header.entries {
		e := &p.header.entries[i]
		e.begin, e.end = at, at+e.end
		at = e.end
	}
}

// writeTo writes the file.
func (p *writing) writeTo(w io.Writer) error {
	text := appendHeader(nil, &p.header)
	if len(text) > maxHeader {
		return writeError("", "the header would have %d bytes, but the format allows %d", len(text), maxHeader)
	}
	b := bufio.NewWriterSize(w, 1<<18)
	b.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text)))) // Flush returns the error
	b.Write(text)
	for _, e := range p.header.entries {
		b.Write(p.data[e.name])
	}
	return b.Flush()
}

// Metadata returns a copy of the texts that were written with the tree.
func (f *File) Metadata() map[string]string {
	m := maps.Clone(f.header.meta)
	maps.DeleteFunc(m, func(k, _ string) bool { return strings.HasPrefix(k, "tenon.") })
	return m
}

func leafSpec(d dtype.DType, dims []int) *tensor.Spec { return tensor.NewSpec(d, shape.Of(dims...)) }
