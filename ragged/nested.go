package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Slices returns the rows of a tensor with one partition and no inner dimensions as Go slices.
// Except for strings, they share its memory and must not be changed.
func Slices[T dtype.Native](t *Tensor) (rows [][]T, err error) {
	defer tenon.Catch(&err)
	if len(t.parts) != 1 || t.flat.Shape().Rank() != 1 {
		return nil, failed(tenon.ErrShape, "ragged.Slices", "", "%v has more than rows of elements", t.described())
	}
	s, ok := t.parts[0].Splits64()
	if !ok {
		return nil, symbolic("ragged.Slices")
	}
	values := tensor.Data[T](t.flat)
	rows = make([][]T, len(s)-1)
	for r := range rows {
		rows[r] = values[s[r]:s[r+1]:s[r+1]]
	}
	return rows, nil
}

// Slices2 is [Slices] for a tensor with two partitions, which has rows of rows.
func Slices2[T dtype.Native](t *Tensor) (rows [][][]T, err error) {
	defer tenon.Catch(&err)
	if len(t.parts) != 2 {
		return nil, failed(tenon.ErrShape, "ragged.Slices2", "", "%v does not hold rows of rows", t.described())
	}
	all, err := Slices[T](wrap(t.flat, t.parts[1:]))
	if err != nil {
		return nil, inNameOf("ragged.Slices2", err)
	}
	s, ok := t.parts[0].Splits64()
	if !ok {
		return nil, symbolic("ragged.Slices2")
	}
	rows = make([][][]T, len(s)-1)
	for r := range rows {
		rows[r] = all[s[r]:s[r+1]:s[r+1]]
	}
	return rows, nil
}

func symbolic(fn string) error {
	e := failed(tenon.ErrUnsupported, fn, "", "the tensor is symbolic: its rows do not exist while a function is traced")
	e.Hint = "return it from the function, or use control.GoFunc"
	return e
}

// Nested returns the tensor as nested lists: a []any for each dimension, and Go
// scalars of the element type inside the innermost ones.
func (t *Tensor) Nested() (list []any, err error) {
	if _, own := t.flat.(tensor.Plainer); !own { // those have a representation of their own
		if _, ok := op.Known(t.flat); !ok {
			return nil, symbolic("ragged.Nested")
		}
	}
	x, err := t.Plain()
	list, _ = x.([]any)
	return list, err
}
