package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.HandleKind("structured", cases.Kind{Decode: decodeStructured, Compare: compareStructured})
}

func decodeStructured(c *cases.Case, o cases.Object) (any, error) {
	parts, err := partitions(o["partitions"])
	if err != nil {
		return nil, err
	}
	fields, err := decodeFields(c, cases.As[cases.Object](o["fields"]))
	if err != nil {
		return nil, err
	}
	s := cases.Shape(o["shape"])
	opts := structured.Options{}
	if s.Rank() > 1 {
		opts.RowPartitions = parts
	}
	return structured.FromFields(fields, s, opts)
}

func decodeFields(c *cases.Case, items cases.Object) ([]structured.Field, error) {
	var fields []structured.Field
	for _, name := range slices.Sorted(maps.Keys(items)) {
		v, err := c.Decode(items[name])
		if err != nil {
			return nil, err
		}
		fields = append(fields, structured.Field{Name: name, Value: cases.As[tensor.Tensor](v)})
	}
	return fields, nil
}

func compareStructured(m *cases.Matcher, want cases.Object, got any) error {
	t, ok := got.(*structured.Tensor)
	if !ok {
		return fmt.Errorf("got the %T %v, want a structured tensor", got, got)
	}
	s := cases.Shape(want["shape"])
	if t.Rank() != s.Rank() || !t.Shape().CompatibleWith(s) {
		return fmt.Errorf("got the shape %v, want %v", t.Shape(), s)
	}
	parts := tenon.Must(partitions(want["partitions"]))
	have := t.RowPartitions()
	if len(have) != len(parts) {
		return fmt.Errorf("got %d partitions, want %d", len(have), len(parts))
	}
	for i, p := range parts {
		if err := samePartition(p, have[i]); err != nil {
			return fmt.Errorf("partition %d: %w", i, err)
		}
	}
	fields := cases.As[cases.Object](want["fields"])
	if names := slices.Sorted(slices.Values(t.FieldNames())); !slices.Equal(names, slices.Sorted(maps.Keys(fields))) {
		return fmt.Errorf("got the fields %q", names)
	}
	for name, w := range fields {
		v := tenon.Must(t.Field(name))
		if err := m.Match(w, v); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
	}
	return nil
}

// structArg returns argument i as a structured tensor.
func structArg(c *cases.Case, i int) *structured.Tensor {
	return cases.As[*structured.Tensor](c.Arg(i))
}

// namesArg returns a name or a list of names.
func namesArg(x any) []string {
	if s, ok := x.(string); ok {
		return []string{s}
	}
	return cases.List[string](x)
}

// partitionArgs returns a list of row partitions.
func partitionArgs(x any) []*ragged.RowPartition {
	if x == nil {
		return nil
	}
	return append([]*ragged.RowPartition{}, cases.List[*ragged.RowPartition](x)...)
}
