package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/sink"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// scaleAhead writes both forms of a function that multiplies the rows of one piece while it
// computes the exponentials of the next: one waits for memory, the other for itself.
func scaleAhead(m vec.Machine) {
	sink.Variants(func(streaming bool, suffix string) { scaleAheadTo(m, m.Name("scaleAhead"+suffix), streaming) })
}

func scaleAheadTo(m vec.Machine, name string, streaming bool) {
	t := m.Elem.Go()
	TEXT(name, NOSPLIT, fmt.Sprintf("func(dst, x *%s, n int, marks *byte, own, e, next *%s, nextN int) int", t, t))
	Pragma("noescape")
	doc := []string{
		name + " sets dst[i] = x[i] c for n elements i of rows, with a number c for each row: marks and own are as inverseMark leaves them.",
		"Nothing else is written.",
		"Meanwhile it sets e[i] = e^next[i] for elements of next from the first on, of nextN, as long as none is NaN or far from 0, and returns",
		"how many of them are left. e may be x.",
	}
	if streaming {
		doc = append(doc, "Whole lines are written past the cache.")
	}
	Doc(doc...)
	s := &spreader{m: m, out: vec.Arg("dst"), x: vec.Arg("x"), n: vec.Arg("n"), marks: vec.Arg("marks"), own: vec.Arg("own"),
		i: GP64(), ones: GP64(), combine: func(x, c vec.V) vec.V { return m.Mul(x, c) }, streaming: streaming}
	load := m.KeepConstants(expConstants)
	a := newAhead(m)
	s.begin()
	Label("both")
	s.leaveAtEnd("many")
	a.leaveAtEnd("many")
	bits, bodies := s.starts(), a.vectors()
	// A scaler reads its vectors at once, before the exponentials are there that take their
	// place.
	for v := 0; v < len(bodies); v += together {
		m.Alternate(append(bodies[v:v+together:v+together], func(m vec.Machine) {
			s.m = m
			s.vectors(bits, v, v+together)
		})...)
	}
	s.m = m
	ADDQ(U8(step), s.i)
	a.leaveAtFar("many")
	a.advance()
	JMP(LabelRef("both"))
	s.rest()
	Store(a.left, ReturnIndex(0))
	VZEROUPPER()
	RET()
	load()
}

// together is the number of vectors of each kind whose instructions alternate.
const together = 2

// expConstants is the number of constants that exponentials are computed with.
const expConstants = 12

// An ahead is the exponentials of elements that come later, computed between the vectors
// of a loop that waits for memory: step elements for each step of the loop.
type ahead struct {
	m       vec.Machine
	e, next gp
	left    gp
	far     vec.V
}

func newAhead(m vec.Machine) *ahead {
	return &ahead{m: m, e: vec.Arg("e"), next: vec.Arg("next"), left: vec.Arg("nextN"), far: m.Zero()}
}

// leaveAtEnd jumps where there are fewer than step elements.
func (a *ahead) leaveAtEnd(label string) {
	CMPQ(a.left, U8(step))
	JL(LabelRef(label))
	for at := 0; at < step*a.m.Elem.Size(); at += 64 {
		PREFETCHT1(Mem{Base: a.next, Disp: at + expAhead})
	}
}

// leaveAtFar jumps where an element of the last step was far from 0.
func (a *ahead) leaveAtFar(label string) {
	k := a.m.Noted(a.far)
	KORTESTW(k.R, k.R)
	JNZ(LabelRef(label))
}

// expAhead is how many bytes early the elements are asked for, two pieces: into the second
// cache, for the first is full of the present ones. From there inverseMark has the first of
// them brought, and the processor, which sees one line after the other, the rest.
const expAhead = 16384

// vectors returns the bodies of a step.
func (a *ahead) vectors() (bodies []func(m vec.Machine)) {
	size := a.m.Elem.Size()
	for g := 0; g < step; g += a.m.Lanes() {
		bodies = append(bodies, func(m vec.Machine) {
			m.Store(m.ExpNoting(m.Load(Mem{Base: a.next, Disp: g * size}), a.far), Mem{Base: a.e, Disp: g * size})
		})
	}
	return bodies
}

func (a *ahead) advance() {
	bytes := uint64(step * a.m.Elem.Size())
	ADDQ(U32(bytes), a.next)
	ADDQ(U32(bytes), a.e)
	SUBQ(U8(step), a.left)
}
