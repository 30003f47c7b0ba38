package gemm

import (
	"sync"
	"unsafe"
)

// worker holds what one goroutine needs to compute tasks.
type worker[T Element] struct {
	*job[T]
	own     job[T] // of the call that took this worker
	product product[T]
	t       tile[T]
	aBuf    []T // rows of A that were copied
	bBuf    []T // panels of B
	sums    []T // results of the vector loops
	vec     []T // one row or column
	part    [dotRows]T
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

// sized returns n elements of *buf on a 64-byte boundary, making room if needed.
func sized[T Element](buf *[]T, n int) []T {
	if cap(*buf) < n {
		size := int(unsafe.Sizeof(*new(T)))
		raw := make([]T, n+line/size)
		skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(raw)))&(line-1)) / size
		*buf = raw[skip:skip:len(raw)]
	}
	return (*buf)[:n]
}
