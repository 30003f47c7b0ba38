package dimcheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon/internal/dimtext"
)

// In attention, weights are a softmax over the positions of the keys, and are contracted with
// values over these positions. If queries, keys and values are computed from the same tensor, their
// positions initially have the same name. Renaming only that of the keys, and then contracting with
// values that still have the original name, sums over the positions of the queries. All names
// match, and the result is that of attention with the matrices of queries and keys exchanged.

// A role says which positions a dimension runs along.
type role string

const (
	keyRole   role = "key"
	queryRole role = "query"
)

// roleOf returns the role that a word, the name of a variable or of a dimension, suggests.
func roleOf(word string) role {
	w := strings.ToLower(word)
	switch isKey, isQuery := strings.Contains(w, "key"), strings.Contains(w, "quer"); {
	case isKey && !isQuery:
		return keyRole
	case isQuery && !isKey:
		return queryRole
	}
	return ""
}

// role returns the role of the dimension, which follows from its name or, if not, from the name of
// the variable that held the tensor.
func (d dim) role() role {
	if r := roleOf(d.Name.short()); r != "" {
		return r
	}
	return d.Role
}

// withRoles gives the dimensions of a tensor that have no role the role of the
// variable it is assigned to.
func withRoles(v *val, variable string) *val {
	r := roleOf(variable)
	if r == "" || !isTensorVal(v) || !slices.ContainsFunc(v.Dims, func(d dim) bool { return d.Role == "" }) {
		return v
	}
	out := *v
	out.Dims = slices.Clone(v.Dims)
	for i := range out.Dims {
		if out.Dims[i].Role == "" {
			out.Dims[i].Role = r
		}
	}
	return &out
}

// pairsOf returns the pairs of dimensions of a product that are the positions of queries and of
// keys: one of each operand, with the same origin.
func pairsOf(a, b []dim) []pair {
	var out []pair
	for _, x := range a {
		for _, y := range b {
			if x.Name == y.Name || x.root() != y.root() && !sameButRole(x.Name, y.Name) {
				continue
			}
			switch p, q := x.role(), y.role(); {
			case p == keyRole && q != keyRole, q == queryRole && p != queryRole:
				out = append(out, pair{Query: y.Name, Key: x.Name})
			case q == keyRole && p != keyRole, p == queryRole && q != queryRole:
				out = append(out, pair{Query: x.Name, Key: y.Name})
			}
		}
	}
	return out
}

// sameButRole reports whether names, such as QueryPos and KeyPos, differ only in the role.
func sameButRole(a, b name) bool {
	strip := func(n name) string {
		s := strings.ToLower(n.short())
		for _, w := range []string{"queries", "query", "keys", "key"} {
			s = strings.ReplaceAll(s, w, "")
		}
		return s
	}
	return strip(a) == strip(b) && strip(a) != ""
}

// checkSoftmax reports a softmax over the positions of the queries.
func (r *ruleCall) checkSoftmax(x *val) *val {
	for _, p := range x.attrs().Pairs {
		if !slices.Contains(r.dims, p.Query) || slices.Contains(r.dims, p.Key) || !x.has(p.Key) {
			continue
		}
		msg := fmt.Sprintf("%s are the positions of the queries: the weights of a query do not add up to 1 over those of the keys, %s\n%s",
			p.Query.short(), p.Key.short(), lines(operand{"tensor", x, 0}))
		r.report(problem{rule: ruleRoles, op: r.over(), msg: msg, hint: fmt.Sprintf("did you mean named.Softmax[%s]?", p.Key.short()),
			fixes: replaceName(r, 0, p.Query, p.Key)})
		return x.with(func(a *attrs) { a.Pairs = nil })
	}
	return x
}

// checkSeen reports a softmax of scores under a mask that is over the mask's
// queries.
func (r *ruleCall) checkSeen(x *val, operands ...operand) {
	if operands == nil {
		operands = []operand{{"scores", x, 0}}
	}
	for _, p := range x.attrs().Seen {
		if !slices.Contains(r.dims, p.Query) || slices.Contains(r.dims, p.Key) {
			continue
		}
		q, k := p.Query.short(), p.Key.short()
		msg := fmt.Sprintf("the mask says which %s each %s attends to, and their weights must add up along %s\n%s", k, q, k, lines(operands...))
		hint := fmt.Sprintf("the mask takes first the queries, and then the keys: exchange its arguments, or use a softmax over %s", k)
		r.report(problem{rule: ruleRoles, op: r.over(), msg: msg, hint: hint})
		return
	}
}

// checkBoth reports a softmax over a dimension along which the operands of the scores were matched:
// there is a score for each position, and none for pairs of positions.
func (r *ruleCall) checkBoth(x *val) {
	for _, b := range x.attrs().Both {
		if len(r.dims) != 1 || r.dims[0] != b.Name {
			continue
		}
		n := b.Name.short()
		msg := fmt.Sprintf("both operands of the contraction (%s) have %s: the scores are those of each position with itself\n%s", b.Site.line(), n, lines(operand{"scores", x, 0}))
		hint := fmt.Sprintf("rename %s of the keys and values, named.Rename[%s, Key%s](keys), and take the softmax over that", n, n, n)
		r.report(problem{rule: ruleRoles, op: r.over(), msg: msg, hint: hint})
		return
	}
}

// A softUse records how the weights of a softmax are used.
type softUse struct {
	fine bool // they are contracted over its dimension
	bad  []func()
}

// checkWeights checks how a contraction uses weights, and returns the pairs whose roles it
// exchanges.
func (r *ruleCall) checkWeights(operands []operand) []pair {
	var swapped []pair
	for i, o := range operands {
		a := o.v.attrs()
		var with *val
		for k, other := range operands {
			if k != i && slices.ContainsFunc(r.dims, func(n name) bool { return other.v.has(n) && o.v.has(n) }) {
				with = other.v
			}
		}
		if with == nil {
			continue
		}
		weights := false
		for _, s := range a.Soft {
			if o.v.has(s.Over) && r.f.report {
				weights = r.useWeights(s, o, operands) || weights
			}
		}
		for _, p := range a.Pairs {
			if !weights && slices.Contains(r.dims, p.Query) && !slices.Contains(r.dims, p.Key) && o.v.has(p.Query) && o.v.has(p.Key) && !with.has(p.Key) {
				swapped = append(swapped, p)
			}
		}
	}
	return swapped
}

// useWeights records a contraction of weights, and reports whether it is over a different
// dimension.
func (r *ruleCall) useWeights(s softmax, o operand, operands []operand) bool {
	use := r.c.soft[s]
	if use == nil {
		use = &softUse{}
		r.c.soft[s] = use
	}
	if slices.Contains(r.dims, s.Over) {
		use.fine = true
		return false
	}
	over := slices.DeleteFunc(slices.Clone(r.dims), func(n name) bool { return !o.v.has(n) })
	msg := fmt.Sprintf("%s has weights that are a softmax over %s (%s), and they are contracted over %s\n%s",
		strings.TrimPrefix(dimtextSubject(o), "the "), s.Over.short(), s.Site.line(), listText(over), lines(operands...))
	hint := fmt.Sprintf("contract over %s, or take the softmax over %s", s.Over.short(), listText(over))
	p := problem{rule: ruleSoftmax, op: r.over(), msg: msg, hint: hint, fixes: weightsFixes(r, s, over, o, operands)}
	use.bad = append(use.bad, func() { r.report(p) })
	return true
}

func dimtextSubject(o operand) string {
	if o.role == "left" || o.role == "right" {
		return o.role + " operand"
	}
	return o.role
}

// flush reports weights that are only contracted over other dimensions.
func (c *checker) flush() {
	for _, s := range sortedSoft(c.soft) {
		if u := c.soft[s]; !u.fine {
			for _, report := range u.bad {
				report()
			}
		}
	}
}

func sortedSoft(m map[softmax]*softUse) []softmax {
	var out []softmax
	for s := range m {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b softmax) int {
		return strings.Compare(string(a.Site)+string(a.Over), string(b.Site)+string(b.Over))
	})
	return out
}

// checkSwap reports that the result of a sum over the positions of the queries is named as if it
// still had these positions.
func (r *ruleCall) checkSwap(x *val, from, to name) {
	for _, p := range x.attrs().Swapped {
		if p.Key != from || p.Query != to {
			continue
		}
		msg := fmt.Sprintf("the positions of the queries, %s, have been summed over, and those of the keys, %s, get their name: queries and keys have exchanged their roles\n%s",
			to.short(), from.short(), dimtext.Lines(textsOf([]operand{{"tensor", x, 0}})...))
		hint := fmt.Sprintf("rename the values as well, named.Rename[%s, %s](values), and contract over %s", to.short(), from.short(), from.short())
		r.report(problem{rule: ruleRoles, op: r.over(), msg: msg, hint: hint})
	}
}
