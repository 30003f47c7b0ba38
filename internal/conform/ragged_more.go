package main

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/ragged"
)

func init() {
	m := map[string]cases.Func{
		"merge_dims": func(c *cases.Case) (any, error) { return ragged.MergeDims(c.Tensor(0), c.Int(1), c.Int(2)) },
		"range": func(c *cases.Case) (any, error) {
			arg := func(i int) any {
				if i < len(c.Args) {
					return c.Arg(i)
				}
				return nil
			}
			return ragged.Range(arg(0), arg(1), arg(2), ragged.RangeOptions{DType: c.AttrDType("dtype", dtype.None), SplitsDType: c.AttrDType("row_splits_dtype", dtype.None)})
		},
		"reshape": func(c *cases.Case) (any, error) {
			return ragged.Reshape(c.Tensor(0), shapeFromLengths(c, 1))
		},
		"dynamic_partition": func(c *cases.Case) (any, error) {
			out, err := ragged.DynamicPartition(c.Arg(0), c.Arg(1), c.Int(2))
			return list(out), err
		},
		"stack_dynamic_partitions": func(c *cases.Case) (any, error) {
			return ragged.StackDynamicPartitions(c.Arg(0), c.Arg(1), c.Int(2))
		},
		"cross": func(c *cases.Case) (any, error) { return ragged.Cross(c.Tensors(0)) },
	}
	for name, f := range m {
		cases.Handle(map[string]cases.Func{"ragged." + name: referenceKinds(f)})
	}
}
