package named

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Tensor is a tensor whose dimensions have names. It is immutable. Its contents may be dense or
// ragged, concrete or symbolic.
//
// The names are a set: no operation's meaning depends on the order in which the dimensions are
// stored. [Order] and [Unnamed] fix an order.
type Tensor struct {
	spec Spec
	data tensor.Tensor
	side *side  // nil outside of Lift
	from origin // where it comes from, for errors
}

// side is what Lift has set aside, and further facts about the dimensions.
type side struct {
	hidden *layout // names that a function inside Lift does not see
	extra  *layout // names that the tensor has in addition to those of a schema it was bound to
	seen   *seen   // for a mask, and for scores under it: who attends to whom; nil otherwise
}

var (
	_ tensor.Tensor    = (*Tensor)(nil)
	_ op.Handler       = (*Tensor)(nil)
	_ fmt.Formatter    = (*Tensor)(nil)
	_ tenon.Batcher    = (*Spec)(nil)
	_ tenon.Boxer      = (*Spec)(nil)
	_ tenon.Caster     = (*Spec)(nil)
	_ tensor.Concreter = (*Tensor)(nil)
)

// newTensor returns a tensor whose dimensions are named by l, in the order of data's axes.
func newTensor(data tensor.Tensor, l *layout, s *side) *Tensor {
	if _, dense := data.(*tensor.Dense); !dense {
		if n, ok := data.(dimsNamer); ok {
			data = n.NameDims(l.texts(l))
		}
	}
	t := &Tensor{spec: Spec{names: l, inner: data.Spec()}, data: data, side: s}
	if len(l.ids) > 1 && l.has(rowsID) && l.ids[0] != rowsID {
		return t.ordered(layoutOf([]id{rowsID}).and(l))
	}
	return t
}

// A dimsNamer is a tensor that is recorded somewhere, such as a value of a graph. It notes the
// names of its dimensions, and returns itself with these names.
type dimsNamer interface {
	NameDims(names []string) tensor.Tensor
}

// Spec returns the *Spec.
func (t *Tensor) Spec() tenon.Spec {
	if t == nil {
		fail(tenon.ErrInvalid, "named.Tensor", "a schema without a tensor is used")
	}
	return &t.spec
}

// DType returns the type of the elements.
func (t *Tensor) DType() dtype.DType { return t.data.DType() }

// Shape returns the sizes in the order in which the dimensions are stored. To get a size by name,
// use [Tensor.Size].
func (t *Tensor) Shape() shape.Shape { return t.data.Shape() }

// Dims returns the names in the order in which the dimensions are stored.
func (t *Tensor) Dims() Dims { return Dims{t.spec.names} }

// Has reports whether the tensor has all dimensions that n stands for.
func (t *Tensor) Has(n Name) bool { return t.spec.names.hasAll(n.group()) }

// Size returns the size of a dimension or, for several dimensions, the number of elements along
// them. It is -1 if it is not known or a dimension is ragged. Size throws if the tensor lacks a
// dimension.
func (t *Tensor) Size(n Name) int {
	size := 1
	for _, d := range n.group().ids {
		k := t.size(d)
		if k < 0 {
			return -1
		}
		size *= k
	}
	return size
}

func (t *Tensor) size(n id) int {
	at := t.spec.names.index(n)
	if at < 0 {
		throwMissing("named.Size", n, one{"tensor", t})
	}
	return t.data.Shape().Dim(at)
}

// GShape returns the size of each dimension by its printed name, -1 if it is not known or the
// dimension is ragged.
func (t *Tensor) GShape() map[string]int {
	l := t.spec.names
	m := make(map[string]int, len(l.ids))
	for i, n := range l.ids {
		m[l.text(n)] = t.data.Shape().Dim(i)
	}
	return m
}

// IsRagged reports whether the rows along a dimension have different lengths. It throws if the
// tensor lacks the dimension.
func (t *Tensor) IsRagged(n Name) bool {
	for _, d := range n.group().ids {
		if at := t.spec.names.index(d); at < 0 {
			throwMissing("named.IsRagged", d, one{"tensor", t})
		} else if t.raggedAxis(at) {
			return true
		}
	}
	return false
}

func (t *Tensor) raggedAxis(axis int) bool {
	s, ok := t.spec.inner.(ragged.DividedSpec)
	return ok && raggedAxis(s, axis)
}

// Concrete returns the tensor without names in the order in which it is stored, if its elements
// exist. tensor.Data and tensor.Item use it to read elements, which are therefore in the order of
// [Tensor.Dims].
func (t *Tensor) Concrete() (tensor.Tensor, error) {
	if c, ok := t.data.(tensor.Concreter); ok {
		return c.Concrete()
	}
	return t.data, nil
}

// self lets schemas, which embed a *Tensor, be used in its place.
func (t *Tensor) self() *Tensor { return t }

// holder is implemented by *Tensor and every schema.
type holder interface {
	tenon.Value
	self() *Tensor
}

// tensorOf returns the named tensor of a value; fn is the function that was
// called.
func tensorOf(fn string, x any) *Tensor {
	if t, ok := asNamed(x); ok {
		if t == nil {
			fail(tenon.ErrInvalid, fn, "the tensor is nil")
		}
		return t
	}
	what := fmt.Sprintf("a %T", x)
	if v, ok := x.(tenon.Value); ok {
		what = tenon.String(v.Spec())
	}
	e := newError(tenon.ErrDType, fn, "got "+what+", which has no names")
	e.Hint = "name its dimensions with named.Of"
	if w, ok := x.(Wrapper); ok {
		e.Msg = what + " wraps a named tensor, but is not one"
		e.Hint = w.UseNamed(fn)
	}
	tenon.Throw(e)
	return nil
}

// A Wrapper is a Value around a named tensor, such as a tensor with coordinates. It is not a named
// tensor itself, since what it adds would be lost.
type Wrapper interface {
	// UseNamed says how to use a function of this package with the value, for an error of that
	// function.
	UseNamed(fn string) string
}

func asNamed(x any) (*Tensor, bool) {
	switch x := x.(type) {
	case *Tensor:
		return x, true
	case holder:
		return x.self(), true
	}
	return nil, false
}

// From returns a value, which may be a schema or the result of a function of
// package ops for named tensors, as a *Tensor. It throws for a value without
// names.
func From(x tenon.Value) *Tensor { return tensorOf("named.From", x) }

// Of names the dimensions of a tensor, in the order of its axes. Like functions of package ops, it
// also accepts Go numbers and slices of them. It throws if the number of names differs from the
// rank or a name occurs twice.
//
//	named.Of([][]float32{{1, 2}, {3, 4}}, Seq{}, Rep{})
func Of(x any, dims ...Name) *Tensor {
	const fn = "named.Of"
	data, err := tensor.Convert(x)
	tenon.Throw(err)
	if t, ok := data.(*Tensor); ok {
		tenon.Throw(newError(tenon.ErrInvalid, fn, "the tensor has names: "+t.header()).WithHint("use named.Rename or named.Renaming"))
	}
	l := By(dims...).names
	checkNames(fn, l, data.Spec())
	t := newTensor(data, l, nil)
	t.from = here()
	return t
}

// checkNames checks that names match the contents.
func checkNames(fn string, l *layout, inner tenon.Spec) {
	tenon.Throw(namesFit(fn, l, inner))
}

func namesFit(fn string, l *layout, inner tenon.Spec) error {
	if n, twice := duplicate(l.ids); twice {
		return newError(tenon.ErrInvalid, fn, fmt.Sprintf("%v occurs twice: {%v}", n, l))
	}
	s, ok := shapeOf(inner)
	switch {
	case !ok:
		return newError(tenon.ErrDType, fn, tenon.String(inner)+" cannot have names: it has no element type and shape")
	case !s.HasRank():
		return newError(tenon.ErrShape, fn, "the number of dimensions is not known")
	case s.Rank() != len(l.ids):
		return newError(tenon.ErrInvalid, fn, fmt.Sprintf("there are %d names {%v} for the %d dimensions of %s", len(l.ids), l, s.Rank(), tenon.String(inner)))
	}
	return nil
}

// ordered returns the tensor stored in the order of l, which must have the same
// names.
func (t *Tensor) ordered(l *layout) *Tensor {
	if t.spec.names == l {
		return t
	}
	perm := t.spec.names.plan(planKey{kind: planPermute, other: l}, func() (any, error) { return t.spec.names.positions(l), nil })
	data := permuted(t.data, perm.([]int))
	return &Tensor{spec: Spec{names: l, inner: data.Spec()}, data: data, side: t.side, from: t.from}
}

// Crossed names the axes of a Jacobian: the names of the result, followed by those of the argument.
// If both have a name, it becomes [Wrt] of the name among the latter.
func (t *Tensor) Crossed(data, rows, columns tensor.Tensor) (tensor.Tensor, error) {
	const fn = "grad.Jacobian"
	var ids []id
	for i, x := range []tensor.Tensor{rows, columns} {
		u, ok := asNamed(x)
		if !ok && !x.Shape().IsScalar() {
			return nil, newError(tenon.ErrUnsupported, fn, tenon.String(x.Spec())+" has no names, but the other side does\n"+t.line("tensor")).
				WithHint("name its dimensions with named.Of")
		} else if !ok {
			continue
		}
		for _, n := range u.spec.names.ids {
			for i == 1 && slices.Contains(ids, n) {
				n = intern(pkgPath+".Wrt["+n.info().path+"]", nil)
			}
			ids = append(ids, n)
		}
	}
	l := layoutOf(ids)
	if err := namesFit(fn, l, data.Spec()); err != nil {
		return nil, err
	}
	return newTensor(data, l, nil), nil
}

// permuted returns a tensor with its axes in another order. If it is dense, the result is a view.
func permuted(x tensor.Tensor, perm []int) tensor.Tensor {
	if x, ok := x.(*tensor.Dense); ok {
		own := x.Strides()
		dims, strides := make([]int, len(perm)), make([]int, len(perm))
		for i, a := range perm {
			dims[i], strides[i] = x.Dim(a), own[a]
		}
		return x.View(0, shape.Of(dims...), strides)
	}
	if x, ok := ragged.As(x); ok {
		return permutedRagged(x, perm)
	}
	return ops.Transpose(x, perm...)
}

// Order returns the tensor with its dimensions stored in the given order. All names must be listed.
// It is meant for the boundaries of a program; all other functions accept any order.
func Order(x tenon.Value, dims ...Name) *Tensor {
	const fn = "named.Order"
	t := tensorOf(fn, x)
	l := allOf(fn, t, By(dims...).names)
	if l.index(rowsID) > 0 {
		fail(tenon.ErrInvalid, fn, "%v is always stored first\n%s", rowsID, t.line("tensor"))
	}
	u, err := tenon.Try(func() *Tensor { return t.ordered(l) })
	if err != nil { // for rows of different lengths
		fail(tenon.ErrUnsupported, fn, "{%v} divide the rows, and are always stored first, in this order\n%s", t.outer(), t.line("tensor"))
	}
	return u
}

// allOf checks that l lists all names of t.
func allOf(fn string, t *Tensor, l *layout) *layout {
	if n, twice := duplicate(l.ids); twice {
		throwTwice(fn, n, l)
	}
	for _, n := range l.ids {
		if !t.spec.names.has(n) {
			throwMissing(fn, n, one{"tensor", t})
		}
	}
	if len(l.ids) != len(t.spec.names.ids) {
		e := newError(tenon.ErrInvalid, fn, fmt.Sprintf("the order lacks {%v}", t.spec.names.without(l)))
		e.Msg += "\n" + t.line("tensor")
		e.Hint = "list all names"
		tenon.Throw(e)
	}
	return l
}

// Unnamed returns the tensor without names, with its dimensions in the given order. All names must
// be listed, but may be omitted for a tensor with at most one dimension.
func Unnamed(x tenon.Value, order ...Name) tensor.Tensor {
	const fn = "named.Unnamed"
	t := tensorOf(fn, x)
	if len(order) == 0 && len(t.spec.names.ids) < 2 {
		return t.data
	}
	return t.ordered(allOf(fn, t, By(order...).names)).data
}

// Equal reports whether two tensors have the same names, sizes, element type and elements, whatever
// the order in which their dimensions are stored. It compares values in memory; ops.Equal compares
// elementwise.
func Equal(a, b tenon.Value, o tensor.EqualOptions) bool {
	s, t := tensorOf("named.Equal", a), tensorOf("named.Equal", b)
	l := s.spec.names
	if len(l.ids) != len(t.spec.names.ids) || !l.hasAll(t.spec.names) {
		return false
	}
	return tensor.Equal(concrete(s.data), concrete(t.ordered(l).data), o)
}

func concrete(x tensor.Tensor) tensor.Tensor {
	if c, ok := x.(tensor.Concreter); ok {
		return tenon.Must(c.Concrete())
	}
	return x
}

// Dims is a list of names that are used together. Its methods are the operations of this package
// for names that are values. There is one for each function with names as type arguments.
//
//	named.By(Key{}).Softmax(x)          // named.Softmax[Key](x)
//	named.By(named.Dynamic("key")).Softmax(x)
//	x.Dims().Sum(x)                     // over all dimensions
type Dims struct{ names *layout }

// By returns the list of the given names; sets are replaced by their names.
func By(dims ...Name) Dims {
	if len(dims) == 1 {
		return Dims{groupOfName(dims[0])}
	}
	var ids []id
	for _, d := range dims {
		ids = append(ids, groupOfName(d).ids...)
	}
	return Dims{layoutOf(ids)}
}

func groupOfName(n Name) *layout {
	if n == nil {
		fail(tenon.ErrInvalid, "named.By", "a name is nil")
	}
	return n.group()
}

func (d Dims) group() *layout {
	if d.names == nil {
		return none
	}
	return d.names
}

// Of returns the name with a size, for a list with one name.
func (d Dims) Of(size int) Sized { return Sized{d.group(), size} }

// Names returns the names one by one.
func (d Dims) Names() []Name {
	out := make([]Name, len(d.group().ids))
	for i, n := range d.group().ids {
		out[i] = Dims{layoutOf([]id{n})}
	}
	return out
}

// String returns the names, separated by commas.
func (d Dims) String() string { return d.group().String() }

// single returns the name of a list with one name.
func (d Dims) single(fn string) id {
	l := d.group()
	if len(l.ids) != 1 {
		fail(tenon.ErrInvalid, fn, "the operation is over one dimension, got {%v}", l)
	}
	return l.ids[0]
}

// equalNames reports whether two lists contain the same names.
func equalNames(a, b *layout) bool {
	return a == b || len(a.ids) == len(b.ids) && a.hasAll(b) && !slices.ContainsFunc(b.ids, func(n id) bool { return !a.has(n) })
}
