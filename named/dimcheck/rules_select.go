package dimcheck

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon/internal/dimtext"
)

// The rules for operations that select, join and slide windows.

func stackRule(r *ruleCall) *val {
	vs := r.alike(nil)
	r.free(r.dims[0], vs[0], 0)
	return r.result(append([]dim{{Name: r.dims[0], Size: len(vs)}}, vs[0].Dims...), vs...)
}

func concatRule(r *ruleCall) *val {
	for i, v := range r.list(0) {
		if isTensorVal(v) {
			r.needs(r.dims, v, i)
		}
	}
	vs := r.alike(r.dims)
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

// alike returns tensors that have the same dimensions, with the same sizes except for some.
func (r *ruleCall) alike(but []name) []*val {
	vs := r.tensors(0)
	title := r.title
	r.title = r.op
	defer func() { r.title = title }()
	for i, v := range vs[1:] {
		operands := []operand{r.one("operand 0", vs[0], 0), r.one(fmt.Sprintf("operand %d", i+1), v, i+1)}
		if len(v.Dims) != len(vs[0].Dims) || len(without(v.Dims, dimNames(vs[0].Dims))) > 0 {
			r.misuse("the tensors have different dimensions\n"+lines(operands...), "rename them, or use named.BroadcastTo")
		}
		r.sameSizes(operands, but)
	}
	return vs
}

// free reports that a tensor already has a name.
func (r *ruleCall) free(n name, v *val, arg int) {
	if v.has(n) {
		r.taken(n, r.one("tensor", v, arg))
	}
}

func unstackRule(r *ruleCall) *val { return every(reduceRule(r)) }

func piecesRule(r *ruleCall) *val { return every(r.resized(r.along(0), dimtext.Absent)) }

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
	x := r.along(0)
	size := dimtext.Absent
	d, _ := x.find(r.dims[0])
	if a, b := r.arg(1), r.arg(2); d.Size >= 0 && a != nil && b != nil && a.Kind == numberKind && b.Kind == numberKind {
		size = d.Size + a.Number + b.Number
	}
	return r.resized(x, size)
}

func topKRule(r *ruleCall) *val {
	x := r.along(0)
	d, _ := x.find(r.dims[0])
	size := d.Size // k is not the size of a dimension that may be ragged: rows may have fewer
	if size >= 0 {
		size = dimtext.Absent
	}
	if k := r.arg(1); k != nil && k.Kind == numberKind && k.Number >= 0 && d.Size >= 0 {
		if size = k.Number; size > d.Size {
			r.beyond(dimtext.TooMany, d.Name, size, x)
		}
	}
	v := r.resized(x, size)
	return tuple([]*val{v, v})
}

// beyond reports a position or number that is out of range for a dimension.
func (r *ruleCall) beyond(words func(name string, n int, x dimtext.Operand) (msg, hint string), of name, n int, x *val) {
	msg, hint := words(of.short(), n, textsOf([]operand{r.one("tensor", x, 0)})[0])
	r.report(problem{rule: ruleMisuse, op: r.over(), msg: msg, hint: hint})
}

func indexRule(r *ruleCall) *val {
	x, k := r.along(0), r.arg(1)
	if isTensorVal(k) && len(k.Dims) > 0 {
		return r.take(x, k)
	}
	d, _ := x.find(r.dims[0])
	switch {
	case isInt(k): // a position
		if i := k.Number; k.Kind == numberKind && d.Size >= 0 && (i < -d.Size || i >= d.Size) {
			r.beyond(dimtext.OutOfBounds, d.Name, i, x)
		}
		return r.result(without(x.Dims, r.dims), x)
	case isRange(k):
		return r.resized(x, span(d.Size, k))
	}
	return anything
}

// rangeOf represents a range of positions as a value: its bounds and step.
func rangeOf(start, stop, step *val) *val {
	return &val{Kind: groupKind, Text: "range", Fields: map[string]*val{"start": orNil(start), "stop": orNil(stop), "step": orNil(step)}}
}

func orNil(v *val) *val {
	if v == nil {
		return nilVal
	}
	return v
}

func isRange(v *val) bool { return v != nil && v.Kind == groupKind && v.Text == "range" }

// span returns the number of n positions that a range selects, as in Python, or Absent if that is
// not known.
func span(n int, k *val) int {
	bound := func(v *val, otherwise int) (int, bool) {
		switch v.Kind {
		case nilKind:
			return otherwise, true
		case numberKind:
			return v.Number, true
		}
		return 0, false
	}
	step, known := bound(k.Fields["step"], 1)
	if n < 0 || !known || step == 0 {
		return dimtext.Absent
	}
	lo, hi := 0, n // for bounds
	if step < 0 {
		lo, hi = -1, n-1
	}
	at := func(v *val, otherwise int) (int, bool) {
		i, ok := bound(v, otherwise)
		if v.Kind == numberKind && i < 0 {
			i = max(i+n, lo)
		}
		return min(max(i, lo), hi), ok
	}
	first, last := lo, hi
	if step < 0 {
		first, last = hi, lo
	}
	start, ok := at(k.Fields["start"], first)
	stop, ok2 := at(k.Fields["stop"], last)
	switch {
	case !ok || !ok2:
		return dimtext.Absent
	case step > 0:
		return max((stop-start+step-1)/step, 0)
	}
	return max((start-stop-step-1)/-step, 0)
}

func takeRule(r *ruleCall) *val { return r.take(r.along(0), r.tensor(1)) }

func (r *ruleCall) take(x, i *val) *val {
	r.sameSizes(r.pair(x, i), r.dims)
	rest := without(x.Dims, r.dims)
	batch := slices.DeleteFunc(slices.Clone(rest), func(d dim) bool { return !i.has(d.Name) })
	return r.result(merged(merged(batch, i.Dims), rest), x, i)
}

func scatterRule(r *ruleCall) *val {
	x := r.along(0)
	i, w := r.known(1), r.known(2)
	if i != nil {
		r.free(r.dims[0], i, 1)
	}
	if i != nil && w != nil {
		want := merged(i.Dims, without(x.Dims, r.dims))
		if len(want) != len(w.Dims) || len(without(want, dimNames(w.Dims))) > 0 {
			r.misuse(fmt.Sprintf("the updates have {%s}, and not the dimensions {%s} of indices and the rest of the tensor\n%s",
				listText(dimNames(w.Dims)), listText(dimNames(want)), lines(r.one("tensor", x, 0), r.one("indices", i, 1), r.one("updates", w, 2))), "")
		}
	}
	return r.result(x.Dims, x, i, w)
}

func oneHotRule(r *ruleCall) *val {
	x := r.tensor(0)
	r.free(r.dims[0], x, 0)
	d := dim{Name: r.dims[0], Size: dimtext.Absent}
	if n := r.arg(1); n != nil && n.Kind == numberKind && n.Number >= 0 {
		d.Size = n.Number
	}
	return r.result(append(slices.Clone(x.Dims), d), x)
}

func convRule(r *ruleCall) *val {
	r.takesNames(3)
	x, k := r.along(0), r.tensor(1)
	windows, over := r.names[1], r.names[2]
	if len(windows) != len(r.dims) {
		r.misuse(fmt.Sprintf("%d dimensions have windows along {%s}", len(r.dims), listText(windows)), "")
	}
	for _, n := range r.dims {
		if k.has(n) {
			r.misuse(fmt.Sprintf("the kernel has %s too\n%s", n.short(), lines(r.one("tensor", x, 0), r.one("kernel", k, 1))), "give the kernel's window a name of its own")
		}
	}
	for _, w := range windows {
		if !k.has(w) {
			r.missing(w, r.one("kernel", k, 1), r.one("tensor", x, 0))
		}
		r.free(w, x, 0)
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
	r.takesNames(2)
	q, k, v := r.tensor(0), r.tensor(1), r.tensor(2)
	keys, rep := r.names[0], r.names[1]
	operands := []operand{r.one("query", q, 0), r.one("key", k, 1), r.one("value", v, 2)}
	for i, need := range [][]name{rep, append(slices.Clone(keys), rep...), keys} {
		needs(r, need, operands[i])
	}
	for _, n := range keys {
		if q.has(n) {
			r.misuse(fmt.Sprintf("the query has %s too\n%s", n.short(), lines(operands[0])), "rename the dimension of keys and values")
		}
	}
	if o := r.arg(3); o != nil && o.Kind == groupKind {
		if m := o.Fields["Mask"]; isTensorVal(m) {
			dims := r.dims
			r.dims = keys
			r.checkSeen(m, operands[0], operand{"mask", m, -1})
			r.dims = dims
		}
	}
	r.sameSizes(operands, nil)
	drop := append(slices.Clone(keys), rep...)
	return r.result(merged(merged(without(q.Dims, rep), without(k.Dims, drop)), without(v.Dims, keys)), q, k, v)
}
