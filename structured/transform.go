package structured

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// WithShapeDType returns the tensor with row splits and sizes of type Int64 or
// Int32, in all fields.
func (t *Tensor) WithShapeDType(d dtype.DType) (out *Tensor, err error) {
	defer tenon.Catch(&err)
	if d != dtype.Int64 && d != dtype.Int32 {
		return nil, invalid("structured.WithShapeDType", "", "sizes are int64 or int32, not %v", d)
	}
	if d == t.dtype {
		return t, nil
	}
	cols := eachColumn(t.cols, func(v tensor.Tensor) tensor.Tensor { return withSplits(v, d) })
	nrows := t.nrows
	if nrows != nil {
		nrows = ops.Cast(nrows, d)
	}
	return newTensor(t.rank, nrows, withDType(t.parts, d), cols, d), nil
}

// withDType returns partitions with splits of a type, which must be able to hold them.
func withDType(parts []*ragged.RowPartition, d dtype.DType) []*ragged.RowPartition {
	out := make([]*ragged.RowPartition, len(parts))
	for i, p := range parts {
		out[i] = tenon.Must(p.WithDType(d))
	}
	return out
}

// MergeDims merges the dimensions of the records from outer to inner, both included, into one.
// Negative numbers count from the end.
func (t *Tensor) MergeDims(outer, inner int) (out *Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "structured.MergeDims"
	a, b := outer, inner
	if a < 0 {
		a += t.rank
	}
	if b < 0 {
		b += t.rank
	}
	if a < 0 || b < a || b >= t.rank {
		return nil, invalid(fn, "", "there are no dimensions from %d to %d in records of rank %d", outer, inner, t.rank)
	}
	if a == b {
		return t, nil
	}
	if a == 0 {
		return newTensor(t.rank-b, t.parts[b-1].NVals(), t.parts[b:], t.cols, t.dtype), nil
	}
	at := tenon.Must(ragged.MergeDims(t.Numbers(), a, b))
	return byNumbers(t.cols, at, t.dtype), nil
}

// PartitionOuterDimension divides the rows according to a partition, which
// becomes the outermost dimension.
func (t *Tensor) PartitionOuterDimension(p *ragged.RowPartition) (out *Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "structured.PartitionOuterDimension"
	if p == nil {
		return nil, invalid(fn, "", "the partition is nil")
	}
	if t.rank == 0 {
		return nil, invalid(fn, "", "a single record has no rows to divide")
	}
	d := t.dtype
	if p.DType() == dtype.Int64 {
		d = dtype.Int64
	}
	s := tenon.Must(t.WithShapeDType(d))
	p = tenon.Must(p.WithDType(d))
	if n, m := known(p.NVals()), known(s.nrows); n >= 0 && m >= 0 && n != m {
		return nil, invalid(fn, "", "the partition divides %d rows, there are %d", n, m)
	}
	return newTensor(s.rank+1, nil, append([]*ragged.RowPartition{p}, s.parts...), s.cols, d), nil
}

// Promote returns the tensor with the field at a path copied to its grandparent
// under a new name. The dimensions that the parent has but the grandparent lacks
// are merged, so that a record gets the values of all its children.
func (t *Tensor) Promote(path []string, name string) (out *Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "structured.Promote"
	if len(path) < 2 {
		return nil, invalid(fn, PathString(path), "a path to promote must have at least two names")
	}
	above := tenon.Must(t.Field(path[:len(path)-2]...))
	parent := tenon.Must(t.Field(path[:len(path)-1]...))
	v := tenon.Must(t.Field(path...))
	lo, _ := recordRank(above)
	hi, _ := recordRank(parent)
	if hi = min(hi, v.Shape().Rank()-1); hi > lo {
		v = merged(v, lo, hi)
	}
	return t.WithUpdates([]Update{{Path: append(slices.Clone(path[:len(path)-2]), name), Value: v}})
}

// merged merges dimensions of a field of any kind into one.
func merged(v tensor.Tensor, lo, hi int) tensor.Tensor {
	if m, ok := v.(optional); ok {
		if m.Mask().Shape().Rank() <= lo {
			return hidden(merged(m.Values(), lo, hi), m.Mask())
		}
		v = covering(v, hi+1)
	}
	if out, ok := eachPiece(v, func(x tensor.Tensor) tensor.Tensor { return merged(x, lo, hi) }); ok {
		return out
	}
	if s, ok := v.(*Tensor); ok {
		return tenon.Must(s.MergeDims(lo, hi))
	}
	return tenon.Must(ragged.MergeDims(v, lo, hi))
}

// An Update changes the field at a path: to a value, or to the result of a function of the old one.
// If neither is set, the field is deleted.
type Update struct {
	Path  []string
	Value tensor.Tensor
	Func  func(old tensor.Tensor) (tensor.Tensor, error)

	repeats bool // Value is a scalar for all records
}

// WithUpdates returns the tensor with fields set, changed and deleted. Fields that no update names
// are shared. The records' dimensions are unchanged: a value that does not have them is an error,
// and so is a path that leads through that of another update.
func (t *Tensor) WithUpdates(updates []Update) (out *Tensor, err error) {
	defer tenon.Catch(&err)
	const fn = "structured.WithUpdates"
	for i, u := range updates {
		if len(u.Path) == 0 {
			return nil, invalid(fn, PathString(u.Path), "is not a path to a field")
		}
		for _, w := range updates[:i] {
			n := min(len(u.Path), len(w.Path))
			if slices.Equal(u.Path[:n], w.Path[:n]) {
				return nil, invalid(fn, PathString(u.Path), "is updated together with %s", PathString(w.Path))
			}
		}
	}
	return t.updated(fn, updates, 0), nil
}

// updated applies updates whose paths below depth start at t.
func (t *Tensor) updated(fn string, updates []Update, depth int) *Tensor {
	cols := slices.Clone(t.cols)
	done := map[string]bool{}
	for _, u := range updates {
		name := u.Path[depth]
		k := findColumn(cols, name)
		if len(u.Path) > depth+1 {
			if done[name] {
				continue
			}
			done[name] = true
			var below []Update
			for _, w := range updates {
				if w.Path[depth] == name {
					below = append(below, w)
				}
			}
			if k < 0 {
				tenon.Throw(invalid(fn, PathString(u.Path), "there is no field %q", name))
			}
			v := inRecords(t.field(cols[k]), func(s *Tensor) *Tensor { return s.updated(fn, below, depth+1) })
			if v == nil {
				tenon.Throw(invalid(fn, PathString(u.Path), "%q is not a structured field", name))
			}
			cols[k] = columnOf(fn, Field{name, v}, t.rank, t, t.dtype)
			continue
		}
		v := u.Value
		if v == nil && k < 0 {
			tenon.Throw(invalid(fn, PathString(u.Path), "there is no such field"))
		}
		if v == nil && u.Func == nil {
			cols = slices.Delete(cols, k, k+1)
			continue
		}
		if v == nil {
			v = tenon.Must(u.Func(t.field(cols[k])))
		}
		tenon.Throw(checkNames(fn, []Field{{name, v}}, false))
		var c column
		if u.repeats && t.rank > 0 {
			all := ops.Fill(ops.ExpandDims(ops.Cast(t.count(), dtype.Int64), 0), int64(0))
			c = column{name: name, now: gatherRows(lift(v), all), inner: allPlain}
		} else {
			c = columnOf(fn, Field{name, v}, t.rank, t, t.dtype)
		}
		if k < 0 {
			cols = append(cols, c)
		} else {
			cols[k] = c
		}
	}
	return newTensor(t.rank, t.nrows, t.parts, cols, t.dtype)
}
