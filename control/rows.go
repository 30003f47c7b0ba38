package control

import (
	"errors"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// What MapRows does with values that are no tensors themselves: their rows are made of
// the rows of their components, and are stacked component by component.

// composite returns the components of a batch that is no tensor, and the Spec of one
// row of it; ok is false for any other value.
func composite(v tenon.Value) (row tenon.Spec, parts []tenon.Value, ok bool) {
	if _, is := v.(tensor.Tensor); is || tenon.IsLeaf(v.Spec()) {
		return nil, nil, false
	}
	b, ok := v.Spec().(tenon.Batcher)
	if !ok {
		return nil, nil, false
	}
	row, err := b.Unbatched()
	if err != nil || len(row.Components()) != len(v.Spec().Components()) {
		return nil, nil, false
	}
	parts, err = v.Spec().Disassemble(v)
	return row, parts, err == nil
}

// shared reports whether all rows of a batch have one component in common.
func shared(row, batch tenon.Spec, k int) bool {
	return tenon.Equal(row.Components()[k].Spec, batch.Components()[k].Spec)
}

// countRows returns the number of rows of a value, shape.Unknown where it has none or
// it is not known.
func countRows(fn string, v tenon.Value) int {
	if t, ok := v.(tensor.Tensor); ok {
		if t.Shape().IsScalar() {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrShape, Op: fn, Line: source.Line(), Msg: fmt.Sprintf("%s has no rows", tenon.String(t.Spec()))})
		}
		return t.Shape().Dim(0)
	}
	row, parts, ok := composite(v)
	n := shape.Unknown
	if !ok {
		return n
	}
	for k, p := range parts {
		if shared(row, v.Spec(), k) {
			continue
		}
		m := countRows(fn, p)
		if m >= 0 && n >= 0 && m != n {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrShape, Op: fn, Where: row.Components()[k].Name, Line: source.Line(), Msg: fmt.Sprintf("has %d rows, another component %d", m, n)})
		}
		n = max(n, m)
	}
	return n
}

// rowAt returns row i of a value; what has no rows is the same for all.
func rowAt(v tenon.Value, i int) tenon.Value {
	if t, ok := v.(tensor.Tensor); ok {
		x, err := tenon.Try(func() tensor.Tensor { return ops.Gather(t, int64(i), 0) })
		if errors.Is(err, tenon.ErrUnsupported) { // the type may know rows by key only
			return ops.Index(t, i)
		}
		return tenon.Must(x, err)
	}
	row, parts, ok := composite(v)
	if !ok {
		return v
	}
	for k, p := range parts {
		if !shared(row, v.Spec(), k) {
			parts[k] = rowAt(p, i)
		}
	}
	return tenon.Must(row.Assemble(parts))
}

// stacked returns the batch of values.
func stacked(fn string, vs []tenon.Value) tenon.Value {
	if _, ok := vs[0].(tensor.Tensor); ok {
		return ops.Stack(vs, 0)
	}
	spec := vs[0].Spec()
	all := make([][]tenon.Value, len(vs))
	for i, v := range vs {
		m, ok := tenon.Merge(spec, v.Spec())
		if !ok {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrDType, Op: fn, Line: source.Line(), Msg: fmt.Sprintf("results are %s and %s, which have no common Spec", tenon.String(spec), tenon.String(v.Spec()))})
		}
		spec = m
		all[i] = tenon.Must(v.Spec().Disassemble(v))
	}
	b, ok := spec.(tenon.Batcher)
	if !ok {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: fn, Line: source.Line(), Msg: fmt.Sprintf("%s cannot be stacked", tenon.String(spec))})
	}
	batch := tenon.Must(b.Batched(len(vs)))
	parts := make([]tenon.Value, len(all[0]))
	for k := range parts {
		if shared(spec, batch, k) {
			parts[k] = all[0][k]
			continue
		}
		column := make([]tenon.Value, len(vs))
		for i := range vs {
			column[i] = all[i][k]
		}
		parts[k] = stacked(fn, column)
	}
	return tenon.Must(batch.Assemble(parts))
}
