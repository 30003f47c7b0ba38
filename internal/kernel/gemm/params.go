package gemm

import (
	"math/bits"

	"github.com/tenonml/tenon/internal/throw"
)

// Element is the set of types whose products are computed. Integers wrap around. The half-precision
// types are not among them because they are summed in float32: see [Half].
type Element interface {
	int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 |
		float32 | float64 | complex64 | complex128
}

// Params describes one product, or the first of a batch:
//
//	C[i,j] = Then(Alpha sum_k A[i,k] B[k,j] + Beta C[i,j] + Bias[j])
//
// for i < M, j < N, k < K. Element [i,j] of an operand is at index i*Row + j*Col of its slice, so
// that an operand is transposed by swapping its strides, and broadcast by a stride of 0. C must not
// overlap A, B or Bias.
type Params[T Element] struct {
	M, N, K    int
	A, B, C    []T
	ARow, ACol int // of A[M,K]; not negative
	BRow, BCol int // of B[K,N]; not negative
	CRow, CCol int // of C[M,N]; positive, no two elements of C share an index

	Alpha T // scales the product; 1 for a plain product
	Beta  T // scales the old contents of C; with 0, C is not read

	Bias []T // N values added to each row, or nil

	// Serial keeps the work on the calling goroutine, for callers that parallelise at a higher
	// level. It does not change the result.
	Serial bool

	// Then, if not nil, is applied to finished elements while they are in the cache. It is called
	// with pieces of C that together cover each element once, in any order and from several
	// goroutines.
	Then func(c []T)
}

// Batch is one dimension of a batch of products: its size, and the distance between the matrices of
// consecutive products in each slice. A stride of 0 reuses the same matrix, which is allowed only
// for A and B.
type Batch struct{ Size, A, B, C int }

// maxBatch is the largest number of batch dimensions.
const maxBatch = 8

// check panics if the description reaches outside its slices; those of A and B have lenA and lenB
// elements. Kernels use pointers, so nothing else would detect it.
func (p *Params[T]) check(batch []Batch, lenA, lenB int) {
	if len(batch) > maxBatch {
		throw.Bug("gemm: %d batch dimensions, at most %d are possible", len(batch), maxBatch)
	}
	if p.M < 0 || p.N < 0 || p.K < 0 {
		throw.Bug("gemm: product of sizes m=%d, n=%d, k=%d", p.M, p.N, p.K)
	}
	a, b, c := newExtent("A", p.M, p.ARow, p.K, p.ACol), newExtent("B", p.K, p.BRow, p.N, p.BCol), newExtent("C", p.M, p.CRow, p.N, p.CCol)
	for _, d := range batch {
		a.repeat(d.Size, d.A)
		b.repeat(d.Size, d.B)
		c.repeat(d.Size, d.C)
		if d.Size > 1 && d.C == 0 {
			throw.Bug("gemm: all products of a batch dimension would be written to the same C")
		}
	}
	a.within(lenA)
	b.within(lenB)
	c.within(len(p.C))
	if p.overlaps() {
		throw.Bug("gemm: elements of C[%d,%d] with strides %d and %d share memory", p.M, p.N, p.CRow, p.CCol)
	}
	if p.Bias != nil && len(p.Bias) != p.N {
		throw.Bug("gemm: %d bias values for %d columns", len(p.Bias), p.N)
	}
}

// overlaps reports whether elements of C share an index.
func (p *Params[T]) overlaps() bool {
	m, n := p.M, p.N
	switch {
	case m == 0 || n == 0:
		return false
	case m > 1 && p.CRow < 1 || n > 1 && p.CCol < 1:
		return true
	}
	return m > 1 && n > 1 && p.CRow <= (n-1)*p.CCol && p.CCol <= (m-1)*p.CRow
}

// extent is the range of indices that an operand uses.
type extent struct {
	name  string
	last  int // index of the last element
	empty bool
}

func newExtent(name string, rows, rowStride, cols, colStride int) extent {
	e := extent{name: name}
	e.repeat(rows, rowStride)
	e.repeat(cols, colStride)
	return e
}

// repeat adds a dimension. It checks for overflow, so that a wrong description does not wrap around
// to a small extent.
func (e *extent) repeat(size, stride int) {
	if size < 0 || stride < 0 {
		throw.Bug("gemm: a dimension of %s has size %d and stride %d", e.name, size, stride)
	}
	if size == 0 {
		e.empty = true
		return
	}
	beyond, step := bits.Mul64(uint64(size-1), uint64(stride))
	e.last += int(step)
	if beyond != 0 || int(step) < 0 || e.last < 0 {
		throw.Bug("gemm: %s with size %d and stride %d reaches beyond all memory", e.name, size, stride)
	}
}

func (e *extent) within(length int) {
	if !e.empty && e.last >= length {
		throw.Bug("gemm: %s has %d elements, its last index is %d", e.name, length, e.last)
	}
}

// isEmpty reports whether there is nothing to compute.
func isEmpty[T Element](p *Params[T], batch []Batch) bool {
	for _, d := range batch {
		if d.Size == 0 {
			return true
		}
	}
	return p.M == 0 || p.N == 0
}
