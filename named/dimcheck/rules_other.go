package dimcheck

import (
	"maps"
	"strings"
)

// otherRules are the rules for functions outside package named that pass named tensors, and
// functions of them, through.
var otherRules map[string]rule

func init() {
	otherRules = map[string]rule{
		"tenon.Must": func(r *ruleCall) *val { return r.arg(0) },
		"tenon.Try": func(r *ruleCall) *val {
			return tuple([]*val{r.c.apply(r.f, r.at, r.arg(0), nil)})
		},
		"function.New": func(r *ruleCall) *val { return r.arg(0) },
		"function.Function.CallContext": func(r *ruleCall) *val {
			out := r.c.apply(r.f, r.at, r.arg(0), r.list(2))
			return tuple([]*val{{Kind: groupKind, Fields: map[string]*val{"0": orAnything(out)}}, anything})
		},
		"function.Function.Trace":    tracedRule,
		"function.Function.Concrete": tracedRule,
		"grad.Of":                    func(r *ruleCall) *val { return giving(r.arg(0), itsGradient) },
		"grad.ValueAndGrad":          func(r *ruleCall) *val { return giving(r.arg(0), resultAndGradient) },
		"grad.Checkpoint":            func(r *ruleCall) *val { return r.arg(0) },
		"grad.StopGradient":          func(r *ruleCall) *val { return r.arg(0) },
		"ops/key.At":                 func(r *ruleCall) *val { return r.arg(0) },
		"ops/key.Range":              func(r *ruleCall) *val { return rangeOf(r.arg(0), r.arg(1), r.arg(2)) },
		"ops/key.From":               func(r *ruleCall) *val { return rangeOf(r.arg(0), nil, nil) },
		"ops/key.To":                 func(r *ruleCall) *val { return rangeOf(nil, r.arg(0), nil) },
	}
	maps.Copy(otherRules, controlRules())
	maps.Copy(otherRules, modelRules())
}

// tracedRule runs a function with arguments that stand for others with the same dimensions.
func tracedRule(r *ruleCall) *val {
	r.c.apply(r.f, r.at, r.arg(0), r.list(1))
	return tuple([]*val{anything, anything})
}

func giving(fn *val, g gives) *val {
	if fn == nil || fn.Kind != funcKind || fn.Func.Gives != itsResult {
		return anything
	}
	f := *fn.Func
	f.Gives = g
	return &val{Kind: funcKind, Func: &f}
}

// stated is the rule for functions of packages ops and named without a rule of their own: the
// resulting names follow from the operation's statement. Since functions of ops take axis numbers,
// only those that reduce all axes are supported for named tensors.
func stated(pkg, name string) rule {
	switch o := operationOf(name); {
	case o.effect == elementwise:
		at := make([]int, o.operands)
		for i := range at {
			at[i] = i
		}
		return func(r *ruleCall) *val { return r.elementwise(at...) }
	case o.effect == whole:
		return func(r *ruleCall) *val { return r.same(r.tensor(0)) }
	case o.effect == reduced && pkg == "named":
		return reduceRule
	case o.effect == kept && pkg == "named":
		return alongRule
	case o.effect == reduced:
		return func(r *ruleCall) *val {
			if x := r.tensor(0); len(r.list(1)) == 0 {
				return r.result(nil, x)
			}
			return anything
		}
	}
	return nothing
}

// An effect is what an operation does to names; see package named/internal/stated. The catalogue
// itself is too large for a program that is started for each package.
type effect uint8

const (
	_ effect = iota
	elementwise
	whole
	reduced
	kept
)

// An operation is what functions of package ops with the same operation share.
type operation struct {
	effect    effect
	operands  int
	functions string
}

// operationOf returns the operation that a function of package ops calls.
func operationOf(name string) operation {
	for _, o := range operations {
		if strings.Contains(o.functions, " "+name+" ") {
			return o
		}
	}
	return operation{}
}
