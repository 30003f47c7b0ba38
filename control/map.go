package control

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/batching"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Map applies f, a function of one row, to every row of xs and stacks the
// results. f runs only once, on all rows at once: each operation in it is applied
// to the whole batch. All tensors in xs must have a leading axis of the same
// size; the rows of a ragged tensor are vectors of different lengths. [MapRows]
// maps values for which this is not possible. Map throws errors.
func Map[X, Y any](f func(X) Y, xs X) Y {
	if inBulk(xs) {
		return tenon.Must(batching.Run("control.Map", f, xs))
	}
	return MapRows(f, xs)
}

func inBulk(xs any) bool {
	leaves, err := nest.Flatten(xs, nest.Options{})
	tenon.Throw(err)
	for _, l := range leaves {
		if v, ok := l.(tenon.Value); ok && !batching.Possible(v) {
			return false
		}
	}
	return true
}

// MapRows applies f to the rows of xs one after the other and stacks the results.
// It is for functions that look at their data, and for values whose rows are
// composite. The number of rows must be known. It throws errors.
func MapRows[X, Y any](f func(X) Y, xs X) Y {
	const fn = "control.MapRows"
	leaves := tenon.Must(nest.Flatten(xs, nest.Options{}))
	n := shape.Unknown
	for _, l := range leaves {
		v, ok := l.(tenon.Value)
		if !ok {
			continue
		}
		m, err := rows.Count(v)
		tenon.Throw(rows.Named(fn, err))
		if m >= 0 && n >= 0 && m != n {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrShape, Op: fn, Msg: fmt.Sprintf("arguments have %d and %d rows", n, m), Line: source.Line()})
		}
		n = max(n, m)
	}
	if n < 0 {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: fn, Msg: "the number of rows is not known", Line: source.Line(),
			Hint: "rows that run one by one are unrolled during tracing: put their number in the signature"})
	}
	if n == 0 {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Msg: "there are no rows, so the results' Specs are not known", Line: source.Line(), Hint: "use control.Map, which runs in bulk"})
	}
	results := make([]Y, n)
	for i := range n {
		results[i] = f(rowOf(fn, xs, i))
	}
	rest := make([]any, n-1)
	for i := range rest {
		rest[i] = results[i+1]
	}
	return tenon.Must(nest.Map(func(l []any) (any, error) {
		vs := make([]tenon.Value, len(l))
		for i, x := range l {
			var ok bool
			if vs[i], ok = x.(tenon.Value); !ok {
				return l[0], nil
			}
		}
		v, err := rows.Stack(vs, nil)
		return v, rows.Named(fn, err)
	}, nest.Options{}, results[0], rest...))
}

// rowOf returns row i of every Value in xs; i is an int or an integer scalar.
func rowOf[X any](fn string, xs X, i any) X {
	return tenon.Must(nest.Map(func(l []any) (any, error) {
		if v, ok := l[0].(tenon.Value); ok {
			row, err := rows.Take(v, i)
			return row, rows.Named(fn, err)
		}
		return l[0], nil
	}, nest.Options{}, xs))
}

// HostFunc is a Go function on concrete tensors.
type HostFunc func(inputs []tensor.Tensor) ([]tensor.Tensor, error)

// goFuncOp calls a Go function.
var goFuncOp = op.Register(&op.Op{
	Name: "control.go_func", Statement: op.Statement{Axes: op.Opaque, Missing: op.Refuse, Why: "runs functions of the program"},
	Doc: "Calls a Go function on concrete tensors.",
	Params: []op.Param{
		{Name: "inputs", Kind: op.Tensors},
		{Name: "f", Kind: op.Attr},
		{Name: "results", Kind: op.Attr},
	},
	Results:  -1,
	Stateful: true,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		var out []tenon.Spec
		for _, s := range c.Args[2].([]*tensor.Spec) {
			out = append(out, s)
		}
		return out, nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		out, err := c.Args[1].(HostFunc)(c.Tensors(0))
		if err != nil {
			return nil, err
		}
		specs := c.Args[2].([]*tensor.Spec)
		if len(out) != len(specs) {
			return nil, c.Errorf(tenon.ErrInvalid, "the Go function returned %d tensors, %d were declared", len(out), len(specs))
		}
		for i, o := range out {
			if o == nil || !tenon.Belongs(o, specs[i]) {
				return nil, c.Errorf(tenon.ErrDType, "the Go function returned %v as tensor %d, %v was declared", o, i, specs[i])
			}
		}
		return out, nil
	},
})

// GoFunc calls f, which may be any Go code, on the concrete form of args and returns its results,
// which must belong to the declared Specs. In a trace, f becomes part of the graph: it runs in each
// call, possibly in several goroutines at once, and is neither dropped nor repeated. It has no
// gradient, but grad.Custom can give it one, and a graph that contains it cannot be stored. GoFunc
// throws errors.
func GoFunc[A any](f func(A) ([]tenon.Value, error), results []tenon.Spec, args A) []tenon.Value {
	c := tenon.Must(unify("control.GoFunc", []A{args}))
	host := HostFunc(func(in []tensor.Tensor) ([]tensor.Tensor, error) {
		a, err := c.pack(in)
		if err != nil {
			return nil, err
		}
		vs, err := f(a)
		if err != nil {
			return nil, err
		}
		if len(vs) != len(results) {
			return nil, tenon.NewError(tenon.ErrInvalid, "control.GoFunc", fmt.Sprintf("the Go function returned %d values, %d were declared", len(vs), len(results)))
		}
		var out []tensor.Tensor
		for i, v := range vs {
			if v == nil || !tenon.Belongs(v, results[i]) {
				return nil, tenon.NewError(tenon.ErrDType, "control.GoFunc", fmt.Sprintf("the Go function returned %v as value %d, %s was declared", v, i, tenon.String(results[i])))
			}
			parts, err := disassemble(results[i], v)
			if err != nil {
				return nil, err
			}
			out = append(out, parts...)
		}
		return out, nil
	})
	r := &common[[]tenon.Spec]{like: results, specs: results}
	specs := tenon.Must(r.tensorSpecs())
	out := op.EvalN(goFuncOp, values(tenon.Must(c.tensors(args))), host, specs)
	vals := make([]tenon.Value, len(results))
	for i, s := range results {
		one := &common[tenon.Value]{specs: []tenon.Spec{s}}
		parts := tenon.Must(one.tensorSpecs())
		comps := make([]any, len(parts))
		for k := range parts {
			comps[k] = out[k]
		}
		out = out[len(parts):]
		v := tenon.Must(nest.Pack[any](s, comps, nest.Options{Expand: true}))
		vals[i] = v.(tenon.Value)
	}
	return vals
}
