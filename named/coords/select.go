package coords

import (
	"reflect"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

func by[N named.Is[N]]() named.Dims {
	var n N
	return named.By(any(n).(named.Name))
}

// Select returns the part of an Array at a label along a dimension, which is removed. A label that
// does not exist is an error of kind ErrNotFound.
func Select[N named.Is[N]](a *Array, label any) *Array { return SelectAt(a, by[N](), label) }

// SelectAt is [Select] for a name that is a value.
func SelectAt(a *Array, n named.Name, label any) *Array {
	d := named.By(n)
	p := a.find("coords.Select", d, label)
	return a.with(d.Index(a.t, int(p)))
}

// SelectAll returns the parts of an Array at labels along a dimension, in the order of
// the list.
func SelectAll[N named.Is[N]](a *Array, labels ...any) *Array {
	return SelectAllAt(a, by[N](), labels...)
}

// SelectAllAt is [SelectAll] for a name that is a value.
func SelectAllAt(a *Array, n named.Name, labels ...any) *Array {
	d := named.By(n)
	positions := make([]int64, len(labels))
	for i, l := range labels {
		positions[i] = a.find("coords.SelectAll", d, l)
	}
	return a.take(d, positions)
}

// find returns the position of a label.
func (a *Array) find(fn string, d named.Dims, label any) int64 {
	l := a.labels(fn, d)
	p, ok := l.Position(label)
	if !ok {
		tenon.Throw(tenon.NewError(tenon.ErrNotFound, fn, "no label along "+d.String()+" is "+text(label)).WithHint("there are " + l.String()))
	}
	return int64(p)
}

// take selects positions along a dimension.
func (a *Array) take(d named.Dims, positions []int64) *Array {
	l := a.labels("coords.Select", d)
	index := named.Of(tensor.Of(positions, len(positions)), d)
	return a.with(d.Take(a.t, index), axis{d, l.pick(positions)})
}

// Between returns the parts of an Array whose labels along a dimension are between two labels, both
// included, in their existing order. The bounds need not be labels themselves.
func Between[N named.Is[N]](a *Array, from, to any) *Array { return BetweenAt(a, by[N](), from, to) }

// BetweenAt is [Between] for a name that is a value.
func BetweenAt(a *Array, n named.Name, from, to any) *Array {
	const fn = "coords.Between"
	d := named.By(n)
	l := a.labels(fn, d)
	lo, hi := l.bound(fn, from), l.bound(fn, to)
	var positions []int64
	for i, x := range l.list {
		if compare(lo, x) <= 0 && compare(x, hi) <= 0 {
			positions = append(positions, int64(i))
		}
	}
	return a.take(d, positions)
}

// bound converts a value to a label of the same kind as the others.
func (l *Labels) bound(fn string, x any) any {
	y, err := label(reflect.ValueOf(x))
	tenon.Throw(err)
	if len(l.list) == 0 {
		return y
	}
	_, isText := y.(string)
	if _, texts := l.list[0].(string); isText != texts {
		fail(tenon.ErrDType, fn, "the bound %s is not of the kind of the labels %v", text(y), l)
	}
	return y
}

// compare orders two strings, or two numbers.
func compare(a, b any) int {
	if x, ok := a.(string); ok {
		return order(x, b.(string))
	}
	x, ok := a.(int64)
	if y, both := b.(int64); ok && both {
		return order(x, y)
	}
	p, _ := number(a)
	q, _ := number(b)
	return order(p, q)
}

func order[T string | int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// SortBy returns an Array sorted by the labels along a dimension in ascending
// order.
func SortBy[N named.Is[N]](a *Array) *Array { return SortByAt(a, by[N]()) }

// SortByAt is [SortBy] for a name that is a value.
func SortByAt(a *Array, n named.Name) *Array {
	d := named.By(n)
	l := a.labels("coords.SortBy", d)
	positions := make([]int64, l.Len())
	for i := range positions {
		positions[i] = int64(i)
	}
	slices.SortFunc(positions, func(i, j int64) int { return compare(l.list[i], l.list[j]) })
	return a.take(d, positions)
}

// Reindex returns an Array with the given labels along a dimension: the parts of a for labels that
// it has, and fill for others.
func Reindex[N named.Is[N]](a *Array, labels *Labels, fill any) *Array {
	return a.reindex(by[N](), labels, fill)
}

// ReindexAt is [Reindex] for a name that is a value.
func ReindexAt(a *Array, n named.Name, labels *Labels, fill any) *Array {
	return a.reindex(named.By(n), labels, fill)
}

func (a *Array) reindex(d named.Dims, labels *Labels, fill any) *Array {
	own := a.labels("coords.Reindex", d)
	if own.Equal(labels) {
		return a
	}
	positions, there := make([]int64, labels.Len()), make([]bool, labels.Len())
	all := true
	for i, x := range labels.list {
		p, ok := own.Position(x)
		positions[i], there[i] = int64(p), ok
		all = all && ok
	}
	at := axis{d, labels}
	if own.Len() == 0 {
		rest := named.Full(fill, sizedAs(a.t, d, labels.Len())...)
		return a.with(named.Cast(rest, a.t.DType()), at)
	}
	t := d.Take(a.t, named.Of(tensor.Of(positions, len(positions)), d))
	if !all {
		t = named.Where(named.Of(tensor.Of(there, len(there)), d), t, fill)
	}
	return a.with(t, at)
}

// sizedAs returns the dimensions of t, with another size along one.
func sizedAs(t *named.Tensor, d named.Dims, n int) []named.Sized {
	var out []named.Sized
	for _, m := range t.Dims().Names() {
		if named.By(m) == d {
			out = append(out, m.Of(n))
		} else {
			out = append(out, m.Of(t.Size(m)))
		}
	}
	return out
}

// Concat concatenates Arrays along a dimension, with their labels, which must all be different.
func Concat[N named.Is[N]](arrays ...*Array) *Array { return ConcatAt(by[N](), arrays...) }

// ConcatAt is [Concat] for a name that is a value.
func ConcatAt(n named.Name, arrays ...*Array) *Array {
	d := named.By(n)
	if len(arrays) == 0 {
		fail(tenon.ErrInvalid, "coords.Concat", "there are no Arrays")
	}
	var labels []any
	ts := make([]tenon.Value, len(arrays))
	for i, a := range arrays {
		labels = append(labels, a.labels("coords.Concat", d).list)
		ts[i] = a.t
	}
	return arrays[0].with(d.Concat(ts...), axis{d, tenon.Must(NewLabels(labels...))})
}

// HandleOp answers elementwise operations, which match positions by label, and all others that
// named tensors support without changing dimensions.
func (a *Array) HandleOp(c *op.Call) ([]tenon.Value, error) { return handle(c) }
