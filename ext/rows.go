package ext

import (
	"errors"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Stack returns one value that holds the given ones as its rows: every field that
// is a Value gains an outermost axis. Their Specs have to merge; static data are
// kept. Ragged fields stay ragged, with rows of any length; other fields have equal sizes.
func Stack[T tenon.Value](values ...T) (T, error) {
	return together("ext.Stack", values, func(s tenon.Batcher) (tenon.Spec, error) { return s.Batched(len(values)) },
		func(ts []tensor.Tensor) tensor.Tensor {
			for _, t := range ts {
				if _, ok := t.(*ragged.Tensor); ok {
					return tenon.Must(ragged.Stack(ts, 0))
				}
			}
			return ops.Stack(ts, 0)
		})
}

// Concat returns one value with the rows of all the given ones, in order.
func Concat[T tenon.Value](values ...T) (T, error) {
	return together("ext.Concat", values, anyRows, func(ts []tensor.Tensor) tensor.Tensor { return ops.Concat(ts, 0) })
}

// anyRows returns the Spec of a batch with another number of rows.
func anyRows(s tenon.Batcher) (tenon.Spec, error) {
	row, err := s.Unbatched()
	if err != nil {
		return nil, err
	}
	return row.(tenon.Batcher).Batched(shape.Unknown)
}

// Unstack returns the rows of a value; it is the inverse of [Stack]. The number of
// rows has to be known.
func Unstack[T tenon.Value](x T) ([]T, error) {
	n, err := rowsOf(x)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: "ext.Unstack", Msg: "the number of rows is not known", Line: source.Line()}
	}
	out := make([]T, n)
	for i := range out {
		if out[i], err = Row(x, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Row returns row i of a value.
func Row[T tenon.Value](x T, i int) (T, error) {
	return apart("ext.Row", x, func(b tenon.Batcher) (tenon.Spec, error) { return b.Unbatched() },
		func(t tensor.Tensor) tensor.Tensor {
			x, err := tenon.Try(func() tensor.Tensor { return ops.Index(t, i) })
			if errors.Is(err, tenon.ErrUnsupported) { // the type may know rows by number only
				return ops.Gather(t, int64(i), 0)
			}
			return tenon.Must(x, err)
		})
}

// Slice returns the rows of a value from lo up to, not including, hi.
func Slice[T tenon.Value](x T, lo, hi int) (T, error) {
	return apart("ext.Slice", x, anyRows, func(t tensor.Tensor) tensor.Tensor {
		x, err := tenon.Try(func() tensor.Tensor { return ops.Index(t, key.Range(lo, hi, nil)) })
		if errors.Is(err, tenon.ErrUnsupported) {
			return ops.Gather(t, ops.Range(lo, hi, 1), 0)
		}
		return tenon.Must(x, err)
	})
}

// Gather returns the rows of a value that a vector of integers lists.
func Gather[T tenon.Value](x T, indices any) (T, error) {
	at, err := tensor.Convert(indices)
	if err != nil {
		var zero T
		return zero, err
	}
	return apart("ext.Gather", x, anyRows, func(t tensor.Tensor) tensor.Tensor { return ops.Gather(t, at, 0) })
}

// Rows returns the number of rows of a batch, and shape.Unknown where it is not known.
// Fields with different numbers of rows are an error.
func Rows(x tenon.Value) (int, error) { return rowsOf(x) }

func rowsOf(v tenon.Value) (int, error) {
	d, ok := specOf(v.Spec())
	if !ok {
		t, ok := v.(tensor.Tensor)
		if !ok {
			return 0, unstackable(v)
		}
		s := t.Shape()
		if s.HasRank() && s.Rank() == 0 {
			return 0, &tenon.Error{Kind: tenon.ErrShape, Op: "ext.Rows", Msg: fmt.Sprintf("%s has no rows", tenon.String(v.Spec())), Line: source.Line()}
		}
		return s.Dim(0), nil
	}
	parts, err := d.Disassemble(v)
	if err != nil {
		return 0, err
	}
	n, seen := shape.Unknown, ""
	kept := d.policies()
	for k, p := range parts {
		if kept[k] == batchKeep {
			continue
		}
		m, err := rowsOf(p)
		if err != nil {
			return 0, codec.Within(d.fields[k].Name, err)
		}
		if m < 0 {
			continue
		}
		if n >= 0 && n != m {
			return 0, &tenon.Error{Kind: tenon.ErrShape, Op: "ext.Rows", Where: d.fields[k].Name, Line: source.Line(),
				Msg: fmt.Sprintf("has %d rows, %s has %d", m, seen, n)}
		}
		n, seen = m, d.fields[k].Name
	}
	return n, nil
}

func unstackable(v tenon.Value) error {
	return &tenon.Error{Kind: tenon.ErrUnsupported, Msg: fmt.Sprintf("%s has no rows to stack or to take", tenon.String(v.Spec()))}
}

// policies returns the batch policy of each component.
func (s *Spec) policies() []policy {
	out := make([]policy, 0, len(s.fields))
	k := 0
	for _, f := range s.info.node.flat(0, nil) {
		n := 1
		if f.node.places < 0 || f.node.places > 1 {
			n = len(f.node.appendNames(at(s.like, f.offset), "", nil))
		} else if f.node.places == 0 {
			n = 0
		}
		for range n {
			if s.slots[k] != nil {
				out = append(out, f.tag.batch)
			}
			k++
		}
	}
	return out
}

// together joins values component by component.
func together[T tenon.Value](fn string, values []T, result func(tenon.Batcher) (tenon.Spec, error), join func([]tensor.Tensor) tensor.Tensor) (out T, err error) {
	defer tenon.Catch(&err)
	if len(values) == 0 {
		return out, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Msg: "there are no values", Line: source.Line()}
	}
	vs := make([]tenon.Value, len(values))
	for i, v := range values {
		vs[i] = v
	}
	v, err := joinValues(vs, result, join)
	if err != nil {
		return out, named(fn, err)
	}
	return as[T](fn, v)
}

func named(fn string, err error) error {
	e := *tenon.AsError(err)
	if e.Op == "" || e.Op == "ext.Rows" {
		e.Op = fn
	}
	if e.Line == "" {
		e.Line = source.Line()
	}
	return &e
}

func as[T tenon.Value](fn string, v tenon.Value) (T, error) {
	x, ok := v.(T)
	if !ok {
		return x, &tenon.Error{Kind: tenon.ErrDType, Op: fn, Msg: fmt.Sprintf("the result is %s, and no %T", tenon.String(v.Spec()), x), Line: source.Line()}
	}
	return x, nil
}

func joinValues(vs []tenon.Value, result func(tenon.Batcher) (tenon.Spec, error), join func([]tensor.Tensor) tensor.Tensor) (tenon.Value, error) {
	d, ok := specOf(vs[0].Spec())
	if !ok {
		ts := make([]tensor.Tensor, len(vs))
		for i, v := range vs {
			if ts[i], ok = v.(tensor.Tensor); !ok {
				return nil, unstackable(v)
			}
		}
		var out tensor.Tensor
		err := catching(func() { out = join(ts) })
		return out, err
	}
	merged := tenon.Spec(d.outer)
	all := make([][]tenon.Value, len(vs))
	for i, v := range vs {
		m, ok := tenon.Merge(merged, v.Spec())
		if !ok {
			return nil, &tenon.Error{Kind: tenon.ErrDType, Msg: fmt.Sprintf("%s and %s have no common Spec", tenon.String(merged), tenon.String(v.Spec()))}
		}
		merged = m
		var err error
		if all[i], err = v.Spec().Disassemble(v); err != nil {
			return nil, err
		}
	}
	spec, err := result(merged.(tenon.Batcher))
	if err != nil {
		return nil, err
	}
	kept := d.policies()
	parts := make([]tenon.Value, len(d.fields))
	for k := range parts {
		column := make([]tenon.Value, len(vs))
		for i := range vs {
			column[i] = all[i][k]
		}
		if kept[k] == batchKeep {
			for _, x := range column[1:] {
				if x != column[0] && !tensor.Equal(x, column[0], tensor.EqualOptions{NaN: true}) {
					return nil, &tenon.Error{Kind: tenon.ErrInvalid, Where: d.fields[k].Name, Msg: "all rows share the field (batch=keep), but it differs"}
				}
			}
			parts[k] = column[0]
			continue
		}
		if parts[k], err = joinValues(column, result, join); err != nil {
			return nil, codec.Within(d.fields[k].Name, err)
		}
	}
	return spec.Assemble(parts)
}

// apart takes rows of a value, component by component.
func apart[T tenon.Value](fn string, x T, result func(tenon.Batcher) (tenon.Spec, error), take func(tensor.Tensor) tensor.Tensor) (out T, err error) {
	defer tenon.Catch(&err)
	if _, err := rowsOf(x); err != nil {
		return out, named(fn, err)
	}
	v, err := takeRows(x, result, take)
	if err != nil {
		return out, named(fn, err)
	}
	return as[T](fn, v)
}

func takeRows(v tenon.Value, result func(tenon.Batcher) (tenon.Spec, error), take func(tensor.Tensor) tensor.Tensor) (tenon.Value, error) {
	d, ok := specOf(v.Spec())
	if !ok {
		t, ok := v.(tensor.Tensor)
		if !ok {
			return nil, unstackable(v)
		}
		var out tensor.Tensor
		err := catching(func() { out = take(t) })
		return out, err
	}
	spec, err := result(d)
	if err != nil {
		return nil, err
	}
	parts, err := d.Disassemble(v)
	if err != nil {
		return nil, err
	}
	kept := d.policies()
	for k, p := range parts {
		if kept[k] == batchKeep {
			continue
		}
		if parts[k], err = takeRows(p, result, take); err != nil {
			return nil, codec.Within(d.fields[k].Name, err)
		}
	}
	return spec.Assemble(parts)
}
