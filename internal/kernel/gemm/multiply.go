package gemm

import (
	"runtime"

	"github.com/tenonml/tenon/internal/par"
)

// taskWork is the smallest number of multiply-adds worth a task: about 20 µs with vector kernels.
// vectorWork is the same for products of a matrix and a vector, which are limited by memory
// bandwidth.
const (
	taskWork   = 1 << 20
	vectorWork = 1 << 18
)

// Multiply computes p, or with batch dimensions (outermost first) one such product for each
// combination of their indices. A product with K = 0 is 0.
func Multiply[T Element](p Params[T], batch ...Batch) {
	p.check(batch, len(p.A), len(p.B))
	if len(batch) == 0 && isSmall(&p) {
		small(&p)
		return
	}
	multiplyWith(familyOf[T](), p, batch, nil, nil)
}

// multiplyWith is Multiply with the given family. If readA or readB is not nil, it supplies the
// elements of the operand and the operand's slice is not used.
func multiplyWith[T Element](f *family[T], p Params[T], batch []Batch, readA, readB reader[T]) {
	if isEmpty(&p, batch) {
		return
	}
	w := takeWorker[T]()
	j := &w.own // in the pooled worker, since other goroutines may share it, which makes it escape
	*j = job[T]{f: f, Params: p, readA: readA, readB: readB}
	j.batch = append(j.batchSpace[:0], batch...)
	j.normalise()
	if j.CCol != 1 {
		j.throughCopy()
	} else {
		j.run(w)
	}
	w.giveBack()
}

// job is a product in the form that the loops expect: the columns of C are consecutive.
type job[T Element] struct {
	Params[T]
	f            *family[T]
	batch        []Batch
	batchSpace   [maxBatch]Batch
	rowBias      bool // the bias has one value per row
	readA, readB reader[T]

	// how one product is divided
	rowTasks, colTasks       int // number of ranges
	rowsPerTask, colsPerTask int
	streamed                 bool // the vector loops compute it; colTasks then divides the blocks of k
	parts                    []T  // partial sums of each product over each block of k, if several tasks share them
}

// A reader supplies elements of an operand that is not stored as T: it sets
// dst[i] to the element at index from + i*stride.
type reader[T Element] func(dst []T, from, stride int)

// normalise swaps the operands if C is column-major, and turns batch dimensions into rows of A if
// all of them use the same B.
func (j *job[T]) normalise() {
	if j.N == 1 {
		j.CCol = 1
	}
	if j.CCol != 1 && (j.CRow == 1 || j.M == 1) {
		j.M, j.N = j.N, j.M
		j.A, j.ARow, j.ACol, j.B, j.BRow, j.BCol = j.B, j.BCol, j.BRow, j.A, j.ACol, j.ARow
		j.CRow, j.CCol = j.CCol, 1
		j.readA, j.readB = j.readB, j.readA
		for i := range j.batch {
			d := &j.batch[i]
			d.A, d.B = d.B, d.A
		}
		j.rowBias = true
	}
	if j.rowBias && j.Bias != nil {
		return
	}
	for len(j.batch) > 0 {
		d := j.batch[len(j.batch)-1]
		switch {
		case d.Size == 1:
		case d.B == 0 && j.M == 1 && d.C >= j.N:
			j.M, j.ARow, j.CRow = d.Size, d.A, d.C
		case d.B == 0 && d.A == j.M*j.ARow && d.C == j.M*j.CRow:
			j.M *= d.Size
		default:
			return
		}
		j.batch = j.batch[:len(j.batch)-1]
	}
}

// throughCopy handles a C in which neither rows nor columns are consecutive: each product is
// computed in a compact copy first.
func (j *job[T]) throughCopy() {
	m, n := j.M, j.N
	compact := make([]T, m*n)
	w := takeWorker[T]()
	one := &w.own
	for b := range j.batchLen() {
		*one = *j
		one.Params, one.batch, one.streamed = j.at(b).Params, nil, false
		c, row, col := one.C, one.CRow, one.CCol
		one.C, one.CRow, one.CCol = compact, n, 1
		if j.Beta != 0 {
			for i := range m {
				for k := range n {
					compact[i*n+k] = c[i*row+k*col]
				}
			}
		}
		one.run(w)
		for i := range m {
			for k := range n {
				c[i*row+k*col] = compact[i*n+k]
			}
		}
	}
	w.giveBack()
}

// batchLen returns the number of products.
func (j *job[T]) batchLen() int {
	n := 1
	for _, d := range j.batch {
		n *= d.Size
	}
	return n
}

// product is one product of a batch: its operands start at their first elements or, with a reader,
// at the index from.
type product[T Element] struct {
	Params[T]
	aFrom, bFrom int
}

// at returns product number b of the batch.
func (j *job[T]) at(b int) product[T] {
	p := product[T]{Params: j.Params}
	var oa, ob, oc int
	for i := len(j.batch) - 1; i >= 0; i-- {
		d := j.batch[i]
		x := b % d.Size
		b /= d.Size
		oa, ob, oc = oa+x*d.A, ob+x*d.B, oc+x*d.C
	}
	if p.aFrom = oa; j.readA == nil && p.K > 0 {
		p.A = p.A[oa:]
	}
	if p.bFrom = ob; j.readB == nil && p.K > 0 {
		p.B = p.B[ob:]
	}
	p.C = p.C[oc:]
	return p
}

// run divides the work into tasks and executes them, on w if one goroutine is enough.
func (j *job[T]) run(w *worker[T]) {
	work := j.plan()
	products := j.batchLen()
	tasks := products * j.rowTasks * j.colTasks
	if j.streamed && j.colTasks > 1 {
		j.parts = sized(&w.space, products*j.colTasks*j.M*j.N)
	}
	if tasks == 1 || j.Serial {
		j.do(w, 0, tasks)
	} else {
		each := j.M * j.N * max(j.K, 1) / (j.rowTasks * j.colTasks)
		par.For(tasks, max(1, work/max(each, 1)), j.tasks)
	}
	switch {
	case j.parts == nil:
	case j.Serial:
		j.sumParts(0, products)
	default:
		par.For(products, max(1, vectorWork/(len(j.parts)/products)), j.sumParts)
	}
}

// plan chooses between the matrix loops and the vector loops, divides one product into ranges of
// rows and columns, and returns the minimum work of a task. The choice depends only on the sizes.
// The ranges may depend on the number of workers, because no element's sum depends on the ranges.
func (j *job[T]) plan() (work int) {
	procs := runtime.GOMAXPROCS(0)
	if mat, ok := j.asVector(); ok {
		j.streamed = true
		j.colTasks, j.colsPerTask = 1, blocksOf[T](j.K)
		pieces := j.pieces(procs, vectorWork)
		if mat.col != 1 {
			if pieces > 1 && mat.rows < partCols {
				j.colTasks, j.colsPerTask = j.colsPerTask, 1
			}
			// Each range reads a piece of every row, and memory prefers long pieces.
			pieces = (min(pieces, procs) + j.colTasks - 1) / j.colTasks
		}
		n := (mat.rows + pieces - 1) / pieces
		n = max(dotRows, (n+dotRows-1)/dotRows*dotRows)
		j.rowTasks, j.rowsPerTask = (mat.rows+n-1)/n, n
		return vectorWork
	}
	pieces := j.pieces(procs, taskWork)
	panels := (j.N + j.f.width - 1) / j.f.width
	// Panels in a range: with fewer than wide, reading A costs too much; with fewer than least, it
	// costs more than another worker gains. Rows are worth dividing into at most high ranges.
	const wide, least = 8, 4
	high := max(1, j.M/packFrom)
	j.colTasks = max(1, min(pieces, panels/wide), min((pieces+high-1)/high, panels/least))
	// Every range of columns reads all of A, and every range of rows packs all of B, which costs
	// more. The total is smallest if a task is a few times as high as it is wide.
	rows := func() int { return (pieces + j.colTasks - 1) / j.colTasks }
	for j.colTasks > 1 && j.M*j.colTasks >= 8*j.N*rows() {
		j.colTasks = (j.colTasks + 1) / 2
	}
	per := (panels + j.colTasks - 1) / j.colTasks
	j.colsPerTask = per * j.f.width
	j.colTasks = (panels + per - 1) / per
	j.rowTasks = min(rows(), high)
	j.rowsPerTask = (j.M + j.rowTasks - 1) / j.rowTasks
	j.rowTasks = (j.M + j.rowsPerTask - 1) / j.rowsPerTask
	return taskWork
}

// pieces returns the number of ranges worth dividing one product into: two for each processor, so
// that a slow one can take fewer. More would pack and read operands more often.
func (j *job[T]) pieces(procs, work int) int {
	if procs == 1 || j.Serial {
		return 1
	}
	n := int(float64(j.M) * float64(j.N) * float64(j.K) / float64(work))
	return max(1, min(n, 2*procs))
}

// tasks executes the tasks [lo, hi) on a worker of its own.
func (j *job[T]) tasks(lo, hi int) {
	w := takeWorker[T]()
	j.do(w, lo, hi)
	w.giveBack()
}

// do executes the tasks [lo, hi) on w.
func (j *job[T]) do(w *worker[T], lo, hi int) {
	w.job = j
	for t := lo; t < hi; t++ {
		col := t % j.colTasks
		row := t / j.colTasks % j.rowTasks
		b := t / j.colTasks / j.rowTasks
		w.product = j.at(b)
		r0, c0 := row*j.rowsPerTask, col*j.colsPerTask
		if j.streamed {
			w.vector(&w.product, r0, r0+j.rowsPerTask, c0, c0+j.colsPerTask, j.part(b, col))
		} else {
			w.matrix(&w.product, r0, r0+j.rowsPerTask, c0, c0+j.colsPerTask)
		}
	}
}

// part returns the memory for the partial sums of product b over block i of k, or nil if one task does
// all blocks.
func (j *job[T]) part(b, i int) []T {
	if j.parts == nil {
		return nil
	}
	size := j.M * j.N
	return j.parts[(b*j.colTasks+i)*size:][:size]
}

// sumParts completes the products [lo, hi) of the batch from their partial sums.
func (j *job[T]) sumParts(lo, hi int) {
	w := takeWorker[T]()
	w.job = j
	size := j.colTasks * j.M * j.N
	for b := lo; b < hi; b++ {
		w.product = j.at(b)
		w.sumParts(&w.product, j.parts[b*size:][:size])
	}
	w.giveBack()
}
