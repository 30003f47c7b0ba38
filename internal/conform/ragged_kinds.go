package main

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.HandleKind("ragged", cases.Kind{Decode: decodeRagged, Compare: compareRagged})
	cases.HandleKind("row_partition", cases.Kind{
		Decode: func(_ *cases.Case, o cases.Object) (any, error) { return partition(o) },
		Compare: func(_ *cases.Matcher, want cases.Object, got any) error {
			p, ok := got.(*ragged.RowPartition)
			if !ok {
				return fmt.Errorf("got a %T, want a row partition", got)
			}
			return samePartition(tenon.Must(partition(want)), p)
		},
	})
	cases.HandleKind("ragged_spec", cases.Kind{
		Decode: func(_ *cases.Case, o cases.Object) (any, error) { return raggedSpec(o) },
		Compare: func(_ *cases.Matcher, want cases.Object, got any) error {
			return sameRaggedSpec(tenon.Must(raggedSpec(want)), got)
		},
	})
}

func decodeRagged(c *cases.Case, o cases.Object) (any, error) {
	values, err := c.Decode(o["values"])
	if err != nil {
		return nil, err
	}
	parts, err := partitions(o["partitions"])
	if err != nil {
		return nil, err
	}
	return inRows(cases.As[tensor.Tensor](values), parts)
}

// inRows divides values into rows. Those that lack elements get masks with partitions.
func inRows(values tensor.Tensor, parts []*ragged.RowPartition) (tensor.Tensor, error) {
	m, ok := values.(*masked.Tensor)
	if !ok {
		return ragged.FromPartitions(values, parts...)
	}
	v, err := inRows(m.Values(), parts)
	if err != nil {
		return nil, err
	}
	mask, err := inRows(m.Mask(), parts)
	if err != nil {
		return nil, err
	}
	return masked.New(v, mask)
}

func partitions(list any) ([]*ragged.RowPartition, error) {
	var parts []*ragged.RowPartition
	for _, x := range cases.List[cases.Object](list) {
		p, err := partition(x)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func partition(o cases.Object) (*ragged.RowPartition, error) {
	d := cases.DType(o["splits_dtype"])
	if n, ok := o["uniform"]; ok {
		return ragged.PartitionFromUniformRowLength(cases.As[int](cases.Plain(n)), ragged.PartitionOptions{NRows: cases.As[int](cases.Plain(o["nrows"])), DType: d})
	}
	splits := cases.List[int](cases.Plain(o["row_splits"]))
	return ragged.PartitionFromRowSplits(splits, ragged.PartitionOptions{DType: d})
}

// samePartition compares types and row splits; where rows are uniform, the answer has
// to know it.
func samePartition(want, got *ragged.RowPartition) error {
	if got.DType() != want.DType() {
		return fmt.Errorf("got %v row splits, want %v", got.DType(), want.DType())
	}
	w, _ := want.Splits64()
	g, _ := got.Splits64()
	if !slices.Equal(w, g) {
		return fmt.Errorf("got the row splits %v, want %v", g, w)
	}
	if want.IsUniform() && got.StaticUniformRowLength() != want.StaticUniformRowLength() {
		return fmt.Errorf("got the uniform row length %d, want %d", got.StaticUniformRowLength(), want.StaticUniformRowLength())
	}
	return nil
}

func compareRagged(m *cases.Matcher, want cases.Object, got any) error {
	if x, ok := got.(tensor.Tensor); ok && leftAligned(m.Case) {
		return compareMissing(m, want, x)
	}
	t, ok := got.(*ragged.Tensor)
	if !ok {
		return fmt.Errorf("got the %T %v, want a ragged tensor", got, got)
	}
	parts := tenon.Must(partitions(want["partitions"]))
	// An inner dimension is a uniform partition that is not written as one.
	for len(t.Partitions()) < len(parts) {
		deeper, err := ragged.WithRaggedRank(t, len(parts))
		if err != nil {
			return err
		}
		t = deeper.(*ragged.Tensor)
	}
	have := t.Partitions()
	if len(have) != len(parts) {
		return fmt.Errorf("got %d partitions, want %d", len(have), len(parts))
	}
	for i, p := range parts {
		if err := samePartition(p, have[i]); err != nil {
			return fmt.Errorf("partition %d: %w", i, err)
		}
	}
	if err := m.Match(want["values"], t.FlatValues()); err != nil {
		return fmt.Errorf("values: %w", err)
	}
	return nil
}

// sameRaggedSpec compares what cases write of a Spec. They have one word, null, for
// rows of any lengths and for rows of one length that is not known.
func sameRaggedSpec(want *ragged.Spec, got any) error {
	s, ok := got.(*ragged.Spec)
	if !ok || s.DType() != want.DType() || s.RaggedRank() != want.RaggedRank() || s.SplitsDType() != want.SplitsDType() || !s.Shape().Equal(want.Shape()) {
		return cases.MatchSpec(want, got)
	}
	return nil
}

func raggedSpec(o cases.Object) (*ragged.Spec, error) {
	return ragged.NewSpec(cases.DType(o["dtype"]), cases.Shape(o["shape"]), cases.As[int](cases.Plain(o["ragged_rank"])), cases.DType(o["splits_dtype"]))
}

// shapeDict is how cases write a ragged shape.
func shapeDict(s *ragged.Shape) cases.Dict {
	parts := []any{}
	for _, p := range s.Partitions() {
		parts = append(parts, p)
	}
	return cases.Dict{"row_partitions": parts, "inner_shape": s.InnerSizes()}
}

// withDType returns a tensor that a case asks for in a type.
func withDType(c *cases.Case, name string, t tensor.Tensor) tensor.Tensor {
	if d := c.AttrDType(name, dtype.None); d != dtype.None && t.DType() != d {
		return ops.Cast(t, d)
	}
	return t
}
