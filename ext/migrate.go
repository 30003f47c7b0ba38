package ext

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/internal/source"
)

// storedSpec is the Spec of a value that was stored under an older version of its
// type: it has the components of that version, and assembles to a value of the
// current one.
type storedSpec struct {
	info     *info
	version  int64
	encoding tenon.Encoding
	entries  tenon.NamedTuple
	fields   []tenon.Field
}

// checkMigrations checks that migrations lead forward.
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

// Disassemble is an error: values belong to the current version.
func (s *storedSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: s.info.name + ".Disassemble", Line: source.Line(),
		Msg: fmt.Sprintf("the Spec is that of version %d, the value is a %s", s.version, typeNameOf(v)), Hint: "take the value apart by its own Spec"}
}

// Assemble makes a value of the current version.
func (s *storedSpec) Assemble(components []tenon.Value) (v tenon.Value, err error) {
	if err := tenon.CheckComponents(s, components); err != nil {
		return nil, err
	}
	k := 0
	fields := goFields(s.entries.Fields, func() tenon.Value { k++; return components[k-1] })
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
