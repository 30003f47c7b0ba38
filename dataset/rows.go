package dataset

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// rows is stored elements: a structure of Values whose rows they are.
type rows[T any] struct {
	value  T
	paths  []nest.Path
	leaves []tenon.Value
	n      int64
}

// newRows checks that all Values of x have the same number of rows.
func newRows[T any](x T) (*rows[T], error) {
	paths, leaves, err := nest.FlattenWithPaths(x, nest.Options{})
	if err != nil {
		return nil, err
	}
	r := &rows[T]{value: x, paths: paths, n: -1}
	for i, l := range leaves {
		v, ok := l.(tenon.Value)
		if !ok {
			return nil, invalid("FromRows", "%s is a %T, which has no rows", place(paths[i]), l)
		}
		n, err := rowCount(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", place(paths[i]), err)
		}
		if r.n >= 0 && n != r.n {
			return nil, invalid("FromRows", "%s has %d rows, %s has %d", place(paths[i]), n, place(paths[0]), r.n)
		}
		r.n = n
		r.leaves = append(r.leaves, v)
	}
	if r.n < 0 {
		return nil, invalid("FromRows", "a %T holds no Values", x)
	}
	return r, nil
}

func place(p nest.Path) string {
	if len(p) == 0 {
		return "the value"
	}
	return p.String()
}

// rowCount returns the size of a Value's outermost dimension.
func rowCount(v tenon.Value) (int64, error) {
	t, ok := v.(tensor.Tensor)
	if !ok {
		parts, err := components(v)
		if err != nil {
			return 0, err
		}
		n := int64(-1)
		for i, p := range parts {
			m, err := rowCount(p)
			if err != nil {
				return 0, err
			}
			if i > 0 && m != n {
				return 0, invalid("FromRows", "component %d of %s has %d rows, the first has %d", i, tenon.String(v.Spec()), m, n)
			}
			n = m
		}
		return n, nil
	}
	s := t.Shape()
	if !s.HasRank() || s.Rank() == 0 {
		return 0, invalid("FromRows", "%s has no rows", tenon.String(v.Spec()))
	}
	if n := s.Dim(0); n >= 0 {
		return int64(n), nil
	}
	if r, ok := v.(interface{ NRows() tensor.Tensor }); ok {
		if n, ok := r.NRows().(*tensor.Dense); ok {
			return tensor.Item[int64](ops.Cast(n, int64Type).(*tensor.Dense)), nil
		}
	}
	return 0, invalid("FromRows", "%s has no number of rows", tenon.String(v.Spec()))
}

// components takes apart a Value that is no tensor.
func components(v tenon.Value) ([]tenon.Value, error) {
	if _, ok := v.Spec().(tenon.Batcher); !ok {
		return nil, invalid("FromRows", "%s has no rows", tenon.String(v.Spec()))
	}
	parts, err := v.Spec().Disassemble(v)
	if err == nil && len(parts) == 0 {
		err = invalid("FromRows", "%s has no rows", tenon.String(v.Spec()))
	}
	return parts, err
}

// each applies f to a Value, or to the components of one that is no tensor, which are put
// together again by what spec returns.
func each(v tenon.Value, f func(tensor.Tensor) tensor.Tensor, spec func(tenon.Batcher) (tenon.Spec, error)) (out tenon.Value, err error) {
	defer tenon.Catch(&err)
	if t, ok := v.(tensor.Tensor); ok {
		return f(t), nil
	}
	parts, err := components(v)
	if err != nil {
		return nil, err
	}
	for i, p := range parts {
		if parts[i], err = each(p, f, spec); err != nil {
			return nil, err
		}
	}
	s, err := spec(v.Spec().(tenon.Batcher))
	if err != nil {
		return nil, err
	}
	return s.Assemble(parts)
}

// row returns one element.
func (r *rows[T]) row(i int64) (T, error) {
	f := func(t tensor.Tensor) tensor.Tensor {
		if s, ok := t.(*structured.Tensor); ok && s.Rank() == 1 {
			return tenon.Must(s.AtNumbers(tensor.Scalar(i)))
		}
		return ops.Index(t, int(i))
	}
	return r.mapped(f, func(b tenon.Batcher) (tenon.Spec, error) { return b.Unbatched() })
}

// gather returns several elements as rows.
func (r *rows[T]) gather(at []int64) (T, error) {
	f := func(t tensor.Tensor) tensor.Tensor {
		if s, ok := t.(*structured.Tensor); ok && s.Rank() == 1 {
			return tenon.Must(s.AtNumbers(tensor.Vector(at))) // row i is record i
		}
		return ops.Gather(t, tensor.Vector(at), 0)
	}
	if n := len(at); n > 0 && at[n-1]-at[0] == int64(n-1) && slices.IsSorted(at) {
		f = func(t tensor.Tensor) tensor.Tensor { return ops.Index(t, key.Range(int(at[0]), int(at[0])+n, nil)) }
		if at[0] == 0 && int64(n) == r.n {
			f = func(t tensor.Tensor) tensor.Tensor { return t }
		}
	}
	return r.mapped(f, rebatched(len(at)))
}

// rebatched returns the Spec of n rows for that of another number.
func rebatched(n int) func(tenon.Batcher) (tenon.Spec, error) {
	return func(b tenon.Batcher) (tenon.Spec, error) {
		row, err := b.Unbatched()
		if err != nil {
			return nil, err
		}
		c, ok := row.(tenon.Batcher)
		if !ok {
			return nil, invalid("Batch", "%s cannot be batched", tenon.String(row))
		}
		return c.Batched(n)
	}
}

func (r *rows[T]) mapped(f func(tensor.Tensor) tensor.Tensor, spec func(tenon.Batcher) (tenon.Spec, error)) (T, error) {
	out := make([]any, len(r.leaves))
	for i, v := range r.leaves {
		var err error
		if out[i], err = each(v, f, spec); err != nil {
			var zero T
			return zero, err
		}
	}
	return nest.Pack(r.value, out, nest.Options{})
}

// rowSpecs returns the Specs of an element.
func (r *rows[T]) rowSpecs() []tenon.Field {
	out := make([]tenon.Field, len(r.leaves))
	for i, v := range r.leaves {
		b, ok := v.Spec().(tenon.Batcher)
		if !ok {
			return nil
		}
		s, err := b.Unbatched()
		if err != nil {
			return nil
		}
		out[i] = tenon.Field{Name: r.paths[i].String(), Spec: s}
	}
	return out
}

// specsOf returns the Specs of an element's Values.
func specsOf(x any) ([]tenon.Field, error) {
	paths, leaves, err := nest.FlattenWithPaths(x, nest.Options{})
	if err != nil {
		return nil, err
	}
	var out []tenon.Field
	for i, l := range leaves {
		if v, ok := l.(tenon.Value); ok {
			out = append(out, tenon.Field{Name: paths[i].String(), Spec: v.Spec()})
		}
	}
	return out, nil
}

// gathered returns stored elements as rows, in their order.
func gathered[T any](refs []ref[T]) (T, error) {
	var sources []*rows[T]
	var lists [][]int64
	var which []int
	for _, r := range refs {
		k := len(sources) - 1
		if k < 0 || sources[k] != r.of {
			if k = slices.Index(sources, r.of); k < 0 {
				k = len(sources)
				sources, lists = append(sources, r.of), append(lists, make([]int64, 0, len(refs)))
			}
		}
		lists[k] = append(lists[k], r.row)
		which = append(which, k)
	}
	if len(sources) == 1 {
		return sources[0].gather(lists[0])
	}
	parts := make([]T, len(sources))
	starts := make([]int64, len(sources))
	for k, s := range sources {
		var err error
		if parts[k], err = s.gather(lists[k]); err != nil {
			return parts[k], err
		}
		if k > 0 {
			starts[k] = starts[k-1] + int64(len(lists[k-1]))
		}
	}
	all, err := joined(parts)
	if err != nil || slices.IsSorted(which) {
		return all, err
	}
	at := make([]int64, len(refs))
	for i, k := range which {
		at[i] = starts[k]
		starts[k]++
	}
	r, err := newRows(all)
	if err != nil {
		return all, err
	}
	return r.gather(at)
}

// joined returns the rows of several structures, one behind the other.
func joined[T any](parts []T) (T, error) {
	rest := make([]any, len(parts)-1)
	for i, p := range parts[1:] {
		rest[i] = p
	}
	return nest.Map(func(leaves []any) (any, error) { return concat(leaves) }, nest.Options{}, parts[0], rest...)
}

func concat(leaves []any) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	if _, ok := leaves[0].(tensor.Tensor); ok {
		ts := make([]tensor.Tensor, len(leaves))
		for i, l := range leaves {
			ts[i] = l.(tensor.Tensor)
		}
		return ops.Concat(ts, 0), nil
	}
	parts, n, err := across(leaves, concat)
	if err != nil {
		return nil, err
	}
	s, err := rebatched(n)(leaves[0].(tenon.Value).Spec().(tenon.Batcher))
	if err != nil {
		return nil, err
	}
	return s.Assemble(parts)
}

// across applies f to each component of several Values of one type, and returns the
// number of rows of the first result.
func across(leaves []any, f func([]any) (tenon.Value, error)) ([]tenon.Value, int, error) {
	var lists [][]any
	for _, l := range leaves {
		v, ok := l.(tenon.Value)
		if !ok {
			return nil, 0, invalid("Batch", "a %T has no rows: map elements to Values first", l)
		}
		parts, err := components(v)
		if err != nil {
			return nil, 0, err
		}
		for i, p := range parts {
			if len(lists) <= i {
				lists = append(lists, nil)
			}
			lists[i] = append(lists[i], p)
		}
	}
	out := make([]tenon.Value, len(lists))
	n := 0
	for i, l := range lists {
		var err error
		if out[i], err = f(l); err != nil {
			return nil, 0, err
		}
		if m, err := rowCount(out[i]); err == nil {
			n = int(m)
		}
	}
	return out, n, nil
}
