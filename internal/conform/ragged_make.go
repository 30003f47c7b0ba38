package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	from := func(f func(values, encoding any) (*ragged.Tensor, error)) cases.Func {
		return func(c *cases.Case) (any, error) { return f(c.Arg(0), c.Arg(1)) }
	}
	nested := func(f func(flat any, levels ...any) (tensor.Tensor, error)) cases.Func {
		return func(c *cases.Case) (any, error) { return f(c.Arg(0), cases.List[any](c.Arg(1))...) }
	}
	cases.Handle(map[string]cases.Func{
		"ragged.constant":        constant,
		"ragged.from_row_splits": from(ragged.FromRowSplits), "ragged.from_row_lengths": from(ragged.FromRowLengths),
		"ragged.from_row_starts": from(ragged.FromRowStarts), "ragged.from_row_limits": from(ragged.FromRowLimits),
		"ragged.from_value_rowids": func(c *cases.Case) (any, error) {
			return ragged.FromValueRowIDs(c.Arg(0), c.Arg(1), c.Attrs["nrows"])
		},
		"ragged.from_uniform_row_length": func(c *cases.Case) (any, error) {
			return ragged.FromUniformRowLength(c.Arg(0), c.Arg(1), c.Attrs["nrows"])
		},
		"ragged.from_nested_row_splits": nested(ragged.FromNestedRowSplits), "ragged.from_nested_row_lengths": nested(ragged.FromNestedRowLengths),
		"ragged.from_nested_value_rowids": func(c *cases.Case) (any, error) {
			var nrows []any
			if c.Has("nested_nrows") {
				nrows = cases.List[any](c.Attrs["nested_nrows"])
			}
			return ragged.FromNestedValueRowIDs(c.Arg(0), cases.List[any](c.Arg(1)), nrows)
		},
		"ragged.with_values": func(c *cases.Case) (any, error) {
			return ragged.FromPartition(c.Tensor(1), cases.As[*ragged.Tensor](c.Arg(0)).Partition())
		},
		"ragged.with_flat_values": func(c *cases.Case) (any, error) {
			return cases.As[*ragged.Tensor](c.Arg(0)).WithFlatValues(c.Tensor(1))
		},
		"ragged.with_row_splits_dtype": func(c *cases.Case) (any, error) {
			return cases.As[*ragged.Tensor](c.Arg(0)).WithSplitsDType(cases.DType(c.Arg(1)))
		},
		"ragged.segment_ids_to_row_splits": func(c *cases.Case) (any, error) {
			p, err := ragged.PartitionFromValueRowIDs(c.Arg(0), ragged.PartitionOptions{NRows: c.Attrs["num_segments"]})
			if err != nil {
				return nil, err
			}
			return withDType(c, "out_type", p.RowSplits()), nil
		},
		"ragged.row_splits_to_segment_ids": func(c *cases.Case) (any, error) {
			return withDType(c, "out_type", rows.RowIDs(c.Tensor(0), -1)), nil
		},
	})
}

// constant reads a literal with the element types that the cases' reference infers.
func constant(c *cases.Case) (any, error) {
	j := cases.As[cases.JSON](c.Arg(0))
	o := ragged.Options{DType: c.AttrDType("dtype", dtype.None), Int: dtype.Int32, Float: dtype.Float32,
		RaggedRank: c.AttrInt("ragged_rank", 0), Inner: c.AttrInts("inner_shape"), Splits: c.AttrDType("row_splits_dtype", dtype.None)}
	if c.Has("ragged_rank") && o.RaggedRank == 0 {
		return tensor.Const(j.Value, tensor.Options{DType: o.DType, Int: o.Int, Float: o.Float})
	}
	return ragged.Const(j.Value, o)
}

func init() {
	partitionFrom := func(f func(any, ragged.PartitionOptions) (*ragged.RowPartition, error)) cases.Func {
		return func(c *cases.Case) (any, error) {
			return f(c.Arg(0), ragged.PartitionOptions{DType: c.AttrDType("dtype", dtype.None), NRows: c.Attrs["nrows"], NVals: c.Attrs["nvals"]})
		}
	}
	get := func(f func(p *ragged.RowPartition) any) cases.Func {
		return func(c *cases.Case) (any, error) {
			return tenon.Try(func() any { return f(cases.As[*ragged.RowPartition](c.Arg(0))) })
		}
	}
	// The reference tells static counts of uniform rows only, and as tensors.
	static := func(p *ragged.RowPartition, n int) any {
		if n < 0 || !p.IsUniform() {
			return nil
		}
		return tensor.Scalar(int64(n))
	}
	cases.Handle(map[string]cases.Func{
		"row_partition.from_row_splits":         partitionFrom(ragged.PartitionFromRowSplits),
		"row_partition.from_row_lengths":        partitionFrom(ragged.PartitionFromRowLengths),
		"row_partition.from_row_starts":         partitionFrom(ragged.PartitionFromRowStarts),
		"row_partition.from_row_limits":         partitionFrom(ragged.PartitionFromRowLimits),
		"row_partition.from_value_rowids":       partitionFrom(ragged.PartitionFromValueRowIDs),
		"row_partition.from_uniform_row_length": partitionFrom(ragged.PartitionFromUniformRowLength),

		"row_partition.row_splits":      get(func(p *ragged.RowPartition) any { return p.RowSplits() }),
		"row_partition.row_lengths":     get(func(p *ragged.RowPartition) any { return p.RowLengths() }),
		"row_partition.row_starts":      get(func(p *ragged.RowPartition) any { return p.RowStarts() }),
		"row_partition.row_limits":      get(func(p *ragged.RowPartition) any { return p.RowLimits() }),
		"row_partition.value_rowids":    get(func(p *ragged.RowPartition) any { return p.ValueRowIDs() }),
		"row_partition.offsets_in_rows": get(func(p *ragged.RowPartition) any { return p.OffsetsInRows() }),
		"row_partition.nvals":           get(func(p *ragged.RowPartition) any { return p.NVals() }),
		"row_partition.nrows":           get(func(p *ragged.RowPartition) any { return p.NRows() }),
		"row_partition.is_uniform":      get(func(p *ragged.RowPartition) any { return p.IsUniform() }),
		"row_partition.dtype":           get(func(p *ragged.RowPartition) any { return p.DType().String() }),
		"row_partition.static_nrows":    get(func(p *ragged.RowPartition) any { return p.StaticNRows() }),
		"row_partition.static_nvals":    get(func(p *ragged.RowPartition) any { return static(p, p.StaticNVals()) }),
		"row_partition.static_uniform_row_length": get(func(p *ragged.RowPartition) any {
			return static(p, p.StaticUniformRowLength())
		}),
		"row_partition.uniform_row_length": get(func(p *ragged.RowPartition) any { return orNil(p.UniformRowLength()) }),
		"row_partition.with_dtype": func(c *cases.Case) (any, error) {
			return cases.As[*ragged.RowPartition](c.Arg(0)).WithDType(cases.DType(c.Arg(1)))
		},
		"row_partition.round_trip": func(c *cases.Case) (any, error) {
			p := cases.As[*ragged.RowPartition](c.Arg(0))
			parts, err := p.Spec().Disassemble(p)
			if err != nil {
				return nil, err
			}
			return p.Spec().Assemble(parts)
		},
	})
}

// orNil makes an answer of what may be missing.
func orNil(t tensor.Tensor) any {
	if t == nil {
		return nil
	}
	return t
}
