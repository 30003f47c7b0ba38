package jsoncol

import "github.com/tenonml/tenon/dtype"

const stringType = dtype.String

// linearKeys is the number of keys of a map up to which they are compared one by one.
const linearKeys = 8

// entries reads the members of an object, whose opening brace is before i, as a row of map n: the
// keys are rows of one column, and the values are rows of another.
func (p *parser) entries(i int, n *node) int {
	t := p.t
	e := n.elem
	keys, values := e.fields[0].node, e.fields[1].node
	begin := e.n
	var seen map[string]struct{}
	var last map[string]int
	if p.duplicate == DuplicateLast {
		if last = p.lastKeys(i); last == nil {
			return -1
		}
	}
	if i = p.space(i); t.byte(i) == '}' {
		n.pushEnd(e.n)
		return i + 1
	}
	for {
		if i = p.space(i); t.byte(i) != '"' {
			return p.expected(i, "a key")
		}
		at := i
		name, j := p.name(i + 1)
		if j < 0 {
			return -1
		}
		text := string(name)
		if i = p.colon(j); i < 0 {
			return -1
		}
		again := last != nil && last[text] != at
		if last == nil {
			if again, seen = keys.hasKey(text, begin, seen); again && p.duplicate == DuplicateError {
				p.failf(i, DuplicateKey, "the key occurs twice in one object")
				return p.within(quoteName(text))
			}
		}
		if again {
			i = p.skip(i, p.maxDepth)
		} else {
			keys.room(len(text))
			keys.nb += copy(keys.bytes[keys.nb:], text)
			keys.pushEnd(keys.nb)
			if i = p.value(i, values); i >= 0 {
				e.n++
			}
		}
		if i < 0 {
			return p.within(quoteName(text))
		}
		i = p.space(i)
		switch t.byte(i) {
		case ',':
			i++
		case '}':
			n.pushEnd(e.n)
			return i + 1
		default:
			return p.expected(i, "',' or '}' after a member")
		}
	}
}

// hasKey reports whether one of the rows of keys from begin on is name, and adds name to the set of
// keys seen, which is created once there are many.
func (n *node) hasKey(name string, begin int, seen map[string]struct{}) (bool, map[string]struct{}) {
	key := func(r int) string { return string(n.bytes[endOf(n.ends, r):n.ends[r]]) }
	if n.n-begin < linearKeys {
		for r := begin; r < n.n; r++ {
			if string(n.bytes[endOf(n.ends, r):n.ends[r]]) == name {
				return true, nil
			}
		}
		return false, nil
	}
	if seen == nil {
		seen = map[string]struct{}{}
		for r := begin; r < n.n; r++ {
			seen[key(r)] = struct{}{}
		}
	}
	_, again := seen[name]
	seen[name] = struct{}{}
	return again, seen
}

// lastKeys returns the last position of each key of the object at i, or nil if the object is
// malformed.
func (p *parser) lastKeys(i int) map[string]int {
	last := map[string]int{}
	if i = p.space(i); p.t.byte(i) == '}' {
		return last
	}
	for {
		if i = p.space(i); p.t.byte(i) != '"' {
			p.expected(i, "a key")
			return nil
		}
		name, j := p.name(i + 1)
		if j < 0 {
			return nil
		}
		last[string(name)] = i
		if i = p.colon(j); i < 0 {
			return nil
		}
		if i = p.skip(i, p.maxDepth); i < 0 {
			return nil
		}
		if i = p.space(i); p.t.byte(i) != ',' {
			return last
		}
		i++
	}
}

// inferEntries widens map s by the members of the object at i.
func (p *parser) inferEntries(i int, s *Schema, depth int) int {
	t := p.t
	if i = p.space(i + 1); t.byte(i) == '}' {
		return i + 1
	}
	for {
		if i = p.space(i); t.byte(i) != '"' {
			return p.expected(i, "a key")
		}
		key := i
		_, j := p.name(i + 1)
		if j < 0 {
			return -1
		}
		if i = p.colon(j); i < 0 {
			return -1
		}
		if i = p.infer(i, s.mapValue(), depth-1); i < 0 {
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

// text reads the value at i as its JSON text.
func (p *parser) text(i int, n *node) int {
	i = p.space(i)
	end := p.skip(i, p.maxDepth)
	if end < 0 {
		return -1
	}
	n.room(end - i)
	n.nb += copy(n.bytes[n.nb:], p.t.slice(i, end))
	n.pushEnd(n.nb)
	return end
}
