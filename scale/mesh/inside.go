package mesh

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// A Layout says how the tensors of a structure are divided, in the order of package nest.
type Layout struct {
	mesh *Mesh
	of   []layout
}

// Layout returns how a plan divides a structure of whole values.
func (p *Plan) Layout(x any) (Layout, error) {
	out := Layout{mesh: p.mesh}
	values, err := nest.Flatten(x, nest.Options{})
	if err != nil {
		return out, err
	}
	known := map[tensor.Tensor]*entries{}
	for _, v := range values {
		if v, ok := v.(tenon.Value); ok {
			list, err := p.layouts(v, known)
			if err != nil {
				return out, err
			}
			out.of = append(out.of, list...)
		}
	}
	return out, nil
}

// Len returns the number of tensors.
func (l Layout) Len() int { return len(l.of) }

// Sizes returns the sizes of the whole of tensor i, with -1 for unknown ones.
func (l Layout) Sizes(i int) []int { return l.of[i].spec.Shape().Dims() }

// Append returns the layout of the tensors followed by those of others.
func (l Layout) Append(others ...Layout) Layout {
	out := Layout{mesh: l.mesh, of: slices.Clone(l.of)}
	for _, o := range others {
		out.of = append(out.of, o.of...)
	}
	return out
}

// At returns the layout of tensor i alone.
func (l Layout) At(i int) Layout { return Layout{l.mesh, l.of[i : i+1]} }

// Retyped returns the layout of one tensor for another tensor of the same shape.
func (l Layout) Retyped(t tensor.Tensor) (Layout, error) {
	s, ok := t.Spec().(*tensor.Spec)
	if !ok || len(l.of) != 1 || !s.Shape().Equal(l.of[0].spec.Shape()) {
		return l, tenon.NewError(tenon.ErrShape, "mesh.Layout", fmt.Sprintf("%s is not divided as %v", tenon.String(t.Spec()), l))
	}
	return Layout{l.mesh, []layout{{s, l.of[0].cuts}}}, nil
}

// Divided reports whether any tensor is divided.
func (l Layout) Divided() bool {
	return slices.ContainsFunc(l.of, func(x layout) bool {
		return slices.ContainsFunc(x.cuts, func(c cut) bool { return !c.whole() })
	})
}

// String prints how each tensor is divided.
func (l Layout) String() string {
	list := make([]string, len(l.of))
	for i, x := range l.of {
		list[i] = l.mesh.describe(x, "")
	}
	return strings.Join(list, ", ")
}

// Local returns the structure with this rank's parts in place of the tensors: of their Specs,
// only the sizes change.
func Local[T any](l Layout, x T) (T, error) {
	tensors, err := tensorsOf(x)
	if err != nil {
		return x, err
	}
	if len(tensors) != len(l.of) {
		return x, tenon.NewError(tenon.ErrInvalid, "mesh.Local", fmt.Sprintf("the structure has %d tensors, but the layout %d", len(tensors), len(l.of)))
	}
	parts, err := l.mesh.partsOf(tensors, l.of)
	if err != nil {
		return x, err
	}
	return with(x, parts)
}

// Inside runs a program on parts within a function that is being traced: f gets tensors that stand for whole
// values. Values that it captures must be the same on all ranks, except for those that [PerRank] uses. The
// results are parts again, divided as the program left them; use [Lay] to divide them in another way.
func Inside[X, Y any](l Layout, f func(X) Y, parts X) (y Y, divided Layout) {
	tensors := tenon.Must(tensorsOf(parts))
	out, res, like, _ := traced(l.mesh, f, parts, l.of, tensors)
	return tenon.Must(with(like, out)), Layout{l.mesh, res}
}

// Lay returns x, in a program, divided according to a layout.
func Lay[T any](l Layout, x T) T {
	tensors := tenon.Must(tensorsOf(x))
	i := slices.IndexFunc(tensors, func(t tensor.Tensor) bool { _, ok := t.(*variable); return ok })
	if i < 0 {
		return x
	}
	t := tensors[i].(*variable).tracer
	for i, x := range tensors {
		tensors[i] = tenon.Must(t.to(t.of(x), l.of[i].cuts))
	}
	return tenon.Must(with(x, tensors))
}

// Whole returns the whole values of a structure of parts, on every rank. All ranks must call
// it.
func Whole[T any](ctx context.Context, l Layout, parts T) (x T, err error) {
	defer tenon.Catch(&err)
	tensors, err := tensorsOf(parts)
	if err != nil {
		return x, err
	}
	for i, t := range tensors {
		if tensors[i], err = l.mesh.assemble(ctx, t, l.of[i]); err != nil {
			return x, err
		}
	}
	return with(parts, tensors)
}

// Like returns x, in a program, divided like another tensor of the same shape. Outside of a
// program it returns x.
func Like(x, other tensor.Tensor) tensor.Tensor {
	o, ok := other.(*variable)
	if !ok {
		return x
	}
	return tenon.Must(o.tracer.to(o.tracer.of(x), o.cuts))
}

// PerRank runs f, in a program, separately on each rank along an axis of the mesh. Values that f captures, such as
// the rank's rows of a batch, may differ. Its argument is whole; the results are the sums of the results of f over
// the ranks. If the axis is "" or has one rank, there is nothing to sum.
//
// PerRank makes any type of Value usable in a program, because the rows of a rank are a whole Value to f.
func PerRank[X, Y any](axis string, f func(X) Y, x X) Y {
	tensors := tenon.Must(tensorsOf(x))
	var t *tracer
	for i, v := range tensors {
		if v, ok := v.(*variable); ok {
			t = v.tracer
			v = t.close(v)
			for a := range v.cuts {
				v = t.gathered(v, a)
			}
			tensors[i] = v.part(v.cuts)
		}
	}
	y := f(tenon.Must(with(x, tensors)))
	if t == nil {
		return y
	}
	var open over
	if i := t.mesh.axis(axis); i >= 0 && t.mesh.axes[i].Size > 1 {
		open = over(rune(i))
	}
	out := tenon.Must(tensorsOf(y))
	for i, z := range out {
		v := t.whole(z)
		v.open = open
		out[i] = v
	}
	return tenon.Must(with(y, out))
}

// RankAlong returns the number of this rank along an axis of the mesh.
func (m *Mesh) RankAlong(axis string) int { return m.at[m.axis(axis)] }

// SizeAlong returns the number of ranks along an axis, or 1 if the mesh has no such axis.
func (m *Mesh) SizeAlong(axis string) int {
	if i := m.axis(axis); i >= 0 {
		return m.axes[i].Size
	}
	return 1
}

// A Block is the part of a tensor that this rank has: its beginning in the whole tensor, and its
// sizes.
type Block struct {
	Begin, Size []int

	// First means that no earlier rank has the same block.
	First bool
}

// Block returns the part of tensor i that this rank has. It is an error for entries of rows, whose
// parts depend on row splits.
func (l Layout) Block(i int) (Block, error) {
	x := l.of[i]
	b := Block{First: true}
	var used over
	for a, k := range x.cuts {
		lo, hi := 0, x.spec.Shape().Dim(a)
		switch {
		case k.ragged():
			return b, tenon.NewError(tenon.ErrUnsupported, "mesh.Layout", fmt.Sprintf("%v is divided by rows, so the part of a rank is not a block", l.At(i)))
		case !k.whole():
			lo, hi = l.mesh.share(k)
		}
		used += k.over
		b.Begin, b.Size = append(b.Begin, lo), append(b.Size, hi-lo)
	}
	for a, at := range l.mesh.at {
		b.First = b.First && (at == 0 || strings.ContainsRune(string(used), rune(a)))
	}
	return b, nil
}
