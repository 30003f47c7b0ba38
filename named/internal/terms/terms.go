package terms

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Text is the text of an einsum and what it is about. N identifies a dimension.
type Text[N comparable] struct {
	Text string
	Dims [][]N // of each tensor

	Path, Short func(n N) string
	Printed     func(n N, among []N) string // a name as it is printed among others
	Line        func(i int) string          // describes tensor i on a line of an error

	// Bad reports an error and does not return; absent means that a dimension is not there.
	Bad func(absent bool, format string, args ...any)
}

// Result returns the dimensions of the result in the order of the text.
func (t *Text[N]) Result() []N {
	in, out, arrow := strings.Cut(t.Text, "->")
	if !arrow {
		t.Bad(false, "there is no arrow: list the dimensions of the result after ->")
	}
	terms := strings.Split(in, ",")
	if len(terms) != len(t.Dims) {
		t.Bad(false, "there are %d terms for %d tensors", len(terms), len(t.Dims))
	}
	var all, listed []N
	behind := make([][]N, len(terms)) // the dimensions of ellipses
	for i, term := range terms {
		seen, dots := t.words(term, t.Dims[i], fmt.Sprintf("in term %d", i), func(word string) {
			t.Bad(true, "%s is not a dimension of tensor %d\n%s", word, i, t.Line(i))
		})
		behind[i] = without(t.Dims[i], seen)
		if len(behind[i]) > 0 && dots < 0 {
			t.Bad(false, "term %d lacks {%s}\n%s", i, t.list(behind[i]), t.Line(i))
		}
		all, listed = append(all, without(t.Dims[i], all)...), append(listed, seen...)
	}
	for i, dims := range behind {
		if both := without(dims, without(dims, listed)); len(both) > 0 {
			t.Bad(false, "{%s} of tensor %d is under ... but is listed in another term: list it in term %d too\n%s", t.list(both), i, i, t.Line(i))
		}
	}
	keep, dots := t.words(out, all, "in the result", func(word string) {
		t.Bad(true, "no tensor has %s, which the result lists", word)
	})
	var lacks []N
	for _, dims := range behind {
		lacks = append(lacks, without(without(dims, keep), lacks)...)
	}
	switch {
	case dots >= 0:
		return slices.Insert(keep, dots, lacks...)
	case len(lacks) > 0:
		t.Bad(false, "the result lacks ..., which stands for {%s}", t.list(lacks))
	}
	return keep
}

// words returns the dimensions that a term lists, and where among them an ellipsis is, or -1.
func (t *Text[N]) words(term string, dims []N, where string, absent func(word string)) (list []N, dots int) {
	dots = -1
	for _, word := range strings.Fields(term) {
		n, ok := t.find(dims, word)
		switch dotted := word == "..."; {
		case dotted && dots < 0:
			dots = len(list)
			continue
		case !dotted && !ok:
			absent(word)
		case dotted, slices.Contains(list, n):
			t.Bad(false, "%s occurs twice %s", word, where)
		}
		list = append(list, n)
	}
	return list, dots
}

// find returns the dimension that a word stands for: its printed form, its path, or the printed
// form with a lower-case first letter or with _ for spaces.
func (t *Text[N]) find(dims []N, word string) (n N, ok bool) {
	for _, n := range dims {
		if t.Printed(n, dims) == word || t.Path(n) == word {
			return n, true
		}
	}
	for _, n := range dims {
		s := t.Short(n)
		first, size := utf8.DecodeRuneInString(s)
		if string(unicode.ToLower(first))+s[size:] == word || strings.ReplaceAll(s, " ", "_") == word {
			return n, true
		}
	}
	return n, false
}

func (t *Text[N]) list(dims []N) string {
	s := make([]string, len(dims))
	for i, n := range dims {
		s[i] = t.Printed(n, dims)
	}
	return strings.Join(s, ", ")
}

func without[N comparable](a, b []N) []N {
	return slices.DeleteFunc(slices.Clone(a), func(n N) bool { return slices.Contains(b, n) })
}
