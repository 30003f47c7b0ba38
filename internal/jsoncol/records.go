package jsoncol

// A cursor is a position in the sequence of records of a chunk.
type cursor struct {
	rec    int   // beginning of the record, or of the space before it
	lines  int64 // line breaks before rec, for Lines
	more   bool  // a Document's chunk must hold another element
	format Format
}

// records reads the records from c on into root, and reports whether it reached the end of the
// chunk. If not, c is at the record that failed, and root holds nothing of it.
func (p *parser) records(c *cursor, root *node) bool {
	row := root.n
	var ok bool
	if c.format == Lines {
		ok = p.lines(c, root, &row)
	} else {
		ok = p.values(c, root, &row)
	}
	if !ok {
		root.truncate(row)
	}
	return ok
}

// lines is records for one record per line. row is the number of records done.
func (p *parser) lines(c *cursor, root *node, row *int) bool {
	t := p.t
	i := c.rec
	for {
		c.rec = i
		*row = root.n
		if t.byte(i) == '{' && root.op == opStruct && i < p.end {
			i = p.object(i+1, root)
		} else {
			i = p.space(i)
			if i >= p.end {
				return true
			}
			if t.byte(i) == '\n' {
				i++
				c.lines++
				continue
			}
			i = p.value(i, root)
		}
		if i < 0 {
			return false
		}
		if t.byte(i) != '\n' {
			if i = p.space(i); t.byte(i) != '\n' {
				p.expected(i, "the end of the line after a record")
				return false
			}
		}
		i++
		c.lines++
		if i >= p.end {
			c.rec = p.end
			return true
		}
	}
}

// values is records for the other formats.
func (p *parser) values(c *cursor, root *node, row *int) bool {
	for i := c.rec; ; {
		c.rec = i
		*row = root.n
		i = p.space(i)
		if i >= p.end && !c.more {
			return true
		}
		if i = p.value(i, root); i < 0 {
			return false
		}
		c.more = false
		if c.format != Document {
			continue
		}
		i = p.space(i)
		if i >= p.end {
			c.rec = i
			return true
		}
		if p.t.byte(i) != ',' {
			p.expected(i, "',' or ']' after an element")
			return false
		}
		i++
		c.more = true
	}
}

// inferRecords widens s by the records from c on, or only by the first one, and reports whether it
// could accept that one.
func (p *parser) inferRecords(c cursor, s *Schema, one bool) bool {
	i := c.rec
	for n := 0; ; n++ {
		p.row = int64(n)
		for {
			i = p.space(i)
			if i < p.end && p.t.byte(i) == '\n' {
				i++
				continue
			}
			break
		}
		if i >= p.end {
			return true
		}
		if i = p.infer(i, s, p.maxDepth); i < 0 {
			return n > 0
		}
		if one {
			return true
		}
		i = p.space(i)
		if c.format == Document && p.t.byte(i) == ',' {
			i++
		}
	}
}
