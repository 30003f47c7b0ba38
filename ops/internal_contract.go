package ops

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gemm"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// hasProducts reports whether matrices of a type can be multiplied.
func hasProducts(d dtype.DType) bool { return d.IsNumeric() }

// strided is one axis, or several that every tensor crosses with one stride: its size and its
// stride in the first and second operand and in the result, in elements. A tensor that lacks it has
// stride 0.
type strided struct{ size, a, b, c int }

// A contractLayout describes a contraction of tensors with certain strides as a batch of matrix
// products. One chain of axes makes the rows, one the columns, and one the sum; all other axes of
// the result belong to the batch.
type contractLayout struct {
	m, n, k strided
	batch   [maxContractBatch]strided // outermost first
	batches int

	copyA, copyB bool // the summed axes do not form one chain
	natural      bool // the innermost axis of the result is neither row nor column, or the batch has too many axes
}

// maxContractBatch is the maximum number of batch dimensions of a product.
const maxContractBatch = 8

// dense contracts dense tensors whose contraction needs no promotion.
func (k *Contraction) dense(a, b *tensor.Dense) *tensor.Dense {
	var l contractLayout
	var roomA, roomB [16]int
	l.plan(k, placeOf(a, &roomA), placeOf(b, &roomB))
	switch {
	case l.natural:
		return k.throughNatural(a, b)
	case l.copyA:
		return k.dense(arrangedCopy(a, k, b, false), b)
	case l.copyB:
		return k.dense(a, arrangedCopy(b, k, a, true))
	}
	out := tensor.Uninit(a.DType(), k.shape(a, b))
	if out.Len() > 0 {
		l.multiply(a, b, out, nil)
	}
	return out
}

// shape returns the result's shape.
func (k *Contraction) shape(a, b *tensor.Dense) shape.Shape {
	var room [8]int
	dims := append(room[:0], k.out...)
	for _, x := range k.axes {
		switch {
		case x.out < 0:
		case x.a >= 0:
			dims[x.out] = a.Dim(x.a)
		default:
			dims[x.out] = b.Dim(x.b)
		}
	}
	return shape.Of(dims...)
}

// plan finds the chains for operands with the given sizes and strides.
func (l *contractLayout) plan(k *Contraction, a, b place) {
	l.copyA, l.copyB = a.backwards(), b.backwards()
	var stepRoom [8]int
	var leftRoom, rightRoom, innerRoom, batchRoom [8]strided
	left, right, inner, batch := leftRoom[:0], rightRoom[:0], innerRoom[:0], batchRoom[:0]
	steps := append(stepRoom[:0], k.out...)
	step := 1
	for i := len(k.out) - 1; i >= 0; i-- {
		steps[i] = step
		if x := k.axes[k.at[i]]; x.a >= 0 {
			step *= a.dims[x.a]
		} else {
			step *= b.dims[x.b]
		}
	}
	for _, x := range k.axes {
		s := strided{size: 1}
		if x.a >= 0 {
			s.size, s.a = a.dims[x.a], a.strides[x.a]
		}
		if x.b >= 0 {
			s.size, s.b = b.dims[x.b], b.strides[x.b]
		}
		if s.size == 1 {
			continue
		}
		if x.out >= 0 {
			s.c = steps[x.out]
		}
		switch {
		case x.out < 0:
			inner = append(inner, s)
		case x.a >= 0 && x.b >= 0:
			batch = append(batch, s)
		case x.a >= 0:
			left = append(left, s)
		default:
			right = append(right, s)
		}
	}
	left, right, inner = chains(left, byC), chains(right, byC), chains(inner, byA)
	if l.k, inner = longest(inner); len(inner) > 0 && step > 0 && l.k.size > 0 && !slices.ContainsFunc(inner, isEmpty) {
		// An operand whose own axes form one chain is left as it is; the other
		// one is copied.
		l.copyA = l.copyA || len(chains(onlyA(append(inner, l.k)), byA)) > 1
		l.copyB = l.copyB || !l.copyA
	}
	l.m, left = longest(left)
	l.n, right = longest(right)
	for _, x := range inner {
		l.k.size *= x.size // 0 if there is nothing to sum over
	}
	batch = chains(append(append(batch, left...), right...), byC)
	l.natural = len(batch) > maxContractBatch || l.m.c != 1 && l.n.c != 1 && l.m.size > 1 && l.n.size > 1
	if l.batches = min(len(batch), maxContractBatch); l.batches > 0 {
		slices.Reverse(batch)
		copy(l.batch[:], batch)
	}
}

// A place holds the sizes and strides of a tensor.
type place struct{ dims, strides []int }

// placeOf returns the sizes and strides of d, in room if they fit.
func placeOf(d *tensor.Dense, room *[16]int) place {
	s := d.Shape()
	p := place{dims: s.AppendDims(room[:0:8])}
	if !d.IsContiguous() {
		p.strides = d.Strides()
		return p
	}
	p.strides = append(room[8:8], p.dims...)
	step := 1
	for i := len(p.strides) - 1; i >= 0; i-- {
		p.strides[i], step = step, step*p.strides[i]
	}
	return p
}

// backwards reports whether a stride is negative.
func (p place) backwards() bool {
	return slices.ContainsFunc(p.strides, func(s int) bool { return s < 0 })
}

func isEmpty(x strided) bool { return x.size == 0 }

func byC(x, y strided) int { return x.c - y.c }

// byA sorts by the strides of the first operand and, where these are equal, as in a broadcast
// value, by the strides of the second: axes that follow each other there form one chain.
func byA(x, y strided) int { return cmp.Or(x.a-y.a, x.b-y.b) }

func onlyA(axes []strided) []strided {
	out := make([]strided, len(axes))
	for i, x := range axes {
		out[i] = strided{size: x.size, a: x.a}
	}
	return out
}

// chains sorts axes from the innermost outwards and merges neighbors that every
// tensor crosses with one stride. It works in place.
func chains(axes []strided, order func(x, y strided) int) []strided {
	if len(axes) < 2 {
		return axes
	}
	slices.SortStableFunc(axes, order)
	out := axes[:0]
	for _, x := range axes {
		if n := len(out); n > 0 {
			y := &out[n-1]
			if x.a == y.a*y.size && x.b == y.b*y.size && x.c == y.c*y.size {
				y.size *= x.size
				continue
			}
		}
		out = append(out, x)
	}
	return out
}

// longest takes the chain with the most elements, but prefers one that is
// contiguous in the result. If there are no chains, it returns a single element.
func longest(axes []strided) (strided, []strided) {
	best := -1
	for i, x := range axes {
		if best < 0 || x.c == 1 || axes[best].c != 1 && x.size > axes[best].size {
			best = i
		}
	}
	if best < 0 {
		return strided{size: 1}, axes
	}
	x := axes[best]
	return x, slices.Delete(axes, best, best+1)
}

// throughNatural computes the result with the batch axes first, then those of the first operand,
// then those of the second, and returns a view of it.
func (k *Contraction) throughNatural(a, b *tensor.Dense) *tensor.Dense {
	var batch, left, right []int
	for _, l := range k.out {
		inA, inB := slices.Contains(k.a, l), slices.Contains(k.b, l)
		switch {
		case inA && inB:
			batch = append(batch, l)
		case inA:
			left = append(left, l)
		default:
			right = append(right, l)
		}
	}
	natural := slices.Concat(batch, left, right)
	n := tenon.Must(NewContraction(k.a, k.b, natural))
	var l contractLayout
	var roomA, roomB [16]int
	if l.plan(n, placeOf(a, &roomA), placeOf(b, &roomB)); l.natural {
		// There are so many separate axes that only copies can reduce their
		// number.
		a = arrangedCopy(a, n, b, false)
		b = arrangedCopy(b, n, a, true)
	}
	return arranged(n.dense(a, b), natural, k.out)
}

// arranged returns x, whose axes have the given labels, with its axes in the
// order of out.
func arranged(x *tensor.Dense, labels, out []int) *tensor.Dense {
	if slices.Equal(labels, out) {
		return x
	}
	order := make([]int, len(out))
	for i, l := range out {
		order[i] = slices.Index(labels, l)
	}
	return permuted(x, order)
}

// arrangedCopy copies an operand so that the axes of each group are consecutive in memory: batch
// axes, its own axes, and summed axes, the last in the order that they have in the memory of the
// other operand, y. The axes of the view keep their order.
func arrangedCopy(x *tensor.Dense, k *Contraction, y *tensor.Dense, second bool) *tensor.Dense {
	own, other := k.a, k.b
	if second {
		own, other = k.b, k.a
	}
	steps := y.Strides()
	var batch, free, inner []int
	for _, l := range k.out {
		switch {
		case !slices.Contains(own, l):
		case slices.Contains(other, l):
			batch = append(batch, l)
		default:
			free = append(free, l)
		}
	}
	for _, l := range other {
		if !slices.Contains(k.out, l) {
			inner = append(inner, l)
		}
	}
	slices.SortStableFunc(inner, func(l, m int) int { return steps[slices.Index(other, m)] - steps[slices.Index(other, l)] })
	labels := slices.Concat(batch, free, inner)
	c := move.Copied(arranged(x, own, labels))
	return arranged(c, labels, own)
}

// multiply runs the products into out. If to is not nil, there is one product, which is added to it: a
// matrix, or a row.
func (l *contractLayout) multiply(a, b, out, to *tensor.Dense) {
	switch a.DType() {
	case dtype.Float32:
		contractAs[float32](l, a, b, out, to)
	case dtype.Float64:
		contractAs[float64](l, a, b, out, to)
	case dtype.Complex64:
		contractAs[complex64](l, a, b, out, to)
	case dtype.Complex128:
		contractAs[complex128](l, a, b, out, to)
	case dtype.Int8:
		contractAs[int8](l, a, b, out, to)
	case dtype.Int16:
		contractAs[int16](l, a, b, out, to)
	case dtype.Int32:
		contractAs[int32](l, a, b, out, to)
	case dtype.Int64:
		contractAs[int64](l, a, b, out, to)
	case dtype.Uint8:
		contractAs[uint8](l, a, b, out, to)
	case dtype.Uint16:
		contractAs[uint16](l, a, b, out, to)
	case dtype.Uint32:
		contractAs[uint32](l, a, b, out, to)
	case dtype.Uint64:
		contractAs[uint64](l, a, b, out, to)
	case dtype.Float16:
		contractHalf[dtype.F16](l, a, b, out)
	case dtype.BFloat16:
		contractHalf[dtype.BF16](l, a, b, out)
	}
}

// steps returns the batch for the kernel, and the strides of the rows and columns of the result.
func (l *contractLayout) steps(room []gemm.Batch) (batch []gemm.Batch, cRow, cCol int) {
	for _, x := range l.batch[:l.batches] {
		room = append(room, gemm.Batch{Size: x.size, A: x.a, B: x.b, C: x.c})
	}
	cRow, cCol = l.m.c, l.n.c
	if l.m.size == 1 {
		cRow = max(1, l.n.size*cCol)
	}
	if l.n.size == 1 {
		cCol = 1
		if l.m.size > 1 && cRow == 1 {
			cCol = l.m.size
		}
	}
	return room, max(cRow, 1), max(cCol, 1)
}

func contractAs[T gemm.Element](l *contractLayout, a, b, out, to *tensor.Dense) {
	var room [maxContractBatch]gemm.Batch
	batch, cRow, cCol := l.steps(room[:0])
	p := gemm.Params[T]{
		M: l.m.size, N: l.n.size, K: l.k.size,
		A: elemsUsed[T](l, a, l.m, false), ARow: l.m.a, ACol: l.k.a,
		B: elemsUsed[T](l, b, l.n, true), BRow: l.k.b, BCol: l.n.b,
		C: unsafe.Slice((*T)(out.Raw()), out.Len()), CRow: cRow, CCol: cCol,
		Alpha: 1,
	}
	if to != nil {
		start := unsafe.Slice((*T)(to.Raw()), to.Len())
		if to.Rank() == 1 {
			p.Bias = start
		} else {
			copy(p.C, start)
			p.Beta = 1
		}
	}
	gemm.Multiply(p, batch...)
}

func contractHalf[H dtype.F16 | dtype.BF16](l *contractLayout, a, b, out *tensor.Dense) {
	var room [maxContractBatch]gemm.Batch
	batch, cRow, cCol := l.steps(room[:0])
	wide := tensor.NewDense(dtype.Float32, out.Shape())
	gemm.Half(gemm.HalfParams[H]{
		M: l.m.size, N: l.n.size, K: l.k.size,
		A: elemsUsed[H](l, a, l.m, false), ARow: l.m.a, ACol: l.k.a,
		B: elemsUsed[H](l, b, l.n, true), BRow: l.k.b, BCol: l.n.b,
		C: tensor.Elems[float32](wide), CRow: cRow, CCol: cCol,
		Alpha: 1,
	}, batch...)
	castInto(out, wide)
}

// castInto converts the elements of a row-major tensor into another.
func castInto(out, x *tensor.Dense) {
	y := castDense(x, out.DType())
	copy(out.Bytes(), y.Bytes())
}

// elemsUsed returns an operand's elements from the first to the last one used.
func elemsUsed[T any](l *contractLayout, d *tensor.Dense, own strided, second bool) []T {
	if d.Len() == 0 {
		return nil
	}
	last := 0
	add := func(x strided) {
		step := x.a
		if second {
			step = x.b
		}
		last += (x.size - 1) * step
	}
	add(own)
	add(l.k)
	for _, x := range l.batch[:l.batches] {
		add(x)
	}
	return unsafe.Slice((*T)(d.Raw()), last+1)
}
