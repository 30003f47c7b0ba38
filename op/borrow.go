package op

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/tensor"
)

// checking holds what [CheckKernels] has set, and how often each operation has been checked since.
var checking struct {
	on   atomic.Bool
	seen atomic.Pointer[sync.Map] // of *Op to *atomic.Int32
}

func init() {
	checking.seen.Store(new(sync.Map))
	checking.on.Store(arena.Debugging())
}

// CheckKernels turns the check for kernels that keep a borrowed operand after the call on or off,
// and returns the previous setting. The check is on if the environment contains TENON_ARENA=debug.
// It applies to the first call of each operation: the kernel gets copies of the operands, and these
// must be garbage once it has returned, except for results that are views of them. The check is
// meant for tests and for debugging.
func CheckKernels(on bool) (before bool) {
	checking.seen.Store(new(sync.Map))
	return checking.on.Swap(on)
}

// lookedAt is the number of calls of an operation that are checked.
const lookedAt = 1

// kernel runs the kernel of a call.
func (c *Call) kernel() (out []tensor.Tensor, err error) {
	if checking.on.Load() && !c.Op.Stateful {
		n, _ := checking.seen.Load().LoadOrStore(c.Op, new(atomic.Int32))
		if n.(*atomic.Int32).Add(1) <= lookedAt {
			return c.lent()
		}
	}
	defer tenon.Catch(&err)
	return c.Op.Kernel(c)
}

// borrowed is a copy of an operand that was passed to a kernel.
type borrowed struct {
	param  string
	tensor weak.Pointer[tensor.Dense]
	memory weak.Pointer[byte]
}

// lent runs the kernel of a call on copies of the operands, and returns an error if a copy is still
// reachable after it has returned.
func (c *Call) lent() (out []tensor.Tensor, err error) {
	var operands []borrowed
	done := make(chan struct{})
	go func() { // a separate goroutine, so that its stack keeps nothing alive afterwards
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				err = tenon.NewError(tenon.ErrInvalid, "", fmt.Sprintf("the kernel panics: %v", r))
			}
		}()
		defer tenon.Catch(&err)
		call, copies := c.copied()
		if out, err = c.Op.Kernel(call); err != nil {
			return
		}
		out = slices.Clone(out) // the slice may be part of the call
		for _, o := range out {
			if d, ok := o.(*tensor.Dense); ok {
				for k := range copies {
					if x := copies[k].dense; x != nil && (d == x || tensor.Overlap(d, x) || d.Raw() == x.Raw()) {
						copies[k].dense = nil // the result refers to it
					}
				}
			}
		}
		for _, x := range copies {
			if x.dense != nil {
				operands = append(operands, borrowed{x.param, weak.Make(x.dense), weak.Make((*byte)(unsafe.Pointer(x.dense.Raw())))})
			}
		}
	}()
	<-done
	if err != nil || len(operands) == 0 {
		return out, err
	}
	runtime.GC()
	runtime.GC() // the second collection empties pools
	for _, x := range operands {
		if x.tensor.Value() != nil || x.memory.Value() != nil {
			return nil, tenon.NewError(tenon.ErrInvalid, "", "the kernel keeps "+x.param+", which it only borrows for the call: the memory is reused").
				WithHint("keep a copy, or declare the operation Stateful")
		}
	}
	return out, nil
}

// A copied is a copy of an operand along with its parameter.
type copied struct {
	param string
	dense *tensor.Dense
}

// copied returns the call with all dense operands replaced by copies.
func (c *Call) copied() (*Call, []copied) {
	out := *c
	out.Args = append([]any(nil), c.Args...)
	var list []copied
	replace := func(param string, v any) tenon.Value {
		d, ok := v.(*tensor.Dense)
		if !ok || d == nil || d.Len() == 0 || !d.IsContiguous() {
			x, _ := v.(tenon.Value)
			return x
		}
		x := tensor.NewDense(d.DType(), d.Shape())
		copy(x.Bytes(), d.Bytes())
		list = append(list, copied{param, x})
		return x
	}
	for _, i := range c.Op.tensors {
		param := c.Op.Params[i].Name
		switch v := c.Args[i].(type) {
		case *tensor.Dense:
			out.Args[i] = replace(param, v)
		case []tenon.Value:
			l := make([]tenon.Value, len(v))
			for k, x := range v {
				l[k] = replace(param, x)
			}
			out.Args[i] = l
		}
	}
	return &out, list
}
