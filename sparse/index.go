package sparse

import (
	"math"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// picked returns the slice at one position of an axis, without the axis.
func (t *Tensor) picked(a, at int) *Tensor {
	if n := t.dim(a); n >= 0 {
		if at < -n || at >= n {
			tenon.Throw(bad("Index", tenon.ErrRange, "", "position %d is out of range for an axis of size %d", at, n))
		}
		at = (at + n) % n
	} else if at < 0 {
		tenon.Throw(bad("Index", tenon.ErrUnsupported, "", "%d counts from the end of an axis of unknown size", at))
	}
	r := t.ranged(a, at, at+1)
	return r.squeezed([]int{a})
}

// indexed returns what keys select; ok is false if one of them is not supported.
func (t *Tensor) indexed(keys []key.Key) (*Tensor, bool) {
	keys = tenon.Must(key.Expand(keys, t.rank()))
	a := 0
	for _, k := range keys {
		switch k.Kind {
		case key.AtKind:
			at, known, err := k.Position(t.dim(a))
			tenon.Throw(err)
			if !known { // a position out of range then selects no values
				n, ok := k.Start.(int)
				if !ok || n < 0 {
					return nil, false
				}
				at = n
			}
			t = t.picked(a, at)
		case key.RangeKind:
			if k.IsAll() {
				a++
				continue
			}
			first, count, step, known, err := k.Span(t.dim(a))
			tenon.Throw(err)
			if !known {
				lo, hi, ok := plainRange(k)
				if !ok {
					return nil, false
				}
				t = t.ranged(a, lo, hi)
			} else {
				t = t.strided(a, first, count, step)
			}
			a++
		case key.NewAxisKind:
			t = t.expanded(a)
			a++
		case key.ByKind:
			by, ok := k.Value.(tensor.Tensor)
			if !ok || by.Shape().Rank() != 1 {
				return nil, false
			}
			if by.DType() == dtype.Bool {
				by = ops.Reshape(ops.Nonzero(by), []int{-1})
			}
			t = t.gathered(a, by)
			a++
		default:
			return nil, false
		}
	}
	return t, true
}

// plainRange returns the bounds of a range that do not count from the end.
func plainRange(k key.Key) (lo, hi int, ok bool) {
	hi = math.MaxInt
	if k.Step != nil && k.Step != any(1) {
		return 0, 0, false
	}
	if k.Start != nil {
		if lo, ok = k.Start.(int); !ok || lo < 0 {
			return 0, 0, false
		}
	}
	if k.Stop != nil {
		if hi, ok = k.Stop.(int); !ok || hi < 0 {
			return 0, 0, false
		}
	}
	return lo, max(lo, hi), true
}

// strided returns count positions of an axis, starting at first.
func (t *Tensor) strided(a, first, count, step int) *Tensor {
	if step == 1 {
		return t.ranged(a, first, first+count)
	}
	from := ops.Sub(t.column(a), int64(first))
	number := ops.FloorDiv(from, int64(step))
	inside := ops.LogicalAnd(ops.Equal(ops.Mod(from, int64(step)), int64(0)),
		ops.LogicalAnd(ops.GreaterEqual(number, int64(0)), ops.Less(number, int64(count))))
	r := t.retained(inside)
	columns, ns := r.parts()
	columns[a], ns[a] = ops.BooleanMask(number, inside, 0), count
	out := t.build(columns, r.values, ns).sorted()
	out.canonical = t.canonical
	return out
}

// gathered returns the slices of an axis at the given positions, a vector, which may contain
// repetitions.
func (t *Tensor) gathered(a int, at tensor.Tensor) *Tensor {
	if at.Shape().Rank() != 1 || !at.DType().IsInteger() {
		tenon.Throw(bad("Gather", tenon.ErrShape, "positions", "are %v%v, want a vector of integers", at.DType(), at.Shape()))
	}
	if known, ok := op.Ints(at); ok && t.dim(a) >= 0 {
		n := t.dim(a)
		for i, x := range known {
			if x < -n || x >= n {
				tenon.Throw(bad("Gather", tenon.ErrInvalid, "positions", "position %d is %d, the size is %d", i, x, n))
			}
		}
	}
	at = ops.Cast(at, dtype.Int64)
	at = ops.Where(ops.Less(at, int64(0)), ops.Add(at, scalarOf(t.size(a))), at)
	splits, index := rows.Match([]any{at}, []any{t.column(a)})
	columns, ns := t.parts()
	for b := range columns {
		if b == a {
			columns[b] = rows.RowIDs(splits, shape.Unknown)
		} else {
			columns[b] = ops.Gather(columns[b], index, 0)
		}
	}
	ns[a] = length(at)
	r := t.build(columns, ops.Gather(t.values, index, 0), ns).sorted()
	r.canonical = t.canonical
	return r
}
