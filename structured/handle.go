package structured

import (
	"reflect"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// moves reports whether an operation only selects, joins, repeats or moves elements without making
// new ones: what it does to the numbers of the records can be done to the records. An operation
// with several results returns more than where its operands' elements go.
func moves(o *op.Op) bool {
	return o.Moves != 0 && !o.Fills && !o.Checks && (o.Results == 1 || o.Results < 0)
}

// describes reports whether the result of an operation depends only on the dimensions of records.
func describes(o *op.Op) bool { return o.ShapeOnly.Has(0) && o.Axes == op.Create }

// overrides has the operations that look at the elements of records, and others for which the
// statement does not say enough.
var overrides map[string]func(t *Tensor, c *op.Call) ([]tenon.Value, error)

func init() {
	overrides = map[string]func(t *Tensor, c *op.Call) ([]tenon.Value, error){
		"index":   (*Tensor).indexed, // keys can also name fields
		"sort":    (*Tensor).sorted,
		"argsort": (*Tensor).sorted,
		"unique":  (*Tensor).unique,
		"pad":     (*Tensor).padded, // with a record
	}
	for name := range comparisons {
		overrides[name] = (*Tensor).compared
	}
}

// Overrides reports whether records have code of their own for an operation.
func (*Tensor) Overrides(o *op.Op) bool { return overrides[o.Name] != nil }

// HandleOp answers operations on structure; see the package documentation.
func (t *Tensor) HandleOp(c *op.Call) ([]tenon.Value, error) {
	if h := overrides[c.Op.Name]; h != nil {
		return h(t, c)
	}
	switch {
	case moves(c.Op):
		return moved(c)
	case describes(c.Op):
		return op.One(op.Apply(c, t.divided()))
	case c.Op.ShapeOnly.Has(0): // zeros and ones with the dimensions of the records
		d, ok := c.Attr("dtype").(dtype.DType)
		if !ok || d == dtype.None {
			d = dtype.Float32
		}
		return op.One(op.Apply(c, ops.Cast(t.divided(), d)))
	}
	return nil, op.NotHandled
}

// indexed answers indexing by fields, entries and elements.
func (t *Tensor) indexed(c *op.Call) ([]tenon.Value, error) {
	keys := tenon.Must(key.Of(c, 1))
	if c.Value(0) != tenon.Value(t) {
		return nil, op.NotHandled
	}
	return op.One(t.index(keys))
}

// moved applies an operation to the numbers of all records among its arguments,
// and gathers the fields' entries by the resulting numbers.
func moved(c *op.Call) ([]tenon.Value, error) {
	values := c.Values()
	var structs []*Tensor
	for k, v := range c.Operands() {
		if s, ok := v.(*Tensor); ok && c.Op.Moves.Has(k) {
			structs = append(structs, s)
		} else if _, maybe := v.(optional); ok || maybe {
			return nil, op.NotHandled // optional values ask separately for their records and their mask
		} else if c.Op.Moves.Has(k) {
			return nil, c.Errorf(tenon.ErrInvalid, "structured tensors can be joined only with each other")
		}
	}
	if i, ok := c.Attr("indices").(tensor.Tensor); ok && !i.DType().IsInteger() {
		return nil, c.Errorf(tenon.ErrInvalid, "the indices are %v, not integers", i.DType())
	}
	d := structs[0].dtype
	for _, s := range structs[1:] {
		if s.dtype != d {
			d = dtype.Int64
		}
	}
	for i, s := range structs {
		structs[i] = withSplits(s, d).(*Tensor)
		tenon.Throw(sameFields(c, structs[0], s))
	}
	cols := joined(structs)
	first := tensor.Tensor(tensor.Scalar(int64(0)))
	args := slices.Clone(values)
	k := 0
	for i, v := range values {
		if _, ok := v.(*Tensor); !ok {
			continue
		}
		s := structs[k]
		k++
		args[i] = s.numbersFrom(first)
		if k == len(structs) {
			break
		}
		n := tensor.Tensor(tensor.Scalar(int64(1)))
		if s.rank > 0 {
			n = ops.Cast(s.count(), dtype.Int64)
		}
		first = ops.Add(first, n)
	}
	if axis, ok := c.Attr("axis").(int); ok && c.Op.Axes == op.Stack && differ(args) {
		return op.One(byNumbers(cols, tenon.Must(ragged.Stack(asTensors(args), axis)), d))
	}
	results := op.ApplyN(c, args...)
	out := make([]tenon.Value, len(results))
	for i, at := range results {
		out[i] = byNumbers(cols, at, d)
	}
	return out, nil
}

// differ reports whether the numbers of records are in lists whose lengths differ or are unknown,
// so that they are stacked as rows of different lengths.
func differ(numbers []tenon.Value) bool {
	first := numbers[0].(tensor.Tensor).Shape()
	return slices.ContainsFunc(numbers, func(v tenon.Value) bool {
		_, parted := v.(divided)
		s := v.(tensor.Tensor).Shape()
		return !parted && s.HasRank() && s.Rank() > 0 && s.Rank() == first.Rank() && !(s.IsFull() && s.Equal(first))
	})
}

func asTensors(values []tenon.Value) []tensor.Tensor {
	out := make([]tensor.Tensor, len(values))
	for i, v := range values {
		out[i] = v.(tensor.Tensor)
	}
	return out
}

// joined returns the concatenated columns of several tensors with the same fields.
func joined(structs []*Tensor) []column {
	cols := structs[0].rows()
	if len(structs) == 1 {
		return cols
	}
	out := slices.Clone(cols)
	for i, c := range cols {
		parts := make([]tensor.Tensor, len(structs))
		for k, s := range structs {
			rest := s.rows()[s.find(c.name)]
			parts[k] = rest.v()
			out[i].inner = min(out[i].inner, rest.inner)
		}
		out[i] = out[i].with(join(parts))
	}
	return out
}

// join concatenates the entries of columns. Columns whose entries may be missing
// as a whole keep that mask, however their elements are divided.
func join(parts []tensor.Tensor) tensor.Tensor {
	rank := 0 // of the outermost mask
	for _, v := range parts {
		if m, ok := v.(optional); ok {
			if k := m.Mask().Shape().Rank(); rank == 0 || k < rank {
				rank = k
			}
		}
	}
	if rank == 0 {
		if inner, with, ok := alike(parts); ok {
			return with([]tensor.Tensor{join(inner)})
		}
		parts = slices.Clone(parts)
		for i, v := range parts {
			if d, ok := v.(*Dictionary); ok {
				parts[i] = d.Decode()
			}
		}
		return ops.Concat(aligned(parts), 0)
	}
	values, masks := slices.Clone(parts), slices.Clone(parts)
	for i, v := range parts {
		if m, ok := v.(optional); ok && m.Mask().Shape().Rank() == rank {
			values[i], masks[i] = m.Values(), m.Mask()
		} else {
			masks[i] = allThere(v, rank)
		}
	}
	return hidden(join(values), join(masks))
}

// alike returns the contents of columns that each wrap a single tensor in the same way: unions,
// maps, and dictionaries with the same words.
func alike(parts []tensor.Tensor) (inner []tensor.Tensor, with func([]tensor.Tensor) tensor.Tensor, ok bool) {
	for i, v := range parts {
		switch x := v.(type) {
		case composite:
			if reflect.TypeOf(v) != reflect.TypeOf(parts[0]) {
				return nil, nil, false
			}
		case *Dictionary:
			if first, ok := parts[0].(*Dictionary); !ok || x.words != first.words {
				return nil, nil, false
			}
		default:
			return nil, nil, false
		}
		list, f, _ := pieces(v)
		inner = append(inner, list[0])
		if i == 0 {
			with = f
		}
	}
	return inner, with, true
}

// allThere returns a mask over the first dimensions of a column that is true everywhere.
func allThere(v tensor.Tensor, rank int) tensor.Tensor {
	if rank == 1 {
		return ops.Fill(ops.ExpandDims(sizeOf(v, dtype.Int64), 0), true)
	}
	below, splits := elementsOf(v)
	return tenon.Must(ragged.FromRowSplits(allThere(below, rank-1), splits))
}

// aligned returns dense tensors, and records, as ragged ones if their Specs say that the sizes of
// their rows differ, like those of lists in single records.
func aligned(parts []tensor.Tensor) []tensor.Tensor {
	depth := 0
	first := parts[0].Shape()
	_, records := parts[0].(*Tensor)
	for _, v := range parts {
		s, ok := v.(*Tensor)
		if ok != records || !ok && v.Spec().TypeName() != tensor.TypeName || !first.HasRank() || v.Shape().Rank() != first.Rank() {
			return parts
		}
		for i := depth + 1; i < first.Rank(); i++ {
			n, m := first.Dim(i), v.Shape().Dim(i)
			if n != m && (n >= 0 && m >= 0 || records && s.rank > i) {
				depth = i
			}
		}
	}
	if depth == 0 {
		return parts
	}
	out := make([]tensor.Tensor, len(parts))
	for i, v := range parts {
		if s, ok := v.(*Tensor); ok {
			out[i] = s.ragged(depth)
		} else {
			out[i] = tenon.Must(ragged.WithRaggedRank(v, depth))
		}
	}
	return out
}

// ragged returns the records with the first depth partitions not declared uniform.
func (t *Tensor) ragged(depth int) *Tensor {
	parts := slices.Clone(t.parts)
	for i, p := range parts[:min(depth, len(parts))] {
		if p.IsUniform() {
			parts[i] = partitionOf(p.RowSplits())
		}
	}
	return newTensor(t.rank, t.nrows, parts, t.cols, t.dtype)
}

// sameFields checks that two tensors in a call have the same fields of the same kinds.
func sameFields(c *op.Call, s, u *Tensor) error {
	if len(s.cols) != len(u.cols) {
		return c.Errorf(tenon.ErrInvalid, "the fields differ: %q and %q", s.FieldNames(), u.FieldNames())
	}
	for _, a := range s.cols {
		k := u.find(a.name)
		if k < 0 {
			return c.Errorf(tenon.ErrInvalid, "the field %q is missing in an operand", a.name)
		}
		if err := sameKind(c, a.name, a.v(), u.cols[k].v(), s.rank > 0 && u.rank > 0); err != nil {
			return err
		}
	}
	return nil
}

// sameKind checks that two columns can be joined; ranked means that both have
// rows.
func sameKind(c *op.Call, name string, a, b tensor.Tensor, ranked bool) error {
	a, _ = unmasked(a)
	b, _ = unmasked(b)
	x, ok := a.(*Tensor)
	y, ok2 := b.(*Tensor)
	switch {
	case ok != ok2 || ok && ranked && x.rank != y.rank:
		return c.Errorf(tenon.ErrInvalid, "the field %q has records of different ranks", name)
	case ok:
		return sameFields(c, x, y)
	case a.DType() != b.DType():
		return c.Errorf(tenon.ErrInvalid, "the field %q is %v and %v", name, a.DType(), b.DType())
	}
	return nil
}
