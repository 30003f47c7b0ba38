package dimcheck

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon/named/internal/terms"
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
	of := r.text(0)
	vs := r.tensors(1)
	t := terms.Text[name]{Text: of, Dims: make([][]name, len(vs)),
		Path:    func(n name) string { return string(n) },
		Short:   name.short,
		Printed: func(n name, among []name) string { return text(n, namesVal(among).Dims) },
		Line:    func(i int) string { return lines(r.one("tensor", vs[i], i+1)) },
		Bad: func(_ bool, format string, args ...any) {
			r.title = fmt.Sprintf("named.Einsum: %q", of)
			r.wrong(ruleMissing, fmt.Sprintf(format, args...), "")
		}}
	var all []dim
	for i, v := range vs {
		t.Dims[i], all = dimNames(v.Dims), merged(all, v.Dims)
	}
	r.dims = dimNames(without(all, t.Result()))
	return r.contract(r.several(vs, 1))
}
