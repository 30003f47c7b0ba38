package gemm

// smallWork is the number of multiply-adds up to which dividing the work costs more than
// computing partly filled tiles. vectorSmall is the same if the alternative to the vector loops
// is tiles of one column, or packing for one row.
const (
	smallWork   = 4096
	vectorSmall = 256
)

// isSmall reports whether p is small and the columns of C are consecutive.
func isSmall[T Element](p *Params[T]) bool {
	least, most := smallWork, max(p.M, p.N, p.K)
	if p.N == 1 || p.M == 1 && p.BCol != 1 {
		least = vectorSmall
	}
	return min(p.M, p.N, p.K) > 0 && most <= least && p.M*p.N*p.K <= least &&
		blocksOf[T](p.K) == 1 && (p.CCol == 1 || p.N == 1)
}

// small is [Multiply] for one product that is small and not empty.
func small[T Element](p *Params[T]) {
	pool := poolOf[T]()
	w := pool.Get().(*worker[T])
	b := &w.panels
	b.choose()
	if p.BCol == 1 || p.N == 1 {
		b.view(p.B, p.BRow)
	} else {
		b.pack(p.B, p.K, p.N, p.BRow, p.BCol)
	}
	if p.Bias == nil && p.Then == nil {
		b.times(p.C, p.CRow, p.A, p.ARow, p.ACol, p.M, p.N, p.K, p.Alpha, p.Beta)
		b.Release()
		pool.Put(w)
		return
	}
	w.job, w.product.Params = &w.own, *p
	beta := p.Beta
	if p.Bias != nil && beta == 0 {
		w.writeBias(&w.product, 0, p.M, 0, p.N)
		beta = 1
	}
	b.times(p.C, p.CRow, p.A, p.ARow, p.ACol, p.M, p.N, p.K, p.Alpha, beta)
	w.finish(&w.product, 0, p.M, 0, p.N)
	b.Release()
	w.giveBack()
}
