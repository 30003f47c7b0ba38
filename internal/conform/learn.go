package main

import (
	"errors"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// lesson is a case of a layer or loss, with the arguments that it is tried with.
type lesson struct {
	*cases.Case
	args []any
}

// tensor returns argument i, nil where it is left out.
func (l lesson) tensor(i int) tensor.Tensor {
	if i >= len(l.args) || l.args[i] == nil {
		return nil
	}
	return cases.As[tensor.Tensor](l.args[i])
}

// learned does an operation and, where a case asks for them, its gradients for cotangents of
// the results.
func learned(f func(l lesson) []tensor.Tensor) cases.Func {
	return func(c *cases.Case) (any, error) {
		args := cases.List[any](c.Args)
		got, err := tenon.Try(func() any {
			if !c.Has("wrt") || len(c.AttrInts("wrt")) == 0 {
				out := f(lesson{c, args})
				if len(out) == 1 {
					return out[0]
				}
				return plainList(out)
			}
			return differentiated(c, args, f)
		})
		// Whatever does not fit is called invalid in these cases, ids out of range too.
		var e *tenon.Error
		if errors.As(err, &e) && (e.Kind == tenon.ErrRange || e.Kind == tenon.ErrUnsupported) && c.Error != nil {
			return nil, tenon.NewError(tenon.ErrInvalid, e.Op, e.Msg)
		}
		return got, err
	}
}

func differentiated(c *cases.Case, args []any, f func(l lesson) []tensor.Tensor) any {
	wrt := c.AttrInts("wrt")
	at := make([]any, len(wrt))
	for i, w := range wrt {
		at[i] = args[w]
	}
	out, pull, err := grad.VJP(func(xs []any) []any {
		all := append([]any(nil), args...)
		for i, w := range wrt {
			all[w] = xs[i]
		}
		return plainList(f(lesson{c, all}))
	}, at)
	if err != nil {
		tenon.Throw(err)
	}
	given := cases.List[any](c.Attrs["cotangents"])
	cts := make([]any, len(out))
	for i := range out {
		if cts[i] = ops.ZerosLike(out[i]); i < len(given) && given[i] != nil {
			cts[i] = given[i]
		}
	}
	grads, err := pull(cts)
	if err != nil {
		tenon.Throw(err)
	}
	return append(out, grads...)
}

func plainList(ts []tensor.Tensor) []any {
	out := make([]any, len(ts))
	for i, t := range ts {
		out[i] = t
	}
	return out
}
