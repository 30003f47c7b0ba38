package spectest

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// lattice checks the order of Specs for the given ones, those above them, and
// some of other types.
func (c *checker) lattice(values []tenon.Value, specs []tenon.Spec) {
	all := append([]tenon.Spec(nil), specs...)
	for i, a := range specs {
		for _, b := range specs[:i] {
			if m, ok := tenon.Merge(a, b); ok && len(all) < 24 {
				all = append(all, m)
				c.readBack(m)
			}
		}
	}
	strangers := []tenon.Spec{tensor.NewSpec(dtype.Float32, shape.Of(2)), tensor.NewSpec(dtype.String, shape.UnknownRank), stranger().Spec()}
	for _, a := range all {
		c.alone(a)
		for _, b := range all {
			c.pair(a, b)
			for _, d := range all {
				if tenon.Subtype(a, b) && tenon.Subtype(b, d) && !tenon.Subtype(a, d) {
					c.broken("subtype", "is not transitive: %s, %s, %s", tenon.Text(a), tenon.Text(b), tenon.Text(d))
				}
			}
		}
		for _, b := range strangers {
			c.pair(a, b)
			c.pair(b, a)
		}
		if tenon.Equal(a, nil) || tenon.Subtype(a, nil) || tenon.Compatible(a, nil) {
			c.broken("nil", "%s is related to no Spec at all", tenon.Text(a))
		}
		if _, ok := tenon.Merge(a, nil); ok {
			c.broken("nil", "%s merges with no Spec at all", tenon.Text(a))
		}
	}
	for _, v := range values {
		for _, a := range all {
			for _, b := range all {
				if tenon.Belongs(v, a) && tenon.Belongs(v, b) && !tenon.Compatible(a, b) {
					c.broken("compatible", "%s and %s are not, though a value belongs to both", tenon.Text(a), tenon.Text(b))
				}
			}
		}
	}
}

// alone checks what holds for every Spec.
func (c *checker) alone(s tenon.Spec) {
	if !tenon.Equal(s, s) || !tenon.Subtype(s, s) || !tenon.Compatible(s, s) {
		c.broken("reflexive", "%s is not related to itself", tenon.Text(s))
	}
	if m, ok := tenon.Merge(s, s); !ok || !tenon.Equal(m, s) {
		c.broken("merge", "of %s with itself is %s", tenon.Text(s), tenon.String(m))
	}
}

// pair checks what holds for every pair of Specs.
func (c *checker) pair(a, b tenon.Spec) {
	law := func(ok bool, name, text string) {
		if !ok {
			c.broken(name, "%s: %s and %s", text, tenon.Text(a), tenon.Text(b))
		}
	}
	equal := tenon.Equal(a, b)
	law(equal == tenon.Equal(b, a), "equal", "is not symmetric")
	law(equal == (a.TypeName() == b.TypeName() && tenon.Text(a) == tenon.Text(b)), "equal", "does not agree with the text")
	law(equal == (tenon.Key(a) == tenon.Key(b)), "key", "does not agree with Equal")
	law(tenon.Compatible(a, b) == tenon.Compatible(b, a), "compatible", "is not symmetric")
	sub := tenon.Subtype(a, b)
	law(!sub || tenon.Compatible(a, b), "subtype", "is not compatible")
	law(!equal || sub && tenon.Compatible(a, b), "equal", "is not a subtype")
	m, ok := tenon.Merge(a, b)
	n, other := tenon.Merge(b, a)
	law(ok == other, "merge", "exists only in one direction")
	law(!sub || ok, "merge", "there is none, although one is a subtype")
	if !ok || !other {
		return
	}
	law(tenon.Subtype(a, m) && tenon.Subtype(b, m), "merge", "is not above both")
	law(tenon.Subtype(m, n) && tenon.Subtype(n, m), "merge", "differs with the order")
	law(!sub || tenon.Subtype(m, b), "merge", "of a subtype is above the upper one")
}
