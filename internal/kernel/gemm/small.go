package gemm

// smallWork is the number of multiply-adds up to which preparing the vector loops
// takes longer than the product by itself.
const smallWork = 160

// isSmall reports whether a plain product of one pair of matrices is small.
func isSmall[T Element](p *Params[T], batch []Batch) bool {
	return p.M*p.N*p.K <= smallWork && max(p.M, p.N, p.K) <= smallWork &&
		len(batch) == 0 && p.Beta == 0 && p.Bias == nil && p.Then == nil
}

// small is [Multiply] for a product that is small.
func small[T Element](p *Params[T]) {
	for i := range p.M {
		for j := range p.N {
			var sum T
			a, b := i*p.ARow, j*p.BCol
			for range p.K {
				sum += p.A[a] * p.B[b]
				a += p.ACol
				b += p.BRow
			}
			p.C[i*p.CRow+j*p.CCol] = p.Alpha * sum
		}
	}
}
