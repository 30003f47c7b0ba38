package dimcheck

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon/internal/dimtext"
)

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
