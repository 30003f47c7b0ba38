package gemm

import (
	"sync"

	"github.com/tenonml/tenon/internal/arena"
)

// worker holds what one goroutine needs to compute tasks.
type worker[T Element] struct {
	*job[T]
	own     job[T] // of the call that took this worker
	product product[T]
	t       tile[T]
	panels  Panels[T]  // of small products
	space   []T        // what the next three share
	bBuf    []T        // panels of B
	aBuf    []T        // rows of A that were copied
	aNext   []T        // those of the next block
	sums    []T        // results of the vector loops
	vec     []T        // one row or column
	column  [dotRows]T // one row or column of few elements
	busy    int        // multiply-adds since it let others run
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

// giveBack returns the worker to its pool without pointers to the operands.
func (w *worker[T]) giveBack() {
	w.job, w.own, w.product, w.t = nil, job[T]{}, product[T]{}, tile[T]{}
	poolOf[T]().Put(w)
}

// room divides the worker's space into panels of B and two blocks of A, of so many elements.
// They are together so that all of them lie on large pages where they are long, if the system
// has such: small ones are strewn over the memory, and some sets of the second-level cache,
// which go by addresses in it, would get more than they hold while others stay empty.
func (w *worker[T]) room(panels, block, next int) {
	s := sized(&w.space, panels+block+next)
	w.bBuf, w.aBuf, w.aNext = s[:panels], s[panels:panels+block], s[panels+block:]
}

// sized returns n elements of *buf on a 64-byte boundary, making room if needed.
func sized[T Element](buf *[]T, n int) []T {
	if cap(*buf) < n {
		*buf = arena.Make[T](n)
	}
	return (*buf)[:n]
}
