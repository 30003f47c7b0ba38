package main

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/shape"
)

func init() {
	cases.Handle(map[string]cases.Func{
		"spec.is_compatible": pairwise(func(a tenon.Spec, b any) bool {
			if v, ok := b.(tenon.Value); ok {
				return tenon.Belongs(v, a)
			}
			return tenon.Compatible(a, cases.As[tenon.Spec](b))
		}),
		"spec.is_subtype":       pairwise(func(a tenon.Spec, b any) bool { return tenon.Subtype(a, cases.As[tenon.Spec](b)) }),
		"spec.equal":            pairwise(equalSpecs),
		"spec.common_supertype": commonSupertype,
		"spec.batch": func(c *cases.Case) (any, error) {
			n := shape.Unknown
			if c.Arg(1) != nil {
				n = c.Int(1)
			}
			return batchers(c, func(b tenon.Batcher) (tenon.Spec, error) { return b.Batched(n) })
		},
		"spec.unbatch": func(c *cases.Case) (any, error) {
			return batchers(c, func(b tenon.Batcher) (tenon.Spec, error) { return b.Unbatched() })
		},
		"spec.of_value": func(c *cases.Case) (any, error) {
			return nest.Map(func(l []any) (any, error) { return cases.As[tenon.Value](l[0]).Spec(), nil }, nest.Options{}, c.Arg(0))
		},
	})
}

// pairwise asks a question about the Specs of two nests, leaf by leaf. The
// answer is false where the nests differ.
func pairwise(ask func(a tenon.Spec, b any) bool) cases.Func {
	return func(c *cases.Case) (any, error) {
		if nest.Same(c.Arg(0), c.Arg(1), nest.Options{}) != nil {
			return false, nil
		}
		yes := true
		_, err := nest.Map(func(l []any) (any, error) {
			yes = yes && ask(cases.As[tenon.Spec](l[0]), l[1])
			return l[0], nil
		}, nest.Options{}, c.Arg(0), c.Arg(1))
		return yes, err
	}
}

// equalSpecs compares, and checks that equal Specs have equal keys and others not.
func equalSpecs(a tenon.Spec, b any) bool {
	s := cases.As[tenon.Spec](b)
	same := tenon.Equal(a, s)
	if (tenon.Key(a) == tenon.Key(s)) != same {
		tenon.Throw(fmt.Errorf("the keys %q and %q do not agree with equality", tenon.Key(a), tenon.Key(s)))
	}
	return same
}

func commonSupertype(c *cases.Case) (any, error) {
	for _, x := range c.Args[1:] {
		if nest.Same(c.Arg(0), x, nest.Options{}) != nil {
			return nil, nil
		}
	}
	none := false
	s, err := nest.Map(func(l []any) (any, error) {
		specs := cases.List[tenon.Spec](l)
		m, ok := tenon.Merge(specs[0], specs[1:]...)
		none = none || !ok
		return m, nil
	}, nest.Options{}, c.Arg(0), c.Args[1:]...)
	if none {
		return nil, nil
	}
	return s, err
}

func batchers(c *cases.Case, f func(tenon.Batcher) (tenon.Spec, error)) (any, error) {
	return nest.Map(func(l []any) (any, error) { return f(cases.As[tenon.Batcher](l[0])) }, nest.Options{}, c.Arg(0))
}
