package fused

import (
	"slices"

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
	places  [][]int32 // by array: the instructions that read or write it
	singles []int     // by array: its slot, if it is one element for all; -1: none
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
	codeAhead // and codeAhead+1: of another array
	_
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
)

// HasChains reports whether chains of elements of type d can run here.
func HasChains(d dtype.DType) bool { return chainKernelsOf(d) != nil }

// InChain reports whether chains have a function.
func InChain(op elementwise.Op) bool {
	_, n := codeOf(op)
	return n > 0
}

// NewChain returns the chain of steps on elements of type d, for arrays in the given
// forms, nil where the machine has no kernel.
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
	reads []int // how often a value is read
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
		if b.singles[operand] < 0 { // its own: it is filled once, and a step may not write over it
			b.singles[operand] = b.slots
			b.slots++
		}
		i.at = uintptr(b.singles[operand])
	default:
		b.moving(operand)
	}
}

// moving makes the operand of the last instruction an array.
func (b *chainBuilder) moving(array int) {
	b.program[len(b.program)-1].move = moves
	b.place(array)
}

// place notes that the last instruction has to do with an array.
func (b *chainBuilder) place(array int) {
	b.places[array] = append(b.places[array], int32(len(b.program)-1))
}

// repeat begins the program with what repeats the numbers of rows: it needs the registers
// for itself no longer than a row, and asks for what the next step reads of two arrays meanwhile.
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

// firstRead returns the first n different arrays that steps read element by element, or all if
// there are fewer.
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

// readLater reports whether a step reads value k elsewhere than in the accumulator.
func (b *chainBuilder) readLater(k int) bool {
	next := k + 1
	for next < len(b.steps) && b.steps[next].Op == elementwise.None {
		next++
	}
	return b.reads[k] > 1 || b.reads[k] == 1 && b.last[k] != next
}

// Slots returns how many values a chain holds at a time, next to the one in registers:
// each takes a kilobyte of the first-level cache.
func (c *Chain) Slots() int { return c.slots }
