package ops

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// vjpAttentionGrad is the gradient of attention's gradient with respect to query, key, value and
// cotangent. It consists of matrix products, which have gradients themselves, so that derivatives
// of any order exist; all scores are in memory. With s = scale·q·k, p its softmax, dp = ct·v and ds
// = p·(dp - Σ p·dp), the gradients are scale·ds·k, scale·ds·q and p·ct.
func vjpAttentionGrad(c *op.Call, _, u []tensor.Tensor) []tensor.Tensor {
	a, err := attendingOf(c, 4)
	if err == nil && a == nil {
		err = c.Errorf(tenon.ErrUnsupported, "the second derivative needs to know the ranks")
	}
	tenon.Throw(err)
	var operands [4]laidOut
	for i := range operands {
		operands[i] = a.laidOut(c.Tensor(i), i)
	}
	rows := a.rows(c)
	cotangent := func(i int) tensor.Tensor { // nil for a gradient that is not used
		if u[i] == nil {
			return ZerosLike(operands[i].x)
		}
		return a.laidOut(u[i], i).x
	}
	fill := func(i int, x tensor.Tensor) tensor.Tensor { return rows.fill(x, i == 1 || i == 2) }
	factor := a.factor(c)
	q, k, v, g := Mul(fill(0, operands[0].x), factor), fill(1, operands[1].x), fill(2, operands[2].x), fill(3, operands[3].x)
	uq, uk, uv := Mul(fill(0, cotangent(0)), factor), fill(1, cotangent(1)), fill(2, cotangent(2))

	times := func(x, y tensor.Tensor) tensor.Tensor { return MatMulT(x, y, false, true) }
	p := times(q, k)
	if seen := a.seen(c, q, k, rows); seen != nil {
		p = seenWeights(p, seen)
	} else {
		p = Softmax(p, -1)
	}
	through := func(x tensor.Tensor) tensor.Tensor { return Mul(p, Sub(x, SumKeep(Mul(p, x), -1))) }
	dp := times(g, v)
	r := Add(times(uq, k), times(q, uk)) // the cotangent of ds
	gp := Add(times(g, uv), Sub(Mul(r, Sub(dp, SumKeep(Mul(p, dp), -1))), Mul(dp, SumKeep(Mul(p, r), -1))))
	ds, gs, gdp := through(dp), through(gp), through(r)

	give := func(i int, x tensor.Tensor) tensor.Tensor {
		return operands[i].back(sumTo(rows.items(x, len(a.batch), i == 1 || i == 2), operands[i].x))
	}
	return []tensor.Tensor{
		give(0, Mul(Add(MatMul(ds, uk), MatMul(gs, k)), factor)),
		give(1, Add(MatMulT(ds, uq, true, false), MatMulT(gs, q, true, false))),
		give(2, MatMulT(gdp, g, true, false)),
		give(3, Add(MatMul(p, uv), MatMul(gdp, v))),
	}
}

// factor returns the factor of the scores in the operands' element type.
func (a *attending) factor(c *op.Call) tensor.Tensor {
	d := c.Tensor(0).DType()
	if n := a.product(a.depth); c.Float(a.at+8) != 0 || n >= 0 {
		return Cast(a.scale, d)
	}
	sizes := Shape(c.Tensor(0))
	n := Cast(1, dtype.Int64)
	for _, l := range a.depth {
		n = Mul(n, Cast(Index(sizes, slices.Index(a.labels[0], l)), dtype.Int64))
	}
	return Rsqrt(Cast(Maximum(n, 1), d))
}

// A laidOut is an operand as [batch..., items, features].
type laidOut struct {
	x      tensor.Tensor
	turned tensor.Tensor // before axes were added and merged
	order  []int         // the operand's axes in turned
}

func (a *attending) laidOut(x tensor.Tensor, i int) laidOut {
	labels, item, features := a.labels[i], queryLabel, a.depth
	switch i {
	case 1:
		item = keyLabel
	case 2:
		item, features = keyLabel, a.width
	case 3:
		labels, features = a.labels[resultAt], a.width
	}
	l := a.aligned(x, labels, slices.Concat(a.batch, []int{item}, features))
	switch len(features) {
	case 0:
		l.x = ExpandDims(l.x, -1)
	case 1:
	default:
		n := len(a.batch) + 1
		size := int64(a.product(features))
		if size < 0 {
			size = -1
		}
		l.x = Reshape(l.x, Concat([]any{Slice(Cast(Shape(l.x), dtype.Int64), []int{0}, []int{n}), []int64{size}}, 0))
	}
	return l
}

// aligned returns a tensor with its axes in the given order; axes that it lacks have size 1.
func (a *attending) aligned(x tensor.Tensor, labels, want []int) (l laidOut) {
	var missing []int
	for i, w := range want {
		if k := slices.Index(labels, w); k >= 0 {
			l.order = append(l.order, k)
		} else {
			missing = append(missing, i)
		}
	}
	l.turned = x
	if !slices.IsSorted(l.order) {
		l.turned = Transpose(x, l.order...)
	}
	l.x = l.turned
	for _, i := range missing {
		l.x = ExpandDims(l.x, i)
	}
	return l
}

// back returns a tensor with the axes of the operand.
func (l laidOut) back(x tensor.Tensor) tensor.Tensor {
	x = reshapedLike(x, l.turned)
	if slices.IsSorted(l.order) {
		return x
	}
	inverse := make([]int, len(l.order))
	for i, k := range l.order {
		inverse[k] = i
	}
	return Transpose(x, inverse...)
}

// seen returns which keys each query attends to, [batch..., queries, keys] or a shape that
// broadcasts to it; nil means all.
func (a *attending) seen(c *op.Call, q, k tensor.Tensor, rows *paddedRows) (seen tensor.Tensor) {
	and := func(x tensor.Tensor) {
		if seen != nil {
			x = LogicalAnd(seen, x)
		}
		seen = x
	}
	if c.Has(a.at) {
		m := c.Tensor(a.at)
		switch {
		case a.pairs:
			seen = rows.ofPairs(a.aligned(m, a.labels[maskAt], slices.Concat(a.batch, []int{queryLabel})).x)
		case rows != nil:
			m = a.aligned(m, a.labels[maskAt], slices.Concat(a.batch, []int{keyLabel})).x
			seen = ExpandDims(gatherPadded(m, rows.sides[1].places, -1), -2)
		default:
			seen = a.aligned(m, a.labels[maskAt], slices.Concat(a.batch, []int{queryLabel, keyLabel})).x
		}
	}
	if rows != nil {
		and(ExpandDims(rows.sides[1].there, -2))
		if a.causal {
			and(rows.causal())
		}
	} else if a.causal {
		and(keysSeen(sizeOperand(q, -2), sizeOperand(k, -2)))
	}
	return seen
}

// paddedRows are rows of different lengths, padded to the longest one. It is nil if there are no
// rows.
type paddedRows struct{ sides [2]paddedSide } // of queries and of keys

type paddedSide struct {
	lengths tensor.Tensor // int64[rows]
	places  tensor.Tensor // int64[rows, longest]: where each item is; for padding, the position after the last item
	there   tensor.Tensor // bool[rows, longest]
}

func (a *attending) rows(c *op.Call) *paddedRows {
	if !a.inRows(c) {
		return nil
	}
	var f paddedRows
	for i := range f.sides {
		s := Cast(c.Value(a.at+1+i), dtype.Int64)
		n := Sub(rowsOf(s), 1)
		starts := Slice(s, []int{0}, Reshape(n, []int{1}))
		lengths := Sub(Slice(s, []int{1}, Reshape(n, []int{1})), starts)
		at := Range(0, Max(Concat([]any{lengths, []int64{0}}, 0)), 1)
		there := Less(at, ExpandDims(lengths, 1))
		f.sides[i] = paddedSide{lengths, Where(there, Add(ExpandDims(starts, 1), at), Index(s, -1)), there}
	}
	return &f
}

// gatherPadded gathers along an axis, counted from the last one, after appending a zero.
func gatherPadded(x, places tensor.Tensor, axis int) tensor.Tensor {
	r := x.Shape().Rank()
	margins := make([][]int, r)
	for i := range margins {
		margins[i] = []int{0, 0}
	}
	margins[r+axis][1] = 1
	return Gather(Pad(x, margins, PadOptions{}), places, r+axis)
}

// fill converts items [batch..., items, features] to padded rows [batch..., rows, longest,
// features].
func (f *paddedRows) fill(x tensor.Tensor, ofKeys bool) tensor.Tensor {
	if f == nil {
		return x
	}
	return gatherPadded(x, f.side(ofKeys).places, -2)
}

// items is the inverse of fill, given the number of batch axes.
func (f *paddedRows) items(x tensor.Tensor, batch int, ofKeys bool) tensor.Tensor {
	if f == nil {
		return x
	}
	return BooleanMask(x, f.side(ofKeys).there, batch)
}

func (f *paddedRows) side(ofKeys bool) *paddedSide {
	if ofKeys {
		return &f.sides[1]
	}
	return &f.sides[0]
}

// positions returns the positions of queries and of keys in their rows, which broadcast to [rows,
// queries, keys].
func (f *paddedRows) positions() (queries, keys tensor.Tensor) {
	at := func(i int) tensor.Tensor { return Range(0, Index(Shape(f.sides[i].there), 1), 1) }
	return ExpandDims(at(0), 1), at(1)
}

// causal returns which keys each query attends to if it attends only to keys up to itself: [rows,
// queries, keys].
func (f *paddedRows) causal() tensor.Tensor {
	query, key := f.positions()
	return LessEqual(key, Add(query, ExpandDims(Sub(f.sides[1].lengths, f.sides[0].lengths), -1, -2)))
}

// ofPairs converts a mask of pairs to [batch..., rows, queries, keys].
func (f *paddedRows) ofPairs(mask tensor.Tensor) tensor.Tensor {
	query, key := f.positions()
	keys := f.sides[1].lengths
	before := CumSum(Mul(f.sides[0].lengths, keys), 0, CumOptions{Exclusive: true})
	at := Add(ExpandDims(before, -1, -2), Add(Mul(query, ExpandDims(keys, -1, -2)), key))
	there := LogicalAnd(ExpandDims(f.sides[0].there, -1), ExpandDims(f.sides[1].there, -2))
	return gatherPadded(mask, Where(there, at, sizeOperand(mask, -1)), -1)
}

// keysSeen returns which of m keys each of n queries attends to if it attends only to keys up to
// itself.
func keysSeen(n, m any) tensor.Tensor {
	return LessEqual(Range(0, m, 1), ExpandDims(Add(Range(0, n, 1), Sub(m, n)), -1))
}

// seenWeights returns the softmax of the scores of the keys that a query attends to. A query that
// attends to none gets weights of 0 instead of NaN, so masked scores are not -Inf.
func seenWeights(scores, seen tensor.Tensor) tensor.Tensor {
	d := scores.DType()
	return Where(seen, Softmax(Where(seen, scores, lowestOf(d)), -1), zeroOf(d))
}

// lowestOf returns the lowest finite number of a floating-point type.
func lowestOf(d dtype.DType) *tensor.Dense {
	switch d {
	case dtype.Float16:
		return tensor.Scalar(dtype.F16(0xfbff)).(*tensor.Dense)
	case dtype.BFloat16:
		return tensor.Scalar(dtype.BF16(0xff7f)).(*tensor.Dense)
	case dtype.Float32:
		return tensor.Scalar(float32(-maxFloat32)).(*tensor.Dense)
	}
	return tensor.Scalar(-maxFloat64).(*tensor.Dense)
}
