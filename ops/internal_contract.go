package ops

import (
	"slices"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gemm"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// products describes a batch of matrix products of views: C[i,j] = Σ A[i,k]·B[k,j]
// for each index of the batch. Strides are in elements.
type products struct {
	m, n, k int
	a, b    matrix
	batch   []gemm.Batch // strides of A and B; those of C follow from its layout
}

// A matrix is a view of an operand with its row and column strides.
type matrix struct {
	d        *tensor.Dense
	row, col int
}

// hasProducts reports whether matrices of a type are multiplied.
func hasProducts(d dtype.DType) bool { return d.IsNumeric() }

// into computes the products one behind the other into out, which is row-major.
func (p *products) into(out *tensor.Dense) {
	if out.Len() == 0 {
		return
	}
	c := p.m * p.n
	batch := make([]gemm.Batch, 0, len(p.batch))
	for i := len(p.batch) - 1; i >= 0; i-- {
		b := p.batch[i]
		b.C = c
		c *= b.Size
		if b.Size != 1 {
			batch = append(batch, b)
		}
	}
	slices.Reverse(batch)
	batch = p.foldRows(mergeBatch(batch))
	p.multiply(out, batch)
}

// mergeBatch joins neighbouring batch dimensions that every operand crosses with
// one step.
func mergeBatch(batch []gemm.Batch) []gemm.Batch {
	out := batch[:0]
	for _, b := range batch {
		if k := len(out) - 1; k >= 0 {
			if o := out[k]; o.A == b.A*b.Size && o.B == b.B*b.Size && o.C == b.C*b.Size {
				b.Size *= o.Size
				out[k] = b
				continue
			}
		}
		out = append(out, b)
	}
	return out
}

// foldRows makes the innermost batch dimension part of the rows where all its
// products have the same second matrix: one large product is faster than many.
func (p *products) foldRows(batch []gemm.Batch) []gemm.Batch {
	if k := len(batch) - 1; k >= 0 {
		b := batch[k]
		if b.B == 0 && b.C == p.m*p.n && (b.A == p.m*p.a.row || p.m == 1) {
			if p.m == 1 {
				p.a.row = b.A
			}
			p.m *= b.Size
			return batch[:k]
		}
	}
	return batch
}

func (p *products) multiply(out *tensor.Dense, batch []gemm.Batch) {
	switch p.a.d.DType() {
	case dtype.Float32:
		multiplyAs[float32](p, out, batch)
	case dtype.Float64:
		multiplyAs[float64](p, out, batch)
	case dtype.Complex64:
		multiplyAs[complex64](p, out, batch)
	case dtype.Complex128:
		multiplyAs[complex128](p, out, batch)
	case dtype.Int8:
		multiplyAs[int8](p, out, batch)
	case dtype.Int16:
		multiplyAs[int16](p, out, batch)
	case dtype.Int32:
		multiplyAs[int32](p, out, batch)
	case dtype.Int64:
		multiplyAs[int64](p, out, batch)
	case dtype.Uint8:
		multiplyAs[uint8](p, out, batch)
	case dtype.Uint16:
		multiplyAs[uint16](p, out, batch)
	case dtype.Uint32:
		multiplyAs[uint32](p, out, batch)
	case dtype.Uint64:
		multiplyAs[uint64](p, out, batch)
	case dtype.Float16:
		multiplyHalf[dtype.F16](p, out, batch)
	case dtype.BFloat16:
		multiplyHalf[dtype.BF16](p, out, batch)
	}
}

func multiplyAs[T gemm.Element](p *products, out *tensor.Dense, batch []gemm.Batch) {
	gemm.Multiply(gemm.Params[T]{
		M: p.m, N: p.n, K: p.k,
		A: reach[T](p.a, p.m, p.k, batch, 0), ARow: p.a.row, ACol: p.a.col,
		B: reach[T](p.b, p.k, p.n, batch, 1), BRow: p.b.row, BCol: p.b.col,
		C: unsafe.Slice((*T)(out.Raw()), out.Len()), CRow: p.n, CCol: 1,
		Alpha: 1,
	}, batch...)
}

func multiplyHalf[H dtype.F16 | dtype.BF16](p *products, out *tensor.Dense, batch []gemm.Batch) {
	wide := tensor.Uninit(dtype.Float32, out.Shape())
	gemm.Half(gemm.HalfParams[H]{
		M: p.m, N: p.n, K: p.k,
		A: reach[H](p.a, p.m, p.k, batch, 0), ARow: p.a.row, ACol: p.a.col,
		B: reach[H](p.b, p.k, p.n, batch, 1), BRow: p.b.row, BCol: p.b.col,
		C: tensor.Elems[float32](wide), CRow: p.n, CCol: 1,
		Alpha: 1,
	}, batch...)
	castInto(out, wide)
}

// reach returns the elements from the first to the last that a batch of matrices uses.
func reach[T any](x matrix, rows, cols int, batch []gemm.Batch, which int) []T {
	if rows == 0 || cols == 0 || x.d.Len() == 0 {
		return nil
	}
	last := (rows-1)*x.row + (cols-1)*x.col
	for _, b := range batch {
		last += (b.Size - 1) * [2]int{b.A, b.B}[which]
	}
	return unsafe.Slice((*T)(x.d.Raw()), last+1)
}

// castInto converts the elements of a row-major tensor into another.
func castInto(out, x *tensor.Dense) {
	y := castDense(x, out.DType())
	copy(out.Bytes(), y.Bytes())
}

// contracted multiplies x and y and sums over the labels that are not in out.
// Each axis of an operand has a label, all different within it; every label in
// out is in x or y. The result has the axes of out.
func contracted(x *tensor.Dense, xl []int, y *tensor.Dense, yl []int, out []int) *tensor.Dense {
	x, xl = summedOut(x, xl, yl, out)
	y, yl = summedOut(y, yl, xl, out)
	var batch, left, right, inner []int
	for _, l := range out {
		inX, inY := slices.Contains(xl, l), slices.Contains(yl, l)
		switch {
		case inX && inY:
			batch = append(batch, l)
		case inX:
			left = append(left, l)
		default:
			right = append(right, l)
		}
	}
	for _, l := range xl { // what is left is in both
		if !slices.Contains(out, l) {
			inner = append(inner, l)
		}
	}
	a, m, k := grouped(x, xl, batch, left, inner)
	b, _, n := grouped(y, yl, batch, inner, right)
	p := products{m: m, n: n, k: k, a: a.matrix, b: b.matrix}
	for i := range batch {
		p.batch = append(p.batch, gemm.Batch{Size: a.d.Dim(i), A: a.batch[i], B: b.batch[i]})
	}
	labels := slices.Concat(batch, left, right)
	dims := make([]int, len(labels))
	for i, l := range labels {
		if at := slices.Index(xl, l); at >= 0 {
			dims[i] = x.Dim(at)
		} else {
			dims[i] = y.Dim(slices.Index(yl, l))
		}
	}
	res := tensor.Uninit(x.DType(), shape.Of(dims...))
	p.into(res)
	return arranged(res, labels, out)
}

// summedOut sums x over the labels that neither other nor out has.
func summedOut(x *tensor.Dense, xl, other, out []int) (*tensor.Dense, []int) {
	var axes, kept []int
	for i, l := range xl {
		if slices.Contains(other, l) || slices.Contains(out, l) {
			kept = append(kept, l)
		} else {
			axes = append(axes, i)
		}
	}
	if axes == nil {
		return x, xl
	}
	d := x.DType()
	return reduceDense(sumOf(d), x, axes, reducedShape(x.Shape(), axes, false), d), kept
}

// arranged returns x, whose axes have labels, with the axes in the order of out.
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

// A grouping is an operand as a batch of matrices.
type grouping struct {
	matrix
	batch []int // strides
}

// grouped views x as a batch of matrices whose rows and columns are groups of
// labels; it copies where a group's axes do not follow each other in memory.
func grouped(x *tensor.Dense, xl, batch, rows, cols []int) (g grouping, m, n int) {
	x = arranged(x, xl, slices.Concat(batch, rows, cols))
	i, j := len(batch), len(batch)+len(rows)
	dims, strides := x.Shape().Dims(), x.Strides()
	row, ok1 := joined(dims[i:j], strides[i:j])
	col, ok2 := joined(dims[j:], strides[j:])
	if !ok1 || !ok2 || slices.ContainsFunc(strides, func(s int) bool { return s < 0 }) {
		x = move.Copied(x)
		strides = x.Strides()
		row, _ = joined(dims[i:j], strides[i:j])
		col, _ = joined(dims[j:], strides[j:])
	}
	return grouping{matrix{x, row, col}, strides[:i]}, product(dims[i:j]), product(dims[j:])
}

// joined returns the stride of several axes taken as one, and false where they
// do not follow each other in memory.
func joined(dims, strides []int) (stride int, ok bool) {
	first := true
	want := 0
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] == 1 {
			continue
		}
		if first {
			stride, first = strides[i], false
		} else if strides[i] != want {
			return 0, false
		}
		want = strides[i] * dims[i]
	}
	return stride, true
}
