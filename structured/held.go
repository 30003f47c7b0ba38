package structured

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Held is a field that contains a Value of any type, even one that is not a tensor, such as a
// registered Go struct: one Value for a single record, or the rows of a Batcher for a list of
// records. Its rows are gathered and joined through the components of the Value.
type Held struct {
	v    tenon.Value
	spec *HeldSpec
}

var (
	_ op.Handler    = (*Held)(nil)
	_ tenon.Batcher = (*HeldSpec)(nil)
)

// Hold returns v as the field of a single record.
func Hold(v tenon.Value) (*Held, error) { return hold("structured.Hold", v, false) }

// HoldRows returns the rows of v, whose Spec is a tenon.Batcher, as the field of a list
// of records.
func HoldRows(v tenon.Value) (*Held, error) { return hold("structured.HoldRows", v, true) }

func hold(fn string, v tenon.Value, list bool) (*Held, error) {
	if v == nil {
		return nil, invalid(fn, "", "the value is nil")
	}
	b, err := batcher(fn, v.Spec())
	if err != nil {
		return nil, err
	}
	s := &HeldSpec{b, list, shape.Unknown}
	if list {
		if _, err := b.Unbatched(); err != nil {
			return nil, err
		}
		if s.n, err = rows.Count(v); err != nil {
			return nil, err
		}
	}
	return &Held{v, s}, nil
}

// Value returns the value, or the rows as a batch.
func (h *Held) Value() tenon.Value { return h.v }

// Spec returns the *HeldSpec.
func (h *Held) Spec() tenon.Spec { return h.spec }

// DType returns dtype.None.
func (h *Held) DType() dtype.DType { return dtype.None }

// Shape returns the number of rows; a single value has no dimensions.
func (h *Held) Shape() shape.Shape { return h.spec.Shape() }

// HandleOp moves rows: what the operation does to their numbers is done to the
// rows.
func (h *Held) HandleOp(c *op.Call) ([]tenon.Value, error) {
	if !moves(c.Op) {
		return nil, op.NotHandled
	}
	args := c.Values()
	var all []tenon.Value
	first := tensor.Tensor(tensor.Scalar(int64(0))) // the number of the next row
	i := -1
	for k, v := range c.Operands() {
		i++
		x, ok := v.(*Held)
		switch {
		case ok && !c.Op.Moves.Has(k):
			return nil, op.NotHandled
		case !ok && c.Op.Moves.Has(k):
			return nil, c.Errorf(tenon.ErrDType, "rows of Values can be joined only with each other")
		case !ok:
			continue
		}
		if args[i] = first; !x.spec.rows {
			one := tenon.Must(rows.Stack([]tenon.Value{x.v}, nil))
			all, first = append(all, one), ops.Add(first, int64(1))
			continue
		}
		n := tenon.Must(rows.CountTensor(x.v))
		args[i], first = ops.Add(upTo(n), first), ops.Add(first, n)
		all = append(all, x.v)
	}
	whole, err := all[0], error(nil)
	if len(all) > 1 {
		if whole, err = rows.Concat(all); err != nil {
			return nil, rows.Named(c.Op.Func(), err)
		}
	}
	joined := tenon.Must(hold("structured.Held", whole, true))
	results := op.ApplyN(c, args...)
	out := make([]tenon.Value, len(results))
	for i, at := range results {
		if at.Shape().Rank() > 1 {
			return nil, c.Errorf(tenon.ErrUnsupported, "rows of Values have one dimension, the result has %d", at.Shape().Rank())
		}
		if out[i], err = joined.taken(at); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// taken returns rows by number, or a single row.
func (h *Held) taken(at tensor.Tensor) (*Held, error) {
	list := at.Shape().Rank() == 1
	take := rows.Gather
	if !list {
		take = func(v tenon.Value, at tensor.Tensor) (tenon.Value, error) { return rows.Take(v, at) }
	}
	v, err := take(h.v, at)
	if err != nil {
		return nil, err
	}
	return hold("structured.Held", v, list)
}

// String prints the value.
func (h *Held) String() string { return h.text("%v") }

// Format prints the value for the verbs v and s as String does. A plus flag prints all elements.
func (h *Held) Format(s fmt.State, verb rune) { tensor.Format(s, verb, h, h.text) }

func (h *Held) text(verb string) string {
	return fmt.Sprintf(verb, h.v)
}

// HeldTypeName is the registered name of [*HeldSpec].
const HeldTypeName = "structured.Held"

// HeldSpec describes a field with Values of any type, by the Spec of one of them or of a batch of
// rows.
type HeldSpec struct {
	value tenon.Batcher
	rows  bool
	n     int // the number of rows, or shape.Unknown
}

// DType returns dtype.None.
func (*HeldSpec) DType() dtype.DType { return dtype.None }

// Shape returns the number of rows; a single value has no dimensions.
func (s *HeldSpec) Shape() shape.Shape {
	if s.rows {
		return shape.Of(s.n)
	}
	return shape.Shape{}
}

// Value returns the Spec of the value, or of the batch of rows.
func (s *HeldSpec) Value() tenon.Spec { return s.value }

// TypeName returns "structured.Held".
func (*HeldSpec) TypeName() string { return HeldTypeName }

// Encode returns (value, shape).
func (s *HeldSpec) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.SpecOf{Spec: s.value}, tenon.Shape{Shape: s.Shape()}}
}

func init() { tenon.Register(HeldTypeName, decodeHeld) }

func decodeHeld(e tenon.Encoding) (tenon.Spec, error) {
	var o tenon.SpecOf
	var sizes tenon.Shape
	if err := tenon.Unpack(e, &o, &sizes); err != nil {
		return nil, err
	}
	b, ok := o.Spec.(tenon.Batcher)
	if !ok || sizes.Rank() != 0 && sizes.Rank() != 1 {
		return nil, tenon.NewError(tenon.ErrInvalid, HeldTypeName, "the value cannot be batched, or has no number of rows")
	}
	if sizes.Rank() == 0 {
		return &HeldSpec{b, false, shape.Unknown}, nil
	}
	return &HeldSpec{b, true, sizes.Dim(0)}, nil
}

// Components returns the value.
func (s *HeldSpec) Components() []tenon.Field { return []tenon.Field{{Name: "value", Spec: s.value}} }

// Disassemble returns the value.
func (s *HeldSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	h, ok := v.(*Held)
	if !ok || h.spec.rows != s.rows {
		return nil, tenon.NewError(tenon.ErrDType, HeldTypeName, "the value is not held by a field")
	}
	return []tenon.Value{h.v}, nil
}

// Assemble wraps a value.
func (s *HeldSpec) Assemble(components []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, components); err != nil {
		return nil, err
	}
	h, err := hold(HeldTypeName, components[0], s.rows)
	if err != nil {
		return nil, err
	}
	if h.spec.n >= 0 && s.n >= 0 && h.spec.n != s.n {
		return nil, invalid(HeldTypeName, "", "the value has %d rows, want %d", h.spec.n, s.n)
	}
	h.spec.n = max(h.spec.n, s.n)
	return h, nil
}

// Batched returns the Spec of n rows; a Spec of rows cannot be batched again.
func (s *HeldSpec) Batched(n int) (tenon.Spec, error) {
	if s.rows {
		return nil, tenon.NewError(tenon.ErrUnsupported, HeldTypeName, "rows of Values cannot be batched again")
	}
	b, err := s.value.Batched(n)
	return heldSpec(b, err, true, n)
}

// Unbatched returns the Spec of a single row.
func (s *HeldSpec) Unbatched() (tenon.Spec, error) {
	if !s.rows {
		return nil, tenon.NewError(tenon.ErrUnsupported, HeldTypeName, "a single value has no rows")
	}
	row, err := s.value.Unbatched()
	return heldSpec(row, err, false, shape.Unknown)
}

// heldSpec returns the Spec of a value or of n rows, unless there was an error.
func heldSpec(value tenon.Spec, err error, rows bool, n int) (tenon.Spec, error) {
	if err != nil {
		return nil, err
	}
	b, err := batcher(HeldTypeName, value)
	if err != nil {
		return nil, err
	}
	return &HeldSpec{b, rows, n}, nil
}

// batcher returns a Spec as one whose values can be batched.
func batcher(fn string, s tenon.Spec) (tenon.Batcher, error) {
	b, ok := s.(tenon.Batcher)
	if !ok {
		return nil, failed(tenon.ErrUnsupported, fn, "", "%s cannot be batched", tenon.String(s))
	}
	return b, nil
}

// String returns the Spec of the value.
func (s *HeldSpec) String() string { return "held " + tenon.String(s.value) }
