package str

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// A regexTable decides, with one step per byte, whether a pattern matches the whole of an ASCII text. It is the
// subset construction of the pattern's program (Thompson, "Regular Expression Search Algorithm", CACM 11, 1968). The
// regexp package tracks every alternative at every byte.
type regexTable struct {
	next  []uint16 // by state and byte; state 0 is a dead state that does not match
	match []bool   // by state: whether a text that ends there matches
}

// Larger patterns have no table. The bounds keep the construction below a few milliseconds.
const (
	tableStates = 256
	tableInsts  = 128
)

// tableOf returns the table of a pattern, or nil if it would be too large.
func tableOf(pattern string) *regexTable {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil || len(prog.Inst) > tableInsts || slices.ContainsFunc(prog.Inst, func(i syntax.Inst) bool { return i.Op == syntax.InstEmptyWidth }) {
		return nil
	}
	t, m := &regexTable{}, tableMaker{prog: prog, numbers: map[string]uint16{}}
	m.number(nil)
	m.number(m.closure([]uint32{uint32(prog.Start)}))
	for from := 0; from < len(m.sets); from++ {
		if len(m.sets) > tableStates {
			return nil
		}
		set := m.sets[from]
		t.match = append(t.match, slices.ContainsFunc(set, func(pc uint32) bool { return prog.Inst[pc].Op == syntax.InstMatch }))
		for c := rune(0); c < utf8.RuneSelf; c++ {
			var to []uint32
			for _, pc := range set {
				if i := &prog.Inst[pc]; i.Op >= syntax.InstRune && i.MatchRune(c) {
					to = append(to, i.Out)
				}
			}
			t.next = append(t.next, m.number(m.closure(to)))
		}
	}
	return t
}

// A tableMaker numbers sets of instructions, which are the states.
type tableMaker struct {
	prog    *syntax.Prog
	numbers map[string]uint16
	sets    [][]uint32
}

func (m *tableMaker) number(set []uint32) uint16 {
	key := make([]byte, 0, 4*len(set))
	for _, pc := range set {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	n, ok := m.numbers[string(key)]
	if !ok {
		n = uint16(len(m.sets))
		m.numbers[string(key)], m.sets = n, append(m.sets, set)
	}
	return n
}

// closure returns the instructions that consume a character, or match, and that are reachable from the
// given ones without consuming a character.
func (m *tableMaker) closure(from []uint32) []uint32 {
	var out []uint32
	seen := [tableInsts]bool{}
	for len(from) > 0 {
		pc := from[len(from)-1]
		if from = from[:len(from)-1]; seen[pc] {
			continue
		}
		seen[pc] = true
		switch i := &m.prog.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			from = append(from, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			from = append(from, i.Out)
		case syntax.InstFail:
		default:
			out = append(out, pc)
		}
	}
	slices.Sort(out)
	return out
}

// matches reports whether the pattern matches all of s; ok is false if s is not ASCII.
func (t *regexTable) matches(s []byte) (matches, ok bool) {
	state := uint16(1)
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false, false
		}
		if state = t.next[int(state)<<7|int(c)]; state == 0 {
			return false, true
		}
	}
	return t.match[state], true
}
