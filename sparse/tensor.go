package sparse

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Tensor is a sparse tensor in coordinate form. It is immutable.
type Tensor struct {
	spec       *Spec
	indices    tensor.Tensor // int64[n, rank]
	values     tensor.Tensor // [n]
	denseShape tensor.Tensor // int64[rank]

	// canonical is true if the coordinates are known to be in row-major order without duplicates.
	canonical bool
}

var (
	_ tensor.Tensor = (*Tensor)(nil)
	_ op.Handler    = (*Tensor)(nil)
)

// New returns the tensor with the given dense shape that has values at indices.
//
//	indices: int64[n, rank], values: [n], denseShape: int64[rank]
//
// A coordinate outside the shape is an error that names its row.
func New(indices, values, denseShape any) (t *Tensor, err error) {
	defer tenon.Catch(&err)
	t = &Tensor{indices: tenon.Must(tensor.Convert(indices)), values: tenon.Must(tensor.Convert(values)), denseShape: tenon.Must(tensor.Convert(denseShape))}
	tenon.Throw(t.check())
	return t, nil
}

func (t *Tensor) check() error {
	const fn = "New"
	for name, x := range map[string]tensor.Tensor{"indices": t.indices, "dense_shape": t.denseShape} {
		if x.DType() != dtype.Int64 {
			return bad(fn, tenon.ErrDType, name, "is %v, want int64", x.DType())
		}
	}
	is, vs, ds := t.indices.Shape(), t.values.Shape(), t.denseShape.Shape()
	if !is.CompatibleWith(shape.OfRank(2)) || !vs.CompatibleWith(shape.OfRank(1)) || !ds.CompatibleWith(shape.OfRank(1)) {
		return bad(fn, tenon.ErrShape, "", "indices, values and dense_shape have the shapes %v, %v and %v, want [n, rank], [n] and [rank]", is, vs, ds)
	}
	if n, m := is.Dim(0), vs.Dim(0); n >= 0 && m >= 0 && n != m {
		return bad(fn, tenon.ErrShape, "values", "there are %d values at %d coordinates", m, n)
	}
	if r, k := is.Dim(1), ds.Dim(0); r >= 0 && k >= 0 && r != k {
		return bad(fn, tenon.ErrShape, "dense_shape", "has %d sizes, coordinates have %d numbers", k, r)
	}
	known, ok := op.Known(t.denseShape)
	if !ok {
		t.spec = NewSpec(t.values.DType(), shape.OfRank(ds.Dim(0)))
		return nil
	}
	dims, _ := op.Ints(known)
	s, err := shape.From(dims)
	if err != nil || !s.IsFull() {
		return bad(fn, tenon.ErrShape, "dense_shape", "%v is not a shape", dims)
	}
	t.spec = NewSpec(t.values.DType(), s)
	at, ok := op.Known(t.indices)
	if !ok {
		return nil
	}
	xs := tensor.Data[int64](at)
	for i, x := range xs {
		if a := i % len(dims); x < 0 || x >= int64(dims[a]) {
			return bad(fn, tenon.ErrInvalid, fmt.Sprintf("indices[%d]", i/len(dims)), "coordinate %d is %d, the size is %d", a, x, dims[a])
		}
	}
	t.canonical = len(dims) > 0 && inOrder(xs, len(dims), true)
	return nil
}

// trusted returns a tensor from parts that are known to match, with the static shape s.
func trusted(indices, values, denseShape tensor.Tensor, s shape.Shape) *Tensor {
	if known, ok := op.Known(denseShape); ok && !s.IsFull() {
		dims, _ := op.Ints(known)
		s = shape.Of(dims...)
	}
	return &Tensor{spec: NewSpec(values.DType(), s), indices: indices, values: values, denseShape: denseShape}
}

// withValues returns the tensor with other values at the same coordinates.
func (t *Tensor) withValues(values tensor.Tensor) *Tensor {
	r := *t
	r.values, r.spec = values, NewSpec(values.DType(), t.spec.shape)
	return &r
}

// Spec returns the *Spec, with everything that is known.
func (t *Tensor) Spec() tenon.Spec { return t.spec }

// DType returns the type of the values.
func (t *Tensor) DType() dtype.DType { return t.values.DType() }

// Shape returns the dense shape.
func (t *Tensor) Shape() shape.Shape { return t.spec.shape }

// Indices returns the coordinates of the values: int64[n, rank].
func (t *Tensor) Indices() tensor.Tensor { return t.indices }

// Values returns the values: [n].
func (t *Tensor) Values() tensor.Tensor { return t.values }

// DenseShape returns the sizes as a tensor: int64[rank].
func (t *Tensor) DenseShape() tensor.Tensor { return t.denseShape }

// String prints coordinates and values.
func (t *Tensor) String() string { return t.text("%v") }

// Format prints the tensor for the verbs v and s as String does. A plus flag prints all elements.
func (t *Tensor) Format(s fmt.State, verb rune) { tensor.Format(s, verb, t, t.text) }

func (t *Tensor) text(verb string) string {
	return fmt.Sprintf("sparse(indices="+verb+", values="+verb+", shape=%v)", t.indices, t.values, t.spec.shape)
}
