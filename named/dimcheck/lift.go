package dimcheck

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon/internal/dimtext"
)

// apply calls a function value.
func (c *checker) apply(f *frame, at int, fn *val, args []*val) *val {
	if fn == nil || fn.Kind != funcKind {
		return anything
	}
	g := fn.Func
	if g.Gives == itsElements {
		if len(args) == 1 {
			c.apply(f, at, args[0], []*val{g.Binds[0], anything})
		}
		return anything
	}
	p := g.Prog
	if g.Key != "" {
		if p = c.program(g.Key); p == nil {
			return anything
		}
	}
	lifted := args
	if len(g.Over) > 0 {
		var ok bool
		if lifted, ok = c.lower(f, at, g.Over, args); !ok {
			return anything
		}
	}
	out := c.call(f, at, p, lifted, g.Binds, g.Names, g.Prog != nil && g.Prog.local != nil)
	if len(g.Over) > 0 {
		out = c.raise(f, at, g.Over, args, out)
	}
	if g.Gives != itsResult {
		var first *val
		if len(args) > 0 {
			first, _ = args[0].each(func(t *val) *val { return tensorOf(t.Dims, nil) })
		}
		if g.Gives == itsGradient {
			return first
		}
		return tuple([]*val{out, first})
	}
	return out
}

// lower removes the names that a function is lifted over from its arguments.
func (c *checker) lower(f *frame, at int, over []name, args []*val) ([]*val, bool) {
	out := make([]*val, len(args))
	known, tensors := true, 0
	found := map[name]bool{}
	for i, a := range args {
		v, all := a.each(func(t *val) *val {
			tensors++
			for _, n := range over {
				found[n] = found[n] || t.has(n)
			}
			return tensorOf(without(t.Dims, over), nil).with(func(a *attrs) {
				a.Hidden, a.Extra = union(t.attrs().Hidden, over), slices.DeleteFunc(slices.Clone(t.attrs().Extra), func(n name) bool { return slices.Contains(over, n) })
			})
		})
		out[i], known = v, known && all
	}
	for _, n := range over {
		if found[n] || !known || tensors == 0 {
			continue
		}
		var operands []operand
		for _, a := range args {
			a.each(func(t *val) *val {
				operands = append(operands, operand{fmt.Sprintf("argument %d", len(operands)), t, -1})
				return t
			})
		}
		msg, hint := dimtext.Missing(n.short(), 0, textsOf(operands)...)
		c.report(f, at, problem{rule: ruleMissing, op: "named.Lift over " + n.short(), msg: msg, hint: hint})
		return nil, false
	}
	return out, true
}

// raise adds the names that a function is lifted over to its results.
func (c *checker) raise(f *frame, at int, over []name, args []*val, out *val) *val {
	var sizes []dim
	for _, n := range over {
		d := dim{Name: n, Size: dimtext.Absent}
		for _, a := range args {
			a.each(func(t *val) *val {
				if have, ok := t.find(n); ok && d.Size == dimtext.Absent {
					d = have
				}
				return t
			})
		}
		sizes = append(sizes, d)
	}
	v, _ := out.each(func(t *val) *val {
		return tensorOf(append(slices.Clone(sizes), without(t.Dims, over)...), nil).with(func(a *attrs) {
			a.Hidden = slices.DeleteFunc(slices.Clone(t.attrs().Hidden), func(n name) bool { return slices.Contains(over, n) })
			a.Extra = union(over, t.attrs().Extra)
		})
	})
	return v
}
