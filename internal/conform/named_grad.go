package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/named"
)

func init() {
	value := func(x *application, i int) tenon.Value { return cases.As[tenon.Value](x.args[i]) }
	defineExpressions(map[string]func(x *application) any{
		"named.dot": func(x *application) any { return dim(&x.Case).Dot(value(x, 0), value(x, 1)) },
		"named.contract": func(x *application) any {
			operands := make([]tenon.Value, len(x.args))
			for i := range operands {
				operands[i] = value(x, i)
			}
			return dim(&x.Case).Contract(operands...)
		},
		"named.softmax": func(x *application) any { return dim(&x.Case).Softmax(value(x, 0)) },
		"named.layer_norm": func(x *application) any {
			var scale, offset any
			if len(x.args) > 1 {
				scale, offset = x.args[1], x.args[2]
			}
			return dim(&x.Case).LayerNorm(value(x, 0), scale, offset, x.AttrFloat("eps", 1e-5))
		},
		"named.sum":  func(x *application) any { return dim(&x.Case).Sum(value(x, 0)) },
		"named.take": func(x *application) any { return dim(&x.Case).Take(value(x, 0), value(x, 1)) },
		"named.merge": func(x *application) any {
			return dim(&x.Case).Merge(value(x, 0), named.Dynamic(x.AttrStr("to", "")))
		},
		"named.attention": func(x *application) any { return selfAttention(&x.Attrs, x.args...) },
	})
}
