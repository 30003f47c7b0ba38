package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/tensor"
)

// The types that the group extension declares are made by package ext, of Go struct
// types that are put together here. In other groups they are written by hand with the
// public interfaces (extension.go), so that both ways are tested.

// madeByExt reports whether the types of a case's file are made by package ext.
func madeByExt(c *cases.Case) bool { return c.File.Group == "extension" }

var extTypes = map[string]*ext.Type{}

// extType returns the type that a case's file declares under a name.
func extType(c *cases.Case, name string) (*ext.Type, cases.Type, error) {
	i := slices.IndexFunc(c.File.Types, func(t cases.Type) bool { return t.Name == name })
	if i < 0 {
		return nil, cases.Type{}, fmt.Errorf("type %q: %w", name, cases.ErrUnknown)
	}
	decl := c.File.Types[i]
	full := c.File.Group + "." + name
	if t, ok := extTypes[full]; ok {
		return t, decl, nil
	}
	var fields []reflect.StructField
	for k, f := range decl.Fields {
		t, tags, err := goType(c, f.Kind)
		if err != nil {
			return nil, decl, err
		}
		if text, ok := defaultText(f); ok {
			tags = append(tags, "default="+text)
		}
		fields = append(fields, structField(k, f.Name, t, append(tags, rules(decl, f.Name)...)))
	}
	t, err := ext.Declare(full, reflect.StructOf(fields))
	if err != nil {
		return nil, decl, fmt.Errorf("type %q: %w", name, err)
	}
	extTypes[full] = t
	return t, decl, nil
}

func structField(k int, name string, t reflect.Type, tags []string) reflect.StructField {
	return reflect.StructField{Name: "F" + strconv.Itoa(k), Type: t,
		Tag: reflect.StructTag("tenon:" + strconv.Quote(strings.Join(append([]string{"name=" + name}, tags...), ",")))}
}

// defaultText returns a field's default as a tag has it.
func defaultText(f cases.TypeField) (string, bool) {
	if f.Default == nil || string(f.Default) == "null" {
		return "", false
	}
	var s string
	if json.Unmarshal(f.Default, &s) == nil {
		return s, !strings.ContainsAny(s, ",")
	}
	return string(f.Default), true
}

// rules returns the tags of a field for the rules of a type.
func rules(t cases.Type, name string) []string {
	var tags []string
	for _, r := range t.Validate {
		switch r["rule"] {
		case "dtype":
			if r["field"] == name {
				tags = append(tags, "dtype="+r["dtype"].(string))
			}
		case "same_shape":
			if fs := cases.List[string](r["fields"]); slices.Contains(fs[1:], name) {
				tags = append(tags, "shape="+fs[0])
			}
		case "rank_is_length":
			if r["field"] == name {
				tags = append(tags, fmt.Sprintf("rank=len(%s)", r["of"]))
			}
		}
	}
	return tags
}

// goType returns the Go type and the tags of a field of some kind.
func goType(c *cases.Case, kind any) (reflect.Type, []string, error) {
	switch kind {
	case "int":
		return reflect.TypeFor[int](), nil, nil
	case "float":
		return reflect.TypeFor[float64](), nil, nil
	case "bool":
		return reflect.TypeFor[bool](), nil, nil
	case "string":
		return reflect.TypeFor[string](), nil, nil
	case "dtype":
		return reflect.TypeFor[dtype.DType](), nil, nil
	case "shape":
		return reflect.TypeFor[shape.Shape](), nil, nil
	case "tensor":
		return reflect.TypeFor[tensor.Tensor](), []string{"dense"}, nil
	case "ragged":
		return reflect.TypeFor[tenon.Value](), []string{"type=" + ragged.TypeName}, nil
	case "sparse":
		return reflect.TypeFor[tenon.Value](), []string{"type=" + sparse.TypeName}, nil
	}
	o, ok := kind.(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("kind %v: %w", kind, cases.ErrUnknown)
	}
	for what, of := range o {
		switch what {
		case "type":
			_, _, err := extType(c, of.(string))
			return reflect.TypeFor[tenon.Value](), []string{"type=" + c.File.Group + "." + of.(string)}, err
		case "tuple":
			var fields []reflect.StructField
			for k, x := range of.([]any) {
				t, tags, err := goType(c, x)
				if err != nil {
					return nil, nil, err
				}
				fields = append(fields, structField(k, strconv.Itoa(k), t, tags))
			}
			return reflect.StructOf(fields), nil, nil
		case "sequence":
			t, tags, err := goType(c, of)
			if err != nil {
				return nil, nil, err
			}
			return reflect.SliceOf(t), tags, nil
		case "mapping":
			t, tags, err := goType(c, of)
			if err != nil {
				return nil, nil, err
			}
			return reflect.MapOf(reflect.TypeFor[string](), t), tags, nil
		case "optional":
			t, tags, err := goType(c, of)
			if err == nil && t.Kind() != reflect.Interface {
				t = reflect.PointerTo(t)
			}
			return t, append(tags, "optional"), err
		case "union":
			return unionType(of.([]any))
		}
	}
	return nil, nil, fmt.Errorf("kind %v: %w", kind, cases.ErrUnknown)
}

// unionType is one of several kinds of scalars, or one of several kinds of Values.
func unionType(kinds []any) (reflect.Type, []string, error) {
	var names []string
	values := 0
	for _, k := range kinds {
		switch k {
		case "int", "bool", "string":
			names = append(names, k.(string))
		case "float":
			names = append(names, "float64")
		case "tensor", "ragged", "sparse":
			values++
		default:
			return nil, nil, fmt.Errorf("kind %v in a union: %w", k, cases.ErrUnknown)
		}
	}
	switch {
	case values == len(kinds):
		return reflect.TypeFor[tenon.Value](), nil, nil
	case values > 0:
		return nil, nil, fmt.Errorf("kinds %v in a union: %w", kinds, cases.ErrUnknown)
	}
	return reflect.TypeFor[any](), []string{"static", "oneof=" + strings.Join(names, "|")}, nil
}

// goField returns a decoded field as package ext takes it.
func goField(kind, x any) (any, error) {
	each := func(l []any, kindOf func(i int) any) (any, error) {
		out := make([]any, len(l))
		for i := range l {
			var err error
			if out[i], err = goField(kindOf(i), l[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	switch kind {
	case "dtype":
		if s, ok := x.(string); ok {
			return dtype.Parse(s)
		}
	case "shape":
		if _, list := x.([]any); list || x == nil {
			return cases.Shape(x), nil
		}
	case "tensor": // numbers have the reference's types
		switch x.(type) {
		case int, float64, []any:
			return tensor.Const(x, tensor.Options{Int: dtype.Int32, Float: dtype.Float32})
		}
	}
	o, _ := kind.(map[string]any)
	for what, of := range o {
		switch l := x.(type) {
		case []any:
			return each(l, func(i int) any { return elemKind(what, of, i) })
		case cases.Tuple:
			return each(l, func(i int) any { return elemKind(what, of, i) })
		case cases.Dict:
			out := map[string]any{}
			for k, v := range l {
				var err error
				if out[k], err = goField(of, v); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
		if what == "optional" && x != nil {
			return goField(of, x)
		}
	}
	return x, nil
}

func elemKind(what string, of any, i int) any {
	if kinds, ok := of.([]any); ok && what == "tuple" {
		if i < len(kinds) {
			return kinds[i]
		}
		return nil
	}
	return of
}

// extRecord reads a written value of a type that package ext makes.
func extRecord(c *cases.Case, o cases.Object) (*ext.Record, error) {
	t, decl, err := extType(c, cases.As[string](o["name"]))
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	for name, w := range cases.As[cases.Object](o["fields"]) {
		i := slices.IndexFunc(decl.Fields, func(f cases.TypeField) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("the case has a field %q, which %s has not", name, decl.Name)
		}
		x, err := decodeField(c, decl.Fields[i].Kind, w)
		if err != nil {
			return nil, err
		}
		fields[name] = x
	}
	return t.Make(fields)
}

func decodeField(c *cases.Case, kind, written any) (any, error) {
	if kind == "shape" {
		return cases.Shape(written), nil
	}
	x, err := c.Decode(written)
	if err != nil {
		return nil, err
	}
	return goField(kind, x)
}

// extSpec reads a written Spec of a type that package ext makes.
func extSpec(c *cases.Case, o cases.Object) (tenon.Spec, error) {
	t, decl, err := extType(c, cases.As[string](o["name"]))
	if err != nil {
		return nil, err
	}
	fields := tenon.NamedTuple{Name: decl.Name}
	written := cases.As[cases.Object](o["fields"])
	for _, f := range decl.Fields {
		x, err := decodeField(c, f.Kind, written[f.Name])
		if err != nil {
			return nil, err
		}
		e, err := specField(f.Kind, x)
		if err != nil {
			return nil, err
		}
		fields.Fields = append(fields.Fields, tenon.Entry{Name: f.Name, Value: e})
	}
	return tenon.Decode(t.Name(), tenon.Tuple{tenon.Int(0), fields})
}

// specField returns the encoding of a field of a Spec.
func specField(kind, x any) (tenon.Encoding, error) {
	o, _ := kind.(map[string]any)
	for what, of := range o {
		switch what {
		case "tuple":
			out := tenon.NamedTuple{Name: "struct"}
			for i, y := range x.([]any) {
				e, err := specField(elemKind(what, of, i), y)
				if err != nil {
					return nil, err
				}
				out.Fields = append(out.Fields, tenon.Entry{Name: strconv.Itoa(i), Value: e})
			}
			return out, nil
		case "sequence":
			out := tenon.List{}
			for _, y := range x.([]any) {
				e, err := specField(of, y)
				if err != nil {
					return nil, err
				}
				out = append(out, e)
			}
			return out, nil
		case "mapping":
			out := map[string]tenon.Encoding{}
			for k, y := range x.(map[string]any) {
				var err error
				if out[k], err = specField(of, y); err != nil {
					return nil, err
				}
			}
			return tenon.NewDict(out), nil
		case "optional":
			e, err := specField(of, x)
			if t, _, _ := goType(nil, of); err == nil && x != nil && t != nil && t.Kind() != reflect.Interface {
				return tenon.Tuple{e}, nil
			}
			return e, err
		}
	}
	switch x := x.(type) {
	case shape.Shape:
		return tenon.Shape{Shape: x}, nil
	case tenon.Spec:
		return tenon.SpecOf{Spec: x}, nil
	}
	e, values, err := encodeAny(x)
	if err == nil && len(values) > 0 {
		err = errors.New("a value stands in the Spec of an extension type")
	}
	return e, err
}

// sameRecord compares a value with a written one, tensor by tensor.
func sameRecord(m *cases.Matcher, want cases.Object, got any) error {
	w, err := extRecord(m.Case, want)
	if err != nil {
		return err
	}
	g, ok := got.(*ext.Record)
	if !ok {
		return fmt.Errorf("got a %T, want an extension value", got)
	}
	if !tenon.Equal(g.Spec(), w.Spec()) {
		return fmt.Errorf("got the Spec %s, want %s", tenon.Text(g.Spec()), tenon.Text(w.Spec()))
	}
	ws, err := nest.Flatten(w, nest.Options{Expand: true})
	if err != nil {
		return err
	}
	gs, err := nest.Flatten(g, nest.Options{Expand: true})
	if err != nil {
		return err
	}
	for i := range ws {
		if err := m.MatchDense(ws[i].(tensor.Tensor), gs[i]); err != nil {
			return fmt.Errorf("component %d: %w", i, err)
		}
	}
	return nil
}
