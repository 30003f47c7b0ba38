package ragged

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	handle(onFirst(reduceJoin), "strings.reduce_join")       // axes are joined in the order in which they are named
	handle(onFirst(unicodeEncode), "strings.unicode_encode") // the innermost rows are the operand of row splits
}

// pieces gives each string of x the row of values that f makes from it. The result is a vector for
// a scalar, and otherwise has one more ragged dimension than x.
func pieces(x any, f func(flat tensor.Tensor) (values, splits tensor.Tensor)) (y tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	t := tenon.Must(tensor.Convert(x))
	if rankOf(t) == 0 {
		values, _ := f(t)
		return values, nil
	}
	flat, parts := split(atLeast(t, rankOf(t)-1))
	values, splits := f(flat)
	if len(parts) > 0 {
		splits = cast(splits, parts[0].DType())
	}
	return under(parts, newPartition(splits, values.Shape().Dim(0)), values), nil
}

// SplitStrings splits each string into pieces; see ops.StringSplit.
//
//	x: string[n…] → string[n…, (pieces)]
func SplitStrings(x any, o ops.SplitOptions) (tensor.Tensor, error) {
	return pieces(x, func(flat tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return ops.StringSplit(flat, o) })
}

// SplitBytes returns the bytes of each string, each as a string.
//
//	x: string[n…] → string[n…, (bytes)]
func SplitBytes(x any) (tensor.Tensor, error) {
	return pieces(x, func(flat tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return ops.StringBytes(flat) })
}

// SplitChars returns the characters of each string, each as a string in UTF-8; see
// ops.StringChars.
//
//	x: string[n…] → string[n…, (characters)]
func SplitChars(x any, from string, o ops.UnicodeOptions) (tensor.Tensor, error) {
	return pieces(x, func(flat tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		chars, splits, _ := ops.StringChars(flat, from, o)
		return chars, splits
	})
}

// DecodeStrings returns the code points of each string; see ops.StringDecode.
//
//	x: string[n…] → int32[n…, (characters)]
func DecodeStrings(x any, from string, o ops.UnicodeOptions) (tensor.Tensor, error) {
	return pieces(x, func(flat tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		codes, splits, _ := ops.StringDecode(flat, from, o)
		return codes, splits
	})
}

// DecodeStringsWithOffsets is [DecodeStrings] that also returns the position of each character's
// first byte in its string.
func DecodeStringsWithOffsets(x any, from string, o ops.UnicodeOptions) (codes, offsets tensor.Tensor, err error) {
	var at tensor.Tensor
	codes, err = pieces(x, func(flat tensor.Tensor) (values, splits tensor.Tensor) {
		values, splits, at = ops.StringDecode(flat, from, o)
		return values, splits
	})
	if err != nil {
		return nil, nil, err
	}
	if r, ok := codes.(*Tensor); ok {
		return codes, r.with(at), nil
	}
	return codes, at, nil
}

// mappedList joins the strings of several tensors element by element.
func mappedList(c *op.Call) ([]tenon.Value, error) {
	ts, err := tensorsOf(c, 0)
	if err != nil {
		return nil, err
	}
	parts, flats := align(c.Op.Func(), ts)
	return op.One(build(op.Eval(c.Op, flats, c.Args[1]), parts))
}

// reduceJoin joins the strings along axes. Several axes are joined one after the other, starting
// with the one named last; if none is named, all strings are joined in memory order, so that empty
// rows leave no separators.
func reduceJoin(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	sep, _ := c.Attr("separator").(string)
	named, _ := c.Attr("axis").([]int)
	if keep, _ := c.Attr("keepdims").(bool); len(named) == 1 && !keep {
		return op.One(joinedAlong(x, axisOf(c, x), sep))
	}
	sorted := axesOf(c, x)
	out := tensor.Tensor(x)
	if named == nil {
		sorted = all(x.rank())
		out = ops.StringReduceJoin(x.flat, sep)
	}
	order := make([]int, len(named))
	for i, a := range named {
		if order[i] = a; a < 0 {
			order[i] += x.rank()
		}
	}
	for i := len(order) - 1; i >= 0; i-- {
		a := order[i]
		for _, done := range order[i+1:] {
			if done < order[i] {
				a--
			}
		}
		out = joinedAlong(out, a, sep)
	}
	if keep, _ := c.Attr("keepdims").(bool); keep {
		for _, a := range slices.Sorted(slices.Values(sorted)) {
			out = ops.ExpandDims(out, a)
		}
	}
	return op.One(out)
}

// joinedAlong joins the strings along one axis.
func joinedAlong(x tensor.Tensor, a int, sep string) tensor.Tensor {
	t, ok := x.(*Tensor)
	if !ok {
		return ops.StringReduceJoin(x, sep, a)
	}
	if k := len(t.parts); a > k {
		return t.with(ops.StringReduceJoin(t.flat, sep, a-k))
	}
	s := t.segments(a)
	return s.build(s.reduce(t.flat, func(v, splits tensor.Tensor) tensor.Tensor { return rows.ReduceJoin(v, splits, sep) }, ""))
}

// nGrams returns the n-grams of each innermost row.
func nGrams(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	if x.flat.Shape().Rank() != 1 {
		return op.One(x.with(op.Apply(c, x.flat)))
	}
	k := len(x.parts) - 1
	out := rows.Of(c.Op).ApplyN(c, x.flat, x.parts[k].RowSplits())
	return op.One(under(x.parts[:k], newPartition(out[1], out[0].Shape().Dim(0)), out[0]))
}

// unicodeEncode encodes each innermost row of code points as a string.
func unicodeEncode(c *op.Call, x *Tensor) ([]tenon.Value, error) {
	if x.flat.Shape().Rank() != 1 {
		return op.One(x.with(op.Apply(c, x.flat)))
	}
	k := len(x.parts) - 1
	a := c.Args[2:]
	out := op.Eval(c.Op, x.flat, x.parts[k].RowSplits(), a[0], a[1], a[2], a[3])
	return op.One(build(out, x.parts[:k]))
}
