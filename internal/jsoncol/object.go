package jsoncol

// object reads the members of an object, whose opening brace is before i, as a
// row of the struct n.
//
// The code for numbers, strings and booleans is inlined by hand, because a call per value would
// cost as much as parsing the value. Each case falls back to p.value.
func (p *parser) object(i int, n *node) int {
	t := p.t
	keys := n.keys
	row := n.n
	begin, next := i, 0
	complete := true // as long as every field comes as predicted
	if t.byte(i) != '"' {
		i = p.space(i)
		if t.byte(i) == '}' {
			i++
			goto done
		}
	}
	for {
		var f *field
		if next < len(keys) {
			f = &keys[next]
			if (t.word(i)^f.k0)&f.m0|(t.word(i+8)^f.k1)&f.m1 == 0 && (f.size <= 16 || p.rest(i, f)) {
				i += f.size
				goto found
			}
		}
		complete = false
		if i, next = p.member(i, n, next); i < 0 {
			return -1
		}
		if next < 0 { // the key is skipped
			next = -next - 1
			goto after
		}
		keys = n.keys
		f = &keys[next]
	found:
		next++
		{
			k := f.node
			if k.n != row {
				if i = p.again(i, n, next-1); i < 0 {
					return p.within(quoteName(f.name))
				}
				goto after
			}
			if t.byte(i) == ' ' {
				i++
			}
			switch k.op {
			case opInt:
				w := t.word(i)
				neg := bit(byte(w) == '-')
				if neg != 0 {
					w = t.word(i + 1)
				}
				d := w ^ zeros
				if m := nonDigits(d); m != 0 {
					nd := trailing(m)
					if nd != 0 && (byte(d) != 0 || nd+neg == 1) {
						v := int64(decimal(d, nd))
						v = (v ^ -int64(neg)) + int64(neg)
						if r := k.n; r < len(k.ints) && uint64(v)-uint64(k.lo) <= k.span {
							c := t.byte(i + neg + nd)
							if c == ',' || c == '}' {
								k.ints[r] = v
								k.n = r + 1
								i += neg + nd
								goto after
							}
						}
					}
				}
			case opFloat:
				if v, j := fastFloat(t, i); j >= 0 {
					if r := k.n; r < len(k.floats) {
						k.floats[r] = v
						k.n = r + 1
						i = j
						goto after
					}
				}
			case opNarrow:
				if v, j := fastFloat(t, i); j >= 0 {
					if v, ok := k.round(v); ok {
						k.pushFloat(v)
						i = j
						goto after
					}
				}
			case opString:
				if t.byte(i) == '"' {
					if j := k.plainString(t, i+1); j >= 0 {
						i = j
						goto after
					}
				}
			case opBool:
				w := t.word(i)
				yes, no := bit(uint32(w) == litTrue), bit(w&mask5 == litFalse)
				if r := k.n; r < len(k.bools) && yes|no != 0 {
					k.bools[r] = yes != 0
					k.n = r + 1
					i += 4*yes + 5*no
					goto after
				}
			case opList:
				if t.byte(i) == '[' {
					if i = p.array(i+1, k); i >= 0 {
						goto after
					}
					goto failed
				}
			case opStruct:
				if t.byte(i) == '{' {
					if i = p.object(i+1, k); i >= 0 {
						goto after
					}
					goto failed
				}
			}
			if i = p.value(i, k); i >= 0 {
				goto after
			}
		failed:
			if i = p.superseded(begin, f); i < 0 {
				return p.within(quoteName(f.name))
			}
			k.truncate(row)
			complete = false
		}
	after:
		c := t.byte(i)
		if c != ',' && c != '}' {
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
		if c != '}' {
			return p.expected(i-1, "',' or '}' after a member")
		}
		break
	}
done:
	if !(complete && next == len(n.fields)) && !p.fill(i-1, n) {
		return -1
	}
	n.n = row + 1
	return i
}

// sparseKeys is the smallest number of keys of an object that is taken for a map because other
// objects have only a few of them.
const sparseKeys = 64

// tooSparse is the detail of a TooSparse error.
const tooSparse = "records have so few of the fields found so far that columns would consist almost entirely of gaps (select the fields that are needed by a schema or Paths)"

// fill adds the missing rows of the fields that the object ending at i lacks.
func (p *parser) fill(i int, n *node) bool {
	for f := range n.fields {
		k := n.fields[f].node
		if k.n != n.n {
			continue
		}
		if !n.closed {
			if p.sparse -= int64(k.cells); p.sparse < 0 {
				p.failf(i, TooSparse, tooSparse)
				p.failed.keys = n.inferred && len(n.fields) >= sparseKeys
				return false
			}
		}
		if !p.missing(i, k, "no value") {
			p.within(quoteName(n.fields[f].name))
			return false
		}
	}
	return true
}

// member reads the key at i, which is not the predicted one of field next, up to its colon. It
// returns the position of the value and the index of the field. If the key is to be skipped, it
// skips the value as well and returns -next-1.
func (p *parser) member(i int, n *node, next int) (int, int) {
	t := p.t
	i = p.space(i)
	if t.byte(i) != '"' {
		return p.expected(i, "a key"), 0
	}
	// The most likely case: the field next is optional and was omitted.
	w0, w1 := t.word(i), t.word(i+8)
	for k := range min(linearFields, len(n.keys)) {
		f := next + k
		if f >= len(n.keys) {
			f -= len(n.keys)
		}
		g := &n.keys[f]
		if (w0^g.k0)&g.m0|(w1^g.k1)&g.m1 == 0 && (g.size <= 16 || p.rest(i, g)) {
			return i + g.size, f
		}
	}
	name, j := p.name(i + 1)
	if j < 0 {
		return -1, 0
	}
	f := n.find(name)
	if f < 0 {
		if !p.unknown(i, n, name) {
			return -1, 0
		}
		if f = n.skipKey(string(name)); f < 0 {
			if j = p.colon(j); j >= 0 {
				j = p.skip(j, p.maxDepth)
			}
			if j < 0 {
				p.within(quoteName(string(name)))
			}
			return j, -next - 1
		}
	}
	return p.colon(j), f
}

// rest reports whether the bytes of f's key after the first 16 follow at i+16.
//
//go:noinline
func (p *parser) rest(i int, f *field) bool {
	return i+f.size <= p.end && p.t.string(i+16, i+f.size) == f.rest
}

// unknown reports whether the key name at i, which n lacks, is to be skipped; otherwise it records
// a failure.
func (p *parser) unknown(i int, n *node, name []byte) bool {
	switch {
	case !n.closed:
		if _, wanted := n.schema.want.has(name); !wanted {
			return true
		}
		p.failf(i, UnknownKey, "key %q is new", name)
		p.failed.widen = true
		return false
	case n.skip:
		return true
	}
	p.failf(i, UnknownKey, "the schema has no field %q (SkipUnknown would skip it)", name)
	return false
}

// colon returns the position after the colon at i.
func (p *parser) colon(i int) int {
	i = p.space(i)
	if p.t.byte(i) != ':' {
		return p.expected(i, "':' after a key")
	}
	return i + 1
}

// name reads a key, whose opening quote is before i. The bytes are valid until the next key is
// read.
func (p *parser) name(i int) ([]byte, int) {
	t := p.t
	for j := i; ; j += 8 {
		m := stops(t.word(j))
		if m == 0 {
			continue
		}
		j += trailing(m)
		if t.byte(j) == '"' {
			return t.slice(i, j), j + 1
		}
		break
	}
	p.key, i = p.unquote(p.key[:0], i)
	return p.key, i
}

// again reads the value at i of a key that is skipped or has already occurred in this object.
func (p *parser) again(i int, n *node, key int) int {
	k := n.keys[key].node
	switch {
	case k.op == opSkip || p.duplicate == DuplicateFirst:
		return p.skip(i, p.maxDepth)
	case p.duplicate == DuplicateLast:
		k.truncate(n.n)
		return p.value(i, k)
	}
	return p.failf(i, DuplicateKey, "the key occurs twice in one object")
}

// superseded reports whether the failed value of f does not matter because the key occurs again in
// the object, whose members begin at i. If so it returns the position after the value; otherwise it
// returns -1 and leaves the failure unchanged.
func (p *parser) superseded(i int, f *field) int {
	failed := p.failed
	if p.duplicate != DuplicateLast || failed.code != TypeMismatch && failed.code != OutOfRange && failed.code != MissingValue {
		return -1
	}
	end := -1 // end of the failed value, once it is found
	for i >= 0 {
		if i = p.space(i); p.t.byte(i) != '"' {
			break
		}
		name, j := p.name(i + 1)
		if j < 0 {
			break
		}
		if end >= 0 && string(name) == f.name {
			return end
		}
		if j = p.colon(j); j < 0 {
			break
		}
		if j = p.skip(j, p.maxDepth); j > failed.at && end < 0 {
			end = j
		}
		if j >= 0 {
			j = p.space(j)
			if p.t.byte(j) != ',' {
				break
			}
			j++
		}
		i = j
	}
	p.failed = failed
	return -1
}
