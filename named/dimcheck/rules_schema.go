package dimcheck

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon/internal/dimtext"
)

func bindRule(r *ruleCall) *val {
	own := r.n.Val
	x := r.tensor(0)
	if own == nil {
		return anything
	}
	if r.op == "named.BindOver" {
		over := r.dims
		if len(over) == 0 {
			return anything
		}
		r.needs(over, x, 0)
		x = x.with(func(a *attrs) { a.Extra = union(a.Extra, over) })
	}
	extra := slices.DeleteFunc(without(x.Dims, dimNames(own.Dims)), func(d dim) bool { return slices.Contains(x.attrs().Extra, d.Name) })
	lacks := without(own.Dims, dimNames(x.Dims))
	if len(r.n.Keys) > 0 {
		r.title = r.op + " " + r.n.Keys[0]
	}
	if len(extra) > 0 || len(lacks) > 0 {
		want := slices.Clone(own.Dims)
		msg, hint := dimtext.Schema(texts(want), textsOf([]operand{{"tensor", x, 0}})[0])
		r.report(problem{rule: ruleSchema, op: r.over(), msg: msg, hint: hint, fixes: schemaFixes(r, x, lacks, extra)})
		return own
	}
	for _, d := range own.Dims {
		have, _ := x.find(d.Name)
		if d.Size == dimtext.Ragged && have.Size >= 0 {
			r.report(problem{rule: ruleMisuse, op: r.over(), msg: fmt.Sprintf("%s is ragged in the schema, and not in the tensor\n%s", d.Name.short(), lines(r.one("tensor", x, 0)))})
			return own
		}
		if d.Size != dimtext.Ragged && have.Size == dimtext.Ragged {
			r.report(problem{rule: ruleMisuse, op: r.over(), msg: fmt.Sprintf("%s is ragged in the tensor, and not in the schema\n%s", d.Name.short(), lines(r.one("tensor", x, 0))),
				hint: fmt.Sprintf("mark it in the schema: %s `named:\"ragged\"`", d.Name.short())})
			return own
		}
	}
	return x
}

// onRule is the rule for the function that makes a handle.
func onRule(r *ruleCall) *val {
	if len(r.dims) != 1 {
		return anything
	}
	return r.along(0).with(func(a *attrs) { a.Handle = r.dims[0] })
}

func liftRule(r *ruleCall) *val {
	over, fn := r.dims, r.arg(0)
	if r.op == "named.LiftOver" {
		over, fn = r.listed(0), r.arg(1)
	}
	if len(over) == 0 || fn == nil || fn.Kind != funcKind {
		return anything
	}
	g := *fn.Func
	g.Over = union(over, g.Over)
	return &val{Kind: funcKind, Func: &g}
}

func mapUnnamedRule(r *ruleCall) *val {
	r.dims = dimNames(r.sized(2))
	x := r.along(1)
	return r.result(merged(without(x.Dims, r.dims), withoutSizes(r.sized(3))), x)
}
