package ragged

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// axis is a dimension of an operand below the first.
type axis struct {
	p      *RowPartition // nil if the axis is missing or is one of the flat values
	length size          // of a uniform one
}

func (x *axis) isUniform() bool { return x.p == nil || x.p.IsUniform() }
func (x *axis) stretches() bool { return x.isUniform() && x.length.n == 1 }
func (x *axis) dynamic() bool   { return x.isUniform() && x.length.n < 0 }

// axis returns the operand's axis for dimension a > 0 of the result.
func (o *operand) axis(a int) axis {
	s, j := o.from, a-o.off
	switch {
	case j < 0:
		return axis{length: staticSize(1)}
	case j == 0:
		return axis{length: s.size(0)}
	case j <= len(s.parts):
		p := s.parts[j-1]
		if p.IsUniform() {
			return axis{p: p, length: s.size(j)}
		}
		return axis{p: p}
	}
	return axis{length: s.size(j)}
}

// descend determines the alignment of the operand's slices below dimension x,
// which is q in the result.
func (o *operand) descend(x *axis, q *RowPartition, d dtype.DType) {
	one := q.spec.uniform && q.spec.length == 1
	switch {
	case x.stretches() && one:
		// Slices correspond one to one.
	case x.stretches():
		switch o.at {
		case same:
			o.at, o.index, o.by = mapped, q.ValueRowIDs(), q
		case mapped:
			o.index, o.by = ops.Gather(o.index, q.ValueRowIDs(), 0), nil
		}
	case x.dynamic():
		// Slice r of the operand has one value, or as many as row r of the
		// result.
		within := ops.Mul(q.OffsetsInRows(), ops.Cast(ops.NotEqual(x.length.scalar(d), 1), d))
		o.index, o.by = ops.Add(ops.Mul(o.rowsBelow(q), x.length.scalar(d)), within), nil
		o.at = mapped
	case o.at == same:
	case o.at == single:
		o.at, o.index, o.by = mapped, q.OffsetsInRows(), nil
	default:
		r := ops.Gather(o.index, q.ValueRowIDs(), 0)
		var start tensor.Tensor
		if x.isUniform() {
			start = ops.Mul(r, x.length.scalar(d))
		} else {
			start = ops.Gather(x.p.RowStarts(), r, 0)
		}
		o.index, o.by = ops.Add(start, q.OffsetsInRows()), nil
	}
}

// rowsBelow returns, for each value of the result, the slice of the operand that
// contains it.
func (o *operand) rowsBelow(q *RowPartition) tensor.Tensor {
	switch o.at {
	case same:
		return q.ValueRowIDs()
	case single:
		return ops.ZerosLike(q.ValueRowIDs())
	}
	return ops.Gather(o.index, q.ValueRowIDs(), 0)
}
