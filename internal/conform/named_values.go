package main

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
)

func init() {
	cases.HandleKind("named", cases.Kind{
		Decode:  func(_ *cases.Case, o cases.Object) (any, error) { return namedValue(o) },
		Compare: compareNamed,
	})
}

// namedValue returns the tensor that is written, whose names are dynamic.
func namedValue(o cases.Object) (t *named.Tensor, err error) {
	defer tenon.Catch(&err)
	dims, err := sized(cases.Plain(o["dims"]))
	if err != nil {
		return nil, err
	}
	names, sizes := make([]named.Name, len(dims)), make([]int, len(dims))
	for i, d := range dims {
		names[i], sizes[i] = d.Name(), d.Size()
	}
	data := cases.As[[]any](o["data"])
	x := cases.Dense(cases.DType(o["dtype"]), shape.Of(len(data)), data)
	return named.Of(ops.Reshape(x, sizes), names...), nil
}

// sized returns a list of pairs of a name and a size.
func sized(x any) (dims []named.Sized, err error) {
	defer tenon.Catch(&err)
	for _, p := range cases.List[any](x) {
		pair := cases.List[any](p)
		dims = append(dims, named.Dynamic(cases.As[string](pair[0])).Of(cases.As[int](pair[1])))
	}
	return dims, nil
}

// dims returns names as a list.
func dims(names []string) named.Dims {
	out := make([]named.Name, len(names))
	for i, n := range names {
		out[i] = named.Dynamic(n)
	}
	return named.By(out...)
}

// compareNamed compares up to the order of the dimensions, unless the case says
// otherwise.
func compareNamed(m *cases.Matcher, want cases.Object, got any) error {
	w, err := namedValue(want)
	if err != nil {
		return err
	}
	g, ok := got.(*named.Tensor)
	if !ok {
		return fmt.Errorf("got a %T, want a named tensor", got)
	}
	if m.Case.AttrBool("ordered", false) && g.Dims() != w.Dims() {
		return fmt.Errorf("got the order {%v}, want {%v}", g.Dims(), w.Dims())
	}
	g, err = tenon.Try(func() *named.Tensor { return named.Order(g, w.Dims()) })
	if err != nil {
		return err
	}
	return m.MatchDense(named.Unnamed(w, w.Dims()), named.Unnamed(g, w.Dims()))
}
