package dataset

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/anatomy"
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
	x, err := together(list, func(values []tenon.Value) (tenon.Value, error) { return rows.Stack(values, o.join) })
	if e := tenon.AsError(err); e != nil && o.Kind == Padded && e.Hint == "" && errors.Is(err, tenon.ErrDType) {
		e.Hint = "padding makes rows dense, but the field is declared ragged; use kind Ragged"
	}
	return x, err
}

// join combines tensors as the rows of one.
func (o BatchOptions) join(where string, ts []tensor.Tensor) tensor.Tensor {
	if t, ok := bulk(ts, o); ok {
		return t
	}
	return o.stackTensors(where, ts)
}

// bulk copies dense tensors of one type, whose shapes are equal or differ only in the first size,
// one after the other. The result is that of stackTensors, with a single operation for the batch
// and without several small values for each element. It returns false for other tensors.
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

// behind fills a tensor with the concatenated elements of others.
func behind[T any](list []T, out *tensor.Dense) tensor.Tensor {
	to := out.Bytes()
	for _, x := range list {
		to = to[copy(to, any(x).(*tensor.Dense).Bytes()):]
	}
	return out
}

// stackTensors returns tensors of any type as the rows of one.
func (o BatchOptions) stackTensors(name string, ts []tensor.Tensor) tensor.Tensor {
	kind := anatomy.Of(ts[0]).Kind
	for i, t := range ts {
		switch k := anatomy.Of(t).Kind; {
		case k == anatomy.Optional || kind == anatomy.Optional:
			return o.stackMasked(name, ts)
		case (k == anatomy.Records) != (kind == anatomy.Records), reflect.TypeOf(t) != reflect.TypeOf(ts[0]) && (t.DType() != ts[0].DType() || t.DType() == dtype.None):
			tenon.Throw(misfit(name, i, t, ts[0]))
		}
	}
	switch kind {
	case anatomy.Records, anatomy.Union, anatomy.Map:
		if ts[0].Shape().Rank() > 0 {
			return inLists(ts)
		}
		if kind == anatomy.Records {
			return o.stackRecords(name, ts)
		}
	case anatomy.Words:
		if ts[0].Shape().Rank() == 1 && o.Kind == Ragged {
			return inLists(ts)
		}
	}
	if slices.ContainsFunc(ts, answers) {
		return ops.Stack(ts, 0)
	}
	same, tails := true, true // whether the shapes are equal, and whether they are without the first dimension
	for i, t := range ts {
		a, b := t.Shape(), ts[0].Shape()
		if t.DType() != ts[0].DType() || a.Rank() != b.Rank() {
			tenon.Throw(misfit(name, i, t, ts[0]))
		}
		if a.IsFull() && a.Equal(b) {
			continue
		}
		tail := a.Rank() > 0 && a.Tail(1).Equal(b.Tail(1))
		lists := anatomy.Of(t).Kind == anatomy.Lists // whether their rows have equal lengths is known only after joining them
		if o.Kind == Dense && !lists || o.Kind == Ragged && !tail && !lists {
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

// answers reports whether a tensor is of a type that implements stacking itself: neither a plain
// tensor nor ragged rows of plain tensors.
func answers(t tensor.Tensor) bool {
	k := anatomy.Of(t).Kind
	return k != anatomy.Leaf && k != anatomy.Lists
}

func misfit(name string, i int, t, first tensor.Tensor) error {
	e := invalid("Batch", "element %d of the batch is %s, but the first is %s%s", i, tenon.String(t.Spec()), tenon.String(first.Spec()), tenon.HiddenDifference(t.Spec(), first.Spec())).(*tenon.Error)
	e.Kind, e.Where = tenon.ErrShape, name
	e.Hint = "use kind Ragged for elements that differ in their first dimension, or kind Padded for elements of any size"
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
	p.Pad = nil // padding is missing
	return tenon.Must(masked.New(o.stackTensors(name, values), p.stackTensors(name, masks)))
}

// stackRecords stacks single records field by field.
func (o BatchOptions) stackRecords(name string, ts []tensor.Tensor) tensor.Tensor {
	first := anatomy.Of(ts[0])
	columns := make([][]tensor.Tensor, len(first.Fields))
	for i, t := range ts {
		a := anatomy.Of(t)
		if t.Shape().Rank() != 0 || len(a.Fields) != len(columns) {
			tenon.Throw(misfit(name, i, t, ts[0]))
		}
		for k, f := range first.Fields {
			at := slices.IndexFunc(a.Fields, func(g anatomy.Field) bool { return g.Name == f.Name })
			if at < 0 {
				tenon.Throw(misfit(name, i, t, ts[0]))
			}
			columns[k] = append(columns[k], a.Fields[at].Value.(tensor.Tensor))
		}
	}
	fields := make([]structured.Field, len(columns))
	for k, c := range columns {
		f := first.Fields[k].Name
		fields[k] = structured.Field{Name: f, Value: o.stackTensors(joinName(name, f), c)}
	}
	return tenon.Must(structured.FromFields(fields, shape.Of(len(ts)), structured.Options{NRows: len(ts)}))
}

// inLists joins the rows of tensors and divides them into rows again.
func inLists(ts []tensor.Tensor) tensor.Tensor {
	lengths := make([]int64, len(ts))
	for i, t := range ts {
		n, err := rowCount(t)
		tenon.Throw(err)
		lengths[i] = n
	}
	p := tenon.Must(ragged.PartitionFromRowLengths(lengths, ragged.PartitionOptions{}))
	return tenon.Must(structured.Divide(ops.Concat(ts, 0), p))
}

// finished brings gathered rows into the form that options request.
func finished[T any](o BatchOptions, get func() (T, error)) (T, error) {
	x, err := get()
	if err != nil || o.Kind == Ragged {
		return x, err
	}
	return together([]T{x}, func(values []tenon.Value) (tenon.Value, error) { return rows.Map(values[0], o.finish) })
}

// finish makes ragged rows dense, unless they are to stay ragged. Lists of records are unchanged.
func (o BatchOptions) finish(name string, t tensor.Tensor) tensor.Tensor {
	if o.Kind == Ragged {
		return t
	}
	switch a := anatomy.Of(t); a.Kind {
	case anatomy.Optional:
		values, mask := a.Inner.(tensor.Tensor), a.Mask
		if anatomy.Of(values).Kind == anatomy.Lists {
			mask = masked.All(t).Full()
		}
		p := o
		p.Pad = nil
		return tenon.Must(masked.New(o.finish(name, values), p.finish(name, mask)))
	case anatomy.Records:
		if len(a.Partitions) > 0 || t.Shape().Rank() != 1 {
			return t
		}
		var fields []structured.Field
		for _, f := range a.Fields {
			fields = append(fields, structured.Field{Name: f.Name, Value: o.finish(joinName(name, f.Name), f.Value.(tensor.Tensor))})
		}
		return tenon.Must(structured.FromFields(fields, t.Shape(), structured.Options{NRows: a.Rows}))
	case anatomy.Lists:
		x, ok := ragged.As(t)
		if !ok {
			return t
		}
		d := tenon.Must(x.ToDense(ragged.DenseOptions{Default: o.pad(x.DType())}))
		if o.Kind == Dense && d.Shape().Size() != x.FlatValues().Shape().Size() {
			e := invalid("Batch", "the rows of %s differ in length", tenon.String(t.Spec())).(*tenon.Error)
			e.Kind, e.Where, e.Hint = tenon.ErrShape, name, "use kind Ragged or Padded for elements of different sizes"
			tenon.Throw(e)
		}
		return d
	}
	return t
}

// pad returns the padding for elements of type d.
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
		e := invalid("Batch", "%v", fmt.Sprintf("%v elements cannot be padded with %v", d, o.Pad))
		tenon.Throw(e)
	}
	return s
}
