package control

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// LoopOptions set limits for a loop. The zero value sets none.
type LoopOptions struct {
	// Limit is the largest number of iterations; exceeding it is an error. 0
	// means no limit.
	Limit int
}

// While repeats vars = body(vars) as long as cond(vars), a boolean scalar, is true, and returns the
// last vars. Loop variables are any nest of Values. When the loop is traced, their Specs stay the
// same from iteration to iteration, or widen to the merge of those before and after the body, so
// sizes may change. It throws errors.
func While[V any](cond func(V) tensor.Tensor, body func(V) V, vars V, opts ...LoopOptions) V {
	var o LoopOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	for turn := 0; ; turn++ {
		c := cond(vars)
		if c == nil || c.DType() != dtype.Bool {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrDType, Op: "control.While", Line: source.Line(), Msg: "the condition is not a boolean scalar"})
		}
		known, ok := concrete(bare("control.While", c))
		if !ok {
			return tracedWhile(cond, body, vars, o)
		}
		if !tensor.Item[bool](known) {
			return vars
		}
		if o.Limit > 0 && turn >= o.Limit {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "control.While", Line: source.Line(), Msg: fmt.Sprintf("the loop has not ended after %d iterations", o.Limit)})
		}
		next := body(vars)
		tenon.Throw(keepsTypes("control.While", vars, next))
		vars = next
	}
}

// keepsTypes returns an error if the body returns a structure or type that differs from its
// argument and has no common Spec with it: a traced loop could not have such variables.
func keepsTypes(fn string, vars, next any) error {
	if err := nest.Same(vars, next, nest.Options{}); err != nil {
		e := *tenon.AsError(err)
		e.Op, e.Msg = fn, "the body returns a different structure than it takes: "+e.Msg
		return &e
	}
	paths, old, err := nest.FlattenWithPaths(vars, nest.Options{})
	if err != nil {
		return err
	}
	leaves, err := nest.Flatten(next, nest.Options{})
	if err != nil {
		return err
	}
	for i, l := range leaves {
		a, ok := old[i].(tenon.Value)
		b, ok2 := l.(tenon.Value)
		if !ok || !ok2 {
			continue
		}
		if x, ok := a.(*tensor.Dense); ok {
			if y, ok := b.(*tensor.Dense); ok && x.DType() == y.DType() {
				continue
			}
		}
		if _, _, ok := mergeOrCast(a.Spec(), b.Spec()); !ok {
			return &tenon.Error{Kind: tenon.ErrDType, Op: fn, Where: paths[i].String(), Line: source.Line(),
				Msg:  fmt.Sprintf("a loop variable changes its Spec between iterations: it is %s, and then %s", tenon.String(a.Spec()), tenon.String(b.Spec())),
				Hint: "convert the result of the body, for instance with ops.Cast"}
		}
	}
	return nil
}

// widen determines the Specs of loop variables: those of vars, merged with those
// that body returns until nothing changes.
func widen[V any](fn string, vars V, body func(*common[V], []tensor.Tensor) (V, error)) (*common[V], error) {
	c, err := unify(fn, []V{vars})
	if err != nil {
		return nil, err
	}
	for range 4 {
		specs, err := c.tensorSpecs()
		if err != nil {
			return nil, err
		}
		var next V
		_, err = graph.TraceRegion(fn, specs, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
			var err error
			next, err = body(c, p)
			return nil, err
		})
		if err != nil {
			return nil, err
		}
		seen, err := c.pack(symbols(specs))
		if err != nil {
			return nil, err
		}
		wide, err := unify(fn, []V{seen, next})
		if err != nil {
			e := *tenon.AsError(err)
			e.Msg = "a loop variable changes its Spec between iterations: " + e.Msg
			return nil, &e
		}
		wide.like = vars
		same := true
		for i, s := range wide.specs {
			same = same && (s == nil || tenon.Equal(s, c.specs[i]))
		}
		c = wide
		if same {
			return c, nil
		}
	}
	return nil, &tenon.Error{Kind: tenon.ErrShape, Op: fn, Line: source.Line(), Msg: "the Specs of the loop variables widen without end"}
}

// symbols returns symbolic tensors with the given Specs that belong to no
// function.
func symbols(specs []*tensor.Spec) []tensor.Tensor {
	g := graph.New("specs")
	out := make([]tensor.Tensor, len(specs))
	for i, s := range specs {
		out[i] = g.Param(s)
	}
	return out
}

func (c *common[R]) tensorSpecs() ([]*tensor.Spec, error) {
	var out []*tensor.Spec
	for _, s := range c.specs {
		if s == nil {
			continue
		}
		parts, err := nest.Flatten(s, nest.Options{Expand: true})
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			out = append(out, p.(*tensor.Spec))
		}
	}
	return out, nil
}

func tracedWhile[V any](cond func(V) tensor.Tensor, body func(V) V, vars V, o LoopOptions) V {
	const fn = "control.While"
	c := tenon.Must(widen(fn, vars, func(c *common[V], p []tensor.Tensor) (V, error) {
		v, err := c.pack(p)
		if err != nil {
			return v, err
		}
		return body(v), nil
	}))
	specs := tenon.Must(c.tensorSpecs())
	condG := tenon.Must(graph.TraceRegion("cond", specs, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		v, err := c.pack(p)
		if err != nil {
			return nil, err
		}
		return []tensor.Tensor{bare(fn, cond(v))}, nil
	}))
	bodyG := tenon.Must(graph.TraceRegion("body", specs, func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		v, err := c.pack(p)
		if err != nil {
			return nil, err
		}
		return c.tensors(body(v))
	}))
	inputs := tenon.Must(c.tensors(vars))
	args := values(inputs)
	for _, t := range graph.ShareCaptures(condG, bodyG) {
		args = append(args, t)
	}
	out := op.EvalN(whileOp, args, len(inputs), condG, bodyG, o.Limit)
	return tenon.Must(c.pack(out))
}

func values(ts []tensor.Tensor) []tenon.Value {
	out := make([]tenon.Value, len(ts))
	for i, t := range ts {
		out[i] = t
	}
	return out
}

// Scan runs body over the rows of xs with a carry:
//
//	for each row x of xs: carry, y = body(carry, x)
//
// It returns the last carry and the ys stacked along a new leading axis. All tensors in xs must
// have a leading axis of the same size; the rows of a ragged tensor may differ in length. The carry
// keeps its Spec. Scan throws errors.
//
// With [ScanOptions.RowSplits], it runs over many rows at the same time.
func Scan[C, X, Y any](body func(C, X) (C, Y), carry C, xs X, opts ...ScanOptions) (C, Y) {
	const fn = "control.Scan"
	var o ScanOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	takes, first := rows.RowSpec, carry // what the body takes for xs
	if o.RowSplits != nil {
		takes = rowsSpec
		first = tenon.Must(symbolic(fn, carry, rowsSpec))
	} else if n := byNumber(fn, xs); n != nil {
		return Scan(func(c C, i tensor.Tensor) (C, Y) { return body(c, rowOf(fn, xs, i)) }, carry, ops.Range(int64(0), n, int64(1)), o)
	}
	row := tenon.Must(symbolic(fn, xs, takes))
	rowLike := tenon.Must(unify(fn, []X{row}))
	xSpecs := tenon.Must(rowLike.tensorSpecs())
	c := tenon.Must(widen(fn, first, func(c *common[C], p []tensor.Tensor) (C, error) {
		v, err := c.pack(p)
		if err != nil {
			return v, err
		}
		x, err := rowLike.pack(symbolsLike(p, xSpecs))
		if err != nil {
			return v, err
		}
		next, _ := body(v, x)
		return next, nil
	}))
	cSpecs := tenon.Must(c.tensorSpecs())
	var y Y
	g := tenon.Must(graph.TraceRegion("body", append(append([]*tensor.Spec(nil), cSpecs...), xSpecs...), func(p []tensor.Tensor) ([]tensor.Tensor, error) {
		v, err := c.pack(p[:len(cSpecs)])
		if err != nil {
			return nil, err
		}
		x, err := rowLike.pack(p[len(cSpecs):])
		if err != nil {
			return nil, err
		}
		var next C
		next, y = body(v, x)
		out, err := c.tensors(next)
		if err != nil {
			return nil, err
		}
		ys, err := tensorsOf(y)
		return append(out, ys...), err
	}))
	yLike := tenon.Must(unify(fn, []Y{y}))
	for i, s := range yLike.specs {
		if s == nil {
			continue
		}
		if o.RowSplits != nil {
			row, err := rows.RowSpec(s)
			if err != nil {
				tenon.Throw(&tenon.Error{Kind: tenon.ErrShape, Op: fn, Line: source.Line(), Err: err, Msg: fmt.Sprintf("the body returns %s for some rows at a time", tenon.String(s)),
					Hint: "return values whose first axis is that of the rows"})
			}
			s = row
		}
		if !stacksByTensor(s) {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: fn, Line: source.Line(), Msg: fmt.Sprintf("the body returns %s for each row, and a batch of these does not consist of batches of their tensors", tenon.String(s)),
				Hint: "return its tensors, or use control.MapRows"})
		}
		yLike.specs[i] = tenon.Must(rows.BatchSpec(s, shape.Unknown))
	}
	carryTs := tenon.Must(c.tensors(carry))
	xTs := tenon.Must(tensorsOf(xs))
	args := append(values(carryTs), values(xTs)...)
	for _, t := range graph.ShareCaptures(g) {
		args = append(args, t)
	}
	var length, splits any
	if len(xTs) == 0 {
		length = int64(o.Length)
	}
	if o.RowSplits != nil {
		splits = o.RowSplits
	}
	out := op.EvalN(scanOp, args, len(carryTs), len(xTs), g, o.Reverse, length, splits)
	last := tenon.Must(c.pack(out[:len(carryTs)]))
	return last, tenon.Must(yLike.pack(out[len(carryTs):]))
}

// byNumber returns nil if the rows of all Values in xs consist of the rows of their tensors.
// Otherwise the rows must be taken by number, and it returns how many there are.
func byNumber(fn string, xs any) (n tensor.Tensor) {
	leaves := tenon.Must(nest.Flatten(xs, nest.Options{}))
	needed := slices.ContainsFunc(leaves, func(l any) bool {
		v, ok := l.(tenon.Value)
		if !ok || tenon.IsLeaf(v.Spec()) {
			return false
		}
		row, err := rows.RowSpec(v.Spec())
		return err != nil || !stacksByTensor(row)
	})
	if !needed {
		return nil
	}
	for _, l := range leaves {
		if v, ok := l.(tenon.Value); ok {
			count, err := rows.CountTensor(v)
			tenon.Throw(rows.Named(fn, err))
			if _, known := count.(*tensor.Dense); known || n == nil {
				n = count
			}
		}
	}
	return n
}

// stacksByTensor reports whether a batch of values of a Spec consists of batches of their tensors,
// each stacked separately.
func stacksByTensor(s tenon.Spec) bool {
	batch, err := rows.BatchSpec(s, shape.Unknown)
	if err != nil {
		return false
	}
	one, err := nest.Flatten(s, nest.Options{Expand: true})
	if err != nil {
		return false
	}
	all, err := nest.Flatten(batch, nest.Options{Expand: true})
	if err != nil || len(one) != len(all) {
		return false
	}
	for i := range one {
		x, err := rows.BatchSpec(one[i].(tenon.Spec), shape.Unknown)
		if err != nil || !tenon.Equal(x, all[i].(tenon.Spec)) {
			return false
		}
	}
	return true
}

// ScanOptions say how [Scan] runs over the rows. The zero value means forward.
type ScanOptions struct {
	Reverse bool // from the last row to the first; each y is at the position of its x
	Length  int  // number of iterations if xs has no tensors

	// RowSplits divide the items of xs into rows: xs hold the items of all rows, one row after the
	// other. Each iteration takes the next item of each row that has one left, in a batch that
	// shrinks as rows end. The carry has an entry for each row, and the ys have an entry for each
	// item of xs. The result of the body for a row must not depend on other rows, since it does not
	// see how they are arranged. With Reverse, rows run from their last item to their first.
	RowSplits tensor.Tensor
}

// symbolsLike returns symbolic tensors in the graph that p belongs to, or in a
// graph of their own if p is empty.
func symbolsLike(p []tensor.Tensor, specs []*tensor.Spec) []tensor.Tensor {
	if len(p) > 0 {
		if v, ok := p[0].(*graph.Value); ok {
			out := make([]tensor.Tensor, len(specs))
			for i, s := range specs {
				out[i] = v.Graph().Param(s)
			}
			return out
		}
	}
	return symbols(specs)
}

// rowsSpec returns the Spec of a batch with any number of rows.
func rowsSpec(batch tenon.Spec) (tenon.Spec, error) {
	row, err := rows.RowSpec(batch)
	if err != nil {
		return nil, err
	}
	return rows.BatchSpec(row, shape.Unknown)
}

// symbolic returns xs with each Value replaced by a symbolic one, whose Spec is the result of
// takes.
func symbolic[X any](fn string, xs X, takes func(tenon.Spec) (tenon.Spec, error)) (X, error) {
	return nest.Map(func(l []any) (any, error) {
		v, ok := l[0].(tenon.Value)
		if !ok {
			return l[0], nil
		}
		row, err := takes(v.Spec())
		if err != nil {
			return nil, rows.Named(fn, err)
		}
		parts, err := nest.Flatten(row, nest.Options{Expand: true})
		if err != nil {
			return nil, err
		}
		specs := make([]*tensor.Spec, len(parts))
		for i, p := range parts {
			specs[i] = p.(*tensor.Spec)
		}
		comps := make([]any, len(parts))
		for i, t := range symbols(specs) {
			comps[i] = t
		}
		return nest.Pack[any](row, comps, nest.Options{Expand: true})
	}, nest.Options{}, xs)
}

// Fold is [Scan] without outputs for the rows. It returns the last carry.
func Fold[C, X any](body func(C, X) C, carry C, xs X, opts ...ScanOptions) C {
	last, _ := Scan(func(c C, x X) (C, []tensor.Tensor) { return body(c, x), nil }, carry, xs, opts...)
	return last
}
