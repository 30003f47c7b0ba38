package mesh

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/tensor"
)

// A Sharded is a structure of Values of which this rank has its parts.
type Sharded[T any] struct {
	mesh    *Mesh
	like    T // has the structure, and everything that is not a tensor
	layouts []layout
	parts   []tensor.Tensor
}

// Shard returns this rank's parts of x according to a plan. Each rank has the whole x.
func Shard[T any](p *Plan, x T) (s Sharded[T], err error) {
	defer tenon.Catch(&err)
	layout, err := p.Layout(x)
	if err != nil {
		return s, err
	}
	s = Sharded[T]{mesh: p.mesh, like: x, layouts: layout.of}
	leaves, err := tensorsOf(x)
	if err != nil {
		return s, err
	}
	s.parts, err = p.mesh.partsOf(leaves, s.layouts)
	return s, err
}

// tensorsOf returns the tensors of which a structure is made.
func tensorsOf(x any) ([]tensor.Tensor, error) {
	leaves, err := nest.Flatten(x, nest.Options{Expand: true})
	if err != nil {
		return nil, err
	}
	var out []tensor.Tensor
	for _, l := range leaves {
		if t, ok := l.(tensor.Tensor); ok {
			out = append(out, t)
		}
	}
	return out, nil
}

// with returns a structure like another with other tensors, whose sizes may differ.
func with[T any](like T, tensors []tensor.Tensor) (T, error) {
	leaves, err := nest.Flatten(like, nest.Options{})
	if err != nil {
		return like, err
	}
	for i, l := range leaves {
		v, ok := l.(tenon.Value)
		if !ok {
			continue
		}
		n := 1
		if !tenon.IsLeaf(v.Spec()) {
			parts, err := componentsOf(v)
			if err != nil {
				return like, err
			}
			n = len(parts)
		}
		if leaves[i], err = remade(v, tensors[:n]); err != nil {
			return like, err
		}
		tensors = tensors[n:]
	}
	return nest.Pack(like, leaves, nest.Options{})
}

// remade returns a Value like another, made of other tensors.
func remade(v tenon.Value, tensors []tensor.Tensor) (tenon.Value, error) {
	s := v.Spec()
	if tenon.IsLeaf(s) {
		return tensors[0], nil
	}
	if n, ok := s.(namedSpec); ok && tenon.IsLeaf(n.Inner()) {
		of, err := named.NewSpec(tensors[0].Spec(), n.Dims().Names()...)
		if err != nil {
			return nil, err
		}
		return of.Assemble([]tenon.Value{tensors[0]})
	}
	list := make([]any, len(tensors))
	for i, t := range tensors {
		list[i] = t
	}
	return nest.Pack(v, list, nest.Options{Expand: true})
}

// Whole returns the structure of whole values on every rank. All ranks must call it.
func (s Sharded[T]) Whole(ctx context.Context) (x T, err error) {
	defer tenon.Catch(&err)
	out := make([]tensor.Tensor, len(s.parts))
	for i, t := range s.parts {
		if out[i], err = s.mesh.assemble(ctx, t, s.layouts[i]); err != nil {
			return x, err
		}
	}
	return with(s.like, out)
}

// assemble gathers a tensor from its parts.
func (m *Mesh) assemble(ctx context.Context, x tensor.Tensor, l layout) (tensor.Tensor, error) {
	if len(l.cuts) > 0 && l.cuts[0].ends != nil {
		return m.joinEnds(ctx, x, l.cuts[0])
	}
	for a, k := range l.cuts {
		for n := len(k.over) - 1; n >= 0; n-- {
			var err error
			if x, err = gatherAlong(ctx, m.groups[GroupOf(m.axes[k.over[n]].Name)], x, a); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}

// gatherAlong joins tensors of any element type along an axis.
func gatherAlong(ctx context.Context, c *dist.Comm, x tensor.Tensor, axis int) (tensor.Tensor, error) {
	if x.DType() == dtype.String {
		all, err := dist.GatherValues(ctx, c, x)
		if err != nil {
			return nil, err
		}
		return ops.Concat(all, axis), nil
	}
	y, err := c.AllGather(ctx, ops.MoveAxis(x, axis, 0))
	if err != nil {
		return nil, err
	}
	return ops.MoveAxis(y, 0, axis), nil
}

// Parts returns the tensors of this rank, in the order of package nest.
func (s Sharded[T]) Parts() []tensor.Tensor { return append([]tensor.Tensor(nil), s.parts...) }

// Bytes returns the number of bytes of this rank's parts.
func (s Sharded[T]) Bytes() int64 {
	n := int64(0)
	for _, t := range s.parts {
		if d, ok := t.(*tensor.Dense); ok {
			n += int64(d.Len()) * int64(d.DType().Size())
		}
	}
	return n
}

// String prints how each tensor is divided.
func (s Sharded[T]) String() string {
	return s.mesh.textOf(s.layouts)
}

// Join returns a structure that f makes of two others. f must not look at elements.
func Join[A, B, T any](a Sharded[A], b Sharded[B], f func(A, B) T) Sharded[T] {
	like := f(a.like, b.like)
	leaves, all := tenon.Must(tensorsOf(like)), map[tensor.Tensor]int{}
	s := Sharded[T]{mesh: a.mesh, like: like}
	layouts, parts := append(a.layouts[:len(a.layouts):len(a.layouts)], b.layouts...), append(a.Parts(), b.parts...)
	for i, t := range append(tenon.Must(tensorsOf(a.like)), tenon.Must(tensorsOf(b.like))...) {
		all[t] = i
	}
	for _, t := range leaves {
		i, ok := all[t]
		if !ok {
			tenon.Throw(tenon.NewError(tenon.ErrInvalid, "mesh.Join", "the structure has a tensor that is in neither of the two"))
		}
		s.layouts, s.parts = append(s.layouts, layouts[i]), append(s.parts, parts[i])
	}
	return s
}

// signature identifies what functions are traced for.
func (s Sharded[T]) signature() (string, error) {
	if s.mesh == nil {
		return "", tenon.NewError(tenon.ErrInvalid, "mesh", "the value is the zero Sharded; use mesh.Shard")
	}
	_, structure, err := nest.FlattenWithStructure(s.like)
	return fmt.Sprintf("%x %v", structure, s), err
}
