package dataset

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

// stored holds stored elements: a structure of Values whose rows are the elements.
type stored[T any] struct {
	value  T
	paths  []nest.Path
	leaves []tenon.Value
	n      int64
	from   string // name of the file, if known
}

// newRows checks that all Values of x have the same number of rows.
func newRows[T any](x T) (*stored[T], error) {
	paths, leaves, err := nest.FlattenWithPaths(x, nest.Options{})
	if err != nil {
		return nil, err
	}
	r := &stored[T]{value: x, paths: paths, n: -1}
	for i, l := range leaves {
		v, ok := l.(tenon.Value)
		if !ok {
			return nil, invalid("FromRows", "%s is a %T, which has no rows", place(paths[i]), l)
		}
		n, err := rowCount(v)
		if err != nil {
			e := invalid("FromRows", "%s: %s", place(paths[i]), tenon.AsError(err).Msg).(*tenon.Error)
			e.Where = tenon.AsError(err).Where
			return nil, e
		}
		if n < 0 { // all rows share the Value
			r.leaves = append(r.leaves, v)
			continue
		}
		if r.n >= 0 && n != r.n {
			return nil, invalid("FromRows", "%s has %d rows, but %s has %d", place(paths[i]), n, place(paths[0]), r.n)
		}
		r.n = n
		r.leaves = append(r.leaves, v)
	}
	if r.n < 0 {
		return nil, invalid("FromRows", "a %T contains no Values with rows", x)
	}
	return r, nil
}

// rowCount returns the number of rows of a Value, or -1 if it contains nothing.
func rowCount(v tenon.Value) (int64, error) {
	n, err := rows.Count(v)
	if err == nil && n < 0 && (tenon.IsLeaf(v.Spec()) || len(v.Spec().Components()) > 0) {
		err = invalid("FromRows", "%s has no number of rows", tenon.String(v.Spec()))
	}
	return int64(n), err
}

func place(p nest.Path) string {
	if len(p) == 0 {
		return "the value"
	}
	return p.String()
}

// row returns one element.
func (r *stored[T]) row(i int64) (T, error) {
	return r.mapped(func(v tenon.Value) (tenon.Value, error) { return rows.Take(v, int(i)) })
}

// gather returns several elements as rows.
func (r *stored[T]) gather(at []int64) (T, error) {
	n := len(at)
	if n == 0 || at[n-1]-at[0] != int64(n-1) || !slices.IsSorted(at) {
		return r.mapped(func(v tenon.Value) (tenon.Value, error) { return rows.Gather(v, tensor.Vector(at)) })
	}
	if at[0] == 0 && int64(n) == r.n {
		return r.value, nil
	}
	return r.mapped(func(v tenon.Value) (tenon.Value, error) { return rows.Slice(v, int(at[0]), int(at[0])+n) })
}

func (r *stored[T]) mapped(f func(tenon.Value) (tenon.Value, error)) (T, error) {
	out := make([]any, len(r.leaves))
	for i, v := range r.leaves {
		var err error
		if out[i], err = f(v); err != nil {
			var zero T
			return zero, rows.Named("dataset.Batch", err)
		}
	}
	return nest.Pack(r.value, out, nest.Options{})
}

// rowSpecs returns the Specs of an element.
func (r *stored[T]) rowSpecs() []tenon.Field {
	out := make([]tenon.Field, len(r.leaves))
	for i, v := range r.leaves {
		s, err := rows.RowSpec(v.Spec())
		if err != nil {
			return nil
		}
		out[i] = tenon.Field{Name: r.paths[i].String(), Spec: s}
	}
	return out
}

// leavesOf returns the names and Values in an element.
func leavesOf(x any) (names []string, values []tenon.Value, err error) {
	paths, leaves, err := nest.FlattenWithPaths(x, nest.Options{})
	for i, l := range leaves {
		if v, ok := l.(tenon.Value); ok {
			names, values = append(names, paths[i].String()), append(values, v)
		}
	}
	return names, values, err
}

// specsOf returns the Specs of an element's Values.
func specsOf(x any) ([]tenon.Field, error) {
	names, values, err := leavesOf(x)
	var out []tenon.Field
	for i, v := range values {
		out = append(out, tenon.Field{Name: names[i], Spec: v.Spec()})
	}
	return out, err
}

// gathered returns stored elements as rows, in order.
func gathered[T any](refs []ref[T]) (T, error) {
	var sources []*stored[T]
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

// joined returns the concatenation of the rows of several structures.
func joined[T any](parts []T) (T, error) { return together(parts, rows.Concat) }

// together applies join to the corresponding Values of several structures.
func together[T any](list []T, join func([]tenon.Value) (tenon.Value, error)) (T, error) {
	rest := make([]any, len(list)-1)
	for i, x := range list[1:] {
		rest[i] = x
	}
	return nest.Map(func(leaves []any) (any, error) {
		values := make([]tenon.Value, len(leaves))
		for i, l := range leaves {
			v, ok := l.(tenon.Value)
			if !ok {
				return nil, invalid("Batch", "a %T has no rows; map elements to Values first", l)
			}
			values[i] = v
		}
		v, err := join(values)
		return v, rows.Named("dataset.Batch", err)
	}, nest.Options{}, list[0], rest...)
}
