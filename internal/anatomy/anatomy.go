package anatomy

import (
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// A Kind is the kind of structure of a Value.
type Kind uint8

// The kinds.
const (
	Parts    Kind = iota // Fields, the components of a type about which nothing else is known
	Leaf                 // numbers or strings
	Lists                // Inner, divided by Partitions
	Optional             // Inner, and a Mask that is false where an element is missing
	Records              // Fields with an entry for each record, divided by Partitions
	Union                // Inner are records: the first field is the tag, the others variants
	Map                  // Inner are records: their only field holds the entries
	Words                // Inner holds the numbers of words
	Element              // Fields, the stored form of an element.Tensor
	Held                 // Inner has a row for each element, and need not be a tensor
	Named                // Inner with Names
)

// A Spec describes the structure of the Values of a tenon.Spec.
type Spec struct {
	Kind       Kind
	Inner      tenon.Spec
	Mask       tenon.Spec
	Partitions []*ragged.PartitionSpec
	Fields     []tenon.Field // fields of records, and components of Parts and Map
	Names      []named.Name

	of tenon.Spec
}

// namedSpec is the Spec of a tensor whose dimensions have names.
type namedSpec interface {
	Inner() tenon.Spec
	Dims() named.Dims
}

// OfSpec returns the structure of the Values of a Spec.
func OfSpec(s tenon.Spec) Spec {
	a := Spec{of: s}
	if tenon.IsLeaf(s) {
		a.Kind = Leaf
		return a
	}
	switch x := s.(type) {
	case ragged.DividedSpec:
		a.Kind, a.Inner, a.Partitions = Lists, x.Flat(), x.Partitions()
	case masked.OptionalSpec:
		a.Kind, a.Inner, a.Mask = Optional, x.Values(), x.Mask()
	case namedSpec:
		a.Kind, a.Inner, a.Names = Named, x.Inner(), x.Dims().Names()
	case *structured.Spec:
		all := x.Components()
		a.Kind, a.Partitions, a.Fields = Records, x.RowPartitions(), all[len(all)-len(x.FieldNames()):]
		for i, name := range x.FieldNames() {
			a.Fields[i].Name = name
		}
	case *structured.UnionSpec:
		a.Kind, a.Inner = Union, x.Components()[0].Spec
	case *structured.MapSpec:
		a.Kind, a.Inner, a.Fields = Map, x.Components()[0].Spec, x.Components()
	case *structured.DictionarySpec:
		a.Kind, a.Inner = Words, x.Components()[0].Spec
	case element.Spec:
		a.Kind, a.Fields = Element, x.Components()
	case *structured.HeldSpec:
		a.Kind, a.Inner = Held, x.Value()
	default:
		a.Fields = s.Components()
	}
	return a
}

// A Field is a named part of a Value.
type Field struct {
	Name  string
	Value tenon.Value
}

// A Value describes the structure of a tenon.Value.
type Value struct {
	Kind       Kind
	Inner      tenon.Value
	Mask       tensor.Tensor
	Partitions []*ragged.RowPartition
	Fields     []Field
	Words      tensor.Tensor
	Names      []named.Name

	// Rows is the number of the innermost records, or shape.Unknown.
	Rows int
}

// Of returns the structure of a Value. The kind is that of its Spec.
func Of(v tenon.Value) Value {
	switch v.(type) {
	case *tensor.Dense, *tensor.Strings:
		return Value{Kind: Leaf}
	}
	s := OfSpec(v.Spec())
	a := Value{Kind: s.Kind, Names: s.Names}
	if s.Kind == Leaf {
		return a
	}
	if d, ok := v.(ragged.Divided); ok && s.Kind == Lists {
		a.Inner, a.Partitions = d.FlatValues(), d.Partitions()
		return a
	}
	if m, ok := v.(masked.Optional); ok && s.Kind == Optional {
		a.Inner, a.Mask = m.Values(), m.Mask()
		return a
	}
	if d, ok := v.(*structured.Dictionary); ok {
		a.Inner, a.Words = d.Codes(), d.Words()
		return a
	}
	parts := tenon.Must(v.Spec().Disassemble(v))
	switch s.Kind {
	case Union, Map, Held, Named:
		a.Inner = parts[0]
	case Records:
		a.records(v.(*structured.Tensor), s, parts[len(parts)-len(s.Fields):])
	default: // what says that it is something, and is not, is its components
		if s.Kind != Element {
			a.Kind = Parts
		}
		for i, f := range v.Spec().Components() {
			a.Fields = append(a.Fields, Field{f.Name, parts[i]})
		}
	}
	return a
}

// records fills in the structure of records.
func (a *Value) records(t *structured.Tensor, s Spec, columns []tenon.Value) {
	a.Partitions, a.Rows = t.RowPartitions(), shape.Unknown
	for i, f := range s.Fields {
		a.Fields = append(a.Fields, Field{f.Name, columns[i]})
	}
	n := t.NRows()
	if k := len(a.Partitions); k > 0 {
		n = a.Partitions[k-1].NVals()
	}
	if n == nil { // a single record
		a.Rows = 1
	} else if d, ok := op.Known(ops.Cast(n, dtype.Int64)); ok {
		a.Rows = int(tensor.Item[int64](d))
	}
}

// Make assembles a Value of the Spec, whose number of rows may differ: from flat values and
// partitions, from values and a mask, or from the content of a single part. The mask is nil if
// there is none.
func (s Spec) Make(inner tenon.Value, partitions []*ragged.RowPartition, mask tensor.Tensor) (tenon.Value, error) {
	switch s.Kind {
	case Lists:
		v, err := s.of.Assemble(append([]tenon.Value{inner}, values(partitions)...))
		if t, ok := inner.(tensor.Tensor); ok && err != nil && s.of.TypeName() == ragged.TypeName {
			return ragged.FromPartitions(t, partitions...) // whose Spec says no more than that of rows
		}
		if err != nil {
			return rows.Assemble(s.of, append([]tenon.Value{inner}, values(partitions)...))
		}
		return v, nil
	case Optional:
		return s.assemble([]tenon.Value{inner, mask})
	case Held:
		return structured.HoldRows(inner)
	case Named:
		n, err := named.NewSpec(inner.Spec(), s.Names...)
		if err != nil {
			return nil, err
		}
		return n.Assemble([]tenon.Value{inner})
	case Union, Map:
		of, err := tenon.Decode(s.of.TypeName(), tenon.SpecOf{Spec: inner.Spec()})
		if err != nil {
			return nil, err
		}
		return of.Assemble([]tenon.Value{inner})
	}
	return nil, &tenon.Error{Kind: tenon.ErrDType, Op: "anatomy.Make", Msg: tenon.String(inner.Spec()) + " cannot make a " + tenon.String(s.of)}
}

// Outside reports whether Values of the Spec are lists, or may lack elements, and have a type
// defined elsewhere.
func (s Spec) Outside() bool {
	return s.Kind == Lists && s.of.TypeName() != ragged.TypeName || s.Kind == Optional && s.of.TypeName() != masked.TypeName
}

// Like returns a Value of the Spec with the contents of v or, if the Spec is Held or Named, with v
// itself; maps are made from their entries.
func (s Spec) Like(v tenon.Value) (tenon.Value, error) {
	if e, ok := v.(*structured.Tensor); ok && s.Kind == Map {
		return structured.MapOf(e)
	}
	if s.Kind == Lists || s.Kind == Optional {
		if a := Of(v); a.Kind == s.Kind {
			return s.Make(a.Inner, a.Partitions, a.Mask)
		}
	}
	return s.Make(v, nil, nil)
}

// MakeParts assembles a Value from the fields of a type of which only the components are known.
func (s Spec) MakeParts(fields []tenon.Value) (tenon.Value, error) {
	if v, err := s.assemble(fields); err == nil {
		return v, nil
	}
	b, ok := s.of.(tenon.Batcher)
	if !ok {
		return s.of.Assemble(fields)
	}
	row, err := b.Unbatched()
	if err != nil {
		return nil, err
	}
	if b, ok = row.(tenon.Batcher); !ok {
		return s.of.Assemble(fields)
	}
	n, err := rows.Count(fields[0])
	if err != nil {
		return nil, err
	}
	many, err := b.Batched(n)
	if err != nil {
		return nil, err
	}
	return rows.Assemble(many, fields)
}

// MakeRecords assembles n records from columns, whose numbers of rows may differ from those of the
// Spec.
func (s Spec) MakeRecords(partitions []*ragged.RowPartition, n int, columns []tenon.Value) (tenon.Value, error) {
	components := values(partitions)
	e, ok := s.of.Encode().(tenon.Tuple)
	if !ok || len(e) != 4 {
		return nil, &tenon.Error{Kind: tenon.ErrDType, Op: "anatomy.MakeRecords", Msg: tenon.String(s.of) + " is not the Spec of records"}
	}
	if d, ok := e[1].(tenon.DType); ok && len(partitions) == 0 && len(columns) == 0 {
		components = append(components, ops.Cast(tensor.Scalar(int64(n)), d.DType))
	}
	components = append(components, columns...)
	if len(partitions) == len(s.Partitions) {
		if v, err := s.of.Assemble(components); err == nil {
			return v, nil
		}
	}
	of, err := respecified(e, partitions, n, columns)
	if err != nil {
		return nil, err
	}
	return of.Assemble(components)
}

// respecified returns the Spec of records with the fields of another one, which e encodes.
func respecified(e tenon.Tuple, partitions []*ragged.RowPartition, n int, columns []tenon.Value) (tenon.Spec, error) {
	e = slices.Clone(e)
	var list tenon.List
	for i, p := range partitions {
		if i == 0 {
			n = p.StaticNRows()
		}
		list = append(list, tenon.SpecOf{Spec: p.Spec()})
	}
	old, _ := e[3].(tenon.List)
	fields := slices.Clone(old)
	for i, c := range columns {
		f := slices.Clone(fields[i].(tenon.Tuple))
		f[1] = tenon.SpecOf{Spec: c.Spec()}
		fields[i] = f
	}
	e[0], e[2], e[3] = tenon.Shape{Shape: shape.Of(n)}, list, fields
	return tenon.Decode(structured.TypeName, e)
}

// assemble makes a value from components; its Spec is adapted to them where necessary.
func (s Spec) assemble(components []tenon.Value) (tenon.Value, error) {
	if v, err := s.of.Assemble(components); err == nil {
		return v, nil
	}
	return rows.Assemble(s.of, components)
}

func values(partitions []*ragged.RowPartition) []tenon.Value {
	var out []tenon.Value
	for _, p := range partitions {
		out = append(out, p)
	}
	return out
}
