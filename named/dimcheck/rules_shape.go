package dimcheck

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon/internal/dimtext"
)

// The rules for operations that change the set of dimensions.

func renameRule(r *ruleCall) *val {
	r.takesNames(2)
	return r.rename(r.names[0], r.names[1], false)
}

func asRule(r *ruleCall) *val {
	r.takesNames(2)
	// named.As[To, From](handle)
	out := r.rename(r.names[1], r.names[0], true)
	return out.with(func(a *attrs) { a.Handle = r.names[0][0] })
}

func (r *ruleCall) rename(from, to []name, handle bool) *val {
	x := r.arg(0)
	if !isTensorVal(x) {
		r.end()
	}
	r.title = fmt.Sprintf("%s %s→%s", r.op, listText(from), listText(to))
	if len(from) != len(to) {
		r.misuse(fmt.Sprintf("%d names cannot be renamed to %d", len(from), len(to)), "")
	}
	dims := slices.Clone(x.Dims)
	for i, n := range from {
		at := slices.IndexFunc(x.Dims, func(d dim) bool { return d.Name == n })
		if at < 0 {
			r.missing(n, r.one("tensor", x, 0))
		}
		dims[at].Name, dims[at].Was = to[i], dims[at].root()
		if dims[at].Was == to[i] {
			dims[at].Was = ""
		}
		if roleOf(to[i].short()) != "" {
			dims[at].Role = ""
		}
	}
	if n, twice := repeated(dims); twice {
		r.taken(n, r.one("tensor", x, 0))
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
		a.Seen = slices.Clone(a.Seen)
		for i, p := range a.Seen {
			a.Seen[i] = pair{swap(p.Query), swap(p.Key)}
		}
		a.Both = nil
	})
	out.Dims = dims
	return out
}

func mergeRule(r *ruleCall) *val {
	if r.takesNames(2); len(r.names[1]) != 1 {
		r.end()
	}
	x := r.along(0)
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
	x, to := r.along(0), slices.Clone(r.sized(1))
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
		r.wrong(ruleSizes, fmt.Sprintf("%d elements do not fill the sizes %v\n%s", total, sizes, lines(r.one("tensor", x, 0))), "")
	case total >= 0 && open == 1 && rest > 0 && total%rest == 0:
		for i := range to {
			if to[i].Size < 0 {
				to[i].Size = total / rest
			}
		}
	}
	return r.regroup(x, to)
}

// regroup replaces the dimensions that the operation is over, at the position of the first one.
func (r *ruleCall) regroup(x *val, to []dim) *val {
	rest := without(x.Dims, r.dims)
	for i, d := range to {
		if slices.ContainsFunc(rest, func(e dim) bool { return e.Name == d.Name }) {
			r.taken(d.Name, r.one("tensor", x, 0))
		}
		if _, twice := repeated(to[:i+1]); twice {
			r.twice(d.Name, dimNames(to))
		}
	}
	at := slices.IndexFunc(x.Dims, func(d dim) bool { return slices.Contains(r.dims, d.Name) })
	if at < 0 {
		at = len(rest)
	}
	return r.result(slices.Insert(rest, at, to...), x)
}

func expandRule(r *ruleCall) *val {
	x := r.tensor(0)
	out := slices.Clone(x.Dims)
	for _, d := range r.sized(1) {
		out = append(out, dim{Name: d.Name, Size: 1})
	}
	if n, twice := repeated(out); twice {
		r.taken(n, r.one("tensor", x, 0))
	}
	return r.result(out, x)
}

func squeezeRule(r *ruleCall) *val {
	x := r.along(0)
	for _, n := range r.dims {
		if d, _ := x.find(n); d.Size >= 0 && d.Size != 1 {
			r.wrong(ruleSizes, fmt.Sprintf("%s has size %d, not 1\n%s", n.short(), d.Size, lines(r.one("tensor", x, 0))), "")
		}
	}
	return r.result(without(x.Dims, r.dims), x)
}

func orderRule(r *ruleCall) *val {
	x, dims := r.tensor(0), r.sized(1)
	r.all(x, dimNames(dims))
	out := r.same(x)
	out.Dims = nil
	for _, d := range dims {
		own, _ := x.find(d.Name)
		out.Dims = append(out.Dims, own)
	}
	return out
}

func unnamedRule(r *ruleCall) *val {
	x, dims := r.tensor(0), r.sized(1)
	if len(dims) > 0 || len(x.Dims) > 1 {
		r.all(x, dimNames(dims))
	}
	return anything
}

// all reports that a list does not have exactly the names of a tensor.
func (r *ruleCall) all(x *val, list []name) {
	for i, n := range list {
		if slices.Contains(list[:i], n) {
			r.twice(n, list)
		}
		r.needs([]name{n}, x, 0)
	}
	if lacks := without(x.Dims, list); len(lacks) > 0 {
		r.misuse(fmt.Sprintf("the order lacks {%s}\n%s", listText(dimNames(lacks)), lines(r.one("tensor", x, 0))), "list all names")
	}
}
