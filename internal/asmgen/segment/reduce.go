package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// longest is the length up to which a row is reduced in one go: its running sums are
// short enough for their rounding errors not to add up.
const longest = 4096

// vectorsOf is the number of vectors that every row is loaded into without a branch:
// enough for the rows of the class that the kernels are for.
func vectorsOf(m vec.Machine) int {
	if m.Lanes() == 16 {
		return 2
	}
	return 3
}

// A reducer is a reduction being written.
type reducer struct {
	reduction
	m    vec.Machine
	from vec.Elem // what is in memory, and becomes an element of m when it is loaded
	w    walker
	fill vec.V
	nan  vec.Mask // lanes in which a NaN was seen
}

func newReducer(m vec.Machine, from vec.Elem, r reduction, x, splits gp) *reducer {
	r.ordered = r.ordered && m.Elem.IsFloat()
	return &reducer{reduction: r, m: m, from: from, w: newWalker(m, from, x, splits)}
}

// reduce writes one function, for rows of elements from, which are reduced as those of m. It
// takes as many rows at a time as a vector has lanes, reduces each to a vector, and all of
// those together to one.
func reduce(m vec.Machine, from vec.Elem, r reduction) {
	lanes, vectors := m.Lanes(), vectorsOf(m)
	name, result := m.As(from).Name(r.name), m.Elem
	if r.second == locate {
		result = vec.Int64
	}
	TEXT(name, NOSPLIT, fmt.Sprintf("func(out *%s, x *%s, first int64, splits *int64, rows int, scratch *byte) int", result.Go(), from.Go()))
	Pragma("noescape")
	stops := fmt.Sprintf("It stops before rows of which one has more than %d elements", longest)
	if r.ordered && from.IsFloat() {
		stops += " or holds NaN"
	}
	Doc(
		fmt.Sprintf("%s writes the %s of rows to out, %d rows at a time, and returns the number of rows done.", name, r.doc, lanes),
		"x is where element first is.",
		fmt.Sprintf("Memory is read up to %d elements behind the beginning of each row.", vectors*lanes),
		stops+".",
	)
	out, x, splits, rows, scratch := vec.Arg("out"), vec.Arg("x"), vec.Arg("splits"), vec.Arg("rows"), vec.Arg("scratch")
	first := vec.Arg("first")
	SHLQ(shiftOf(from), first)
	SUBQ(first, x)
	ADDQ(U8(63), scratch)
	ANDQ(I8(-64), scratch)
	s := newReducer(m, from, r, x, splits)
	todo := GP64()
	MOVQ(rows, todo)
	if r.fill != nil {
		s.fill = m.Load(r.fill(m))
	}

	Label("batch")
	CMPQ(todo, U8(uint8(lanes)))
	JL(LabelRef("done"))
	// Splits and elements that come later are asked for: what is done with the results
	// of a piece would have the processor forget about them.
	for at := 0; at < 8*lanes; at += 64 {
		PREFETCHT0(Mem{Base: splits, Disp: at + fetchAhead})
	}
	s.clearNaN()
	s.leaveAtLong(Mem{Base: splits}, vectors*lanes, "some")
	total := s.short(vectors)
	s.leaveAtNaN("done")
	s.finish(total, splits, out, scratch, true)
	SUBQ(U8(uint8(lanes)), todo)
	JMP(LabelRef("batch"))

	// A batch with a longer row, one row after the other.
	Label("some")
	left, to := GP64(), GP64()
	MOVQ(U32(uint64(lanes)), left)
	MOVQ(scratch, to)
	Label("row")
	at, n, z := s.row(vectors)
	CMPQ(n, U8(uint8(vectors*lanes)))
	JG(LabelRef("long"))
	Label("reduced")
	m.Store(z, Mem{Base: to})
	ADDQ(U8(uint8(m.Bytes())), to)
	DECQ(left)
	JNZ(LabelRef("row"))
	s.leaveAtNaN("done")
	s.finish(s.stored(scratch), splits, out, scratch, false)
	SUBQ(U8(uint8(lanes)), todo)
	JMP(LabelRef("batch"))

	Label("long")
	CMPQ(n, U32(longest))
	JG(LabelRef("done"))
	s.long(z, at, n)
	JMP(LabelRef("reduced"))

	Label("done")
	SUBQ(todo, rows)
	Store(rows, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// fetchAhead is how many bytes early splits and elements are asked for.
const fetchAhead = 2048

// load returns vector v of those at address at.
func (s *reducer) load(at gp, v int) vec.V {
	from := Mem{Base: at, Disp: v * s.stride()}
	if s.from == s.m.Elem {
		return s.m.Load(from)
	}
	x := s.m.Reg()
	switch s.from {
	case vec.Float32:
		VCVTPS2PD(from, x)
	case vec.Int32:
		VCVTDQ2PD(from, x)
	case vec.Int64:
		VCVTQQ2PD(from, x)
	}
	return x
}

// stride is the number of bytes in memory that fill a vector.
func (s *reducer) stride() int { return s.m.Lanes() * s.from.Size() }

// row reduces the next row to one vector z, if it has no more elements than vectors hold.
func (s *reducer) row(vectors int) (at, n gp, z vec.V) {
	m := s.m
	at, n = s.w.row()
	PREFETCHT0(Mem{Base: at, Disp: fetchAhead})
	mask := s.w.masks(n)
	for v := range vectors {
		if v > 0 && m.Wide && !s.ordered {
			// One instruction instead of two.
			s.into[m.Elem](s.load(at, v), z, mask(v).R, z)
			continue
		}
		part := s.keep(mask(v), s.load(at, v))
		switch v {
		case 0:
			z = part
			continue
		case 1:
			s.look(z, part)
		default:
			s.look(part, part)
		}
		z = s.combine(m, z, part)
	}
	return at, n, z
}

// leaveAtLong jumps where a row of the batch with splits has more than most elements.
func (s *reducer) leaveAtLong(splits Mem, most int, label string) {
	i64 := s.m.As(vec.Int64)
	var long vec.Mask
	for i := 0; i < 8*s.m.Lanes(); i += s.m.Bytes() {
		k := i64.Cmp(vec.Greater, i64.Sub(i64.Load(splits.Offset(i+8)), splits.Offset(i)), vec.Const(float64(most)))
		if i == 0 {
			long = k
		} else {
			long = i64.Either(long, k)
		}
	}
	if s.m.Wide {
		KORTESTW(long.R, long.R)
	} else {
		VPTEST(long.R, long.R)
	}
	JNZ(LabelRef(label))
}

// finish writes the results of a batch, of which all rows are short or some are not.
func (s *reducer) finish(total vec.V, splits, out, scratch gp, short bool) {
	if s.last != nil {
		total = s.last(s.m, total, splits)
	}
	switch s.second {
	case locate:
		s.locate(total, splits, out, scratch, short)
	case squares:
		total = s.squares(total, splits, scratch, short)
		fallthrough
	default:
		s.m.Store(total, Mem{Base: out})
		ADDQ(U8(uint8(s.m.Bytes())), out)
	}
	ADDQ(U32(uint64(8*s.m.Lanes())), splits)
}

// keep puts what does not change a result into the lanes behind a row.
func (s *reducer) keep(k vec.Mask, v vec.V) vec.V {
	if s.fill != nil {
		return blend(s.m, k, v, s.fill)
	}
	return s.m.Keep(k, v)
}

// clearNaN forgets the NaNs that look has seen.
func (s *reducer) clearNaN() {
	switch {
	case !s.ordered:
	case s.m.Wide:
		if s.nan.R == nil {
			s.nan.R = K()
		}
		KXORW(s.nan.R, s.nan.R, s.nan.R)
	default:
		if s.nan.R == nil {
			s.nan.R = s.m.Reg()
		}
		VXORPS(s.nan.R, s.nan.R, s.nan.R)
	}
}

// look notes whether a or b holds NaN.
func (s *reducer) look(a, b vec.V) {
	if !s.ordered {
		return
	}
	k := s.m.Cmp(vec.Unordered, a, b)
	if s.m.Wide {
		KORW(k.R, s.nan.R, s.nan.R)
	} else {
		VORPS(k.R, s.nan.R, s.nan.R)
	}
}

// leaveAtNaN jumps where look has seen NaN.
func (s *reducer) leaveAtNaN(label string) {
	if !s.ordered {
		return
	}
	if s.m.Wide {
		KORTESTW(s.nan.R, s.nan.R)
	} else {
		flags := GP32()
		VMOVMSKPS(s.nan.R, flags)
		TESTL(flags, flags)
	}
	JNZ(LabelRef(label))
}

// long reduces the n elements at address at to z, four vectors at a time.
func (s *reducer) long(z vec.V, at, n gp) {
	m := s.m
	accs := make([]vec.V, 4)
	for u := range accs {
		// There are not as many vectors where a vector has few lanes: the identity
		// does for the missing ones.
		if u < vectorsOf(m) {
			accs[u] = s.load(at, u)
			s.look(accs[u], accs[u])
		} else if s.fill != nil {
			accs[u] = m.Load(s.fill)
		} else {
			accs[u] = m.Zero()
		}
	}
	step := func(vectors int) {
		ADDQ(U32(uint64(vectors*s.stride())), at)
		SUBQ(U32(uint64(vectors*m.Lanes())), n)
	}
	into := func(acc vec.V, v vec.V) {
		s.look(v, v)
		VMOVAPS(s.combine(m, acc, v), acc)
	}
	step(vectorsOf(m))
	Label("several")
	CMPQ(n, U32(uint64(len(accs)*m.Lanes())))
	JL(LabelRef("one"))
	for u, acc := range accs {
		into(acc, s.load(at, u))
	}
	step(len(accs))
	JMP(LabelRef("several"))
	Label("one")
	CMPQ(n, U32(uint64(m.Lanes())))
	JL(LabelRef("rest"))
	into(accs[0], s.load(at, 0))
	step(1)
	JMP(LabelRef("one"))
	Label("rest")
	TESTQ(n, n)
	JZ(LabelRef("joined"))
	into(accs[0], s.keep(s.w.masks(n)(0), s.load(at, 0)))
	Label("joined")
	VMOVAPS(s.combine(m, s.combine(m, accs[0], accs[1]), s.combine(m, accs[2], accs[3])), z)
}

// blend returns yes in the lanes of k and no in the others. (The generator takes
// VBLENDMPS to read its result, which would keep that register busy all the time.)
func blend(m vec.Machine, k vec.Mask, yes, no vec.V) vec.V {
	if !m.Wide {
		return m.Blend(k, yes, no)
	}
	dst := m.Load(no)
	if m.Elem.Size() == 8 {
		VMOVAPD(yes, k.R, dst)
	} else {
		VMOVAPS(yes, k.R, dst)
	}
	return dst
}

// lengths returns the lengths of as many rows as a vector has lanes, from their
// splits, as floats. They are below 2^31.
func lengths(m vec.Machine, splits gp) vec.V {
	i64 := m.As(vec.Int64)
	diff := func(i int) vec.V {
		return i64.Sub(i64.Load(Mem{Base: splits, Disp: 8 + i*m.Bytes()}), i64.Load(Mem{Base: splits, Disp: i * m.Bytes()}))
	}
	dst := m.Reg()
	if m.Wide {
		if m.Elem == vec.Float64 {
			VCVTQQ2PD(diff(0), dst)
			return dst
		}
		low, high, both := YMM(), YMM(), ZMM()
		VPMOVQD(diff(0), low)
		VPMOVQD(diff(1), high)
		VINSERTI32X8(Imm(1), high, low.AsZ(), both)
		VCVTDQ2PS(both, dst)
		return dst
	}
	// The low halves of the eight-byte lanes, packed.
	packed := YMM()
	if m.Elem == vec.Float64 {
		d := diff(0)
		VSHUFPS(Imm(0x88), d, d, packed)
		VPERMQ(Imm(0xd8), packed, packed)
		VCVTDQ2PD(packed.AsX(), dst)
		return dst
	}
	VSHUFPS(Imm(0x88), diff(1), diff(0), packed)
	VPERMQ(Imm(0xd8), packed, packed)
	VCVTDQ2PS(packed, dst)
	return dst
}
