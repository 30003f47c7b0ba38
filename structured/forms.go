package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// What this package requires of the tensors in its columns. It asks for methods rather than
// concrete types, so that types from elsewhere can take part like masked and ragged tensors.
type (
	optional = masked.Optional
	divided  = ragged.Divided
)

// dividedSpec is the Spec of a divided tensor.
type dividedSpec interface {
	typedSpec
	ragged.DividedSpec
}

// optionalSpec is the Spec of an optional tensor.
type optionalSpec interface {
	typedSpec
	masked.OptionalSpec
}

// Divide divides the first dimension of a tensor into rows according to the partition. The tensor
// may consist of records, missing elements, unions, maps or words as well as numbers.
func Divide(v tensor.Tensor, p *ragged.RowPartition) (out tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	return grouped(v, p), nil
}

// Undivide is the inverse of [Divide]: it returns the elements of all lists of a tensor,
// concatenated, and the partition that divides them.
func Undivide(v tensor.Tensor) (elements tensor.Tensor, p *ragged.RowPartition, err error) {
	defer tenon.Catch(&err)
	p, elements, ok := lists(v)
	if !ok {
		return nil, nil, invalid("structured.Undivide", "", "%s does not contain lists", tenon.String(v.Spec()))
	}
	return elements, p, nil
}

// undivided returns what the first partition of a divided tensor divides.
func undivided(x divided) tensor.Tensor {
	return tenon.Must(ragged.FromPartitions(x.FlatValues(), x.Partitions()[1:]...))
}

// withRows returns a tensor whose dimensions below the first, up to rank-1, are divided
// by partitions.
func withRows(v tensor.Tensor, rank int) divided {
	if x, ok := v.(divided); ok && len(x.Partitions()) >= rank-1 {
		return x
	}
	return tenon.Must(ragged.WithRaggedRank(v, rank-1)).(divided)
}

// optionalOf returns the Spec of values whose rows of the given rank may be missing, in addition to
// those of other ranks that may be missing already.
func optionalOf(s tenon.Spec, rank int) (tenon.Spec, error) {
	if m, ok := s.(optionalSpec); ok {
		switch k := m.Mask().(typedSpec).Shape().Rank(); {
		case k == rank:
			return s, nil
		case k < rank: // masks with more dimensions are inside
			below, err := optionalOf(m.Values(), rank)
			if err != nil {
				return nil, err
			}
			return masked.NewSpec(below, k)
		}
	}
	return masked.NewSpec(s, rank)
}

// composite is a tensor that consists of records with the same dimensions, which are hidden from
// users: unions and maps.
type composite interface {
	tensor.Tensor
	records() *Tensor
	like(rec *Tensor) tensor.Tensor

	// canonical returns records that are equal if and only if the elements are.
	canonical() *Tensor
}

// compositeSpec is the Spec of a composite.
type compositeSpec interface {
	typedSpec
	records() *Spec
	like(rec *Spec) tenon.Spec
}

var (
	_ optionalSpec  = (*masked.Spec)(nil)
	_ dividedSpec   = (*ragged.Spec)(nil)
	_ composite     = (*Union)(nil)
	_ composite     = (*Map)(nil)
	_ compositeSpec = (*UnionSpec)(nil)
	_ compositeSpec = (*MapSpec)(nil)
)

func (u *Union) records() *Tensor               { return u.rec }
func (u *Union) canonical() *Tensor             { return u.rec }
func (u *Union) like(rec *Tensor) tensor.Tensor { return newUnion(rec) }

func (m *Map) records() *Tensor               { return m.rec }
func (m *Map) like(rec *Tensor) tensor.Tensor { return newMap(rec) }

// canonical returns the entries sorted by key.
func (m *Map) canonical() *Tensor {
	sorted := tenon.Must(m.flat().Sort(1, By{Path: []string{keyName}}))
	c := column{name: entriesName, now: sorted, inner: allPlain}
	if m.rec.rank == 0 {
		return newTensor(0, nil, nil, []column{c.picked(tensor.Scalar(int64(0)))}, m.rec.dtype)
	}
	return newTensor(m.rec.rank, m.rec.nrows, m.rec.parts, []column{c}, m.rec.dtype)
}
