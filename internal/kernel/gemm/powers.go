package gemm

import (
	"math"

	"github.com/tenonml/tenon/internal/throw"
)

// PowerLimit bounds the absolute value of the products that [Powers] accepts as exponents.
const PowerLimit = 32

// PowerLanes is the number of partial sums that [Powers] keeps for each row.
const PowerLanes = 16

// HasPowers reports whether [Powers] can be used, which depends on the element type
// and the processor. The matrix must have been packed.
func HasPowers(p *Panels[float32]) bool {
	return p.f.tiles != nil && p.f.tiles[powers][1] != nil && p.row == p.f.width
}

// Powers computes c[i,j] = 2^(sum_l a[i,l] B[l,j] - shift) for i < m, j < n and all l on the
// calling goroutine, and adds each element of row i to one of sums[16i:16i+16]. It is faster
// than computing the products first and then the powers. The products must lie between
// -PowerLimit and PowerLimit, and shift must be at most 126-PowerLimit. The relative error of a
// power is at most 2^-22.
func Powers(p *Panels[float32], c []float32, cRow int, a []float32, aRow, m, n, shift int, sums []float32) {
	if n > p.n || shift < -PowerLimit || shift > 126-PowerLimit || len(sums) < PowerLanes*m {
		throw.Bug("gemm: powers of %d columns of a matrix that has %d, less %d, with %d sums for %d rows", n, p.n, shift, len(sums), m)
	}
	e := newExtent("A", m, aRow, p.k, 1)
	e.within(len(a))
	e = newExtent("C", m, cRow, n, 1)
	e.within(len(c))
	if m > 1 && cRow < n {
		throw.Bug("gemm: rows of C have %d elements and start %d apart", n, cRow)
	}
	if m == 0 || n == 0 || p.k == 0 {
		for i := range m {
			for j := range n {
				power := float32(math.Ldexp(1, -shift))
				c[i*cRow+j] = power
				sums[PowerLanes*i] += power
			}
		}
		return
	}
	p.table = powersOfTwo(shift)
	p.t.table = &p.table[0]
	p.tiles(c, cRow, a, aRow, 1, m, n, p.k, sums)
}

// powersOfTwo returns the look-up table of the kernels: the bits of 2^(j/32-shift), minus what the
// fraction j/32 contributes when the kernel shifts the exponent into place.
func powersOfTwo(shift int) (table [32]float32) {
	const place = 23 - 5 // distance from the lowest bit of the fraction to that of the exponent
	for j := range table {
		power := math.Exp2(float64(j)/32 - float64(shift))
		table[j] = math.Float32frombits(math.Float32bits(float32(power)) - uint32(j)<<place)
	}
	return table
}
