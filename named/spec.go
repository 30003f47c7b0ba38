package named

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// TypeName is the registered name of [*Spec].
const TypeName = "named.Tensor"

// Spec describes named tensors: the names of the dimensions in the order in which they are stored,
// and the Spec of the contents. Specs with different orders differ. The conversion between them is
// declared as a cast, so that, for example, the branches of a condition may have different orders.
type Spec struct {
	names *layout
	inner tenon.Spec // of a tensor whose rank is the number of names
}

// Rows is the name of the dimension that generic code adds at the front when it stacks tensors:
// package control for the outputs of a loop, or a data set for its batches. Rename it to what it
// means:
//
//	named.Rename[named.Rows, Batch](x)
//
// Conversely, such code takes a tensor apart along Rows.
type Rows struct{ Dim[Rows] }

// Wrt is used in Jacobians whose result also has the dimension N: it names the dimension N of the
// argument with respect to which the derivative is taken. The Jacobian of a function {Rep} → {Rep}
// is {Rep, Wrt[Rep]}.
type Wrt[N Is[N]] struct{ Dim[Wrt[N]] }

var rowsID = groupOf[Rows]().ids[0]

// NewSpec returns the Spec of tensors with the given dimensions around values of an inner Spec,
// which must be that of a dense or ragged tensor.
func NewSpec(inner tenon.Spec, dims ...Name) (*Spec, error) {
	l, err := tenon.Try(func() *layout { return By(dims...).names })
	if err != nil {
		return nil, err
	}
	return newSpec("named.NewSpec", l, inner)
}

func newSpec(fn string, l *layout, inner tenon.Spec) (*Spec, error) {
	if err := namesFit(fn, l, inner); err != nil {
		return nil, err
	}
	if l.index(rowsID) > 0 {
		return nil, newError(tenon.ErrInvalid, fn, fmt.Sprintf("%v is always stored first: {%v}", rowsID, l))
	}
	return &Spec{l, inner}, nil
}

// typed is the interface of Specs of tensors.
type typed interface {
	DType() dtype.DType
	Shape() shape.Shape
}

func shapeOf(inner tenon.Spec) (shape.Shape, bool) {
	t, ok := inner.(typed)
	if !ok {
		return shape.UnknownRank, false
	}
	if _, nested := inner.(*Spec); nested {
		return shape.UnknownRank, false
	}
	return t.Shape(), true
}

// Dims returns the names in the order in which the dimensions are stored.
func (s *Spec) Dims() Dims { return Dims{s.names} }

// Inner returns the Spec of the tensor without names.
func (s *Spec) Inner() tenon.Spec { return s.inner }

// DType returns the type of the elements.
func (s *Spec) DType() dtype.DType { return s.inner.(typed).DType() }

// Shape returns the sizes in the order in which the dimensions are stored.
func (s *Spec) Shape() shape.Shape { return s.inner.(typed).Shape() }

// TypeName returns "named.Tensor".
func (*Spec) TypeName() string { return TypeName }

// Encode returns ([name…], inner Spec), each name by its path.
func (s *Spec) Encode() tenon.Encoding {
	l := make(tenon.List, len(s.names.ids))
	for i, n := range s.names.ids {
		l[i] = tenon.Str(n.info().path)
	}
	return tenon.Tuple{l, tenon.SpecOf{Spec: s.inner}}
}

func decodeSpec(e tenon.Encoding) (tenon.Spec, error) {
	var l tenon.List
	var inner tenon.SpecOf
	if err := tenon.Unpack(e, &l, &inner); err != nil {
		return nil, err
	}
	if inner.Spec == nil {
		return nil, newError(tenon.ErrInvalid, "named.Spec", "there is no Spec of the contents")
	}
	ids := make([]id, 0, min(len(l), shape.MaxRank))
	for _, x := range l {
		path, err := tenon.As[tenon.Str](x)
		if err != nil {
			return nil, err
		}
		if err := checkName(string(path)); err != nil {
			return nil, err
		}
		ids = append(ids, intern(string(path), nil))
	}
	return newSpec("named.Spec", layoutOf(ids), inner.Spec)
}

func init() { tenon.Register(TypeName, decodeSpec) }

// EqualSpec compares the fields without encoding the Specs.
func (s *Spec) EqualSpec(other tenon.Spec) bool {
	o, ok := other.(*Spec)
	return ok && s.names == o.names && tenon.Equal(s.inner, o.inner)
}

// Components returns the tensor without names, called "data".
func (s *Spec) Components() []tenon.Field { return []tenon.Field{{Name: "data", Spec: s.inner}} }

// Disassemble returns the tensor without names.
func (s *Spec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	t, ok := asNamed(v)
	if !ok || t == nil || t.spec.names != s.names {
		got := "nil"
		if ok && t != nil {
			got = t.header()
		} else if v != nil && !ok {
			got = tenon.String(v.Spec())
		}
		return nil, newError(tenon.ErrDType, "named.Spec.Disassemble", fmt.Sprintf("got %s, want %v", got, s))
	}
	return []tenon.Value{t.data}, nil
}

// Assemble names the dimensions of a tensor.
func (s *Spec) Assemble(components []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, components); err != nil {
		return nil, err
	}
	data, ok := components[0].(tensor.Tensor)
	if !ok {
		return nil, newError(tenon.ErrDType, "named.Spec.Assemble", "a "+components[0].Spec().TypeName()+" is not a tensor")
	}
	if r := data.Shape().Rank(); r != len(s.names.ids) {
		return nil, newError(tenon.ErrShape, "named.Spec.Assemble", fmt.Sprintf("%s does not have the dimensions of %v", tenon.String(data.Spec()), s))
	}
	return newTensor(data, s.names, nil), nil
}

// Batched adds the dimension [Rows], of size n, at the front. A dimension that already has this
// name becomes "Rows_2", and so on.
func (s *Spec) Batched(n int) (tenon.Spec, error) {
	const fn = "named.Spec.Batched"
	b, ok := s.inner.(tenon.Batcher)
	if !ok {
		return nil, newError(tenon.ErrUnsupported, fn, fmt.Sprintf("%v cannot be batched", s))
	}
	inner, err := b.Batched(n)
	if err != nil {
		return nil, err
	}
	return newSpec(fn, layoutOf(append([]id{rowsID}, shiftRows(s.names.ids, 1)...)), inner)
}

// Unbatched removes the dimension [Rows], which must be stored first.
func (s *Spec) Unbatched() (tenon.Spec, error) {
	const fn = "named.Spec.Unbatched"
	if len(s.names.ids) == 0 || s.names.ids[0] != rowsID {
		return nil, newError(tenon.ErrUnsupported, fn, fmt.Sprintf("%v has no dimension named.Rows to take rows along", s)).
			WithHint("rename the dimension that is meant to named.Rows, or use named.Lift")
	}
	b, ok := s.inner.(tenon.Batcher)
	if !ok {
		return nil, newError(tenon.ErrUnsupported, fn, fmt.Sprintf("%v has no rows", s))
	}
	inner, err := b.Unbatched()
	if err != nil {
		return nil, err
	}
	return newSpec(fn, layoutOf(shiftRows(s.names.ids[1:], -1)), inner)
}

// shiftRows renames the dimensions that batching has added: Rows, Rows_2, Rows_3, …
func shiftRows(ids []id, by int) []id {
	out := make([]id, len(ids))
	for i, n := range ids {
		out[i] = n
		if k := rowsNumber(n); k > 0 {
			out[i] = rowsID
			if k+by > 1 {
				out[i] = intern("Rows_"+strconv.Itoa(k+by), nil)
			}
		}
	}
	return out
}

func rowsNumber(n id) int {
	if n == rowsID {
		return 1
	}
	if digits, ok := strings.CutPrefix(n.info().path, "Rows_"); ok {
		if k, err := strconv.Atoi(digits); err == nil && k > 1 && k < shape.MaxRank && digits == strconv.Itoa(k) {
			return k
		}
	}
	return 0
}

// Box encodes a value as the boxed form of its contents.
func (s *Spec) Box(v tenon.Value, minRank int) ([]tenon.Value, error) {
	parts, err := s.Disassemble(v)
	if err != nil {
		return nil, err
	}
	b, ok := s.inner.(tenon.Boxer)
	if !ok {
		return nil, newError(tenon.ErrUnsupported, "named.Spec.Box", fmt.Sprintf("%v cannot be encoded as tensors", s))
	}
	return b.Box(parts[0], minRank)
}

// Unbox is the inverse of Box.
func (s *Spec) Unbox(tensors []tenon.Value) (tenon.Value, error) {
	if len(tensors) == 1 && !tenon.IsLeaf(tensors[0].Spec()) && tenon.IsLeaf(s.inner) {
		// Rows of different lengths where the Spec has a uniform size: a batch of dense tensors.
		if x, ok := tensors[0].(tensor.Tensor); ok && x.DType() == s.DType() && x.Shape().Rank() == len(s.names.ids) {
			return newTensor(x, s.names, nil), nil
		}
	}
	b, ok := s.inner.(tenon.Boxer)
	if !ok {
		return nil, newError(tenon.ErrUnsupported, "named.Spec.Unbox", fmt.Sprintf("%v cannot be encoded as tensors", s))
	}
	v, err := b.Unbox(tensors)
	if err != nil {
		return nil, err
	}
	return s.Assemble([]tenon.Value{v})
}

// CastSpec returns the Spec, with the receiver's order, to which values of both Specs can be cast.
// The two may differ only in the order of their dimensions and in sizes.
func (s *Spec) CastSpec(other tenon.Spec) (tenon.Spec, bool) {
	o, ok := other.(*Spec)
	if !ok || !equalNames(s.names, o.names) {
		return nil, false
	}
	t, err := o.inOrder(s.names)
	if err != nil {
		return nil, false
	}
	return tenon.Merge(s, t)
}

// inOrder returns the Spec of the same tensors stored in another order.
func (s *Spec) inOrder(l *layout) (*Spec, error) {
	if s.names == l {
		return s, nil
	}
	perm := s.names.positions(l)
	switch inner := s.inner.(type) {
	case *tensor.Spec:
		dims := make([]int, len(perm))
		for i, a := range perm {
			dims[i] = inner.Shape().Dim(a)
		}
		return newSpec("named.Spec", l, tensor.NewSpec(inner.DType(), shape.Of(dims...)))
	case ragged.DividedSpec:
		flat, err := raggedInOrder(inner, perm)
		if err != nil {
			return nil, err
		}
		return newSpec("named.Spec", l, flat)
	}
	return nil, newError(tenon.ErrUnsupported, "named.Spec", fmt.Sprintf("%v cannot be stored in another order", s))
}

// Cast returns v stored in the order of the Spec.
func (s *Spec) Cast(v tenon.Value) (out tenon.Value, err error) {
	defer tenon.Catch(&err)
	t, ok := asNamed(v)
	if !ok || t == nil || !equalNames(s.names, t.spec.names) {
		return nil, newError(tenon.ErrUnsupported, "named.Spec.Cast", fmt.Sprintf("%s is not a %v in another order", tenon.String(v.Spec()), s))
	}
	return t.ordered(s.names), nil
}

// String returns "float32{Batch:8 Seq:? Token~}", where "?" stands for an unknown size and "~" for
// rows of different lengths.
func (s *Spec) String() string {
	var b strings.Builder
	sh := s.Shape()
	fmt.Fprintf(&b, "%v{", s.DType())
	r, isRagged := s.inner.(ragged.DividedSpec)
	for i, n := range s.names.ids {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s.names.text(n))
		switch d := sh.Dim(i); {
		case isRagged && raggedAxis(r, i):
			b.WriteByte('~')
		case d < 0:
			b.WriteString(":?")
		default:
			fmt.Fprintf(&b, ":%d", d)
		}
	}
	b.WriteByte('}')
	return b.String()
}
