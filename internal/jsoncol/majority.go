package jsoncol

// In lenient mode, the types are those that most of the first records have, so that a few bad
// lines, in particular the first one, do not determine the types for all others.

// inferMajority widens s by those records, from c to the end of the chunk, that fit the types that
// most of them have.
func (p *parser) inferMajority(c cursor, s *Schema) {
	unions := p.unions
	most := s.clone()
	p.unions, p.counting = true, true
	p.eachLine(c, func(i int) { p.infer(i, most, p.maxDepth) })
	p.unions, p.counting = unions, false
	most.elect(unions, most.present(), p.needed)
	p.columns = s.columns()
	p.eachLine(c, func(i int) {
		had := p.columns
		fits := p.infer(i, most, p.maxDepth) >= 0 && !(p.needed && p.columns > had)
		if p.columns = had; fits {
			p.infer(i, s, p.maxDepth)
		}
	})
	p.failed = nil
}

// eachLine calls f with the position of the value of each valid line from c on.
func (p *parser) eachLine(c cursor, f func(i int)) {
	for i := c.rec; i < p.end; i++ {
		start := p.space(i)
		if start < p.end && p.t.byte(start) != '\n' && p.skip(start, p.maxDepth) >= 0 {
			f(start)
		}
		for i < p.end && p.t.byte(i) != '\n' {
			i++
		}
	}
}

// present returns the number of non-null values that inference has seen at s.
func (s *Schema) present() int {
	if s.Kind != Union {
		return s.seen
	}
	n := 0
	for _, f := range s.Fields {
		n += f.Schema.seen
	}
	return n
}

// elect replaces unions by their most frequent alternative, unless unions are allowed. If fields
// are required in every record, it drops those that fewer than half of the records have.
func (s *Schema) elect(unions bool, rows int, needed bool) {
	if s.Kind == Union && !unions {
		best := s.Fields[0].Schema
		for _, f := range s.Fields {
			if f.Schema.seen > best.seen {
				best = f.Schema
			}
		}
		position, at, row := s.position, s.at, s.row
		*s = *best
		s.position, s.at, s.row = position, at, row
	}
	if s.Elem != nil {
		s.Elem.elect(unions, s.Elem.present(), needed)
	}
	kept := s.Fields[:0]
	for _, f := range s.Fields {
		n := f.Schema.present()
		if s.Kind == Struct && needed && 2*n < rows && f.Schema.inferred {
			continue
		}
		f.Schema.elect(unions, n, needed)
		f.Schema.position = len(kept)
		kept = append(kept, f)
	}
	s.Fields, s.index = kept, nil
}
