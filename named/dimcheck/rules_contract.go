package dimcheck

import (
	"fmt"
	"slices"
	"strings"
)

func dotRule(r *ruleCall) *val { return r.dot(r.known(0), r.known(1)) }

func handleDotRule(r *ruleCall) *val {
	r.op, r.dims, r.first = "named.Dot", r.listed(0), -1
	return r.dot(bare(r.arg(0)), bare(r.arg(1)))
}

func (r *ruleCall) dot(a, b *val) *val {
	operands := r.contracted(a, b)
	for _, n := range r.dims {
		if !a.has(n) || !b.has(n) {
			r.missing(n, operands...)
		}
	}
	for _, d := range a.Dims {
		if b.has(d.Name) && !slices.Contains(r.dims, d.Name) {
			r.shared(d.Name, operands[0], operands[1])
		}
	}
	return r.contract(operands)
}

// contracted returns the operands of a contraction. If only one of two is known, it must have the
// dimensions that are summed over.
func (r *ruleCall) contracted(vs ...*val) []operand {
	if slices.ContainsFunc(vs, func(v *val) bool { return !isTensorVal(v) }) {
		if i := slices.IndexFunc(vs, isTensorVal); i >= 0 && len(vs) == 2 {
			needs(r, r.dims, r.one([]string{"left", "right"}[i], vs[i], i))
		}
		r.end()
	}
	return r.several(vs, 0)
}

func contractRule(r *ruleCall) *val {
	vs := r.list(0)
	if len(vs) == 0 {
		r.end()
	}
	operands := r.contracted(vs...)
	for _, n := range r.dims {
		first, found := -1, 0
		for i, v := range vs {
			if v.has(n) {
				if found++; first < 0 {
					first = i
				}
			}
		}
		switch {
		case found == 0:
			r.missing(n, operands...)
		case found == 1 && len(vs) > 1:
			r.alone(n, first, operands...)
		}
	}
	return r.contract(operands)
}

// contract returns the result of a contraction whose names match.
func (r *ruleCall) contract(operands []operand) *val {
	r.sameSizes(operands, nil)
	swapped := r.checkWeights(operands)
	var dims []dim
	vs := make([]*val, len(operands))
	for i, o := range operands {
		vs[i] = o.v
	}
	if len(operands) == 2 { // the order of a matrix product: batch, left, right
		for _, d := range vs[0].Dims {
			if vs[1].has(d.Name) {
				dims = append(dims, d)
			}
		}
	}
	for _, v := range vs {
		dims = merged(dims, v.Dims)
	}
	out := r.result(without(dims, r.dims), vs...)
	if len(vs) != 2 {
		return out
	}
	rest := func(v, other *val) []dim {
		return slices.DeleteFunc(without(v.Dims, r.dims), func(d dim) bool { return other.has(d.Name) })
	}
	return out.with(func(a *attrs) {
		for _, d := range vs[0].Dims {
			if vs[1].has(d.Name) && !slices.Contains(r.dims, d.Name) {
				a.Both = append(a.Both, shared{d.Name, r.n.Site})
			}
		}
		a.Pairs, a.Swapped = pairsOf(rest(vs[0], vs[1]), rest(vs[1], vs[0])), swapped
	})
}

func einsumRule(r *ruleCall) *val {
	text := r.text(0)
	vs := r.tensors(1)
	bad := func(format string, args ...any) {
		r.title = fmt.Sprintf("named.Einsum: %q", text)
		r.wrong(ruleMissing, fmt.Sprintf(format, args...), "")
	}
	in, out, arrow := strings.Cut(text, "->")
	if !arrow {
		bad("there is no arrow: list the dimensions of the result after ->")
	}
	terms := strings.Split(in, ",")
	if len(terms) != len(vs) {
		bad("there are %d terms for %d tensors", len(terms), len(vs))
	}
	var all, rest []dim // rest: the dimensions of ellipses
	var listed []name
	behind := make([][]dim, len(vs))
	for i, term := range terms {
		var seen []name
		dots := false
		for _, word := range strings.Fields(term) {
			if word == ellipsis {
				if dots {
					bad("... occurs twice in term %d", i)
				}
				dots = true
				continue
			}
			n, ok := findWord(vs[i].Dims, word)
			if !ok {
				bad("%s is not a dimension of tensor %d\n%s", word, i, lines(r.one("tensor", vs[i], i+1)))
			}
			if slices.Contains(seen, n) {
				bad("%s occurs twice in term %d", word, i)
			}
			seen = append(seen, n)
		}
		behind[i] = without(vs[i].Dims, seen)
		if len(behind[i]) > 0 && !dots {
			bad("term %d lacks {%s}\n%s", i, listText(dimNames(behind[i])), lines(r.one("tensor", vs[i], i+1)))
		}
		all, listed, rest = merged(all, vs[i].Dims), union(listed, seen), merged(rest, behind[i])
	}
	for i, dims := range behind {
		if both := intersect(dimNames(dims), listed); len(both) > 0 {
			bad("{%s} of tensor %d is under ... but is listed in another term: list it in term %d too\n%s", listText(both), i, i, lines(r.one("tensor", vs[i], i+1)))
		}
	}
	var keep []name
	dots := 0
	for _, word := range strings.Fields(out) {
		if word == ellipsis {
			dots++
			continue
		}
		n, ok := findWord(all, word)
		if !ok {
			bad("no tensor has %s, which the result lists", word)
		}
		if slices.Contains(keep, n) {
			bad("%s occurs twice in the result", word)
		}
		keep = append(keep, n)
	}
	lacks := dimNames(without(rest, keep))
	switch {
	case dots == 0 && len(lacks) > 0:
		bad("the result lacks ..., which stands for {%s}", listText(lacks))
	case dots > 1:
		bad("... occurs twice in the result")
	}
	keep = append(keep, lacks...)
	r.dims = dimNames(without(all, keep))
	return r.contract(r.several(vs, 1))
}

// ellipsis stands for the dimensions that a term does not list.
const ellipsis = "..."

// findWord returns the dimension that a word in an einsum text refers to.
func findWord(dims []dim, word string) (name, bool) {
	for _, d := range dims {
		if text(d.Name, dims) == word || string(d.Name) == word {
			return d.Name, true
		}
	}
	for _, d := range dims {
		s := d.Name.short()
		if s != "" && strings.ToLower(s[:1])+s[1:] == word || strings.ReplaceAll(s, " ", "_") == word {
			return d.Name, true
		}
	}
	return "", false
}
