package fused

import (
	"runtime"
	"unsafe"
)

// A ChainRun binds a chain to arrays and to the memory of one worker. The zero value has no chain
// yet.
type ChainRun struct {
	chain   *Chain
	program []instruction
	memory  []byte
	past    int // index of the first instruction with non-temporal stores, or -1
}

// Start selects a chain. Its arrays must then be set.
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

// slot returns the aligned address of a slot.
func (r *ChainRun) slot(i int) uintptr {
	base := uintptr(unsafe.Pointer(unsafe.SliceData(r.memory)))
	return (base+vectorBytes-1)&^(vectorBytes-1) + uintptr(i*slotBytes)
}

// Set sets the address of element 0 of an array, which need not exist: only the elements
// that [ChainRun.Run] processes must, and must stay alive until it has returned. The form
// of the array is PerElement.
func (r *ChainRun) Set(array int, at uintptr) {
	for _, i := range r.chain.places[array] {
		r.program[i].at = at
	}
}

// Past is Set for an array that is written with non-temporal stores. An array whose 64-byte lines
// begin at other elements than those of the first such array is written with ordinary stores.
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

// SetSingle sets the element of an array of the form Single. The element is read immediately.
func (r *ChainRun) SetSingle(array int, element unsafe.Pointer) {
	slot := r.chain.singles[array]
	if slot < 0 {
		return // no step reads it
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
		return // unchanged since the last run, or 0 in new memory
	}
	s[0] = v
	for n := 1; n < len(s); n *= 2 {
		copy(s[n:], s[:n])
	}
}

// SetRows sets, for an array of the form PerRow, the address of the number of the row that contains the next
// element, and the address of that row's end in the row splits. Splits are relative to element 0 of the other
// arrays. Both must stay alive, as with [ChainRun.Set].
func (r *ChainRun) SetRows(array int, number uintptr, ends *int64) {
	for _, i := range r.chain.places[array] {
		r.program[i].move, r.program[i].ends = uint64(number), uintptr(unsafe.Pointer(ends))
	}
}

// Run computes the elements [from, to). Rows continue where the last call ended.
func (r *ChainRun) Run(from, to int) {
	k := chainKernelsOf(r.chain.dtype)
	program := &r.program[0].code
	if r.past >= 0 {
		// Proceed to where the results begin a cache line.
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

// callChain is an ordinary function, so that the goroutine can be preempted in its prologue.
//
//go:noinline
func callChain(f chainKernel, program *uint64, from, to int) { f(program, from, to) }
