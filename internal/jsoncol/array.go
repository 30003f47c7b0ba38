package jsoncol

// array reads the elements of an array, whose opening bracket is before i, as a
// row of the list n.
func (p *parser) array(i int, n *node) int {
	t := p.t
	e := n.elem
	c := t.byte(i)
	if c <= ' ' {
		i = p.space(i)
		c = t.byte(i)
	}
	if c == ']' {
		n.pushEnd(e.n)
		return i + 1
	}
	switch e.op {
	case opInt:
		i = p.ints(i, e)
	case opFloat, opNarrow:
		i = p.floats(i, e)
	}
	for {
		switch e.op {
		case opStruct:
			if t.byte(i) == '{' {
				if i = p.object(i+1, e); i < 0 {
					return p.element(n.elemNumber())
				}
				goto after
			}
		case opString:
			if t.byte(i) == '"' {
				if j := e.plainString(t, i+1); j >= 0 {
					i = j
					goto after
				}
			}
		case opList:
			if t.byte(i) == '[' {
				if i = p.array(i+1, e); i < 0 {
					return p.element(n.elemNumber())
				}
				goto after
			}
		}
		if i = p.value(i, e); i < 0 {
			return p.element(n.elemNumber())
		}
	after:
		c = t.byte(i)
		if c != ',' && c != ']' {
			i = p.space(i)
			c = t.byte(i)
		}
		i++
		if c == ',' {
			if t.byte(i) == ' ' {
				i++
			}
			continue
		}
		if c == ']' {
			n.pushEnd(e.n)
			return i
		}
		return p.expected(i-1, "',' or ']' after an element")
	}
}

// ints reads elements from i on as long as they are short integers followed by
// a comma, and returns the position of the first element that is not.
func (p *parser) ints(i int, e *node) int {
	t := p.t
	out, r := e.ints, e.n
	lo, span := uint64(e.lo), e.span
	for {
		if r >= len(out) {
			e.ints = grown(out, e.most)
			out = e.ints
		}
		w := t.word(i)
		neg := bit(byte(w) == '-')
		if neg != 0 {
			w = t.word(i + 1)
		}
		d := w ^ zeros
		m := nonDigits(d)
		if m == 0 {
			break
		}
		nd := trailing(m)
		if nd == 0 || byte(d) == 0 && nd+neg != 1 {
			break
		}
		v := int64(decimal(d, nd))
		v = (v ^ -int64(neg)) + int64(neg)
		j := i + neg + nd
		if t.byte(j) != ',' || uint64(v)-lo > span {
			break
		}
		out[r] = v
		r++
		i = j + 1
		if t.byte(i) == ' ' {
			i++
		}
	}
	e.n = r
	return i
}

// floats is ints for floating point numbers.
func (p *parser) floats(i int, e *node) int {
	t := p.t
	out, r := e.floats, e.n
	for {
		if r >= len(out) {
			e.floats = grown(out, e.most)
			out = e.floats
		}
		v, j := fastFloat(t, i)
		if j < 0 || t.byte(j) != ',' {
			break
		}
		if e.op == opNarrow {
			var ok bool
			if v, ok = e.round(v); !ok {
				break
			}
		}
		out[r] = v
		r++
		i = j + 1
		if t.byte(i) == ' ' {
			i++
		}
	}
	e.n = r
	return i
}
