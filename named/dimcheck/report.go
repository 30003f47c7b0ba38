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
	ruleMissing = "missing"     // a tensor lacks a dimension that an operation is over
	ruleShared  = "shared"      // the operands of a strict contraction share another one
	ruleTaken   = "existing"    // a tensor has a name already that it is to get
	ruleSchema  = "schema"      // the dimensions of a tensor are not those of a schema
	ruleSizes   = "sizes"       // a name has two sizes
	ruleSubset  = "subset"      // no operand of an elementwise operation has all names
	ruleSoftmax = "softmax"     // weights are contracted over another dimension than their softmax
	ruleRoles   = "roles"       // queries and keys have exchanged their roles
	ruleDim     = "declaration" // a name type embeds another's Dim
	ruleMisuse  = "misuse"      // anything else that an operation would throw
)

// An operand is a tensor with its role in an operation.
type operand struct {
	role string
	v    *val
	arg  int // of the call, or -1
}

func textsOf(operands []operand) []dimtext.Operand {
	out := make([]dimtext.Operand, len(operands))
	for i, o := range operands {
		out[i] = dimtext.Operand{Role: o.role, Dims: texts(o.v.Dims), From: o.v.attrs().From}
	}
	return out
}

func lines(operands ...operand) string { return dimtext.Lines(textsOf(operands)...) }

// A problem is what is wrong at a node.
type problem struct {
	rule          string
	op, msg, hint string
	fixes         []fix

	home  *program // where it is reported
	node  int
	outer string // the function that it is in, if that is another one
}

// text is what is reported: the text of the error at run time.
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

// report keeps a problem at a node of a frame. In a function that is called, it is the
// call that is at fault, unless the function is wrong for all arguments, which is
// reported there.
func (c *checker) report(f *frame, at int, p problem) {
	c.failed = true
	if !f.report || f.prog.Nodes[at].Bad {
		return
	}
	if !f.home {
		p.outer = f.prog.Name
		if s := f.prog.Nodes[at].Site; s != "" {
			p.outer += " (" + s.line() + ")"
		}
		p.fixes = nil
	}
	for !f.home {
		if c.reported(f.prog, at, p.rule) { // a closure that is called elsewhere
			return
		}
		if at, f = f.call, f.parent; f.prog.Nodes[at].Bad {
			return
		}
	}
	p.home, p.node = f.prog, at
	if !c.reported(p.home, at, p.rule) {
		c.problems = append(c.problems, p)
	}
}

func (c *checker) reported(home *program, node int, rule string) bool {
	return slices.ContainsFunc(c.problems, func(q problem) bool { return q.home == home && q.node == node && q.rule == rule })
}

func sortedKeys(m map[string]*val) []string { return slices.Sorted(maps.Keys(m)) }

// The functions below report what errors at run time say.

func (r *ruleCall) missing(n name, operands ...operand) {
	at := slices.IndexFunc(operands, func(o operand) bool { return !o.v.has(n) })
	msg, hint := dimtext.Missing(n.short(), max(at, 0), textsOf(operands)...)
	if slices.ContainsFunc(operands, func(o operand) bool { return slices.Contains(o.v.attrs().Hidden, n) }) {
		hint = fmt.Sprintf("%s is what named.Lift takes the function over: the function does not see it", n.short())
	}
	p := problem{rule: ruleMissing, op: r.over(), msg: msg, hint: hint}
	p.fixes = missingFixes(r, n, operands, max(at, 0))
	r.report(p)
}

func (r *ruleCall) shared(n name, a, b operand) {
	msg, hint := dimtext.Shared(n.short(), textsOf([]operand{a, b})...)
	r.report(problem{rule: ruleShared, op: r.over(), msg: msg, hint: hint, fixes: sharedFixes(r, n, a, b)})
}

func (r *ruleCall) taken(n name, o operand) {
	msg, hint := dimtext.Taken(n.short(), textsOf([]operand{o})...)
	r.report(problem{rule: ruleTaken, op: r.over(), msg: msg, hint: hint})
}

func (r *ruleCall) sizesDiffer(n name, operands ...operand) {
	msg, hint := dimtext.SizesDiffer(n.short(), textsOf(operands)...)
	r.report(problem{rule: ruleSizes, op: r.over(), msg: msg, hint: hint})
}

func (r *ruleCall) subset(operands ...operand) {
	msg, hint := dimtext.NoSubset(textsOf(operands)...)
	r.report(problem{rule: ruleSubset, op: r.op, msg: msg, hint: hint, fixes: subsetFixes(r, operands)})
}

func (r *ruleCall) twice(n name, list []name) {
	s := make([]string, len(list))
	for i, x := range list {
		s[i] = x.short()
	}
	msg, hint := dimtext.Twice(n.short(), s)
	r.report(problem{rule: ruleMisuse, op: r.over(), msg: msg, hint: hint})
}

func (r *ruleCall) misuse(msg, hint string) {
	r.report(problem{rule: ruleMisuse, op: r.over(), msg: msg, hint: hint})
}

func (r *ruleCall) report(p problem) { r.c.report(r.f, r.at, p) }

// over is the operation as errors call it: "named.Dot over KqRep".
func (r *ruleCall) over() string {
	if r.title != "" {
		return r.title
	}
	if len(r.dims) == 0 {
		return r.op
	}
	return r.op + " over " + listText(r.dims)
}
