package structured

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// pending holds entries of another column, by number, that are gathered when they are first needed.
// Records that have been selected, sorted or joined are such entries: all columns share one index,
// and columns that nobody reads cost nothing.
//
// The index has been checked before, so gathering cannot fail. Pending entries consist only of
// concrete tensors of this module's types, so that it does not matter when they are gathered.
// Tensors that are traced, differentiated or mapped over, and entries of types that may decline,
// are gathered at once.
type pending struct {
	once sync.Once
	from atomic.Pointer[rowsFrom] // nil once the entries have been gathered
	v    tensor.Tensor
	err  error
}

// A rowsFrom is the source of pending entries.
type rowsFrom struct {
	v     tensor.Tensor
	at    *tensor.Dense // int64[n]
	inner int           // see plainer
}

func (p *pending) value() tensor.Tensor {
	p.once.Do(func() {
		s := p.from.Load()
		p.v, p.err = tenon.Try(func() tensor.Tensor { return plainer(gatherRows(s.v, s.at), s.inner) })
		p.from.Store(nil)
	})
	tenon.Throw(p.err)
	return p.v
}

// A picker takes the entries selected by one index from any number of columns.
type picker struct {
	at       tensor.Tensor // int64[n]
	dense    *tensor.Dense // at, if it may be kept for later
	composed map[*tensor.Dense]*tensor.Dense
	n        int  // the number of entries last asked about, or 0
	same     bool // whether the index selects all n entries in order
}

func newPicker(at tensor.Tensor) *picker {
	p := &picker{at: at}
	if d, ok := at.(*tensor.Dense); ok && d.DType() == dtype.Int64 {
		p.dense = d
	}
	return p
}

// take returns the entries of a column that the index selects.
func (p *picker) take(c column, inner int) column {
	out := column{name: c.name, inner: max(c.inner, inner)}
	if p.dense != nil && c.wait != nil {
		if s := c.wait.from.Load(); s != nil {
			out.wait = newPending(rowsFrom{s.v, p.compose(s.at), max(s.inner, inner)})
			return out
		}
	}
	v := c.v()
	switch n := v.Shape().Dim(0); {
	case p.dense != nil && n >= 0 && p.all(n):
		out.now = plainer(v, inner)
	case p.dense != nil && mayWait(v):
		out.wait = newPending(rowsFrom{v, p.dense, inner})
	default:
		out.now = plainer(gatherRows(v, p.at), inner)
	}
	return out
}

// takeAll is take for all columns.
func takeAll(cols []column, at tensor.Tensor, inner int) []column {
	p := newPicker(at)
	out := make([]column, len(cols))
	for i, c := range cols {
		out[i] = p.take(c, inner)
	}
	return out
}

func newPending(s rowsFrom) *pending {
	p := &pending{}
	p.from.Store(&s)
	return p
}

// compose returns the index that first selects by another index and then by this
// one.
func (p *picker) compose(first *tensor.Dense) *tensor.Dense {
	if d, ok := p.composed[first]; ok {
		return d
	}
	d := first
	if !p.all(first.Shape().Dim(0)) {
		d = ops.Gather(first, p.dense, 0).(*tensor.Dense)
	}
	if p.composed == nil {
		p.composed = map[*tensor.Dense]*tensor.Dense{}
	}
	p.composed[first] = d
	return d
}

// all reports whether the index selects all n entries in order.
func (p *picker) all(n int) bool {
	if n != p.n {
		p.n, p.same = n, countsUp(p.dense, n)
	}
	return p.same
}

// mayWait reports whether entries can be gathered at any later time without
// failing.
func mayWait(v tensor.Tensor) bool {
	switch x := v.(type) {
	case *tensor.Dense, *tensor.Strings:
		return true
	case divided:
		return mayWait(x.FlatValues()) && concreteParts(x.Partitions())
	case optional:
		return mayWait(x.Values()) && mayWait(x.Mask())
	case *Dictionary:
		return mayWait(x.codes) && mayWait(x.words)
	case composite:
		return mayWait(x.records())
	case *Tensor:
		return concreteParts(x.parts) && !slices.ContainsFunc(x.cols, func(c column) bool {
			return (c.wait == nil || c.wait.from.Load() == nil) && !mayWait(c.v())
		})
	}
	return false
}

// concreteParts reports whether partitions are concrete.
func concreteParts(parts []*ragged.RowPartition) bool {
	for _, p := range parts {
		if _, ok := p.RowSplits().(*tensor.Dense); !ok {
			return false
		}
	}
	return true
}

// Compact returns the same records with all fields gathered. Operations that select records
// ([Tensor.Filter], [Tensor.Where], [Tensor.Sort], [Tensor.Join], ops.Gather and so on) leave the
// fields of the result in the original tensor. Each field is gathered once, when it is first read.
// A tensor with a few records of a large one, if it is kept for long, should be compacted, since it
// otherwise keeps all of the large one in memory.
func (t *Tensor) Compact() *Tensor {
	return newTensor(t.rank, t.nrows, t.parts, eachColumn(t.cols, compact), t.dtype)
}

// compact returns a column whose records, if it has any, are compact.
func compact(v tensor.Tensor) tensor.Tensor {
	if below := inRecords(v, (*Tensor).Compact); below != nil {
		return below
	}
	if u, ok := v.(composite); ok {
		return u.like(u.records().Compact())
	}
	return v
}
