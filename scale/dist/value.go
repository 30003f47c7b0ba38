package dist

import (
	"context"
	"fmt"
	"hash/fnv"
	"reflect"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/elements"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// GatherValues returns the values of all ranks in order: Values of any type, and structures of
// them, whose sizes and Specs may differ. Their structures must be that of x.
func GatherValues[T any](ctx context.Context, c *Comm, x T) ([]T, error) {
	b, err := elements.Append(nil, x)
	if err != nil {
		return nil, c.Fail(err)
	}
	what := call{kind: "gather_values", text: structureOf(x)}
	sizes, err := c.meet(ctx, what, len(b))
	if err != nil || c.Size() == 1 {
		return []T{x}, err
	}
	total := 0
	for _, n := range sizes {
		total += n
	}
	all := make([]byte, total)
	if err := c.wait(ctx, what, c.gather(all, append([]int(nil), sizes...), b)); err != nil {
		return nil, err
	}
	out, at := make([]T, c.Size()), 0
	for r := range out {
		if out[r], err = elements.Read(all[at:at+sizes[r]], x); err != nil {
			return nil, c.Fail(err)
		}
		at += sizes[r]
	}
	return out, nil
}

// BroadcastValue returns the value of rank root. The others pass a value of the same structure,
// whose contents are ignored.
func BroadcastValue[T any](ctx context.Context, c *Comm, x T, root int) (T, error) {
	var b []byte
	err := c.hasRank("Broadcast", root)
	if err == nil && c.Rank() == root {
		b, err = elements.Append(nil, x)
	}
	if err != nil {
		return x, c.Fail(err)
	}
	what := call{kind: "broadcast_value", root: root, text: structureOf(x)}
	sizes, err := c.meet(ctx, what, len(b))
	if err != nil || c.Size() == 1 {
		return x, err
	}
	if c.Rank() == root {
		return x, c.wait(ctx, what, c.spread(b, root))
	}
	b = make([]byte, sizes[root])
	if err := c.wait(ctx, what, c.spread(b, root)); err != nil {
		return x, err
	}
	out, err := elements.Read(b, x)
	if err != nil {
		return x, c.Fail(err)
	}
	return out, nil
}

// ReduceValues returns the combination of the values of all ranks, tensor by tensor. They may be
// structures, and must have the same Specs. Numbers of all types are combined, and booleans by [Any]
// and [All]. Tensors that say where elements are, such as row splits, positions and masks, are not
// combined but must be the same on all ranks; so must strings, and booleans with other reductions. For
// values whose sizes differ, gather the rows instead ([GatherValues]).
func ReduceValues[T any](ctx context.Context, c *Comm, x T, by Reduction) (T, error) {
	leaves, err := nest.Flatten(x, nest.Options{Expand: true})
	if err != nil {
		return x, c.Fail(err)
	}
	if err := c.Agree(ctx, "the structure of the reduced value", structureOf(x)); err != nil {
		return x, err
	}
	are, err := elementsOf(x)
	if err != nil {
		return x, c.Fail(err)
	}
	for i, l := range leaves {
		if d, ok := l.(*tensor.Dense); ok && are[i] && (d.DType().IsNumeric() || d.DType().IsBool() && (by == Any || by == All)) {
			if leaves[i], err = c.AllReduce(ctx, d, by); err != nil {
				return x, err
			}
			continue
		}
		b, err := elements.Append(nil, l)
		if err != nil {
			return x, c.Fail(err)
		}
		h := fnv.New128a()
		h.Write(b)
		if err := c.Agree(ctx, fmt.Sprintf("leaf %d of the reduced value", i), fmt.Sprintf("%d bytes of digest %x", len(b), h.Sum(nil))); err != nil {
			return x, err
		}
	}
	return nest.Pack(x, leaves, nest.Options{Expand: true})
}

// elementsOf reports, for each tensor of a structure, whether it holds elements of a Value rather than their positions:
// such tensors differ between a Value of ones and one of zeros. For types without such Values, floating-point and
// complex tensors are assumed to hold elements.
func elementsOf(x any) ([]bool, error) {
	values, err := nest.Flatten(x, nest.Options{})
	if err != nil {
		return nil, err
	}
	var out []bool
	for _, l := range values {
		v, ok := l.(tenon.Value)
		if !ok || tenon.IsLeaf(v.Spec()) {
			out = append(out, ok)
			continue
		}
		parts, err := nest.Flatten(v, nest.Options{Expand: true})
		if err != nil {
			return nil, err
		}
		zeros, ones := filledLike(v, ops.ZerosLike, len(parts)), filledLike(v, ops.OnesLike, len(parts))
		for i, p := range parts {
			d, dense := p.(*tensor.Dense)
			if zeros == nil || ones == nil {
				out = append(out, dense && d.DType().IsDifferentiable())
				continue
			}
			a, ok := zeros[i].(tensor.Tensor)
			b, also := ones[i].(tensor.Tensor)
			out = append(out, dense && ok && also && !tensor.Equal(a, b))
		}
	}
	return out, nil
}

// filledLike returns the tensors of a Value like another, or nil if there is none with the same number of
// parts.
func filledLike(v tenon.Value, like func(any) tensor.Tensor, parts int) []any {
	out, err := tenon.Try(func() []any { return tenon.Must(nest.Flatten(like(v), nest.Options{Expand: true})) })
	if err != nil || len(out) != parts {
		return nil
	}
	return out
}

// structureOf returns a text that is the same for structures with the same places and types of
// leaves.
func structureOf(x any) string {
	paths, leaves, err := nest.FlattenWithPaths(x, nest.Options{})
	if err != nil {
		return err.Error()
	}
	s := ""
	for i, l := range leaves {
		if len(paths[i]) > 0 {
			s += paths[i].String() + " "
		}
		v, ok := l.(tenon.Value)
		if !ok {
			s += reflect.TypeOf(l).String() + " "
			continue
		}
		s += v.Spec().TypeName()
		if t, ok := v.(tensor.Tensor); ok {
			s += " " + t.DType().String()
			if t.Shape().HasRank() {
				s += shape.OfRank(t.Shape().Rank()).String()
			}
		}
		s += " "
	}
	return s
}
