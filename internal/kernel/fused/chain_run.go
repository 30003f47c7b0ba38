package fused

import (
	"runtime"
	"unsafe"
)

// A ChainRun is a chain with arrays, and the memory of one worker for it. Its zero value
// has no chain yet.
type ChainRun struct {
	chain   *Chain
	program []instruction
	memory  []byte
	past    int // an instruction that writes past the cache; -1: none
}

// Start takes a chain. Arrays of another run have to be said anew.
func (r *ChainRun) Start(c *Chain) {
	if r.chain == c {
		if r.past >= 0 {
			for i := range r.program {
				r.program[i].code = c.program[i].code
			}
		}
		r.past = -1
		return
	}
	r.chain, r.past = c, -1
	r.program = append(r.program[:0], c.program...)
	n := c.slots*slotBytes + vectorBytes
	if len(r.memory) < n {
		r.memory = make([]byte, n)
	}
	clear(r.memory)
	for i := range r.program {
		if in := &r.program[i]; in.code != codeEnd && in.move == 0 {
			in.at = r.slot(int(in.at))
		}
	}
}

// slot returns where a slot begins, aligned.
func (r *ChainRun) slot(i int) uintptr {
	base := uintptr(unsafe.Pointer(unsafe.SliceData(r.memory)))
	return (base+vectorBytes-1)&^(vectorBytes-1) + uintptr(i*slotBytes)
}

// Set says where element 0 of an array is, or would be: what is there from the first
// element on that runs has to stay there until [ChainRun.Run] has returned. The form of the
// array is PerElement.
func (r *ChainRun) Set(array int, at uintptr) {
	for _, i := range r.chain.places[array] {
		r.program[i].at = at
	}
}

// Past is Set for an array that is written past the cache from here on. Those of which
// lines of 64 bytes begin at other elements than those of the first such array go
// through the cache.
func (r *ChainRun) Past(array int, at uintptr) {
	for _, i := range r.chain.places[array] {
		in := &r.program[i]
		in.at = at
		if in.code != codeStore {
			continue
		}
		if r.past < 0 {
			r.past = int(i)
		}
		if (at-r.program[r.past].at)%64 == 0 {
			in.code = codePast
		}
	}
}

// SetSingle says what the element of an array is, of which the form is Single. It is
// read at once.
func (r *ChainRun) SetSingle(array int, element unsafe.Pointer) {
	slot := r.chain.singles[array]
	if slot < 0 {
		return // nothing reads it
	}
	if r.chain.dtype.Size() == 4 {
		fill(r, slot, *(*uint32)(element))
	} else {
		fill(r, slot, *(*uint64)(element))
	}
}

func fill[T uint32 | uint64](r *ChainRun, slot int, v T) {
	first := r.slot(slot) - uintptr(unsafe.Pointer(unsafe.SliceData(r.memory)))
	b := r.memory[first:][:16*vectorBytes]
	s := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(v)))
	if s[0] == v {
		return // as in the last run, or as new memory is
	}
	s[0] = v
	for n := 1; n < len(s); n *= 2 {
		copy(s[n:], s[:n])
	}
}

// SetRows says where the number is, in an array of which the form is PerRow, of the row to
// which the next element belongs, and where its end is among the row splits. Splits
// count elements from element 0 of the other arrays. Both have to stay where they are, as with [ChainRun.Set].
func (r *ChainRun) SetRows(array int, number uintptr, ends *int64) {
	for _, i := range r.chain.places[array] {
		r.program[i].move, r.program[i].ends = uint64(number), uintptr(unsafe.Pointer(ends))
	}
}

// Run computes elements from to to-1. Rows go on where the last call has ended.
func (r *ChainRun) Run(from, to int) {
	k := chainKernelsOf(r.chain.dtype)
	program := &r.program[0].code
	if r.past >= 0 {
		// Up to where the results have a line of their own.
		size := r.chain.dtype.Size()
		head := int(-(r.program[r.past].at+uintptr(from*size))%64) / size
		if head = min(head, to-from); head > 0 {
			callChain(k.rest, program, from, from+head)
			from += head
		}
	}
	for to-from >= k.step {
		n := min(to-from, mostCall)
		n -= n % k.step
		callChain(k.whole, program, from, from+n)
		from += n
	}
	if from < to {
		callChain(k.rest, program, from, to)
	}
	runtime.KeepAlive(r)
}

// callChain is an ordinary function, in whose prologue a goroutine can be stopped.
//
//go:noinline
func callChain(f chainKernel, program *uint64, from, to int) { f(program, from, to) }
