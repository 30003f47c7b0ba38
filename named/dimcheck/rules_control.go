package dimcheck

import (
	"slices"
	"strings"

	"github.com/tenonml/tenon/internal/dimtext"
)

// The rules for package control, whose functions call other functions conditionally or repeatedly.

func controlRules() map[string]rule {
	return map[string]rule{
		"control.Cond": func(r *ruleCall) *val {
			return orUnreached(join(r.c.apply(r.f, r.at, r.arg(1), nil), r.c.apply(r.f, r.at, r.arg(2), nil)))
		},
		"control.Switch": func(r *ruleCall) *val {
			branches := r.list(1)
			if len(branches) == 0 {
				return anything
			}
			var out *val
			for _, b := range branches {
				out = join(out, r.c.apply(r.f, r.at, b, nil))
			}
			return orUnreached(out)
		},
		"control.While": func(r *ruleCall) *val {
			vars := r.settled(r.arg(2), func(v *val) *val { return r.c.apply(r.f, r.at, r.arg(1), []*val{v}) })
			r.c.apply(r.f, r.at, r.arg(0), []*val{vars})
			return vars
		},
		"control.Fold": func(r *ruleCall) *val {
			row := rowsOf(r.arg(2))
			return r.settled(r.arg(1), func(v *val) *val { return r.c.apply(r.f, r.at, r.arg(0), []*val{v, row}) })
		},
		"control.Scan": func(r *ruleCall) *val {
			row := rowsOf(r.arg(2))
			var out *val
			carry := r.settled(r.arg(1), func(v *val) *val {
				both := r.c.apply(r.f, r.at, r.arg(0), []*val{v, row})
				if both == nil {
					return nil
				}
				if both.Kind != groupKind {
					return anything
				}
				out = both.Fields["1"]
				return both.Fields["0"]
			})
			if out == nil {
				return tuple([]*val{carry, anything})
			}
			return tuple([]*val{carry, stacked(out, r.arg(2))})
		},
		"control.Map": mapRowsRule, "control.MapRows": mapRowsRule,
	}
}

// settled returns the variables of a loop after any number of iterations.
func (r *ruleCall) settled(v *val, round func(*val) *val) *val {
	if v == nil {
		return anything
	}
	for range maxPasses {
		next := join(v, round(v))
		if equal(v, next) {
			return v
		}
		v = next
	}
	return anything
}

func mapRowsRule(r *ruleCall) *val {
	return stacked(r.c.apply(r.f, r.at, r.arg(0), []*val{rowsOf(r.arg(1))}), r.arg(1))
}

// rows is the name along which functions of package control take tensors apart.
const rows = name(namedPath + ".Rows")

// rowsOf returns a row of what a loop iterates over.
func rowsOf(xs *val) *val {
	if xs == nil {
		return anything
	}
	v, _ := xs.each(func(t *val) *val {
		if !t.has(rows) || slices.ContainsFunc(t.Dims, func(d dim) bool { return strings.HasPrefix(string(d.Name), "Rows_") }) {
			return anything
		}
		return tensorOf(without(t.Dims, []name{rows}), &attrs{Hidden: t.attrs().Hidden})
	})
	return v
}

// stacked returns the outputs of a loop, one for each row of xs.
func stacked(ys, xs *val) *val {
	if ys == nil {
		return unreached
	}
	d := dim{Name: rows, Size: dimtext.Absent}
	if xs != nil {
		xs.each(func(t *val) *val {
			if have, ok := t.find(rows); ok && have.Size >= 0 {
				d = have
			}
			return t
		})
	}
	v, _ := ys.each(func(t *val) *val {
		if t.has(rows) {
			return anything
		}
		return tensorOf(append([]dim{d}, t.Dims...), &attrs{Hidden: t.attrs().Hidden})
	})
	return v
}
