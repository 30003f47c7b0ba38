package gemm

import "unsafe"

// The plain Go tile has 2 rows and 4 columns, which fit into the scalar registers of common
// processors.
const (
	plainRows  = 2
	plainWidth = 4
)

// plainTile is the tile kernel in plain Go, for every variant that does not pack.
func plainTile[T Element](rows int, t *tile[T]) {
	if rows == plainRows && t.cols == plainWidth {
		plainFull(t)
		return
	}
	size := int(unsafe.Sizeof(t.alpha))
	for i := range rows {
		for j := range t.cols {
			var sum T
			a, b := offset(t.a, i*t.aRow), offset(t.b, j*size)
			for r := range max(1, t.runs) {
				a, b := t.run(r, a, b)
				for k := range t.k {
					sum += *offset(a, k*t.aCol) * *offset(b, k*t.bRow)
				}
			}
			t.put(offset(t.c, i*t.cRow+j*size), sum)
		}
	}
}

// run returns where run r of the columns of A and the rows of B begins.
func (t *tile[T]) run(r int, a, b *T) (*T, *T) {
	return offset(a, r*(t.k*t.aCol+t.leap)), offset(b, r*t.k*t.bRow)
}

// put writes one element of C.
func (t *tile[T]) put(c *T, sum T) {
	sum *= t.alpha
	if t.readC == 1 {
		sum += t.beta * *c
	}
	*c = sum
}

// plainFull keeps the eight sums of a full tile in variables.
func plainFull[T Element](t *tile[T]) {
	var s00, s01, s02, s03, s10, s11, s12, s13 T
	for r := range max(1, t.runs) {
		firstA, firstB := t.run(r, t.a, t.b)
		for k := range t.k {
			b := (*[plainWidth]T)(unsafe.Pointer(offset(firstB, k*t.bRow)))
			b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
			p := offset(firstA, k*t.aCol)
			a := *p
			s00 += a * b0
			s01 += a * b1
			s02 += a * b2
			s03 += a * b3
			a = *offset(p, t.aRow)
			s10 += a * b0
			s11 += a * b1
			s12 += a * b2
			s13 += a * b3
		}
	}
	c := (*[plainWidth]T)(unsafe.Pointer(t.c))
	t.put(&c[0], s00)
	t.put(&c[1], s01)
	t.put(&c[2], s02)
	t.put(&c[3], s03)
	c = (*[plainWidth]T)(unsafe.Pointer(offset(t.c, t.cRow)))
	t.put(&c[0], s10)
	t.put(&c[1], s11)
	t.put(&c[2], s12)
	t.put(&c[3], s13)
}

// plainAxpy adds x[0]*b[0:n] to y[0:n].
func plainAxpy[T Element](n int, x, b *T, _ int, y *T) {
	v := *x
	bs, ys := unsafe.Slice(b, n), unsafe.Slice(y, n)
	for j := range ys {
		ys[j] += v * bs[j]
	}
}

// plainLanes is the number of rows that plainDot handles at once.
const plainLanes = 4

// plainDot computes x[0:n] . a[i,0:n] for four rows i at once, because each addition to a sum
// depends on the one before.
func plainDot[T Element](n int, x, a *T, stride int, out *T) {
	xs := unsafe.Slice(x, n)
	a0, a1, a2, a3 := unsafe.Slice(a, n), unsafe.Slice(offset(a, stride), n), unsafe.Slice(offset(a, 2*stride), n), unsafe.Slice(offset(a, 3*stride), n)
	var s [plainLanes]T
	for k, v := range xs {
		s[0] += a0[k] * v
		s[1] += a1[k] * v
		s[2] += a2[k] * v
		s[3] += a3[k] * v
	}
	*(*[plainLanes]T)(unsafe.Pointer(out)) = s
}
