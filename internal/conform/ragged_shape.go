package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	get := func(f func(t *ragged.Tensor) any) cases.Func {
		return func(c *cases.Case) (any, error) {
			return tenon.Try(func() any { return f(cases.As[*ragged.Tensor](c.Arg(0))) })
		}
	}
	each := func(f func(p *ragged.RowPartition) tensor.Tensor) cases.Func {
		return get(func(t *ragged.Tensor) any {
			var out []tensor.Tensor
			for _, p := range t.Partitions() {
				out = append(out, f(p))
			}
			return out
		})
	}
	cases.Handle(map[string]cases.Func{
		"ragged.row_splits":          get(func(t *ragged.Tensor) any { return t.RowSplits() }),
		"ragged.row_starts":          get(func(t *ragged.Tensor) any { return t.Partition().RowStarts() }),
		"ragged.row_limits":          get(func(t *ragged.Tensor) any { return t.Partition().RowLimits() }),
		"ragged.value_rowids":        get(func(t *ragged.Tensor) any { return t.Partition().ValueRowIDs() }),
		"ragged.values":              get(func(t *ragged.Tensor) any { return t.Values() }),
		"ragged.flat_values":         get(func(t *ragged.Tensor) any { return t.FlatValues() }),
		"ragged.ragged_rank":         get(func(t *ragged.Tensor) any { return t.RaggedRank() }),
		"ragged.uniform_row_length":  get(func(t *ragged.Tensor) any { return orNil(t.Partition().UniformRowLength()) }),
		"ragged.nested_row_splits":   each((*ragged.RowPartition).RowSplits),
		"ragged.nested_row_lengths":  each((*ragged.RowPartition).RowLengths),
		"ragged.nested_value_rowids": each((*ragged.RowPartition).ValueRowIDs),
		"ragged.static_shape":        get(func(t *ragged.Tensor) any { return sizesOrNil(t.Shape()) }),
		"ragged.nrows": func(c *cases.Case) (any, error) {
			return withDType(c, "out_type", cases.As[*ragged.Tensor](c.Arg(0)).NRows()), nil
		},
		"ragged.row_lengths": func(c *cases.Case) (any, error) {
			return cases.As[*ragged.Tensor](c.Arg(0)).RowLengths(c.AttrInt("axis", 1))
		},
		"ragged.bounding_shape": func(c *cases.Case) (any, error) {
			t := cases.As[*ragged.Tensor](c.Arg(0))
			s, err := t.BoundingShape()
			if err != nil {
				return nil, err
			}
			s = ops.Cast(s, t.RowSplits().DType()) // the reference's out_type where none is given
			if _, ok := c.Attrs["axis"].(int); ok {
				s = ops.Gather(s, tensor.Scalar(int64(c.AttrInt("axis", 0))), 0)
			} else if c.Has("axis") {
				s = ops.Gather(s, tensor.Vector(c.AttrInts("axis")), 0)
			}
			return withDType(c, "out_type", s), nil
		},
		// The reference's out_type is int32 where none is given.
		"ragged.shape": func(c *cases.Case) (any, error) {
			s, err := ragged.ShapeOf(c.Tensor(0)).WithDType(c.AttrDType("out_type", dtype.Int32))
			if err != nil {
				return nil, err
			}
			return shapeDict(s), nil
		},
		"ragged.getitem": func(c *cases.Case) (any, error) { return cases.As[*ragged.Tensor](c.Arg(0)).Index(keys(c.Arg(1))...) },
	})
}

// sizesOrNil writes a static shape with nil for sizes that are not known.
func sizesOrNil(s shape.Shape) []any {
	out := make([]any, s.Rank())
	for i := range out {
		if n := s.Dim(i); n >= 0 {
			out[i] = n
		}
	}
	return out
}

func init() {
	get := func(f func(s *ragged.Shape, c *cases.Case) any) cases.Func {
		return func(c *cases.Case) (any, error) {
			return tenon.Try(func() any { return f(shapeFromLengths(c, 0), c) })
		}
	}
	cases.Handle(map[string]cases.Func{
		"dynamic_shape.from_lengths":       get(func(s *ragged.Shape, _ *cases.Case) any { return shapeDict(s) }),
		"dynamic_shape.static_lengths":     get(func(s *ragged.Shape, _ *cases.Case) any { return s.StaticLengths() }),
		"dynamic_shape.rank":               get(func(s *ragged.Shape, _ *cases.Case) any { return s.Rank() }),
		"dynamic_shape.inner_rank":         get(func(s *ragged.Shape, _ *cases.Case) any { return s.InnerRank() }),
		"dynamic_shape.num_row_partitions": get(func(s *ragged.Shape, _ *cases.Case) any { return len(s.Partitions()) }),
		"dynamic_shape.is_uniform":         get(func(s *ragged.Shape, c *cases.Case) any { return s.IsUniform(c.Int(1)) }),
		"dynamic_shape.fill":               get(func(s *ragged.Shape, c *cases.Case) any { return tenon.Must(ragged.Fill(s, c.Tensor(1))) }),
		"dynamic_shape.ones": get(func(s *ragged.Shape, c *cases.Case) any {
			return tenon.Must(ragged.Fill(s, ops.Cast(1, c.AttrDType("dtype", dtype.Float32))))
		}),
		"dynamic_shape.broadcast_to": func(c *cases.Case) (any, error) {
			s, err := tenon.Try(func() *ragged.Shape { return shapeFromLengths(c, 1) })
			if err != nil {
				return nil, err
			}
			return ragged.BroadcastTo(c.Tensor(0), s)
		},
		"dynamic_shape.broadcast_dynamic_shape": get(func(s *ragged.Shape, c *cases.Case) any {
			out, _, err := ragged.BroadcastShapes(s, shapeFromLengths(c, 1))
			tenon.Throw(err)
			return out.StaticLengths()
		}),
		"dynamic_shape.from_tensor": func(c *cases.Case) (any, error) {
			s := ragged.ShapeOf(c.Tensor(0))
			def := s.DType()
			if len(s.Partitions()) == 0 { // the reference's type of a dense tensor's sizes
				def = dtype.Int32
			}
			s, err := s.WithDType(c.AttrDType("dtype", def))
			if err != nil {
				return nil, err
			}
			return shapeDict(s), nil
		},
		"dynamic_shape.from_row_partitions": func(c *cases.Case) (any, error) {
			s, err := ragged.ShapeFromPartitions(cases.List[*ragged.RowPartition](c.Arg(0))...)
			if err != nil {
				return nil, err
			}
			if s, err = s.WithDType(c.AttrDType("dtype", s.DType())); err != nil {
				return nil, err
			}
			return shapeDict(s), nil
		},
		"dynamic_shape.from_parts": func(c *cases.Case) (any, error) {
			s, err := ragged.NewShape(cases.List[*ragged.RowPartition](c.Arg(0)), c.Tensor(1))
			if err != nil {
				return nil, err
			}
			return shapeDict(s), nil
		},
		"dynamic_shape.getitem": get(shapeItem),
	})
}

func shapeFromLengths(c *cases.Case, i int) *ragged.Shape {
	l := cases.List[any](c.Arg(i))
	for k, n := range l {
		if list, ok := n.([]any); ok {
			l[k] = cases.List[int](list)
		}
	}
	o := ragged.ShapeOptions{Partitions: c.AttrInt("num_row_partitions", 0), DType: c.AttrDType("dtype", dtype.None)}
	if c.Op == "dynamic_shape.ones" {
		o.DType = dtype.None
	}
	s := tenon.Must(ragged.ShapeFromLengths(l, o))
	if c.Has("num_row_partitions") && o.Partitions == 0 {
		s = tenon.Must(s.WithPartitions(0))
	}
	return s
}

func shapeItem(s *ragged.Shape, c *cases.Case) any {
	if i, ok := c.Arg(1).(int); ok {
		return s.Dim(i)
	}
	b := cases.List[any](cases.As[map[string]any](c.Arg(1))["slice"])
	lo, hi := 0, s.Rank()
	if b[0] != nil {
		lo = cases.As[int](b[0])
	}
	if b[1] != nil {
		hi = cases.As[int](b[1])
	}
	if b[2] != nil {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "ragged.Shape.Slice", "a shape has no strides"))
	}
	return shapeDict(tenon.Must(s.Slice(lo, hi)))
}
