package op

import (
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// evenSize is the number of elements up to which [Op.even] does a call: beyond it the
// way of all calls costs nothing beside the work, which kernels share among workers.
const evenSize = 1 << 12

// An evenLoop is the loop of an elementwise operation for operands of some element types.
// It is nil where there is none.
type evenLoop struct {
	operands [3]dtype.DType
	loop     BlockFunc
	result   dtype.DType
}

// even computes an elementwise operation of arrays that lie in memory without gaps and
// have one shape. It is the loop in front of the one way of calling, and returns nil for
// all else. The loop for the element types of the last call is remembered.
func (o *Op) even(x [3]*tensor.Dense, n int) *tensor.Dense {
	if x[0].Len() > evenSize || x[0].Len() == 0 {
		return nil
	}
	s := x[0].Shape()
	var types [3]dtype.DType
	for i, t := range x[:n] {
		if !t.IsContiguous() || i > 0 && !t.Shape().Equal(s) {
			return nil
		}
		types[i] = t.DType()
	}
	l := o.memory.even.Load()
	if l == nil || l.operands != types {
		l = o.evenLoop(types, n)
	}
	if l.loop == nil {
		return nil
	}
	out := tensor.Uninit(l.result, s)
	var p [3]unsafe.Pointer
	for i, t := range x[:n] {
		p[i] = t.Raw()
	}
	l.loop(out.Raw(), p, x[0].Len(), 0)
	return out
}

// evenLoop finds the loop for element types, and remembers it.
func (o *Op) evenLoop(types [3]dtype.DType, n int) *evenLoop {
	l := &evenLoop{operands: types}
	l.loop, l.result = o.Block(types[:n])
	o.memory.even.Store(l)
	return l
}

// Even computes an elementwise operation of arrays in memory that have one shape and few
// elements, by its loop. It returns nil for all else, which [Do] or [Call.Run] do: for
// those who call operations again and again, such as the interpreter of graphs.
func (o *Op) Even(args ...tensor.Tensor) *tensor.Dense { return evenOf(o, args) }

// evenOf is [Op.even] for the arguments of a call, or for its tensor arguments where they
// are all that it has.
func evenOf[T any](o *Op, args []T) *tensor.Dense {
	if o.Block == nil || o.memory == nil || len(args) != len(o.Params) || len(args) > 3 {
		return nil
	}
	var x [3]*tensor.Dense
	for i, a := range args {
		if x[i], _ = any(a).(*tensor.Dense); x[i] == nil {
			return nil
		}
	}
	return o.even(x, len(args))
}

// memory is what an operation remembers of its last calls, and how many of them are at
// work. It holds no values.
type memory struct {
	even  atomic.Pointer[evenLoop]
	lone  atomic.Pointer[lone]
	depth atomic.Int32
}
