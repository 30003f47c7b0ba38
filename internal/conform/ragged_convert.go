package main

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.Handle(map[string]cases.Func{
		"ragged.to_tensor": func(c *cases.Case) (any, error) {
			o := ragged.DenseOptions{Default: c.Attrs["default_value"]}
			if c.Has("shape") {
				o.Shape = []int{}
				for _, n := range cases.List[any](c.Attrs["shape"]) {
					if n == nil {
						n = shape.Unknown
					} else if n.(int) < 0 {
						n = n.(int) - 1 // -1 is how the library writes an unknown size
					}
					o.Shape = append(o.Shape, n.(int))
				}
			}
			return cases.As[*ragged.Tensor](c.Arg(0)).ToDense(o)
		},
		"ragged.from_tensor": func(c *cases.Case) (any, error) {
			o := ragged.FromDenseOptions{Lengths: c.Attrs["lengths"], Padding: c.Attrs["padding"], RaggedRank: c.AttrInt("ragged_rank", 0), Splits: c.AttrDType("row_splits_dtype", dtype.None)}
			if c.Has("ragged_rank") && o.RaggedRank == 0 {
				o.RaggedRank = -1 // zero is how the library writes the default
			}
			if _, vector := o.Lengths.(tensor.Tensor); vector && o.Splits == dtype.None {
				o.Splits = dtype.Int64 // the reference's default, whatever type the lengths have
			}
			return ragged.FromDense(c.Tensor(0), o)
		},
		"ragged.from_sparse": func(c *cases.Case) (any, error) {
			s := cases.As[*sparse.Tensor](c.Arg(0))
			return ragged.FromSparse(s.Indices(), s.Values(), s.DenseShape(), c.AttrDType("row_splits_dtype", dtype.None))
		},
		"ragged.to_sparse": func(c *cases.Case) (any, error) {
			i, v, s, err := cases.As[*ragged.Tensor](c.Arg(0)).ToSparse()
			if err != nil {
				return nil, err
			}
			return sparse.New(i, v, s)
		},
		"ragged.to_list": func(c *cases.Case) (any, error) {
			l, err := cases.As[*ragged.Tensor](c.Arg(0)).Nested()
			return cases.JSON{Value: l}, err
		},
	})
}
