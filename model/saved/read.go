package saved

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// ReadOptions change how a template and a file are matched. With the zero value, both must have
// the same names.
type ReadOptions struct {
	// Rename returns the name in the file for the path of a place in the template, for files
	// from other programs. Nil: the path itself.
	Rename func(path string) string

	// Rules map paths to names by patterns, and say which tensors are transposed. A path that
	// matches no rule is mapped by Rename.
	Rules Rules

	// Cast converts floating-point tensors to the type of their place, for instance from files
	// with 16 bits to models with 32.
	Cast bool

	// Partial leaves places for which the file has no value unchanged. This is not possible for
	// a Spec, which remains an error.
	Partial bool

	// Extra allows values in the file that have no place in the template.
	Extra bool

	// Sizes allows tensors to have other sizes than those in the template, but not another rank. It
	// is for sizes that depend on data, such as those of a vocabulary and its embeddings.
	Sizes bool

	// Report, if it is not nil, receives the places and values that have no counterpart,
	// whether or not that is an error.
	Report *Report
}

// A Report lists the places of a template and the values of a file that have no counterpart.
type Report struct {
	Missing []string // the paths of places for which the file has no value
	Left    []string // the names of values in the file that have no place
}

// A Source provides values by name: a [File], or a file of another format opened by package
// model/weights.
type Source interface {
	Names() []string
	Value(name string) (tenon.Value, error)
}

var _ Source = (*File)(nil)

// Read returns a structure like the template, with the values of a file. Places in the template
// are handled as follows:
//
//   - a variable is assigned to, and stays the same variable
//   - a Spec is replaced by a value of that Spec
//   - another Value is replaced by one of its Spec, including sizes
//   - Go data is replaced by data of the same type; arrays must have the same length
//   - functions and channels do not change
//
// It is an error, which names the path, if a value does not fit, a place has no value (an error
// of kind tenon.ErrNotFound), or a value has no place. After an error nothing has been
// assigned.
func Read[T any](name string, like T, o ...ReadOptions) (T, error) {
	f, err := Open(name)
	if err != nil {
		var zero T
		return zero, err
	}
	defer f.Close()
	return Fill(f, like, o...)
}

// Fill is like Read for a file that is already open, of any format.
func Fill[T any](from Source, like T, options ...ReadOptions) (out T, err error) {
	defer tenon.Catch(&err)
	o := option(options)
	names, err := newNaming("saved.Read", o.Rules, o.Rename)
	if err != nil {
		return out, err
	}
	paths, leaves, err := nest.FlattenWithPaths(like, nest.Options{})
	if err != nil {
		return out, err
	}
	m := &match{from: from, o: o, naming: names, has: map[string]bool{}, places: paths, leaves: leaves}
	if err := m.names(); err != nil {
		return out, err
	}
	var assign []func() error
	made := slices.Clone(leaves)
	for i, name := range m.found {
		if name == nil {
			continue
		}
		v, err := m.value(i, *name)
		if err != nil {
			return out, err
		}
		if x, ok := leaves[i].(*state.Variable); ok {
			if err := m.fits(i, v, x.Spec()); err != nil {
				return out, err
			}
			t := v.(tensor.Tensor)
			assign = append(assign, func() error { return x.Assign(t) })
			continue
		}
		if made[i], err = m.leaf(i, v); err != nil {
			return out, err
		}
	}
	if out, err = nest.Pack(like, made, nest.Options{}); err != nil {
		return out, err
	}
	if err := nest.Check(out); err != nil {
		return out, err
	}
	for _, f := range assign {
		if err := f(); err != nil {
			return out, err
		}
	}
	return out, nil
}

// A match maps the places of a template to the values of a file.
type match struct {
	from   Source
	o      ReadOptions
	naming *naming
	has    map[string]bool // the names in the file, and whether they were used
	places []nest.Path
	leaves []any
	found  []*string // the name of each place's value; nil if there is none
	turned []bool    // the last two axes are swapped
}

func (m *match) names() error {
	all := m.from.Names()
	for _, n := range all {
		m.has[n] = false
	}
	m.found, m.turned = make([]*string, len(m.leaves)), make([]bool, len(m.leaves))
	var report Report
	var missing []string // required ones
	for i, l := range m.leaves {
		_, isValue := l.(tenon.Value)
		_, isSpec := l.(tenon.Spec)
		if !isValue && !isSpec && skipped(l) {
			continue
		}
		name, rule := m.naming.of(m.places[i].String())
		m.turned[i] = rule.Transpose
		_, ok := m.has[name]
		if !ok && name == "" {
			name = tensorName(name) // as for a tree of a single tensor
			_, ok = m.has[name]
		}
		if ok {
			m.has[name], m.found[i] = true, &name
			continue
		}
		report.Missing = append(report.Missing, m.places[i].String())
		if !m.o.Partial || isSpec {
			missing = append(missing, name)
		}
	}
	for _, n := range all {
		if !m.has[n] {
			report.Left = append(report.Left, n)
		}
	}
	if m.o.Report != nil {
		*m.o.Report = report
	}
	if len(missing) > 0 {
		err := m.fail(tenon.ErrNotFound, missing[0], "%d of %d places have no value in the file: %s", len(missing), len(m.leaves), some(missing))
		err.Hint = "the file has " + some(all)
		return err
	}
	if left := report.Left; len(left) > 0 && !m.o.Extra {
		err := m.fail(tenon.ErrInvalid, left[0], "%d of %d values in the file have no place: %s", len(left), len(all), some(left))
		err.Hint = "ReadOptions.Extra ignores them"
		return err
	}
	return nil
}

func (m *match) fail(kind error, where, format string, args ...any) *tenon.Error {
	e := &tenon.Error{Kind: kind, Op: "saved.Read", Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
	if f, ok := m.from.(*File); ok && f.label != "" {
		e.Msg += " (" + f.label + ")"
	}
	return e
}

// value reads the value of a place, transposed and cast as rules and options say.
func (m *match) value(i int, name string) (tenon.Value, error) {
	v, err := m.from.Value(name)
	if err != nil {
		return nil, err
	}
	if m.turned[i] {
		if v, err = turned("saved.Read", m.places[i].String(), v); err != nil {
			return nil, err
		}
	}
	place, ok := typeOf(m.leaves[i])
	if t, isTensor := v.(tensor.Tensor); m.o.Cast && ok && isTensor && t.DType().IsFloat() && place.IsFloat() && t.DType() != place {
		return tenon.Try(func() tenon.Value { return ops.Cast(t, place) })
	}
	return v, nil
}

// typeOf returns the element type of a place for a tensor.
func typeOf(leaf any) (dtype.DType, bool) {
	if v, ok := leaf.(tenon.Value); ok {
		leaf = v.Spec()
	}
	s, ok := leaf.(*tensor.Spec)
	if !ok {
		return dtype.None, false
	}
	return s.DType(), true
}

// some lists the first of many names.
func some(names []string) string {
	const most = 8
	text := strings.Join(names[:min(len(names), most)], ", ")
	if n := len(names) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// fits checks that a value belongs to a Spec.
func (m *match) fits(i int, v tenon.Value, s tenon.Spec) error {
	if tenon.Belongs(v, s) {
		return nil
	}
	kind := tenon.ErrShape
	a, ok := v.(tensor.Tensor)
	b, ok2 := s.(*tensor.Spec)
	if m.o.Sizes && ok && ok2 && a.DType() == b.DType() && a.Shape().Rank() == b.Shape().Rank() {
		return nil
	}
	if ok != ok2 || ok && a.DType() != b.DType() || v.Spec().TypeName() != s.TypeName() {
		kind = tenon.ErrDType
	}
	e := m.fail(kind, m.places[i].String(), "the file has %s, but the place needs %s", tenon.String(v.Spec()), tenon.String(s))
	if ok && ok2 && kind == tenon.ErrShape && a.Shape().Rank() == b.Shape().Rank() {
		e.Hint = "ReadOptions.Sizes takes the sizes of the file"
	}
	return e
}

// cast converts a value to the Spec of its place if the type declares a cast, for instance to
// another order of dimensions. Other values are returned unchanged.
func cast(v tenon.Value, s tenon.Spec) tenon.Value {
	if c, ok := s.(tenon.Caster); ok && v.Spec().TypeName() == s.TypeName() {
		if out, err := c.Cast(v); err == nil {
			return out
		}
	}
	return v
}

// leaf converts a value to the kind of data at a place.
func (m *match) leaf(i int, v tenon.Value) (any, error) {
	switch x := m.leaves[i].(type) {
	case tenon.Spec:
		v = cast(v, x)
		return v, m.fits(i, v, x)
	case tenon.Value:
		v = cast(v, x.Spec())
		return v, m.fits(i, v, x.Spec())
	}
	t, _ := v.(tensor.Tensor)
	if c, ok := op.Known(t); ok {
		if y, ok := goData(c, reflect.TypeOf(m.leaves[i])); ok {
			return y, nil
		}
	}
	return nil, m.fail(tenon.ErrDType, m.places[i].String(), "the file has %s, but the place needs a %T", tenon.String(v.Spec()), m.leaves[i])
}

// goData returns a tensor's elements as a Go value of a type: a scalar, or slices or arrays of
// scalars.
func goData(t tensor.Tensor, typ reflect.Type) (any, bool) {
	rank, elem := 0, typ
	for elem.Kind() == reflect.Slice || elem.Kind() == reflect.Array {
		rank, elem = rank+1, elem.Elem()
	}
	if t.Shape().Rank() != rank || dtype.OfType(elem) != t.DType() {
		return nil, false
	}
	n := t.Shape().Size()
	flat := reflect.MakeSlice(reflect.SliceOf(elem), n, n)
	switch t := t.(type) {
	case *tensor.Strings:
		for i := range n {
			flat.Index(i).SetString(strings.Clone(t.At(i)))
		}
	case *tensor.Dense:
		if int(elem.Size()) != t.DType().Size() {
			return nil, false
		}
		copy(unsafe.Slice((*byte)(flat.UnsafePointer()), n*t.DType().Size()), tensor.Contiguous(t).Bytes())
	}
	out := reflect.New(typ).Elem()
	if !fill(out, flat, t.Shape().Dims()) {
		return nil, false
	}
	return out.Interface(), true
}

// fill sets nested slices and arrays to elements in row-major order.
func fill(out, flat reflect.Value, dims []int) bool {
	if len(dims) == 0 {
		out.Set(flat.Index(0))
		return true
	}
	if out.Kind() == reflect.Array && out.Len() != dims[0] {
		return false
	}
	if out.Kind() == reflect.Slice {
		if len(dims) == 1 {
			out.Set(flat.Convert(out.Type()))
			return true
		}
		out.Set(reflect.MakeSlice(out.Type(), dims[0], dims[0]))
	}
	step := 0
	if dims[0] > 0 {
		step = flat.Len() / dims[0]
	}
	for i := range dims[0] {
		if !fill(out.Index(i), flat.Slice(i*step, (i+1)*step), dims[1:]) {
			return false
		}
	}
	return true
}
