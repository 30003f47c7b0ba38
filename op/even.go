package op

import (
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// evenSize is the largest number of elements for which [Op.even] computes a call. Beyond it, the
// overhead of the general path is small compared with the work, which kernels share among workers.
const evenSize = 1 << 12

// An evenLoop is the loop of an elementwise operation for operands of certain element types. It is
// nil if there is none.
type evenLoop struct {
	operands [3]dtype.DType
	loop     BlockFunc
	result   dtype.DType
}

// even computes an elementwise operation on scalars and on contiguous arrays of one shape. It is
// the fast path in front of the general one, and returns nil for all other operands. The loop for
// the element types of the last call is remembered.
func (o *Op) even(x [3]*tensor.Dense, n int) *tensor.Dense {
	like := x[0] // the first that is not a scalar
	for i := 1; i < n && like.Rank() == 0; i++ {
		like = x[i]
	}
	if like.Len() > evenSize || like.Len() == 0 {
		return nil
	}
	scalars := uint8(0)
	var types [3]dtype.DType
	for i, t := range x[:n] {
		types[i] = t.DType()
		switch {
		case !t.IsContiguous():
			return nil
		case t == like || t.Shape().Equal(like.Shape()):
		case t.Rank() == 0:
			scalars |= 1 << i
		default:
			return nil
		}
	}
	l := o.memory.even.Load()
	if l == nil || l.operands != types {
		l = o.evenLoop(types, n)
	}
	if l.loop == nil {
		return nil
	}
	out := tensor.Uninit(l.result, like.Shape())
	var p [3]unsafe.Pointer
	for i, t := range x[:n] {
		p[i] = t.Raw()
	}
	l.loop(out.Raw(), p, like.Len(), scalars)
	return out
}

// evenLoop finds the loop for the element types and remembers it.
func (o *Op) evenLoop(types [3]dtype.DType, n int) *evenLoop {
	l := &evenLoop{operands: types}
	l.loop, l.result = o.Block(types[:n])
	o.memory.even.Store(l)
	return l
}

// Even computes an elementwise operation on scalars, and on arrays in memory that have one shape
// and few elements, with the operation's loop. It returns nil for all other operands; use [Do] or
// [Call.Run] for these. It is meant for callers that repeat operations many times, such as the
// interpreter of graphs.
func (o *Op) Even(args ...tensor.Tensor) *tensor.Dense { return evenOf(o, args) }

// evenOf is [Op.even] for the arguments of a call, or for its tensor arguments if there are no
// others.
func evenOf[T any](o *Op, args []T) *tensor.Dense {
	if o.Block == nil || o.memory == nil || len(args) != len(o.Params) || len(args) > 3 {
		return nil
	}
	var x [3]*tensor.Dense
	given := 0
	for i, a := range args {
		if x[i], _ = any(a).(*tensor.Dense); x[i] != nil {
			given++
		} else if _, value := any(a).(tenon.Value); value {
			return nil
		}
	}
	if given == len(args) || given > 0 && o.plain && bindNumbers(o, args, &x) {
		return o.even(x, len(args))
	}
	return nil
}

// bindNumbers sets missing operands to the numbers given in their place, as binding does, and
// reports whether they are numbers.
func bindNumbers[T any](o *Op, args []T, x *[3]*tensor.Dense) bool {
	var peers peers
	for i, t := range x[:len(args)] {
		if t != nil {
			peers.note(o.Params[i].Group, t)
		}
	}
	for i, a := range args {
		if x[i] == nil {
			t, ok := peers.number(&o.Params[i], any(a))
			if !ok {
				return false
			}
			x[i], _ = t.(*tensor.Dense)
		}
	}
	return true
}

// remembered is what an operation remembers about its last calls, and the number of handlers at
// work on it. It holds no values of the program.
type remembered struct {
	even  atomic.Pointer[evenLoop]
	plans atomic.Pointer[plans]
	lone  atomic.Pointer[lone]
	depth atomic.Int32
}
