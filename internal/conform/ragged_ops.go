package main

import (
	"errors"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// opName returns the name under which an operation is registered that the reference
// calls name.
func opName(name string) string {
	if n, ok := map[string]string{
		"negative": "neg", "invert": "bitwise_not", "subtract": "sub", "multiply": "mul", "divide": "div", "truediv": "div",
		"floordiv": "floor_div", "floormod": "mod", "clip_by_value": "clip", "rint": "round", "swish": "silu",
	}[name]; ok {
		return n
	}
	return name
}

// The operations on ragged tensors are those of package ops, under the names that
// the reference gives them.
func init() {
	m := map[string]cases.Func{}
	for _, name := range []string{
		"abs", "negative", "sign", "square", "sqrt", "rsqrt", "exp", "log", "log1p", "expm1",
		"floor", "ceil", "round", "sin", "cos", "tanh", "sigmoid", "reciprocal", "logical_not",
		"is_nan", "is_inf", "is_finite", "relu", "invert",
		"add", "subtract", "multiply", "divide", "floordiv", "floormod", "pow",
		"maximum", "minimum", "squared_difference", "atan2", "equal", "not_equal", "less", "less_equal",
		"greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor",
	} {
		m["ragged."+name] = strict(opName(name))
	}
	for name, o := range map[string]string{
		"reduce_sum": "", "reduce_prod": "", "reduce_min": "", "reduce_max": "", "reduce_mean": "", "reduce_variance": "", "reduce_std": "", "reduce_any": "", "reduce_all": "",
	} {
		if o == "" {
			o = name
		}
		m["ragged."+name] = func(c *cases.Case) (any, error) {
			args := map[string]any{"x": c.Arg(0), "keepdims": c.AttrBool("keepdims", false)}
			if c.Has("axis") {
				args["axis"] = c.AttrInts("axis")
			}
			return call(o, args)
		}
	}
	for _, name := range []string{"sum", "prod", "min", "max", "mean", "sqrt_n"} {
		m["ragged.unsorted_segment_"+name] = func(c *cases.Case) (any, error) {
			return call("segment_"+name, map[string]any{"data": c.Arg(0), "ids": c.Arg(1), "num_segments": c.Arg(2)})
		}
	}
	for name, f := range map[string]func(any) tensor.Tensor{"zeros_like": ops.ZerosLike, "ones_like": ops.OnesLike} {
		m["ragged."+name] = func(c *cases.Case) (any, error) {
			if c.Has("dtype") {
				return ragged.Fill(ragged.ShapeOf(c.Tensor(0)), f(ops.Zeros(c.AttrDType("dtype", dtype.None), []int{})))
			}
			return throughMasks(c.Tensor(0), func(x tensor.Tensor) tensor.Tensor { return f(x) })
		}
	}
	for name, f := range map[string]func(c *cases.Case) (any, error){
		"cast": func(c *cases.Case) (any, error) { return ops.Cast(c.Arg(0), cases.DType(c.Arg(1))), nil },
		"clip_by_value": func(c *cases.Case) (any, error) {
			return ops.Clip(c.Arg(0), c.Arg(1), c.Arg(2)), nil
		},
		"add_n": func(c *cases.Case) (any, error) {
			ts := c.Tensors(0)
			sum := ts[0]
			for _, t := range ts[1:] {
				sum = ops.Add(sum, t)
			}
			return sum, nil
		},
		"softmax": func(c *cases.Case) (any, error) { return ops.Softmax(c.Arg(0), c.AttrInt("axis", -1)), nil },
		"cumsum": func(c *cases.Case) (any, error) {
			return ops.CumSum(c.Arg(0), c.AttrInt("axis", 0), ops.CumOptions{Exclusive: c.AttrBool("exclusive", false), Reverse: c.AttrBool("reverse", false)}), nil
		},
		"matmul": func(c *cases.Case) (any, error) {
			turned := func(operand string) bool {
				t, a := c.AttrBool("transpose_"+operand, false), c.AttrBool("adjoint_"+operand, false)
				if t && a {
					tenon.Throw(tenon.NewError(tenon.ErrInvalid, "conform", "an operand is transposed or adjoined, not both"))
				}
				return t || a
			}
			y := ops.MatMulT(c.Arg(0), c.Arg(1), turned("a"), turned("b"))
			if _, ok := y.(*ragged.Tensor); ok || y.Shape().Rank() < 3 {
				return y, nil
			}
			return uniformRows(y, c.Tensor(0), c.Tensor(1))
		},
		"gather": func(c *cases.Case) (any, error) {
			batch := c.AttrInt("batch_dims", 0)
			return ops.GatherBatched(c.Arg(0), c.Arg(1), c.AttrInt("axis", batch), batch), nil
		},
		"gather_nd": func(c *cases.Case) (any, error) {
			return ops.GatherND(c.Arg(0), c.Arg(1), c.AttrInt("batch_dims", 0)), nil
		},
		"concat": func(c *cases.Case) (any, error) { return ops.Concat(c.Values(0), c.Int(1)), nil },
		"stack":  stackRagged,
		"squeeze": func(c *cases.Case) (any, error) {
			return ops.Squeeze(c.Arg(0), c.AttrInts("axis")...), nil
		},
		"expand_dims":  func(c *cases.Case) (any, error) { return ops.ExpandDims(c.Arg(0), c.Int(1)), nil },
		"tile":         func(c *cases.Case) (any, error) { return ops.Tile(c.Arg(0), c.Arg(1)), nil },
		"boolean_mask": func(c *cases.Case) (any, error) { return ragged.BooleanMask(c.Arg(0), c.Arg(1)) },
		"reverse":      func(c *cases.Case) (any, error) { return ops.Reverse(c.Arg(0), cases.List[int](c.Arg(1))...), nil },
		"size": func(c *cases.Case) (any, error) {
			return ops.Cast(ops.Size(c.Arg(0)), c.AttrDType("out_type", dtype.Int32)), nil
		},
		"rank": func(c *cases.Case) (any, error) { return ops.Cast(ops.Rank(c.Arg(0)), dtype.Int32), nil },
		"where": func(c *cases.Case) (any, error) {
			if len(c.Args) == 1 {
				return ops.Nonzero(c.Arg(0)), nil
			}
			if len(c.Args) == 2 {
				return nil, tenon.NewError(tenon.ErrInvalid, "conform", "one of x and y is missing")
			}
			if leftAligned(c) {
				return awkwardWhere(c)
			}
			return ops.Where(c.Arg(0), c.Arg(1), c.Arg(2)), nil
		},
		"one_hot": func(c *cases.Case) (any, error) {
			o := ops.OneHotOptions{}
			on, off := c.Attrs["on_value"], c.Attrs["off_value"]
			d := dtype.Float32
			for _, v := range []any{on, off} {
				if t, ok := v.(tensor.Tensor); ok {
					d = t.DType()
				}
			}
			d = c.AttrDType("dtype", d)
			if on == nil {
				on = 1
			}
			if off == nil {
				off = 0
			}
			o.On, o.Off = ops.Cast(on, d), ops.Cast(off, d)
			return ops.OneHot(c.Arg(0), c.Arg(1), c.AttrInt("axis", -1), o), nil
		},
		"split": func(c *cases.Case) (any, error) {
			sizes := c.Arg(1)
			if l, ok := sizes.([]any); ok {
				n := make([]int64, len(l))
				for i, x := range l {
					n[i] = int64(cases.As[int](x))
				}
				sizes = n
			}
			return list(ops.Split(c.Arg(0), sizes, c.AttrInt("axis", 0))), nil
		},
		"bincount": func(c *cases.Case) (any, error) { return raggedBinCount(c) },
	} {
		m["ragged."+name] = f
	}
	for name, f := range m {
		m[name] = referenceKinds(f)
	}
	cases.Handle(m)
}

// uniformRows makes a dense product of ragged operands ragged, which it stays in the
// reference where there are several matrices.
func uniformRows(y tensor.Tensor, operands ...tensor.Tensor) (any, error) {
	out, err := ragged.WithRaggedRank(y, 1)
	for _, x := range operands {
		if t, ok := x.(*ragged.Tensor); ok && err == nil {
			return out.(*ragged.Tensor).WithSplitsDType(t.RowSplits().DType())
		}
	}
	return out, err
}

// referenceKinds reports wrong element types as the reference of these groups does:
// as invalid arguments, and strings to be cast as unsupported.
func referenceKinds(f cases.Func) cases.Func {
	return func(c *cases.Case) (any, error) {
		out, err := tenon.Try(func() any { return tenon.Must(f(c)) })
		var e *tenon.Error
		if errors.As(err, &e) && errors.Is(e.Kind, tenon.ErrDType) {
			same := *e
			same.Kind = tenon.ErrInvalid
			if c.Op == "ragged.cast" {
				same.Kind = tenon.ErrUnsupported
			}
			return nil, &same
		}
		return out, err
	}
}

// stackRagged stacks dense vectors with int32 splits, as the reference does.
func stackRagged(c *cases.Case) (any, error) {
	out, err := ragged.Stack(c.Tensors(0), c.AttrInt("axis", 0))
	if err != nil {
		return nil, err
	}
	for _, t := range c.Tensors(0) {
		if t.Shape().Rank() != 1 {
			return out, nil
		}
	}
	if r, ok := out.(*ragged.Tensor); ok {
		return r.WithSplitsDType(dtype.Int32)
	}
	return out, nil
}

func list(ts []tensor.Tensor) []any {
	out := make([]any, len(ts))
	for i, t := range ts {
		out[i] = t
	}
	return out
}

// call calls an operation by name with named arguments.
func call(name string, args map[string]any) (any, error) {
	o, ok := op.Lookup(name)
	if !ok {
		return nil, tenon.NewError(tenon.ErrNotFound, "conform", "there is no operation "+name)
	}
	c, err := op.Bind(o, nil, args)
	if err != nil {
		return nil, err
	}
	out, err := c.Do()
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// strict calls an elementwise operation as the reference does: operands have one
// element type, and functions of real numbers take no integers. What the library
// would promote instead is an invalid argument here.
func strict(name string) cases.Func {
	return func(c *cases.Case) (any, error) {
		o, ok := op.Lookup(name)
		if !ok {
			return nil, tenon.NewError(tenon.ErrNotFound, "conform", "there is no operation "+name)
		}
		var first dtype.DType
		for _, a := range c.Args {
			t, ok := a.(tensor.Tensor)
			if !ok {
				continue
			}
			d := t.DType()
			if first == dtype.None {
				first = d
			}
			if d != first || strictly[name] != nil && !strictly[name](d) || d == dtype.String && strictly[name] == nil && name != "equal" && name != "not_equal" && name != "add" {
				return nil, tenon.NewError(tenon.ErrInvalid, "conform", "the reference does not take "+d.String()+" here")
			}
		}
		if name == "add" && first == dtype.String {
			return ops.StringJoin([]any{c.Arg(0), c.Arg(1)}, ""), nil
		}
		out, err := op.Do(o, c.Args...)
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}
}

func isReal(d dtype.DType) bool { return d.IsFloat() || d.IsComplex() }

var strictly = map[string]func(dtype.DType) bool{
	"sqrt": isReal, "rsqrt": isReal, "exp": isReal, "log": isReal, "log1p": isReal, "expm1": isReal, "sin": isReal, "cos": isReal,
	"tanh": isReal, "sigmoid": isReal, "atan2": isReal, "reciprocal": isReal, "floor": isReal, "ceil": isReal, "is_nan": isReal, "is_inf": isReal, "is_finite": isReal,
	"logical_not": dtype.DType.IsBool, "logical_and": dtype.DType.IsBool, "logical_or": dtype.DType.IsBool, "logical_xor": dtype.DType.IsBool,
	"zeros_like": func(dtype.DType) bool { return true }, "ones_like": func(dtype.DType) bool { return true },
}

func raggedBinCount(c *cases.Case) (any, error) {
	o := ops.BinCountOptions{MinLength: c.Attrs["minlength"], MaxLength: c.Attrs["maxlength"], Weights: c.Attrs["weights"]}
	x := c.Arg(0)
	if c.AttrInt("axis", 0) == -1 {
		t, err := ragged.BinCountRows(x.(*ragged.Tensor), ragged.BinCountOptions{Binary: c.AttrBool("binary_output", false), Options: o})
		if err != nil {
			return nil, err
		}
		return asReference(t, o), nil
	}
	n := ops.BinCount(x, o)
	if c.AttrBool("binary_output", false) {
		n = ops.Minimum(n, 1)
	}
	return asReference(n, o), nil
}

// asReference gives counts the type int32.
func asReference(t tensor.Tensor, o ops.BinCountOptions) tensor.Tensor {
	if o.Weights != nil {
		return t
	}
	return ops.Cast(t, dtype.Int32)
}
