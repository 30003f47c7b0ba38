package fused

import (
	"slices"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/elementwise"
)

// A Chain is a compiled sequence of elementwise functions. It applies all functions to a few
// hundred elements in registers before it continues with the next, so that each operand is read
// from memory once. Each function rounds exactly as its own loop in package elementwise does.
//
// A chain depends on the forms of its arrays, but not on the arrays themselves, which belong to a
// [ChainRun]. It is immutable and safe for concurrent use.
type Chain struct {
	dtype   dtype.DType
	forms   []ArrayForm
	program []instruction
	places  [][]int32 // by array: indices of the instructions that access it
	singles []int     // by array: its slot if its form is Single, or -1
	slots   int
}

// ArrayForm is the form of an array of a chain.
type ArrayForm uint8

// The forms of arrays.
const (
	PerElement ArrayForm = iota // one element for each element of the result
	PerRow                      // one number for each row, read only by steps that repeat it
	Single                      // one element for all
)

// A ChainStep computes one value of a chain from arrays, which are numbered 0, 1, …, and from the
// values of earlier steps: -1 is the value of step 0, -2 that of step 1.
type ChainStep struct {
	Op       elementwise.Op // None repeats each number of a PerRow array for the elements of its row
	Operands [2]int         // the second one is used only if Op is binary
	Out      int            // array that the value is written to, or -1
}

// The instructions, in the order of internal/asmgen/fused/chain.go. Each binary instruction is
// followed by the same one with its operands swapped.
const (
	codeEnd uint64 = iota
	codeLoad
	codeStore
	codePast
	codeAhead // codeAhead+1 prefetches a second array
	_
	codeRepeat
	codeBinary
)

// chainOps are the functions available in chains: first the binary ones, then the unary ones.
var chainOps = [...]elementwise.Op{
	elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.Div, elementwise.Maximum, elementwise.Minimum, elementwise.SquaredDifference,
	elementwise.Abs, elementwise.Neg, elementwise.Sign, elementwise.Reciprocal, elementwise.Square, elementwise.Sqrt, elementwise.Rsqrt, elementwise.Relu,
	elementwise.Floor, elementwise.Ceil, elementwise.Round, elementwise.Trunc,
}

const chainBinary = 7 // number of binary functions in chainOps

// codeOf returns the instruction and the number of operands of a function, or 0 and 0 if it is not
// available in chains.
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

// instruction is one instruction of a program, in the layout that kernels read.
type instruction struct {
	code uint64
	at   uintptr // address of the operand's element 0, or of a slot
	move uint64  // all ones if the operand advances with the elements; for repeat, the address of the row's number
	ends uintptr // for repeat, the address of the row's end
}

const moves = ^uint64(0)

// chainKernel runs a program on the elements [from, to).
type chainKernel = func(program *uint64, from, to int)

// chainKernels are the kernels for one element type: whole runs multiples of step elements, and
// rest runs what remains.
type chainKernels struct {
	whole, rest chainKernel
	step        int
}

const (
	vectorBytes = 64                    // size of the longest vectors
	slotBytes   = 16*vectorBytes + 3*64 // a step, what repeat writes past it, and one more cache line so that slots differ in their page offsets
	mostCall    = 64 << 10              // elements per call into assembly
)

// HasChains reports whether chains of elements of type d can run on this machine.
func HasChains(d dtype.DType) bool { return chainKernelsOf(d) != nil }

// InChain reports whether a function is available in chains.
func InChain(op elementwise.Op) bool {
	_, n := codeOf(op)
	return n > 0
}

// NewChain returns the chain of steps on elements of type d, for arrays of the given forms, or nil
// if the machine has no kernel for it.
func NewChain(d dtype.DType, steps []ChainStep, forms []ArrayForm) *Chain {
	if chainKernelsOf(d) == nil {
		return nil
	}
	b := &chainBuilder{Chain: &Chain{dtype: d, forms: forms, places: make([][]int32, len(forms)), singles: make([]int, len(forms))},
		steps: steps, slot: make([]int, len(steps)), last: make([]int, len(steps))}
	for i := range b.singles {
		b.singles[i] = -1
	}
	b.reads = make([]int, len(steps))
	for k, s := range steps {
		b.slot[k] = -1
		for _, o := range s.operands() {
			if o < 0 {
				b.last[-1-o] = k
				b.reads[-1-o]++
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
	return b.Chain
}

// operands returns the operands that are used.
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
	last  []int // last step that reads each value
	reads []int // number of times each value is read
	slot  []int // slot of each value, or -1
	free  []int // slots available for reuse
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

// access emits an instruction with an operand in memory. For a slot, at is its number until
// [ChainRun.Start] allocates the slots.
func (b *chainBuilder) access(code uint64, operand int) {
	i := b.emit(code)
	switch {
	case operand < 0:
		i.at = uintptr(b.slot[-1-operand])
	case b.forms[operand] == Single:
		if b.singles[operand] < 0 { // not reused: it is filled once, and no step may overwrite it
			b.singles[operand] = b.slots
			b.slots++
		}
		i.at = uintptr(b.singles[operand])
	default:
		b.moving(operand)
	}
}

// moving marks the operand of the last instruction as an array that advances with the elements.
func (b *chainBuilder) moving(array int) {
	b.program[len(b.program)-1].move = moves
	b.place(array)
}

// place records that the last instruction accesses an array.
func (b *chainBuilder) place(array int) {
	b.places[array] = append(b.places[array], int32(len(b.program)-1))
}

// repeat begins the program by repeating the numbers of rows. Each row needs registers only
// briefly; meanwhile it prefetches what the next step reads from two arrays.
func (b *chainBuilder) repeat() {
	if !slices.ContainsFunc(b.steps, func(s ChainStep) bool { return s.Op == elementwise.None }) {
		return
	}
	for i, array := range b.firstRead(2) {
		b.emit(codeAhead + uint64(i))
		b.moving(array)
	}
	for k, s := range b.steps {
		if s.Op != elementwise.None {
			continue
		}
		b.slot[k] = b.newSlot()
		b.emit(codeRepeat).at = uintptr(b.slot[k])
		b.place(s.Operands[0])
		if s.Out >= 0 {
			b.access(codeLoad, -1-k)
			b.emit(codeStore)
			b.moving(s.Out)
		}
	}
}

// firstRead returns the first n distinct arrays that are read element by element, or all if there
// are fewer.
func (b *chainBuilder) firstRead(n int) (arrays []int) {
	for _, s := range b.steps {
		for _, o := range s.operands() {
			if len(arrays) < n && o >= 0 && b.forms[o] == PerElement && !slices.Contains(arrays, o) {
				arrays = append(arrays, o)
			}
		}
	}
	return arrays
}

// step emits the code that computes a value. The value of the preceding step is in the accumulator.
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
	for j, o := range s.operands() {
		if o < 0 && b.last[-1-o] == k && b.slot[-1-o] >= 0 && (j == 0 || o != x) {
			b.free = append(b.free, b.slot[-1-o])
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

// readLater reports whether a step other than the next reads value k.
func (b *chainBuilder) readLater(k int) bool {
	next := k + 1
	for next < len(b.steps) && b.steps[next].Op == elementwise.None {
		next++
	}
	return b.reads[k] > 1 || b.reads[k] == 1 && b.last[k] != next
}

// Slots returns the number of values that a chain holds at a time besides the one in registers.
// Each takes a kilobyte of the first-level cache.
func (c *Chain) Slots() int { return c.slots }
