package structured

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

const nestedFn = "structured.FromNested"

// NestedOptions choose the element types of what [FromNested] reads.
type NestedOptions struct {
	Int   dtype.DType // of integers; None: int64
	Float dtype.DType // of numbers of which one is no integer; None: float64

	// Identifiers is as in [Options].
	Identifiers bool
}

// FromNested returns plain nested data as a tensor: a map[string]any is a record,
// a []any a list, and anything else a scalar. Lists of records make a structured
// tensor, other lists a dense or ragged one. The fields of a record are in the order
// of their names. All records of a list have the same fields, and all entries of a
// field the same depth; a field that is missing is an error of kind tenon.ErrNotFound
// that names its path and the record.
func FromNested(x any, o NestedOptions) (t tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	switch x := x.(type) {
	case map[string]any:
		return o.record(x, nil), nil
	case []any:
		return o.list(x, nil), nil
	case nil:
		return nil, invalid(nestedFn, "", "a null has no type")
	}
	return o.scalars([]any{x}, shape.Shape{}, nil), nil
}

func (o NestedOptions) record(m map[string]any, path []string) tensor.Tensor {
	var cols []column
	for _, name := range slices.Sorted(maps.Keys(m)) {
		below := o.named(path, name)
		var v tensor.Tensor
		switch x := m[name].(type) {
		case map[string]any:
			v = o.record(x, below)
		case []any:
			v = o.list(x, below)
		default:
			v = o.scalars([]any{x}, shape.Shape{}, below)
		}
		cols = append(cols, column{name: name, v: v, inner: allPlain})
	}
	return newTensor(0, nil, nil, cols, dtype.Int64)
}

func (o NestedOptions) named(path []string, name string) []string {
	if err := checkNames(nestedFn, []Field{{name, tensor.Scalar(false)}}, o.Identifiers); err != nil {
		tenon.Throw(err)
	}
	return append(slices.Clone(path), name)
}

// list returns values, one for each row, as a tensor with rows.
func (o NestedOptions) list(values []any, path []string) tensor.Tensor {
	kind := ""
	for i, x := range values {
		k := "a scalar"
		switch x.(type) {
		case map[string]any:
			k = "a record"
		case []any:
			k = "a list"
		case nil:
			k = "null"
		}
		if k == "null" || kind != "" && k != kind {
			tenon.Throw(invalid(nestedFn, place(path, i), "is %s, want what the other rows have", k))
		}
		kind = k
	}
	switch kind {
	case "a record":
		return o.records(values, path)
	case "a list":
		return o.lists(values, path)
	}
	return o.scalars(values, shape.Of(len(values)), path)
}

func place(path []string, row int) string { return fmt.Sprintf("%s[%d]", PathString(path), row) }

func (o NestedOptions) records(values []any, path []string) tensor.Tensor {
	names := map[string]bool{}
	for _, x := range values {
		for name := range x.(map[string]any) {
			names[name] = true
		}
	}
	var cols []column
	for _, name := range slices.Sorted(maps.Keys(names)) {
		below := o.named(path, name)
		rows := make([]any, len(values))
		for i, x := range values {
			v, ok := x.(map[string]any)[name]
			if !ok {
				tenon.Throw(&tenon.Error{Kind: tenon.ErrNotFound, Op: nestedFn, Where: place(path, i), Msg: fmt.Sprintf("the record has no field %q, others have", name), Line: source.Line()})
			}
			rows[i] = v
		}
		cols = append(cols, column{name: name, v: o.list(rows, below), inner: allPlain})
	}
	return newTensor(1, scalar(len(values), dtype.Int64), nil, cols, dtype.Int64)
}

func (o NestedOptions) lists(values []any, path []string) tensor.Tensor {
	lengths := make([]int64, len(values))
	var all []any
	for i, x := range values {
		l := x.([]any)
		lengths[i] = int64(len(l))
		all = append(all, l...)
	}
	p := tenon.Must(ragged.PartitionFromRowLengths(lengths, ragged.PartitionOptions{}))
	below := o.list(all, path)
	if s, ok := below.(*Tensor); ok {
		return tenon.Must(s.PartitionOuterDimension(p))
	}
	return tenon.Must(ragged.FromPartition(below, p))
}

func (o NestedOptions) scalars(values []any, s shape.Shape, path []string) tensor.Tensor {
	opts := tensor.Options{Int: o.Int, Float: o.Float}
	if len(values) == 0 {
		opts.DType = o.Float
	}
	bools := 0
	for i, x := range values {
		if x == nil {
			tenon.Throw(invalid(nestedFn, place(path, i), "is null"))
		}
		if n, ok := x.(uint64); ok && n > math.MaxInt64 && o.Int != dtype.Uint64 {
			tenon.Throw(invalid(nestedFn, place(path, i), "is %d, which no int64 holds", n))
		}
		if _, ok := x.(bool); ok {
			bools++
		}
	}
	if bools > 0 && bools < len(values) {
		tenon.Throw(invalid(nestedFn, PathString(path), "has truth values and others"))
	}
	t, err := tensor.FromScalars(values, s, opts)
	if err != nil {
		tenon.Throw(invalid(nestedFn, PathString(path), "%s", tenon.AsError(err).Msg))
	}
	return t
}

// ToNested returns the records as plain nested data: the reverse of [FromNested].
func (t *Tensor) ToNested() (x any, err error) {
	defer tenon.Catch(&err)
	if t.rank == 0 {
		m := map[string]any{}
		for _, c := range t.cols {
			m[c.name] = plain(c.v)
		}
		return m, nil
	}
	n := known(t.count())
	if n < 0 {
		return nil, symbolic()
	}
	list := make([]any, n)
	for i := range list {
		list[i] = make(map[string]any, len(t.cols))
	}
	for _, c := range t.cols {
		for i, x := range plain(c.v).([]any) {
			list[i].(map[string]any)[c.name] = x
		}
	}
	for k := len(t.parts) - 1; k >= 0; k-- {
		splits, ok := t.parts[k].Splits64()
		if !ok {
			return nil, symbolic()
		}
		rows := make([]any, len(splits)-1)
		for r := range rows {
			rows[r] = list[splits[r]:splits[r+1]:splits[r+1]]
		}
		list = rows
	}
	return list, nil
}

func symbolic() error {
	return &tenon.Error{Kind: tenon.ErrUnsupported, Op: "structured.ToNested", Msg: "the tensor is symbolic: its records do not exist while a function is traced", Line: source.Line()}
}

// plain returns a tensor as nested lists, and a scalar as a Go scalar.
func plain(v tensor.Tensor) any {
	switch x := v.(type) {
	case *Tensor:
		return tenon.Must(x.ToNested())
	case *ragged.Tensor:
		return tenon.Must(x.Nested())
	}
	c, ok := op.Known(v)
	if !ok {
		tenon.Throw(symbolic())
	}
	// One row that holds all elements, read as a ragged tensor's row.
	row := tenon.Must(ragged.FromRowSplits(ops.ExpandDims(c, 0), []int64{0, 1}))
	return tenon.Must(row.Nested())[0].([]any)[0]
}
