package jsoncol

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tenonml/tenon/dtype"
)

// A Schema is the type of a column, including the policy for missing values. A reader does not
// modify the Schema it is given; its result has its own.
type Schema struct {
	// Kind is the type. Null means that it is inferred from the data.
	Kind Kind
	// DType is the element type in which a leaf is stored; None means the default of the kind. For
	// Int64 it may be any integer type, and for Float64 any real floating-point type.
	DType dtype.DType
	// Missing is the policy for null, and for records without this field.
	Missing Missing
	// Default is the value of a leaf for MissingDefault: a bool, an int64, a float64 or a string.
	// Nil means the zero of the type.
	Default any
	// Elem is the type of a List's elements.
	Elem *Schema
	// Fields are the fields of a Struct, in order, or the alternatives of a Union. The names of
	// alternatives do not matter; their kinds must be of different JSON types.
	Fields []SchemaField
	// Text makes any value a String: its JSON text, verbatim.
	Text bool
	// Open lets a Struct accept keys that are not among its fields; their types are inferred.
	Open bool

	nulls    bool   // null was seen, and nothing else
	inferred bool   // inferred, so later data may widen it
	want     *paths // what to read of an inferred struct; nil means everything

	// For inference, of a field: its position among its parent's, where in the
	// chunk it was found (-1: in an earlier one), and the object in which it was seen last.
	seen     int // values that inference counted here
	position int
	at       int
	row      int64 // the record of that position, counted from the first that inference saw
	stamp    uint64
	index    map[string]*Schema // fields by name, once there are many
}

// A SchemaField is a named part of a Schema.
type SchemaField struct {
	Name   string
	Schema *Schema
}

// NewLeaf returns the Schema of a leaf of type d. A dtype that JSON cannot represent, such as a
// complex one, is reported when the Schema is used.
func NewLeaf(d dtype.DType) *Schema {
	s := &Schema{DType: d}
	switch {
	case d == dtype.Bool:
		s.Kind = Bool
	case d.IsInteger():
		s.Kind = Int64
	case d.IsFloat():
		s.Kind = Float64
	case d == dtype.String:
		s.Kind = String
	}
	return s
}

// NewList returns the Schema of a list with elements of type elem.
func NewList(elem *Schema) *Schema { return &Schema{Kind: List, Elem: elem} }

// NewStruct returns the Schema of a struct with the given fields.
func NewStruct(fields ...SchemaField) *Schema { return &Schema{Kind: Struct, Fields: fields} }

// WithMissing returns a copy of s with policy m.
func (s *Schema) WithMissing(m Missing) *Schema {
	c := *s
	c.Missing = m
	return &c
}

// String returns the type on one line: "{id: int64, tags: var * string, age: ?int64}".
func (s *Schema) String() string {
	var b strings.Builder
	s.format(&b)
	return b.String()
}

func (s *Schema) format(b *strings.Builder) {
	if s.Missing == MissingMasked {
		b.WriteByte('?')
	}
	switch s.Kind {
	case List:
		b.WriteString("var * ")
		s.Elem.format(b)
	case Map:
		b.WriteString("map[string, ")
		s.mapValue().format(b)
		b.WriteByte(']')
	case Struct:
		b.WriteByte('{')
		for i, f := range s.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(quoteName(f.Name))
			b.WriteString(": ")
			f.Schema.format(b)
		}
		b.WriteByte('}')
	case Union:
		b.WriteString("union[")
		for i, f := range s.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			f.Schema.format(b)
		}
		b.WriteByte(']')
	case Null:
		b.WriteString("null")
	default:
		b.WriteString(s.dtype().String())
	}
}

// dtype returns the element type of a leaf.
func (s *Schema) dtype() dtype.DType {
	if s.DType != dtype.None {
		return s.DType
	}
	return s.Kind.dtype()
}

// clone returns a deep copy, which inference may then widen.
func (s *Schema) clone() *Schema {
	c := *s
	c.index, c.at, c.stamp = nil, -1, 0
	if s.Elem != nil {
		c.Elem = s.Elem.clone()
	}
	c.Fields = make([]SchemaField, len(s.Fields))
	for i, f := range s.Fields {
		c.Fields[i] = SchemaField{f.Name, f.Schema.clone()}
		c.Fields[i].Schema.position = i
	}
	return &c
}

// request returns a copy of s, as given by a user, for reading: what s leaves open is marked for
// inference, restricted to the paths in want. With widen, all of it is marked.
func (s *Schema) request(want *paths, widen bool) *Schema {
	if s == nil {
		return want.found()
	}
	c := Schema{Kind: s.Kind, DType: s.DType, inferred: widen && s.DType == dtype.None, Text: s.Text || s.Kind == String && want.is(asText), Missing: s.Missing, Default: s.Default, Open: s.Open, want: want}
	switch s.Kind {
	case Null:
		c.inferred = true
	case List:
		c.Elem = s.Elem.request(want, widen)
	case Map:
		c.Elem = NewStruct(s.Elem.Fields[0], SchemaField{valueName, s.mapValue().request(want.values(), widen)})
		c.mapValue().position = 1
	case Struct, Union:
		c.Open = c.Open || widen && s.Kind == Struct
		c.Fields = make([]SchemaField, len(s.Fields))
		for i, f := range s.Fields {
			below := want
			if s.Kind == Struct {
				below, _ = want.has([]byte(f.Name))
			}
			c.Fields[i] = SchemaField{f.Name, f.Schema.request(below, widen)}
			c.Fields[i].Schema.position = i
			if s.Kind == Union {
				c.Fields[i].Name = f.Schema.Kind.class().String()
			}
		}
	}
	return &c
}

// columns returns the number of columns of s.
func (s *Schema) columns() int {
	n := 1
	if s.Elem != nil {
		n += s.Elem.columns()
	}
	for _, f := range s.Fields {
		n += f.Schema.columns()
	}
	return n
}

// check returns an error if s is not a valid request.
func (s *Schema) check(path string, depth int) error {
	bad := func(format string, args ...any) error {
		where := path
		if where == "" {
			where = "the root"
		}
		return fmt.Errorf("schema of %s: %s", where, fmt.Sprintf(format, args...))
	}
	if depth < 0 {
		return bad("nested deeper than MaxDepth")
	}
	if d := s.DType; d != dtype.None {
		ok := false
		switch s.Kind {
		case Bool, String:
			ok = d == s.Kind.dtype()
		case Int64:
			ok = d.IsInteger()
		case Float64:
			ok = d.IsFloat()
		}
		if !ok {
			return bad("dtype %v cannot store values of kind %v", d, s.Kind)
		}
	}
	if s.Default != nil {
		ok := false
		switch s.Default.(type) {
		case bool:
			ok = s.Kind == Bool
		case int64:
			ok = s.Kind == Int64
		case float64:
			ok = s.Kind == Float64
		case string:
			ok = s.Kind == String
		}
		if !ok {
			return bad("default %v (%T) is not of kind %v", s.Default, s.Default, s.Kind)
		}
		if v, isInt := s.Default.(int64); isInt {
			if lo, span := intRange(s.dtype()); uint64(v)-uint64(lo) > span {
				return bad("default %d is out of range of %v", v, s.dtype())
			}
		}
	}
	if s.Missing > MissingEmpty {
		return bad("policy %d for missing values is unknown", s.Missing)
	}
	switch s.Kind {
	case Null, Bool, Int64, Float64, String:
	case List:
		if s.Elem == nil {
			return bad("a list without Elem")
		}
		return s.Elem.check(path+"[]", depth-1)
	case Map:
		if s.Elem == nil || s.Elem.Kind != Struct || len(s.Elem.Fields) != 2 || s.Elem.Fields[0].Schema.Kind != String {
			return bad("a map without keys and values")
		}
		return s.mapValue().check(path, depth-1)
	case Struct:
		seen := make(map[string]bool, len(s.Fields))
		for _, f := range s.Fields {
			if f.Schema == nil {
				return bad("field %q without a schema", f.Name)
			}
			if seen[f.Name] {
				return bad("field %q occurs twice", f.Name)
			}
			seen[f.Name] = true
			if err := f.Schema.check(joinPath(path, f.Name), depth-1); err != nil {
				return err
			}
		}
	case Union:
		var seen [numClasses]bool
		for _, f := range s.Fields {
			if f.Schema == nil {
				return bad("an alternative without a schema")
			}
			c := f.Schema.Kind.class()
			if c == classNone {
				return bad("%v cannot be an alternative", f.Schema.Kind)
			}
			if seen[c] {
				return bad("two alternatives for a JSON %v", c)
			}
			seen[c] = true
			if err := f.Schema.check(path, depth-1); err != nil {
				return err
			}
		}
	default:
		return bad("unknown kind %d", s.Kind)
	}
	return nil
}

// joinPath returns the text of the path to field name of the struct at path.
func joinPath(path, name string) string {
	name = quoteName(name)
	if path == "" {
		return name
	}
	return path + "." + name
}

// quoteName returns a field's name, in quotes unless it is an identifier.
func quoteName(name string) string {
	for i, r := range name {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 && (r >= '0' && r <= '9' || r == '-') {
			continue
		}
		return strconv.Quote(name)
	}
	if name == "" {
		return `""`
	}
	return name
}
