package element

import (
	"fmt"
	"math"
	"math/big"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Decimals of more than 18 digits are 128 bits in two halves. Sums are computed on four limbs of 32
// bits, each in a 64-bit integer, so that two billion of them can be added without carrying.
// Comparisons and selections are computed on ranks.

// widened returns integers as wide decimals.
func widened(v tensor.Tensor, t Type) tensor.Tensor {
	return outside(v, func(x tensor.Tensor) tensor.Tensor { return widen(x, t) })
}

func widen(x tensor.Tensor, t Type) Tensor {
	return Tensor{Data: ops.RightShift(x, int64(63)), Low: x, Type: t}
}

// limbs are four 32-bit limbs, the lowest first; the last one has the sign.
type limbs [4]tensor.Tensor

const limbMask = int64(math.MaxUint32)

func (t Tensor) limbs() limbs {
	if t.Low == nil {
		t = widen(t.Data, t.Type)
	}
	l := t.Low
	part := func(x tensor.Tensor) tensor.Tensor { return ops.BitwiseAnd(x, limbMask) }
	return limbs{part(l), part(ops.RightShift(l, int64(32))), part(t.Data), ops.RightShift(t.Data, int64(32))}
}

// carried propagates carries, so that each limb but the last has 32 bits. Limbs
// may have any size before.
func (l limbs) carried() limbs {
	for i := range 3 {
		carry := ops.RightShift(l[i], int64(32))
		l[i], l[i+1] = ops.BitwiseAnd(l[i], limbMask), ops.Add(l[i+1], carry)
	}
	return l
}

// tensor combines the limbs.
func (l limbs) tensor(t Type) Tensor {
	l = l.carried()
	if k, ok := op.Known(l[3]); ok && k.Shape().Size() > 0 {
		if tensor.Item[int64](ops.Min(k)) < math.MinInt32 || tensor.Item[int64](ops.Max(k)) > math.MaxInt32 {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "element", Msg: fmt.Sprintf("a number is beyond 128 bits as %v", t), Line: source.Line()})
		}
	}
	join := func(high, low tensor.Tensor) tensor.Tensor { return ops.BitwiseOr(ops.LeftShift(high, int64(32)), low) }
	return Tensor{Data: join(l[3], l[2]), Low: join(l[1], l[0]), Type: t}
}

// wideDecimals handles operations with decimals of more than 18 digits.
func (r *ruling) wideDecimals(c *op.Call, values []tenon.Value) ([]tenon.Value, error) {
	switch r.sense {
	case adding, taking, scaling:
		return r.linear(c, values)
	case quotient:
		return op.One(divided(values[0].(Tensor), values[1].(tensor.Tensor), r.result))
	case product:
		return op.One(multiplied(values[0].(Tensor), values[1].(Tensor), r.result))
	case comparing, picking, numbering:
		if len(values) == 2 && c.Op.IsBinaryElementwise() {
			return op.One(compared(c.Op.Name, values[0].(Tensor), values[1].(Tensor)))
		}
		if c.Op.Name == "clip" {
			x := compared("maximum", values[0].(Tensor), values[1].(Tensor)).(Tensor)
			return op.One(compared("minimum", x, values[2].(Tensor)))
		}
		return r.ranked(c, values)
	}
	return nil, c.Errorf(tenon.ErrUnsupported, "decimals of more than %d digits are not part of it", narrowDigits)
}

// linear applies a sum to each limb.
func (r *ruling) linear(c *op.Call, values []tenon.Value) ([]tenon.Value, error) {
	parts := make([]limbs, len(values))
	own := make([]bool, len(values))
	for i, v := range values {
		if t, ok := v.(Tensor); ok {
			parts[i], own[i] = t.limbs(), true
		}
	}
	if c.Op.Name == "abs" {
		t := values[0].(Tensor)
		negative := ops.Less(t.Data, int64(0))
		return op.One(tensor.Tensor(parts[0].negated(negative).tensor(r.result)))
	}
	var out limbs
	for k := range out {
		args := make([]tenon.Value, len(values))
		for i, v := range values {
			if args[i] = v; own[i] {
				args[i] = parts[i][k]
			}
		}
		out[k] = op.Apply(c, args...)
	}
	return op.One(tensor.Tensor(out.tensor(r.result)))
}

// unsigned maps lower halves to numbers whose signed order is the unsigned order
// of the halves.
func unsigned(low tensor.Tensor) tensor.Tensor { return ops.BitwiseXor(low, int64(lowest)) }

// compared compares two decimals, or selects one of them.
func compared(name string, a, b Tensor) tensor.Tensor {
	a, b = a.both(), b.both()
	equal := func() tensor.Tensor { return ops.LogicalAnd(ops.Equal(a.Data, b.Data), ops.Equal(a.Low, b.Low)) }
	less := func(a, b Tensor) tensor.Tensor {
		return ops.LogicalOr(ops.Less(a.Data, b.Data), ops.LogicalAnd(ops.Equal(a.Data, b.Data), ops.Less(unsigned(a.Low), unsigned(b.Low))))
	}
	pick := func(first tensor.Tensor) tensor.Tensor {
		return Tensor{Data: ops.Where(first, a.Data, b.Data), Low: ops.Where(first, a.Low, b.Low), Type: a.Type}
	}
	switch name {
	case "equal":
		return equal()
	case "not_equal":
		return ops.LogicalNot(equal())
	case "less":
		return less(a, b)
	case "greater":
		return less(b, a)
	case "less_equal":
		return ops.LogicalNot(less(b, a))
	case "greater_equal":
		return ops.LogicalNot(less(a, b))
	case "minimum":
		return pick(less(a, b))
	}
	return pick(less(b, a))
}

// both returns a decimal that has both halves.
func (t Tensor) both() Tensor {
	if t.Low == nil {
		return widen(t.Data, t.Type)
	}
	return t
}

// ranked applies an operation that selects or compares elements to their ranks: numbers that have
// the same order as the elements and are equal where the elements are.
func (r *ruling) ranked(c *op.Call, values []tenon.Value) ([]tenon.Value, error) {
	var all []Tensor
	var highs, lows []tensor.Tensor
	for _, v := range values {
		if t, ok := v.(Tensor); ok && t.Low != nil {
			all = append(all, t)
			highs, lows = append(highs, ops.Reshape(t.Data, []int{-1})), append(lows, ops.Reshape(t.Low, []int{-1}))
		}
	}
	high, below := ops.Concat(highs, 0), ops.Concat(lows, 0)
	order := ops.ArgSort(unsigned(below), 0, ops.SortOptions{})
	order = ops.Gather(order, ops.ArgSort(ops.Gather(high, order, 0), 0, ops.SortOptions{}), 0)
	high, below = ops.Gather(high, order, 0), ops.Gather(below, order, 0)
	changes := func(x tensor.Tensor) tensor.Tensor { return ops.NotEqual(x, ops.Shift(x, 1, 0)) }
	steps := ops.Cast(ops.LogicalOr(changes(high), changes(below)), dtype.Int64)
	number := ops.CumSum(steps, 0, ops.CumOptions{}) // the same number for equal elements
	rank := ops.SearchSorted(number, number, false)  // the first position of each number
	rank = ops.Gather(rank, ops.ArgSort(order, 0, ops.SortOptions{}), 0)
	from := tensor.Tensor(tensor.Scalar(int64(0)))
	for i, v := range values {
		if t, ok := v.(Tensor); ok && t.Low != nil {
			to := ops.Add(from, ops.Cast(ops.Size(t.Data), dtype.Int64))
			values[i] = ops.Reshape(ops.Gather(rank, ops.Range(from, to, int64(1)), 0), ops.Shape(t.Data))
			from = to
		}
	}
	list := op.ApplyN(c, values...)
	out := make([]tenon.Value, len(list))
	for i, x := range list {
		if out[i] = x; r.sense != picking || c.Op.Places.Has(i) || c.Op.Counts.Has(i) || c.Op.By == op.ByRows && i > 0 {
			continue
		}
		n := ops.Cast(ops.Size(order), dtype.Int64)
		there := ops.LogicalAnd(ops.GreaterEqual(x, int64(0)), ops.Less(x, n))
		from := ops.Where(there, x, int64(0))
		pick := func(v tensor.Tensor, filler int64) tensor.Tensor {
			padded := ops.Concat([]tensor.Tensor{v, tensor.Vector([]int64{filler})}, 0) // so that there is an element for it
			return ops.Where(there, ops.Gather(padded, from, 0), filler)
		}
		out[i] = Tensor{Data: ops.Where(there, pick(high, 0), x), Low: pick(below, 0), Type: all[0].Type}
	}
	return out, nil
}

// magnitude returns the limbs of the absolute values, and where the numbers are negative.
func (t Tensor) magnitude() (limbs, tensor.Tensor) {
	t = t.both()
	negative := ops.Less(t.Data, int64(0))
	return t.limbs().negated(negative).carried(), negative
}

// negated changes the sign where a condition holds, without carrying.
func (l limbs) negated(where tensor.Tensor) limbs {
	for i, x := range l {
		l[i] = ops.Where(where, ops.Neg(x), x)
	}
	return l
}

// number combines limbs to decimals of any type, which must have enough digits.
func (l limbs) number(t Type) Tensor {
	x := l.tensor(t).bounded()
	if !t.IsWide() {
		return Tensor{Data: x.Low, Type: t}
	}
	return x
}

// float returns the unscaled decimals as floating-point numbers.
func (t Tensor) float() tensor.Tensor {
	l, negative := t.magnitude()
	sum := ops.Cast(l[3], dtype.Float64)
	for i := 2; i >= 0; i-- {
		sum = ops.Add(ops.Mul(sum, float64(1<<32)), ops.Cast(l[i], dtype.Float64))
	}
	return ops.Where(negative, ops.Neg(sum), sum)
}

// rescaled converts decimals to another precision and scale.
func (t Tensor) rescaled(want Type) Tensor {
	up := want.Scale - t.Type.Scale
	switch {
	case up < 0:
		l, negative := t.magnitude()
		return l.shifted(up).negated(negative).number(want)
	case t.Low != nil || want.IsWide():
		return t.limbs().shifted(up).number(want) // the sign is in the highest limb
	}
	out := Tensor{Data: t.Data, Type: want}
	if up > 0 {
		out.Data = times(t.Data, int64(math.Pow10(up)), t.Type, want)
	}
	return out.bounded()
}

// bounded checks that decimals have no more digits than their type allows, if they are known.
func (t Tensor) bounded() Tensor {
	if t.Low == nil {
		if k, ok := op.Known(t.Data); ok && k.Shape().Size() > 0 {
			most := int64(math.Pow10(t.Type.Precision)) - 1
			if tensor.Item[int64](ops.Min(k)) < -most || tensor.Item[int64](ops.Max(k)) > most {
				tenon.Throw(tooLong(t.Type))
			}
		}
		return t
	}
	_, high := op.Known(t.Data)
	if _, low := op.Known(t.Low); !high || !low {
		return t
	}
	limit := tens(t.Type.Precision)
	bound := func(n *big.Int) Tensor {
		h, l, _ := halves(n)
		return Tensor{Data: tensor.Scalar(h), Low: tensor.Scalar(l), Type: t.Type}
	}
	beyond := ops.LogicalOr(compared("greater_equal", t, bound(limit)), compared("less_equal", t, bound(new(big.Int).Neg(limit))))
	if tensor.Item[bool](ops.Any(beyond)) {
		tenon.Throw(tooLong(t.Type))
	}
	return t
}

func tooLong(t Type) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: "element.To", Msg: fmt.Sprintf("some elements have more digits than %v", t), Line: source.Line()}
}

// made makes decimals from integers, which must fit.
func made(list []*big.Int, t Type, dims []int) Tensor {
	most := tens(t.Precision)
	high, below := make([]int64, len(list)), make([]int64, len(list))
	for i, n := range list {
		if n.CmpAbs(most) >= 0 {
			tenon.Throw(tooLong(t))
		}
		if high[i] = n.Int64(); t.IsWide() {
			high[i], below[i], _ = halves(n)
		}
	}
	out := Tensor{Data: shaped(high, dims), Type: t}
	if t.IsWide() {
		out.Low = shaped(below, dims)
	}
	return out
}
