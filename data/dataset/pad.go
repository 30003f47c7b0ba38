package dataset

import (
	"maps"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// grown pads the rows of a batch according to PadTo.
func grown[T any](o BatchOptions, x T) (out T, err error) {
	defer tenon.Catch(&err)
	paths, leaves, err := nest.FlattenWithPaths(x, nest.Options{})
	if err != nil {
		return x, err
	}
	for _, name := range slices.Sorted(maps.Keys(o.PadTo)) {
		i, rest := placeOf(paths, name)
		if i < 0 {
			e := errOf("Batch", "there is no %q to pad", name)
			e.Kind = tenon.ErrNotFound
			return x, e
		}
		t, ok := leaves[i].(tensor.Tensor)
		if r, isRecord := leaves[i].(*structured.Tensor); isRecord && rest != "" {
			leaves[i] = r.With(rest, o.longer(name, r.Path(rest), o.PadTo[name]))
			continue
		}
		if !ok || rest != "" {
			return x, invalid("Batch", "%q is not a tensor that can be padded", name)
		}
		leaves[i] = o.longer(name, t, o.PadTo[name])
	}
	return nest.Pack(x, leaves, nest.Options{})
}

// placeOf returns the leaf that a name starts with, and the rest of the name.
func placeOf(paths []nest.Path, name string) (leaf int, rest string) {
	for i, p := range paths {
		at := p.String()
		if at == name {
			return i, ""
		}
		if at == "" {
			return i, name
		}
		if rest, ok := strings.CutPrefix(name, at+"."); ok {
			return i, rest
		}
	}
	return -1, ""
}

// longer returns rows padded to a size.
func (o BatchOptions) longer(name string, t tensor.Tensor, size int) tensor.Tensor {
	if m, ok := t.(masked.Optional); ok { // padding is missing
		p := o
		p.Pad = nil
		return tenon.Must(masked.New(o.longer(name, m.Values(), size), p.longer(name, masked.All(t).Full(), size)))
	}
	s := t.Shape()
	if !s.HasRank() || s.Rank() < 2 || s.Dim(1) < 0 {
		tenon.Throw(invalid("Batch", "%q is %s, whose rows cannot be padded to %d", name, tenon.String(t.Spec()), size))
	}
	have := s.Dim(1)
	if have > size {
		e := errOf("Batch", "%q has rows of %d elements, more than the size %d to pad to", name, have, size)
		e.Kind, e.Hint = tenon.ErrShape, "drop longer elements with Filter, or split them with FlatMap"
		tenon.Throw(e)
	}
	if have == size {
		return t
	}
	margins := make([][]int, s.Rank())
	for a := range margins {
		margins[a] = []int{0, 0}
	}
	margins[1][1] = size - have
	value := o.pad(t.DType())
	if value == nil && t.DType().IsString() {
		value = ""
	}
	return ops.Pad(t, margins, ops.PadOptions{Value: value})
}
