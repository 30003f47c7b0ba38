package structured

import (
	"math"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// JoinKind says which records a join keeps.
type JoinKind int

// The kinds of joins.
const (
	// Inner makes a record for each pair of a left and a right record with equal keys.
	Inner JoinKind = iota

	// Left is like Inner, but also keeps left records without a match once, with missing right
	// fields. Right fields are masked, even if there are no such records.
	Left

	// Semi keeps the left records that have a match, once each.
	Semi

	// Anti keeps the left records that have no match.
	Anti

	// Nested keeps each left record once, with the list of its matches as a field.
	Nested
)

// JoinOptions say how to join.
type JoinOptions struct {
	Kind JoinKind

	// On are the paths of the keys in both tensors. If the paths differ, they are given by LeftOn
	// and RightOn instead, in corresponding order.
	On, LeftOn, RightOn []string

	// Suffix is appended to the name of a right field if a left field has the same name. Without a
	// suffix, equal names are an error.
	Suffix string

	// As is the name of the field that a Nested join adds.
	As string

	// MaxBytes limits the memory for the numbers of the matched records, which take 16 bytes per
	// pair. 0 means half of the memory that the system leaves to the process, and at most
	// GOMEMLIMIT.
	MaxBytes int
}

// Join joins the records of t with the records of right that have equal keys. The result has the
// fields of both, except for the right keys. Its order is that of the left records and, for each of
// them, that of the right ones. Keys are as in [Tensor.GroupBy] and must be of the same kind on
// both sides. Numbers of different types are compared in a type that holds both; an integer and a
// floating-point number are compared by their exact values. A missing key matches nothing; NaN
// matches NaN. If there are more pairs than fit in memory, the error, of kind tenon.ErrInvalid,
// gives their number.
func (t *Tensor) Join(right *Tensor, o JoinOptions) *Tensor {
	const fn = "structured.Join"
	t.wantRows(fn)
	right.wantRows(fn)
	leftOn, rightOn := o.keys(fn)
	var left, keys []any
	for i, p := range leftOn {
		left, keys = appendPair(fn, p, rightOn[i], left, keys, t.entry(fn, p), right.entry(fn, rightOn[i]))
	}
	if o.Kind == Semi || o.Kind == Anti { // a single match suffices
		_, first, _ := rows.Group(keys...)
		for i, k := range keys {
			keys[i] = ops.Gather(k, first, 0)
		}
	}
	splits, at := pairs(fn, left, keys, o.MaxBytes)
	lengths := rows.Lengths(splits)
	switch o.Kind {
	case Semi, Anti:
		keep := ops.Greater(lengths, int64(0))
		if o.Kind == Anti {
			keep = ops.LogicalNot(keep)
		}
		return t.Where(keep)
	case Nested:
		if o.As == "" {
			tenon.Throw(invalid(fn, "As", "is empty: a Nested join needs a name for the field that it adds"))
		}
		cols := slices.Clone(t.cols)
		list := grouped(byNumbers(right.cols, at, t.dtype), partitionOf(splits))
		return newTensor(1, t.nrows, nil, addColumn(fn, cols, o.As, withSplits(list, t.dtype)), t.dtype)
	case Inner, Left:
	default:
		tenon.Throw(invalid(fn, "Kind", "is %d, which is not a kind of join", o.Kind))
	}
	var has tensor.Tensor
	if o.Kind == Left {
		full := rows.FromLengths(ops.Maximum(lengths, int64(1)))
		has = ops.Gather(ops.Greater(lengths, int64(0)), rows.RowIDs(full, -1), 0)
		splits = full
	}
	from := rows.RowIDs(splits, -1)
	cols := make([]column, 0, len(t.cols)+len(right.cols))
	for _, c := range takeAll(t.cols, from, 0) {
		c.inner = allPlain
		cols = append(cols, c)
	}
	partners := newPicker(at)
	for _, c := range right.cols {
		if slices.ContainsFunc(rightOn, func(p []string) bool { return len(p) == 1 && p[0] == c.name }) {
			continue
		}
		name := c.name
		if o.Suffix != "" && t.find(name) >= 0 {
			name += o.Suffix
		}
		c = partners.take(c, 0)
		if has != nil {
			c = c.with(spread(c.v(), has))
		}
		if right.dtype != t.dtype {
			c = c.with(withSplits(c.v(), t.dtype))
		}
		c.name, c.inner = name, allPlain
		cols = append(cols, c)
		checkAdded(fn, cols)
	}
	return newTensor(1, sizeOf(from, t.dtype), nil, cols, t.dtype)
}

// keys returns the paths of the keys of both sides.
func (o JoinOptions) keys(fn string) (left, right [][]string) {
	l, r := o.LeftOn, o.RightOn
	if len(o.On) > 0 {
		if len(l) > 0 || len(r) > 0 {
			tenon.Throw(invalid(fn, "On", "is given together with LeftOn or RightOn"))
		}
		l, r = o.On, o.On
	}
	if len(l) == 0 || len(l) != len(r) {
		tenon.Throw(invalid(fn, "", "there are %d keys on the left and %d on the right, want the same number, at least one", len(l), len(r)))
	}
	for i := range l {
		left, right = append(left, fieldPath(fn, l[i])), append(right, fieldPath(fn, r[i]))
	}
	return left, right
}

// pairs lists, for each left row, the right rows with equal keys.
func pairs(fn string, left, right []any, maxBytes int) (splits, at tensor.Tensor) {
	_, err := tenon.Try(func() any { splits, at = rows.MatchWithin(left, right, maxBytes/2); return nil })
	if err != nil {
		e := *tenon.AsError(err)
		e.Op, e.Hint = fn, "a Semi or Anti join needs no pairs; JoinOptions.MaxBytes sets another budget"
		tenon.Throw(&e)
	}
	return splits, at
}

// appendPair appends columns in which entries of both sides are compared. A flag keeps missing
// entries from matching: it is 1 if the entry is present, 0 if it is missing on the left, and 2 if
// it is missing on the right.
func appendPair(fn string, lp, rp []string, left, right []any, a, b tensor.Tensor) (l, r []any) {
	av, am := there(a)
	bv, bm := there(b)
	if _, ok := av.(composite); ok {
		tenon.Throw(noKey(fn, lp, av))
	}
	if _, ok := bv.(composite); ok {
		tenon.Throw(noKey(fn, rp, bv))
	}
	if am != nil || bm != nil {
		la, lb := flag(av, am, 0), flag(bv, bm, 2)
		if am != nil {
			av = cleared(av, am)
		}
		if bm != nil {
			bv = cleared(bv, bm)
		}
		left, right = append(left, la), append(right, lb)
	}
	x, ok := av.(*Tensor)
	y, ok2 := bv.(*Tensor)
	if ok && ok2 && x.rank == 1 && y.rank == 1 {
		if !slices.Equal(x.FieldNames(), y.FieldNames()) {
			tenon.Throw(invalid(fn, PathString(rp), "has the fields %q, %s on the left has %q", y.FieldNames(), PathString(lp), x.FieldNames()))
		}
		for i, c := range x.cols {
			left, right = appendPair(fn, append(slices.Clone(lp), c.name), append(slices.Clone(rp), c.name), left, right, c.v(), y.cols[i].v())
		}
		return left, right
	}
	av, bv = plainKey(fn, lp, av), plainKey(fn, rp, bv)
	if av.DType().IsInteger() && bv.DType().IsFloat() {
		w := wideInteger(av.DType())
		whole, exact := integers(bv, w)
		return append(left, ops.Cast(av, w), allThere(av, 1)), append(right, whole, exact)
	}
	if av.DType().IsFloat() && bv.DType().IsInteger() {
		right, left = appendPair(fn, rp, lp, right, left, bv, av)
		return left, right
	}
	if av.DType() != bv.DType() {
		d, err := dtype.Promote(av.DType(), bv.DType())
		if err != nil || comparisonKind(av.DType()) != comparisonKind(bv.DType()) {
			tenon.Throw(failed(tenon.ErrDType, fn, PathString(rp), "is %v, and %s on the left %v: such values are never equal", bv.DType(), PathString(lp), av.DType()))
		}
		av, bv = ops.Cast(av, d), ops.Cast(bv, d)
	}
	return append(left, av), append(right, bv)
}

// wideInteger returns the 64-bit type that can hold all integers of type d.
func wideInteger(d dtype.DType) dtype.DType {
	if d.IsUnsigned() {
		return dtype.Uint64
	}
	return dtype.Int64
}

// integers converts floating-point numbers to 64-bit integers, and returns which of them are exact.
// The others, which equal no integer, become 0.
func integers(v tensor.Tensor, d dtype.DType) (whole, exact tensor.Tensor) {
	v = ops.Cast(v, dtype.Float64)
	low, high := -math.Ldexp(1, 63), math.Ldexp(1, 63)
	if d == dtype.Uint64 {
		low, high = 0, math.Ldexp(1, 64)
	}
	exact = ops.LogicalAnd(ops.Equal(ops.Floor(v), v), ops.LogicalAnd(ops.GreaterEqual(v, low), ops.Less(v, high)))
	return ops.Cast(ops.Where(exact, v, 0.0), d), exact
}

// plainKey returns a column of keys without a dictionary. It throws an error if the column is not
// one of keys.
func plainKey(fn string, path []string, v tensor.Tensor) tensor.Tensor {
	if d, ok := v.(*Dictionary); ok {
		v = d.Decode()
	}
	if _, ok := v.(optional); !ok {
		appendKeys(fn, path, nil, v)
	}
	return v
}

// flag returns 1 for entries that are present, and another number for missing
// ones.
func flag(v, mask tensor.Tensor, missing int8) tensor.Tensor {
	if mask == nil {
		return ops.Fill(ops.Reshape(sizeOf(v, dtype.Int64), []int{1}), int8(1))
	}
	return ops.Where(mask, int8(1), missing)
}
