package grad

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A structure is a nest of Values taken apart into tensors.
type structure[T any] struct {
	like   T
	leaves []any
	at     []int           // indices of the tensors among the leaves
	ts     []tensor.Tensor // the tensors
	top    []bool          // the tensor is a leaf of the nest itself, not a component
	paths  []nest.Path
}

func take[T any](x T) (*structure[T], error) {
	s := &structure[T]{like: x}
	var err error
	if s.paths, s.leaves, err = nest.FlattenWithPaths(x, nest.Options{Expand: true}); err != nil {
		return nil, err
	}
	outer, err := nest.Flatten(x, nest.Options{})
	if err != nil {
		return nil, err
	}
	whole := map[any]bool{}
	for _, l := range outer {
		if t, ok := l.(tensor.Tensor); ok && tenon.IsLeaf(t.Spec()) {
			whole[t] = true
		}
	}
	for i, l := range s.leaves {
		if t, ok := l.(tensor.Tensor); ok {
			s.at = append(s.at, i)
			s.ts = append(s.ts, t)
			s.top = append(s.top, whole[t])
		}
	}
	return s, nil
}

// pack rebuilds the structure with other tensors.
func (s *structure[T]) pack(ts []tensor.Tensor) (T, error) {
	leaves := append([]any(nil), s.leaves...)
	for k, i := range s.at {
		leaves[i] = ts[k]
	}
	return nest.Pack(s.like, leaves, nest.Options{Expand: true})
}

// cotangents rebuilds the structure with the cotangents of its floating-point
// tensors. Integer components, such as row splits, are unchanged.
func (s *structure[T]) cotangents(cts []tensor.Tensor) (T, error) {
	ts := make([]tensor.Tensor, len(s.ts))
	for i := range ts {
		if ts[i] = cts[i]; cts[i] == nil {
			ts[i] = s.ts[i]
		}
	}
	return s.pack(ts)
}

// takeLike takes apart a structure that stands for another one of the same Go type, such as a
// cotangent for a result. A Value whose Spec is not compatible with that of the corresponding Value
// is first cast to it if the type declares a cast, for example because its dimensions are stored in
// another order.
func takeLike[T any](x, other T) (*structure[T], error) {
	have, err := nest.Flatten(x, nest.Options{})
	if err != nil {
		return nil, err
	}
	want, err := nest.Flatten(other, nest.Options{})
	if err != nil || len(want) != len(have) {
		return take(x)
	}
	changed := false
	for i, l := range want {
		w, ok := l.(tenon.Value)
		v, ok2 := have[i].(tenon.Value)
		if !ok || !ok2 || tenon.IsLeaf(w.Spec()) || tenon.Compatible(w.Spec(), v.Spec()) {
			continue
		}
		if c, ok := w.Spec().(tenon.Caster); ok {
			if cast, err := c.Cast(v); err == nil {
				have[i], changed = cast, true
			}
		}
	}
	if !changed {
		return take(x)
	}
	if x, err = nest.Pack(x, have, nest.Options{}); err != nil {
		return nil, err
	}
	return take(x)
}

// differentiable checks that every leaf has a gradient.
func (s *structure[T]) differentiable(fn string) error {
	any := false
	for k, t := range s.ts {
		if t.DType().IsDifferentiable() {
			any = true
			continue
		}
		if s.top[k] {
			return &tenon.Error{Kind: tenon.ErrDType, Op: fn, Where: s.paths[s.at[k]].String(), Line: source.Line(),
				Msg:  fmt.Sprintf("%s has no gradient", tenon.String(t.Spec())),
				Hint: "differentiate with respect to floating-point tensors only: move it to the other argument, or close over it"}
		}
	}
	if !any {
		return tenon.NewError(tenon.ErrInvalid, fn, "there is nothing to differentiate with respect to")
	}
	return nil
}

// onTensors turns f, a function of structures, into a function of flat tensors.
// out is set to the structure of its result.
func onTensors[A, R any](in *structure[A], f func(A) R, out **structure[R]) func([]tensor.Tensor) ([]tensor.Tensor, error) {
	return func(ts []tensor.Tensor) ([]tensor.Tensor, error) {
		a, err := in.pack(ts)
		if err != nil {
			return nil, err
		}
		r, err := tenon.Try(func() R { return f(a) })
		if err != nil {
			return nil, err
		}
		if *out, err = take(r); err != nil {
			return nil, err
		}
		return (*out).ts, nil
	}
}

// Of returns the gradient of a function whose result is a floating-point scalar. The gradient is a
// structure like the argument that holds the cotangents, with zeros where the result does not
// depend on the argument. It throws errors.
func Of[A, R any](f func(A) R) func(A) A {
	return func(x A) A {
		_, g, err := valueAndGrad("grad.Of", f, x)
		tenon.Throw(err)
		return g
	}
}

// ValueAndGrad returns a function that computes f and its gradient with respect
// to the first argument, typically parameters. The second argument, typically
// data, is not differentiated. The result of f is a floating-point scalar, or a
// structure whose first leaf is one and whose other leaves are passed through. It
// throws errors.
func ValueAndGrad[A, B, R any](f func(A, B) R) func(A, B) (R, A) {
	return func(x A, data B) (R, A) {
		v, g, err := valueAndGrad("grad.ValueAndGrad", func(x A) R { return f(x, data) }, x)
		tenon.Throw(err)
		return v, g
	}
}

func valueAndGrad[A, R any](fn string, f func(A) R, x A) (value R, g A, err error) {
	in, err := take(x)
	if err != nil {
		return value, g, err
	}
	if err := in.differentiable(fn); err != nil {
		return value, g, err
	}
	var out *structure[R]
	res, cts, err := vjpTensors(in.ts, onTensors(in, f, &out), func(out []tensor.Tensor) ([]tensor.Tensor, error) {
		seeds := make([]tensor.Tensor, len(out))
		if len(out) == 0 || !out[0].DType().IsDifferentiable() || out[0].Shape().HasRank() && out[0].Shape().Rank() != 0 {
			got := "nothing"
			if len(out) > 0 {
				got = tenon.String(out[0].Spec())
			}
			return nil, &tenon.Error{Kind: tenon.ErrShape, Op: fn, Line: source.Line(), Msg: "the function returns " + got + ", not a floating-point scalar",
				Hint: "reduce it, for instance with ops.Mean, or use grad.VJP with a cotangent"}
		}
		seeds[0] = ops.OnesLike(out[0])
		return seeds, nil
	})
	if err != nil {
		return value, g, err
	}
	if value, err = out.pack(res); err != nil {
		return value, g, err
	}
	g, err = in.cotangents(cts)
	return value, g, err
}

// VJP runs f at x and returns its result, and a function that maps a cotangent of the result (a
// structure like it) to a cotangent of x. f runs only once, on a tape; the returned function can be
// called any number of times.
func VJP[A, R any](f func(A) R, x A) (R, func(ct R) (A, error), error) {
	var value R
	in, err := take(x)
	if err != nil {
		return value, nil, err
	}
	var out *structure[R]
	p, err := pull(in.ts, onTensors(in, f, &out))
	if err != nil {
		return value, nil, err
	}
	if value, err = out.pack(p.out); err != nil {
		return value, nil, err
	}
	return value, func(ct R) (A, error) {
		var zero A
		seed, err := takeLike(ct, value)
		if err != nil {
			return zero, err
		}
		if len(seed.ts) != len(p.out) {
			return zero, tenon.NewError(tenon.ErrInvalid, "grad.VJP", fmt.Sprintf("the cotangent has %d tensors, the result %d", len(seed.ts), len(p.out)))
		}
		seeds := make([]tensor.Tensor, len(p.out))
		for i, o := range p.out {
			if o.DType().IsDifferentiable() {
				seeds[i] = seed.ts[i]
			}
		}
		cts, err := p.back(seeds)
		if err != nil {
			return zero, err
		}
		return in.cotangents(cts)
	}, nil
}
