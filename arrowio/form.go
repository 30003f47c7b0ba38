package arrowio

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// A Value has one of two forms: an array with an element for each of its rows, or an
// array of one element that holds all of it. Which it is follows from the Spec alone.

// inRows reports whether Values of a Spec become an array with an element for each row.
func inRows(s tenon.Spec) bool {
	switch s := s.(type) {
	case *tensor.Spec:
		return s.Shape().HasRank() && s.Shape().Rank() > 0
	case *ragged.Spec:
		return s.RaggedRank() > 0 && plain(s.Flat())
	case *masked.Spec:
		return s.Mask().(interface{ Shape() shape.Shape }).Shape().Rank() > 0 && plainMask(s.Mask()) && inRows(s.Values())
	case *structured.Spec:
		if s.Rank() == 0 {
			return false
		}
		for _, c := range columns(s) {
			if !inRows(c.Spec) {
				return false
			}
		}
		return true
	case *structured.DictionarySpec:
		return s.Shape().Rank() > 0 && plainMask(s.Components()[0].Spec)
	case *structured.UnionSpec:
		return inRows(s.Components()[0].Spec)
	case *structured.HeldSpec:
		return s.Shape().Rank() > 0 && inRows(s.Value())
	case *named.Spec:
		return inRows(s.Inner())
	}
	return byComponents(s)
}

// plain reports whether flat values have no structure of their own that lists around
// them would hide.
func plain(s tenon.Spec) bool {
	switch s.(type) {
	case *tensor.Spec, *structured.DictionarySpec, *structured.UnionSpec:
		return inRows(s)
	}
	return false
}

// plainMask reports whether a tensor is made of one vector and lists around it.
func plainMask(s tenon.Spec) bool {
	switch s := s.(type) {
	case *tensor.Spec:
		return true
	case *ragged.Spec:
		_, ok := s.Flat().(*tensor.Spec)
		return ok
	}
	return false
}

// columns returns the Specs of the columns of records, each with an entry for each record.
func columns(s *structured.Spec) []tenon.Field {
	all := s.Components()
	return all[len(all)-len(s.FieldNames()):]
}

// byComponents reports whether the rows of a Value are the rows of its components.
func byComponents(s tenon.Spec) bool {
	b, ok := s.(tenon.Batcher)
	if !ok || tenon.IsLeaf(s) {
		return false
	}
	switch s.(type) {
	case *ragged.PartitionSpec, *ragged.ShapeSpec:
		return false
	}
	row, err := b.Unbatched()
	if err != nil {
		return false
	}
	many, one := s.Components(), row.Components()
	if len(many) != len(one) || len(many) == 0 {
		return false
	}
	n := shape.Unknown
	for _, c := range many {
		k := outer(c.Spec)
		if n >= 0 && k >= 0 && n != k {
			return false
		}
		n = max(n, k)
	}
	for i, c := range many {
		cb, ok := c.Spec.(tenon.Batcher)
		if !ok || !inRows(c.Spec) {
			return false
		}
		if u, err := cb.Unbatched(); err != nil || !tenon.Equal(u, one[i].Spec) {
			return false
		}
	}
	return true
}

// outer returns the number of rows of Values of a Spec; shape.Unknown where it does not tell.
func outer(s tenon.Spec) int {
	if t, ok := s.(interface{ Shape() shape.Shape }); ok {
		if sh := t.Shape(); sh.HasRank() && sh.Rank() > 0 {
			return sh.Dim(0)
		}
		return shape.Unknown
	}
	if c := s.Components(); len(c) > 0 {
		return outer(c[0].Spec)
	}
	return shape.Unknown
}
