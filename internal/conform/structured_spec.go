package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
)

func init() {
	cases.HandleKind("structured_spec", cases.Kind{
		Decode: func(c *cases.Case, o cases.Object) (any, error) { return structuredSpec(c, o) },
		Compare: func(m *cases.Matcher, want cases.Object, got any) error {
			w, err := structuredSpec(m.Case, want)
			if err != nil {
				return err
			}
			return sameFieldsOf(w, got)
		},
	})
	cases.Handle(map[string]cases.Func{
		"structured.spec_of": func(c *cases.Case) (any, error) { return structured.SpecOf(c.Arg(0)) },
		"structured_spec.make": func(c *cases.Case) (any, error) {
			fields, err := specFields(c.Arg(1))
			if err != nil {
				return nil, err
			}
			return structured.NewSpec(cases.Shape(c.Arg(0)), fields)
		},
		"structured_spec.from_fields_and_rank": func(c *cases.Case) (any, error) {
			fields, err := specFields(c.Arg(0))
			if err != nil {
				return nil, err
			}
			return structured.SpecFromFieldsAndRank(fields, c.Int(1))
		},
		"structured_spec.shape": func(c *cases.Case) (any, error) { return sizesOrNil(structSpec(c).Shape()), nil },
		"structured_spec.rank":  func(c *cases.Case) (any, error) { return structSpec(c).Rank(), nil },
		"structured_spec.is_compatible_with": pairwise(func(a tenon.Spec, b any) bool {
			if v, ok := b.(tenon.Value); ok {
				return tenon.Belongs(v, a)
			}
			return tenon.Compatible(a, cases.As[tenon.Spec](b))
		}),
		"structured_spec.is_subtype_of":    pairwise(func(a tenon.Spec, b any) bool { return tenon.Subtype(a, cases.As[tenon.Spec](b)) }),
		"structured_spec.equal":            pairwise(equalSpecs),
		"structured_spec.common_supertype": commonSupertype,
		"structured_spec.flatten_fields": func(c *cases.Case) (any, error) {
			leaves := structSpec(c).Leaves()
			slices.SortStableFunc(leaves, func(a, b structured.Leaf) int { return slices.Compare(a.Path, b.Path) })
			out := []any{}
			for _, l := range leaves {
				path := []any{}
				for _, name := range l.Path {
					path = append(path, name)
				}
				t := cases.As[interface {
					DType() dtype.DType
					Shape() shape.Shape
				}](l.Spec)
				out = append(out, []any{path, t.DType().String(), sizesOrNil(t.Shape())})
			}
			return out, nil
		},
	})
}

// structuredSpec makes the Spec that a case writes, with its fields in order of
// their names.
func structuredSpec(c *cases.Case, o cases.Object) (*structured.Spec, error) {
	items := cases.As[cases.Object](o["fields"])
	var fields []tenon.Field
	for _, name := range slices.Sorted(maps.Keys(items)) {
		s, err := c.Decode(items[name])
		if err != nil {
			return nil, err
		}
		fields = append(fields, tenon.Field{Name: name, Spec: cases.As[tenon.Spec](s)})
	}
	return structured.NewSpec(cases.Shape(o["shape"]), fields)
}

// specFields returns the entries of a mapping from names to Specs.
func specFields(x any) ([]tenon.Field, error) {
	d, ok := x.(cases.Dict)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, "structured.NewSpec", "the fields are not a mapping")
	}
	var fields []tenon.Field
	for _, name := range slices.Sorted(maps.Keys(d)) {
		s, ok := d[name].(tenon.Spec)
		if !ok {
			return nil, tenon.NewError(tenon.ErrDType, "structured.NewSpec", fmt.Sprintf("the field %q is a %T, not a Spec", name, d[name]))
		}
		fields = append(fields, tenon.Field{Name: name, Spec: s})
	}
	return fields, nil
}

func structSpec(c *cases.Case) *structured.Spec { return cases.As[*structured.Spec](c.Spec(0)) }

// sameFieldsOf compares Specs of which the order of the fields does not count.
func sameFieldsOf(want *structured.Spec, got any) error {
	g, ok := got.(*structured.Spec)
	if !ok {
		return fmt.Errorf("got a %T, want %v", got, want)
	}
	if a, b := want.Shape(), g.Shape(); !a.Equal(b) || !slices.EqualFunc(want.RowPartitions(), g.RowPartitions(), func(p, q *ragged.PartitionSpec) bool { return tenon.Equal(p, q) }) {
		return fmt.Errorf("got %v, want %v", g, want)
	}
	byName := func(a, b tenon.Field) int { return strings.Compare(a.Name, b.Name) }
	wants, gots := slices.SortedFunc(slices.Values(want.Fields()), byName), slices.SortedFunc(slices.Values(g.Fields()), byName)
	if len(wants) != len(gots) {
		return fmt.Errorf("got %v, want %v", g, want)
	}
	for i, w := range wants {
		if w.Name != gots[i].Name {
			return fmt.Errorf("got the field %q, want %q", gots[i].Name, w.Name)
		}
		err := cases.MatchSpec(w.Spec, gots[i].Spec)
		if s, ok := w.Spec.(*structured.Spec); ok {
			err = sameFieldsOf(s, gots[i].Spec)
		}
		if err != nil {
			return fmt.Errorf("field %s: %w", w.Name, err)
		}
	}
	return nil
}
