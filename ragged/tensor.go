package ragged

import (
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Tensor is a tensor with at least one partitioned dimension. It is immutable.
type Tensor struct {
	spec  atomic.Pointer[Spec] // nil until requested: most tensors are soon forgotten
	flat  tensor.Tensor
	parts []*RowPartition // outermost first; at least one
}

var (
	_ tensor.Tensor     = (*Tensor)(nil)
	_ op.Handler        = (*Tensor)(nil)
	_ tenon.Batcher     = (*Spec)(nil)
	_ tenon.Boxer       = (*Spec)(nil)
	_ tenon.Merger      = (*Spec)(nil)
	_ tenon.Subtyper    = (*Spec)(nil)
	_ tenon.Merger      = (*PartitionSpec)(nil)
	_ tenon.Subtyper    = (*PartitionSpec)(nil)
	_ tenon.Equaler     = (*PartitionSpec)(nil)
	_ tenon.Equaler     = (*Spec)(nil)
	_ tenon.Compatibler = (*Spec)(nil)
)

// Spec returns the *Spec, with everything that is known. The Spec of the zero Tensor, which holds
// nothing, has only the type's name.
func (t *Tensor) Spec() tenon.Spec { return t.described() }

// described returns the Spec with its concrete type.
func (t *Tensor) described() *Spec {
	if s := t.spec.Load(); s != nil {
		return s
	}
	if t.flat == nil {
		return &Spec{}
	}
	t.spec.CompareAndSwap(nil, specOf(t.flat, t.parts))
	return t.spec.Load()
}

// DType returns the type of the flat values' elements.
func (t *Tensor) DType() dtype.DType { return t.flat.DType() }

// Shape returns the static shape; ragged dimensions are shape.Unknown.
func (t *Tensor) Shape() shape.Shape {
	if s := t.spec.Load(); s != nil {
		if _, ok := s.flat.(typed); ok {
			return s.Shape() // which may know more than the parts
		}
	}
	inner := t.flat.Shape()
	if len(t.parts) == 0 || !inner.HasRank() {
		return inner
	}
	var room [8]int
	dims := append(room[:0], t.parts[0].spec.nrows)
	for _, p := range t.parts {
		dims = append(dims, p.spec.length)
	}
	return sizesOver(dims, inner)
}

// RaggedRank returns the number of partitions.
func (t *Tensor) RaggedRank() int { return len(t.parts) }

// FlatValues returns the tensor below all partitions: [nvals, inner…].
func (t *Tensor) FlatValues() tensor.Tensor { return t.flat }

// Values returns what the outermost partition divides: a ragged tensor with one
// fewer partition, or the flat values.
func (t *Tensor) Values() tensor.Tensor { return build(t.flat, t.parts[1:]) }

// Partitions returns the partitions, outermost first.
func (t *Tensor) Partitions() []*RowPartition { return append([]*RowPartition(nil), t.parts...) }

// Partition returns the outermost partition.
func (t *Tensor) Partition() *RowPartition { return t.parts[0] }

// RowSplits returns the row splits of the outermost partition.
func (t *Tensor) RowSplits() tensor.Tensor { return t.parts[0].RowSplits() }

// NRows returns the number of rows as a scalar.
func (t *Tensor) NRows() tensor.Tensor { return t.parts[0].NRows() }

// WithFlatValues returns a tensor with the same partitions and other flat values,
// whose outer dimension must have the same size.
func (t *Tensor) WithFlatValues(flat tensor.Tensor) (*Tensor, error) {
	if err := checkValues("ragged.WithFlatValues", flat, t.parts[len(t.parts)-1]); err != nil {
		return nil, err
	}
	return t.with(flat), nil
}

// with returns t with flat values that are known to match.
func (t *Tensor) with(flat tensor.Tensor) *Tensor {
	out := wrap(flat, t.parts)
	if s := t.spec.Load(); s != nil {
		a, ok := t.flat.(*tensor.Dense)
		b, ok2 := flat.(*tensor.Dense)
		if ok && ok2 && a.DType() == b.DType() && a.Shape().Equal(b.Shape()) {
			out.spec.Store(s)
		}
	}
	return out
}

// wrap makes a tensor from parts that are known to match.
func wrap(flat tensor.Tensor, parts []*RowPartition) *Tensor {
	return &Tensor{flat: flat, parts: parts}
}

// wrapOne is wrap for one partition.
func wrapOne(flat tensor.Tensor, p *RowPartition) *Tensor {
	made := &struct {
		Tensor
		parts [1]*RowPartition
	}{Tensor{flat: flat}, [1]*RowPartition{p}}
	made.Tensor.parts = made.parts[:]
	return &made.Tensor
}

// specOf returns the Spec of a tensor made from parts. It contains what does not depend on the
// partitions' data. For ragged dimensions that excludes the number of values that they divide, and
// therefore also the number of rows of the dimension below.
func specOf(flat tensor.Tensor, parts []*RowPartition) *Spec {
	made := &struct {
		Spec
		room [1]*PartitionSpec
	}{}
	specs := made.room[:]
	if len(parts) != len(specs) {
		specs = make([]*PartitionSpec, len(parts))
	}
	n := partitionSpecs(specs, parts)
	made.flat, made.Spec.parts = outermost(flat.Spec(), n), specs
	return &made.Spec
}

// partitionSpecs fills in the Specs of nested partitions, without what depends on data, and returns
// the number of values of the last one.
func partitionSpecs(specs []*PartitionSpec, parts []*RowPartition) (nvals int) {
	n := parts[0].spec.nrows
	for i, p := range parts {
		s := p.spec
		nvals := shape.Unknown
		if n == 0 || s.uniform && s.length == 0 {
			nvals = 0
		} else if s.uniform && n >= 0 && s.length >= 0 {
			nvals = n * s.length
		}
		if s.nrows != n || s.nvals != nvals {
			s = &PartitionSpec{dtype: s.dtype, nrows: n, nvals: nvals, length: s.length, uniform: s.uniform}
		}
		specs[i], n = s, nvals
	}
	return n
}

// vectors are the Specs of vectors of unknown length by element type, which are the flat values of
// most tensors.
var vectors = func() (all [dtype.String + 1]*tensor.Spec) {
	for d := range all {
		all[d] = tensor.NewSpec(dtype.DType(d), shape.Of(shape.Unknown))
	}
	return all
}()

// outermost returns a Spec with another size of the outermost dimension.
func outermost(s tenon.Spec, n int) tenon.Spec {
	switch s := s.(type) {
	case *tensor.Spec:
		if sh := s.Shape(); sh.HasRank() && sh.Dim(0) != n {
			if sh.Rank() == 1 && n == shape.Unknown && int(s.DType()) < len(vectors) {
				return vectors[s.DType()]
			}
			return tensor.NewSpec(s.DType(), sh.With(0, n))
		}
		return s
	case tenon.Batcher:
		if row, err := s.Unbatched(); err == nil {
			if b, ok := row.(tenon.Batcher); ok {
				if out, err := b.Batched(n); err == nil {
					return out
				}
			}
		}
	}
	return s
}

// build is wrap for any number of partitions; without one it returns the flat
// tensor.
func build(flat tensor.Tensor, parts []*RowPartition) tensor.Tensor {
	if len(parts) == 0 {
		return flat
	}
	return wrap(flat, parts)
}

// split takes any tensor apart: a ragged one into its flat values and partitions,
// and any other into itself and no partitions.
func split(t tensor.Tensor) (tensor.Tensor, []*RowPartition) {
	if r, ok := t.(*Tensor); ok {
		return r.flat, r.parts
	}
	return t, nil
}

// checkValues checks that values have as many rows as a partition has values,
// as far as both are known.
func checkValues(fn string, values tensor.Tensor, p *RowPartition) error {
	s := values.Shape()
	if s.HasRank() && s.Rank() == 0 {
		return invalid(fn, "values", "are a scalar, which cannot be partitioned")
	}
	if n, m := s.Dim(0), p.nvals; n >= 0 && m >= 0 && n != m {
		return wrongCount(fn, n, m)
	}
	return nil
}

// wrongCount returns the error for values whose number of rows does not match a partition.
func wrongCount(fn string, rows, nvals int) error {
	return invalid(fn, "values", "have %d rows, the partition has %d values", rows, nvals)
}

// WithSplitsDType returns the tensor with row splits of type Int64 or Int32. It
// returns an error if an int32 cannot hold the number of values.
func (t *Tensor) WithSplitsDType(d dtype.DType) (*Tensor, error) {
	parts := make([]*RowPartition, len(t.parts))
	for i, p := range t.parts {
		q, err := p.WithDType(d)
		if err != nil {
			return nil, err
		}
		parts[i] = q
	}
	return wrap(t.flat, parts), nil
}
