package serve

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// A building assembles a Value from columns.
type building struct {
	columns columns
	mask    []bool // of the optional part that is being assembled
}

// value returns the Value of a Spec. outer are the partitions of the records around it. entries
// is the number of entries with which its columns begin, negative if unknown.
func (b *building) value(name string, s tenon.Spec, outer []*ragged.RowPartition, entries int) (tenon.Value, error) {
	a := anatomy.OfSpec(s)
	switch a.Kind {
	case anatomy.Leaf:
		t := b.columns[name]
		if err := b.rows(name, t, entries); err != nil {
			return nil, err
		}
		return ragged.FromPartitions(t, outer...)
	case anatomy.Lists:
		return b.lists(name, a, outer, entries)
	case anatomy.Records:
		return b.records(name, s.(*structured.Spec), outer, entries)
	case anatomy.Optional:
		return b.optional(name, a, outer, entries)
	case anatomy.Named, anatomy.Union, anatomy.Map:
		x, err := b.value(name, a.Inner, outer, entries)
		if err != nil {
			return nil, err
		}
		return a.Make(x, nil, nil)
	case anatomy.Words, anatomy.Element:
		t := b.columns[name].(*tensor.Strings)
		if err := b.rows(name, t, entries); err != nil {
			return nil, err
		}
		x, err := b.meant(name, t, s)
		if err != nil {
			return nil, err
		}
		return ragged.FromPartitions(x, outer...)
	case anatomy.Held:
		x, err := b.value(name, a.Inner, outer, entries)
		if err != nil {
			return nil, err
		}
		return s.Assemble([]tenon.Value{x})
	case anatomy.Parts:
		return b.parts(name, a, outer, entries)
	}
	return nil, badInput("%s: %s is not supported by this protocol", name, tenon.String(s))
}

// meant parses the texts of elements such as times and decimals.
func (b *building) meant(name string, texts *tensor.Strings, s tenon.Spec) (tensor.Tensor, error) {
	e, ok := s.(element.Spec)
	if !ok {
		return structured.EncodeStrings(texts)
	}
	t, n := e.Type(), texts.Len()
	out := element.NewBuilder(t, n)
	for i := range n {
		err := out.Append(texts.At(i))
		switch m := len(b.mask); {
		case err == nil:
		case m > 0 && n%m == 0 && !b.mask[i/(n/m)] || m > 0 && n%m != 0 && texts.At(i) == "":
			out.Skip() // a missing element
		default:
			return nil, badInput("%s: element %d: %v", name, i, err)
		}
	}
	return out.Build(texts.Shape()), nil
}

// parts returns a Value of a type of which only the components are known.
func (b *building) parts(name string, a anatomy.Spec, outer []*ragged.RowPartition, entries int) (v tenon.Value, err error) {
	if len(outer) > 0 {
		return nil, badInput("%s is not supported in lists of records", name)
	}
	fields := make([]tenon.Value, len(a.Fields))
	for i, f := range a.Fields {
		if fields[i], err = b.value(name+"."+f.Name, f.Spec, nil, entries); err != nil {
			return nil, err
		}
	}
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, badInput("the components of %s do not fit together", name)
		}
	}()
	if v, err = a.MakeParts(fields); err != nil {
		return nil, badInput("%s: %s", name, explained(err))
	}
	return v, nil
}

// tensor returns a Value that is a tensor.
func (b *building) tensor(name string, s tenon.Spec, outer []*ragged.RowPartition, entries int) (tensor.Tensor, error) {
	return made(b.value(name, s, outer, entries))
}

// optional returns a Value with missing elements.
func (b *building) optional(name string, a anatomy.Spec, outer []*ragged.RowPartition, entries int) (tenon.Value, error) {
	inner, mask := a.Inner, a.Mask
	if m := anatomy.OfSpec(mask); m.Kind == anatomy.Lists { // both have the same splits
		var err error
		if outer, entries, err = b.partitions(name, m.Partitions, outer, entries, func() int { return b.entries(name + ".mask") }); err != nil {
			return nil, err
		}
		inner, mask = anatomy.OfSpec(inner).Inner, m.Inner
	}
	around := b.mask
	if m, ok := b.columns[name+".mask"].(*tensor.Dense); ok {
		b.mask = tensor.Data[bool](m)
	}
	x, err := b.tensor(name+".values", inner, outer, entries)
	b.mask = around
	if err != nil {
		return nil, err
	}
	m, err := b.tensor(name+".mask", mask, outer, entries)
	if err != nil {
		return nil, err
	}
	if a.Outside() {
		return a.Make(x, nil, m)
	}
	return masked.New(x, m)
}

// made returns a Value as a tensor.
func made(v tenon.Value, err error) (tensor.Tensor, error) {
	if err != nil {
		return nil, err
	}
	t, ok := v.(tensor.Tensor)
	if !ok {
		return nil, badInput("%s is not a tensor", tenon.String(v.Spec()))
	}
	return t, nil
}

// lists returns a ragged Value.
func (b *building) lists(name string, a anatomy.Spec, outer []*ragged.RowPartition, entries int) (tenon.Value, error) {
	column := name
	if slices.ContainsFunc(a.Partitions[len(outer):], func(p *ragged.PartitionSpec) bool { return !p.IsUniform() }) {
		column = name + ".flat_values"
	}
	parts, n, err := b.partitions(name, a.Partitions, outer, entries, func() int { return b.entries(column) })
	if err != nil {
		return nil, err
	}
	var inner tensor.Tensor
	if _, ok := a.Inner.(*tensor.Spec); ok {
		inner = b.columns[column]
		if n >= 0 && inner.Shape().Dim(0) != n {
			return nil, badInput("%s has %d entries, but %s ends with %d", column, inner.Shape().Dim(0), name+".row_splits."+lastSplits(parts[len(outer):]), n)
		}
	} else if inner, err = b.tensor(column, a.Inner, nil, n); err != nil {
		return nil, err
	}
	if a.Outside() {
		return a.Make(inner, parts, nil)
	}
	return ragged.FromPartitions(inner, parts...)
}

// rows checks the number of entries of a column.
func (b *building) rows(name string, t tensor.Tensor, entries int) error {
	if entries >= 0 && t.Shape().Dim(0) != entries {
		return badInput("%s has %d entries, want %d", name, t.Shape().Dim(0), entries)
	}
	return nil
}

// entries returns the number of entries of a column, or a negative number if there is no such
// column.
func (b *building) entries(column string) int {
	if t, ok := b.columns[column]; ok && t.Shape().Rank() > 0 {
		return t.Shape().Dim(0)
	}
	return -1
}

// rowsAbove returns the number of rows of uniform partitions, according to the first splits below them,
// or to the number of values; negative if neither is known.
func (b *building) rowsAbove(name string, specs []*ragged.PartitionSpec, values func() int) int {
	each := 1
	for _, p := range specs {
		if !p.IsUniform() {
			return max(b.columns[name+".row_splits.0"].Shape().Dim(0)-1, 0) / max(each, 1)
		}
		each *= p.UniformRowLength()
	}
	if n := values(); n >= 0 && each > 0 {
		return n / each
	}
	return -1
}

// partitions returns the partitions of a Value: outer, and its own. values returns the number of
// entries that they divide.
func (b *building) partitions(name string, specs []*ragged.PartitionSpec, outer []*ragged.RowPartition, entries int, values func() int) (parts []*ragged.RowPartition, n int, err error) {
	parts, n = append(parts, outer...), entries
	splits := 0
	for _, p := range specs[len(outer):] {
		var part *ragged.RowPartition
		if p.IsUniform() {
			o := ragged.PartitionOptions{}
			if n < 0 {
				n = b.rowsAbove(name, specs[len(parts):], values)
			}
			if n >= 0 {
				o.NRows = n
			}
			if part, err = ragged.PartitionFromUniformRowLength(p.UniformRowLength(), o); err != nil {
				return nil, 0, badInput("%s: %v", name, err)
			}
			if n >= 0 {
				n *= p.UniformRowLength()
			}
		} else {
			at := fmt.Sprintf("%s.row_splits.%d", name, splits)
			splits++
			t := b.columns[at]
			if n, err = checkSplits(at, t, n); err != nil {
				return nil, 0, err
			}
			if part, err = ragged.PartitionFromRowSplits(t, ragged.PartitionOptions{}); err != nil {
				return nil, 0, badInput("%s: %v", at, err)
			}
		}
		parts = append(parts, part)
	}
	return parts, n, nil
}

// checkSplits checks the row splits of rows rows (negative: unknown), and returns the number of
// values.
func checkSplits(name string, t tensor.Tensor, rows int) (int, error) {
	s, ok := int64s(t)
	switch {
	case !ok || len(s) == 0:
		return 0, badInput("%s is empty; row splits begin with 0", name)
	case s[0] != 0:
		return 0, badInput("%s begins with %d, not 0", name, s[0])
	case rows >= 0 && len(s) != rows+1:
		return 0, badInput("%s has %d splits, want %d for %d rows", name, len(s), rows+1, rows)
	}
	for i := 1; i < len(s); i++ {
		if s[i] < s[i-1] {
			return 0, badInput("%s decreases from %d to %d at split %d", name, s[i-1], s[i], i)
		}
	}
	return int(s[len(s)-1]), nil
}

// int64s returns the elements of a vector of int32 or int64.
func int64s(t tensor.Tensor) ([]int64, bool) {
	d, ok := t.(*tensor.Dense)
	if !ok {
		return nil, false
	}
	switch d.DType() {
	case dtype.Int64:
		return tensor.Data[int64](d), true
	case dtype.Int32:
		out := make([]int64, d.Len())
		for i, x := range tensor.Data[int32](d) {
			out[i] = int64(x)
		}
		return out, true
	}
	return nil, false
}

// records assembles records from their fields.
func (b *building) records(name string, s *structured.Spec, outer []*ragged.RowPartition, entries int) (tenon.Value, error) {
	parts, n, err := b.partitions(name, s.RowPartitions(), outer, entries, func() int { return b.count(name, s) })
	if err != nil {
		return nil, err
	}
	if n < 0 { // all fields must have as many entries as the first one
		n = b.count(name, s)
	}
	if len(parts) > 0 {
		a := anatomy.OfSpec(s)
		list := make([]tenon.Value, len(a.Fields))
		for i, f := range a.Fields { // the fields have an entry for each of the innermost records
			if list[i], err = b.value(name+"."+f.Name, f.Spec, nil, n); err != nil {
				return nil, err
			}
		}
		v, err := a.MakeRecords(parts, parts[0].StaticNRows(), list)
		if err != nil {
			return nil, badInput("%s: %s", name, explained(err))
		}
		return v, nil
	}
	var fields []structured.Field
	for _, f := range s.Fields() {
		v, err := b.tensor(name+"."+f.Name, f.Spec, nil, n)
		if err != nil {
			return nil, err
		}
		fields = append(fields, structured.Field{Name: f.Name, Value: v})
	}
	var o structured.Options
	if n >= 0 && s.Rank() > 0 {
		o.NRows = n
	}
	t, err := structured.FromFields(fields, unknown(s.Rank()), o)
	if err != nil {
		return nil, badInput("%s: %v", name, explained(err))
	}
	return t, nil
}

// count returns the number of records according to the first column of the fields.
func (b *building) count(name string, s *structured.Spec) int {
	if s.Rank() == 0 {
		return -1
	}
	for _, f := range s.Fields() {
		l, err := layoutOf(name+"."+f.Name, f.Spec)
		if err != nil || len(l.columns) == 0 {
			continue
		}
		for _, c := range l.columns {
			t, ok := b.columns[c.name]
			if !ok || t.Shape().Rank() == 0 {
				continue
			}
			if c.splits {
				return t.Shape().Dim(0) - 1
			}
			if anatomy.OfSpec(f.Spec).Kind != anatomy.Lists {
				return t.Shape().Dim(0)
			}
		}
	}
	return -1
}
