package dimcheck

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon/internal/dimtext"
)

// The rules of operations that change which dimensions there are.

func renameRule(r *ruleCall) *val {
	if len(r.names) != 2 {
		return anything
	}
	return r.rename(r.names[0], r.names[1], false)
}

func asRule(r *ruleCall) *val {
	v := r.arg(0)
	if len(r.names) != 2 || !isTensorVal(v) {
		return anything
	}
	// named.As[To, From](handle)
	out := r.rename(r.names[1], r.names[0], true)
	if !isTensorVal(out) {
		return out
	}
	return out.with(func(a *attrs) { a.Handle = r.names[0][0] })
}

func (r *ruleCall) rename(from, to []name, handle bool) *val {
	x := r.arg(0)
	if !isTensorVal(x) {
		return anything
	}
	r.title = fmt.Sprintf("%s %s→%s", r.op, listText(from), listText(to))
	if len(from) != len(to) {
		r.misuse(fmt.Sprintf("%d names cannot be renamed to %d", len(from), len(to)), "")
		return anything
	}
	dims := slices.Clone(x.Dims)
	for i, n := range from {
		at := slices.IndexFunc(x.Dims, func(d dim) bool { return d.Name == n })
		if at < 0 {
			r.missing(n, r.one("tensor", x, 0))
			return anything
		}
		dims[at].Name, dims[at].Was = to[i], dims[at].root()
		if dims[at].Was == to[i] {
			dims[at].Was = ""
		}
		if roleOf(to[i].short()) != "" {
			dims[at].Role = ""
		}
	}
	for i, d := range dims {
		if slices.ContainsFunc(dims[:i], func(e dim) bool { return e.Name == d.Name }) {
			r.taken(d.Name, r.one("tensor", x, 0))
			return anything
		}
	}
	if !handle && len(from) == 1 {
		r.checkSwap(x, from[0], to[0])
	}
	swap := func(n name) name {
		if i := slices.Index(from, n); i >= 0 {
			return to[i]
		}
		return n
	}
	out := x.with(func(a *attrs) {
		a.From, a.Handle, a.Swapped = r.n.Site.line(), "", nil
		if len(from) == 1 {
			a.From += " Rename " + listText(from) + "→" + listText(to)
		}
		a.Soft, a.Pairs, a.Extra = slices.Clone(a.Soft), slices.Clone(a.Pairs), nil
		for i := range a.Soft {
			a.Soft[i].Over = swap(a.Soft[i].Over)
		}
		for i, p := range a.Pairs {
			a.Pairs[i] = pair{swap(p.Query), swap(p.Key)}
		}
	})
	out.Dims = dims
	return out
}

func mergeRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok || len(r.names) != 2 || len(r.names[1]) != 1 || !r.needs(r.dims, x, 0) {
		return anything
	}
	d := dim{Name: r.names[1][0], Size: 1}
	for _, n := range r.dims {
		old, _ := x.find(n)
		if d.Size >= 0 && old.Size >= 0 {
			d.Size *= old.Size
		} else {
			d.Size = dimtext.Absent
		}
	}
	return r.regroup(x, []dim{d})
}

func reshapeRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok || !r.needs(r.dims, x, 0) {
		return anything
	}
	to, known := r.sized(1)
	if !known {
		return anything
	}
	to = slices.Clone(to)
	total, open := 1, 0
	for _, n := range r.dims {
		d, _ := x.find(n)
		if total *= d.Size; d.Size < 0 {
			total = -1
			break
		}
	}
	rest := 1
	for _, d := range to {
		if d.Size < 0 {
			open++
		} else {
			rest *= d.Size
		}
	}
	switch {
	case total >= 0 && open == 0 && rest != total:
		sizes := make([]int, len(to))
		for i, d := range to {
			sizes[i] = d.Size
		}
		r.report(problem{rule: ruleSizes, op: r.over(), msg: fmt.Sprintf("%d elements do not fill the sizes %v\n%s", total, sizes, lines(r.one("tensor", x, 0)))})
		return anything
	case total >= 0 && open == 1 && rest > 0 && total%rest == 0:
		for i := range to {
			if to[i].Size < 0 {
				to[i].Size = total / rest
			}
		}
	}
	return r.regroup(x, to)
}

// regroup replaces the dimensions that the operation is over, at the place of the first.
func (r *ruleCall) regroup(x *val, to []dim) *val {
	rest := without(x.Dims, r.dims)
	for i, d := range to {
		if slices.ContainsFunc(rest, func(e dim) bool { return e.Name == d.Name }) {
			r.taken(d.Name, r.one("tensor", x, 0))
			return anything
		}
		if slices.ContainsFunc(to[:i], func(e dim) bool { return e.Name == d.Name }) {
			r.twice(d.Name, dimNames(to))
			return anything
		}
	}
	at := slices.IndexFunc(x.Dims, func(d dim) bool { return slices.Contains(r.dims, d.Name) })
	if at < 0 {
		at = len(rest)
	}
	return r.result(slices.Insert(rest, at, to...), x)
}

func expandRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	dims, known := r.sized(1)
	if !ok || !known {
		return anything
	}
	out := slices.Clone(x.Dims)
	for _, d := range dims {
		if slices.ContainsFunc(out, func(e dim) bool { return e.Name == d.Name }) {
			r.taken(d.Name, r.one("tensor", x, 0))
			return anything
		}
		out = append(out, dim{Name: d.Name, Size: 1})
	}
	return r.result(out, x)
}

func squeezeRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok || !r.needs(r.dims, x, 0) {
		return anything
	}
	for _, n := range r.dims {
		if d, _ := x.find(n); d.Size >= 0 && d.Size != 1 {
			r.report(problem{rule: ruleSizes, op: r.over(), msg: fmt.Sprintf("%s has size %d, not 1\n%s", n.short(), d.Size, lines(r.one("tensor", x, 0)))})
			return anything
		}
	}
	return r.result(without(x.Dims, r.dims), x)
}

func orderRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	dims, known := r.sized(1)
	if !ok || !known || !r.all(x, dimNames(dims)) {
		return anything
	}
	out := r.same(x)
	out.Dims = nil
	for _, d := range dims {
		own, _ := x.find(d.Name)
		out.Dims = append(out.Dims, own)
	}
	return out
}

func unnamedRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	dims, known := r.sized(1)
	if ok && known && (len(dims) > 0 || len(x.Dims) > 1) {
		r.all(x, dimNames(dims))
	}
	return anything
}

// all reports whether a list has all names of a tensor and no other.
func (r *ruleCall) all(x *val, list []name) bool {
	for i, n := range list {
		if slices.Contains(list[:i], n) {
			r.twice(n, list)
			return false
		}
		if !x.has(n) {
			r.missing(n, r.one("tensor", x, 0))
			return false
		}
	}
	if lacks := without(x.Dims, list); len(lacks) > 0 {
		r.misuse(fmt.Sprintf("the order lacks {%s}\n%s", listText(dimNames(lacks)), lines(r.one("tensor", x, 0))), "list all names")
		return false
	}
	return true
}

func stackRule(r *ruleCall) *val {
	vs, ok := r.alike(nil)
	if !ok {
		return anything
	}
	if vs[0].has(r.dims[0]) {
		r.taken(r.dims[0], r.one("tensor", vs[0], 0))
		return anything
	}
	return r.result(append([]dim{{Name: r.dims[0], Size: len(vs)}}, vs[0].Dims...), vs...)
}

func concatRule(r *ruleCall) *val {
	vs, known := r.list(0)
	if known {
		for i, v := range vs {
			if isTensorVal(v) && !r.needs(r.dims, v, i) {
				return anything
			}
		}
	}
	vs, ok := r.alike(r.dims)
	if !ok {
		return anything
	}
	dims, total := slices.Clone(vs[0].Dims), 0
	for _, v := range vs {
		d, _ := v.find(r.dims[0])
		if total += d.Size; d.Size < 0 {
			total = dimtext.Absent
			break
		}
	}
	for i := range dims {
		if dims[i].Name == r.dims[0] && dims[i].Size != dimtext.Ragged {
			dims[i].Size = total
		}
	}
	return r.result(dims, vs...)
}

// alike returns tensors that have the same dimensions, with the same sizes but for some.
func (r *ruleCall) alike(but []name) ([]*val, bool) {
	vs, ok := r.list(0)
	if !ok || len(vs) == 0 || slices.ContainsFunc(vs, func(v *val) bool { return !isTensorVal(v) }) {
		return nil, false
	}
	title := r.title
	r.title = r.op
	defer func() { r.title = title }()
	for i, v := range vs[1:] {
		operands := []operand{r.one("operand 0", vs[0], 0), r.one(fmt.Sprintf("operand %d", i+1), v, i+1)}
		if len(v.Dims) != len(vs[0].Dims) || len(without(v.Dims, dimNames(vs[0].Dims))) > 0 {
			r.misuse("the tensors have different dimensions\n"+lines(operands...), "rename them, or use named.BroadcastTo")
			return nil, false
		}
		if !r.sameSizes(operands, but) {
			return nil, false
		}
	}
	return vs, true
}

func unstackRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok || !r.needs(r.dims, x, 0) {
		return anything
	}
	return &val{Kind: groupKind, Fields: map[string]*val{"*": r.result(without(x.Dims, r.dims), x)}}
}

func piecesRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok || !r.needs(r.dims, x, 0) {
		return anything
	}
	return &val{Kind: groupKind, Fields: map[string]*val{"*": r.resized(x, dimtext.Absent)}}
}

// resized returns the result of an operation that changes the size of a dimension.
func (r *ruleCall) resized(x *val, size int) *val {
	dims := slices.Clone(x.Dims)
	for i := range dims {
		if dims[i].Name == r.dims[0] && dims[i].Size != dimtext.Ragged {
			dims[i].Size = size
		}
	}
	return r.result(dims, x)
}

func padRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok || !r.needs(r.dims, x, 0) {
		return anything
	}
	size := dimtext.Absent
	d, _ := x.find(r.dims[0])
	if a, b := r.arg(1), r.arg(2); d.Size >= 0 && a != nil && b != nil && a.Kind == numberKind && b.Kind == numberKind {
		size = d.Size + a.Number + b.Number
	}
	return r.resized(x, size)
}

func topKRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok || !r.needs(r.dims, x, 0) {
		return anything
	}
	size := dimtext.Absent
	if k := r.arg(1); k != nil && k.Kind == numberKind && k.Number >= 0 {
		size = k.Number
	}
	v := r.resized(x, size)
	return tuple([]*val{v, v})
}

func indexRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok {
		return anything
	}
	k := r.arg(1)
	if isTensorVal(k) && len(k.Dims) > 0 {
		return r.take(x, k)
	}
	if !r.needs(r.dims, x, 0) {
		return anything
	}
	if k != nil && k.Kind == numberKind { // a position
		return r.result(without(x.Dims, r.dims), x)
	}
	return anything
}

func takeRule(r *ruleCall) *val {
	x, okX := r.tensor(0)
	i, okI := r.tensor(1)
	if okX && !r.needs(r.dims, x, 0) || !okX || !okI {
		return anything
	}
	return r.take(x, i)
}

func (r *ruleCall) take(x, i *val) *val {
	if !r.needs(r.dims, x, 0) || !r.sameSizes(r.pair(x, i), r.dims) {
		return anything
	}
	rest := without(x.Dims, r.dims)
	batch := slices.DeleteFunc(slices.Clone(rest), func(d dim) bool { return !i.has(d.Name) })
	return r.result(merged(merged(batch, i.Dims), rest), x, i)
}

func scatterRule(r *ruleCall) *val {
	x, okX := r.tensor(0)
	i, okI := r.tensor(1)
	w, okW := r.tensor(2)
	if !okX || !r.needs(r.dims, x, 0) {
		return anything
	}
	if okI && i.has(r.dims[0]) {
		r.taken(r.dims[0], r.one("tensor", i, 1))
		return anything
	}
	if okI && okW {
		want := merged(i.Dims, without(x.Dims, r.dims))
		if len(want) != len(w.Dims) || len(without(want, dimNames(w.Dims))) > 0 {
			r.misuse(fmt.Sprintf("the updates have {%s}, and not the dimensions {%s} of indices and the rest of the tensor\n%s",
				listText(dimNames(w.Dims)), listText(dimNames(want)), lines(r.one("tensor", x, 0), r.one("indices", i, 1), r.one("updates", w, 2))), "")
			return anything
		}
	}
	return r.result(x.Dims, x, i, w)
}

func oneHotRule(r *ruleCall) *val {
	x, ok := r.tensor(0)
	if !ok {
		return anything
	}
	if x.has(r.dims[0]) {
		r.taken(r.dims[0], r.one("tensor", x, 0))
		return anything
	}
	d := dim{Name: r.dims[0], Size: dimtext.Absent}
	if n := r.arg(1); n != nil && n.Kind == numberKind && n.Number >= 0 {
		d.Size = n.Number
	}
	return r.result(append(slices.Clone(x.Dims), d), x)
}

func convRule(r *ruleCall) *val {
	x, okX := r.tensor(0)
	k, okK := r.tensor(1)
	if len(r.names) != 3 || okX && !r.needs(r.dims, x, 0) || !okX || !okK {
		return anything
	}
	windows, over := r.names[1], r.names[2]
	if len(windows) != len(r.dims) {
		r.misuse(fmt.Sprintf("%d dimensions have windows along {%s}", len(r.dims), listText(windows)), "")
		return anything
	}
	for _, n := range r.dims {
		if k.has(n) {
			r.misuse(fmt.Sprintf("the kernel has %s too\n%s", n.short(), lines(r.one("tensor", x, 0), r.one("kernel", k, 1))), "give the kernel's window a name of its own")
			return anything
		}
	}
	for _, w := range windows {
		if !k.has(w) {
			r.missing(w, r.one("kernel", k, 1), r.one("tensor", x, 0))
			return anything
		}
		if x.has(w) {
			r.taken(w, r.one("tensor", x, 0))
			return anything
		}
	}
	dims := slices.Clone(x.Dims)
	for i := range dims {
		if slices.Contains(r.dims, dims[i].Name) {
			dims[i].Size = dimtext.Absent
		}
	}
	return r.result(without(merged(dims, k.Dims), append(slices.Clone(windows), over...)), x, k)
}

func attentionRule(r *ruleCall) *val {
	q, okQ := r.tensor(0)
	k, okK := r.tensor(1)
	v, okV := r.tensor(2)
	if len(r.names) != 2 || !okQ || !okK || !okV {
		return anything
	}
	keys, rep := r.names[0], r.names[1]
	operands := []operand{r.one("query", q, 0), r.one("key", k, 1), r.one("value", v, 2)}
	for i, need := range [][]name{rep, append(slices.Clone(keys), rep...), keys} {
		for _, n := range need {
			if !operands[i].v.has(n) {
				r.missing(n, operands[i])
				return anything
			}
		}
	}
	for _, n := range keys {
		if q.has(n) {
			r.misuse(fmt.Sprintf("the query has %s too\n%s", n.short(), lines(operands[0])), "rename the dimension of keys and values")
			return anything
		}
	}
	if !r.sameSizes(operands, nil) {
		return anything
	}
	drop := append(slices.Clone(keys), rep...)
	return r.result(merged(merged(without(q.Dims, rep), without(k.Dims, drop)), without(v.Dims, keys)), q, k, v)
}

func bindRule(r *ruleCall) *val {
	own := r.n.Val
	x, ok := r.tensor(0)
	if own == nil || !ok {
		return anything
	}
	extra := slices.DeleteFunc(without(x.Dims, dimNames(own.Dims)), func(d dim) bool { return slices.Contains(x.attrs().Extra, d.Name) })
	lacks := without(own.Dims, dimNames(x.Dims))
	if len(r.n.Keys) > 0 {
		r.title = "named.Bind " + r.n.Keys[0]
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
			r.misuse(fmt.Sprintf("%s is ragged in the schema, and not in the tensor\n%s", d.Name.short(), lines(r.one("tensor", x, 0))), "")
			return own
		}
		if d.Size != dimtext.Ragged && have.Size == dimtext.Ragged {
			r.misuse(fmt.Sprintf("%s is ragged in the tensor, and not in the schema\n%s", d.Name.short(), lines(r.one("tensor", x, 0))), fmt.Sprintf("mark it in the schema: %s `named:\"ragged\"`", d.Name.short()))
			return own
		}
	}
	return x
}

func liftRule(r *ruleCall) *val {
	over, ok := r.dims, len(r.dims) > 0
	fn := r.arg(0)
	if r.op == "named.LiftOver" {
		over, ok = r.arg(0).names()
		fn = r.arg(1)
	}
	if !ok || fn == nil || fn.Kind != funcKind {
		return anything
	}
	g := *fn.Func
	g.Over = union(over, g.Over)
	return &val{Kind: funcKind, Func: &g}
}

func mapUnnamedRule(r *ruleCall) *val {
	x, ok := r.tensor(1)
	dims, known := r.sized(2)
	if !ok || !known {
		return anything
	}
	r.dims = dimNames(dims)
	if !r.needs(r.dims, x, 1) {
		return anything
	}
	result, known := r.sized(3)
	if !known {
		return anything
	}
	return r.result(merged(without(x.Dims, r.dims), withoutSizes(result)), x)
}
