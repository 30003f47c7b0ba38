package dimcheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon/internal/dimtext"
)

// namedRules are those of the functions of package named. Methods of lists of names
// have the rules of the functions.
var namedRules map[string]rule

// listRules are those of methods of lists whose arguments differ from the functions'
// type arguments.
var listRules map[string]rule

// dimsMethods are methods of lists of names that are no operations.
var dimsMethods = map[string]rule{"Of": sizedRule, "Names": namesRule, "String": nothing, "Explain": nothing}

func nothing(*ruleCall) *val { return anything }

func init() {
	namedRules = map[string]rule{
		"named.Dot": dotRule, "named.Dim.Dot": handleDotRule, "named.Contract": contractRule, "named.Einsum": einsumRule,
		"named.Map": mapRule, "named.Map2": func(r *ruleCall) *val { return r.elementwise(1, 2) }, "named.Outer": outerRule,
		"named.BroadcastTo": broadcastRule, "named.Where": func(r *ruleCall) *val { return r.elementwise(0, 1, 2) },
		"named.Masked": maskedRule, "named.Cast": keepRule, "named.Dropout": dropoutRule, "named.From": fromRule,
		"named.Rename": renameRule, "named.As": asRule, "named.Merge": mergeRule, "named.Split": reshapeRule, "named.Reshape": reshapeRule,
		"named.ExpandDims": expandRule, "named.Squeeze": squeezeRule, "named.Order": orderRule, "named.Unnamed": unnamedRule,
		"named.Stack": stackRule, "named.Concat": concatRule, "named.Unstack": unstackRule, "named.Pieces": piecesRule,
		"named.Index": indexRule, "named.Take": takeRule, "named.OneHot": oneHotRule, "named.Pad": padRule, "named.TopK": topKRule,
		"named.Conv": convRule, "named.Attention": attentionRule, "named.CrossEntropy": crossEntropyRule,
		"named.LayerNorm": func(r *ruleCall) *val { return r.norm(1, 2) }, "named.RMSNorm": func(r *ruleCall) *val { return r.norm(1) },
		"named.Softmax": softmaxRule, "named.Bind": bindRule, "named.Lift": liftRule, "named.LiftOver": liftRule, "named.MapUnnamed": mapUnnamedRule,
		"named.Of": ofRule, "named.Scalar": scalarRule, "named.By": byRule, "named.Dynamic": dynamicRule,
		"named.Tensor.Size": sizeRule, "named.Tensor.Dims": tensorDimsRule, "named.Tensor.IsRagged": raggedRule, "named.Tensor.Has": hasRule,
		"named.Dim.Size": handleSizeRule, "named.Dim.Tensor": handleTensorRule, "named.Dim.Of": sizedRule, "named.Set.Of": sizedRule,
		"named.Name.Of": sizedRule, "named.Sized.Name": sizedNameRule, "named.Sized.Size": sizedSizeRule,
	}
	for _, fn := range []string{"Sum", "Mean", "Prod", "Max", "Min", "Any", "All", "CountNonzero", "Variance", "Std", "LogSumExp", "ArgMax", "ArgMin"} {
		namedRules["named."+fn] = reduceRule
	}
	for _, fn := range []string{"LogSoftmax", "CumSum", "CumProd", "CumMax", "CumMin", "Sort", "ArgSort", "Reverse", "Roll"} {
		namedRules["named."+fn] = alongRule
	}
	for _, fn := range []string{"Add", "Sub", "Mul", "Div", "Pow", "Maximum", "Minimum", "SquaredDifference"} {
		namedRules["named."+fn] = func(r *ruleCall) *val { return r.elementwise(0, 1) }
	}
	for fn, at := range map[string]int{"Zeros": 1, "Ones": 1, "Full": 1, "Uniform": 4, "Normal": 4, "TruncatedNormal": 4, "RandomInt": 4, "Bernoulli": 2} {
		namedRules["named."+fn] = func(r *ruleCall) *val { return r.makes(r.sized(at)) }
	}
	for fn, at := range map[string][]int{"Range": {1}, "LinSpace": {2}, "Eye": {1, 2}, "CausalMask": {0, 1}, "Triangle": {0, 1}, "RelativePositions": {0, 1}, "WindowMask": {0, 1}} {
		namedRules["named."+fn] = func(r *ruleCall) *val {
			var elems []*val
			for _, i := range at {
				elems = append(elems, r.arg(i))
			}
			return r.makes(flatten(elems))
		}
	}
	for _, fn := range []string{"ScatterAdd", "ScatterUpdate", "ScatterMax", "ScatterMin"} {
		namedRules["named."+fn] = scatterRule
	}
	listRules = map[string]rule{
		"Rename": func(r *ruleCall) *val {
			to, ok := r.sized(1)
			if !ok {
				return anything
			}
			return r.rename(r.dims, dimNames(to), false)
		},
		"Merge":     func(r *ruleCall) *val { return r.withName(1, mergeRule) },
		"Attention": func(r *ruleCall) *val { return r.withName(3, attentionRule) },
		"Conv": func(r *ruleCall) *val {
			window, ok1 := r.arg(2).names()
			over, ok2 := r.arg(3).names()
			if !ok1 || !ok2 {
				return anything
			}
			r.names = [][]name{r.dims, window, over}
			return convRule(r)
		},
	}
}

// withName runs a rule whose second type argument is an argument.
func (r *ruleCall) withName(i int, f rule) *val {
	n, ok := r.arg(i).names()
	if !ok {
		return anything
	}
	r.names = [][]name{r.dims, n}
	return f(r)
}

func (r *ruleCall) makes(dims []dim, ok bool) *val {
	if !ok {
		return anything
	}
	return r.made(dims)
}

func dotRule(r *ruleCall) *val {
	a, okA := r.tensor(0)
	b, okB := r.tensor(1)
	return r.dot(a, okA, b, okB)
}

func handleDotRule(r *ruleCall) *val {
	dims, ok := r.arg(0).names()
	if !ok {
		return anything
	}
	r.op, r.dims, r.first = "named.Dot", dims, -1
	bare := func(v *val) (*val, bool) {
		if !isTensorVal(v) {
			return nil, false
		}
		return v.with(func(a *attrs) { a.Handle = "" }), true
	}
	a, okA := bare(r.arg(0))
	b, okB := bare(r.arg(1))
	return r.dot(a, okA, b, okB)
}

func (r *ruleCall) dot(a *val, okA bool, b *val, okB bool) *val {
	switch {
	case okA && okB:
	case okA:
		r.needsAs("left", a, 0)
		return anything
	case okB:
		r.needsAs("right", b, 1)
		return anything
	default:
		return anything
	}
	operands := r.pair(a, b)
	for _, n := range r.dims {
		if !a.has(n) || !b.has(n) {
			r.missing(n, operands...)
			return anything
		}
	}
	for _, d := range a.Dims {
		if b.has(d.Name) && !slices.Contains(r.dims, d.Name) {
			r.shared(d.Name, operands[0], operands[1])
			return anything
		}
	}
	return r.contract(operands)
}

// needsAs reports what the only operand that is known lacks.
func (r *ruleCall) needsAs(role string, v *val, arg int) {
	for _, n := range r.dims {
		if !v.has(n) {
			r.missing(n, r.one(role, v, arg))
			return
		}
	}
}

func contractRule(r *ruleCall) *val {
	vs, ok := r.list(0)
	if !ok || len(vs) == 0 || slices.ContainsFunc(vs, func(v *val) bool { return !isTensorVal(v) }) {
		return anything
	}
	operands := r.several(vs, 0)
	for _, n := range r.dims {
		if !slices.ContainsFunc(vs, func(v *val) bool { return v.has(n) }) {
			r.missing(n, operands...)
			return anything
		}
	}
	return r.contract(operands)
}

// contract returns the result of a contraction whose names fit.
func (r *ruleCall) contract(operands []operand) *val {
	if !r.sameSizes(operands, nil) {
		return anything
	}
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
	if len(vs) != 2 || !isTensorVal(out) {
		return out
	}
	rest := func(v, other *val) []dim {
		return slices.DeleteFunc(without(v.Dims, r.dims), func(d dim) bool { return other.has(d.Name) })
	}
	return out.with(func(a *attrs) {
		a.Pairs, a.Swapped = pairsOf(rest(vs[0], vs[1]), rest(vs[1], vs[0])), swapped
	})
}

func einsumRule(r *ruleCall) *val {
	text, list := r.arg(0), r.arg(1)
	if text == nil || text.Kind != textKind || list == nil {
		return anything
	}
	vs, ok := r.list(1)
	if !ok || slices.ContainsFunc(vs, func(v *val) bool { return !isTensorVal(v) }) {
		return anything
	}
	bad := func(format string, args ...any) *val {
		r.title = fmt.Sprintf("named.Einsum: %q", text.Text)
		r.report(problem{rule: ruleMissing, op: r.title, msg: fmt.Sprintf(format, args...)})
		return anything
	}
	in, out, arrow := strings.Cut(text.Text, "->")
	if !arrow {
		return bad("there is no arrow: the dimensions of the result are listed behind ->")
	}
	terms := strings.Split(in, ",")
	if len(terms) != len(vs) {
		return bad("there are %d terms for %d tensors", len(terms), len(vs))
	}
	var all []dim
	for i, term := range terms {
		var seen []name
		for _, word := range strings.Fields(term) {
			n, ok := findWord(vs[i].Dims, word)
			if !ok {
				return bad("%s is no dimension of tensor %d\n%s", word, i, lines(r.one("tensor", vs[i], i+1)))
			}
			seen = append(seen, n)
		}
		if lacks := without(vs[i].Dims, seen); len(lacks) > 0 {
			return bad("term %d lacks {%s}\n%s", i, listText(dimNames(lacks)), lines(r.one("tensor", vs[i], i+1)))
		}
		all = merged(all, vs[i].Dims)
	}
	var keep []name
	for _, word := range strings.Fields(out) {
		n, ok := findWord(all, word)
		if !ok {
			return bad("no tensor has %s, which the result lists", word)
		}
		keep = append(keep, n)
	}
	r.dims = dimNames(without(all, keep))
	return r.contract(r.several(vs, 1))
}

// findWord returns the dimension that a word of an einsum text means.
func findWord(dims []dim, word string) (name, bool) {
	for _, d := range dims {
		if text(d.Name, dims) == word || string(d.Name) == word {
			return d.Name, true
		}
	}
	for _, d := range dims {
		if s := d.Name.short(); s != "" && strings.ToLower(s[:1])+s[1:] == word {
			return d.Name, true
		}
	}
	return "", false
}

// elementwise is the rule of operations that match operands by name.
func (r *ruleCall) elementwise(at ...int) *val {
	var vs []*val
	var operands []operand
	for _, i := range at {
		v := r.arg(i)
		if v != nil && v.Kind == numberKind {
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
		return anything
	}
	r.title = r.op
	if !r.sameSizes(operands, nil) {
		return anything
	}
	dims := vs[widest].Dims
	for _, v := range vs {
		dims = merged(dims, v.Dims)
	}
	out := r.result(dims, vs...)
	if !isTensorVal(out) || r.op == "named.Div" || r.op == "named.Pow" {
		return out
	}
	// What scales weights or hides some leaves them weights.
	w := vs[widest].attrs()
	return out.with(func(a *attrs) { a.Soft, a.Pairs, a.Swapped = w.Soft, w.Pairs, w.Swapped })
}

func maskedRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	mask, okMask := r.tensor(1)
	if !ok || !okMask {
		return anything
	}
	s := *r
	s.op, s.args = "named.Where", []*val{mask, x}
	out := s.elementwise(0, 1)
	if !isTensorVal(out) {
		return out
	}
	return tensorOf(out.Dims, &attrs{Hidden: out.attrs().Hidden, Soft: x.attrs().Soft, Pairs: x.attrs().Pairs})
}

func mapRule(r *ruleCall) *val {
	x, ok := r.tensor(1)
	if !ok {
		return anything
	}
	return r.same(x)
}

func outerRule(r *ruleCall) *val {
	x, okX := r.tensor(1)
	y, okY := r.tensor(2)
	if !okX || !okY {
		return anything
	}
	if !r.sameSizes([]operand{r.one("left", x, 1), r.one("right", y, 2)}, nil) {
		return anything
	}
	return r.result(merged(x.Dims, y.Dims), x, y)
}

func broadcastRule(r *ruleCall) *val {
	dims, known := r.sized(1)
	x, ok := r.tensor(0)
	if !known {
		return anything
	}
	if ok {
		for _, d := range x.Dims {
			i := slices.IndexFunc(dims, func(e dim) bool { return e.Name == d.Name })
			if i < 0 {
				r.misuse("the sizes lack "+d.Name.short()+"\n"+lines(r.one("tensor", x, 0)), "list all dimensions of the result")
				return anything
			}
			if d.Size >= 0 && dims[i].Size >= 0 && d.Size != dims[i].Size {
				r.report(problem{rule: ruleSizes, op: r.over(), msg: fmt.Sprintf("%s has the size %d, not %d\n%s", d.Name.short(), d.Size, dims[i].Size, lines(r.one("tensor", x, 0)))})
				return anything
			}
		}
		return r.result(dims, x)
	}
	return tensorOf(dims, nil)
}

func keepRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok {
		return anything
	}
	return r.same(x)
}

func fromRule(r *ruleCall) *val {
	if x, ok := r.tensor(0); ok {
		return x
	}
	return anything
}

func dropoutRule(r *ruleCall) *val {
	x, ok := r.tensor(1)
	if !ok {
		return anything
	}
	if shared, known := r.sized(3); known {
		r.dims = dimNames(shared)
		r.needs(r.dims, x, 1)
	}
	return r.same(x)
}

func reduceRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok || !r.needs(r.dims, x, 0) {
		return anything
	}
	return r.result(without(x.Dims, r.dims), x)
}

func alongRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok || !r.needs(r.dims, x, 0) {
		return anything
	}
	return r.result(x.Dims, x)
}

func softmaxRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok || !r.needs(r.dims, x, 0) {
		return anything
	}
	x = r.checkSoftmax(x)
	out := r.same(x)
	return out.with(func(a *attrs) {
		if len(r.dims) == 1 {
			a.Soft = []softmax{{r.dims[0], r.n.Site}}
		}
	})
}

func (r *ruleCall) norm(parameters ...int) *val {
	x, ok := r.tensor(0)
	if !ok || !r.needs(r.dims, x, 0) {
		return anything
	}
	title := r.title
	for _, i := range parameters {
		p, ok := r.tensor(i)
		if !ok {
			continue
		}
		for _, d := range p.Dims {
			if !x.has(d.Name) {
				r.title = r.op
				r.missing(d.Name, r.one("tensor", x, 0), r.one("scale or offset", p, i))
				return anything
			}
		}
		r.title = title
		if !r.sameSizes([]operand{r.one("left", x, 0), r.one("right", p, i)}, nil) {
			return anything
		}
	}
	return r.result(x.Dims, x)
}

func crossEntropyRule(r *ruleCall) *val {
	x, okX := r.tensor(0)
	y, okY := r.tensor(1)
	if !okX || !r.needs(r.dims, x, 0) {
		return anything
	}
	rest := without(x.Dims, r.dims)
	if okY {
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
			return anything
		}
		if !r.sameSizes(r.pair(x, y), nil) {
			return anything
		}
	}
	return r.result(rest, x, y)
}

func scalarRule(r *ruleCall) *val { return r.made(nil) }

func ofRule(r *ruleCall) *val {
	dims, ok := r.sized(1)
	if !ok {
		return anything
	}
	return r.made(withoutSizes(dims))
}

func withoutSizes(dims []dim) []dim {
	out := slices.Clone(dims)
	for i := range out {
		out[i].Size = dimtext.Absent
	}
	return out
}

func byRule(r *ruleCall) *val {
	dims, ok := r.sized(0)
	if !ok {
		return anything
	}
	return &val{Kind: namesKind, Dims: dims}
}

func dynamicRule(r *ruleCall) *val {
	t := r.arg(0)
	if t == nil || t.Kind != textKind || t.Text == "" || strings.HasPrefix(t.Text, "$") {
		return anything
	}
	return namesVal([]name{name(t.Text)})
}

func sizedRule(r *ruleCall) *val {
	names, ok := r.arg(0).names()
	if !ok {
		return anything
	}
	v := namesVal(names)
	if n := r.arg(1); n != nil && n.Kind == numberKind && len(names) == 1 {
		v.Dims[0].Size = n.Number
		if n.Number < 0 {
			v.Dims[0].Size = dimtext.Absent
		}
	}
	return v
}

func sizedNameRule(r *ruleCall) *val {
	names, ok := r.arg(0).names()
	if !ok {
		return anything
	}
	return namesVal(names)
}

func sizedSizeRule(r *ruleCall) *val {
	if v := r.arg(0); v != nil && v.Kind == namesKind && len(v.Dims) == 1 {
		return number(v.Dims[0].Size)
	}
	return anything
}

func number(size int) *val {
	if size < 0 {
		return anything
	}
	return &val{Kind: numberKind, Number: size}
}

func namesRule(r *ruleCall) *val {
	names, ok := r.arg(0).names()
	if !ok {
		return anything
	}
	out := &val{Kind: groupKind, Fields: map[string]*val{}}
	for i, n := range names {
		out.Fields[index(i)] = namesVal([]name{n})
	}
	return out
}

func tensorDimsRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok {
		return anything
	}
	return &val{Kind: namesKind, Dims: x.Dims}
}

func sizeRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	names, known := r.arg(1).names()
	if !ok || !known {
		return anything
	}
	r.op, r.first = "named.Size", -1
	product := 1
	for _, n := range names {
		d, has := x.find(n)
		if !has {
			r.missing(n, r.one("tensor", x, 0))
			return anything
		}
		if product *= d.Size; d.Size < 0 {
			return anything
		}
	}
	return number(product)
}

func hasRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	names, known := r.arg(1).names()
	if !ok || !known {
		return anything
	}
	for _, n := range names {
		if !x.has(n) {
			return truth(false)
		}
	}
	return truth(true)
}

func raggedRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	names, known := r.arg(1).names()
	if ok && known {
		r.op, r.first = "named.IsRagged", -1
		for _, n := range names {
			if !x.has(n) {
				r.missing(n, r.one("tensor", x, 0))
			}
		}
	}
	return anything
}

func handleSizeRule(r *ruleCall) *val {
	v := r.arg(0)
	if isTensorVal(v) && v.Attrs != nil {
		if d, ok := v.find(v.Attrs.Handle); ok {
			return number(d.Size)
		}
	}
	return anything
}

func handleTensorRule(r *ruleCall) *val {
	if v := r.arg(0); isTensorVal(v) {
		return v.with(func(a *attrs) { a.Handle = "" })
	}
	return anything
}
