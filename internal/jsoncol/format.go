package jsoncol

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// A formatter writes rows into a buffer. It makes room before it writes: for a row of a struct all
// at once, except for strings and lists, after each of which it checks again.
type formatter struct {
	o   *WriteOptions
	buf []byte // writable up to its length
	n   int    // number of bytes written
}

// room makes sure that size bytes and the slack fit.
func (f *formatter) room(size int) {
	if need := f.n + size + slack; need > len(f.buf) {
		b := make([]byte, max(need, 2*len(f.buf)))
		copy(b, f.buf[:f.n])
		f.buf = b
	}
}

// rows writes the rows [lo, hi) of the root.
func (f *formatter) rows(s *source, lo, hi int) error {
	end := byte('\n')
	if f.o.Array {
		end = ','
	}
	for row := lo; row < hi; row++ {
		if err := f.value(s, row); err != nil {
			return fmt.Errorf("writing row %d: %w", row, err)
		}
		if f.o.Array && row == s.len-1 {
			break
		}
		f.room(1)
		f.buf[f.n] = end
		f.n++
	}
	return nil
}

// value writes a row of s.
func (f *formatter) value(s *source, row int) error {
	f.room(s.size)
	if s.valid != nil && !s.valid[row] {
		f.null()
		return nil
	}
	switch s.op {
	case writeBool:
		f.n = putBool(f.buf, f.n, s.bools[row])
	case writeInt:
		f.n = putInt(f.buf, f.n, s.ints[row])
	case writeFloat:
		return f.float(s.floats[row])
	case writeSmall:
		b, err := s.small(f.buf[:f.n], row)
		if err != nil {
			return f.notFinite(err)
		}
		f.n = len(b)
	case writeString:
		return f.str(s, row)
	case writeList:
		return f.list(s, row)
	case writeMap:
		return f.entries(s, row)
	case writeStruct:
		return f.object(s, row)
	case writeUnion:
		if tag := s.tags[row]; tag >= 0 {
			return f.value(s.fields[tag].source, int(s.index[row]))
		}
		f.null()
	default:
		f.null()
	}
	return nil
}

// object writes a row of a struct. Numbers and booleans are written here, with the end of the text
// in a register; it is stored in f.n before anything else is called.
func (f *formatter) object(s *source, row int) error {
	f.room(s.size)
	buf, start, n := f.buf, f.n, f.n
	omit := f.o.OmitMissing
	for i := range s.fields {
		g := &s.fields[i]
		k := g.source
		there := k.valid == nil || k.valid[row]
		if omit && (!there || k.missing(row)) {
			continue
		}
		putWord(buf, n, g.k0)
		putWord(buf, n+8, g.k1)
		if g.size > 16 {
			copy(buf[n:], g.key)
		}
		n += g.size
		if !there {
			putWord(buf, n, litNull)
			n += 4
			continue
		}
		switch k.op {
		case writeInt:
			n = putInt(buf, n, k.ints[row])
			continue
		case writeBool:
			n = putBool(buf, n, k.bools[row])
			continue
		case writeFloat:
			if end := putFloat(buf, n, k.floats[row]); end > 0 {
				n = end
				continue
			}
		}
		f.n = n
		var err error
		switch k.op {
		case writeString:
			err = f.str(k, row)
		case writeList:
			err = f.list(k, row)
		case writeStruct:
			err = f.object(k, row)
		default:
			err = f.value(k, row)
		}
		if err != nil {
			return in(k.name, err)
		}
		f.room(s.size)
		buf, n = f.buf, f.n
	}
	if n == start {
		n++
	}
	buf[start] = '{' // in place of the first comma
	buf[n] = '}'
	f.n = n + 1
	return nil
}

// missing reports whether row has no value even though it is marked valid.
func (s *source) missing(row int) bool {
	return s.op == writeNull || s.op == writeUnion && s.tags[row] < 0
}

// entries writes a row of a map.
func (f *formatter) entries(s *source, row int) error {
	keys, values := s.elem.fields[0].source, s.elem.fields[1].source
	f.room(2)
	f.buf[f.n] = '{'
	f.n++
	lo, hi := int(s.offsets[row]), int(s.offsets[row+1])
	for i := lo; i < hi; i++ {
		if err := f.str(keys, i); err != nil {
			return err
		}
		f.room(1)
		f.buf[f.n] = ':'
		f.n++
		if err := f.value(values, i); err != nil {
			return in(quoteName(string(keys.text[keys.offsets[i]:keys.offsets[i+1]])), err)
		}
		f.room(1)
		f.buf[f.n] = ','
		f.n++
	}
	if lo < hi {
		f.n-- // drop the last comma
	}
	f.room(1)
	f.buf[f.n] = '}'
	f.n++
	return nil
}

// list writes a row of a list.
func (f *formatter) list(s *source, row int) error {
	lo, hi := int(s.offsets[row]), int(s.offsets[row+1])
	e := s.elem
	f.room(2)
	f.buf[f.n] = '['
	f.n++
	if lo == hi {
		f.buf[f.n] = ']'
		f.n++
		return nil
	}
	for i := lo; i < hi; i++ {
		f.room(e.size)
		var err error
		switch {
		case e.valid != nil:
			err = f.value(e, i)
		case e.op == writeInt:
			f.n = putInt(f.buf, f.n, e.ints[i])
		case e.op == writeFloat:
			err = f.float(e.floats[i])
		case e.op == writeStruct:
			err = f.object(e, i)
		case e.op == writeString:
			err = f.str(e, i)
		default:
			err = f.value(e, i)
		}
		if err != nil {
			return in(fmt.Sprintf("[%d]", i-lo), err)
		}
		f.room(1)
		f.buf[f.n] = ','
		f.n++
	}
	f.buf[f.n-1] = ']' // in place of the last comma
	return nil
}

func (f *formatter) null() {
	f.n += copy(f.buf[f.n:], "null")
}

// putBool writes v at buf[n:] and returns the end.
func putBool(buf []byte, n int, v bool) int {
	if v {
		putWord(buf, n, litTrue)
		return n + 4
	}
	putWord(buf, n, litFalse)
	return n + 5
}

// float writes v by the general method.
func (f *formatter) float(v float64) error {
	if n := putFloat(f.buf, f.n, v); n > 0 {
		f.n = n
		return nil
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return f.notFinite(notFinite(v))
	}
	f.n = putFloat64(f.buf, f.n, v)
	return nil
}

// A notFinite is the error for a number that JSON cannot represent.
type notFinite float64

// Error also says how to write the number.
func (v notFinite) Error() string {
	return fmt.Sprintf("%v is not a JSON number (NonFinite: null or literal would write it)", float64(v))
}

// notFinite writes a number that is not finite according to the policy.
func (f *formatter) notFinite(err error) error {
	v, ok := err.(notFinite)
	if !ok || f.o.NonFinite == NonFiniteError {
		return err
	}
	text := "null"
	if f.o.NonFinite == NonFiniteLiteral {
		switch {
		case math.IsNaN(float64(v)):
			text = "NaN"
		case v > 0:
			text = "Infinity"
		default:
			text = "-Infinity"
		}
	}
	f.n += copy(f.buf[f.n:], text)
	return nil
}

// A pathError is an error with its path within a row.
type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string { return e.path + ": " + e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }

// in returns err with step prepended to its path.
func in(step string, err error) error {
	p, ok := err.(*pathError)
	if !ok {
		return &pathError{step, err}
	}
	if p.path[0] != '[' {
		step += "."
	}
	p.path = step + p.path
	return p
}

// str writes a row of a string column. Plain ASCII is copied word by word while it is checked.
func (f *formatter) str(s *source, row int) error {
	lo, hi := int(s.offsets[row]), int(s.offsets[row+1])
	f.room(hi - lo + 2)
	buf, n := f.buf, f.n
	buf[n] = '"'
	n++
	for i := lo; ; i += 8 {
		if i >= hi {
			n += hi - i // excess bytes were copied
			buf[n] = '"'
			f.n = n + 1
			return nil
		}
		w := wordAt(s.text, i)
		putWord(buf, n, w)
		n += 8
		if m := stops(w); m != 0 && i+trailing(m) < hi {
			f.n += 1 + i - lo
			return f.escaped(s.text[i:hi])
		}
	}
}

// escaped writes the rest of a string, and the closing quote.
func (f *formatter) escaped(b []byte) error {
	f.room(6*len(b) + 1)
	buf, n := f.buf, f.n
	for i := 0; ; i++ {
		// Copy a run of characters that need no escape.
		start := i
		var all uint64
		for i+8 <= len(b) {
			w := wordAt(b, i)
			putWord(buf, n+i-start, w)
			if m := breaks(w); m != 0 {
				k := trailing(m)
				all |= w & (1<<(uint(8*k)&63) - 1)
				i += k
				break
			}
			all |= w
			i += 8
		}
		for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
			buf[n+i-start] = b[i]
			all |= uint64(b[i])
			i++
		}
		if all&highs == 0 || utf8.Valid(b[start:i]) {
			n += i - start
		} else if f.o.Unicode == UnicodeReplace {
			n = len(appendValid(buf[:n], b[start:i]))
		} else {
			return fmt.Errorf("a string is not UTF-8: %.40q (Unicode: replace would write it)", b[start:i])
		}
		if i == len(b) {
			buf[n] = '"'
			f.n = n + 1
			return nil
		}
		n = putEscape(buf, n, b[i])
	}
}

// putEscape writes the escape sequence for c, which needs one, and returns the end.
func putEscape(buf []byte, n int, c byte) int {
	const hex = "0123456789abcdef"
	buf[n], buf[n+1] = '\\', c
	switch c {
	case '"', '\\':
	case '\b':
		buf[n+1] = 'b'
	case '\f':
		buf[n+1] = 'f'
	case '\n':
		buf[n+1] = 'n'
	case '\r':
		buf[n+1] = 'r'
	case '\t':
		buf[n+1] = 't'
	default:
		return n + copy(buf[n:], []byte{'\\', 'u', '0', '0', hex[c>>4], hex[c&15]})
	}
	return n + 2
}

// appendKey returns `,"name":`, with escapes in the name where necessary.
func appendKey(name string) ([]byte, error) {
	f := formatter{o: &WriteOptions{}}
	f.room(len(name) + 4)
	f.n = copy(f.buf, `,"`)
	err := f.escaped([]byte(name))
	f.room(1)
	f.buf[f.n] = ':'
	return f.buf[:f.n+1], err
}
