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
	// Inner makes a record of each pair of a left and a right record with equal keys.
	Inner JoinKind = iota

	// Left is Inner, and keeps a left record without a partner once: the right fields
	// are missing there. They are masked, whether or not there is such a record.
	Left

	// Semi keeps the left records that have a partner, once each.
	Semi

	// Anti keeps the left records that have none.
	Anti

	// Nested keeps each left record once, with the list of its partners as a field.
	Nested
)

// JoinOptions say how to join.
type JoinOptions struct {
	Kind JoinKind

	// On are the paths of the keys, in both tensors. Where they differ, LeftOn and
	// RightOn have them one by one.
	On, LeftOn, RightOn []string

	// Suffix is added to the name of a right field that a left one has too. Without one
	// that is an error.
	Suffix string

	// As is the name of the field that a Nested join adds.
	As string

	// MaxBytes is how much memory the numbers of the records that are paired may take, 16
	// bytes a pair. 0: half of what the system leaves the process, GOMEMLIMIT at most.
	MaxBytes int
}

// Join returns the records of t together with the records of right that have equal
// keys: with the fields of both, but for the right keys. The order is that of the left
// records, and for each that of the right ones. Keys are as in [Tensor.GroupBy], of one
// kind on both sides; numbers of different types are compared in the type that holds
// both, an integer with a floating number by their exact values. What is missing equals nothing; NaN equals NaN. More pairs than memory should hold
// are an error of kind tenon.ErrInvalid that tells how many there are.
func (t *Tensor) Join(right *Tensor, o JoinOptions) *Tensor {
	const fn = "structured.Join"
	t.wantRows(fn)
	right.wantRows(fn)
	leftOn, rightOn := o.keys(fn)
	left, keys := matchedKeys(fn, t, right, leftOn, rightOn)
	if o.Kind == Semi || o.Kind == Anti { // one partner will do
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
		tenon.Throw(invalid(fn, "Kind", "is %d, which is no kind of join", o.Kind))
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
			tenon.Throw(invalid(fn, "On", "is given beside LeftOn or RightOn"))
		}
		l, r = o.On, o.On
	}
	if len(l) == 0 || len(l) != len(r) {
		tenon.Throw(invalid(fn, "", "there are %d keys on the left and %d on the right, want as many, at least one", len(l), len(r)))
	}
	for i := range l {
		left, right = append(left, fieldPath(fn, l[i])), append(right, fieldPath(fn, r[i]))
	}
	return left, right
}

// pairs lists for each left row the right rows with equal keys.
func pairs(fn string, left, right []any, maxBytes int) (splits, at tensor.Tensor) {
	_, err := tenon.Try(func() any { splits, at = rows.MatchWithin(left, right, maxBytes/2); return nil })
	if err != nil {
		e := *tenon.AsError(err)
		e.Op, e.Hint = fn, "a Semi or Anti join needs no pairs; JoinOptions.MaxBytes sets another budget"
		tenon.Throw(&e)
	}
	return splits, at
}

// matchedKeys returns the columns in which rows of both sides have to be equal.
func matchedKeys(fn string, l, r *Tensor, leftOn, rightOn [][]string) (left, right []any) {
	for i := range leftOn {
		a, b := l.entry(fn, leftOn[i]), r.entry(fn, rightOn[i])
		left, right = appendPair(fn, leftOn[i], rightOn[i], left, right, a, b)
	}
	return left, right
}

// appendPair appends the columns in which entries of both sides are equal. Those of
// entries that are missing differ: 1 is there, 0 is missing on the left and 2 on the right.
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
			e := invalid(fn, PathString(rp), "is %v, and %s on the left %v: no values of these are equal", bv.DType(), PathString(lp), av.DType())
			e.Kind = tenon.ErrDType
			tenon.Throw(e)
		}
		av, bv = ops.Cast(av, d), ops.Cast(bv, d)
	}
	return append(left, av), append(right, bv)
}

// wideInteger returns the 64-bit type that holds all integers of a type.
func wideInteger(d dtype.DType) dtype.DType {
	if d.IsUnsigned() {
		return dtype.Uint64
	}
	return dtype.Int64
}

// integers returns floating numbers as integers of 64 bits, and which of them these are
// exactly: no integer equals the others, which are 0.
func integers(v tensor.Tensor, d dtype.DType) (whole, exact tensor.Tensor) {
	v = ops.Cast(v, dtype.Float64)
	low, high := -math.Ldexp(1, 63), math.Ldexp(1, 63)
	if d == dtype.Uint64 {
		low, high = 0, math.Ldexp(1, 64)
	}
	exact = ops.LogicalAnd(ops.Equal(ops.Floor(v), v), ops.LogicalAnd(ops.GreaterEqual(v, low), ops.Less(v, high)))
	return ops.Cast(ops.Where(exact, v, 0.0), d), exact
}

// plainKey returns a column of keys without a dictionary; it throws where it is none.
func plainKey(fn string, path []string, v tensor.Tensor) tensor.Tensor {
	if d, ok := v.(*Dictionary); ok {
		v = d.Decode()
	}
	if _, ok := v.(optional); !ok {
		appendKeys(fn, path, nil, v)
	}
	return v
}

// flag returns 1 for each entry that is there and another number for the others.
func flag(v, mask tensor.Tensor, missing int8) tensor.Tensor {
	if mask == nil {
		return ops.Fill(ops.Reshape(sizeOf(v, dtype.Int64), []int{1}), int8(1))
	}
	return ops.Where(mask, int8(1), missing)
}
