package tenon

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// Encoding is plain data: what a [Spec] encodes itself as. It is one of [Nil],
// [Bool], [Int], [Float], [Str], [DType], [Shape], [SpecOf], [List], [Tuple],
// [NamedTuple], [Dict] and [Array].
type Encoding interface{ encoding() }

type (
	// Nil is the absence of a value.
	Nil struct{}
	// Bool is a boolean.
	Bool bool
	// Int is an integer.
	Int int64
	// Float is a floating-point number. NaN equals NaN.
	Float float64
	// Str is a string of bytes.
	Str string
	// DType is an element type.
	DType struct{ dtype.DType }
	// Shape is a shape; Specs that differ in one can be subtypes and be merged.
	Shape struct{ shape.Shape }
	// SpecOf is a nested Spec; Specs that differ in one can be subtypes and be merged.
	SpecOf struct{ Spec }
	// List is a sequence whose length is data.
	List []Encoding
	// Tuple is a sequence whose length is part of its kind.
	Tuple []Encoding
	// NamedTuple is a tuple with a name and names for its elements.
	NamedTuple struct {
		Name   string
		Fields []Entry
	}
	// Dict maps strings to encodings. Make one with [NewDict], which sorts the
	// keys.
	Dict []Entry
	// Array is a small tensor of numbers or booleans: little-endian elements in
	// row-major order.
	Array struct {
		DType dtype.DType
		Shape shape.Shape
		Data  string
	}
)

// Entry is a named element of a [NamedTuple] or [Dict].
type Entry struct {
	Name  string
	Value Encoding
}

func (Nil) encoding()        {}
func (Bool) encoding()       {}
func (Int) encoding()        {}
func (Float) encoding()      {}
func (Str) encoding()        {}
func (DType) encoding()      {}
func (Shape) encoding()      {}
func (SpecOf) encoding()     {}
func (List) encoding()       {}
func (Tuple) encoding()      {}
func (NamedTuple) encoding() {}
func (Dict) encoding()       {}
func (Array) encoding()      {}

// NewDict returns the Dict of a map's entries in key order.
func NewDict[V Encoding](m map[string]V) Dict {
	d := make(Dict, 0, len(m))
	for k, v := range m {
		d = append(d, Entry{k, v})
	}
	slices.SortFunc(d, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return d
}

// Get returns the value of a key.
func (d Dict) Get(name string) (Encoding, bool) { return get(d, name) }

// Get returns the value of a field.
func (t NamedTuple) Get(name string) (Encoding, bool) { return get(t.Fields, name) }

func get(entries []Entry, name string) (Encoding, bool) {
	for _, e := range entries {
		if e.Name == name {
			return e.Value, true
		}
	}
	return nil, false
}

// Ints encodes a list of integers.
func Ints[T ~int | ~int64](xs []T) List {
	l := make(List, len(xs))
	for i, x := range xs {
		l[i] = Int(x)
	}
	return l
}

// Strs encodes a list of strings.
func Strs(xs []string) List {
	l := make(List, len(xs))
	for i, x := range xs {
		l[i] = Str(x)
	}
	return l
}

// As returns e as an Encoding of one kind. It is meant for decoders of Specs:
//
//	n, err := tenon.As[tenon.Int](e)
func As[T Encoding](e Encoding) (T, error) {
	t, ok := e.(T)
	if !ok {
		return t, NewError(ErrInvalid, "tenon.As", fmt.Sprintf("the encoding is a %s, not a %s", kindName(e), kindName(t)))
	}
	return t, nil
}

// Elems returns the elements of a Tuple or List with exactly n elements; a
// negative n allows any number.
func Elems(e Encoding, n int) ([]Encoding, error) {
	var elems []Encoding
	switch e := e.(type) {
	case Tuple:
		elems = e
	case List:
		elems = e
	default:
		return nil, NewError(ErrInvalid, "tenon.Elems", fmt.Sprintf("the encoding is a %s, not a tuple or list", kindName(e)))
	}
	if n >= 0 && len(elems) != n {
		return nil, NewError(ErrInvalid, "tenon.Elems", fmt.Sprintf("the encoding has %d elements, not %d", len(elems), n))
	}
	return elems, nil
}

// Unpack takes a Tuple or List apart. It is meant for decoders of Specs. The tuple must have one
// element for each target, of the kind that the target points to.
//
//	var d tenon.DType
//	var s tenon.Shape
//	err := tenon.Unpack(e, &d, &s)
func Unpack(e Encoding, targets ...any) error {
	elems, err := Elems(e, len(targets))
	if err != nil {
		return err
	}
	for i, x := range elems {
		to, v := reflect.ValueOf(targets[i]).Elem(), reflect.ValueOf(x)
		if !v.IsValid() || !v.Type().AssignableTo(to.Type()) {
			want, _ := to.Interface().(Encoding)
			return NewError(ErrInvalid, "tenon.Unpack", fmt.Sprintf("element %d of the encoding is a %s, not a %s", i, kindName(x), kindName(want)))
		}
		to.Set(v)
	}
	return nil
}

func kindName(e Encoding) string {
	switch e.(type) {
	case Nil:
		return "nil"
	case Bool:
		return "bool"
	case Int:
		return "int"
	case Float:
		return "float"
	case Str:
		return "string"
	case DType:
		return "dtype"
	case Shape:
		return "shape"
	case SpecOf:
		return "spec"
	case List:
		return "list"
	case Tuple:
		return "tuple"
	case NamedTuple:
		return "named tuple"
	case Dict:
		return "dict"
	case Array:
		return "array"
	}
	return "nothing"
}

// EqualEncoding reports whether two encodings are the same data.
func EqualEncoding(a, b Encoding) bool {
	return relate(a, b, relation{
		shapes: func(s, t shape.Shape) bool { return s.Equal(t) },
		specs:  Equal,
	})
}

// relation says how the parts of an encoding that may vary are compared; all
// other parts must be equal.
type relation struct {
	shapes func(s, t shape.Shape) bool
	specs  func(s, t Spec) bool
}

func relate(a, b Encoding, r relation) bool {
	switch a := a.(type) {
	case Float:
		b, ok := b.(Float)
		return ok && (a == b && math.Signbit(float64(a)) == math.Signbit(float64(b)) || a != a && b != b)
	case Shape:
		b, ok := b.(Shape)
		return ok && r.shapes(a.Shape, b.Shape)
	case SpecOf:
		b, ok := b.(SpecOf)
		return ok && r.specs(a.Spec, b.Spec)
	case List:
		b, ok := b.(List)
		return ok && slices.EqualFunc(a, b, func(x, y Encoding) bool { return relate(x, y, r) })
	case Tuple:
		b, ok := b.(Tuple)
		return ok && slices.EqualFunc(a, b, func(x, y Encoding) bool { return relate(x, y, r) })
	case NamedTuple:
		b, ok := b.(NamedTuple)
		return ok && a.Name == b.Name && relateEntries(a.Fields, b.Fields, r)
	case Dict:
		b, ok := b.(Dict)
		return ok && relateEntries(a, b, r)
	case Array:
		b, ok := b.(Array)
		return ok && a.DType == b.DType && a.Shape.Equal(b.Shape) && a.Data == b.Data
	default: // Nil, Bool, Int, Str and DType are comparable
		return a == b
	}
}

func relateEntries(a, b []Entry, r relation) bool {
	return slices.EqualFunc(a, b, func(x, y Entry) bool { return x.Name == y.Name && relate(x.Value, y.Value, r) })
}

// merge returns the encoding above a and b: shapes are joined, nested Specs
// merged, everything else must be equal.
func merge(a, b Encoding) (Encoding, bool) {
	switch a := a.(type) {
	case Shape:
		b, ok := b.(Shape)
		if !ok {
			return nil, false
		}
		return Shape{shape.Join(a.Shape, b.Shape)}, true
	case SpecOf:
		b, ok := b.(SpecOf)
		if !ok {
			return nil, false
		}
		s, ok := Merge(a.Spec, b.Spec)
		return SpecOf{s}, ok
	case List:
		b, ok := b.(List)
		if !ok {
			return nil, false
		}
		m, ok := mergeSlices(a, b)
		return List(m), ok
	case Tuple:
		b, ok := b.(Tuple)
		if !ok {
			return nil, false
		}
		m, ok := mergeSlices(a, b)
		return Tuple(m), ok
	case NamedTuple:
		b, ok := b.(NamedTuple)
		if !ok || a.Name != b.Name {
			return nil, false
		}
		m, ok := mergeEntries(a.Fields, b.Fields)
		return NamedTuple{a.Name, m}, ok
	case Dict:
		b, ok := b.(Dict)
		if !ok {
			return nil, false
		}
		m, ok := mergeEntries(a, b)
		return Dict(m), ok
	}
	return a, EqualEncoding(a, b)
}

func mergeSlices(a, b []Encoding) ([]Encoding, bool) {
	if len(a) != len(b) {
		return nil, false
	}
	m := make([]Encoding, len(a))
	for i := range a {
		var ok bool
		if m[i], ok = merge(a[i], b[i]); !ok {
			return nil, false
		}
	}
	return m, true
}

func mergeEntries(a, b []Entry) ([]Entry, bool) {
	if len(a) != len(b) {
		return nil, false
	}
	m := make([]Entry, len(a))
	for i := range a {
		if a[i].Name != b[i].Name {
			return nil, false
		}
		v, ok := merge(a[i].Value, b[i].Value)
		if !ok {
			return nil, false
		}
		m[i] = Entry{a[i].Name, v}
	}
	return m, true
}

// MapSpecs returns e with every nested Spec replaced by the result of f, and
// every shape by the result of g. A nil function leaves its kind unchanged. It
// serves to write generic rules, such as adding a batch axis to every field.
func MapSpecs(e Encoding, f func(Spec) (Spec, error), g func(shape.Shape) (shape.Shape, error)) (Encoding, error) {
	each := func(es []Encoding) ([]Encoding, error) {
		out := make([]Encoding, len(es))
		for i, x := range es {
			var err error
			if out[i], err = MapSpecs(x, f, g); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	entries := func(es []Entry) ([]Entry, error) {
		out := make([]Entry, len(es))
		for i, x := range es {
			v, err := MapSpecs(x.Value, f, g)
			if err != nil {
				return nil, err
			}
			out[i] = Entry{x.Name, v}
		}
		return out, nil
	}
	switch e := e.(type) {
	case Shape:
		if g == nil {
			return e, nil
		}
		s, err := g(e.Shape)
		return Shape{s}, err
	case SpecOf:
		if f == nil {
			return e, nil
		}
		s, err := f(e.Spec)
		return SpecOf{s}, err
	case List:
		out, err := each(e)
		return List(out), err
	case Tuple:
		out, err := each(e)
		return Tuple(out), err
	case NamedTuple:
		out, err := entries(e.Fields)
		return NamedTuple{e.Name, out}, err
	case Dict:
		out, err := entries(e)
		return Dict(out), err
	}
	return e, nil
}
