package outsider

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Bags are multisets of numbers, one in each row, together with what they are bags of. They declare
// that they are divided into rows, so formats treat them as lists.
type Bags struct {
	items tensor.Tensor
	rows  *ragged.RowPartition
	of    string
}

// NewBags returns bags of the items that a partition divides.
func NewBags(of string, items tensor.Tensor, rows *ragged.RowPartition) (Bags, error) {
	_, err := ragged.FromPartition(items, rows)
	return Bags{items, rows, of}, err
}

// Of returns what the bags are of.
func (b Bags) Of() string { return b.of }

// FlatValues returns all items.
func (b Bags) FlatValues() tensor.Tensor { return b.items }

// Partitions returns what divides the items.
func (b Bags) Partitions() []*ragged.RowPartition { return []*ragged.RowPartition{b.rows} }

// Spec returns the Spec of the bags.
func (b Bags) Spec() tenon.Spec {
	return bagsSpec{b.of, b.items.Spec(), b.rows.Spec().(*ragged.PartitionSpec)}
}

// DType returns the element type of the items.
func (b Bags) DType() dtype.DType { return b.items.DType() }

// Shape returns a shape with the number of bags; their sizes are unknown.
func (b Bags) Shape() shape.Shape { return shape.Of(b.rows.StaticNRows(), shape.Unknown) }

// HandleOp applies operations on rows to bags. Results without rows are plain numbers.
func (b Bags) HandleOp(c *op.Call) ([]tenon.Value, error) {
	args := make([]tenon.Value, len(c.Values()))
	for i, v := range c.Values() {
		if args[i] = v; v.Spec().TypeName() == bagsName {
			args[i], _ = ragged.As(v.(tensor.Tensor))
		}
	}
	var out []tenon.Value
	for _, x := range op.ApplyN(c, args...) {
		if r, ok := ragged.As(x); ok && r.RaggedRank() == 1 {
			out = append(out, Bags{r.FlatValues(), r.Partition(), b.of})
			continue
		}
		out = append(out, x)
	}
	return out, nil
}

const bagsName = "example.com/outsider.Bags"

func init() {
	tenon.Register(bagsName, func(e tenon.Encoding) (tenon.Spec, error) {
		t, err := tenon.Elems(e, 3)
		if err != nil {
			return nil, err
		}
		of, err := tenon.As[tenon.Str](t[0])
		if err != nil {
			return nil, err
		}
		items, err := tenon.As[tenon.SpecOf](t[1])
		if err != nil {
			return nil, err
		}
		rows, err := tenon.As[tenon.SpecOf](t[2])
		if err != nil {
			return nil, err
		}
		p, ok := rows.Spec.(*ragged.PartitionSpec)
		if !ok || items.Spec == nil {
			return nil, tenon.NewError(tenon.ErrInvalid, bagsName, "bags are items and what divides them")
		}
		return bagsSpec{string(of), items.Spec, p}, nil
	})
}

type bagsSpec struct {
	of    string
	items tenon.Spec
	rows  *ragged.PartitionSpec
}

func (s bagsSpec) TypeName() string                    { return bagsName }
func (s bagsSpec) Flat() tenon.Spec                    { return s.items }
func (s bagsSpec) Partitions() []*ragged.PartitionSpec { return []*ragged.PartitionSpec{s.rows} }
func (s bagsSpec) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.Str(s.of), tenon.SpecOf{Spec: s.items}, tenon.SpecOf{Spec: s.rows}}
}

func (s bagsSpec) Components() []tenon.Field {
	return []tenon.Field{{Name: "items", Spec: s.items}, {Name: "rows", Spec: s.rows}}
}

func (s bagsSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	b, ok := v.(Bags)
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, bagsName, fmt.Sprintf("a %T is not Bags", v))
	}
	return []tenon.Value{b.items, b.rows}, nil
}

func (s bagsSpec) Assemble(parts []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, parts); err != nil {
		return nil, err
	}
	return NewBags(s.of, parts[0].(tensor.Tensor), parts[1].(*ragged.RowPartition))
}
