package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	expand := nest.Options{Expand: true}
	cases.Handle(map[string]cases.Func{
		"extension.new": newRecord,
		"extension.equal": func(c *cases.Case) (any, error) {
			return tensor.Equal(c.Value(0), c.Value(1), tensor.EqualOptions{}), nil
		},
		"extension.spec": func(c *cases.Case) (any, error) { return c.Value(0).Spec(), nil },
		"extension.spec_equal": func(c *cases.Case) (any, error) {
			return equalSpecs(c.Spec(0), c.Spec(1)), nil
		},
		"extension.flatten": func(c *cases.Case) (any, error) { return nest.Flatten(c.Arg(0), expand) },
		"extension.pack": func(c *cases.Case) (any, error) {
			return nest.Pack(c.Arg(0), cases.List[any](c.Arg(1)), expand)
		},
		"extension.is_subtype":    func(c *cases.Case) (any, error) { return tenon.Subtype(c.Spec(0), c.Spec(1)), nil },
		"extension.is_compatible": func(c *cases.Case) (any, error) { return tenon.Compatible(c.Spec(0), c.Spec(1)), nil },
		"extension.common_supertype": func(c *cases.Case) (any, error) {
			if m, ok := tenon.Merge(c.Spec(0), c.Spec(1)); ok {
				return m, nil
			}
			return nil, nil
		},
		"extension.cond": func(c *cases.Case) (any, error) {
			f := function.New(func(p tensor.Tensor, a, b tenon.Value) tenon.Value {
				return control.Cond(p, func() tenon.Value { return a }, func() tenon.Value { return b })
			})
			return f.Call(tensor.Scalar(cases.As[bool](c.Arg(0))), c.Value(1), c.Value(2)), nil
		},
		"extension.batch": func(c *cases.Case) (any, error) {
			n := shape.Unknown
			if c.Arg(1) != nil {
				n = c.Int(1)
			}
			return c.Spec(0).(tenon.Batcher).Batched(n)
		},
		"extension.unbatch": func(c *cases.Case) (any, error) { return c.Spec(0).(tenon.Batcher).Unbatched() },
		"extension.stack":   func(c *cases.Case) (any, error) { return ext.Stack(c.Values(0)...) },
		"extension.unstack": func(c *cases.Case) (any, error) { return ext.Unstack(c.Value(0)) },
	})
}

// newRecord makes a value of fields in order and by name.
func newRecord(c *cases.Case) (any, error) {
	t, decl, err := extType(c, c.Str(0))
	if err != nil {
		return nil, err
	}
	var positional []any
	if c.Has("positional") {
		positional = cases.List[any](c.Attrs["positional"])
	}
	if len(positional) > len(decl.Fields) {
		return nil, tenon.NewError(tenon.ErrDType, "extension.new", "there are too many fields")
	}
	fields := map[string]any{}
	for i, x := range positional {
		f := decl.Fields[i]
		if fields[f.Name], err = goField(f.Kind, x); err != nil {
			return nil, err
		}
	}
	named, _ := c.Attrs["named"].(map[string]any)
	for name, x := range named {
		if _, ok := fields[name]; ok {
			return nil, tenon.NewError(tenon.ErrDType, "extension.new", "a field is given twice")
		}
		for _, f := range decl.Fields {
			if f.Name == name {
				if x, err = goField(f.Kind, x); err != nil {
					return nil, err
				}
			}
		}
		fields[name] = x
	}
	return t.New(fields)
}
