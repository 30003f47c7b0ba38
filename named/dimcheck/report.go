package dimcheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenonml/tenon/internal/dimtext"
)

// The rules, which are the categories of diagnostics.
const (
	ruleMissing = "missing"     // a tensor lacks a dimension that an operation works on
	ruleShared  = "shared"      // the operands of a strict contraction share another dimension
	ruleTaken   = "existing"    // a tensor already has a name that is to be added
	ruleSchema  = "schema"      // the dimensions of a tensor are not those of a schema
	ruleSizes   = "sizes"       // a name has two different sizes
	ruleSubset  = "subset"      // no operand of an elementwise operation has all names
	ruleSoftmax = "softmax"     // weights are contracted over a dimension other than that of their softmax
	ruleRoles   = "roles"       // queries and keys are in exchanged roles
	ruleDim     = "declaration" // a name type embeds another's Dim
	ruleMisuse  = "misuse"      // anything else that would make an operation throw an error
)

// An operand is a tensor with its role in an operation.
type operand struct {
	role string
	v    *val
	arg  int // of the call, or -1
}

func textsOf(operands []operand) []dimtext.Operand {
	return textsAbout(operands)
}

// textsAbout returns operands for a message that also mentions other names.
func textsAbout(operands []operand, more ...name) []dimtext.Operand {
	scope := scopeOf(operands, more...)
	out := make([]dimtext.Operand, len(operands))
	for i, o := range operands {
		out[i] = dimtext.Operand{Role: o.role, Dims: textsIn(o.v.Dims, scope), From: o.v.attrs().From}
	}
	return out
}

// scopeOf returns all names in a message, so that each is printed in a form that distinguishes it
// from the others.
func scopeOf(operands []operand, more ...name) []dim {
	var scope []dim
	for _, n := range more {
		scope = append(scope, dim{Name: n})
	}
	for _, o := range operands {
		scope = merged(scope, o.v.Dims)
	}
	return scope
}

func lines(operands ...operand) string { return dimtext.Lines(textsOf(operands)...) }

// A problem is a mistake at a node.
type problem struct {
	rule          string
	op, msg, hint string
	fixes         []fix

	calls []spot // its position, followed by the calls that lead there, the innermost first
	outer string // the function that contains it, if it is reported at a call of that function
}

// text returns the text of the report, which is that of the run-time error.
func (p problem) text() string {
	var b strings.Builder
	if p.outer != "" {
		b.WriteString("in " + p.outer + ": ")
	}
	b.WriteString(p.op + ": " + p.msg)
	if p.hint != "" {
		b.WriteString("\n  " + strings.ReplaceAll(p.hint, "\n", "\n  "))
	}
	return b.String()
}

// report records a problem at a node of a frame, with the calls that lead there. Mistakes that do
// not depend on arguments are reported when the function is checked by itself, and not again.
func (c *checker) report(f *frame, at int, p problem) {
	c.failed = true
	if f.report {
		c.failures++
	}
	if !f.report || f.prog.Nodes[at].Bad {
		return
	}
	p.calls = []spot{{f.prog, at}}
	for !f.home {
		if at, f = f.call, f.parent; f.prog.Nodes[at].Bad {
			return
		}
		p.calls = append(p.calls, spot{f.prog, at})
	}
	if !slices.ContainsFunc(c.problems, func(q problem) bool { return q.rule == p.rule && slices.Equal(q.calls, p.calls) }) {
		c.problems = append(c.problems, p)
	}
}

// place returns the call at which a problem is reported: the innermost one in the package, unless
// other calls of the function that contains it are right; then its call is at fault.
func (c *checker) place(p *problem) (at int, ok bool) {
	at = slices.IndexFunc(p.calls, func(s spot) bool { _, here := s.prog.local[s.node]; return here })
	if at < 0 {
		return 0, false
	}
	for at+1 < len(p.calls) && c.right[p.calls[at].prog] {
		if _, here := p.calls[at+1].prog.local[p.calls[at+1].node]; !here {
			break
		}
		at++
	}
	return at, true
}

func sortedKeys(m map[string]*val) []string { return slices.Sorted(maps.Keys(m)) }

// The functions below report the same errors as at run time, and end the rule.

func (r *ruleCall) missing(n name, operands ...operand) {
	at := slices.IndexFunc(operands, func(o operand) bool { return !o.v.has(n) })
	called := text(n, scopeOf(operands, n))
	msg, hint := dimtext.Missing(called, max(at, 0), textsAbout(operands, n)...)
	if slices.ContainsFunc(operands, func(o operand) bool { return slices.Contains(o.v.attrs().Hidden, n) }) {
		hint = fmt.Sprintf("%s is what named.Lift takes the function over: the function does not see it", n.short())
	}
	p := problem{rule: ruleMissing, op: r.over(), msg: msg, hint: hint}
	p.fixes = missingFixes(r, n, operands, max(at, 0))
	r.fail(p)
}

// about reports an error about a name of operands, in the words of package
// dimtext.
func (r *ruleCall) about(rule string, words func(name string, operands ...dimtext.Operand) (msg, hint string), n name, fixes []fix, operands ...operand) {
	msg, hint := words(text(n, scopeOf(operands, n)), textsAbout(operands, n)...)
	r.fail(problem{rule: rule, op: r.over(), msg: msg, hint: hint, fixes: fixes})
}

func (r *ruleCall) alone(n name, at int, operands ...operand) {
	words := func(name string, operands ...dimtext.Operand) (msg, hint string) {
		return dimtext.Alone(name, at, operands...)
	}
	r.about(ruleMissing, words, n, aloneFixes(r, n, at, operands), operands...)
}

func (r *ruleCall) shared(n name, a, b operand) {
	r.about(ruleShared, dimtext.Shared, n, sharedFixes(r, n, a, b), a, b)
}

func (r *ruleCall) taken(n name, o operand) { r.about(ruleTaken, dimtext.Taken, n, nil, o) }

func (r *ruleCall) sizesDiffer(n name, operands ...operand) {
	r.about(ruleSizes, dimtext.SizesDiffer, n, nil, operands...)
}

func (r *ruleCall) subset(operands ...operand) {
	msg, hint := dimtext.NoSubset(textsOf(operands)...)
	r.fail(problem{rule: ruleSubset, op: r.op, msg: msg, hint: hint, fixes: subsetFixes(r, operands)})
}

func (r *ruleCall) twice(n name, list []name) {
	s := make([]string, len(list))
	for i, x := range list {
		s[i] = x.short()
	}
	r.misuse(dimtext.Twice(n.short(), s))
}

func (r *ruleCall) misuse(msg, hint string) { r.wrong(ruleMisuse, msg, hint) }

// wrong reports that the call breaks a rule.
func (r *ruleCall) wrong(rule, msg, hint string) {
	r.fail(problem{rule: rule, op: r.over(), msg: msg, hint: hint})
}

func (r *ruleCall) fail(p problem) {
	r.report(p)
	r.end()
}

// report reports a problem that does not prevent the result from being known.
func (r *ruleCall) report(p problem) { r.c.report(r.f, r.at, p) }

// over returns the operation as errors print it, such as "named.Dot over KqRep".
func (r *ruleCall) over() string {
	if r.title != "" {
		return r.title
	}
	if len(r.dims) == 0 {
		return r.op
	}
	return r.op + " over " + listText(r.dims)
}
