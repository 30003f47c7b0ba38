package tensor

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// A Plainer is a Value with its own representation in plain Go data; see [Plain].
type Plainer interface {
	tenon.Value
	Plain() (any, error)
}

// A PlainSpec is a Spec that makes its values from plain Go data; see
// [FromPlain].
type PlainSpec interface {
	tenon.Spec
	FromPlain(x any) (tenon.Value, error)
}

// Plain returns a value as plain Go data: a tensor as nested lists ([]any) of Go scalars, a record
// as a map[string]any, and a missing value as nil. A value whose type has no representation of its
// own is a record of its components. It returns an error if the elements do not exist, as in a
// traced function.
func Plain(v tenon.Value) (any, error) {
	v, err := Settled(v)
	if err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case nil:
		return nil, nil
	case Plainer:
		return x.Plain()
	case *Dense:
		x = Contiguous(x)
		elems := reflect.NewAt(reflect.ArrayOf(x.Len(), x.DType().GoType()), x.Raw()).Elem()
		return nested(x.Shape().Dims(), 0, x.Len(), func(i int) any { return elems.Index(i).Interface() }), nil
	case *Strings:
		return nested(x.Shape().Dims(), 0, x.Len(), func(i int) any { return x.At(i) }), nil
	}
	s := v.Spec()
	if tenon.IsLeaf(s) {
		return nil, tenon.NewError(tenon.ErrUnsupported, "tensor.Plain", fmt.Sprintf("the elements of this %T do not exist", v))
	}
	parts, err := s.Disassemble(v)
	if err != nil {
		return nil, err
	}
	fields := s.Components()
	if len(fields) != len(parts) {
		return nil, plainError("", "%s has %d components, its Spec has %d", tenon.String(s), len(parts), len(fields))
	}
	out := make(map[string]any, len(parts))
	for i, f := range fields {
		if out[f.Name], err = Plain(parts[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// nested returns n elements, starting at index from, as nested lists.
func nested(dims []int, from, n int, at func(i int) any) any {
	if len(dims) == 0 {
		return at(from)
	}
	out := make([]any, dims[0])
	for i := range out {
		out[i] = nested(dims[1:], from+i*(n/dims[0]), n/dims[0], at)
	}
	return out
}

// FromPlain makes a value of a Spec from plain Go data. Numbers may be json.Numbers; NaN and
// infinities may be the strings "NaN", "Infinity" and "-Infinity". Data that does not match is an
// error that names the place.
func FromPlain(x any, s tenon.Spec) (tenon.Value, error) {
	switch s := s.(type) {
	case nil:
		return nil, plainError("", "there is no Spec")
	case *Spec:
		return densePlain(x, s)
	case PlainSpec:
		return s.FromPlain(x)
	}
	if tenon.IsLeaf(s) {
		return nil, plainError("", "plain data cannot be converted to %s", tenon.String(s))
	}
	record, ok := x.(map[string]any)
	if !ok {
		return nil, plainError("", "want an object with the components of %s, got %s", tenon.String(s), kindOf(x))
	}
	fields := s.Components()
	parts := make([]tenon.Value, len(fields))
	for i, f := range fields {
		y, ok := record[f.Name]
		if !ok {
			return nil, plainError(f.Name, "is missing from the object for %s", tenon.String(s))
		}
		var err error
		if parts[i], err = FromPlain(y, f.Spec); err != nil {
			return nil, Below(f.Name, err)
		}
	}
	if len(record) != len(fields) {
		for name := range record {
			if !has(fields, name) {
				return nil, plainError(name, "is not a component of %s", tenon.String(s))
			}
		}
	}
	v, err := s.Assemble(parts)
	if err == nil && v == nil {
		err = plainError("", "assembling a %s gives nil", s.TypeName())
	}
	if err != nil {
		return nil, err
	}
	return v, tenon.Check(v)
}

func has(fields []tenon.Field, name string) bool {
	for _, f := range fields {
		if f.Name == name {
			return true
		}
	}
	return false
}

func plainError(where, format string, args ...any) *tenon.Error {
	e := tenon.NewError(tenon.ErrInvalid, "tensor.FromPlain", fmt.Sprintf(format, args...))
	e.Where = where
	return e
}

// Below adds a step to the place in an error of [FromPlain]: the name of a component, or "[3]" for
// an entry of a list.
func Below(step string, err error) error {
	e := *tenon.AsError(err)
	if e.Where != "" && e.Where[0] != '[' {
		step += "."
	}
	e.Where = step + e.Where
	return &e
}

func kindOf(x any) string {
	switch x := x.(type) {
	case nil:
		return "null"
	case []any:
		return fmt.Sprintf("a list of %d", len(x))
	case map[string]any:
		return "an object"
	case json.Number:
		return "the number " + string(x)
	case string:
		return "the string " + strconv.Quote(x)
	}
	return fmt.Sprintf("the %T %v", x, x)
}

// densePlain reads a tensor.
func densePlain(x any, s *Spec) (tenon.Value, error) {
	r := plainReader{d: s.DType()}
	want := s.Shape()
	rank := want.Rank()
	if !want.HasRank() {
		rank = r.depth(x)
	}
	r.rank, r.dims = rank, make([]int, rank)
	for i := range r.dims {
		if r.dims[i] = shape.Unknown; want.HasRank() {
			r.dims[i] = want.Dim(i)
		}
	}
	if err := r.read(x, 0); err != nil {
		return nil, err
	}
	for i, n := range r.dims { // the sizes below an empty list are not known
		r.dims[i] = max(n, 0)
	}
	sh, err := shape.From(r.dims)
	if err != nil {
		return nil, err
	}
	t, err := FromScalars(r.elems, sh, Options{DType: r.d})
	if err != nil {
		return nil, plainError("", "%s", tenon.AsError(err).Msg)
	}
	return t, nil
}

// plainReader gathers the elements of nested lists.
type plainReader struct {
	d     dtype.DType
	rank  int
	dims  []int
	elems []any
}

// depth returns how deeply lists are nested, going by their first entries.
func (r *plainReader) depth(x any) (n int) {
	for ; n < shape.MaxRank; n++ {
		list, ok := x.([]any)
		if !ok || len(list) == 0 {
			if ok {
				n++
			}
			break
		}
		x = list[0]
	}
	if r.d.IsComplex() && n > 0 {
		n-- // the innermost lists are complex numbers
	}
	return n
}

func (r *plainReader) read(x any, axis int) error {
	if axis == r.rank {
		e, err := element(x, r.d)
		r.elems = append(r.elems, e)
		return err
	}
	list, ok := x.([]any)
	if !ok {
		return plainError("", "want a list, got %s", kindOf(x))
	}
	if r.dims[axis] < 0 {
		r.dims[axis] = len(list)
	}
	if len(list) != r.dims[axis] {
		return plainError("", "want a list of %d, got one of %d", r.dims[axis], len(list))
	}
	for i, y := range list {
		if err := r.read(y, axis+1); err != nil {
			return Below(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}

// element returns x as a Go scalar for an element of type d.
func element(x any, d dtype.DType) (any, error) {
	bad := func() error { return plainError("", "want %v, got %s", d, kindOf(x)) }
	switch y := x.(type) {
	case nil:
		return nil, bad()
	case json.Number:
		return number(string(y), d, bad)
	case string:
		switch f := math.Inf(1); {
		case d == dtype.String:
			return y, nil
		case !d.IsFloat() && !d.IsComplex():
		case y == "NaN":
			return math.NaN(), nil
		case y == "Infinity":
			return f, nil
		case y == "-Infinity":
			return -f, nil
		}
		return nil, bad()
	case []any:
		if !d.IsComplex() || len(y) != 2 {
			return nil, bad()
		}
		re, err := element(y[0], dtype.Float64)
		if err != nil {
			return nil, err
		}
		im, err := element(y[1], dtype.Float64)
		if err != nil {
			return nil, err
		}
		a, ok := re.(float64)
		b, ok2 := im.(float64)
		if !ok || !ok2 {
			return nil, bad()
		}
		return complex(a, b), nil
	case map[string]any:
		return nil, bad()
	}
	return x, nil // a Go scalar, which is checked when it is stored in the tensor
}

// number parses the text of a number with the precision of the type.
func number(text string, d dtype.DType, bad func() error) (any, error) {
	switch {
	case d.IsFloat(), d.IsComplex():
		bits := 64
		if d == dtype.Float32 || d == dtype.Complex64 {
			bits = 32
		}
		if f, err := strconv.ParseFloat(text, bits); err == nil {
			return f, nil
		}
	case d.IsInteger():
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return n, nil
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), nil
		}
	}
	return nil, bad()
}
