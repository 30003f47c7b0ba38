package jsoncol

import "strconv"

// A form says how what is at a path is read, where its type is found in the data.
type form uint8

const (
	asFound  form = iota // as what it looks like
	asMap                // an object as a map: its keys are data
	asText               // any value as its JSON text
	excluded             // not at all
)

// paths says for a place in the data, and the places below it, what is read of it and in
// which form. A nil *paths stands for everything, as it is found.
type paths struct {
	below  map[string]*paths
	rest   *paths // what is in a map
	only   bool   // of a struct: nothing but what is wanted
	wanted bool
	all    bool // whatever is below
	form   form
}

// newPaths returns the rules of the options, nil if there are none. A path that is
// wanted includes what is below it, so the longer of two that overlap adds nothing.
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

// anyKey is the name, in a path, of what is in a map.
const anyKey = "*"

// child returns the rules below a name, which are made if there are none.
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

// add gives what is at a path a form.
func (p *paths) add(path []string, f form) {
	for _, name := range path {
		p = p.child(name)
	}
	if f != asMap || p.form == asFound {
		p.form = f
	}
}

// has reports whether the field name is read, and what of it.
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

// values returns the rules of what is in a map.
func (p *paths) values() *paths {
	if p == nil {
		return nil
	}
	return p.rest
}

// is reports whether the rules give a form.
func (p *paths) is(f form) bool { return p != nil && p.form == f }

// mapped makes a map of the object that a failure is in: its keys are so many, or such,
// that they are data. It returns the path, and false if it is a map already.
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

// found returns the schema of what has not been seen yet.
func (p *paths) found() *Schema {
	s := &Schema{inferred: true, want: p}
	if p.is(asText) {
		s.Kind, s.Text = String, true
	}
	return s
}

// The fields of what is in a map.
const (
	keyName   = "key"
	valueName = "value"
)

// NewMap returns the Schema of a map to values.
func NewMap(value *Schema) *Schema {
	return &Schema{Kind: Map, Elem: NewStruct(SchemaField{keyName, NewLeaf(stringType)}, SchemaField{valueName, value})}
}

// foundMap makes s a map to what has not been seen yet.
func (s *Schema) foundMap() {
	s.Kind = Map
	value := s.want.values().found()
	value.position = 1
	s.Elem = NewStruct(SchemaField{keyName, NewLeaf(stringType)}, SchemaField{valueName, value})
}

// mapValue returns the schema of the values of a map.
func (s *Schema) mapValue() *Schema { return s.Elem.Fields[1].Schema }

// elem returns the schema of the elements of a list, which have the rules of the list.
func (p *paths) elem() *Schema { return &Schema{inferred: true, want: p} }

// clone returns a deep copy, which may be changed; of nil, rules that say nothing.
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
