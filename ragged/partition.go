package ragged

import (
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/segment"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A RowPartition divides a list of values into rows. It is immutable; what is
// computed from it (splits, lengths, row ids) is cached. The tensors it consists
// of may be symbolic.
type RowPartition struct {
	spec    *PartitionSpec
	splits  atomic.Pointer[tensor.Tensor] // if uniform, nil until requested
	uniform tensor.Tensor                 // the row length as a scalar, if declared
	nrows   tensor.Tensor                 // a scalar; if not uniform, nil until requested
	nvals   int                           // or unknown; also set for concrete splits, unlike in the Spec

	lengths atomic.Pointer[tensor.Tensor]
	ids     atomic.Pointer[tensor.Tensor]
}

var _ tenon.Value = (*RowPartition)(nil)

// Spec returns the *PartitionSpec.
func (p *RowPartition) Spec() tenon.Spec { return p.spec }

// DType returns the type of splits: Int64 or Int32.
func (p *RowPartition) DType() dtype.DType { return p.spec.dtype }

// IsUniform reports whether a common row length was declared.
func (p *RowPartition) IsUniform() bool { return p.uniform != nil }

// UniformRowLength returns the declared common row length as a scalar, or nil if
// there is none.
func (p *RowPartition) UniformRowLength() tensor.Tensor { return p.uniform }

// StaticNRows returns the number of rows if it is known statically, or
// shape.Unknown.
func (p *RowPartition) StaticNRows() int { return p.spec.nrows }

// StaticNVals returns the number of values if it is known without looking at
// splits, or shape.Unknown. It does not depend on data.
func (p *RowPartition) StaticNVals() int { return p.spec.nvals }

// StaticUniformRowLength returns the declared row length, or shape.Unknown if
// none is declared or it is not known.
func (p *RowPartition) StaticUniformRowLength() int { return p.spec.length }

// RowSplits returns the nrows+1 offsets of the rows.
func (p *RowPartition) RowSplits() tensor.Tensor {
	return p.once(&p.splits, func() tensor.Tensor {
		return memo(p.uniform, uniformKey{p.spec.nrows}, func(n tensor.Tensor) tensor.Tensor { return rows.Uniform(n, p.nrows) })
	})
}

// RowLengths returns the length of each row.
func (p *RowPartition) RowLengths() tensor.Tensor {
	return p.once(&p.lengths, func() tensor.Tensor {
		if p.uniform != nil {
			return filled(p.nrows, p.uniform)
		}
		return memo(p.RowSplits(), lengthsKey{}, func(s tensor.Tensor) tensor.Tensor { return rows.Lengths(s) })
	})
}

// RowStarts returns the offset of the first value of each row.
func (p *RowPartition) RowStarts() tensor.Tensor { return part(p.RowSplits(), 0, 1) }

// RowLimits returns the offset after the last value of each row.
func (p *RowPartition) RowLimits() tensor.Tensor { return part(p.RowSplits(), 1, 0) }

// ValueRowIDs returns the row of each value.
func (p *RowPartition) ValueRowIDs() tensor.Tensor {
	return p.once(&p.ids, func() tensor.Tensor {
		return memo(p.RowSplits(), idsKey{}, func(s tensor.Tensor) tensor.Tensor { return rows.RowIDs(s, p.nvals) })
	})
}

// OffsetsInRows returns the position of each value in its row.
func (p *RowPartition) OffsetsInRows() tensor.Tensor {
	return memo(p.RowSplits(), offsetsKey{}, func(s tensor.Tensor) tensor.Tensor { return rows.Offsets(s, p.nvals) })
}

// longest returns the length of the longest row, or 0 if there are none, as a scalar.
func (p *RowPartition) longest() tensor.Tensor {
	return memo(p.RowSplits(), longestKey{}, func(s tensor.Tensor) tensor.Tensor {
		if x, ok := splits64(s); ok {
			return scalar(int(segment.MaxLength(x)), p.spec.dtype)
		}
		return rows.MaxLength(s)
	})
}

// NRows returns the number of rows as a scalar.
func (p *RowPartition) NRows() tensor.Tensor {
	if p.nrows != nil {
		return p.nrows
	}
	if n := p.spec.nrows; n >= 0 {
		return scalar(n, p.spec.dtype)
	}
	return ops.Sub(sizeOf(p.RowSplits(), 0, p.spec.dtype), 1)
}

// NVals returns the number of values as a scalar.
func (p *RowPartition) NVals() tensor.Tensor {
	switch {
	case p.nvals >= 0:
		return scalar(p.nvals, p.spec.dtype)
	case p.uniform != nil:
		return product(p.nrows, p.uniform)
	}
	return ops.Index(p.RowSplits(), -1)
}

// Splits64 returns the row splits of a concrete partition as int64s, and false
// for a symbolic one. The slice must not be changed.
func (p *RowPartition) Splits64() ([]int64, bool) {
	return splits64(p.RowSplits())
}

func (p *RowPartition) once(at *atomic.Pointer[tensor.Tensor], make func() tensor.Tensor) tensor.Tensor {
	if t := at.Load(); t != nil {
		return *t
	}
	t := make()
	at.CompareAndSwap(nil, &t)
	return *at.Load()
}

type (
	lengthsKey struct{}
	idsKey     struct{}
	offsetsKey struct{}
	longestKey struct{}
	uniformKey struct{ nrows int }
)

// memo caches what is derived from concrete splits with the splits themselves, so
// that it survives taking a value apart and putting it together.
func memo(splits tensor.Tensor, key any, f func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	if d, ok := splits.(*tensor.Dense); ok {
		return d.Memo(key, func() any { return f(d) }).(tensor.Tensor)
	}
	return f(splits)
}

// splits64 returns concrete splits as int64.
func splits64(splits tensor.Tensor) ([]int64, bool) {
	t, ok := op.Known(splits)
	if !ok {
		return nil, false
	}
	s, err := rows.Entries(t.(*tensor.Dense))
	return s, err == nil
}

// newPartition makes a partition from splits that have been checked. nvals may be shape.Unknown. It
// is not part of the Spec, since it is data, and a function traced for some rows should serve
// others.
func newPartition(splits tensor.Tensor, nvals int) *RowPartition {
	// Allocate the parts together: each allocation costs as much as the arithmetic on several dozen
	// elements.
	made := &struct {
		RowPartition
		spec   PartitionSpec
		splits tensor.Tensor
	}{splits: splits}
	spec := &made.spec
	*spec = PartitionSpec{dtype: splits.DType(), nrows: splits.Shape().Dim(0), nvals: shape.Unknown, length: shape.Unknown}
	if spec.nrows > 0 {
		spec.nrows--
	}
	if spec.nrows == 0 {
		spec.nvals, nvals = 0, 0
	}
	if nvals < 0 {
		if s, ok := splits64(splits); ok {
			nvals = int(s[len(s)-1])
		}
	}
	p := &made.RowPartition
	p.spec, p.nvals = spec, nvals
	p.splits.Store(&made.splits)
	return p
}

// newUniform makes a partition of nrows rows of equal length; both arguments are integer scalars.
// The partition gets a scalar of its own, with which its splits are cached, since the given one may
// serve many partitions.
func newUniform(nrows, length tensor.Tensor) *RowPartition {
	if n := known(length); n >= 0 {
		length = ownScalar(n, length.DType())
	}
	return assembleUniform(nrows, length)
}

// assembleUniform is newUniform for the components of a disassembled partition.
func assembleUniform(nrows, length tensor.Tensor) *RowPartition {
	if n := known(length); uint(n) < uint(len(smallScalars)) && length == smallScalars[n] {
		length = ownScalar(n, dtype.Int64) // splits are cached with it
	}
	made := &struct {
		RowPartition
		spec PartitionSpec
	}{spec: PartitionSpec{dtype: length.DType(), nrows: known(nrows), nvals: shape.Unknown, length: known(length), uniform: true}}
	spec := &made.spec
	if spec.nrows >= 0 && spec.length >= 0 {
		spec.nvals = spec.nrows * spec.length
	} else if spec.length == 0 {
		spec.nvals = 0
	}
	p := &made.RowPartition
	p.spec, p.uniform, p.nrows, p.nvals = spec, length, nrows, spec.nvals
	return p
}

// as returns the partition with splits of another type, which must be able to
// hold them.
func (p *RowPartition) as(d dtype.DType) *RowPartition {
	if p.spec.dtype == d {
		return p
	}
	spec := *p.spec
	spec.dtype = d
	q := &RowPartition{spec: &spec, nvals: p.nvals}
	if p.nrows != nil {
		q.nrows = cast(p.nrows, d)
	}
	if p.uniform != nil {
		q.uniform = cast(p.uniform, d)
		return q
	}
	s := cast(p.RowSplits(), d)
	q.splits.Store(&s)
	return q
}
