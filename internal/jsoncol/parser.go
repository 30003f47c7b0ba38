package jsoncol

import (
	"math"
	"math/bits"
)

// A parser reads the records of one chunk into a tree of nodes. Its functions take the position of
// what they read and return the position after it, or -1 if they fail; p.failed then says why.
//
// The parser predicts from the schema what comes next: the next key is compared with the expected
// bytes, and its value goes directly to the code for its type. Anything unexpected (white space,
// another order of keys, null, escapes) is handled by separate functions, which are complete; the
// fast code accepts only what it has fully checked.
type parser struct {
	t      text
	end    int  // the chunk's end, where the sentinel is
	closed bool // the sentinel replaces a closing bracket
	multi  bool // line breaks count as white space

	unicode    Unicode
	duplicate  Duplicate
	overflow   Overflow
	nonFinite  bool
	maxDepth   int
	maxColumns int
	maxKeys    int
	unions     bool
	counting   bool // inference counts the values it sees
	needed     bool // fields that a record lacks are an error

	failed  *failure
	key     []byte  // the last key that had to be decoded
	scratch [8]byte // receives characters that are only checked
	// sparse is the number of further missing values that inferred structs may be given.
	sparse  int64
	columns int    // number of columns in the schema that inference widens
	row     int64  // current record of inference, counted from its first
	objects uint64 // number of objects that inference has begun, used to tell them apart
}

func newParser(o *Options) parser {
	return parser{
		unicode: o.Unicode, duplicate: o.Duplicates, overflow: o.Overflow, nonFinite: o.NonFinite,
		maxDepth: o.MaxDepth, maxColumns: o.MaxColumns, maxKeys: o.MaxKeys, needed: o.Missing <= MissingError || o.Missing == MissingEmpty, unions: o.Unions,
	}
}

// space returns the position of the first byte from i on that is not white space.
func (p *parser) space(i int) int {
	if p.t.byte(i) > ' ' {
		return i
	}
	return p.spaces(i)
}

// spaces is space for the case that there is some. Most of it is indentation.
func (p *parser) spaces(i int) int {
	t := p.t
	for {
		switch t.byte(i) {
		case '\t', '\r':
			i++
		case '\n':
			if !p.multi {
				return i
			}
			i++
		case ' ':
			other := t.word(i) ^ ' '*ones
			for other == 0 {
				i += 8
				other = t.word(i) ^ ' '*ones
			}
			i += bits.TrailingZeros64(other) >> 3
		default:
			return i
		}
	}
}

// value reads the value at i, including white space before it, as a row of n. It is the general
// form that handles everything unusual.
func (p *parser) value(i int, n *node) int {
	t := p.t
	if n.op == opText {
		return p.text(i, n)
	}
	i = p.space(i)
	c := t.byte(i)
	if c == 'n' {
		if uint32(t.word(i)) != litNull {
			return p.expected(i, "a value")
		}
		if !p.missing(i, n, "null") {
			return -1
		}
		return i + 4
	}
	switch n.op {
	case opBool:
		w := t.word(i)
		switch {
		case uint32(w) == litTrue:
			n.pushBool(true)
			return i + 4
		case w&mask5 == litFalse:
			n.pushBool(false)
			return i + 5
		case c == 't' || c == 'f':
			return p.expected(i, "a value")
		}
	case opInt, opUint:
		if c == '-' || c-'0' <= 9 {
			return p.integer(i, n)
		}
	case opFloat, opNarrow:
		if c == '-' || c-'0' <= 9 || p.nonFinite && (c == 'N' || c == 'I') {
			return p.float(i, n)
		}
	case opString:
		if c == '"' {
			return p.str(i+1, n)
		}
	case opList:
		if c == '[' {
			return p.array(i+1, n)
		}
	case opMap:
		if c == '{' {
			return p.entries(i+1, n)
		}
	case opStruct:
		if c == '{' {
			return p.object(i+1, n)
		}
	case opUnion:
		if tag := n.alt[classOf(c)]; tag >= 0 {
			alt := n.fields[tag].node
			row := alt.n
			if i = p.value(i, alt); i >= 0 {
				n.pushAlt(tag, row)
			}
			return i
		}
	}
	// If it cannot be the beginning of an expected value, it may not be a value at all.
	return p.mismatch(i, n)
}

const (
	litTrue  = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24
	litNull  = 'n' | 'u'<<8 | 'l'<<16 | 'l'<<24
	litFalse = 'f' | 'a'<<8 | 'l'<<16 | 's'<<24 | 'e'<<32
	mask5    = 1<<40 - 1
)

// bit is 1 if b is true; it compiles to a flag rather than a jump.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// withSign returns f with its sign bit changed if neg is 1.
func withSign(f float64, neg int) float64 {
	return math.Float64frombits(math.Float64bits(f) ^ uint64(neg)<<63)
}
