package vec

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A Loop describes a function over arrays of one element type:
//
//	func name(dst, x, y *T, n int)
//	func name(dst, x *T, n int, y T)
type Loop struct {
	Doc      string
	Name     string // without type and instruction set
	Vectors  string // names of the operands that are arrays: "x,y"
	Scalars  string // names of those that are single elements
	Unroll   int    // vectors in flight in the main loop, 4 if 0
	Keep     int    // constants kept in registers, if vectors are wide and there are 32
	Together bool   // alternate the instructions of the vectors in flight
	Body     func(m Machine, x []V) V

	// Dsts names several results, which Bodies computes in place of Body.
	Dsts   string
	Bodies func(m Machine, x []V) []V

	// Reload broadcasts the scalars anew for each vector, for want of registers.
	Reload bool

	// Stream writes past the cache. dst must be aligned to a vector's length. No
	// fence follows: what makes the result known to another core in Go is a locked
	// instruction, which drains the buffers.
	Stream bool
	Fetch  int // operands to ask for early then, 1 if 0

	// Next names the operand that is a row of many and has just been read: a later row is
	// asked for in place of it.
	Next string

	// Ahead is how many bytes early the main loop asks for the first operand, for a
	// loop over the pieces of something long with other work between the pieces: what
	// comes behind the piece is on its way then. 0 leaves that to the processor.
	Ahead int

	// Bad, if not nil, selects lanes that Body cannot do. The function then
	// returns how many elements it has done: n, or fewer where the next vectors,
	// as many as are in flight, have such a lane.
	Bad func(m Machine, x []V) Mask
}

func names(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// Map emits the loop. Body gets the vectors and then the scalars, in order, and
// may not change them.
func (m Machine) Map(l Loop) {
	vectors, scalars, dsts := names(l.Vectors), names(l.Scalars), []string{"dst"}
	bodies := l.Bodies
	if bodies == nil {
		bodies = func(m Machine, x []V) []V { return []V{l.Body(m, x)} }
	} else {
		dsts = names(l.Dsts)
	}
	if l.Stream {
		l.Name += "Stream"
	}
	t := m.Elem.Go()
	signature := "func(" + strings.Join(append(dsts, vectors...), ", ") + " *" + t + ", n int"
	for _, s := range scalars {
		signature += ", " + s + " " + t
	}
	signature += ")"
	if l.Bad != nil {
		signature += " int"
	}
	TEXT(m.Name(l.Name), NOSPLIT, signature)
	Doc(m.Name(l.Name) + " " + l.Doc)
	Pragma("noescape")
	keep := 0
	if m.Wide {
		keep = l.Keep
	}
	load := m.KeepConstants(keep)
	n := Arg("n")
	var to, from []reg.GPVirtual
	for _, d := range dsts {
		to = append(to, Arg(d))
	}
	for _, v := range vectors {
		from = append(from, Arg(v))
	}
	var fixed []V
	broadcast := func() {
		fixed = nil
		for _, s := range scalars {
			addr, err := Param(s).Resolve()
			if err != nil {
				panic(err)
			}
			fixed = append(fixed, m.Broadcast(addr.Addr))
		}
	}
	broadcast()
	// compute runs the body; out writes its results.
	compute := func(m Machine, in []V, out func(i int, v V)) {
		if l.Reload {
			broadcast()
		}
		for i, v := range bodies(m, append(in, fixed...)) {
			out(i, v)
		}
	}
	unroll := l.Unroll
	if unroll == 0 {
		unroll = 4
	}
	fetchLater := m.fetchLater(l.Next, vectors, from, n)
	advance := func(count int) {
		for _, p := range append(from, to...) {
			ADDQ(U32(uint64(count*m.Bytes())), p)
		}
		SUBQ(U32(uint64(count*m.Lanes())), n)
	}
	run := func(label string, count int) {
		Label(label)
		CMPQ(n, U32(uint64(count*m.Lanes())))
		JL(LabelRef(label + "_end"))
		ins := make([][]V, count)
		for u := range ins {
			for _, p := range from {
				ins[u] = append(ins[u], m.Load(Mem{Base: p, Disp: u * m.Bytes()}))
			}
		}
		m.leave(l, ins, fixed)
		if count == unroll {
			fetchLater(count)
		}
		if l.Stream && l.Next == "" {
			// What is read once need not come through all caches, and has to be asked
			// for early: with stores past the cache, too, the processor does not look
			// far enough ahead by itself.
			const ahead = 1536
			for at := 0; at < count*m.Bytes(); at += 64 {
				for _, p := range from[:min(len(from), max(l.Fetch, 1))] {
					PREFETCHNTA(Mem{Base: p, Disp: at + ahead})
				}
			}
		}
		if l.Ahead > 0 && !l.Stream {
			for at := 0; at < count*m.Bytes(); at += 64 {
				PREFETCHT0(Mem{Base: from[0], Disp: at + l.Ahead})
			}
		}
		var all []func(m Machine)
		for u := range ins {
			all = append(all, func(m Machine) {
				compute(m, ins[u], func(i int, v V) {
					at := Mem{Base: to[i], Disp: u * m.Bytes()}
					if l.Stream {
						VMOVNTPS(v, at)
					} else {
						m.Store(v, at)
					}
				})
			})
		}
		m.together(all, l.Together)
		advance(count)
		JMP(LabelRef(label))
		Label(label + "_end")
	}
	run("main", unroll)
	if unroll > 1 && !m.Wide {
		run("single", 1) // masked stores are slow
	}
	Label("tail")
	TESTQ(n, n)
	JLE(LabelRef("done"))
	k := m.upTo(n, unroll > 1)
	var in []V
	for _, p := range from {
		in = append(in, m.LoadMasked(Mem{Base: p}, k))
	}
	m.leave(l, [][]V{in}, fixed)
	compute(m, in, func(i int, v V) { m.StoreMasked(v, Mem{Base: to[i]}, k) })
	if m.Wide && unroll > 1 {
		advance(1)
		JMP(LabelRef("tail"))
	} else {
		XORQ(n, n)
	}
	Label("done")
	if l.Bad != nil {
		done := Arg("n")
		zero := GP64()
		XORQ(zero, zero)
		TESTQ(n, n) // the last masked vector leaves n at or below 0
		CMOVQLT(zero, n)
		SUBQ(n, done)
		Store(done, ReturnIndex(0))
	}
	VZEROUPPER()
	RET()
	load()
}

// upTo returns the mask of the first n lanes, or of all if there are more and
// the loop takes several rounds.
func (m Machine) upTo(n reg.GPVirtual, rounds bool) Mask {
	if !m.Wide || !rounds {
		return m.FirstLanes(n)
	}
	count, most := GP64(), GP64()
	MOVQ(n, count)
	MOVQ(U32(uint64(m.Lanes())), most)
	CMPQ(count, most)
	CMOVQGT(most, count)
	return m.FirstLanes(count)
}

// leave ends the loop where one of the vectors has a lane that the body cannot do.
func (m Machine) leave(l Loop, ins [][]V, fixed []V) {
	if l.Bad == nil {
		return
	}
	bad := l.Bad(m, append(ins[0], fixed...))
	for _, in := range ins[1:] {
		bad = m.Either(bad, l.Bad(m, append(in, fixed...)))
	}
	if m.Wide {
		KORTESTW(bad.R, bad.R)
	} else {
		VPTEST(bad.R, bad.R)
	}
	JNE(LabelRef("done"))
}
