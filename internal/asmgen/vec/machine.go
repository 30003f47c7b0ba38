package vec

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// V is a vector register.
type V = reg.VecVirtual

// Elem is an element type.
type Elem int

// The element types.
const (
	Float32 Elem = iota
	Float64
	Int32
	Int64
)

// Size returns the bytes of one element.
func (e Elem) Size() int { return [...]int{4, 8, 4, 8}[e] }

// IsFloat reports whether e is a floating type.
func (e Elem) IsFloat() bool { return e == Float32 || e == Float64 }

// Go returns the type's name in Go.
func (e Elem) Go() string { return [...]string{"float32", "float64", "int32", "int64"}[e] }

func (e Elem) String() string { return [...]string{"F32", "F64", "I32", "I64"}[e] }

// A Machine emits instructions for vectors of one element type and width.
type Machine struct {
	Wide bool // 512 bits and mask registers, otherwise 256
	Elem Elem

	registers *registers // constants that live in registers
	zero      V          // zeros; see ForChoice
	pause     func()     // lets other bodies emit; see together
}

// As returns the machine of the same width for another element type, with the
// same constants in registers.
func (m Machine) As(e Elem) Machine {
	m.Elem = e
	return m
}

// ISA returns the instruction set's name as functions bear it.
func (m Machine) ISA() string {
	if m.Wide {
		return "AVX512"
	}
	return "AVX2"
}

// Name returns base with the element type and the instruction set appended.
func (m Machine) Name(base string) string { return base + m.Elem.String() + m.ISA() }

// Bytes returns the length of a vector and Lanes the elements in it.
func (m Machine) Bytes() int {
	if m.Wide {
		return 64
	}
	return 32
}

// Lanes returns the number of elements in a vector.
func (m Machine) Lanes() int { return m.Bytes() / m.Elem.Size() }

// Reg returns a fresh vector register.
func (m Machine) Reg() V {
	if m.Wide {
		return ZMM()
	}
	return YMM()
}

// Const is a number of the machine's element type, the same in all lanes.
type Const float64

// Bits is a constant given by its bit pattern.
type Bits uint64

var constants = map[string]Mem{}

// bits returns the pattern of a constant in the machine's element type.
func (m Machine) bits(c any) uint64 {
	switch c := c.(type) {
	case Bits:
		return uint64(c)
	case Const:
		switch m.Elem {
		case Float32:
			return uint64(math.Float32bits(float32(c)))
		case Float64:
			return math.Float64bits(float64(c))
		case Int32:
			return uint64(uint32(int64(c)))
		}
		return uint64(int64(c))
	}
	panic(fmt.Sprintf("not a constant: %v", c))
}

// pooled returns the memory of a constant: 32 bytes of copies, aligned so that
// AVX2 can take them as an operand; AVX-512 broadcasts the first.
func (m Machine) pooled(c any) Mem {
	b, size := m.bits(c), m.Elem.Size()
	if size == 4 {
		b &= math.MaxUint32
		b |= b << 32
	}
	name := fmt.Sprintf("c%d_%0*x", size*8, size*2, b>>(64-8*size))
	if mem, ok := constants[name]; ok {
		return mem
	}
	mem := GLOBL(name, RODATA|NOPTR)
	for i := range 4 {
		DATA(8*i, U64(b))
	}
	constants[name] = mem
	return mem
}

// registers are constants that a function keeps in registers, found as its body
// asks for them.
type registers struct {
	of    map[Mem]V
	order []Mem
	whole map[Mem]bool // a whole vector rather than copies of a word
	most  int
}

// KeepConstants lets the function that is being emitted keep up to most constants in
// registers. They are loaded at its end, where the function begins by jumping to:
// only there it is known which they are. The caller emits the code between that
// and the call of the function it returns, up to and including RET.
func (m *Machine) KeepConstants(most int) (load func()) {
	if most == 0 {
		return func() {}
	}
	m.registers = &registers{of: map[Mem]V{}, whole: map[Mem]bool{}, most: most}
	JMP(LabelRef("constants"))
	Label("begin")
	return func() {
		Label("constants")
		for _, c := range m.registers.order {
			if m.registers.whole[c] {
				VMOVUPS(c, m.registers.of[c])
				continue
			}
			// All constants are copies of their first word, whatever its size.
			VBROADCASTSD(c, m.registers.of[c])
		}
		JMP(LabelRef("begin"))
	}
}

// kept returns the register of a constant, or nil.
func (m Machine) kept(c any) V {
	r := m.registers
	if r == nil {
		return nil
	}
	return r.get(m, m.pooled(c))
}

func (r *registers) get(m Machine, mem Mem) V {
	if v, ok := r.of[mem]; ok {
		return v
	}
	if len(r.of) == r.most {
		return nil
	}
	v := m.Reg()
	r.of[mem] = v
	r.order = append(r.order, mem)
	return v
}

// table returns a register with the vector at mem, which may not be changed.
func (m Machine) table(mem Mem) V {
	if r := m.registers; r != nil {
		if v := r.get(m, mem); v != nil {
			r.whole[mem] = true
			return v
		}
	}
	return m.Load(mem)
}

// Load returns a register with the operand in it: a fresh copy if it was one.
func (m Machine) Load(x any) V {
	dst := m.Reg()
	switch x := x.(type) {
	case V:
		m.by(VMOVAPS, VMOVAPD)(x, dst)
	case Mem:
		m.by(VMOVUPS, VMOVUPD)(x, dst)
	default:
		if v := m.kept(x); v != nil {
			return m.Load(v)
		}
		m.by(VBROADCASTSS, VBROADCASTSD)(m.pooled(x), dst)
	}
	return dst
}

// Get returns a register that holds the operand and may not be changed.
func (m Machine) Get(x any) V {
	switch x := x.(type) {
	case V:
		return x
	case Const, Bits:
		if v := m.kept(x); v != nil {
			return v
		}
	}
	return m.Load(x)
}

// Broadcast returns a register with the element at mem in all lanes.
func (m Machine) Broadcast(mem Op) V {
	dst := m.Reg()
	m.by(VBROADCASTSS, VBROADCASTSD)(mem, dst)
	return dst
}

// Zero returns a register of zeros.
func (m Machine) Zero() V {
	dst := m.Reg()
	if m.Wide {
		VPXORD(dst, dst, dst)
	} else {
		VXORPS(dst, dst, dst)
	}
	return dst
}

// ForChoice returns the machine for a function whose loop chooses among many formulas. It
// keeps zeros in a register of their own from here on, and writes a register before an
// instruction changes it under a mask: to the allocator of registers, what clears or
// changes a register also reads it, so that it would be taken from the start of the loop on.
func (m Machine) ForChoice() Machine {
	m.zero = m.Zero()
	return m
}

// Zeros returns a register of zeros that may not be changed.
func (m Machine) Zeros() V {
	if m.zero != nil {
		return m.zero
	}
	return m.Zero()
}

type instruction = func(...Op)

// by picks an instruction by element size.
func (m Machine) by(four, eight instruction) instruction {
	if m.Elem.Size() == 8 {
		return eight
	}
	return four
}

// emit emits f with x as its first operand, broadcast from memory where x is a
// constant in memory.
func (m Machine) emit(f, broadcast instruction, x any, rest ...Op) {
	defer m.emitted()
	switch x := x.(type) {
	case V:
		f(append([]Op{x}, rest...)...)
	case Mem:
		f(append([]Op{x}, rest...)...)
	default:
		if v := m.kept(x); v != nil {
			f(append([]Op{v}, rest...)...)
		} else if m.Wide {
			broadcast(append([]Op{m.pooled(x)}, rest...)...)
		} else {
			f(append([]Op{m.pooled(x)}, rest...)...)
		}
	}
}

// binary emits an instruction with a result of its own.
func (m Machine) binary(f, broadcast instruction, a V, b any) V {
	dst := m.Reg()
	m.emit(f, broadcast, b, a, dst)
	return dst
}

// Ones8 is the memory of a constant with 1 in every byte.
func (m Machine) Ones8() Mem { return m.pooled(Bits(0x0101010101010101 & m.ones())) }

// Arg loads an argument of the function that has just been opened.
func Arg(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }
