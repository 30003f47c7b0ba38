package gemm

import (
	"sync"

	"github.com/tenonml/tenon/internal/arena"
)

// worker holds the memory that one goroutine needs to compute tasks.
type worker[T Element] struct {
	*job[T]
	own     job[T] // job of the call that took this worker
	product product[T]
	t       tile[T]
	panels  Panels[T]  // for small products
	space   []T        // memory of the next three
	bBuf    []T        // panels of B
	aBuf    []T        // copied rows of A
	aNext   []T        // copied rows of A for the next block
	sums    []T        // results of the vector loops
	vec     []T        // one row or column
	column  [dotRows]T // a short row or column
	busy    int        // multiply-adds since the last yield
}

var (
	workers32    = sync.Pool{New: func() any { return new(worker[float32]) }}
	workers64    = sync.Pool{New: func() any { return new(worker[float64]) }}
	otherWorkers sync.Map // *worker[T](nil) to *sync.Pool, for the other element types
)

// poolOf returns the pool of workers for T.
func poolOf[T Element]() *sync.Pool {
	switch any(*new(T)).(type) {
	case float32:
		return &workers32
	case float64:
		return &workers64
	}
	key := (*worker[T])(nil)
	p, ok := otherWorkers.Load(key)
	if !ok {
		p, _ = otherWorkers.LoadOrStore(key, &sync.Pool{New: func() any { return new(worker[T]) }})
	}
	return p.(*sync.Pool)
}

func takeWorker[T Element]() *worker[T] { return poolOf[T]().Get().(*worker[T]) }

// giveBack returns the worker to its pool after clearing pointers to the operands.
func (w *worker[T]) giveBack() {
	w.job, w.own, w.product, w.t = nil, job[T]{}, product[T]{}, tile[T]{}
	poolOf[T]().Put(w)
}

// room divides the worker's memory into panels of B and two blocks of A. They are allocated
// together so that large ones share huge pages, if the system provides them. Small pages are
// scattered over physical memory, which indexes the second-level cache, and some of its sets
// would overflow while others stay empty.
func (w *worker[T]) room(panels, block, next int) {
	s := sized(&w.space, panels+block+next)
	w.bBuf, w.aBuf, w.aNext = s[:panels], s[panels:panels+block], s[panels+block:]
}

// sized returns n elements of *buf, aligned to 64 bytes, and reallocates *buf if it is too small.
func sized[T Element](buf *[]T, n int) []T {
	if cap(*buf) < n {
		*buf = arena.Make[T](n)
	}
	return (*buf)[:n]
}
