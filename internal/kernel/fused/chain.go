package fused

import (
	"runtime"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
)

// A Chain is a sequence of simple functions of elements, made ready to run: some hundred
// elements go through all of them in registers, then the next, so that what comes from
// memory comes once. Each function is rounded as its own loop in package elementwise
// rounds it.
//
// A chain belongs to kinds of arrays, not to arrays: a [ChainRun] has those. It does not
// change, and many goroutines may use it.
type Chain struct {
	dtype   dtype.DType
	forms   []ArrayForm
	program []instruction
	places  []place     // where arrays stand in the program
	repeats []place     // where instructions do that repeat the numbers of rows
	singles map[int]int // slots of arrays that are one element for all
	slots   int
}

// ArrayForm says what an array of a chain holds.
type ArrayForm uint8

// The forms of arrays.
const (
	PerElement ArrayForm = iota // an element for each element of the result
	PerRow                      // a number for each row, which only steps that repeat it read
	Single                      // one element for all
)

// A ChainStep computes one value of a chain from arrays, which have the numbers 0, 1, …,
// and from earlier values: -1 is that of step 0, -2 that of step 1.
type ChainStep struct {
	Op       elementwise.Op // None repeats the numbers of rows, an array, for the elements of each
	Operands [2]int         // the second one only counts if Op has two
	Out      int            // the array to which the value is written; -1 if it is not
}

// The instructions, in the order of internal/asmgen/fused/chain.go. Those of two operands
// are followed by the same with operands exchanged.
const (
	codeEnd uint64 = iota
	codeLoad
	codeStore
	codePast
	codeRepeat
	codeBinary
)

// chainOps are the functions that chains have: first those of two operands, then those of one.
var chainOps = [...]elementwise.Op{
	elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.Div, elementwise.Maximum, elementwise.Minimum, elementwise.SquaredDifference,
	elementwise.Abs, elementwise.Neg, elementwise.Sign, elementwise.Reciprocal, elementwise.Square, elementwise.Sqrt, elementwise.Rsqrt, elementwise.Relu,
	elementwise.Floor, elementwise.Ceil, elementwise.Round, elementwise.Trunc,
}

const chainBinary = 7 // of chainOps

// codeOf returns the instruction of a function, and how many operands it has; 0 if chains do not have it.
func codeOf(op elementwise.Op) (code uint64, operands int) {
	for i, o := range chainOps {
		switch {
		case o != op:
		case i < chainBinary:
			return codeBinary + 2*uint64(i), 2
		default:
			return codeBinary + chainBinary + uint64(i), 1
		}
	}
	return 0, 0
}

// instruction is one of a program in memory, as kernels read it.
type instruction struct {
	code uint64
	at   uintptr // of the operand: element 0, or a slot; a slot's, for repeat
	move uint64  // all ones if the operand moves with the elements; where the number of the row is, for repeat
	ends uintptr // where the row's end is, for repeat
}

const moves = ^uint64(0)

// place is where an array stands in a program.
type place struct{ instruction, array int }

// chainKernel runs a program on elements from to to-1.
type chainKernel = func(program *uint64, from, to int)

// chainKernels are those of one element type: for whole steps of so many elements, and
// for the rest.
type chainKernels struct {
	whole, rest chainKernel
	step        int
}

const (
	vectorBytes = 64                    // of the longest vectors
	slotBytes   = 16*vectorBytes + 3*64 // a step, what repeat writes behind it, and a line more, that slots do not begin at the same place of a page
	mostCall    = 64 << 10              // elements of one call into assembly
	mostSlots   = 24
)

// HasChains reports whether chains of elements of type d can run here.
func HasChains(d dtype.DType) bool { return chainKernelsOf(d) != nil }

// InChain reports whether chains have a function.
func InChain(op elementwise.Op) bool {
	_, n := codeOf(op)
	return n > 0
}

// NewChain returns the chain of steps on elements of type d, for arrays in the given
// forms. It returns nil where there is none: the machine has no kernel, or the steps hold on to
// too many values at a time.
func NewChain(d dtype.DType, steps []ChainStep, forms []ArrayForm) *Chain {
	if chainKernelsOf(d) == nil {
		return nil
	}
	b := &chainBuilder{Chain: &Chain{dtype: d, forms: forms}, steps: steps, slot: make([]int, len(steps)), last: make([]int, len(steps))}
	b.singles = map[int]int{}
	for k, s := range steps {
		b.slot[k] = -1
		for _, o := range s.operands() {
			if o < 0 {
				b.last[-1-o] = k
			}
		}
	}
	b.repeat()
	for k := range steps {
		if steps[k].Op != elementwise.None {
			b.step(k)
		}
	}
	b.emit(codeEnd)
	if b.slots > mostSlots {
		return nil
	}
	return b.Chain
}

// operands returns the operands that count.
func (s *ChainStep) operands() []int {
	if s.Op == elementwise.None {
		return s.Operands[:1]
	}
	_, n := codeOf(s.Op)
	return s.Operands[:n]
}

type chainBuilder struct {
	*Chain
	steps []ChainStep
	last  []int // the last step that reads a value
	slot  []int // of a value; -1: none
	free  []int // slots
}

func (b *chainBuilder) emit(code uint64) *instruction {
	b.program = append(b.program, instruction{code: code})
	return &b.program[len(b.program)-1]
}

func (b *chainBuilder) newSlot() int {
	if n := len(b.free); n > 0 {
		s := b.free[n-1]
		b.free = b.free[:n-1]
		return s
	}
	b.slots++
	return b.slots - 1
}

// access emits an instruction with an operand in memory. at counts slots until there is memory for them.
func (b *chainBuilder) access(code uint64, operand int) {
	i := b.emit(code)
	switch {
	case operand < 0:
		i.at = uintptr(b.slot[-1-operand])
	case b.forms[operand] == Single:
		s, ok := b.singles[operand]
		if !ok {
			s = b.slots // its own: it is filled once, and a step may not write over it
			b.slots++
			b.singles[operand] = s
		}
		i.at = uintptr(s)
	default:
		b.moving(operand)
	}
}

// moving makes the operand of the last instruction an array.
func (b *chainBuilder) moving(array int) {
	at := len(b.program) - 1
	b.program[at].move = moves
	b.places = append(b.places, place{at, array})
}

// repeat begins the program with what repeats the numbers of rows: it needs the registers
// for itself no longer than a row.
func (b *chainBuilder) repeat() {
	for k, s := range b.steps {
		if s.Op != elementwise.None {
			continue
		}
		b.slot[k] = b.newSlot()
		b.emit(codeRepeat).at = uintptr(b.slot[k])
		b.repeats = append(b.repeats, place{len(b.program) - 1, s.Operands[0]})
		if s.Out >= 0 {
			b.access(codeLoad, -1-k)
			b.emit(codeStore)
			b.moving(s.Out)
		}
	}
}

// step computes a value. That of the step before it is in the accumulator.
func (b *chainBuilder) step(k int) {
	s := &b.steps[k]
	code, n := codeOf(s.Op)
	before := k - 1
	for before >= 0 && b.steps[before].Op == elementwise.None {
		before--
	}
	held := func(operand int) bool { return operand < 0 && before >= 0 && operand == -1-before }
	x := s.Operands[0]
	switch {
	case n == 2 && !held(x) && held(s.Operands[1]):
		b.access(code+1, x)
	default:
		if !held(x) {
			b.access(codeLoad, x)
		}
		if n == 2 {
			b.access(code, s.Operands[1])
		} else {
			b.emit(code)
		}
	}
	for m := range k {
		if b.last[m] == k && b.slot[m] >= 0 {
			b.free = append(b.free, b.slot[m])
		}
	}
	if b.readLater(k) {
		b.slot[k] = b.newSlot()
		b.access(codeStore, -1-k)
	}
	if s.Out >= 0 {
		b.emit(codeStore)
		b.moving(s.Out)
	}
}

// readLater reports whether a step reads value k elsewhere than in the accumulator.
func (b *chainBuilder) readLater(k int) bool {
	next := k + 1
	for next < len(b.steps) && b.steps[next].Op == elementwise.None {
		next++
	}
	reads := 0
	for j := k + 1; j < len(b.steps); j++ {
		for _, o := range b.steps[j].operands() {
			if o == -1-k {
				if j != next {
					return true
				}
				reads++
			}
		}
	}
	return reads > 1
}

// A ChainRun is a chain with arrays, and the memory of one worker for it. Its zero value
// has no chain yet.
type ChainRun struct {
	chain   *Chain
	program []instruction
	memory  []byte
	past    int // an instruction that writes past the cache; -1: none
}

// Start takes a chain and drops the arrays of another run.
func (r *ChainRun) Start(c *Chain) {
	r.chain, r.past = c, -1
	r.program = append(r.program[:0], c.program...)
	if n := c.slots*slotBytes + vectorBytes; len(r.memory) < n {
		r.memory = make([]byte, n)
	}
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
// element on that runs has to stay there until [ChainRun.Run] has returned. The form of the array is PerElement.
func (r *ChainRun) Set(array int, at uintptr) {
	for _, p := range r.chain.places {
		if p.array == array {
			r.program[p.instruction].at = at
		}
	}
}

// Past writes an array past the cache from here on. at is where element 0 of it is, a
// multiple of the elements' size. Arrays of which lines of 64 bytes begin at other elements
// than those of the first such array go through the cache.
func (r *ChainRun) Past(array int, at uintptr) {
	for _, p := range r.chain.places {
		if p.array != array {
			continue
		}
		in := &r.program[p.instruction]
		in.at = at
		if in.code != codeStore {
			continue
		}
		if r.past < 0 {
			r.past = p.instruction
		}
		if (at-r.program[r.past].at)%64 == 0 {
			in.code = codePast
		}
	}
}

// SetSingle says what the element of an array is, of which the form is Single. The element is read at once.
func (r *ChainRun) SetSingle(array int, element unsafe.Pointer) {
	s, ok := r.chain.singles[array]
	if !ok {
		return
	}
	if r.chain.dtype.Size() == 4 {
		fill(r, s, *(*uint32)(element))
	} else {
		fill(r, s, *(*uint64)(element))
	}
}

func fill[T uint32 | uint64](r *ChainRun, slot int, v T) {
	base := uintptr(unsafe.Pointer(unsafe.SliceData(r.memory)))
	size := unsafe.Sizeof(v)
	b := r.memory[r.slot(slot)-base:][:16*vectorBytes]
	s := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))/size)
	for i := range s {
		s[i] = v
	}
}

// SetRows says where the number is, in an array of which the form is PerRow, of the row to
// which the next element belongs, and where its end is among the row splits. Splits
// count elements from element 0 of the other arrays.
func (r *ChainRun) SetRows(array int, number uintptr, ends *int64) {
	for _, p := range r.chain.repeats {
		if p.array == array {
			in := &r.program[p.instruction]
			in.move, in.ends = uint64(number), uintptr(unsafe.Pointer(ends))
		}
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
