package arrowio

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
)

// A Value has one of two forms: an array with an element for each of its rows, or an array of a
// single element that holds the whole Value. The Spec alone determines the form.

// inRows reports whether Values of a Spec become an array with an element for each row.
func inRows(s tenon.Spec) bool {
	switch a := anatomy.OfSpec(s); a.Kind {
	case anatomy.Leaf, anatomy.Element:
		return hasRows(s)
	case anatomy.Lists:
		return len(a.Partitions) > 0 && plain(a.Inner)
	case anatomy.Optional:
		return hasRows(a.Mask) && plainMask(a.Mask) && inRows(a.Inner)
	case anatomy.Records:
		return hasRows(s) && !slices.ContainsFunc(a.Fields, func(f tenon.Field) bool { return !inRows(f.Spec) })
	case anatomy.Words:
		return hasRows(s) && plainMask(a.Inner)
	case anatomy.Union, anatomy.Map, anatomy.Named:
		return inRows(a.Inner)
	case anatomy.Held:
		return hasRows(s) && inRows(a.Inner)
	}
	return byComponents(s)
}

// shapeOf returns the shape of Values of a Spec, or an unknown shape if the Spec has none.
func shapeOf(s tenon.Spec) shape.Shape {
	if t, ok := s.(interface{ Shape() shape.Shape }); ok {
		return t.Shape()
	}
	return shape.UnknownRank
}

// hasRows reports whether Values of a Spec have a first dimension.
func hasRows(s tenon.Spec) bool { return shapeOf(s).HasRank() && shapeOf(s).Rank() > 0 }

// plain reports whether flat values have no structure of their own that lists around them would
// hide.
func plain(s tenon.Spec) bool {
	switch anatomy.OfSpec(s).Kind {
	case anatomy.Leaf, anatomy.Element, anatomy.Words, anatomy.Union:
		return inRows(s)
	}
	return false
}

// plainMask reports whether a tensor consists of one vector with lists around it.
func plainMask(s tenon.Spec) bool {
	a := anatomy.OfSpec(s)
	return a.Kind == anatomy.Leaf || a.Kind == anatomy.Lists && tenon.IsLeaf(a.Inner)
}

// table returns the anatomy of a Spec if its Values are lists of records.
func table(s tenon.Spec) (a anatomy.Spec, ok bool) {
	if s == nil {
		return a, false
	}
	a = anatomy.OfSpec(s)
	return a, a.Kind == anatomy.Records && hasRows(s) && len(a.Partitions) == 0
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

// outer returns the number of rows of Values of a Spec, or shape.Unknown.
func outer(s tenon.Spec) int {
	if sh := shapeOf(s); sh.HasRank() {
		if sh.Rank() > 0 {
			return sh.Dim(0)
		}
		return shape.Unknown
	}
	if c := s.Components(); len(c) > 0 {
		return outer(c[0].Spec)
	}
	return shape.Unknown
}
