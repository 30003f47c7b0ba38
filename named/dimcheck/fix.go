package dimcheck

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon/internal/dimtext"
)

// A fix is a change to a call that repairs it. It is converted to edits of the source later.
type fix struct {
	message string
	changes []change
}

// A change is an edit of a call.
type change struct {
	kind changeKind
	arg  int    // of the call in the source
	at   int    // index of a type argument
	site site   // of a call other than the one at fault
	from name   // for renaming
	to   name   // for renaming, and for type arguments
	list []name // for a schema
}

type changeKind int

const (
	wrapArg    changeKind = iota // argument arg becomes named.Rename[from, to](argument)
	setTypeArg                   // type argument at becomes to
	setFunc                      // the function becomes named.Contract
	setSchema                    // the schema given as first type argument gets the names in list
)

func wrap(arg int, from, to name) change {
	return change{kind: wrapArg, arg: arg, from: from, to: to}
}

// missingFixes renames what an operand has to the name that it lacks, or corrects
// a misspelling.
func missingFixes(r *ruleCall, n name, operands []operand, at int) []fix {
	o := operands[at]
	var out []fix
	if len(operands) == 2 && o.arg >= 0 {
		other := operands[1-at].v
		if d, ok := other.find(n); ok {
			for _, c := range o.v.Dims {
				if d.Size >= 0 && c.Size == d.Size && !other.has(c.Name) {
					out = append(out, fix{"rename " + c.Name.short() + " to " + n.short(), []change{wrap(o.arg, c.Name, n)}})
					break
				}
			}
		}
	}
	for _, d := range o.v.Dims {
		if s := d.Name.short(); dimtext.Similar(n.short(), s) && len(operands) == 1 && slices.Contains(r.dims, n) && len(r.n.Names) > 0 {
			i := slices.IndexFunc(r.names, func(l []name) bool { return len(l) == 1 && l[0] == n })
			if i >= 0 {
				out = append(out, fix{"use " + s, []change{{kind: setTypeArg, at: i, to: d.Name}}})
			}
			break
		}
	}
	return out
}

// aloneFixes renames, in another operand, the dimension with the same size as a name that only one
// operand has.
func aloneFixes(r *ruleCall, n name, at int, operands []operand) []fix {
	d, _ := operands[at].v.find(n)
	var out []fix
	for i, o := range operands {
		for _, c := range o.v.Dims {
			sized := d.Size >= 0 && c.Size == d.Size || d.root() == c.root() && d.Name != c.Name
			if i != at && o.arg >= 0 && sized && !operands[at].v.has(c.Name) {
				out = append(out, fix{"rename " + c.Name.short() + " to " + n.short(), []change{wrap(o.arg, c.Name, n)}})
			}
		}
	}
	return out
}

// sharedFixes renames the shared dimension of an operand if a name for it is available, or makes it
// a batch dimension.
func sharedFixes(r *ruleCall, n name, a, b operand) []fix {
	var out []fix
	for _, o := range []operand{a, b} {
		other := a
		if o.role == a.role {
			other = b
		}
		if o.arg < 0 || !slices.ContainsFunc(o.v.Dims, func(d dim) bool { return d.role() == keyRole }) && o.role == a.role {
			continue
		}
		for _, to := range otherNames(r, n) {
			if !o.v.has(to) && !other.v.has(to) {
				out = append(out, fix{"rename " + n.short() + " of the " + o.role + " operand to " + to.short(), []change{wrap(o.arg, n, to)}})
				break
			}
		}
		break
	}
	if a.arg >= 0 && len(r.n.Names) > 0 {
		out = append(out, fix{"take " + n.short() + " as a batch with named.Contract", []change{{kind: setFunc}}})
	}
	return out
}

// otherNames returns possible names for the positions along a dimension in another role: what the
// function renames them to elsewhere, such as for values next to keys, or the name prefixed with
// Key.
func otherNames(r *ruleCall, n name) []name {
	var out []name
	for _, at := range r.f.prog.Nodes {
		if at.Op == ruleOp && at.Key == "named.Rename" && len(at.Names) == 2 && slices.Equal(at.Names[0], []name{n}) && len(at.Names[1]) == 1 {
			out = append(out, at.Names[1][0])
		}
	}
	return append(out, name(strings.TrimSuffix(string(n), n.short())+"Key"+n.short()))
}

// subsetFixes renames a name that is spelled almost like a name of the other operand.
func subsetFixes(r *ruleCall, operands []operand) []fix {
	if len(operands) != 2 {
		return nil
	}
	a, b := operands[0], operands[1]
	for _, d := range without(a.v.Dims, dimNames(b.v.Dims)) {
		for _, c := range without(b.v.Dims, dimNames(a.v.Dims)) {
			if d.Size >= 0 && c.Size == d.Size && dimtext.Similar(c.Name.short(), d.Name.short()) {
				return []fix{{"rename " + c.Name.short() + " to " + d.Name.short(), []change{wrap(b.arg, c.Name, d.Name)}}}
			}
		}
	}
	return nil
}

// schemaFixes renames the superfluous dimension to the missing one, or changes
// the schema's declaration to match the tensor.
func schemaFixes(r *ruleCall, x *val, lacks, extra []dim) []fix {
	var out []fix
	if len(lacks) == 1 && len(extra) == 1 {
		out = append(out, fix{"rename " + extra[0].Name.short() + " to " + lacks[0].Name.short(), []change{wrap(0, extra[0].Name, lacks[0].Name)}})
	}
	if len(r.n.Keys) > 0 {
		out = append(out, fix{"declare " + r.n.Keys[0] + " with " + dimtext.Braces(texts(withoutSizes(x.Dims))), []change{{kind: setSchema, list: dimNames(x.Dims)}}})
	}
	return out
}

// replaceName replaces a type argument by another name.
func replaceName(r *ruleCall, at int, from, to name) []fix {
	if len(r.n.Names) <= at || len(r.n.Names[at]) != 1 || r.n.Names[at][0] != from {
		return nil
	}
	return []fix{{"use " + to.short(), []change{{kind: setTypeArg, at: at, to: to}}}}
}

// weightsFixes takes the softmax over the contracted dimension, or contracts over
// the softmax's dimension after renaming that of the other operand.
func weightsFixes(r *ruleCall, s softmax, over []name, o operand, operands []operand) []fix {
	if len(over) != 1 || len(r.n.Names) == 0 || len(operands) != 2 {
		return nil
	}
	other := operands[0]
	if other.arg == o.arg {
		other = operands[1]
	}
	var out []fix
	if len(r.n.Names[0]) == 1 && r.n.Names[0][0] == over[0] && other.v.has(over[0]) && !other.v.has(s.Over) {
		out = append(out, fix{"contract over " + s.Over.short() + ", renamed in the other operand",
			[]change{{kind: setTypeArg, to: s.Over}, wrap(other.arg, over[0], s.Over)}})
	}
	return append(out, fix{"take the softmax over " + over[0].short(), []change{{kind: setTypeArg, site: s.Site, to: over[0]}}})
}
