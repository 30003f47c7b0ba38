package saved

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// ReadOptions change how a template and a file are matched. The zero value wants the
// same names in both.
type ReadOptions struct {
	// Rename returns the name in the file for the path of a place in the template, for
	// files that other programs wrote. Nil: the path itself.
	Rename func(path string) string

	// Rules say the same by patterns, and which tensors are transposed. A path that none
	// matches has the name that Rename gives it.
	Rules Rules

	// Cast converts floating tensors to the type of their place: files of 16 bits are read
	// into models of 32.
	Cast bool

	// Partial leaves places as they are for which the file has no value. A Spec cannot
	// stay: it is an error still.
	Partial bool

	// Extra allows values in the file that have no place in the template.
	Extra bool

	// Sizes lets tensors have other sizes than those of the template, but not another rank:
	// what depends on the data that a model was made with, such as a vocabulary and its embeddings.
	Sizes bool
}

// Read returns a structure like the template, with the values of a file. In the places
// of
//
//   - a variable, the variable itself is assigned to, and stays
//   - a Spec, there is a value of that Spec
//   - another Value, there is one of its Spec, static sizes included
//   - Go data, there are data of the same type; arrays have to have their length
//   - functions and channels, these stay
//
// A value that does not fit, a place without a value (an error of kind
// tenon.ErrNotFound) and a value without a place are errors that name the path. After an
// error nothing has been assigned.
func Read[T any](name string, like T, o ...ReadOptions) (T, error) {
	f, err := Open(name)
	if err != nil {
		var zero T
		return zero, err
	}
	defer f.Close()
	return Fill(f, like, o...)
}

// Fill is Read from a file that is open.
func Fill[T any](f *File, like T, options ...ReadOptions) (out T, err error) {
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
	m := &match{f: f, o: o, naming: names, used: map[string]bool{}, places: paths, leaves: leaves}
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

// match brings the places of a template together with the values of a file.
type match struct {
	f      *File
	o      ReadOptions
	naming *naming
	used   map[string]bool
	places []nest.Path
	leaves []any
	found  []*string // the name of each place's value, nil where there is none
	turned []bool    // whose last two axes are exchanged
}

func (m *match) names() error {
	m.found, m.turned = make([]*string, len(m.leaves)), make([]bool, len(m.leaves))
	var missing []string
	for i, l := range m.leaves {
		_, isValue := l.(tenon.Value)
		_, isSpec := l.(tenon.Spec)
		if !isValue && !isSpec && skipped(l) {
			continue
		}
		name, rule := m.naming.of(m.places[i].String())
		m.turned[i] = rule.Transpose
		if m.f.specs[name] == nil && name == "" {
			name = tensorName(name) // as other programs would call it
		}
		if m.f.specs[name] != nil {
			m.used[name] = true
			m.found[i] = &name
		} else if !m.o.Partial || isSpec {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		err := m.f.fail(tenon.ErrNotFound, "saved.Read", missing[0], "%d of %d places have no value in the file: %s", len(missing), len(m.leaves), some(missing))
		err.(*tenon.Error).Hint = "the file has " + some(m.f.names)
		return err
	}
	var extra []string
	for _, n := range m.f.names {
		if !m.used[n] {
			extra = append(extra, n)
		}
	}
	if len(extra) > 0 && !m.o.Extra {
		err := m.f.fail(tenon.ErrInvalid, "saved.Read", extra[0], "%d of %d values in the file have no place: %s", len(extra), len(m.f.names), some(extra))
		err.(*tenon.Error).Hint = "ReadOptions.Extra ignores them"
		return err
	}
	return nil
}

// value reads the value of a place, as rules and options change it.
func (m *match) value(i int, name string) (tenon.Value, error) {
	v, err := m.f.Value(name)
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
	return m.f.fail(kind, "saved.Read", m.places[i].String(), "the file has %s, the place is for %s", tenon.String(v.Spec()), tenon.String(s))
}

// cast returns a value as one of a place's Spec, where the type declares a cast: dimensions
// stored in another order, say. Others stay, and do not fit.
func cast(v tenon.Value, s tenon.Spec) tenon.Value {
	if c, ok := s.(tenon.Caster); ok && v.Spec().TypeName() == s.TypeName() {
		if out, err := c.Cast(v); err == nil {
			return out
		}
	}
	return v
}

// leaf returns a value as what stands in a place.
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
	return nil, m.f.fail(tenon.ErrDType, "saved.Read", m.places[i].String(), "the file has %s, the place is for a %T", tenon.String(v.Spec()), m.leaves[i])
}

// goData returns a tensor's elements as a Go value of a type: a scalar, or slices or
// arrays of them.
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
