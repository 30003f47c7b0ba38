package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.Handle(map[string]cases.Func{
		"math.reshape":      one(func(c *cases.Case) any { return ops.Reshape(c.Tensor(0), c.AttrInts("shape")) }),
		"math.transpose":    one(func(c *cases.Case) any { return ops.Transpose(c.Tensor(0), c.AttrInts("perm")...) }),
		"math.broadcast_to": one(func(c *cases.Case) any { return ops.BroadcastTo(c.Tensor(0), c.AttrInts("shape")) }),
		"math.expand_dims":  one(func(c *cases.Case) any { return ops.ExpandDims(c.Tensor(0), c.AttrInts("axis")...) }),
		"math.squeeze":      one(func(c *cases.Case) any { return ops.Squeeze(c.Tensor(0), c.AttrInts("axis")...) }),
		"math.concat":       one(func(c *cases.Case) any { return ops.Concat(c.Tensors(0), c.AttrInt("axis", 0)) }),
		"math.stack":        one(func(c *cases.Case) any { return ops.Stack(c.Tensors(0), c.AttrInt("axis", 0)) }),
		"math.unstack":      one(func(c *cases.Case) any { return ops.Unstack(c.Tensor(0), c.AttrInt("axis", 0)) }),
		"math.split":        one(func(c *cases.Case) any { return ops.Split(c.Tensor(0), intOrInts(c, "sizes"), c.AttrInt("axis", 0)) }),
		"math.tile":         one(func(c *cases.Case) any { return ops.Tile(c.Tensor(0), c.AttrInts("multiples")) }),
		"math.repeat":       one(func(c *cases.Case) any { return ops.Repeat(c.Tensor(0), c.Tensor(1), c.AttrInt("axis", 0)) }),
		"math.pad": one(func(c *cases.Case) any {
			var p [][]int
			for _, row := range cases.List[any](c.Attrs["paddings"]) {
				p = append(p, cases.List[int](row))
			}
			return ops.Pad(c.Tensor(0), p, ops.PadOptions{Mode: ops.PadMode(c.AttrStr("mode", "")), Value: c.Attrs["value"]})
		}),
		"math.slice": one(func(c *cases.Case) any {
			return ops.Slice(c.Tensor(0), c.AttrInts("begin"), c.AttrInts("size"))
		}),
		"math.getitem": one(func(c *cases.Case) any { return ops.Index(c.Tensor(0), keys(c.Arg(1))...) }),
		"math.gather": one(func(c *cases.Case) any {
			return ops.GatherBatched(c.Tensor(0), c.Tensor(1), c.AttrInt("axis", 0), c.AttrInt("batch_dims", 0))
		}),
		"math.gather_nd": one(func(c *cases.Case) any {
			return ops.GatherND(c.Tensor(0), c.Tensor(1), c.AttrInt("batch_dims", 0))
		}),
		"math.scatter_nd": one(func(c *cases.Case) any {
			return ops.ScatterND(c.Tensor(0), c.Tensor(1), c.AttrInts("shape"))
		}),
		"math.tensor_scatter_add":    scatter(ops.TensorScatterAdd),
		"math.tensor_scatter_max":    scatter(ops.TensorScatterMax),
		"math.tensor_scatter_min":    scatter(ops.TensorScatterMin),
		"math.tensor_scatter_update": scatter(ops.TensorScatterUpdate),
		"math.one_hot": one(func(c *cases.Case) any {
			o := ops.OneHotOptions{DType: c.AttrDType("dtype", dtype.None), On: c.Attrs["on"], Off: c.Attrs["off"]}
			return ops.OneHot(c.Tensor(0), c.AttrInt("depth", 0), c.AttrInt("axis", -1), o)
		}),
		"math.where":         one(func(c *cases.Case) any { return ops.Where(c.Tensor(0), c.Tensor(1), c.Tensor(2)) }),
		"math.where_indices": one(func(c *cases.Case) any { return ops.Nonzero(c.Tensor(0)) }),
		"math.boolean_mask": one(func(c *cases.Case) any {
			return ops.BooleanMask(c.Tensor(0), c.Tensor(1), c.AttrInt("axis", 0))
		}),
		"math.reverse": one(func(c *cases.Case) any { return ops.Reverse(c.Tensor(0), c.AttrInts("axis")...) }),
		"math.roll": one(func(c *cases.Case) any {
			return ops.Roll(c.Tensor(0), intOrInts(c, "shift"), c.AttrInts("axis")...)
		}),
		"math.reverse_sequence": one(func(c *cases.Case) any {
			return ops.ReverseSequence(c.Tensor(0), c.Tensor(1), c.AttrInt("seq_axis", 1), c.AttrInt("batch_axis", 0))
		}),
		"math.sequence_mask": one(func(c *cases.Case) any { return ops.SequenceMask(c.Tensor(0), c.Attrs["maxlen"]) }),
		"math.range": one(func(c *cases.Case) any {
			return ops.Range(scalarAttr(c, "start"), scalarAttr(c, "limit"), scalarAttr(c, "delta"))
		}),
		"math.linspace": one(func(c *cases.Case) any {
			return ops.LinSpace(scalarAttr(c, "start"), scalarAttr(c, "stop"), c.AttrInt("num", 0))
		}),
		"math.eye": one(func(c *cases.Case) any {
			return ops.Eye(c.AttrDType("dtype", dtype.Float64), c.AttrInt("rows", 0), c.AttrInt("columns", 0))
		}),
		"math.fill": one(func(c *cases.Case) any { return ops.Fill(c.AttrInts("shape"), c.Tensor(0)) }),
		"math.meshgrid": one(func(c *cases.Case) any {
			var vs []any
			for _, v := range c.Tensors(0) {
				vs = append(vs, v)
			}
			return ops.Meshgrid(ops.Indexing(c.AttrStr("indexing", "xy")), vs...)
		}),
		"math.zeros_like": one(func(c *cases.Case) any { return ops.ZerosLike(c.Tensor(0)) }),
		"math.ones_like":  one(func(c *cases.Case) any { return ops.OnesLike(c.Tensor(0)) }),
		"math.diag":       one(func(c *cases.Case) any { return ops.Diag(c.Tensor(0)) }),
		"math.diag_part":  one(func(c *cases.Case) any { return ops.DiagPart(c.Tensor(0)) }),
		"math.trace":      one(func(c *cases.Case) any { return ops.Trace(c.Tensor(0)) }),
		"math.band_part": one(func(c *cases.Case) any {
			return ops.BandPart(c.Tensor(0), c.AttrInt("lower", -1), c.AttrInt("upper", -1))
		}),
		"math.tril":  one(func(c *cases.Case) any { return ops.Tril(c.Tensor(0), c.AttrInt("k", 0)) }),
		"math.triu":  one(func(c *cases.Case) any { return ops.Triu(c.Tensor(0), c.AttrInt("k", 0)) }),
		"math.shape": one(func(c *cases.Case) any { return ops.Shape(c.Tensor(0)) }),
		"math.size":  one(func(c *cases.Case) any { return ops.Size(c.Tensor(0)) }),
	})
}

// one makes an operation of a function that throws its errors.
func one(f func(c *cases.Case) any) cases.Func {
	return func(c *cases.Case) (any, error) { return f(c), nil }
}

func scatter(f func(x, indices, updates any) tensor.Tensor) cases.Func {
	return one(func(c *cases.Case) any { return f(c.Tensor(0), c.Tensor(1), c.Tensor(2)) })
}

// intOrInts returns an attribute that is an integer or a list of them.
func intOrInts(c *cases.Case, name string) any {
	if n, ok := c.Attrs[name].(int); ok {
		return n
	}
	return c.AttrInts(name)
}

// scalarAttr returns a number among the attributes in the type that the attribute
// dtype names.
func scalarAttr(c *cases.Case, name string) tensor.Tensor {
	return ops.Cast(c.Attrs[name], c.AttrDType("dtype", dtype.Float64))
}

// keys makes keys of a list as cases write it.
func keys(list any) []any {
	var out []any
	for _, k := range cases.List[any](list) {
		switch k := k.(type) {
		case int:
			out = append(out, key.At(k))
		case string:
			out = append(out, key.Ellipsis)
		case map[string]any:
			if b, ok := k["slice"]; ok {
				s := cases.List[any](b)
				out = append(out, key.Range(s[0], s[1], s[2]))
			} else if name, ok := k["field"]; ok {
				out = append(out, key.Field(cases.As[string](name)))
			} else {
				out = append(out, key.NewAxis)
			}
		case tenon.Value:
			out = append(out, key.By(k))
		}
	}
	return out
}
