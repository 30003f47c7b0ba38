package serve

import (
	"iter"
	"strings"
)

// A list is a JSON list: the text between its brackets, or a Go slice of entries.
type list struct {
	n     int
	text  string
	items []any
	pick  func(x any) any // selects a part of each entry; nil: the entry itself
}

// listOf returns a list of entries.
func listOf(items []any) *list { return &list{n: len(items), items: items} }

// hasObjects reports whether there may be objects among the entries, or inside of them.
func (l *list) hasObjects() bool {
	return l.items != nil || l.pick != nil || strings.IndexByte(l.text, '{') >= 0
}

// A cursor iterates over the entries of a list.
type cursor struct {
	list *list
	at   int
	p    parser
}

func (l *list) cursor() cursor { return cursor{list: l, p: parser{text: l.text, tokens: true}} }

// more reports whether there is another entry.
func (c *cursor) more() bool { return c.at < c.list.n }

// isNumber reports whether the next entry is the text of a number.
func (c *cursor) isNumber() bool {
	if c.list.items != nil || c.list.pick != nil {
		return false
	}
	c.p.space()
	return c.p.digit()
}

// isElement reports whether the next entry is text that is neither a list nor an object.
func (c *cursor) isElement() bool {
	if c.list.n == 0 || c.list.items != nil || c.list.pick != nil {
		return false
	}
	c.p.space()
	return c.p.text[c.p.at] != '[' && c.p.text[c.p.at] != '{'
}

// number returns the next entry, which is a number.
func (c *cursor) number() number {
	n, _ := c.p.number()
	c.next()
	return n
}

// value returns the next entry.
func (c *cursor) value() any {
	var x any
	if c.list.items != nil {
		x = c.list.items[c.at]
		c.at++
	} else {
		x = c.p.value()
		c.next()
	}
	if c.list.pick != nil {
		x = c.list.pick(x)
	}
	return x
}

// next skips the comma.
func (c *cursor) next() {
	c.p.space()
	c.p.at++
	c.at++
}

// all iterates over the entries.
func (l *list) all() iter.Seq2[int, any] {
	return func(yield func(int, any) bool) {
		for c := l.cursor(); c.more(); {
			if i := c.at; !yield(i, c.value()) {
				return
			}
		}
	}
}

// first returns the first entry of a nonempty list.
func (l *list) first() any {
	c := l.cursor()
	return c.value()
}
