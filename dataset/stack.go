package dataset

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// stacked returns elements as rows.
func stacked[T any](list []T, o BatchOptions) (T, error) {
	if t, ok := bulk(list, o); ok {
		x, ok := any(t).(T)
		if ok {
			return x, nil
		}
	}
	return together(list, func(values []tenon.Value) (tenon.Value, error) { return rows.Stack(values, o.join) })
}

// join returns tensors as the rows of one.
func (o BatchOptions) join(where string, ts []tensor.Tensor) tensor.Tensor {
	if t, ok := bulk(ts, o); ok {
		return t
	}
	return o.stackTensors(where, ts)
}

// bulk copies dense tensors of one type, whose shapes are the same or differ in the first
// size alone, behind one another: what stackTensors makes of them with an operation for
// the batch and several small values for each element. It is false for others.
func bulk[T any](list []T, o BatchOptions) (out tensor.Tensor, ok bool) {
	first, ok := any(list[0]).(*tensor.Dense)
	if !ok || o.Kind == Padded {
		return nil, false
	}
	size, same := 0, true
	for _, x := range list {
		t, ok := any(x).(*tensor.Dense)
		if !ok || t.DType() != first.DType() || t.Rank() != first.Rank() || !t.IsContiguous() {
			return nil, false
		}
		if a, b := t.Shape(), first.Shape(); !a.Equal(b) {
			if o.Kind != Ragged || !a.Tail(1).Equal(b.Tail(1)) {
				return nil, false
			}
			same = false
		}
		size += t.Len()
	}
	if r := first.Rank(); o.Kind == Ragged && r > 0 {
		rows := 0
		splits, ends := tensor.Make[int64](shape.Of(len(list) + 1))
		for i, x := range list {
			rows += any(x).(*tensor.Dense).Dim(0)
			ends[i+1] = int64(rows)
		}
		flat := behind(list, tensor.Uninit(first.DType(), first.Shape().With(0, rows)))
		t, err := ragged.FromRowSplits(flat, splits)
		return t, err == nil
	} else if !same || size == 0 {
		return nil, false
	}
	return behind(list, tensor.Uninit(first.DType(), first.Shape().Insert(0, len(list)))), true
}

// behind fills a tensor with the elements of others.
func behind[T any](list []T, out *tensor.Dense) tensor.Tensor {
	to := out.Bytes()
	for _, x := range list {
		to = to[copy(to, any(x).(*tensor.Dense).Bytes()):]
	}
	return out
}

// stackTensors returns tensors of any type as the rows of one.
func (o BatchOptions) stackTensors(name string, ts []tensor.Tensor) tensor.Tensor {
	for i, t := range ts {
		if reflect.TypeOf(t) == reflect.TypeOf(ts[0]) {
			continue
		}
		if _, ok := t.(*masked.Tensor); ok {
			return o.stackMasked(name, ts)
		}
		if _, ok := ts[0].(*masked.Tensor); ok {
			return o.stackMasked(name, ts)
		}
		if t.DType() != ts[0].DType() || t.DType() == dtype.None {
			tenon.Throw(misfit(name, i, t, ts[0]))
		}
	}
	switch ts[0].(type) {
	case *masked.Tensor:
		return o.stackMasked(name, ts)
	case *structured.Tensor:
		return o.stackRecords(name, ts)
	}
	if slices.ContainsFunc(ts, answers) {
		return ops.Stack(ts, 0)
	}
	same, tails := true, true // the shapes, and those without the first dimension
	for i, t := range ts {
		a, b := t.Shape(), ts[0].Shape()
		if t.DType() != ts[0].DType() || a.Rank() != b.Rank() {
			tenon.Throw(misfit(name, i, t, ts[0]))
		}
		if a.IsFull() && a.Equal(b) {
			continue
		}
		_, isRagged := t.(*ragged.Tensor)
		tail := a.Rank() > 0 && a.Tail(1).Equal(b.Tail(1))
		if o.Kind == Dense || o.Kind == Ragged && !isRagged && !tail {
			tenon.Throw(misfit(name, i, t, ts[0]))
		}
		same, tails = false, tails && tail
	}
	if r := ts[0].Shape().Rank(); r == 0 || same && o.Kind != Ragged {
		return ops.Stack(ts, 0)
	} else if !tails && r > 1 {
		for i, t := range ts {
			ts[i] = tenon.Must(ragged.WithRaggedRank(t, r-1))
		}
	}
	return o.finish(name, tenon.Must(ragged.Stack(ts, 0)))
}

// answers reports whether a tensor is of a type that stacks in its own way: neither a plain
// one nor ragged rows of those.
func answers(t tensor.Tensor) bool {
	_, isRagged := t.(*ragged.Tensor)
	return !isRagged && !tenon.IsLeaf(t.Spec())
}

func misfit(name string, i int, t, first tensor.Tensor) error {
	e := invalid("Batch", "element %d of the batch is %s, the first is %s", i, tenon.String(t.Spec()), tenon.String(first.Spec())).(*tenon.Error)
	e.Kind, e.Where = tenon.ErrShape, name
	e.Hint = "kind Ragged takes elements whose first dimensions differ, kind Padded those of any size"
	return e
}

// stackMasked stacks values and masks.
func (o BatchOptions) stackMasked(name string, ts []tensor.Tensor) tensor.Tensor {
	values, masks := make([]tensor.Tensor, len(ts)), make([]tensor.Tensor, len(ts))
	for i, t := range ts {
		m := masked.All(t)
		values[i], masks[i] = m.Values(), m.Full()
	}
	p := o
	p.Pad = nil // nothing is there
	return tenon.Must(masked.New(o.stackTensors(name, values), p.stackTensors(name, masks)))
}

// stackRecords stacks single records field by field, and lists of records as the rows of
// records.
func (o BatchOptions) stackRecords(name string, ts []tensor.Tensor) tensor.Tensor {
	first := ts[0].(*structured.Tensor)
	if first.Rank() == 0 {
		names := first.FieldNames()
		fields := make([]structured.Field, len(names))
		for k, f := range names {
			column := make([]tensor.Tensor, len(ts))
			for i, t := range ts {
				s, ok := t.(*structured.Tensor)
				if !ok || s.Rank() != 0 || len(s.FieldNames()) != len(names) {
					tenon.Throw(misfit(name, i, t, first))
				}
				column[i] = tenon.Must(s.Field(f))
			}
			fields[k] = structured.Field{Name: f, Value: o.stackTensors(joinName(name, f), column)}
		}
		return tenon.Must(structured.FromFields(fields, shape.Of(len(ts)), structured.Options{NRows: len(ts)}))
	}
	lengths := make([]int64, len(ts))
	for i, t := range ts {
		n, err := rowCount(t)
		tenon.Throw(err)
		lengths[i] = n
	}
	p := tenon.Must(ragged.PartitionFromRowLengths(lengths, ragged.PartitionOptions{}))
	return tenon.Must(ops.Concat(ts, 0).(*structured.Tensor).PartitionOuterDimension(p))
}

// finished gives rows that were gathered the form that options ask for.
func finished[T any](o BatchOptions, get func() (T, error)) (T, error) {
	x, err := get()
	if err != nil || o.Kind == Ragged {
		return x, err
	}
	return together([]T{x}, func(values []tenon.Value) (tenon.Value, error) { return rows.Map(values[0], o.finish) })
}

// finish makes ragged rows dense, unless they are to stay ragged. Lists of records stay
// as they are.
func (o BatchOptions) finish(name string, t tensor.Tensor) tensor.Tensor {
	if o.Kind == Ragged {
		return t
	}
	switch x := t.(type) {
	case *masked.Tensor:
		p := o
		p.Pad = nil
		full, ok := x.Mask(), true
		if _, isRagged := x.Values().(*ragged.Tensor); isRagged {
			full = x.Full()
		} else if _, ok = x.Values().(*structured.Tensor); ok {
			full = x.Mask()
		}
		return tenon.Must(masked.New(o.finish(name, x.Values()), p.finish(name, full)))
	case *structured.Tensor:
		if x.Rank() != 1 {
			return t
		}
		var fields []structured.Field
		for _, f := range x.FieldNames() {
			fields = append(fields, structured.Field{Name: f, Value: o.finish(joinName(name, f), tenon.Must(x.Field(f)))})
		}
		return tenon.Must(structured.FromFields(fields, x.Shape(), structured.Options{NRows: x.NRows()}))
	case *ragged.Tensor:
		d := tenon.Must(x.ToDense(ragged.DenseOptions{Default: o.pad(x.DType())}))
		if o.Kind == Dense && d.Shape().Size() != x.FlatValues().Shape().Size() {
			e := invalid("Batch", "the rows of %s differ in length", tenon.String(t.Spec())).(*tenon.Error)
			e.Kind, e.Where, e.Hint = tenon.ErrShape, name, "kinds Ragged and Padded take elements of different sizes"
			tenon.Throw(e)
		}
		return d
	}
	return t
}

// pad returns what fills up elements of a type.
func (o BatchOptions) pad(d dtype.DType) any {
	if o.Pad == nil || o.Kind == Dense || d == dtype.String {
		return nil
	}
	if d == dtype.Bool {
		if _, ok := o.Pad.(bool); !ok {
			return nil
		}
		return o.Pad
	}
	s, ok := tensor.ScalarLike(o.Pad, d)
	if !ok {
		e := invalid("Batch", "%v", fmt.Sprintf("no %v is the padding %v", d, o.Pad))
		tenon.Throw(e)
	}
	return s
}
