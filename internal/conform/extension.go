package main

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// The types that a file of cases declares are Values like any other: a Spec whose
// encoding holds the static fields and the Specs of the others, and components.
// They are written with the public interfaces alone.

// declaredSpec is the Spec of a declared type.
type declaredSpec struct {
	name   string
	fields tenon.NamedTuple
}

func (s *declaredSpec) TypeName() string       { return "conform." + s.name }
func (s *declaredSpec) Encode() tenon.Encoding { return s.fields }

func (s *declaredSpec) Components() []tenon.Field {
	var out []tenon.Field
	for _, f := range s.fields.Fields {
		out = appendComponents(out, f.Name, f.Value)
	}
	return out
}

func appendComponents(out []tenon.Field, name string, e tenon.Encoding) []tenon.Field {
	switch e := e.(type) {
	case tenon.SpecOf:
		out = append(out, tenon.Field{Name: name, Spec: e.Spec})
	case tenon.Tuple:
		for i, x := range e {
			out = appendComponents(out, fmt.Sprintf("%s[%d]", name, i), x)
		}
	case tenon.Dict:
		for _, x := range e {
			out = appendComponents(out, name+"."+x.Name, x.Value)
		}
	}
	return out
}

func (s *declaredSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	d, ok := v.(*declared)
	if !ok || d.spec.name != s.name {
		return nil, tenon.NewError(tenon.ErrDType, s.TypeName(), "the value has another type")
	}
	return slices.Clone(d.components), nil
}

func (s *declaredSpec) Assemble(components []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, components); err != nil {
		return nil, err
	}
	k := 0
	fields, err := tenon.MapSpecs(s.fields, func(tenon.Spec) (tenon.Spec, error) {
		k++
		return components[k-1].Spec(), nil
	}, nil)
	if err != nil {
		return nil, err
	}
	return &declared{&declaredSpec{s.name, fields.(tenon.NamedTuple)}, slices.Clone(components)}, nil
}

// declared is a value of a declared type.
type declared struct {
	spec       *declaredSpec
	components []tenon.Value
}

func (d *declared) Spec() tenon.Spec { return d.spec }

func init() {
	cases.HandleKind("extension", cases.Kind{
		Decode: func(c *cases.Case, o cases.Object) (any, error) {
			if madeByExt(c) {
				return extRecord(c, o)
			}
			s, components, err := declaredType(c, o)
			if err != nil {
				return nil, err
			}
			return &declared{s, components}, nil
		},
		Compare: func(m *cases.Matcher, want cases.Object, got any) error {
			if madeByExt(m.Case) {
				return sameRecord(m, want, got)
			}
			d, ok := got.(*declared)
			if !ok {
				return fmt.Errorf("got a %T, want an extension value", got)
			}
			return sameDeclared(m, want, d)
		},
	})
	cases.HandleKind("extension_spec", cases.Kind{
		Decode: func(c *cases.Case, o cases.Object) (any, error) {
			if madeByExt(c) {
				return extSpec(c, o)
			}
			s, _, err := declaredType(c, o)
			return s, err
		},
		Compare: func(m *cases.Matcher, want cases.Object, got any) error {
			s, ok := got.(tenon.Spec)
			var w tenon.Spec
			var err error
			if madeByExt(m.Case) {
				w, err = extSpec(m.Case, want)
			} else {
				w, _, err = declaredType(m.Case, want)
			}
			if err != nil {
				return err
			}
			if !ok || !tenon.Equal(s, w) {
				return fmt.Errorf("got %v, want %s", got, tenon.Text(w))
			}
			return nil
		},
	})
}

// declaredType reads a value or Spec of a declared type: its Spec, and for a value
// its components.
func declaredType(c *cases.Case, o cases.Object) (*declaredSpec, []tenon.Value, error) {
	name := cases.As[string](o["name"])
	i := slices.IndexFunc(c.File.Types, func(t cases.Type) bool { return t.Name == name })
	if i < 0 {
		return nil, nil, fmt.Errorf("type %q: %w", name, cases.ErrUnknown)
	}
	written := cases.As[cases.Object](o["fields"])
	s := &declaredSpec{name: name, fields: tenon.NamedTuple{Name: name}}
	var components []tenon.Value
	for _, f := range c.File.Types[i].Fields {
		e, values, err := encodeField(c, f.Kind, written[f.Name])
		if err != nil {
			return nil, nil, err
		}
		s.fields.Fields = append(s.fields.Fields, tenon.Entry{Name: f.Name, Value: e})
		components = append(components, values...)
	}
	registerDeclared(s)
	return s, components, nil
}

// registerDeclared makes the type known, the first time.
func registerDeclared(s *declaredSpec) {
	name := s.name
	if !tenon.Registered(s.TypeName()) {
		tenon.Register(s.TypeName(), func(e tenon.Encoding) (tenon.Spec, error) {
			fields, err := tenon.As[tenon.NamedTuple](e)
			return &declaredSpec{name, fields}, err
		})
	}
}

// encodeField returns what a field adds to the encoding, and its components.
func encodeField(c *cases.Case, kind, x any) (tenon.Encoding, []tenon.Value, error) {
	switch kind {
	case "dtype":
		if s, ok := x.(string); ok {
			return tenon.DType{DType: cases.DType(s)}, nil, nil
		}
	case "shape":
		return tenon.Shape{Shape: cases.Shape(x)}, nil, nil
	}
	v, err := c.Decode(x)
	if err != nil {
		return nil, nil, err
	}
	return encodeAny(v)
}

func encodeAny(v any) (tenon.Encoding, []tenon.Value, error) {
	switch v := v.(type) {
	case nil:
		return tenon.Nil{}, nil, nil
	case bool:
		return tenon.Bool(v), nil, nil
	case int:
		return tenon.Int(v), nil, nil
	case float64:
		return tenon.Float(v), nil, nil
	case string:
		return tenon.Str(v), nil, nil
	case dtype.DType:
		return tenon.DType{DType: v}, nil, nil
	case tenon.Value:
		return tenon.SpecOf{Spec: v.Spec()}, []tenon.Value{v}, nil
	case tenon.Spec:
		return tenon.SpecOf{Spec: v}, nil, nil
	case cases.Dict:
		d := map[string]tenon.Encoding{}
		var values []tenon.Value
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			e, vs, err := encodeAny(v[name])
			if err != nil {
				return nil, nil, err
			}
			d[name] = e
			values = append(values, vs...)
		}
		return tenon.NewDict(d), values, nil
	case cases.Tuple:
		return encodeList(v)
	case []any:
		return encodeList(v)
	}
	return nil, nil, fmt.Errorf("a %T in a field: %w", v, cases.ErrUnknown)
}

func encodeList(l []any) (tenon.Encoding, []tenon.Value, error) {
	t := tenon.Tuple{}
	var values []tenon.Value
	for _, x := range l {
		e, vs, err := encodeAny(x)
		if err != nil {
			return nil, nil, err
		}
		t = append(t, e)
		values = append(values, vs...)
	}
	return t, values, nil
}

// sameDeclared compares a value of a declared type with a written one, tensor by
// tensor.
func sameDeclared(m *cases.Matcher, want cases.Object, got *declared) error {
	s, components, err := declaredType(m.Case, want)
	if err != nil {
		return err
	}
	if got.spec.name != s.name {
		return fmt.Errorf("got a %s, want a %s", got.spec.name, s.name)
	}
	if a, b := tenon.Text(got.spec), tenon.Text(s); a != b {
		return fmt.Errorf("got the Spec %s, want %s", a, b)
	}
	w := &declared{s, components}
	ws, err := nest.Flatten(w, nest.Options{Expand: true})
	if err != nil {
		return err
	}
	gs, err := nest.Flatten(got, nest.Options{Expand: true})
	if err != nil {
		return err
	}
	if len(ws) != len(gs) {
		return fmt.Errorf("got %d tensors, want %d", len(gs), len(ws))
	}
	for i := range ws {
		if err := m.MatchDense(ws[i].(tensor.Tensor), gs[i].(tensor.Tensor)); err != nil {
			return fmt.Errorf("component %d: %w", i, err)
		}
	}
	return nil
}
