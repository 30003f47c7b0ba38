package dimcheck

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon/internal/dimtext"
)

// namedRules are the rules for the functions of package named. Methods of lists of names use the
// rules for the functions.
var namedRules map[string]rule

// listRules are the rules for methods of lists whose arguments differ from the functions' type
// arguments.
var listRules map[string]rule

// dimsMethods are the methods of lists of names that are not operations.
var dimsMethods = map[string]rule{"Of": sizedRule, "Names": namesRule, "String": nothing, "Explain": nothing}

func nothing(*ruleCall) *val { return anything }

func init() {
	namedRules = map[string]rule{
		"named.Dot": dotRule, "named.Dim.Dot": handleDotRule, "named.Contract": contractRule, "named.Einsum": einsumRule,
		"named.Map": func(r *ruleCall) *val { return r.same(r.tensor(1)) }, "named.Equal": nothing, "named.Reverse": alongRule, "named.Roll": alongRule, "named.Map2": func(r *ruleCall) *val { return r.elementwise(1, 2) }, "named.Outer": outerRule,
		"named.BroadcastTo": broadcastRule,
		"named.Masked":      maskedRule, "named.Dropout": dropoutRule, "named.From": fromRule,
		"named.Rename": renameRule, "named.As": asRule, "named.Merge": mergeRule, "named.Split": reshapeRule, "named.Reshape": reshapeRule,
		"named.ExpandDims": expandRule, "named.Squeeze": squeezeRule, "named.Order": orderRule, "named.Unnamed": unnamedRule,
		"named.Stack": stackRule, "named.Concat": concatRule, "named.Unstack": unstackRule, "named.Pieces": piecesRule,
		"named.Index": indexRule, "named.Take": takeRule, "named.OneHot": oneHotRule, "named.Pad": padRule, "named.TopK": topKRule,
		"named.Conv": convRule, "named.Attention": attentionRule, "named.CrossEntropy": crossEntropyRule,
		"named.LayerNorm": func(r *ruleCall) *val { return r.norm(1, 2) }, "named.RMSNorm": func(r *ruleCall) *val { return r.norm(1) },
		"named.Softmax": softmaxRule, "named.LogSoftmax": softmaxRule, "named.Bind": bindRule, "named.BindOver": bindRule, "named.On": onRule, "named.Lift": liftRule, "named.LiftOver": liftRule, "named.MapUnnamed": mapUnnamedRule,
		"named.Of": ofRule, "named.Scalar": scalarRule, "named.By": byRule, "named.Dynamic": dynamicRule,
		"named.Tensor.Size": sizeRule, "named.Tensor.Dims": tensorDimsRule, "named.Tensor.IsRagged": raggedRule, "named.Tensor.Has": hasRule,
		"named.Dim.Size": handleSizeRule, "named.Dim.Tensor": handleTensorRule, "named.Dim.Of": sizedRule, "named.Set.Of": sizedRule,
		"named.Name.Of": sizedRule, "named.Sized.Name": sizedNameRule, "named.Sized.Size": sizedSizeRule,
	}
	for fn, at := range map[string]int{"Zeros": 1, "Ones": 1, "Full": 1, "Uniform": 4, "Normal": 4, "TruncatedNormal": 4, "RandomInt": 4, "Bernoulli": 2} {
		namedRules["named."+fn] = func(r *ruleCall) *val { return r.made(r.sized(at)) }
	}
	for fn, at := range map[string][]int{"Range": {1}, "LinSpace": {2}, "Eye": {1, 2}, "CausalMask": {0, 1}, "Triangle": {0, 1}, "RelativePositions": {0, 1}, "WindowMask": {0, 1}} {
		namedRules["named."+fn] = func(r *ruleCall) *val {
			var elems []*val
			for _, i := range at {
				elems = append(elems, r.arg(i))
			}
			out := r.made(r.flatten(elems))
			if mask := fn == "CausalMask" || fn == "WindowMask"; mask && len(out.Dims) == 2 {
				return out.with(func(a *attrs) { a.Seen = []pair{{out.Dims[0].Name, out.Dims[1].Name}} })
			}
			return out
		}
	}
	for _, fn := range []string{"ScatterAdd", "ScatterUpdate", "ScatterMax", "ScatterMin"} {
		namedRules["named."+fn] = scatterRule
	}
	listRules = map[string]rule{
		"Rename":    func(r *ruleCall) *val { return r.rename(r.dims, dimNames(r.sized(1)), false) },
		"Merge":     func(r *ruleCall) *val { return r.withName(1, mergeRule) },
		"Attention": func(r *ruleCall) *val { return r.withName(3, attentionRule) },
		"Conv": func(r *ruleCall) *val {
			r.names = [][]name{r.dims, r.listed(2), r.listed(3)}
			return convRule(r)
		},
	}
}

// withName runs a rule whose second type argument is an argument.
func (r *ruleCall) withName(i int, f rule) *val {
	r.names = [][]name{r.dims, r.listed(i)}
	return f(r)
}

// takesNames ends the rule for a call if its n lists of names are not known.
func (r *ruleCall) takesNames(n int) {
	if len(r.names) != n {
		r.end()
	}
}

// elementwise is the rule for operations that match operands by name.
func (r *ruleCall) elementwise(at ...int) *val {
	var vs []*val
	var operands []operand
	for _, i := range at {
		v := r.arg(i)
		if isInt(v) {
			continue
		}
		if !isTensorVal(v) {
			return anything
		}
		if len(v.Dims) > 0 || len(at) == len(vs)+1 {
			vs, operands = append(vs, v), append(operands, r.one("", v, i))
		}
	}
	switch len(vs) {
	case 0:
		return anything
	case 1:
		return r.same(vs[0])
	case 2:
		operands[0].role, operands[1].role = "left", "right"
	default:
		for i := range operands {
			operands[i].role = "operand " + index(i)
		}
	}
	widest := slices.IndexFunc(vs, func(v *val) bool {
		return !slices.ContainsFunc(vs, func(u *val) bool { return len(without(u.Dims, dimNames(v.Dims))) > 0 })
	})
	if widest < 0 {
		r.subset(operands...)
	}
	r.title = r.op
	r.sameSizes(operands, nil)
	dims := vs[widest].Dims
	for _, v := range vs {
		dims = merged(dims, v.Dims)
	}
	out := r.result(dims, vs...)
	if r.op == "named.Div" || r.op == "named.Pow" {
		return out
	}
	// Weights that are scaled, or some of which are hidden, remain weights.
	w := vs[widest].attrs()
	return out.with(func(a *attrs) {
		a.Soft, a.Pairs, a.Swapped, a.Seen, a.Both = w.Soft, w.Pairs, w.Swapped, w.Seen, w.Both
	})
}

func maskedRule(r *ruleCall) *val {
	x, mask := r.tensor(0), r.tensor(1)
	s := *r
	s.op, s.args = "named.Where", []*val{mask, x}
	out := s.elementwise(0, 1)
	return tensorOf(out.Dims, &attrs{Hidden: out.attrs().Hidden, Soft: x.attrs().Soft, Pairs: x.attrs().Pairs, Seen: mask.attrs().Seen, Both: x.attrs().Both})
}

func outerRule(r *ruleCall) *val {
	x, y := r.tensor(1), r.tensor(2)
	r.sameSizes([]operand{r.one("left", x, 1), r.one("right", y, 2)}, nil)
	return r.result(merged(x.Dims, y.Dims), x, y)
}

func broadcastRule(r *ruleCall) *val {
	dims := r.sized(1)
	x := r.known(0)
	if x == nil {
		return tensorOf(dims, nil)
	}
	for _, d := range x.Dims {
		i := slices.IndexFunc(dims, func(e dim) bool { return e.Name == d.Name })
		if i < 0 {
			r.misuse("the sizes lack "+d.Name.short()+"\n"+lines(r.one("tensor", x, 0)), "list all dimensions of the result")
		}
		if d.Size >= 0 && dims[i].Size >= 0 && d.Size != dims[i].Size {
			r.wrong(ruleSizes, fmt.Sprintf("%s has the size %d, not %d\n%s", d.Name.short(), d.Size, dims[i].Size, lines(r.one("tensor", x, 0))), "")
		}
	}
	return r.result(dims, x)
}

func fromRule(r *ruleCall) *val { return r.tensor(0) }

func dropoutRule(r *ruleCall) *val {
	x := r.tensor(1)
	r.run(func(r *ruleCall) *val { // whether it shares names is checked separately
		r.dims = dimNames(r.sized(3))
		return r.along(1)
	})
	return r.same(x)
}

func reduceRule(r *ruleCall) *val {
	x := r.along(0)
	return r.result(without(x.Dims, r.dims), x)
}

func alongRule(r *ruleCall) *val {
	x := r.along(0)
	return r.result(x.Dims, x)
}

func softmaxRule(r *ruleCall) *val {
	x := r.checkSoftmax(r.along(0))
	r.checkSeen(x)
	r.checkBoth(x)
	out := r.same(x)
	return out.with(func(a *attrs) {
		a.Seen, a.Both = nil, nil
		if r.op == "named.LogSoftmax" {
			a.Soft = nil
		} else if len(r.dims) == 1 {
			a.Soft = []softmax{{r.dims[0], r.n.Site}}
		}
	})
}

func (r *ruleCall) norm(parameters ...int) *val {
	x, title := r.along(0), r.title
	for _, i := range parameters {
		p := r.known(i)
		if p == nil {
			continue
		}
		for _, d := range p.Dims {
			if !x.has(d.Name) {
				r.title = r.op
				r.missing(d.Name, r.one("tensor", x, 0), r.one("scale or offset", p, i))
			}
		}
		if lacks := without(namesVal(r.dims).Dims, dimNames(p.Dims)); len(lacks) > 0 && len(p.Dims) > 0 {
			operands := []operand{r.one("tensor", x, 0), r.one([]string{"scale", "offset"}[i-1], p, i)}
			r.title = title
			msg, hint := dimtext.Unscaled(r.op, nameTexts(dimNames(lacks)), textsOf(operands)...)
			p := problem{rule: ruleMissing, op: r.over(), msg: msg, hint: hint}
			if d := operands[1].v.Dims; len(d) == 1 && len(r.dims) == 1 {
				p.fixes = replaceName(r, 0, r.dims[0], d[0].Name)
			}
			r.fail(p)
		}
		r.title = title
		r.sameSizes([]operand{r.one("left", x, 0), r.one("right", p, i)}, nil)
	}
	return r.result(x.Dims, x)
}

func crossEntropyRule(r *ruleCall) *val {
	x, y := r.along(0), r.known(1)
	rest := without(x.Dims, r.dims)
	if y != nil {
		want := rest
		if y.has(r.dims[0]) {
			want = x.Dims
		}
		lacks := without(want, dimNames(y.Dims))
		if len(lacks) > 0 || len(y.Dims) != len(want) {
			hint := ""
			if len(lacks) > 0 {
				hint = "repeat the labels along {" + listText(dimNames(lacks)) + "} with named.BroadcastTo, if that is meant"
			}
			r.misuse("the labels do not have the dimensions of the logits\n"+lines(r.one("logits", x, 0), r.one("labels", y, 1)), hint)
		}
		r.sameSizes(r.pair(x, y), nil)
	}
	return r.result(rest, x, y)
}
