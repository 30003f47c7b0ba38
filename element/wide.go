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

// Decimals of more than 18 digits are 128 bits in two halves. Sums are done on four parts of 32 bits in numbers of 64, so
// that two thousand million of them add up without a carry in between; what compares and picks is done on ranks.

// widened returns integers as wide decimals.
func widened(v tensor.Tensor, t Type) tensor.Tensor {
	return outside(v, func(x tensor.Tensor) tensor.Tensor { return widen(x, t) })
}

func widen(x tensor.Tensor, t Type) Tensor {
	return Tensor{Data: ops.RightShift(x, int64(63)), Low: ops.BitwiseXor(x, int64(lowest)), Type: t}
}

// low returns the lower halves of numbers that are upper ones, with nothing below.
func low(x tensor.Tensor) tensor.Tensor { return ops.Add(ops.ZerosLike(x), int64(lowest)) }

// limbs are four parts of 32 bits, the lowest first; the last has the sign.
type limbs [4]tensor.Tensor

const limbMask = int64(math.MaxUint32)

func (t Tensor) limbs() limbs {
	if t.Low == nil {
		t = widen(t.Data, t.Type)
	}
	l := ops.BitwiseXor(t.Low, int64(lowest))
	part := func(x tensor.Tensor) tensor.Tensor { return ops.BitwiseAnd(x, limbMask) }
	return limbs{part(l), part(ops.RightShift(l, int64(32))), part(t.Data), ops.RightShift(t.Data, int64(32))}
}

// tensor puts parts together, whose sums may be of any size.
func (l limbs) tensor(t Type) Tensor {
	for i := range 3 {
		carry := ops.RightShift(l[i], int64(32))
		l[i], l[i+1] = ops.BitwiseAnd(l[i], limbMask), ops.Add(l[i+1], carry)
	}
	if k, ok := op.Known(l[3]); ok && k.Shape().Size() > 0 {
		if tensor.Item[int64](ops.Min(k)) < math.MinInt32 || tensor.Item[int64](ops.Max(k)) > math.MaxInt32 {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "element", Msg: fmt.Sprintf("a number is beyond 128 bits as %v", t), Line: source.Line()})
		}
	}
	join := func(high, low tensor.Tensor) tensor.Tensor { return ops.BitwiseOr(ops.LeftShift(high, int64(32)), low) }
	return Tensor{Data: join(l[3], l[2]), Low: ops.BitwiseXor(join(l[1], l[0]), int64(lowest)), Type: t}
}

// wideDecimals answers for operations with decimals of more than 18 digits.
func (r *ruling) wideDecimals(c *op.Call, values []tenon.Value) ([]tenon.Value, error) {
	switch r.sense {
	case adding, taking, scaling:
		return r.linear(c, values)
	case product:
		return op.One(tensor.Tensor(multiplied(values[0].(Tensor), values[1].(Tensor), r.result)))
	case comparing, picking:
		if len(values) == 2 && c.Op.IsBinaryElementwise() {
			return op.One(compared(c.Op.Name, values[0].(Tensor), values[1].(Tensor)))
		}
		if c.Op.Name == "clip" {
			x := compared("maximum", values[0].(Tensor), values[1].(Tensor)).(Tensor)
			return op.One(compared("minimum", x, values[2].(Tensor)))
		}
		return ranked(c, values)
	}
	return nil, c.Errorf(tenon.ErrUnsupported, "decimals of more than %d digits are not part of it", narrowDigits)
}

// linear does a sum on each part.
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
		for i, x := range parts[0] {
			parts[0][i] = ops.Where(negative, ops.Neg(x), x)
		}
		return op.One(tensor.Tensor(parts[0].tensor(r.result)))
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

// compared compares two decimals, or picks one of them.
func compared(name string, a, b Tensor) tensor.Tensor {
	a, b = a.both(), b.both()
	equal := func() tensor.Tensor { return ops.LogicalAnd(ops.Equal(a.Data, b.Data), ops.Equal(a.Low, b.Low)) }
	less := func(a, b Tensor) tensor.Tensor {
		return ops.LogicalOr(ops.Less(a.Data, b.Data), ops.LogicalAnd(ops.Equal(a.Data, b.Data), ops.Less(a.Low, b.Low)))
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

// both returns a decimal in two halves.
func (t Tensor) both() Tensor {
	if t.Low == nil {
		return widen(t.Data, t.Type)
	}
	return t
}

// ranked does an operation that picks or compares the elements of one operand on their ranks: numbers that
// are ordered as they are, and equal where they are.
func ranked(c *op.Call, values []tenon.Value) ([]tenon.Value, error) {
	at := -1
	for i, v := range values {
		if t, ok := v.(Tensor); ok && t.Low != nil {
			if at >= 0 {
				return nil, c.Errorf(tenon.ErrUnsupported, "decimals of more than %d digits are in two operands", narrowDigits)
			}
			at = i
		}
	}
	t := values[at].(Tensor)
	high, below := ops.Reshape(t.Data, []int{-1}), ops.Reshape(t.Low, []int{-1})
	order := ops.ArgSort(below, 0, ops.SortOptions{})
	order = ops.Gather(order, ops.ArgSort(ops.Gather(high, order, 0), 0, ops.SortOptions{}), 0)
	high, below = ops.Gather(high, order, 0), ops.Gather(below, order, 0)
	changes := func(x tensor.Tensor) tensor.Tensor { return ops.NotEqual(x, ops.Shift(x, 1, 0)) }
	steps := ops.Cast(ops.LogicalOr(changes(high), changes(below)), dtype.Int64)
	number := ops.CumSum(steps, 0, ops.CumOptions{}) // the same for those that are equal
	rank := ops.SearchSorted(number, number, false)  // where they begin
	values[at] = ops.Reshape(ops.Gather(rank, ops.ArgSort(order, 0, ops.SortOptions{}), 0), ops.Shape(t.Data))
	list := op.ApplyN(c, values...)
	out := make([]tenon.Value, len(list))
	for i, x := range list {
		if out[i] = x; c.Op.Places.Has(i) || c.Op.Counts.Has(i) || c.Op.By == op.ByRows && i > 0 {
			continue
		}
		n := ops.Cast(ops.Size(order), dtype.Int64)
		there := ops.LogicalAnd(ops.GreaterEqual(x, int64(0)), ops.Less(x, n))
		from := ops.Where(there, x, int64(0))
		pick := func(v tensor.Tensor, filler int64) tensor.Tensor {
			padded := ops.Concat([]tensor.Tensor{v, tensor.Vector([]int64{filler})}, 0) // so that there is one
			return ops.Where(there, ops.Gather(padded, from, 0), filler)
		}
		out[i] = Tensor{Data: ops.Where(there, pick(high, 0), x), Low: pick(below, lowest), Type: t.Type}
	}
	return out, nil
}

// float returns what wide decimals are without their scale, as floating numbers.
func (t Tensor) float() tensor.Tensor {
	negative := ops.Less(t.Data, int64(0))
	l := t.limbs()
	for i, x := range l {
		l[i] = ops.Where(negative, ops.Neg(x), x)
	}
	l = l.tensor(t.Type).limbs()
	sum := ops.Cast(l[3], dtype.Float64)
	for i := 2; i >= 0; i-- {
		sum = ops.Add(ops.Mul(sum, float64(1<<32)), ops.Cast(l[i], dtype.Float64))
	}
	return ops.Where(negative, ops.Neg(sum), sum)
}

// rescaled returns decimals with another precision and scale.
func (t Tensor) rescaled(want Type) Tensor {
	up := want.Scale - t.Type.Scale
	if up < 0 || t.Low != nil && !want.IsWide() {
		return t.oneByOne(want, up)
	}
	if !want.IsWide() {
		out := Tensor{Data: t.Data, Type: want}
		if up > 0 {
			out.Data = times(t.Data, int64(math.Pow10(up)), t.Type, want)
		}
		return out.bounded()
	}
	l := t.limbs()
	for ; up > 0; up -= 9 {
		factor := int64(math.Pow10(min(up, 9)))
		for i := range l {
			l[i] = ops.Mul(l[i], factor)
		}
		l = l.tensor(want).limbs()
	}
	return l.tensor(want)
}

// bounded checks that narrow decimals have no more digits than their type, where they are known.
func (t Tensor) bounded() Tensor {
	if k, ok := op.Known(t.Data); ok && k.Shape().Size() > 0 {
		most := int64(math.Pow10(t.Type.Precision)) - 1
		if tensor.Item[int64](ops.Min(k)) < -most || tensor.Item[int64](ops.Max(k)) > most {
			tenon.Throw(tooLong(t.Type))
		}
	}
	return t
}

func tooLong(t Type) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: "element.To", Msg: fmt.Sprintf("some elements have more digits than %v", t), Line: source.Line()}
}

// numbers returns the numbers of decimals, which have to be known.
func (t Tensor) numbers(fn string) []*big.Int {
	high, ok := op.Known(t.Data)
	if !ok {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: fn, Msg: fmt.Sprintf("%v is symbolic here", t.Type), Hint: "decimals of up to 18 digits are computed with in traces too", Line: source.Line()})
	}
	h := tensor.Data[int64](high)
	var l []int64
	if t.Low != nil {
		below, _ := op.Known(t.Low)
		l = tensor.Data[int64](below)
	}
	out := make([]*big.Int, len(h))
	for i := range out {
		if l == nil {
			out[i] = big.NewInt(h[i])
		} else {
			out[i] = whole(h[i], l[i])
		}
	}
	return out
}

var ten = big.NewInt(10)

// oneByOne returns decimals times a power of ten, rounded to the nearest with halves away from zero.
func (t Tensor) oneByOne(want Type, up int) Tensor {
	list := t.numbers("element.To")
	factor := new(big.Int).Exp(ten, big.NewInt(int64(max(up, -up))), nil)
	half := new(big.Int).Rsh(factor, 1)
	for i, n := range list {
		if up >= 0 {
			list[i] = n.Mul(n, factor)
			continue
		}
		sign := n.Sign()
		n.Add(n.Abs(n), half)
		n.Quo(n, factor)
		if sign < 0 {
			n.Neg(n)
		}
	}
	return made(list, want, t.Shape().Dims())
}

// made returns decimals of numbers, which have to fit.
func made(list []*big.Int, t Type, dims []int) Tensor {
	most := new(big.Int).Exp(ten, big.NewInt(int64(t.Precision)), nil)
	high, below := make([]int64, len(list)), make([]int64, len(list))
	for i, n := range list {
		if n.CmpAbs(most) >= 0 {
			tenon.Throw(tooLong(t))
		}
		if high[i] = n.Int64(); t.IsWide() {
			high[i], below[i], _ = halves(n)
		}
	}
	out := Tensor{Data: tensor.Of(high, dims...), Type: t}
	if t.IsWide() {
		out.Low = tensor.Of(below, dims...)
	}
	return out
}

// multiplied returns the product of decimals of which one has many digits, or both together.
func multiplied(a, b Tensor, t Type) tensor.Tensor {
	x, y := a.numbers("ops.Mul"), b.numbers("ops.Mul")
	number := func(v Tensor, n int) tensor.Tensor {
		at := tensor.Of(upTo(n), v.Shape().Dims()...)
		return ops.Add(at, ops.ZerosLike(ops.Add(a.Data, b.Data)))
	}
	i, j := number(a, len(x)), number(b, len(y))
	p, q := tensor.Data[int64](i), tensor.Data[int64](j)
	out := make([]*big.Int, len(p))
	for k := range out {
		out[k] = new(big.Int).Mul(x[p[k]], y[q[k]])
	}
	return made(out, t, i.Shape().Dims())
}

func upTo(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}
