package gemm

import "unsafe"

// vectorRows is the number of results that one round of the vector loops computes,
// few enough to stay in the first-level cache.
const vectorRows = 64

const (
	axpyCols = 4096 // results that share a round of axpy
	axpyRows = 64   // rows of the matrix in one call
	dotRows  = 8
	dotCols  = 8192
	cached   = 4 << 20 // bytes of a matrix that may be in the cache already
)

// The sums of axpy are worth dividing into ranges of rows of the matrix where those are
// shorter than partCols: workers that share longer ones each read a piece of every row, which
// is faster, but short pieces are slower. There are partMost ranges at most, and each reads
// vectorWork elements at least.
const (
	partCols = 4096
	partMost = 8
)

// A matvec is a product with one row or one column: y[i] = sum_k mat[i,k] x[k].
type matvec[T Element] struct {
	mat      []T
	row, col int
	rows     int
	x, y     []T
	xs, ys   int // strides
}

// asVector returns the product as a matvec, if it is one and the matrix can be
// streamed.
func (j *job[T]) asVector() (matvec[T], bool) {
	if j.readA != nil || j.readB != nil || j.rowBias && j.Bias != nil {
		return matvec[T]{}, false
	}
	return j.Params.asVector()
}

func (p *Params[T]) asVector() (v matvec[T], ok bool) {
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
	return v, v.col == 1 || v.row == 1
}

// parts returns into how many ranges of k the sums of the matvec are divided, and the
// length of a range. That depends on the sizes only, since it decides the order of the sums.
func (v *matvec[T]) parts(k int) (n, each int) {
	if v.col == 1 || v.rows >= partCols {
		return 1, k
	}
	n = max(1, min(partMost, int(float64(v.rows)*float64(k)/vectorWork)))
	each = ((k+n-1)/n + axpyRows - 1) / axpyRows * axpyRows
	return (k + each - 1) / each, each
}

// vector computes what k0 to k1 add to results r0 to r1 of a matvec, as far as they exist:
// the results themselves, or their part, where there are several, which sumParts adds up.
func (w *worker[T]) vector(p *product[T], r0, r1, k0, k1 int, part []T) {
	v, _ := p.asVector()
	r1, k1 = min(r1, v.rows), min(k1, p.K)
	x := v.x[k0*v.xs:]
	if v.xs != 1 {
		x = sized(&w.vec, k1-k0)
		for k := range x {
			x[k] = v.x[(k0+k)*v.xs]
		}
	}
	x = x[:k1-k0]
	if v.col == 1 {
		sums := sized(&w.sums, vectorRows)
		for i := r0; i < r1; i += vectorRows {
			s := sums[:min(vectorRows, r1-i)]
			w.dots(&v, x, i, s)
			w.putVector(p, &v, i, s)
		}
		return
	}
	if part != nil {
		w.axpys(&v, x, r0, k0, part[r0:r1])
		return
	}
	sums := sized(&w.sums, axpyCols)
	for i := r0; i < r1; i += axpyCols {
		s := sums[:min(axpyCols, r1-i)]
		w.axpys(&v, x, i, k0, s)
		w.putVector(p, &v, i, s)
	}
}

// sumParts adds up the sums of each range of k, in their order, and writes the results.
func (w *worker[T]) sumParts(p *product[T], parts []T) {
	v, _ := p.asVector()
	sums := parts[:v.rows]
	for parts = parts[v.rows:]; len(parts) > 0; parts = parts[v.rows:] {
		for i, s := range parts[:v.rows] {
			sums[i] += s
		}
	}
	w.putVector(p, &v, 0, sums)
}

// dots sets sums to the products of x with the rows of the matrix from i on, along
// which elements are consecutive.
func (w *worker[T]) dots(v *matvec[T], x []T, i int, sums []T) {
	size := int(unsafe.Sizeof(x[0]))
	clear(sums)
	for k := 0; k < len(x); k += dotCols {
		xk := x[k:min(k+dotCols, len(x))]
		for r := 0; r < len(sums); r += dotRows {
			out := w.part[:min(dotRows, len(sums)-r)]
			w.f.dot(xk, at(v.mat, (i+r)*v.row+k), v.row*size, out, v.rows*v.row*size > cached)
			for n, s := range out {
				sums[r+n] += s
			}
		}
	}
}

// axpys sets sums to the sum of the columns of the matrix from k0 on, along which elements
// are consecutive, each times its element of x.
func (w *worker[T]) axpys(v *matvec[T], x []T, i, k0 int, sums []T) {
	size := int(unsafe.Sizeof(x[0]))
	clear(sums)
	for k := 0; k < len(x); k += axpyRows {
		w.f.axpy(x[k:min(k+axpyRows, len(x))], at(v.mat, i+(k0+k)*v.col), v.col*size, sums)
	}
}

// putVector turns sums into the results from i on and writes them.
func (w *worker[T]) putVector(p *product[T], v *matvec[T], i int, sums []T) {
	for n := range sums {
		s := sums[n] * p.Alpha
		if p.Beta != 0 {
			s += p.Beta * v.y[(i+n)*v.ys]
		}
		if p.Bias != nil {
			s += p.Bias[(i+n)%len(p.Bias)]
		}
		sums[n] = s
	}
	if p.Then != nil {
		p.Then(sums)
	}
	if v.ys == 1 {
		copy(v.y[i:], sums)
		return
	}
	for n, s := range sums {
		v.y[(i+n)*v.ys] = s
	}
}
