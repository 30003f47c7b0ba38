package main

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"
)

const module = "github.com/tenonml/tenon"

// A kind says how a type is walked, as in package ext.
type kind int

const (
	static kind = iota // compared and encoded as it is
	bytesKind
	dtypeKind
	shapeKind
	specKind
	scalarKind
	place
	behind
	structKind
	sliceKind
	arrayKind
	mapKind
	pointerKind
)

// A field is a field that takes part; the fields of embedded structs replace these.
type field struct {
	name string // in paths and encodings
	expr string // how it is accessed: "Values", "Base.Values"
	typ  types.Type
	tag  tag
}

// A tag is what the generator needs of a field's tag.
type tag struct {
	static, optional bool
	typeName         string
}

// A classifier determines the kinds of types.
type classifier struct{ value *types.Interface }

func newClassifier(p *types.Package) (*classifier, error) {
	root := findPackage(p, module)
	if root == nil {
		return nil, fmt.Errorf("package %s does not import %s", p.Path(), module)
	}
	return &classifier{root.Scope().Lookup("Value").Type().Underlying().(*types.Interface)}, nil
}

// isNamed reports whether t is a type of one of the module's packages.
func isNamed(t types.Type, pkg, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == strings.TrimSuffix(module+"/"+pkg, "/") && n.Obj().Name() == name
}

func (c *classifier) kindOf(t types.Type, tag tag) (kind, error) {
	switch {
	case isNamed(t, "tensor", "Tensor"), isNamed(t, "", "Value"):
		return place, nil
	case isNamed(t, "dtype", "DType"):
		return dtypeKind, nil
	case isNamed(t, "shape", "Shape"):
		return shapeKind, nil
	case isNamed(t, "", "Spec"):
		return specKind, nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		if _, ok := p.Elem().Underlying().(*types.Struct); ok && types.Implements(p.Elem(), c.value) {
			return behind, nil
		}
	}
	if types.Implements(t, c.value) {
		return place, nil
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&(types.IsBoolean|types.IsInteger|types.IsString) != 0 || u.Info()&types.IsFloat != 0 {
			return static, nil
		}
	case *types.Interface:
		if u.NumMethods() == 0 && tag.static {
			return scalarKind, nil
		}
	case *types.Slice:
		if b, ok := u.Elem().Underlying().(*types.Basic); ok && b.Kind() == types.Uint8 {
			return bytesKind, nil
		}
		return sliceKind, nil
	case *types.Array:
		return arrayKind, nil
	case *types.Map:
		if b, ok := u.Key().Underlying().(*types.Basic); ok && b.Kind() == types.String {
			return mapKind, nil
		}
	case *types.Pointer:
		return pointerKind, nil
	case *types.Struct:
		return structKind, nil
	}
	return 0, fmt.Errorf("a %v is neither a Value nor static data", t)
}

// elem returns the type of the elements of a container.
func elem(t types.Type) types.Type {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return u.Elem()
	case *types.Array:
		return u.Elem()
	case *types.Map:
		return u.Elem()
	case *types.Pointer:
		return u.Elem()
	}
	return nil
}

// fieldsOf returns the fields of a struct in the order that package ext uses.
func fieldsOf(t types.Type) ([]field, error) {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil, fmt.Errorf("%v is not a struct", t)
	}
	var out []field
	for i := range s.NumFields() {
		f := s.Field(i)
		x := field{name: f.Name(), expr: f.Name(), typ: f.Type()}
		items := strings.Split(reflect.StructTag(s.Tag(i)).Get("tenon"), ",")
		if slices.Contains(items, "-") {
			continue
		}
		for _, item := range items {
			switch key, value, _ := strings.Cut(strings.TrimSpace(item), "="); key {
			case "name":
				x.name = value
			case "static":
				x.tag.static = true
			case "optional":
				x.tag.optional = true
			case "type":
				x.tag.typeName = value
			}
		}
		if !f.Exported() && !f.Embedded() {
			return nil, fmt.Errorf("%s: the field is not exported", f.Name())
		}
		if f.Embedded() {
			inner, err := fieldsOf(f.Type())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name(), err)
			}
			for _, y := range inner {
				y.expr = f.Name() + "." + y.expr
				out = append(out, y)
			}
			continue
		}
		out = append(out, x)
	}
	return out, nil
}

// places reports whether a type holds Values. A recursive type is an error.
func (c *classifier) places(t types.Type, tag tag, inside []types.Type) (bool, error) {
	if slices.ContainsFunc(inside, func(o types.Type) bool { return types.Identical(o, t) }) {
		return false, fmt.Errorf("%v is recursive; leave it to ext.Register", t)
	}
	k, err := c.kindOf(t, tag)
	if err != nil {
		return false, err
	}
	switch k {
	case place, behind:
		return true, nil
	case sliceKind, arrayKind, mapKind, pointerKind:
		return c.places(elem(t), tag, append(inside, t))
	case structKind:
		fields, err := fieldsOf(t)
		if err != nil {
			return false, err
		}
		any := false
		for _, f := range fields {
			p, err := c.places(f.typ, f.tag, append(inside, t))
			if err != nil {
				return false, fmt.Errorf("%s: %w", f.name, err)
			}
			any = any || p
		}
		return any, nil
	}
	return false, nil
}
