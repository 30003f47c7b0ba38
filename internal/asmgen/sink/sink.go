// Package sink writes the part of generated functions that puts rows of results in
// their place: directly, or through a buffer and past the cache.
package sink

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// A Sink is where a function writes its rows, one behind the other and by whole
// vectors: At is the place of the next byte.
//
// A plain sink is the destination itself. A streaming sink is a buffer in cache, whose
// full lines go to the destination by non-temporal stores as soon as there are enough
// of them; so the processor makes the next rows while the lines travel. A line that
// the rows share with what is before them in the destination goes to another buffer,
// from which the caller takes its own bytes, and what fills no line stays in the
// buffer.
type Sink struct {
	m         vec.Machine
	streaming bool
	At        reg.GPVirtual // the place of the next byte
	stage     reg.GPVirtual // the second line of the buffer; rows are collected from here on
	labels    int
}

const (
	line = 64
	// stageLines are collected before they are sent on: enough for their stores to
	// have arrived in cache, so that they can be read by the line.
	stageLines = 16
	// Behind them is room for what is written between two looks, and then, counted
	// from the second line, two words: where the line belongs that is collected
	// first, and where it goes instead if others have a part in it, or 0.
	lineAt   = (stageLines + 6) * line
	insteads = lineAt + 8
)

// Signature is that of a function with other parameters params.
func Signature(streaming bool, params string) string {
	if streaming {
		return "func(dst *byte, " + params + ", stage *byte) int"
	}
	return "func(dst *byte, " + params + ")"
}

// Explain explains the parameters of a streaming sink.
func Explain(streaming bool) []string {
	if !streaming {
		return nil
	}
	return []string{
		"It writes past the cache, through stage, which is aligned to lines of 64 bytes. The first of those goes to stage itself if dst is",
		"not aligned; what fills no line at the end stays behind that, and its length is returned.",
	}
}

// Variants calls f for both kinds of sink.
func Variants(f func(streaming bool, suffix string)) {
	f(false, "")
	f(true, "Past")
}

// New returns the sink of the function that has just been opened.
func New(m vec.Machine, streaming bool) *Sink {
	s := &Sink{m: m, streaming: streaming, At: vec.Arg("dst")}
	if !streaming {
		return s
	}
	s.stage = vec.Arg("stage")
	phase, belongs, instead := GP64(), GP64(), GP64()
	MOVQ(s.At, belongs)
	ANDQ(I8(-line), belongs)
	MOVQ(s.stage, instead)
	MOVQ(s.At, phase)
	ANDQ(U8(line-1), phase)
	CMOVQEQ(phase, instead)
	ADDQ(U8(line), s.stage)
	MOVQ(belongs, Mem{Base: s.stage, Disp: lineAt})
	MOVQ(instead, Mem{Base: s.stage, Disp: insteads})
	LEAQ(Mem{Base: s.stage, Index: phase, Scale: 1}, s.At)
	return s
}

func (s *Sink) label(name string) string { return name + strconv.Itoa(s.labels) }

// Check sends lines on where there are enough. It has to follow every advance of At.
func (s *Sink) Check() {
	if !s.streaming {
		return
	}
	s.labels++
	stay := s.label("stay")
	full := GP64()
	LEAQ(Mem{Base: s.At, Disp: -stageLines * line}, full)
	CMPQ(full, s.stage)
	JB(LabelRef(stay))
	s.flush()
	Label(stay)
}

// flush sends all full lines on and moves the rest to the beginning of the buffer.
func (s *Sink) flush() {
	s.labels++
	next, rest := s.label("line"), s.label("rest")
	from, last, to, instead := GP64(), GP64(), GP64(), GP64()
	MOVQ(s.stage, from)
	MOVQ(s.At, last)
	ANDQ(I8(-line), last)
	MOVQ(Mem{Base: s.stage, Disp: lineAt}, to)
	CMPQ(from, last)
	JAE(LabelRef(rest))
	// The line that is shared, once.
	MOVQ(Mem{Base: s.stage, Disp: insteads}, instead)
	TESTQ(instead, instead)
	JZ(LabelRef(next))
	s.copyLine(from, instead, false)
	MOVQ(U32(0), Mem{Base: s.stage, Disp: insteads})
	ADDQ(U8(line), from)
	ADDQ(U8(line), to)
	CMPQ(from, last)
	JAE(LabelRef(rest))
	Label(next)
	s.copyLine(from, to, true)
	ADDQ(U8(line), from)
	ADDQ(U8(line), to)
	CMPQ(from, last)
	JB(LabelRef(next))
	Label(rest)
	MOVQ(to, Mem{Base: s.stage, Disp: lineAt})
	s.copyLine(last, s.stage, false)
	SUBQ(last, s.At)
	ADDQ(s.stage, s.At)
}

func (s *Sink) copyLine(from, to reg.GPVirtual, past bool) {
	for off := 0; off < line; off += s.m.Bytes() {
		v := s.m.Load(Mem{Base: from, Disp: off})
		if past {
			VMOVNTPS(v, Mem{Base: to, Disp: off})
		} else {
			VMOVUPS(v, Mem{Base: to, Disp: off})
		}
	}
}

// End closes the function.
func (s *Sink) End() {
	if s.streaming {
		s.flush()
		SUBQ(s.stage, s.At)
		Store(s.At, ReturnIndex(0))
	}
	VZEROUPPER()
	RET()
}
