package vec

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A Fold describes a function that adds terms up over arrays of floats and may
// write arrays besides:
//
//	func name(x, y *T, n int, a T) (s0, s1 float64)
//	func name(dst, x *T, n int) float64
//
// Sums are kept in the lanes of T and widened at the end, so callers that want
// few roundings keep n small.
type Fold struct {
	Doc     string
	Name    string
	Vectors string
	Scalars string
	Dsts    string // names of the arrays that get what Body returns first
	Stream  string // the one of them that is written past the cache; it is aligned
	Sums    int
	Next    string // the vector that is a row of many: the main loop asks for a later one
	Keep    int    // constants kept in registers, if vectors are wide

	Together bool // alternate the instructions of the vectors in flight
	Unroll   int  // 4 if 0
	Body     func(m Machine, x []V) (out, terms []V)
}

// Fold emits the function.
func (m Machine) Fold(f Fold) {
	vectors, scalars := names(f.Vectors), names(f.Scalars)
	t := m.Elem.Go()
	dsts := names(f.Dsts)
	arrays := append(append([]string{}, dsts...), vectors...)
	signature := "func(" + strings.Join(arrays, ", ") + " *" + t + ", n int"
	for _, s := range scalars {
		signature += ", " + s + " " + t
	}
	var results []string
	for i := range f.Sums {
		results = append(results, fmt.Sprintf("s%d", i))
	}
	TEXT(m.Name(f.Name), NOSPLIT, signature+") ("+strings.Join(results, ", ")+" float64)")
	Doc(m.Name(f.Name) + " " + f.Doc)
	Pragma("noescape")
	keep := 0
	if m.Wide {
		keep = f.Keep
	}
	load := m.KeepConstants(keep)
	n := Arg("n")
	var to, from, all []reg.GPVirtual
	for _, d := range dsts {
		to = append(to, Arg(d))
	}
	all = append(all, to...)
	for _, v := range vectors {
		from = append(from, Arg(v))
	}
	all = append(all, from...)
	fetchLater := m.fetchLater(f.Next, vectors, from, n)
	var fixed []V
	for _, s := range scalars {
		addr, err := Param(s).Resolve()
		if err != nil {
			panic(err)
		}
		fixed = append(fixed, m.Broadcast(addr.Addr))
	}
	unroll := f.Unroll
	if unroll == 0 {
		unroll = 4
	}
	acc := make([][]V, unroll)
	for u := range acc {
		for range f.Sums {
			acc[u] = append(acc[u], m.Zero())
		}
	}
	advance := func(count int) {
		for _, p := range all {
			ADDQ(U32(uint64(count*m.Bytes())), p)
		}
		SUBQ(U32(uint64(count*m.Lanes())), n)
	}
	accumulate := func(terms, acc []V) {
		for i, term := range terms {
			m.by(VADDPS, VADDPD)(term, acc[i], acc[i])
		}
	}
	run := func(label string, count int) {
		Label(label)
		CMPQ(n, U32(uint64(count*m.Lanes())))
		JL(LabelRef(label + "_end"))
		var all []func(m Machine)
		for u := range count {
			all = append(all, func(m Machine) {
				var in []V
				for _, p := range from {
					in = append(in, m.Load(Mem{Base: p, Disp: u * m.Bytes()}))
				}
				out, terms := f.Body(m, append(in, fixed...))
				for i, v := range out {
					at := Mem{Base: to[i], Disp: u * m.Bytes()}
					if dsts[i] == f.Stream {
						VMOVNTPS(v, at)
					} else {
						m.Store(v, at)
					}
				}
				accumulate(terms, acc[u])
			})
		}
		if count == unroll {
			fetchLater(count)
		}
		m.together(all, f.Together)
		advance(count)
		JMP(LabelRef(label))
		Label(label + "_end")
	}
	run("main", unroll)
	if unroll > 1 {
		run("single", 1)
	}
	TESTQ(n, n)
	JLE(LabelRef("done"))
	k := m.FirstLanes(n)
	var in []V
	for _, p := range from {
		in = append(in, m.LoadMasked(Mem{Base: p}, k))
	}
	out, terms := f.Body(m, append(in, fixed...))
	for i, v := range out {
		m.StoreMasked(v, Mem{Base: to[i]}, k)
	}
	for i := range terms {
		terms[i] = m.Keep(k, terms[i])
	}
	accumulate(terms, acc[0])
	Label("done")
	for step := 1; step < unroll; step *= 2 {
		for u := 0; u+step < unroll; u += 2 * step {
			accumulate(acc[u+step], acc[u])
		}
	}
	for i, sum := range acc[0] {
		Store(m.horizontal(sum), ReturnIndex(i))
	}
	VZEROUPPER()
	RET()
	load()
}

// fetchLater returns what asks for the next count vectors of the row that begins four rows
// after that of the operand next, n elements of which are left; nothing without such a name.
// They come to the second-level cache: what the first one can ask for at a time is less than a
// row, and the loop would wait.
func (m Machine) fetchLater(next string, vectors []string, from []reg.GPVirtual, n reg.GPVirtual) func(count int) {
	i := slices.Index(vectors, next)
	if i < 0 {
		return func(int) {}
	}
	row := GP64()
	MOVQ(n, row)
	SHLQ(U8(bits.TrailingZeros(uint(m.Elem.Size()))), row)
	return func(count int) {
		for at := 0; at < count*m.Bytes(); at += 64 {
			PREFETCHT1(Mem{Base: from[i], Index: row, Scale: 4, Disp: at})
		}
	}
}

// horizontal adds the lanes of v up in float64.
func (m Machine) horizontal(v V) V {
	wide := v
	if m.Elem == Float32 {
		// Both halves as doubles.
		hi, lo := m.Reg(), m.Reg()
		if m.Wide {
			h := YMM()
			VEXTRACTF64X4(Imm(1), v, h)
			VCVTPS2PD(h, hi)
			VCVTPS2PD(v.AsY(), lo)
		} else {
			h := XMM()
			VEXTRACTF128(Imm(1), v, h)
			VCVTPS2PD(h, hi)
			VCVTPS2PD(v.AsX(), lo)
		}
		VADDPD(hi, lo, lo)
		wide = lo
	}
	y := wide
	if m.Wide {
		h := YMM()
		VEXTRACTF64X4(Imm(1), wide, h)
		y = YMM()
		VADDPD(h, wide.AsY(), y)
	}
	h, x := XMM(), XMM()
	VEXTRACTF128(Imm(1), y, h)
	VADDPD(h, y.AsX(), x)
	s := XMM()
	VPERMILPD(Imm(1), x, s)
	VADDSD(s, x, x)
	return x
}
