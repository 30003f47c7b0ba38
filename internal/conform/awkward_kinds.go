package main

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// An option is a tensor of package masked. Missing elements below partitions are masks
// with partitions.

func init() {
	cases.HandleKind("option", cases.Kind{Decode: decodeOption, Compare: compareOption})
	cases.HandleForm("awkward/", densest)
}

// densest returns a ragged tensor with its innermost uniform partitions as dense
// dimensions, and a single element that may be missing, but is there, as that element.
func densest(got any) any {
	switch t := got.(type) {
	case *masked.Tensor:
		if t.Mask().Shape().IsScalar() && tensor.Data[bool](t.Mask())[0] {
			return t.Values()
		}
	case *ragged.Tensor:
		parts := t.Partitions()
		k := len(parts)
		for k > 0 && parts[k-1].IsUniform() {
			k--
		}
		return tenon.Must(ragged.WithRaggedRank(t, k))
	}
	return got
}

func decodeOption(c *cases.Case, o cases.Object) (any, error) {
	v, err := c.Decode(o["value"])
	if err != nil {
		return nil, err
	}
	return masked.New(v, cases.List[bool](o["mask"]))
}

// unwrapped takes a tensor with missing entries apart at the outermost of n dimensions
// that a mask may have: the values and the mask, nil where there is none of that depth.
func unwrapped(x tensor.Tensor, n int) (values, mask tensor.Tensor) {
	m, ok := x.(*masked.Tensor)
	if !ok || m.Mask().Shape().Rank() != n {
		return x, nil
	}
	return m.Values(), m.Mask()
}

// compareOption compares masks, and the values where the masks are true.
func compareOption(m *cases.Matcher, want cases.Object, got any) error {
	x, ok := got.(tensor.Tensor)
	if !ok {
		return fmt.Errorf("got a %T, want an option", got)
	}
	values, mask := unwrapped(x, 1)
	if mask == nil {
		return fmt.Errorf("got the %T %v, want an option", got, got)
	}
	there := tensor.Data[bool](mask)
	wanted := cases.List[bool](want["mask"])
	if len(there) != len(wanted) {
		return fmt.Errorf("got %d entries, want %d", len(there), len(wanted))
	}
	for i, w := range wanted {
		if there[i] != w {
			return fmt.Errorf("entry %d: got %v, want %v", i, there, wanted)
		}
	}
	// Filler takes no part: the answer gets that of the case.
	filler, err := m.Case.Decode(want["value"])
	if err != nil {
		return err
	}
	f := cases.As[tensor.Tensor](filler)
	if f.DType() != values.DType() {
		return fmt.Errorf("got the element type %v, want %v", values.DType(), f.DType())
	}
	values, err = ragged.Choose(wanted, values, f)
	if err != nil {
		return err
	}
	return m.Match(want["value"], values)
}

// raggedParts takes a tensor apart into k partitions and what lies below them, which
// may have missing entries.
func raggedParts(x tensor.Tensor, k int) (parts []*ragged.RowPartition, below tensor.Tensor, err error) {
	if m, ok := x.(*masked.Tensor); ok {
		if m.Mask().Shape().Rank() <= k {
			return nil, nil, fmt.Errorf("got %v, in which rows outside of the innermost may be missing", x)
		}
		parts, values, err := raggedParts(m.Values(), k)
		if err != nil {
			return nil, nil, err
		}
		_, mask, err := raggedParts(m.Mask(), k)
		if err != nil {
			return nil, nil, err
		}
		below, err = masked.New(values, mask)
		return parts, below, err
	}
	if s, ok := x.(*structured.Tensor); ok && s.Rank() > k {
		below, err = s.MergeDims(0, k)
		return s.RowPartitions()[:k], below, err
	}
	if r, ok := x.(*ragged.Tensor); ok && r.RaggedRank() > k {
		all := r.Partitions()
		below, err = ragged.FromPartitions(r.FlatValues(), all[k:]...)
		return all[:k], below, err
	}
	deep, err := ragged.WithRaggedRank(x, k)
	if err != nil {
		return nil, nil, err
	}
	r, ok := deep.(*ragged.Tensor)
	if !ok {
		return nil, nil, fmt.Errorf("got the %T %v, want a ragged tensor", x, x)
	}
	return r.Partitions(), r.FlatValues(), nil
}

// compareMissing compares a ragged tensor whose values may be missing.
func compareMissing(m *cases.Matcher, want cases.Object, got tensor.Tensor) error {
	parts := tenon.Must(partitions(want["partitions"]))
	have, below, err := raggedParts(got, len(parts))
	if err != nil {
		return err
	}
	for i, p := range parts {
		if err := samePartition(p, have[i]); err != nil {
			return fmt.Errorf("partition %d: %w", i, err)
		}
	}
	if err := m.Match(want["values"], below); err != nil {
		return fmt.Errorf("values: %w", err)
	}
	return nil
}
