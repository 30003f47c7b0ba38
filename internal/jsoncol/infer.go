package jsoncol

import (
	"math"

	"github.com/tenonml/tenon/dtype"
)

// Inference walks over records without storing them and widens a Schema until it accepts them. It
// is the slow half of reading without a schema, and processes a record only if the parser
// encounters something new in it: the parser then restarts at that record with the wider schema.

// infer widens s so that it accepts the value at i, and returns the position after the value. depth
// is the number of levels that the value may have. Changes to s remain if infer fails.
func (p *parser) infer(i int, s *Schema, depth int) int {
	i = p.space(i)
	cl := classOf(p.t.byte(i))
	if cl == classNone || s.Text {
		return p.skip(i, depth) // null, or not a value
	}
	if s.inferred && !p.admit(i, s, cl) {
		return -1
	}
	if s.Kind != Union && s.Kind.class() == cl && p.counting {
		s.seen++
	}
	if s.Kind == Union {
		for _, f := range s.Fields {
			if f.Schema.Kind.class() == cl {
				return p.infer(i, f.Schema, depth)
			}
		}
		return p.skip(i, depth)
	}
	if s.Kind.class() != cl || s.Kind != List && s.Kind != Struct && s.Kind != Map {
		if s.Kind.class() == cl && s.inferred && cl == classNumber {
			return p.inferNumber(i, s)
		}
		return p.skip(i, depth)
	}
	if depth == 0 {
		return p.tooDeep(i)
	}
	if s.Kind == Map {
		return p.inferEntries(i, s, depth)
	}
	if s.Kind == Struct {
		if p.duplicate == DuplicateLast {
			return p.inferLast(i, s, depth)
		}
		return p.inferObject(i, s, depth, nil)
	}
	i = p.space(i + 1)
	if p.t.byte(i) == ']' {
		return i + 1
	}
	for k := 0; ; k++ {
		if i = p.infer(i, s.Elem, depth-1); i < 0 {
			return p.element(k)
		}
		i = p.space(i)
		switch p.t.byte(i) {
		case ',':
			i++
		case ']':
			return i + 1
		default:
			return p.expected(i, "',' or ']' after an element")
		}
	}
}

// admit widens s by the class of the value at i.
func (p *parser) admit(i int, s *Schema, cl class) bool {
	switch {
	case s.Kind == Null:
		if cl == classList && !p.column(i) {
			return false
		}
		s.become(cl)
	case s.Kind.class() == cl:
	case s.Kind == Union:
		for _, f := range s.Fields {
			if f.Schema.Kind.class() == cl {
				return true
			}
		}
		if !p.column(i) {
			return false
		}
		s.Fields = append(s.Fields, s.alternative(cl))
	case p.unions:
		if !p.column(i) {
			return false
		}
		first := *s
		*s = Schema{Kind: Union, Missing: s.Missing, inferred: true, want: s.want, at: s.at}
		s.Fields = []SchemaField{{first.Kind.class().String(), &first}, s.alternative(cl)}
	default:
		p.failf(i, TypeMismatch, "found %s where earlier rows have a JSON %v (Unions would accept both)", p.show(i), s.Kind.class())
		return false
	}
	return true
}

// column counts a column that inference adds for the value at i.
func (p *parser) column(i int) bool {
	if p.columns++; p.columns > p.maxColumns {
		p.failf(i, TooWide, "more than %d columns (raise MaxColumns, or select the fields that are needed by a schema or Paths)", p.maxColumns)
		return false
	}
	return true
}

// become turns a Schema of which nothing is known into one of class cl.
func (s *Schema) become(cl class) {
	switch cl {
	case classBool:
		s.Kind = Bool
	case classNumber:
		s.Kind = Int64
	case classString:
		s.Kind = String
	case classList:
		s.Kind = List
		s.Elem = s.want.elem()
	case classStruct:
		if s.want.is(asMap) {
			s.foundMap()
			return
		}
		s.Kind = Struct
		s.Open = true
	}
}

// alternative returns the alternative of class cl for union s.
func (s *Schema) alternative(cl class) SchemaField {
	alt := &Schema{inferred: true, want: s.want}
	alt.become(cl)
	return SchemaField{cl.String(), alt}
}

// inferNumber makes s float64 if the number at i is not an integer, and uint64 if it is an integer
// beyond int64. If a column with such an integer also has numbers that uint64 cannot hold, it is
// rejected, in whichever order they come: only floats could represent them all, but not that
// integer exactly.
func (p *parser) inferNumber(i int, s *Schema) int {
	if p.nonFinite {
		if _, j := p.literal(i); j >= 0 {
			return p.become64(i, j, s)
		}
	}
	end, integer := p.number(i)
	if end < 0 {
		return -1
	}
	if !integer {
		return p.become64(i, end, s)
	}
	neg := bit(p.t.byte(i) == '-')
	v, ok := parseUint(p.t, i+neg, end)
	switch {
	case ok && v <= math.MaxInt64+uint64(neg):
		if v == 0 && neg != 0 {
			return p.become64(i, end, s) // integers have no -0
		}
		if neg != 0 && s.DType == dtype.Uint64 {
			return p.failf(i, OutOfRange, "%s is negative, but earlier records have integers that only uint64 holds (Overflow: float64 would accept both)", p.show(i))
		}
	case p.overflow == OverflowFloat:
		s.Kind = Float64
	case !ok || neg != 0 || s.Kind == Float64:
		return p.failf(i, OutOfRange, "%s is out of range of int64 (Overflow: float64 would accept it)", p.show(i))
	case s.DType == dtype.None:
		s.DType, s.at, s.row = dtype.Uint64, i, p.row
	}
	return end
}

// become64 makes s float64 for the number at i and returns its end.
func (p *parser) become64(i, end int, s *Schema) int {
	if s.DType == dtype.Uint64 {
		return p.failf(i, OutOfRange, "%s is not an integer, but earlier records have integers that only uint64 holds (Overflow: float64 would accept both)", p.show(i))
	}
	s.Kind = Float64
	return end
}

// inferObject widens struct s by the members of the object at i. If last is not nil, it skips
// members whose keys are not at the positions in last.
func (p *parser) inferObject(i int, s *Schema, depth int, last map[string]int) int {
	t := p.t
	p.objects++
	stamp := p.objects
	i = p.space(i + 1)
	if t.byte(i) == '}' {
		return i + 1
	}
	next := 0
	for {
		i = p.space(i)
		if t.byte(i) != '"' {
			return p.expected(i, "a key")
		}
		key := i
		name, j := p.name(i + 1)
		if j < 0 {
			return -1
		}
		if i = p.colon(j); i < 0 {
			return -1
		}
		below, wanted := s.want.has(name)
		f := s.find(name, next)
		switch {
		case last != nil && last[string(name)] != key:
			f = nil
		case f == nil && s.Open && wanted:
			if len(s.Fields) >= p.maxKeys {
				p.failf(key, TooWide, "the objects here have more than %d keys in total (MaxKeys)", p.maxKeys)
				p.failed.keys = s.inferred
				return -1
			}
			if !p.column(key) {
				return -1
			}
			f = below.found()
			f.at, f.row = key, p.row
			s.addField(string(name), f)
		case f != nil && f.stamp == stamp && p.duplicate == DuplicateError:
			p.failf(i, DuplicateKey, "the key occurs twice in one object")
			return p.within(quoteName(string(name)))
		case f != nil && f.stamp == stamp:
			f = nil
		}
		if f == nil {
			i = p.skip(i, depth-1)
		} else {
			f.stamp = stamp
			next = f.position + 1
			i = p.infer(i, f, depth-1)
		}
		if i < 0 {
			return p.inKey(key)
		}
		i = p.space(i)
		switch t.byte(i) {
		case ',':
			i++
		case '}':
			return i + 1
		default:
			return p.expected(i, "',' or '}' after a member")
		}
	}
}

// inferLast is inferObject for the policy that the last value of a key counts. It finds the last
// ones first, so that the others have no effect on the type.
func (p *parser) inferLast(i int, s *Schema, depth int) int {
	start := i
	last := map[string]int{}
	i = p.space(i + 1)
	if p.t.byte(i) == '}' {
		return i + 1
	}
	for {
		i = p.space(i)
		if p.t.byte(i) != '"' {
			return p.expected(i, "a key")
		}
		name, j := p.name(i + 1)
		if j < 0 {
			return -1
		}
		last[string(name)] = i
		if j = p.colon(j); j < 0 {
			return -1
		}
		if i = p.skip(j, depth-1); i < 0 {
			return -1
		}
		i = p.space(i)
		if p.t.byte(i) != ',' {
			return p.inferObject(start, s, depth, last)
		}
		i++
	}
}

// find returns the field called name, or nil. It checks position next first.
func (s *Schema) find(name []byte, next int) *Schema {
	if next < len(s.Fields) && s.Fields[next].Name == string(name) {
		return s.Fields[next].Schema
	}
	if len(s.Fields) <= linearFields {
		for i := range s.Fields {
			if s.Fields[i].Name == string(name) {
				return s.Fields[i].Schema
			}
		}
		return nil
	}
	if s.index == nil {
		s.index = make(map[string]*Schema, len(s.Fields))
		for _, f := range s.Fields {
			s.index[f.Name] = f.Schema
		}
	}
	return s.index[string(name)]
}

// addField appends a field and returns it.
func (s *Schema) addField(name string, f *Schema) *Schema {
	f.position = len(s.Fields)
	s.Fields = append(s.Fields, SchemaField{name, f})
	if s.index != nil {
		s.index[name] = f
	}
	return f
}
