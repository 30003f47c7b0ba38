package attention

import (
	"runtime"

	"github.com/tenonml/tenon/internal/kernel/gemm"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/internal/throw"
)

// A Product is an operand of attention that is itself a matrix product, such as queries that are
// projections of a sequence. Element [i,j] of the operand is Σ_l A[i*ARow+l*ACol] B[l*BRow+j*BCol],
// for l < K.
type Product struct {
	A, B                   []float32
	K                      int
	ARow, ACol, BRow, BCol int
}

// ProductBatch is one dimension of a batch of products: its size, and the distances between the
// results of consecutive heads and between the matrices A and B of queries, keys and values. A
// stride of 0 reuses the same matrix.
type ProductBatch struct {
	Size, Out int
	A, B      [3]int
}

// shortest is the smallest number of queries and of keys for which [WorthProducts] holds: for
// fewer, copying B for each head would cost as much as it saves.
const shortest = 128

// WorthProducts reports whether [ForwardOf] pays off for attention of the given sizes: heads must
// be long enough, and small enough for the operands of one to stay in the second-level cache.
func WorthProducts(queries, keys, depth, width int) bool {
	const narrowest = 8  // narrower products take other code paths
	const most = 1 << 17 // elements of operands
	return min(queries, keys) >= shortest && keys <= wholeKeys && min(depth, width) >= narrowest &&
		queries*depth+keys*(depth+width) <= most
}

// ForwardOf is [Forward] for queries, keys and values that are products. It computes those of one
// head at a time, so that they are still in the cache when they are used, and the memory for those
// of all heads is not needed. It ignores Q, K, V and their strides, and does not set LogSum. There
// are at most 1024 keys.
func ForwardOf(p Params[float32], of [3]Product, batch ...ProductBatch) {
	heads := 1
	for _, d := range batch {
		heads *= d.Size
	}
	if !p.whole() || p.LogSum != nil || p.Mask != nil {
		throw.Bug("attention: products for %d keys, LogSum of %d, mask of %d", p.Keys, len(p.LogSum), len(p.Mask))
	}
	if heads == 0 || p.Queries == 0 || p.Width == 0 {
		return
	}
	p.QRow, p.KRow, p.VRow = p.Depth, p.Depth, p.Width
	size := p.Queries*p.Depth + p.Keys*(p.Depth+p.Width)
	if heads < runtime.GOMAXPROCS(0) {
		divided(&p, of, batch, heads, size)
		return
	}
	par.For(heads, grain(&p), func(lo, hi int) {
		s := scratches.Get().(*scratch)
		step, stride := p.wholeRows(), rowStride(p.Keys)
		s.room(min(step, p.Queries), stride, false)
		if len(s.operands) < size {
			s.operands = make([]float32, size)
		}
		for h := lo; h < hi; h++ {
			one := productsOf(&p, s, s.operands, of, batch, h)
			s.take(&one)
			for i0 := 0; i0 < p.Queries; i0 += step {
				s.forwardWhole(&one, i0, min(i0+step, p.Queries), stride)
			}
		}
		s.giveBack()
	})
}

// divided is ForwardOf for fewer heads than processors: all processors work on each head.
func divided(p *Params[float32], of [3]Product, batch []ProductBatch, heads, size int) {
	room := shared.Get().(*[]float32)
	defer shared.Put(room)
	if len(*room) < size {
		*room = make([]float32, size)
	}
	for h := range heads {
		Forward(productsOf(p, nil, *room, of, batch, h))
	}
}

// productsOf computes the operands of a head in room.
func productsOf(p *Params[float32], s *scratch, room []float32, of [3]Product, batch []ProductBatch, head int) Params[float32] {
	one := *p
	nq, nk := p.Queries*p.Depth, p.Keys*p.Depth
	one.Q, one.K, one.V = room[:nq], room[nq:][:nk], room[nq+nk:][:p.Keys*p.Width]
	for i := len(batch) - 1; i >= 0; i-- {
		d := batch[i]
		x := head % d.Size
		head /= d.Size
		one.Out = from(one.Out, x*d.Out)
		for k := range of {
			of[k].A, of[k].B = from(of[k].A, x*d.A[k]), from(of[k].B, x*d.B[k])
		}
	}
	of[0].to(s, one.Q, p.Queries, p.Depth)
	of[1].to(s, one.K, p.Keys, p.Depth)
	of[2].to(s, one.V, p.Keys, p.Width)
	return one
}

// productSteps is the length up to which every code path sums in the same order. productSize is the
// number of elements of A processed at a time.
const (
	productSteps = 1024
	productSize  = 1 << 16
)

// to computes the product on this goroutine with s, or on all processors if s is nil. The results
// are bitwise identical.
func (o *Product) to(s *scratch, c []float32, rows, cols int) {
	if s == nil || o.K > productSteps {
		gemm.Multiply(gemm.Params[float32]{
			M: rows, N: cols, K: o.K,
			A: o.A, ARow: o.ARow, ACol: o.ACol,
			B: o.B, BRow: o.BRow, BCol: o.BCol,
			C: c, CRow: cols, CCol: 1, Alpha: 1, Serial: s != nil,
		})
		return
	}
	takeFactor(&s.factor, o.B, o.K, cols, o.BRow, o.BCol, rows)
	step := max(1, productSize/max(o.K, 1)/rowsOfTiles) * rowsOfTiles
	for i := 0; i < rows; i += step {
		s.factor.Times(c[i*cols:], cols, from(o.A, i*o.ARow), o.ARow, o.ACol, min(step, rows-i), cols, o.K, 1, 0)
	}
}

// takeFactor makes f the matrix of k rows and n columns at b. Rows that are close together are read
// in place, because a copy would cost more than it saves.
func takeFactor(f *gemm.Panels[float32], b []float32, k, n, row, col, rowsOfA int) {
	switch {
	case col != 1:
		f.Pack(b, k, n, row, col)
	case row <= 2*n:
		f.View(b, k, n, row)
	default:
		f.Take(b, k, n, row, rowsOfA)
	}
}
