package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/linalg"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.Handle(map[string]cases.Func{"grad.vjp": vjp})
}

// vjp differentiates an expression with respect to some of its inputs, eagerly
// and as one graph, and checks that both agree.
func vjp(c *cases.Case) (any, error) {
	inputs := cases.List[any](c.Arg(0))
	wrt := c.AttrInts("wrt")
	f := func(xs []any) any {
		all := append([]any(nil), inputs...)
		for i, w := range wrt {
			all[w] = xs[i]
		}
		return evaluate(c, all, c.Attrs["expr"])
	}
	at := make([]any, len(wrt))
	for i, w := range wrt {
		at[i] = inputs[w]
	}
	y, pull, err := grad.VJP(f, at)
	if err != nil {
		return nil, err
	}
	var ct any
	if x, ok := c.Attrs["cotangent"]; ok {
		ct = x
	} else {
		ct = ops.OnesLike(y)
	}
	got, err := pull(ct)
	if err != nil {
		return nil, err
	}
	for i, g := range got {
		if s, ok := g.(floatsOnly); ok {
			got[i] = s.FloatingFields()
		}
	}
	return got, nil
}

// floatsOnly is a struct, whose gradient has the floating fields only.
type floatsOnly interface{ FloatingFields() tenon.Value }

// evaluate computes an expression: "$i", a number, a value, or a list of an
// operation, operands and attributes.
func evaluate(c *cases.Case, inputs []any, e any) any {
	switch e := e.(type) {
	case string:
		i, err := strconv.Atoi(strings.TrimPrefix(e, "$"))
		if err != nil {
			tenon.Throw(fmt.Errorf("%q is not an expression", e))
		}
		return inputs[i]
	case []any:
		name, ok := e[0].(string)
		if !ok {
			tenon.Throw(fmt.Errorf("%v is not an expression", e))
		}
		x := &application{name: name}
		rest := e[1:]
		if n := len(rest); n > 0 {
			if o, ok := rest[n-1].(cases.Object); ok && o["type"] == nil {
				x.Case = cases.Case{Attrs: o}
				rest = rest[:n-1]
			}
		}
		for _, a := range rest {
			x.args = append(x.args, evaluate(c, inputs, a))
		}
		return x.run()
	case tenon.Value:
		return e
	}
	return cases.Float(e)
}

// application is an operation of an expression with its operands.
type application struct {
	cases.Case
	name string
	args []any
}

// expressions are the operations that are not called like their Op.
var expressions = map[string]func(x *application) any{}

func defineExpressions(m map[string]func(x *application) any) {
	for name, f := range m {
		expressions[name] = f
	}
}

func init() {
	cum := func(f func(any, int, ops.CumOptions) tensor.Tensor) func(x *application) any {
		return func(x *application) any {
			return f(x.args[0], x.AttrInt("axis", 0), ops.CumOptions{Exclusive: x.AttrBool("exclusive", false), Reverse: x.AttrBool("reverse", false)})
		}
	}
	reduce := func(f, keep func(any, ...int) tensor.Tensor) func(x *application) any {
		return func(x *application) any {
			if x.AttrBool("keepdims", false) {
				return keep(x.args[0], x.AttrInts("axis")...)
			}
			return f(x.args[0], x.AttrInts("axis")...)
		}
	}
	defineExpressions(map[string]func(x *application) any{
		"reduce_sum":      reduce(ops.Sum, ops.SumKeep),
		"reduce_mean":     reduce(ops.Mean, ops.MeanKeep),
		"reduce_prod":     reduce(ops.Prod, ops.ProdKeep),
		"reduce_max":      reduce(ops.Max, ops.MaxKeep),
		"reduce_min":      reduce(ops.Min, ops.MinKeep),
		"reduce_variance": reduce(ops.Variance, ops.VarianceKeep),
		"reduce_std":      reduce(ops.Std, ops.StdKeep),
		"logsumexp":       reduce(ops.LogSumExp, ops.LogSumExpKeep),
		"cumsum":          cum(ops.CumSum),
		"cumprod":         cum(ops.CumProd),
		"clip":            func(x *application) any { return ops.Clip(x.args[0], x.Attr("min"), x.Attr("max")) },
		"gelu_tanh":       func(x *application) any { return ops.GeluTanh(x.args[0]) },
		"concat":          func(x *application) any { return ops.Concat(x.args, x.AttrInt("axis", 0)) },
		"stack":           func(x *application) any { return ops.Stack(x.args, x.AttrInt("axis", 0)) },
		"slice":           func(x *application) any { return ops.Index(x.args[0], ranges(x.Attrs["slices"])...) },
		"reshape":         func(x *application) any { return ops.Reshape(x.args[0], x.AttrInts("shape")) },
		"transpose":       func(x *application) any { return ops.Transpose(x.args[0], x.AttrInts("perm")...) },
		"tile":            func(x *application) any { return ops.Tile(x.args[0], x.AttrInts("multiples")) },
		"pad": func(x *application) any {
			return ops.Pad(x.args[0], pairs(x.Attrs["paddings"]), ops.PadOptions{Value: x.AttrFloat("value", 0)})
		},
		"broadcast_to": func(x *application) any { return ops.BroadcastTo(x.args[0], x.AttrInts("shape")) },
		"roll":         func(x *application) any { return ops.Roll(x.args[0], x.AttrInts("shift"), x.AttrInts("axis")...) },
		"reverse":      func(x *application) any { return ops.Reverse(x.args[0], x.AttrInts("axis")...) },
		"sort":         func(x *application) any { return ops.Sort(x.args[0], x.AttrInt("axis", -1), ops.SortOptions{}) },
		"top_k": func(x *application) any {
			v, _ := ops.TopK(x.args[0], x.AttrInt("k", 1))
			return v
		},
		"gather":             func(x *application) any { return ops.Gather(x.args[0], x.args[1], x.AttrInt("axis", 0)) },
		"gather_nd":          func(x *application) any { return ops.GatherND(x.args[0], x.args[1], 0) },
		"tensor_scatter_add": func(x *application) any { return ops.TensorScatterAdd(x.args[0], x.args[1], x.args[2]) },
		"segment_sum":        func(x *application) any { return ops.SegmentSum(x.args[0], x.args[1], x.AttrInt("num_segments", 0)) },
		"segment_mean":       func(x *application) any { return ops.SegmentMean(x.args[0], x.args[1], x.AttrInt("num_segments", 0)) },
		"segment_max":        func(x *application) any { return ops.SegmentMax(x.args[0], x.args[1], x.AttrInt("num_segments", 0)) },
		"matmul": func(x *application) any {
			return ops.MatMulT(x.args[0], x.args[1], x.AttrBool("transpose_a", false), x.AttrBool("transpose_b", false))
		},
		"inverse":     func(x *application) any { return linalg.Inverse(x.args[0]) },
		"solve":       func(x *application) any { return linalg.Solve(x.args[0], x.args[1]) },
		"det":         func(x *application) any { return linalg.Det(x.args[0]) },
		"cholesky":    func(x *application) any { return linalg.Cholesky(x.args[0]) },
		"einsum":      func(x *application) any { return ops.Einsum(x.AttrStr("equation", ""), x.args...) },
		"trace":       func(x *application) any { return ops.Trace(x.args[0]) },
		"softmax":     func(x *application) any { return ops.Softmax(x.args[0], x.AttrInt("axis", -1)) },
		"log_softmax": func(x *application) any { return ops.LogSoftmax(x.args[0], x.AttrInt("axis", -1)) },
		"layer_norm": func(x *application) any {
			var scale, offset any
			if len(x.args) > 1 {
				scale, offset = x.args[1], x.args[2]
			}
			return ops.LayerNorm(x.args[0], scale, offset, x.AttrFloat("eps", 1e-5), x.AttrInts("axis")...)
		},
		"attention": func(x *application) any {
			return ops.Attention(x.args[0], x.args[1], x.args[2], ops.AttentionOptions{Causal: x.AttrBool("causal", false)})
		},
		"masked_mean": func(x *application) any {
			m := ops.Cast(x.args[1], x.args[0].(tensor.Tensor).DType())
			axes := x.AttrInts("axis")
			return ops.Div(ops.Sum(ops.Mul(x.args[0], m), axes...), ops.Sum(ops.Add(ops.ZerosLike(x.args[0]), m), axes...))
		},
	})
}

// Attr returns an attribute as a number.
func (x *application) Attr(name string) any { return cases.Float(x.Attrs[name]) }

func ranges(a any) []any {
	var keys []any
	for _, r := range cases.List[any](a) {
		b := cases.List[any](r)
		keys = append(keys, key.Range(b[0], b[1], b[2]))
	}
	return keys
}

func pairs(a any) [][]int {
	var out [][]int
	for _, p := range cases.List[any](a) {
		out = append(out, cases.List[int](p))
	}
	return out
}

// run calls the operation by its own function, or by its name.
func (x *application) run() any {
	if f, ok := expressions[x.name]; ok {
		return f(x)
	}
	o, ok := op.Lookup(x.name)
	if !ok {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrNotFound, Op: "conform", Msg: "there is no operation " + x.name})
	}
	out := tenon.Must(op.Do(o, x.args...))
	return out[0]
}
