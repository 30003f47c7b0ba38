package masked

import (
	"fmt"
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Tensor is a tensor with a mask. It is immutable.
type Tensor struct {
	values tensor.Tensor
	mask   tensor.Tensor
	spec   atomic.Pointer[Spec] // nil until requested
}

var (
	_ tensor.Tensor = (*Tensor)(nil)
	_ op.Handler    = (*Tensor)(nil)
	_ tenon.Batcher = (*Spec)(nil)
	_ tenon.Caster  = (*Spec)(nil)
)

// New returns values that are present where mask is true. The mask is boolean,
// with the shape of the values or of their outer dimensions.
func New(values, mask any) (t *Tensor, err error) {
	defer tenon.Catch(&err)
	v, m := tenon.Must(tensor.Convert(values)), tenon.Must(tensor.Convert(mask))
	tenon.Throw(check("masked.New", v, m))
	return wrap(v, m), nil
}

func check(fn string, v, m tensor.Tensor) error {
	if m.DType() != dtype.Bool {
		return &tenon.Error{Kind: tenon.ErrDType, Op: fn, Where: "mask", Msg: fmt.Sprintf("is %s, not boolean", tenon.String(m.Spec())), Line: source.Line()}
	}
	vs, ms := v.Shape(), m.Shape()
	if !vs.HasRank() || !ms.HasRank() {
		return nil
	}
	if ms.Rank() > vs.Rank() || !ms.CompatibleWith(vs.Slice(0, ms.Rank())) {
		return &tenon.Error{Kind: tenon.ErrShape, Op: fn, Where: "mask", Msg: fmt.Sprintf("has shape %v, the values have %v", ms, vs), Line: source.Line()}
	}
	return nil
}

// wrap makes a tensor. If the values have a mask of the same depth, the two masks are combined.
// Masks of different depths are nested, the one with the fewest dimensions outermost.
func wrap(values, mask tensor.Tensor) *Tensor {
	if inner, ok := values.(*Tensor); ok {
		switch own, k := inner.mask.Shape().Rank(), mask.Shape().Rank(); {
		case own == k:
			return wrap(inner.values, ops.LogicalAnd(inner.mask, mask))
		case own >= 0 && own < k:
			return wrap(wrap(inner.values, mask), inner.mask)
		}
	}
	return &Tensor{values: values, mask: mask}
}

// All returns x with nothing missing. A masked tensor is returned as it is, and an [Optional] of
// another type is converted with its mask.
func All(x tensor.Tensor) *Tensor {
	switch x := x.(type) {
	case *Tensor:
		return x
	case Optional:
		return tenon.Must(New(x.Values(), x.Mask()))
	}
	return wrap(x, allTrue(x))
}

// allTrue returns a mask like x that is true everywhere.
func allTrue(x tensor.Tensor) tensor.Tensor {
	return ops.Cast(ops.OnesLike(filler(x)), dtype.Bool)
}

// filler returns numbers with the shape of x, which may hold strings.
func filler(x tensor.Tensor) tensor.Tensor {
	if x.DType() == dtype.String {
		return ops.Equal(x, x)
	}
	return x
}

// Spec returns the *Spec of values and mask.
func (t *Tensor) Spec() tenon.Spec {
	if s := t.spec.Load(); s != nil {
		return s
	}
	t.spec.CompareAndSwap(nil, &Spec{values: t.values.Spec(), mask: t.mask.Spec()})
	return t.spec.Load()
}

// DType returns the element type of the values.
func (t *Tensor) DType() dtype.DType { return t.values.DType() }

// Shape returns the shape of the values.
func (t *Tensor) Shape() shape.Shape { return t.values.Shape() }

// Values returns the values, including filler.
func (t *Tensor) Values() tensor.Tensor { return t.values }

// Mask returns the mask, which is true where a value is present.
func (t *Tensor) Mask() tensor.Tensor { return t.mask }

// Full returns the mask in the shape of the values. If these have missing elements of their own,
// they are missing in it too.
func (t *Tensor) Full() tensor.Tensor {
	if inner, ok := t.values.(*Tensor); ok {
		return ops.LogicalAnd(wrap(inner.values, t.mask).Full(), inner.Full())
	}
	k, r := t.mask.Shape().Rank(), t.values.Shape().Rank()
	if k == r {
		return t.mask
	}
	m := t.mask
	for ; k < r; k++ {
		m = ops.ExpandDims(m, -1)
	}
	return ops.LogicalAnd(m, allTrue(t.values))
}

// single returns t with a single mask, which has the shape of the values if t has
// several.
func (t *Tensor) single() *Tensor {
	inner, ok := t.values.(*Tensor)
	if !ok {
		return t
	}
	return &Tensor{values: inner.single().values, mask: t.Full()}
}

// IsMissing reports where elements are missing.
func IsMissing(x tensor.Tensor) tensor.Tensor {
	if t, ok := x.(*Tensor); ok {
		return ops.LogicalNot(t.Full())
	}
	return ops.LogicalNot(allTrue(x))
}

// Fill returns x with missing elements replaced by value. A missing list of ragged rows has no
// elements that could be replaced, and stays missing.
func Fill(x tensor.Tensor, value any) tensor.Tensor {
	bare, masks := bareOf(x)
	t, ok := bare[0].(*Tensor)
	if !ok {
		return over(masks, bare[0])
	}
	return over(masks, ops.Where(t.Full(), t.single().values, value))
}

// Compress returns the elements of x that are present, as a vector in row-major
// order. If the mask is one of rows, it returns the rows that are present.
func Compress(x tensor.Tensor) tensor.Tensor {
	t, ok := x.(*Tensor)
	if !ok {
		return ops.Reshape(x, []int{-1})
	}
	return ops.BooleanMask(t.values, t.mask, 0)
}

// String prints the values and the mask.
func (t *Tensor) String() string { return t.text("%v") }

// Format prints the tensor for the verbs v and s as String does. A plus flag prints all elements.
func (t *Tensor) Format(s fmt.State, verb rune) { tensor.Format(s, verb, t, t.text) }

func (t *Tensor) text(verb string) string {
	return fmt.Sprintf("masked("+verb+", "+verb+")", t.values, t.mask)
}
