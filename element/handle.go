package element

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// AcceptsOp declines calls with a value that contains elements, such as a ragged tensor of
// timestamps: that value takes itself apart.
func (t Tensor) AcceptsOp(v tenon.Value) bool {
	if _, ok := v.(Tensor); ok {
		return true
	}
	return !holds(v.Spec())
}

// holds reports whether a Spec contains the Spec of a Tensor.
func holds(s tenon.Spec) bool {
	if s.TypeName() == TypeName {
		return true
	}
	if tenon.IsLeaf(s) {
		return false
	}
	for _, f := range s.Components() {
		if holds(f.Spec) {
			return true
		}
	}
	return false
}

// HandleOp converts the operands to the types that the operation needs and applies it to the stored
// data.
func (t Tensor) HandleOp(c *op.Call) ([]tenon.Value, error) {
	r, err := judge(c)
	if err != nil {
		return nil, c.Fail(err)
	}
	values := slices.Clone(c.Values())
	list, _ := operands(c)
	changed := false
	for i, o := range list {
		want := r.want[i]
		switch v := values[o.at].(type) {
		case Tensor:
			if want.Kind != None && v.Type != want {
				values[o.at], changed = v.to(want), true
			}
		case tensor.Tensor:
			if want.Kind != None && r.sense == moving && want.Storage() == dtype.String && !want.Fits(textOf(v)) {
				values[o.at], changed = Tensor{Data: v, Type: want}, true // the fill value
			} else if want.Kind != None {
				values[o.at], changed = plainTo(v, want), true
			} else if r.result.IsWide() && r.sense == moving {
				values[o.at], changed = widened(v, r.result), true // the fill value
			} else if r.result.IsWide() && r.sense == picking {
				values[o.at], changed = Tensor{Data: v, Low: ops.ZerosLike(v), Type: r.result}, true // the identity of a maximum
			}
		}
	}
	switch {
	case r.sense == counting:
		return valuesOf(op.ApplyN(c, nonzero(values)...)), nil
	case r.sense == turning:
		return t.cast(c)
	case r.sense == numbering && !r.wide(values):
		return valuesOf(op.ApplyN(c, stored(values)...)), nil
	case r.sense > comparing || r.sense != moving && r.wide(values):
		return r.compute(c, values)
	case changed:
		return valuesOf(op.ApplyN(c, values...)), nil
	}
	return op.HandleForm(c, t)
}

func valuesOf(list []tensor.Tensor) []tenon.Value {
	out := make([]tenon.Value, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}

// nonzero returns numbers that are zero where the elements are.
func nonzero(values []tenon.Value) []tenon.Value {
	out := stored(values)
	for i, v := range values {
		if t, ok := v.(Tensor); ok && t.Low != nil {
			out[i] = ops.BitwiseOr(t.Data, t.Low)
		}
	}
	return out
}

// wide reports whether an operand is stored as two numbers.
func (r *ruling) wide(values []tenon.Value) bool {
	for _, v := range values {
		if t, ok := v.(Tensor); ok && t.Low != nil {
			return true
		}
	}
	return false
}

// stored returns the stored data of operands that are not wide decimals.
func stored(values []tenon.Value) []tenon.Value {
	out := make([]tenon.Value, len(values))
	for i, v := range values {
		if t, ok := v.(Tensor); ok {
			v = t.Data
		}
		out[i] = v
	}
	return out
}

// compute handles operations that do more than move stored data.
func (r *ruling) compute(c *op.Call, values []tenon.Value) ([]tenon.Value, error) {
	if r.sense == averaging {
		return op.One(mean(c, values))
	}
	if r.wide(values) || r.result.IsWide() || r.sense == quotient && r.result.Kind == Decimal {
		return r.wideDecimals(c, values)
	}
	first := func(x tensor.Tensor) ([]tenon.Value, error) {
		return op.One(tensor.Tensor(Tensor{Data: x, Type: r.result}))
	}
	data := stored(values)
	switch r.sense {
	case product, quotient, division:
		if r.result.Kind == Duration {
			return first(durations(c, r.sense, data))
		}
		if r.result.Kind == None && r.sense == quotient {
			return op.One(ops.Div(ops.Cast(data[0].(tensor.Tensor), dtype.Float64), ops.Cast(data[1].(tensor.Tensor), dtype.Float64)))
		}
		out := op.Apply(c, data...)
		if c.Op.Name == "mod" {
			return op.One(tensor.Tensor(Tensor{Data: out, Type: values[0].(Tensor).Type}))
		}
		if r.result.Kind == None {
			return op.One(out)
		}
		return first(out)
	}
	return first(op.Apply(c, data...))
}

// mean divides sums by counts. The mean of no elements is the smallest number, just as the quotient
// of an empty sum and zero is.
func mean(c *op.Call, values []tenon.Value) tensor.Tensor {
	sum, ok := op.Lookup(strings.Replace(c.Op.Name, "mean", "sum", 1))
	if !ok {
		tenon.Throw(c.Errorf(tenon.ErrUnsupported, "there are no sums to go with it"))
	}
	of := func(x tensor.Tensor) tensor.Tensor {
		values[0] = x
		return op.Eval(sum, c.WithValues(values).Args...)
	}
	x := values[0].(Tensor)
	return ops.Div(of(x), of(ops.Cast(ops.OnesLike(x.Data), dtype.Int64)))
}

// durations multiplies and divides durations by numbers.
func durations(c *op.Call, s sense, data []tenon.Value) tensor.Tensor {
	x, y := data[0].(tensor.Tensor), data[1].(tensor.Tensor)
	if x.DType().IsInteger() && y.DType().IsInteger() {
		if s == quotient {
			return nearest(x, ops.Cast(y, dtype.Int64))
		}
		return op.Apply(c, ops.Cast(x, dtype.Int64), ops.Cast(y, dtype.Int64))
	}
	x = ops.Round(op.Apply(c, ops.Cast(x, dtype.Float64), ops.Cast(y, dtype.Float64)))
	return ops.Where(ops.IsFinite(x), ops.Cast(x, dtype.Int64), int64(lowest))
}

// cast handles casts. Decimals are cast to numbers by their numeric value.
func (t Tensor) cast(c *op.Call) ([]tenon.Value, error) {
	if t.Type.Kind != Decimal {
		return op.One(op.Apply(c, t.Data))
	}
	x := ops.Cast(t.Data, dtype.Float64)
	if t.Low != nil {
		x = t.float()
	}
	if t.Type.Scale > 0 {
		x = ops.Div(x, math.Pow10(t.Type.Scale))
	} else {
		x = ops.Mul(x, math.Pow10(-t.Type.Scale))
	}
	return op.One(op.Apply(c, x))
}

// textOf returns a single text that is known statically.
func textOf(v tensor.Tensor) string {
	if k, ok := op.Known(v); ok && k.Shape().Size() == 1 {
		return k.(*tensor.Strings).At(0)
	}
	return ""
}

// plainTo converts texts or integers to elements.
func plainTo(v tensor.Tensor, want Type) tensor.Tensor {
	if v.DType().IsString() && want.Storage() != dtype.String {
		return tenon.Must(Parse(v, want))
	}
	if v.DType().IsString() {
		if x, err := Parse(v, want); err == nil {
			return x
		}
		return tenon.Must(New(v, want))
	}
	return tenon.Must(New(v, operand{plain: v}.asDecimal())).(Tensor).to(want)
}

// To converts elements to another type: timestamps, dates, times and durations to another unit,
// timestamps to another zone, dates to timestamps at midnight, timestamps to their dates in their
// zone, and decimals to another precision and scale. Coarser units round down; smaller scales round
// to nearest, with halves away from zero. An element that the new type cannot hold is an error, if
// the elements are known.
func To(x tensor.Tensor, t Type) (tensor.Tensor, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return each("element.To", x, func(x Tensor) tensor.Tensor {
		if x.Type.Kind == Timestamp && t.Kind == Date {
			return x.truncated(day).as(DateType)
		}
		return x.to(t)
	})
}

// to is To for a Tensor.
func (t Tensor) to(want Type) Tensor {
	from := t.Type
	switch {
	case from == want:
		return t
	case from.Storage() == dtype.String && want.Storage() == dtype.String && from.Width == want.Width:
		return Tensor{Data: t.Data, Type: want}
	case from.Kind == Decimal && want.Kind == Decimal:
		return t.rescaled(want)
	case from.isTime() && (from.Kind == want.Kind || from.Kind == Date && want.Kind == Timestamp):
		if from.Kind == Timestamp && (from.Zone == "") != (want.Zone == "") {
			tenon.Throw(zones(operand{Type: from}, operand{Type: want}))
		}
		return t.as(want)
	}
	tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "element.To", Msg: fmt.Sprintf("%v is not a valid %v", from, want), Line: source.Line()})
	return t
}

// as converts the numbers to the unit of another type.
func (t Tensor) as(want Type) Tensor {
	x := t.Data
	a, b := t.Type.unit(), want.unit()
	if x.DType() != dtype.Int64 {
		x = ops.Cast(x, dtype.Int64)
	}
	if a > b {
		x = times(x, int64(a/b), t.Type, want)
	} else if a < b {
		x = ops.FloorDiv(x, int64(b/a))
	}
	if d := want.Storage(); d != dtype.Int64 {
		x = ops.Cast(x, d)
	}
	return Tensor{Data: x, Type: want}
}

// times multiplies the stored numbers, and throws if the result is known not to
// fit.
func times(x tensor.Tensor, factor int64, from, want Type) tensor.Tensor {
	if k, ok := op.Known(x); ok && k.Shape().Size() > 0 {
		low, high := tensor.Item[int64](ops.Min(k)), tensor.Item[int64](ops.Max(k))
		if low < math.MinInt64/factor || high > math.MaxInt64/factor {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "element.To", Msg: fmt.Sprintf("some elements of %v are beyond 64 bits as %v", from, want), Line: source.Line()})
		}
	}
	return ops.Mul(x, factor)
}
