package saved

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// NameSizes names the sizes of Values. Keys are places: "[0]" is the first argument, "[0].tokens" a
// field of it, and "→[0]" the first result. There is a name for each axis of the Value, or "" for an
// axis without one. Sizes with the same name must be equal in each call. This is checked for
// arguments; for results it tells callers what to expect. All variants of the function that have the
// places are changed; if none has, that is an error.
//
//	err := f.NameSizes(map[string][]string{"[0]": {"batch", ""}, "[1]": {"batch"}, "→[0]": {"batch"}})
func (f *Func) NameSizes(sizes map[string][]string) error {
	var err error
	named := false
	for _, v := range f.variants {
		if e := v.nameSizes(sizes); e != nil {
			err = e
		} else {
			named = true
		}
	}
	if !named {
		return modelError(tenon.ErrInvalid, f.name, "%v", err)
	}
	return nil
}

// Sizes returns the names of the sizes of variant i, by place as in [Func.NameSizes].
func (f *Func) Sizes(i int) map[string][]string { return maps.Clone(f.variants[i].sizes) }

// SetBatch says that the function computes each row independently, along all axes whose size
// has this name: results for rows that are joined are the same as for separate rows, so calls
// may be batched. Every Value among arguments and results must have exactly one such axis.
func (f *Func) SetBatch(size string) error {
	for _, v := range f.variants {
		if err := v.setBatch(size); err != nil {
			return modelError(tenon.ErrInvalid, f.name, "%v", err)
		}
	}
	return nil
}

// BatchAxes returns the axis of each Value along which calls of variant i may be batched, by
// place as in [Func.NameSizes]; nil if they may not.
func (f *Func) BatchAxes(i int) map[string]int {
	v := f.variants[i]
	if v.batch == "" {
		return nil
	}
	out := map[string]int{}
	for place, names := range v.sizes {
		if axis := slices.Index(names, v.batch); axis >= 0 {
			out[place] = axis
		}
	}
	return out
}

// resultMark precedes the places of results.
const resultMark = "→"

// spec returns the Spec at a place of arguments or results.
func (v *variant) spec(place string) tenon.Spec {
	for _, l := range v.args {
		if l.Spec != nil && l.Path.String() == place {
			return l.Spec
		}
	}
	for _, l := range v.results {
		if l.Spec != nil && resultMark+l.Path.String() == place {
			return l.Spec
		}
	}
	return nil
}

// shapeOf returns the shape of values that have one, such as ragged and sparse tensors, and of
// their Specs.
func shapeOf(x any) shape.Shape {
	if s, ok := x.(interface{ Shape() shape.Shape }); ok {
		return s.Shape()
	}
	if v, ok := x.(tenon.Value); ok {
		return shapeOf(v.Spec())
	}
	return shape.UnknownRank
}

func (v *variant) nameSizes(sizes map[string][]string) error {
	known := map[string]int{}
	for _, place := range sortedKeys(sizes) {
		s := v.spec(place)
		if s == nil {
			return fmt.Errorf("sizes are named at %s, but there is no Value", place)
		}
		sh := shapeOf(s)
		if !sh.HasRank() || sh.Rank() != len(sizes[place]) {
			return fmt.Errorf("%d sizes are named at %s, but it is %s", len(sizes[place]), place, tenon.String(s))
		}
		if err := sameNames(known, place, sizes[place], sh); err != nil {
			return err
		}
	}
	if len(sizes) > 0 {
		v.sizes = maps.Clone(sizes)
	}
	return nil
}

// sameNames compares sizes with those that have the same names elsewhere.
func sameNames(known map[string]int, place string, names []string, s shape.Shape) error {
	if !s.HasRank() || s.Rank() != len(names) {
		return nil // of a rank that is unknown or different; the Spec is checked elsewhere
	}
	for i, name := range names {
		n := s.Dim(i)
		if name == "" || n < 0 {
			continue
		}
		if m, ok := known[name]; ok && m != n {
			return fmt.Errorf("argument %s has the size %d along axis %d, and another argument has %d %s", place, n, i, m, name)
		}
		known[name] = n
	}
	return nil
}

// sameSizes checks the named sizes of the arguments of a call, by place.
func (v *variant) sameSizes(given map[string]any) error {
	if len(v.sizes) == 0 {
		return nil
	}
	known := map[string]int{}
	for _, l := range v.args {
		place := l.Path.String()
		names, x := v.sizes[place], given[place]
		if names == nil || x == nil { // or its components are given
			continue
		}
		if _, ok := x.(tenon.Value); !ok {
			t, err := tensor.Convert(x)
			if err != nil {
				return err
			}
			x = t
		}
		if err := sameNames(known, place, names, shapeOf(x)); err != nil {
			return err
		}
	}
	return nil
}

func (v *variant) setBatch(size string) error {
	if size == "" {
		v.batch = ""
		return nil
	}
	has := func(mark string, leaves []function.Leaf) error {
		for _, l := range leaves {
			place := mark + l.Path.String()
			if l.Spec == nil {
				continue
			}
			n := 0
			for _, name := range v.sizes[place] {
				if name == size {
					n++
				}
			}
			if n != 1 {
				return fmt.Errorf("%d axes of %s have the size name %q, want one", n, place, size)
			}
		}
		return nil
	}
	if err := has("", v.args); err != nil {
		return err
	}
	if err := has(resultMark, v.results); err != nil {
		return err
	}
	v.batch = size
	return nil
}

// leavesAt returns the leaves of arguments by place.
func leavesAt(args []any) (map[string]any, error) {
	paths, leaves, err := nest.FlattenWithPaths(args, nest.Options{})
	if err != nil {
		return nil, err
	}
	given := make(map[string]any, len(leaves))
	for i, p := range paths {
		given[p.String()] = leaves[i]
	}
	return given, nil
}
