package gemm

import "unsafe"

const (
	axpyCols = 4096 // results computed together by axpy: they fit into the first-level cache
	axpyRows = 64   // rows of the matrix in one call
	dotRows  = 64   // results computed together by dots
)

// If results lie along the rows of the matrix, workers divide the rows as long as the pieces have at
// least partCols elements, so that each worker reads a piece of every row. Short pieces are slow, so
// for shorter rows workers take whole blocks of k instead.
const partCols = 4096

// A matvec is a product with one row or one column: y[i] = sum_k mat[i,k] x[k].
type matvec[T Element] struct {
	mat      []T
	row, col int
	rows     int
	x, y     []T
	xs, ys   int // strides
	bs       int // stride of the bias; 0: one value for all results
}

// asVector returns the product as a matvec, if it is one and the matrix can be streamed.
func (j *job[T]) asVector() (matvec[T], bool) {
	if j.readA != nil || j.readB != nil {
		return matvec[T]{}, false
	}
	return j.vectorOf(&j.Params)
}

// vectorOf is asVector for one product of the batch.
func (j *job[T]) vectorOf(p *Params[T]) (v matvec[T], ok bool) {
	switch {
	case p.K == 0:
		return v, false
	case p.M == 1:
		v = matvec[T]{mat: p.B, row: p.BCol, col: p.BRow, rows: p.N, x: p.A, xs: p.ACol, y: p.C, ys: p.CCol}
	case p.N == 1:
		v = matvec[T]{mat: p.A, row: p.ARow, col: p.ACol, rows: p.M, x: p.B, xs: p.BRow, y: p.C, ys: p.CRow}
	default:
		return v, false
	}
	v.bs = boolToInt((p.M == 1) != j.rowBias)
	return v, v.col == 1 || v.row == 1
}

// vector computes the results [r0, r1) of a matvec, clipped to its size, from the blocks [b0, b1) of
// k. If part is not nil, it stores partial sums there for sumParts to complete.
func (w *worker[T]) vector(p *product[T], r0, r1, b0, b1 int, part []T) {
	v, _ := w.vectorOf(&p.Params)
	r1 = min(r1, v.rows)
	x := v.x
	if v.xs != 1 {
		x = sized(&w.vec, p.K)
		from, _ := blockOf[T](p.K, b0)
		_, to := blockOf[T](p.K, b1-1)
		for k := from; k < to; k++ {
			x[k] = v.x[k*v.xs]
		}
	}
	if part != nil {
		w.sumBlock(p, &v, x, r0, b0, part[r0:r1])
		return
	}
	each := axpyCols
	if v.col == 1 {
		each = dotRows
	}
	sums := sized(&w.sums, each)
	for i := r0; i < r1; i += each {
		for b := b0; b < b1; b++ {
			s := sums[:min(each, r1-i)]
			w.sumBlock(p, &v, x, i, b, s)
			w.putVector(p, &v, i, b, s)
		}
	}
}

// sumParts completes a product; parts holds its partial sums over each block of k.
func (w *worker[T]) sumParts(p *product[T], parts []T) {
	v, _ := w.vectorOf(&p.Params)
	for b := range len(parts) / v.rows {
		w.putVector(p, &v, 0, b, parts[b*v.rows:][:v.rows])
	}
}

// sumBlock sets sums to the contribution of block b of k to the results from i on.
func (w *worker[T]) sumBlock(p *product[T], v *matvec[T], x []T, i, b int, sums []T) {
	size := int(unsafe.Sizeof(x[0]))
	k0, k1 := blockOf[T](p.K, b)
	if v.col == 1 {
		w.dots(x[k0:k1], at(v.mat, i*v.row+k0), v.row*size, sums)
		return
	}
	clear(sums)
	for k := k0; k < k1; k += axpyRows {
		w.f.axpy(x[k:min(k+axpyRows, k1)], at(v.mat, i+k*v.col), v.col*size, sums)
	}
}

// dots sets out[i] to the sum of a[i,k] x[k] in the order of k, where the rows of a are stride bytes
// apart and their elements are consecutive. Columns that do not fill a vector are added one by one;
// rows that do not fill a vector are computed as a tile.
//
//go:noinline
func (w *worker[T]) dots(x []T, a *T, stride int, out []T) {
	f, t, i := w.f, &w.t, 0
	size := int(unsafe.Sizeof(*a))
	if whole := len(x) / f.lanes * f.lanes; whole > 0 {
		// If rows evict each other, no more are read side by side than the cache can hold.
		for two := f.dot2 != nil && !conflicts(stride); two && i+2*f.lanes <= len(out); {
			f.dot2(whole, &x[0], offset(a, i*stride), stride, &out[i])
			i += 2 * f.lanes
		}
		for i+f.lanes <= len(out) {
			f.dot1(whole, &x[0], offset(a, i*stride), stride, &out[i])
			i += f.lanes
		}
		for k := whole; k < len(x) && i > 0; k++ {
			column := w.column[:i]
			for r := range column {
				column[r] = *offset(a, r*stride+k*size)
			}
			f.axpy1(i, &x[k], &column[0], 0, &out[0])
		}
	}
	v, most := f.variant(1)
	for rows := 0; i < len(out); i += rows {
		rows = min(most, len(out)-i)
		t.k, t.a, t.aRow, t.aCol, t.b, t.bRow = len(x), offset(a, i*stride), stride, size, &x[0], size
		t.c, t.cRow, t.cols, t.readC, t.scaled, t.alpha = &out[i], size, 1, 0, 0, 1
		t.ahead, t.aheadStep, t.aheadNext, t.count = t.a, 0, 0, 1
		f.tile(v, rows, t)
	}
}

// putVector adds sums over block b of k to the results from i on, as a tile does.
func (w *worker[T]) putVector(p *product[T], v *matvec[T], i, b int, sums []T) {
	if p.Alpha != 1 {
		for n := range sums {
			sums[n] *= p.Alpha
		}
	}
	beta := p.Beta
	if b > 0 {
		beta = 1
	}
	if b == 0 && beta == 0 {
		v.addBias(p.Bias, i, sums)
	} else {
		for n := 0; n < len(sums); n += len(w.column) {
			s := sums[n:min(n+len(w.column), len(sums))]
			old := w.column[:len(s)]
			for k := range old {
				old[k] = v.y[(i+n+k)*v.ys]
			}
			w.f.axpy1(len(s), &beta, &old[0], 0, &s[0])
		}
	}
	if b == blocksOf[T](p.K)-1 {
		if p.Beta != 0 {
			v.addBias(p.Bias, i, sums)
		}
		if p.Then != nil {
			p.Then(sums)
		}
	}
	if v.ys == 1 {
		copy(v.y[i:], sums)
		return
	}
	for n, s := range sums {
		v.y[(i+n)*v.ys] = s
	}
}

// addBias adds the bias, if there is one, to the results from i on.
func (v *matvec[T]) addBias(bias []T, i int, sums []T) {
	if bias == nil {
		return
	}
	for n := range sums {
		sums[n] += bias[(i+n)*v.bs]
	}
}
