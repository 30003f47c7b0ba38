package named

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenonml/tenon"
)

// Einsum contracts tensors as described by a text, which lists the dimensions of each tensor and
// those of the result. Dimensions that the result lacks are summed over:
//
//	named.Einsum("Batch Seq Rep, Rep Kq -> Batch Seq Kq", x, w)
//
// A dimension is written as it is printed. Unless that is ambiguous, its first letter may be in
// lower case ("batch seq rep"). Spaces in names are written as _. Each term lists exactly the
// dimensions of its tensor, in any order. The result is stored in the order of the text.
//
// "..." in a term stands for the dimensions of its tensor that the term does not list; in the
// result, it stands for all those dimensions, in the order of the tensors:
//
//	named.Einsum("... rep, rep kq -> ... kq", x, w)
//
// Such dimensions are kept, never summed over; tensors that share one are matched along it, as a
// batch dimension. If another term lists such a dimension, it must be listed here too.
//
// The gradient and the order of contraction are those of [Contract].
func Einsum(text string, operands ...tenon.Value) *Tensor {
	const fn = "named.Einsum"
	operands = slices.Clone(operands)
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
		bad(tenon.ErrInvalid, "there is no arrow: list the dimensions of the result after ->")
	}
	terms := strings.Split(in, ",")
	if len(terms) != len(ts) || len(ts) == 0 {
		bad(tenon.ErrInvalid, "there are %d terms for %d tensors", len(terms), len(ts))
	}
	all, listed, rest := none, none, none // rest: the dimensions of ellipses
	behind := make([]*layout, len(ts))
	for i, term := range terms {
		l := ts[i].spec.names
		seen, dots := none, false
		for _, word := range strings.Fields(term) {
			if word == ellipsis {
				if dots {
					bad(tenon.ErrInvalid, "... occurs twice in term %d", i)
				}
				dots = true
				continue
			}
			n, ok := l.find(word)
			if !ok {
				bad(tenon.ErrNotFound, "%s is not a dimension of tensor %d\n%s", word, i, ts[i].line("tensor"))
			}
			if seen.has(n) {
				bad(tenon.ErrInvalid, "%s occurs twice in term %d", word, i)
			}
			seen = seen.and(layoutOf([]id{n}))
		}
		behind[i] = l.without(seen)
		if len(behind[i].ids) > 0 && !dots {
			bad(tenon.ErrInvalid, "term %d lacks {%v}\n%s", i, behind[i], ts[i].line("tensor"))
		}
		all, listed, rest = all.and(l), listed.and(seen), rest.and(behind[i])
	}
	for i, l := range behind {
		if both := l.both(listed); len(both.ids) > 0 {
			bad(tenon.ErrInvalid, "{%v} of tensor %d is under ... but is listed in another term: list it in term %d too\n%s", both, i, i, ts[i].line("tensor"))
		}
	}
	keep, words := none, strings.Fields(out)
	for _, word := range words {
		if word == ellipsis {
			continue
		}
		n, ok := all.find(word)
		if !ok {
			bad(tenon.ErrNotFound, "no tensor has %s, which the result lists", word)
		}
		if keep.has(n) {
			bad(tenon.ErrInvalid, "%s occurs twice in the result", word)
		}
		keep = keep.and(layoutOf([]id{n}))
	}
	lacks := rest.without(keep)
	switch at := slices.Index(words, ellipsis); {
	case at < 0 && len(lacks.ids) > 0:
		bad(tenon.ErrInvalid, "the result lacks ..., which stands for {%v}", lacks)
	case at >= 0 && slices.Contains(words[at+1:], ellipsis):
		bad(tenon.ErrInvalid, "... occurs twice in the result")
	case at >= 0:
		keep = layoutOf(slices.Insert(slices.Clone(keep.ids), at, lacks.ids...))
	}
	// The text says to sum over dimensions that only one tensor has and the result lacks.
	sum := all.without(keep)
	for i, t := range ts {
		alone := sum.both(t.spec.names)
		for k, u := range ts {
			if k != i {
				alone = alone.without(u.spec.names)
			}
		}
		if len(alone.ids) > 0 {
			operands[i], sum = alone.of().Sum(t), sum.without(alone)
		}
	}
	return sum.of().Contract(operands...).ordered(keep)
}

// ellipsis stands for the dimensions that a term does not list.
const ellipsis = "..."

// find returns the name with a text: its printed form, its path, or the printed form with a
// lower-case first letter or with _ for spaces.
func (l *layout) find(word string) (id, bool) {
	for _, n := range l.ids {
		if l.text(n) == word || n.info().path == word {
			return n, true
		}
	}
	for _, n := range l.ids {
		s := n.String()
		first, size := utf8.DecodeRuneInString(s)
		if string(unicode.ToLower(first))+s[size:] == word || strings.ReplaceAll(s, " ", "_") == word {
			return n, true
		}
	}
	return 0, false
}
