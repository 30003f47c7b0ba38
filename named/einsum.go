package named

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenonml/tenon"
)

// Einsum contracts tensors as a text says that lists the dimensions of each, and those
// of the result; what the result lacks is summed over:
//
//	named.Einsum("Batch Seq Rep, Rep Kq -> Batch Seq Kq", x, w)
//
// A dimension is written as it is printed, where nothing else is meant with a small
// first letter too ("batch seq rep"). Each term lists exactly the dimensions of its
// tensor, in any order. The result is stored in the order of the text. Gradient and order
// of contraction are those of [Contract].
func Einsum(text string, operands ...tenon.Value) *Tensor {
	const fn = "named.Einsum"
	ts := make([]*Tensor, len(operands))
	for i, x := range operands {
		ts[i] = tensorOf(fn, x)
	}
	bad := func(kind error, format string, args ...any) {
		e := newError(kind, fn, fmt.Sprintf(format, args...))
		e.Where = fmt.Sprintf("%q", text)
		tenon.Throw(e)
	}
	in, out, arrow := strings.Cut(text, "->")
	if !arrow {
		bad(tenon.ErrInvalid, "there is no arrow: the dimensions of the result are listed behind ->")
	}
	terms := strings.Split(in, ",")
	if len(terms) != len(ts) || len(ts) == 0 {
		bad(tenon.ErrInvalid, "there are %d terms for %d tensors", len(terms), len(ts))
	}
	all := none
	for i, term := range terms {
		l := ts[i].spec.names
		seen := none
		for _, word := range strings.Fields(term) {
			n, ok := l.find(word)
			if !ok {
				bad(tenon.ErrNotFound, "%s is no dimension of tensor %d\n%s", word, i, ts[i].line("tensor"))
			}
			if seen.has(n) {
				bad(tenon.ErrInvalid, "%s is there twice in term %d", word, i)
			}
			seen = seen.and(layoutOf([]id{n}))
		}
		if missing := l.without(seen); len(missing.ids) > 0 {
			bad(tenon.ErrInvalid, "term %d lacks {%v}\n%s", i, missing, ts[i].line("tensor"))
		}
		all = all.and(l)
	}
	keep := none
	for _, word := range strings.Fields(out) {
		n, ok := all.find(word)
		if !ok {
			bad(tenon.ErrNotFound, "no tensor has %s, which the result lists", word)
		}
		if keep.has(n) {
			bad(tenon.ErrInvalid, "%s is there twice in the result", word)
		}
		keep = keep.and(layoutOf([]id{n}))
	}
	return all.without(keep).of().Contract(operands...).ordered(keep)
}

// find returns the name with a text: its printed form, its path, or the printed form
// with a small first letter.
func (l *layout) find(word string) (id, bool) {
	for _, n := range l.ids {
		if l.text(n) == word || n.info().path == word {
			return n, true
		}
	}
	for _, n := range l.ids {
		s := n.String()
		first, size := utf8.DecodeRuneInString(s)
		if string(unicode.ToLower(first))+s[size:] == word {
			return n, true
		}
	}
	return 0, false
}
