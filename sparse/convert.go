package sparse

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// DenseOptions says what a dense tensor has where the sparse one has no value. The zero value means
// zero, or the empty string.
type DenseOptions struct {
	Default any // a scalar
}

// ToDense returns the dense tensor. Numbers at the same coordinates are added; of other elements
// the last one is kept.
func (t *Tensor) ToDense(o DenseOptions) (d tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return t.dense(o.Default), nil
}

func (t *Tensor) dense(def any) tensor.Tensor {
	d := t.DType()
	if d == dtype.Bool || d == dtype.String {
		// Values are looked up by position, starting with 1.
		zeros := ops.Fill(t.denseShape, int64(0))
		at := ops.TensorScatterUpdate(zeros, t.indices, ops.Add(numbers(t.values), int64(1)))
		if def == nil && d == dtype.Bool {
			def = false
		} else if def == nil {
			def = ""
		}
		first := ops.Reshape(tenon.Must(tensor.Convert(def)), []int{1})
		return ops.Gather(ops.Concat([]tensor.Tensor{first, t.values}, 0), at, 0)
	}
	sum := ops.ScatterND(t.indices, t.values, t.denseShape)
	if def == nil {
		return sum
	}
	there := ops.Greater(ops.ScatterND(t.indices, ops.Ones(dtype.Int64, ops.Shape(t.values)), t.denseShape), 0)
	return ops.Where(there, sum, def)
}

// FromDense returns the elements of x that are not zero or empty, in row-major order.
func FromDense(x any) (t *Tensor, err error) {
	defer tenon.Catch(&err)
	d := tenon.Must(tensor.Convert(x))
	there := d
	if d.DType() == dtype.String {
		there = ops.NotEqual(d, "")
	}
	at := ops.Nonzero(there)
	t = trusted(at, ops.GatherND(d, at, 0), ops.Shape(d), d.Shape())
	t.canonical = d.Shape().Rank() > 0
	return t, nil
}

// FromRagged returns a ragged matrix as a sparse one, with as many columns as its
// longest row.
//
//	x: [n, (row)] → sparse [n, longest]
func FromRagged(x *ragged.Tensor) (t *Tensor, err error) {
	defer tenon.Catch(&err)
	indices, values, sizes, err := x.ToSparse()
	tenon.Throw(err)
	t = trusted(indices, values, sizes, shape.OfRank(sizes.Shape().Dim(0)))
	t.canonical = true
	return t, nil
}

// ToRagged returns the values of each row of a matrix, ordered by column, as a ragged tensor. The
// column numbers are lost.
//
//	t: [n, m] → [n, (values)]
func (t *Tensor) ToRagged() (r *ragged.Tensor, err error) {
	defer tenon.Catch(&err)
	if t.rank() != 2 {
		return nil, bad("ToRagged", tenon.ErrShape, "", "%v is not a matrix", t.spec)
	}
	s := t.sorted()
	return ragged.FromValueRowIDs(s.values, s.column(0), s.size(0))
}

// Eye returns a matrix with ones on its diagonal. It need not be square.
func Eye(d dtype.DType, rows, columns int) (t *Tensor, err error) {
	defer tenon.Catch(&err)
	if rows < 0 || columns < 0 {
		return nil, bad("Eye", tenon.ErrInvalid, "", "%d × %d is not a valid size of a matrix", rows, columns)
	}
	n := min(rows, columns)
	at, xs := tensor.Make[int64](shape.Of(n, 2))
	for i := range xs {
		xs[i] = int64(i / 2)
	}
	t = trusted(at, ops.Ones(d, []int{n}), tensor.Vector([]int64{int64(rows), int64(columns)}), shape.Of(rows, columns))
	t.canonical = true
	return t, nil
}
