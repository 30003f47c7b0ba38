package main

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	binary := map[string]func(x, y any) tensor.Tensor{
		"add": ops.Add, "sub": ops.Sub, "mul": ops.Mul, "div": ops.Div, "pow": ops.Pow, "maximum": ops.Maximum, "minimum": ops.Minimum,
		"squared_difference": ops.SquaredDifference, "equal": ops.Equal, "not_equal": ops.NotEqual, "less": ops.Less, "greater_equal": ops.GreaterEqual,
	}
	for name, f := range binary {
		cases.Handle(map[string]cases.Func{"named." + name: func(c *cases.Case) (any, error) { return bothWays(f, c.Value(0), c.Value(1)) }})
	}
	one := func(f func(d named.Dims, x tenon.Value) *named.Tensor) cases.Func {
		return func(c *cases.Case) (any, error) { return f(dim(c), c.Value(0)), nil }
	}
	reduce := func(f func(named.Dims, tenon.Value) *named.Tensor) cases.Func {
		return func(c *cases.Case) (any, error) {
			x := named.From(c.Value(0))
			if !c.Has("dims") {
				return f(x.Dims(), x), nil
			}
			return f(dims(c.AttrStrs("dims")), x), nil
		}
	}
	cum := func(f func(named.Dims, tenon.Value, named.CumOptions) *named.Tensor) cases.Func {
		return func(c *cases.Case) (any, error) {
			return f(dim(c), c.Value(0), named.CumOptions{Exclusive: c.AttrBool("exclusive", false), Reverse: c.AttrBool("reverse", false)}), nil
		}
	}
	sorted := func(f func(named.Dims, tenon.Value, named.SortOptions) *named.Tensor) cases.Func {
		return func(c *cases.Case) (any, error) {
			return f(dim(c), c.Value(0), named.SortOptions{Descending: c.AttrBool("descending", false)}), nil
		}
	}
	cases.Handle(map[string]cases.Func{
		"named.new":   func(c *cases.Case) (any, error) { return c.Value(0), nil },
		"named.shape": func(c *cases.Case) (any, error) { return named.From(c.Value(0)).GShape(), nil },
		"named.dot":   func(c *cases.Case) (any, error) { return dim(c).Dot(c.Value(0), c.Value(1)), nil },
		"named.contract": func(c *cases.Case) (any, error) {
			return dims(c.AttrStrs("dims")).Contract(c.Values(0)...), nil
		},
		"named.outer": func(c *cases.Case) (any, error) {
			return named.Outer(binary[c.AttrStr("op", "")], c.Value(0), c.Value(1)), nil
		},
		"named.broadcast_to": func(c *cases.Case) (any, error) {
			to, err := sized(c.Attrs["dims"])
			if err != nil {
				return nil, err
			}
			return named.BroadcastTo(c.Value(0), to...), nil
		},
		"named.order":    func(c *cases.Case) (any, error) { return named.Order(c.Value(0), dims(c.AttrStrs("dims"))), nil },
		"named.rename":   renameCase,
		"named.renaming": renamingCase,
		"named.unstack":  func(c *cases.Case) (any, error) { return dim(c).Unstack(c.Value(0)), nil },
		"named.stack":    func(c *cases.Case) (any, error) { return dim(c).Stack(c.Values(0)...), nil },
		"named.concat":   func(c *cases.Case) (any, error) { return dim(c).Concat(c.Values(0)...), nil },
		"named.split": func(c *cases.Case) (any, error) {
			into, err := sized(c.Attrs["into"])
			if err != nil {
				return nil, err
			}
			return dim(c).Split(c.Value(0), into...), nil
		},
		"named.merge": func(c *cases.Case) (any, error) {
			return dims(c.AttrStrs("dims")).Merge(c.Value(0), named.Dynamic(c.AttrStr("to", ""))), nil
		},
		"named.reshape": func(c *cases.Case) (any, error) {
			to, err := sized(c.Attrs["to"])
			if err != nil {
				return nil, err
			}
			return dims(c.AttrStrs("from")).Reshape(c.Value(0), to...), nil
		},
		"named.sum": reduce(named.Dims.Sum), "named.mean": reduce(named.Dims.Mean), "named.prod": reduce(named.Dims.Prod),
		"named.max": reduce(named.Dims.Max), "named.min": reduce(named.Dims.Min), "named.any": reduce(named.Dims.Any), "named.all": reduce(named.Dims.All),
		"named.var": reduce(named.Dims.Variance), "named.std": reduce(named.Dims.Std), "named.logsumexp": reduce(named.Dims.LogSumExp),
		"named.argmax": one(named.Dims.ArgMax), "named.argmin": one(named.Dims.ArgMin),
		"named.softmax": one(named.Dims.Softmax), "named.log_softmax": one(named.Dims.LogSoftmax),
		"named.layer_norm": layerNormCase,
		"named.take":       func(c *cases.Case) (any, error) { return dim(c).Take(c.Value(0), c.Value(1)), nil },
		"named.one_hot": func(c *cases.Case) (any, error) {
			return dim(c).OneHot(c.Value(0), c.AttrInt("depth", 0), named.OneHotOptions{}), nil
		},
		"named.where":  func(c *cases.Case) (any, error) { return named.Where(c.Value(0), c.Value(1), c.Value(2)), nil },
		"named.cumsum": cum(named.Dims.CumSum), "named.cumprod": cum(named.Dims.CumProd),
		"named.sort": sorted(named.Dims.Sort), "named.argsort": sorted(named.Dims.ArgSort),
		"named.top_k": func(c *cases.Case) (any, error) {
			v, i := dim(c).TopK(c.Value(0), c.AttrInt("k", 0))
			return []*named.Tensor{v, i}, nil
		},
		"named.slice": func(c *cases.Case) (any, error) {
			return dim(c).Index(c.Value(0), key.Range(c.Attrs["start"], c.Attrs["stop"], c.Attrs["step"])), nil
		},
		"named.index":   func(c *cases.Case) (any, error) { return dim(c).Index(c.Value(0), c.AttrInt("index", 0)), nil },
		"named.reverse": func(c *cases.Case) (any, error) { return dims(c.AttrStrs("dims")).Reverse(c.Value(0)), nil },
		"named.roll":    func(c *cases.Case) (any, error) { return dim(c).Roll(c.Value(0), c.AttrInt("shift", 0)), nil },
		"named.pad": func(c *cases.Case) (any, error) {
			x := named.From(c.Value(0))
			fill := named.PadOptions{Value: ops.Cast(c.AttrFloat("value", 0), x.DType())}
			return dim(c).Pad(x, c.AttrInt("before", 0), c.AttrInt("after", 0), fill), nil
		},
		"named.causal_mask": func(c *cases.Case) (any, error) {
			qk, err := sized([]any{c.Attrs["query"], c.Attrs["key"]})
			if err != nil {
				return nil, err
			}
			return named.CausalMask(qk[0], qk[1]), nil
		},
		"named.attention": func(c *cases.Case) (any, error) {
			return selfAttention(&c.Attrs, c.Args...), nil
		},
		"named.lift": liftCase,
	})
}

// dim returns the name that a case is about, or the list of one.
func dim(c *cases.Case) named.Dims {
	if c.Has("dim") {
		return dims([]string{c.AttrStr("dim", "")})
	}
	return dims(c.AttrStrs("dims"))
}

// bothWays does an elementwise operation by package named and by package ops, and
// returns the answer if they agree.
func bothWays(f func(x, y any) tensor.Tensor, x, y tenon.Value) (any, error) {
	a, err := tenon.Try(func() *named.Tensor { return named.Map2(f, x, y) })
	b, err2 := tenon.Try(func() tensor.Tensor { return f(x, y) })
	if cases.ErrorKind(err) != cases.ErrorKind(err2) || err == nil && !named.Equal(a, b, tensor.EqualOptions{NaN: true}) {
		return nil, tenon.NewError(tenon.ErrInvalid, "conform", "package ops answers otherwise")
	}
	return a, err
}

func renameCase(c *cases.Case) (any, error) {
	return dims([]string{c.AttrStr("from", "")}).Rename(c.Value(0), named.Dynamic(c.AttrStr("to", ""))), nil
}

func renamingCase(c *cases.Case) (any, error) {
	names := map[named.Name]named.Name{}
	for from, to := range cases.As[map[string]any](c.Attrs["names"]) {
		names[named.Dynamic(from)] = named.Dynamic(cases.As[string](to))
	}
	return named.Renaming(c.Value(0), names), nil
}

func layerNormCase(c *cases.Case) (any, error) {
	var scale, offset any
	if len(c.Args) > 1 {
		scale, offset = c.Value(1), c.Value(2)
	}
	return dim(c).LayerNorm(c.Value(0), scale, offset, c.AttrFloat("eps", 1e-5)), nil
}

// selfAttention is the attention of the second seed with keys and values renamed: by the
// function of package named where it has the option, and written out otherwise.
func selfAttention(attrs *map[string]any, args ...any) *named.Tensor {
	c := &cases.Case{Attrs: *attrs, Args: args}
	name := func(attr string) named.Dims { return dims([]string{c.AttrStr(attr, "")}) }
	seq, keySeq, input, kq := name("seq"), name("key_seq"), name("input"), name("kq")
	x := c.Value(0)
	queries := input.Dot(x, c.Value(1))
	keys := seq.Rename(input.Dot(x, c.Value(2)), keySeq)
	values := seq.Rename(input.Dot(x, c.Value(3)), keySeq)
	var mask *named.Tensor
	if len(args) > 4 {
		mask = seq.Rename(c.Value(4), keySeq)
	}
	if c.AttrBool("scale", false) && c.AttrBool("softmax", true) {
		return keySeq.Attention(queries, keys, values, kq, named.AttentionOptions{Causal: c.AttrBool("causal", false), Mask: mask})
	}
	scores := kq.Contract(queries, keys)
	if c.AttrBool("scale", false) {
		scores = named.Mul(scores, 1/math.Sqrt(float64(queries.Size(kq))))
	}
	if c.AttrBool("softmax", true) {
		if c.AttrBool("causal", false) {
			see := named.CausalMask(seq.Of(queries.Size(seq)), keySeq.Of(keys.Size(keySeq)))
			scores = named.Masked(scores, see, -1e30)
		}
		if mask != nil {
			scores = named.Masked(scores, mask, -1e30)
		}
		scores = keySeq.Softmax(scores)
	}
	return keySeq.Contract(scores, values)
}

func liftCase(c *cases.Case) (any, error) {
	x := named.From(c.Value(0))
	captured := c.Args[1:]
	fn := c.AttrStr("fn", "")
	f := map[string]func(x *named.Tensor) *named.Tensor{
		"softmax":    func(x *named.Tensor) *named.Tensor { return dim(c).Softmax(x) },
		"layer_norm": func(x *named.Tensor) *named.Tensor { return dim(c).LayerNorm(x, nil, nil, 1e-5) },
		"sum":        func(x *named.Tensor) *named.Tensor { return dim(c).Sum(x) },
		"cumsum":     func(x *named.Tensor) *named.Tensor { return dim(c).CumSum(x, named.CumOptions{}) },
		"dot":        func(x *named.Tensor) *named.Tensor { return dim(c).Dot(x, c.Value(1)) },
		"dot_self": func(x *named.Tensor) *named.Tensor {
			return dim(c).Dot(x, suffixed(x, c.AttrStr("dim", "")))
		},
		"add":       func(x *named.Tensor) *named.Tensor { return named.Add(x, captured[0]) },
		"outer_sum": func(x *named.Tensor) *named.Tensor { return named.Outer(ops.Add, x, suffixed(x)) },
		"attention": func(x *named.Tensor) *named.Tensor {
			attrs := map[string]any{"scale": true}
			for k, v := range c.Attrs {
				attrs[k] = v
			}
			return selfAttention(&attrs, append([]any{x}, captured...)...)
		},
	}[fn]
	return named.LiftOver(dims(c.AttrStrs("over")), f)(x), nil
}

// suffixed gives every name of x the suffix 2, except some.
func suffixed(x *named.Tensor, except ...string) *named.Tensor {
	names := map[named.Name]named.Name{}
	for _, n := range x.Dims().Names() {
		if !slices.Contains(except, n.String()) {
			names[n] = named.Dynamic(n.String() + "2")
		}
	}
	return named.Renaming(x, names)
}
