package weights

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
)

// The interpreter below reads pickles (PEP 3154 and earlier) as data. It supports numbers,
// strings, lists, tuples, dictionaries and references. The result of calling a global is
// decided by its owner, which supports a few functions that make tensors. No code of the file
// is run.

// A global is a name that a pickle refers to.
type global struct{ module, name string }

// A pickleDict is a dictionary in the order of its keys.
type pickleDict struct{ keys, values []any }

// A pickleList is a list or a tuple.
type pickleList struct{ items []any }

// A pickleSet is a set; its elements do not matter.
type pickleSet struct{}

type mark struct{}

// A pickle is the state of the interpreter.
type pickle struct {
	rest  []byte
	stack []any
	memo  map[int]any

	// call returns the result of calling a global with arguments, and persistent the value of a
	// persistent identifier.
	call       func(f global, args []any) (any, error)
	persistent func(id any) (any, error)
}

// maxPickle bounds the number of values on the stack and in the memo.
const maxPickle = 1 << 24

// load runs the interpreter to the end of the pickle and returns its value.
func (p *pickle) load() (any, error) {
	p.memo = map[int]any{}
	for {
		op, err := p.take(1)
		if err != nil {
			return nil, err
		}
		if op[0] == '.' {
			return p.pop()
		}
		if err := p.step(op[0]); err != nil {
			return nil, err
		}
		if len(p.stack) > maxPickle || len(p.memo) > maxPickle {
			return nil, invalid("the pickle has too many values")
		}
	}
}

func (p *pickle) step(op byte) error {
	switch op {
	case '\x80': // PROTO
		return p.skip(1)
	case '\x95': // FRAME
		return p.skip(8)
	case '(':
		return p.push(mark{})
	case 'N':
		return p.push(nil)
	case '\x88', '\x89':
		return p.push(op == '\x88')
	case '}':
		return p.push(&pickleDict{})
	case ']', ')':
		return p.push(&pickleList{})
	case '\x8f':
		return p.push(&pickleSet{})
	case '0':
		_, err := p.pop()
		return err
	case '1':
		_, err := p.marked()
		return err
	case '2':
		return p.dup()
	}
	for _, f := range []func(byte) (bool, error){p.number, p.text, p.collect, p.remember, p.refer} {
		if done, err := f(op); done || err != nil {
			return err
		}
	}
	return invalid("the pickle contains the unknown opcode %#x", op)
}

// number handles opcodes that push a number.
func (p *pickle) number(op byte) (bool, error) {
	switch op {
	case 'K', 'M', 'J', 'G': // BININT1, BININT2, BININT, BINFLOAT
		n := map[byte]int{'K': 1, 'M': 2, 'J': 4, 'G': 8}[op]
		b, err := p.take(n)
		if err != nil {
			return true, err
		}
		switch op {
		case 'K':
			return true, p.push(int(b[0]))
		case 'M':
			return true, p.push(int(binary.LittleEndian.Uint16(b)))
		case 'J':
			return true, p.push(int(int32(binary.LittleEndian.Uint32(b))))
		}
		return true, p.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case '\x8a', '\x8b': // LONG1, LONG4
		b, err := p.counted(map[byte]int{'\x8a': 1, '\x8b': 4}[op])
		if err != nil {
			return true, err
		}
		return true, p.push(long(b))
	case 'I', 'L', 'F': // of the text protocol
		line, err := p.line()
		if err != nil {
			return true, err
		}
		return true, p.push(spelled(op, line))
	}
	return false, nil
}

// long returns a little-endian number in two's complement, as a float64 if it does not fit an
// int.
func long(b []byte) any {
	n := 0
	for i := len(b) - 1; i >= 0; i-- {
		if i >= 8 {
			return math.Inf(1) // no size, offset or count has that many bytes
		}
		n = n<<8 | int(b[i])
	}
	if l := len(b); l > 0 && l < 8 && b[l-1] >= 0x80 {
		n -= 1 << (8 * l)
	}
	return n
}

func spelled(op byte, line string) any {
	switch {
	case op == 'I' && (line == "00" || line == "01"):
		return line == "01"
	case op == 'F':
		x, _ := strconv.ParseFloat(line, 64)
		return x
	}
	if n, err := strconv.Atoi(trimL(line)); err == nil {
		return n
	}
	return math.Inf(1)
}

func trimL(s string) string {
	if l := len(s); l > 0 && s[l-1] == 'L' {
		return s[:l-1]
	}
	return s
}

// text handles opcodes that push a string or bytes.
func (p *pickle) text(op byte) (bool, error) {
	var width int
	switch op {
	case '\x8c', 'C', 'U': // SHORT_BINUNICODE, SHORT_BINBYTES, SHORT_BINSTRING
		width = 1
	case 'X', 'B', 'T': // BINUNICODE, BINBYTES, BINSTRING
		width = 4
	case '\x8d', '\x8e', '\x96': // BINUNICODE8, BINBYTES8, BYTEARRAY8
		width = 8
	case 'S', 'V':
		line, err := p.line()
		if err != nil {
			return true, err
		}
		return true, p.push(unquoted(line))
	default:
		return false, nil
	}
	b, err := p.counted(width)
	if err != nil {
		return true, err
	}
	return true, p.push(string(b))
}

func unquoted(s string) string {
	if n := len(s); n >= 2 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

// collect handles opcodes that make lists, tuples and dictionaries.
func (p *pickle) collect(op byte) (bool, error) {
	switch op {
	case 't', 'l': // TUPLE, LIST
		items, err := p.marked()
		if err != nil {
			return true, err
		}
		return true, p.push(&pickleList{items})
	case '\x85', '\x86', '\x87': // TUPLE1, TUPLE2, TUPLE3
		items, err := p.popN(int(op-'\x85') + 1)
		if err != nil {
			return true, err
		}
		return true, p.push(&pickleList{items})
	case 'd', 'u': // DICT, SETITEMS
		items, err := p.marked()
		if err != nil {
			return true, err
		}
		if op == 'd' {
			if err := p.push(&pickleDict{}); err != nil {
				return true, err
			}
		}
		return true, p.set(items)
	case 's': // SETITEM
		items, err := p.popN(2)
		if err != nil {
			return true, err
		}
		return true, p.set(items)
	case 'a': // APPEND
		items, err := p.popN(1)
		if err != nil {
			return true, err
		}
		return true, p.extend(items)
	case 'e', '\x90', '\x91': // APPENDS, ADDITEMS, FROZENSET
		items, err := p.marked()
		if err != nil {
			return true, err
		}
		if op == '\x91' {
			return true, p.push(&pickleSet{})
		}
		return true, p.extend(items)
	}
	return false, nil
}

// set adds pairs to the dictionary on top of the stack.
func (p *pickle) set(pairs []any) error {
	x, err := p.top()
	if err != nil {
		return err
	}
	d, ok := x.(*pickleDict)
	if !ok || len(pairs)%2 != 0 {
		return invalid("the pickle sets an item of a value that is not a dictionary")
	}
	for i := 0; i < len(pairs); i += 2 {
		d.keys, d.values = append(d.keys, pairs[i]), append(d.values, pairs[i+1])
	}
	return nil
}

// extend adds to the list or set on top of the stack.
func (p *pickle) extend(items []any) error {
	x, err := p.top()
	if err != nil {
		return err
	}
	switch l := x.(type) {
	case *pickleList:
		l.items = append(l.items, items...)
	case *pickleSet:
	default:
		return invalid("the pickle appends to a value that is not a list")
	}
	return nil
}

// remember handles opcodes that access the memo.
func (p *pickle) remember(op byte) (bool, error) {
	switch op {
	case '\x94': // MEMOIZE
		x, err := p.top()
		p.memo[len(p.memo)] = x
		return true, err
	case 'q', 'r', 'p', 'h', 'j', 'g':
		i, err := p.index(op)
		if err != nil {
			return true, err
		}
		if op == 'q' || op == 'r' || op == 'p' { // BINPUT, LONG_BINPUT, PUT
			x, err := p.top()
			p.memo[i] = x
			return true, err
		}
		x, ok := p.memo[i]
		if !ok {
			return true, invalid("the pickle refers to value %d, which does not exist", i)
		}
		return true, p.push(x)
	}
	return false, nil
}

// index reads the number of a value in the memo.
func (p *pickle) index(op byte) (int, error) {
	switch op {
	case 'p', 'g':
		line, err := p.line()
		if err != nil {
			return 0, err
		}
		i, err := strconv.Atoi(line)
		if err != nil {
			return 0, invalid("the pickle refers to value %.20q", line)
		}
		return i, nil
	case 'q', 'h':
		b, err := p.take(1)
		if err != nil {
			return 0, err
		}
		return int(b[0]), nil
	}
	b, err := p.take(4)
	if err != nil {
		return 0, err
	}
	return int(binary.LittleEndian.Uint32(b)), nil
}

// refer handles opcodes for globals, objects and persistent identifiers.
func (p *pickle) refer(op byte) (bool, error) {
	switch op {
	case 'c': // GLOBAL
		module, err := p.line()
		if err != nil {
			return true, err
		}
		name, err := p.line()
		if err != nil {
			return true, err
		}
		return true, p.push(global{module, name})
	case '\x93': // STACK_GLOBAL
		x, err := p.popN(2)
		if err != nil {
			return true, err
		}
		module, ok1 := x[0].(string)
		name, ok2 := x[1].(string)
		if !ok1 || !ok2 {
			return true, invalid("the pickle names a global by a value that is not a string")
		}
		return true, p.push(global{module, name})
	case 'Q', 'P': // BINPERSID, PERSID
		id, err := p.id(op)
		if err != nil {
			return true, err
		}
		x, err := p.persistent(id)
		if err != nil {
			return true, err
		}
		return true, p.push(x)
	case 'R', '\x81': // REDUCE, NEWOBJ
		x, err := p.popN(2)
		if err != nil {
			return true, err
		}
		f, ok1 := x[0].(global)
		args, ok2 := x[1].(*pickleList)
		if !ok1 || !ok2 {
			return true, unsupported("the pickle calls a value that is not a known function")
		}
		y, err := p.call(f, args.items)
		if err != nil {
			return true, err
		}
		return true, p.push(y)
	case 'b': // BUILD: the state of an object; supported objects have no tensors in it
		if _, err := p.pop(); err != nil {
			return true, err
		}
		x, err := p.top()
		if _, ok := x.(*pickleDict); !ok && err == nil {
			return true, unsupported("the pickle sets the state of an object")
		}
		return true, err
	case 'i', 'o', '\x92', '\x82', '\x83', '\x84', '\x97', '\x98': // INST, OBJ, NEWOBJ_EX, EXT*, buffers
		return true, unsupported("the pickle makes instances of classes")
	}
	return false, nil
}

func (p *pickle) id(op byte) (any, error) {
	if op == 'P' {
		return p.line()
	}
	return p.pop()
}

func (p *pickle) push(x any) error {
	p.stack = append(p.stack, x)
	return nil
}

func (p *pickle) dup() error {
	x, err := p.top()
	if err != nil {
		return err
	}
	return p.push(x)
}

func (p *pickle) top() (any, error) {
	if len(p.stack) == 0 {
		return nil, invalid("the pickle pops from an empty stack")
	}
	return p.stack[len(p.stack)-1], nil
}

func (p *pickle) pop() (any, error) {
	x, err := p.top()
	if err == nil {
		p.stack = p.stack[:len(p.stack)-1]
	}
	return x, err
}

// popN pops n values and returns them in order.
func (p *pickle) popN(n int) ([]any, error) {
	if len(p.stack) < n {
		return nil, invalid("the pickle pops from an empty stack")
	}
	at := len(p.stack) - n
	out := append([]any(nil), p.stack[at:]...)
	p.stack = p.stack[:at]
	return out, nil
}

// marked pops the values above the last mark, and the mark.
func (p *pickle) marked() ([]any, error) {
	for i := len(p.stack) - 1; i >= 0; i-- {
		if _, ok := p.stack[i].(mark); ok {
			out := append([]any(nil), p.stack[i+1:]...)
			p.stack = p.stack[:i]
			return out, nil
		}
	}
	return nil, invalid("the pickle has no mark")
}

func (p *pickle) take(n int) ([]byte, error) {
	if n < 0 || n > len(p.rest) {
		return nil, invalid("the pickle is truncated")
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b, nil
}

func (p *pickle) skip(n int) error {
	_, err := p.take(n)
	return err
}

// counted reads a number of bytes, which is stored before them with the given width.
func (p *pickle) counted(width int) ([]byte, error) {
	b, err := p.take(width)
	if err != nil {
		return nil, err
	}
	var n uint64
	for i := width - 1; i >= 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	if n > uint64(len(p.rest)) {
		return nil, invalid("the pickle is truncated")
	}
	return p.take(int(n))
}

func (p *pickle) line() (string, error) {
	i := bytes.IndexByte(p.rest, '\n')
	if i < 0 {
		return "", invalid("the pickle is truncated")
	}
	b, _ := p.take(i + 1)
	return string(bytes.TrimSuffix(b[:i], []byte("\r"))), nil
}
