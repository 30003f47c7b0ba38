package ext

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

// storedSpec is the Spec of a value that was stored under an older version of its
// type. It has the components of that version and assembles values of the current
// one.
type storedSpec struct {
	info     *info
	version  int64
	encoding tenon.Encoding
	entries  tenon.NamedTuple
	fields   []tenon.Field
}

// checkMigrations checks that every migration leads to a later version.
func (i *info) checkMigrations() error {
	for from, m := range i.migrate {
		if m.Do == nil || m.To <= from || m.To > i.version || from == i.version {
			return &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Register", Where: fmt.Sprintf("Migrations[%d]", from), Line: i.line,
				Msg: fmt.Sprintf("leads from version %d to %d; the type has version %d", from, m.To, i.version)}
		}
	}
	return nil
}

// stored returns the Spec of an older version.
func (i *info) stored(version int64, e tenon.Encoding, fields tenon.NamedTuple) (tenon.Spec, error) {
	if _, ok := i.migrate[int(version)]; !ok || int64(int(version)) != version {
		return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: i.name, Line: source.Line(),
			Msg:  fmt.Sprintf("was stored under version %d, this program has version %d, and migrations from %v", version, i.version, slices.Sorted(maps.Keys(i.migrate))),
			Hint: "declare ext.Options.Migrations for that version"}
	}
	s := &storedSpec{info: i, version: version, encoding: e, entries: fields}
	for _, x := range fields.Fields {
		if err := s.walk(x.Name, x.Value); err != nil {
			return nil, err
		}
	}
	for k, f := range s.fields {
		if slices.ContainsFunc(s.fields[:k], func(g tenon.Field) bool { return g.Name == f.Name }) {
			return nil, codec.Bad("two components are called %q", f.Name)
		}
	}
	return s, nil
}

// walk finds the Specs of components.
func (s *storedSpec) walk(path string, e tenon.Encoding) error {
	switch e := e.(type) {
	case tenon.SpecOf:
		if e.Spec == nil || path == "" {
			return codec.Bad("the Spec of %q is nil", path)
		}
		s.fields = append(s.fields, tenon.Field{Name: path, Spec: e.Spec})
	case tenon.List:
		return s.elems(path, e)
	case tenon.Tuple:
		return s.elems(path, e)
	case tenon.Dict:
		for _, x := range e {
			if err := s.walk(path+codec.Entry(x.Name), x.Value); err != nil {
				return err
			}
		}
	case tenon.NamedTuple:
		if e.Name == codec.Static {
			return nil
		}
		for _, x := range e.Fields {
			if err := s.walk(codec.Join(path, x.Name), x.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *storedSpec) elems(path string, es []tenon.Encoding) error {
	for i, x := range es {
		if err := s.walk(path+codec.At(i), x); err != nil {
			return err
		}
	}
	return nil
}

// TypeName returns the name that the type is registered under.
func (s *storedSpec) TypeName() string { return s.info.name }

// Encode returns the encoding as it was stored.
func (s *storedSpec) Encode() tenon.Encoding { return s.encoding }

// Components returns the components as they were stored.
func (s *storedSpec) Components() []tenon.Field { return s.fields }

// CompatibleWith reports whether the other Spec is compatible and of the same version, or of the
// current version, since Assemble makes values of that one. Disassemble decides whether the older
// version can represent a value.
func (s *storedSpec) CompatibleWith(other tenon.Spec) bool {
	if now, ok := specOf(other); ok && now.info == s.info {
		return true
	}
	return tenon.CompatibleByEncoding(s, other)
}

// Disassemble takes a value of the current version apart into the components with which it would
// have been stored in the older version, so that the migrations restore it. It finds out where a
// migration puts each component by passing it marked ones, so that fields may have been renamed or
// moved. It returns an error if the older version cannot represent the value.
func (s *storedSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	fail := func(msg string, cause error) ([]tenon.Value, error) {
		return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: s.info.name + ".Disassemble", Line: source.Line(),
			Msg: fmt.Sprintf("the value cannot be one of version %d: %s", s.version, msg), Err: cause}
	}
	if v == nil || words(&v)[1] == nil {
		return fail("it is nil", nil)
	}
	now, ok := specOf(v.Spec())
	if !ok || now.info != s.info {
		return fail("it is a "+typeNameOf(v), nil)
	}
	all, err := now.Disassemble(v)
	if err != nil {
		return nil, err
	}
	out, at, err := s.components(now, all)
	if err != nil {
		return fail("its version's fields", err)
	}
	if at >= 0 {
		return fail(fmt.Sprintf("none of its components is %q", s.fields[at].Name), nil)
	}
	again, err := s.Assemble(out)
	if err != nil {
		return fail("its components", err)
	}
	if !tenon.Equal(again.Spec(), v.Spec()) {
		return fail(fmt.Sprintf("the migrations make %s of its components, it is %s", tenon.String(again.Spec()), tenon.String(v.Spec())), nil)
	}
	back, err := now.Disassemble(again)
	if err != nil {
		return nil, err
	}
	for k, x := range back {
		if *words(&x) != *words(&all[k]) && !tensor.Equal(x, all[k], tensor.EqualOptions{NaN: true}) {
			return fail(fmt.Sprintf("the migrations make another %s", now.fields[k].Name), nil)
		}
	}
	return out, nil
}

// components arranges all, the components of the current version, in the positions from which the
// migrations take those of the older one. It also returns the index of a component that has no
// position, or -1.
func (s *storedSpec) components(now *Spec, all []tenon.Value) (out []tenon.Value, missing int, err error) {
	marks, missing := s.marks(now, all)
	if missing >= 0 {
		return nil, missing, nil
	}
	moved, err := s.migrated(marks)
	if err != nil {
		return nil, 0, err
	}
	t, _ := tenon.Elems(now.Encode(), 2)
	entries, _ := tenon.As[tenon.NamedTuple](t[1])
	k := 0
	fields := goFields(entries.Fields, func() tenon.Value { k++; return all[k-1] })
	out = make([]tenon.Value, len(marks))
	side(moved, fields, func(a, b tenon.Value) {
		for k, m := range marks {
			if *words(&m) == *words(&a) {
				out[k] = b
			}
		}
	})
	return out, missingIn(out), nil
}

// marks returns a placeholder value for each component, since migrations may look at it: the
// component of the same name, or another one that fits. A tensor may serve several times, each time
// as a different view. It also returns the index of a component for which there is no placeholder,
// or -1.
func (s *storedSpec) marks(now *Spec, all []tenon.Value) (out []tenon.Value, missing int) {
	out, used := make([]tenon.Value, len(s.fields)), make([]bool, len(all))
	for _, takes := range []func(j int, name string) bool{
		func(j int, name string) bool { return now.fields[j].Name == name },
		func(j int, _ string) bool { return !used[j] },
		func(int, string) bool { return true },
	} {
		for k, f := range s.fields {
			for j := 0; j < len(all) && out[k] == nil; j++ {
				if takes(j, f.Name) && tenon.Compatible(all[j].Spec(), f.Spec) {
					out[k], used[j] = all[j], true
				}
			}
		}
	}
	for k, x := range out {
		if d, ok := x.(*tensor.Dense); ok {
			out[k] = d.View(0, d.Shape(), d.Strides())
		}
	}
	return out, missingIn(out)
}

// missingIn returns the index of the first missing component, or -1.
func missingIn(components []tenon.Value) int {
	return slices.IndexFunc(components, func(x tenon.Value) bool { return x == nil })
}

// side calls f with the Values at the same places in two pieces of Go data.
func side(a, b any, f func(a, b tenon.Value)) {
	switch x := a.(type) {
	case tenon.Value:
		if y, ok := b.(tenon.Value); ok {
			f(x, y)
		}
	case []any:
		y, _ := b.([]any)
		for i := range min(len(x), len(y)) {
			side(x[i], y[i], f)
		}
	case map[string]any:
		y, _ := b.(map[string]any)
		for name := range x {
			side(x[name], y[name], f)
		}
	}
}

// migrated returns the fields of the current version that the migrations make from components.
func (s *storedSpec) migrated(components []tenon.Value) (fields map[string]any, err error) {
	k := 0
	fields = goFields(s.entries.Fields, func() tenon.Value { k++; return components[k-1] })
	for at := int(s.version); at != s.info.version; {
		m, ok := s.info.migrate[at]
		if !ok {
			return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: s.info.name, Msg: fmt.Sprintf("there is no migration from version %d", at), Line: source.Line()}
		}
		if thrown := catching(func() { fields, err = m.Do(fields) }); thrown != nil {
			err = thrown
		}
		if err != nil {
			return nil, codec.Within(fmt.Sprintf("migration from version %d", at), err)
		}
		at = m.To
	}
	return fields, nil
}

// Assemble makes a value of the current version.
func (s *storedSpec) Assemble(components []tenon.Value) (v tenon.Value, err error) {
	if err := tenon.CheckComponents(s, components); err != nil {
		return nil, err
	}
	fields, err := s.migrated(components)
	if err != nil {
		return nil, err
	}
	p := reflect.New(s.info.node.typ).UnsafePointer()
	if err := buildFields(s.info.node.flat(0, nil), p, fields); err != nil {
		e := *tenon.AsError(err)
		e.Op, e.Line = s.info.name, source.Line()
		return nil, &e
	}
	v = s.info.box(p)
	return v, s.info.check(v, p)
}

// String prints the type and the version.
func (s *storedSpec) String() string {
	return fmt.Sprintf("%s (version %d)%s", s.info.short, s.version, entriesText(s.entries.Fields))
}
