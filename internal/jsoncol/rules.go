package jsoncol

import "strconv"

// A form is the way in which a value whose type is inferred is read.
type form uint8

const (
	asFound  form = iota // by its JSON type
	asMap                // as a map: the keys of the object are data
	asText               // as the JSON text of the value
	excluded             // not at all
)

// paths are the rules for a place in the data and the places below it: what is read, and in which
// form. A nil *paths means everything, as it is found.
type paths struct {
	below  map[string]*paths
	rest   *paths // rules for the values of a map
	only   bool   // struct: only the listed fields
	wanted bool
	all    bool // everything below
	form   form
}

// newPaths returns the rules of the options, or nil if there are none. A wanted path includes
// everything below it, so of two overlapping paths the longer adds nothing.
func newPaths(o *Options) *paths {
	if len(o.Paths)+len(o.Maps)+len(o.Raw)+len(o.Exclude) == 0 {
		return nil
	}
	root := &paths{}
	for _, path := range o.Paths {
		at := root
		for _, name := range path {
			if at.all {
				break
			}
			at.only = true
			at = at.child(name)
			at.wanted = true
		}
		at.all, at.only = true, false
	}
	for form, list := range map[form][][]string{asMap: o.Maps, asText: o.Raw, excluded: o.Exclude} {
		for _, path := range list {
			root.add(path, form)
		}
	}
	return root
}

// anyKey stands for the values of a map in a path.
const anyKey = "*"

// child returns the rules below a name, creating them if necessary.
func (p *paths) child(name string) *paths {
	if name == anyKey {
		if p.rest == nil {
			p.rest = &paths{}
		}
		return p.rest
	}
	c := p.below[name]
	if c == nil {
		if p.below == nil {
			p.below = map[string]*paths{}
		}
		c = &paths{}
		p.below[name] = c
	}
	return c
}

// add sets the form at a path.
func (p *paths) add(path []string, f form) {
	for _, name := range path {
		p = p.child(name)
	}
	if f != asMap || p.form == asFound {
		p.form = f
	}
}

// has reports whether the field name is read, and the rules below it.
func (p *paths) has(name []byte) (below *paths, ok bool) {
	if p == nil {
		return nil, true
	}
	below = p.below[string(name)]
	if below == nil {
		return nil, !p.only
	}
	return below, below.form != excluded && (below.wanted || !p.only)
}

// values returns the rules for the values of a map.
func (p *paths) values() *paths {
	if p == nil {
		return nil
	}
	return p.rest
}

// is reports whether the rules specify form f.
func (p *paths) is(f form) bool { return p != nil && p.form == f }

// mapped turns the object that a failure is in into a map: judging by their number or kind, its
// keys are data. It returns the path, and false if the object is a map already.
func (p *paths) mapped(f *failure) ([]string, bool) {
	var path []string
	for i := len(f.path) - 1; i >= 0; i-- {
		step := f.path[i]
		switch {
		case step[0] == '[':
			continue
		case p.is(asMap):
			step = anyKey
		case step[0] == '"':
			step, _ = strconv.Unquote(step)
		}
		path = append(path, step)
		p = p.child(step)
	}
	if p.form != asFound {
		return path, false
	}
	p.form = asMap
	return path, true
}

// found returns the schema of values that have not been seen yet.
func (p *paths) found() *Schema {
	s := &Schema{inferred: true, want: p}
	if p.is(asText) {
		s.Kind, s.Text = String, true
	}
	return s
}

// The fields of the elements of a map.
const (
	keyName   = "key"
	valueName = "value"
)

// NewMap returns the Schema of a map with the given values.
func NewMap(value *Schema) *Schema {
	return &Schema{Kind: Map, Elem: NewStruct(SchemaField{keyName, NewLeaf(stringType)}, SchemaField{valueName, value})}
}

// foundMap turns s into a map whose values have not been seen yet.
func (s *Schema) foundMap() {
	s.Kind = Map
	value := s.want.values().found()
	value.position = 1
	s.Elem = NewStruct(SchemaField{keyName, NewLeaf(stringType)}, SchemaField{valueName, value})
}

// mapValue returns the schema of the values of a map.
func (s *Schema) mapValue() *Schema { return s.Elem.Fields[1].Schema }

// elem returns the schema of the elements of a list, which inherit the rules of the list.
func (p *paths) elem() *Schema { return &Schema{inferred: true, want: p} }

// clone returns a deep copy, which may be modified. The clone of nil is empty rules.
func (p *paths) clone() *paths {
	if p == nil {
		return &paths{}
	}
	c := *p
	if p.rest != nil {
		c.rest = p.rest.clone()
	}
	c.below = make(map[string]*paths, len(p.below))
	for name, b := range p.below {
		c.below[name] = b.clone()
	}
	return &c
}
