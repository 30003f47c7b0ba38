package serve

import (
	"fmt"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// columns holds tensors by their derived names.
type columns map[string]tensor.Tensor

// built assembles the Value of a layout from its columns. Each is compared with its Spec and
// with the others; errors name the column.
func (c columns) built(l *layout) (v tenon.Value, err error) {
	defer func() {
		if err != nil {
			err = l.told(err)
		}
	}()
	defer tenon.Catch(&err)
	name, s := l.name, l.spec
	for _, col := range l.columns {
		t, ok := c[col.name]
		if !ok {
			return nil, badInput("the input %s is missing", col.name)
		}
		if t.DType() != col.dt {
			return nil, badInput("%s has elements of type %s, want %s", col.name, datatype(t.DType()), datatype(col.dt))
		}
		if t.Shape().Rank() != col.rank {
			return nil, badInput("%s has the shape %v, want %d axes", col.name, t.Shape().Dims(), col.rank)
		}
	}
	b := &building{columns: c}
	x, err := b.value(name, s, nil, -1)
	if err != nil {
		return nil, err
	}
	if !tenon.Compatible(x.Spec(), s) {
		hidden := ""
		if d := tenon.HiddenDifference(x.Spec(), s); d != "" {
			hidden = ": " + d
		}
		return nil, badInput("%s is %s, want %s%s", name, tenon.String(x.Spec()), tenon.String(s), hidden)
	}
	return x, nil
}

// taken returns the columns of a Value.
func taken(name string, v tenon.Value) (columns, error) {
	c := columns{}
	err := func() (err error) {
		defer tenon.Catch(&err)
		return c.take(name, v, 0)
	}()
	return c, err
}

// take adds the columns of a Value below outer axes of records around it. Its own partitions
// follow those.
func (c columns) take(name string, v tenon.Value, outer int) error {
	switch v := v.(type) {
	case *tensor.Dense:
		c[name] = entriesOf(tensor.Contiguous(v), outer)
		return nil
	case *tensor.Strings:
		c[name] = entriesOf(v, outer)
		return nil
	}
	a := anatomy.Of(v)
	switch a.Kind {
	case anatomy.Lists:
		if c.splits(name, a.Partitions, outer) > 0 {
			name += ".flat_values"
		}
		return c.take(name, a.Inner, 0)
	case anatomy.Records:
		t, ok := v.(*structured.Tensor)
		if !ok {
			break
		}
		c.splits(name, a.Partitions, outer)
		for _, f := range t.FieldNames() {
			x, err := t.Field(f)
			if err != nil {
				return err
			}
			if err := c.take(name+"."+f, x, t.Rank()); err != nil {
				return err
			}
		}
		return nil
	case anatomy.Optional:
		inner, mask := a.Inner, tenon.Value(a.Mask)
		if m := anatomy.Of(mask); m.Kind == anatomy.Lists {
			c.splits(name, m.Partitions, outer)
			inner, mask, outer = anatomy.Of(inner).Inner, m.Inner, 0
		}
		if err := c.take(name+".values", inner, outer); err != nil {
			return err
		}
		return c.take(name+".mask", mask, outer)
	case anatomy.Named, anatomy.Union, anatomy.Map, anatomy.Held:
		return c.take(name, a.Inner, outer)
	case anatomy.Element:
		texts, err := element.Texts(v.(tensor.Tensor))
		if err != nil {
			return err
		}
		return c.take(name, texts, outer)
	case anatomy.Parts:
		for _, f := range a.Fields {
			if err := c.take(name+"."+f.Name, f.Value, outer); err != nil {
				return err
			}
		}
		return nil
	}
	if t, ok := v.(tensor.Concreter); ok {
		t, err := t.Concrete()
		if err != nil {
			return err
		}
		return c.take(name, t, outer)
	}
	return fmt.Errorf("%s: %s is not supported by these protocols", name, tenon.String(v.Spec()))
}

// entriesOf merges the axes of records around a tensor into one.
func entriesOf(t tensor.Tensor, outer int) tensor.Tensor {
	if outer < 2 {
		return t
	}
	dims := t.Shape().Dims()
	n := 1
	for _, d := range dims[:outer] {
		n *= d
	}
	return ops.Reshape(t, append([]int{n}, dims[outer:]...))
}

// splits adds the row splits of partitions below outer axes of records, and returns their
// number.
func (c columns) splits(name string, parts []*ragged.RowPartition, outer int) int {
	n := 0
	for _, p := range parts[max(0, outer-1):] {
		if !p.IsUniform() {
			c[fmt.Sprintf("%s.row_splits.%d", name, n)] = p.RowSplits()
			n++
		}
	}
	return n
}

// unknown returns a shape of a rank with unknown sizes.
func unknown(rank int) shape.Shape {
	dims := make([]int, rank)
	for i := range dims {
		dims[i] = shape.Unknown
	}
	return shape.Of(dims...)
}

// lastSplits returns the number of the last partition that has row splits.
func lastSplits(parts []*ragged.RowPartition) string {
	n := -1
	for _, p := range parts {
		if !p.IsUniform() {
			n++
		}
	}
	return strconv.Itoa(max(n, 0))
}
