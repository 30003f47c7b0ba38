package dimcheck

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon/internal/dimtext"
)

func scalarRule(r *ruleCall) *val { return r.made(nil) }

func ofRule(r *ruleCall) *val {
	return r.made(withoutSizes(r.sized(1)))
}

func withoutSizes(dims []dim) []dim {
	out := slices.Clone(dims)
	for i := range out {
		out[i].Size = dimtext.Absent
	}
	return out
}

func byRule(r *ruleCall) *val {
	return &val{Kind: namesKind, Dims: r.sized(0)}
}

func dynamicRule(r *ruleCall) *val {
	t := r.text(0)
	if t == "" || strings.HasPrefix(t, "$") {
		return anything
	}
	return namesVal([]name{name(t)})
}

func sizedRule(r *ruleCall) *val {
	names := r.listed(0)
	v := namesVal(names)
	if n := r.arg(1); n != nil && n.Kind == numberKind && len(names) == 1 {
		v.Dims[0].Size = n.Number
		if n.Number < 0 {
			v.Dims[0].Size = dimtext.Absent
		}
	}
	return v
}

func sizedNameRule(r *ruleCall) *val { return namesVal(r.listed(0)) }

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
	out := &val{Kind: groupKind, Fields: map[string]*val{}}
	for i, n := range r.listed(0) {
		out.Fields[index(i)] = namesVal([]name{n})
	}
	return out
}

func tensorDimsRule(r *ruleCall) *val {
	return &val{Kind: namesKind, Dims: r.tensor(0).Dims}
}

func sizeRule(r *ruleCall) *val {
	x, product := r.tensor(0), 1
	names := r.listed(1)
	r.op, r.first = "named.Size", -1
	for _, n := range names {
		r.needs([]name{n}, x, 0)
		d, _ := x.find(n)
		if product *= d.Size; d.Size < 0 {
			return anything
		}
	}
	return number(product)
}

func hasRule(r *ruleCall) *val {
	x := r.tensor(0)
	return truth(!slices.ContainsFunc(r.listed(1), func(n name) bool { return !x.has(n) }))
}

func raggedRule(r *ruleCall) *val {
	x, names := r.tensor(0), r.listed(1)
	r.op, r.first = "named.IsRagged", -1
	r.needs(names, x, 0)
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
	return bare(r.arg(0))
}
