package serve

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/jsoncol"
)

// Numbers are converted to elements in two ways. Most numbers are short: their digits are an integer below 2^53, which
// one operation converts to a float, as in package jsoncol. Other numbers, and those that a column does not accept, are
// left to package strconv and its errors.

// numberEnd returns the end of the number that begins at text[i], or 0 if there is no number according to the
// grammar.
func numberEnd(text string, i int) int {
	if i < len(text) && text[i] == '-' {
		i++
	}
	first := i
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	if i == first || text[first] == '0' && i > first+1 {
		return 0
	}
	if i < len(text) && text[i] == '.' {
		first = i + 1
		for i++; i < len(text) && text[i]-'0' <= 9; {
			i++
		}
		if i == first {
			return 0
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		for first = i; i < len(text) && text[i]-'0' <= 9; {
			i++
		}
		if i == first {
			return 0
		}
	}
	return i
}

// numbers skips numbers, and the commas between them.
func (p *parser) numbers() {
	text := p.text
	for i := p.at; ; {
		end := numberEnd(text, i)
		if end == 0 {
			return
		}
		if p.at = end; end == len(text) || text[end] != ',' {
			return
		}
		for i = end + 1; i < len(text) && text[i] == ' '; {
			i++
		}
	}
}

// A decimal is a number: its digits as an integer, and a power of ten.
type decimal struct {
	digits   uint64
	exp      int
	negative bool
}

// decimalAt parses the number at text[i], which must follow the grammar, and returns its end, or 0 if it has many
// digits or is not a number.
func decimalAt(text string, i int) (d decimal, end int) {
	const most = 19 // digits that always fit 64 bits
	if d.negative = text[i] == '-'; d.negative {
		i++
	}
	first := i
	for i < len(text) && text[i]-'0' <= 9 {
		d.digits = 10*d.digits + uint64(text[i]-'0')
		i++
	}
	count := i - first
	if i < len(text) && text[i] == '.' {
		first = i + 1
		for i++; i < len(text) && text[i]-'0' <= 9; i++ {
			d.digits = 10*d.digits + uint64(text[i]-'0')
		}
		d.exp = first - i
		count += i - first
	}
	if count == 0 || count > most {
		return d, 0
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		i++
		sign := 1
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			if text[i] == '-' {
				sign = -1
			}
			i++
		}
		exp := 0
		for first = i; i < len(text) && text[i]-'0' <= 9 && i < first+3; i++ {
			exp = 10*exp + int(text[i]-'0')
		}
		if i == first || i < len(text) && text[i]-'0' <= 9 {
			return d, 0
		}
		d.exp += sign * exp
	}
	return d, i
}

// float64 returns the nearest float64, if one rounding finds it.
func (d decimal) float64() (f float64, ok bool) {
	f, ok = jsoncol.Scaled(d.digits, d.exp)
	if d.negative {
		f = -f
	}
	return f, ok
}

// float32 returns the nearest float32, if the nearest float64 determines it.
func (d decimal) float32() (f float32, ok bool) {
	x, ok := d.float64()
	if !ok {
		return 0, false
	}
	return jsoncol.Narrowed(x)
}

// int64 returns an integer of the given number of bits.
func (d decimal) int64(bits int) (n int64, ok bool) {
	most := uint64(1)<<(bits-1) - 1
	if d.negative {
		most++
	}
	if n = int64(d.digits); d.negative {
		n = -n
	}
	return n, d.exp == 0 && d.digits <= most
}

// decimal adds an element, if the column accepts it in this form.
func (e *elements) decimal(d decimal) bool {
	switch e.dt {
	case dtype.Float32:
		f, ok := d.float32()
		if !ok {
			return false
		}
		e.bytes = binary.LittleEndian.AppendUint32(e.bytes, math.Float32bits(f))
	case dtype.Float64:
		f, ok := d.float64()
		if !ok {
			return false
		}
		e.bytes = binary.LittleEndian.AppendUint64(e.bytes, math.Float64bits(f))
	case dtype.Int64:
		n, ok := d.int64(64)
		if !ok {
			return false
		}
		e.bytes = binary.LittleEndian.AppendUint64(e.bytes, uint64(n))
	case dtype.Int32:
		n, ok := d.int64(32)
		if !ok {
			return false
		}
		e.bytes = binary.LittleEndian.AppendUint32(e.bytes, uint32(n))
	default:
		return false
	}
	e.n++
	return true
}

// numbers adds entries to a column as long as they are numbers that it accepts in this form, and returns
// how many.
func (c *cursor) numbers(e *elements) int {
	if c.list.items != nil || c.list.pick != nil {
		return 0
	}
	from := c.at
	for text := c.p.text; c.at < c.list.n; {
		if c.p.space(); !c.p.digit() {
			break
		}
		d, end := decimalAt(text, c.p.at)
		if end == 0 || !e.decimal(d) {
			break
		}
		c.p.at = end
		c.next()
	}
	return c.at - from
}

func (e *elements) float(n number, where fmt.Stringer) error {
	const longest = 4096
	if len(n) > longest {
		return badInput("%s is %s, want a number", where, shown(n))
	}
	bits := 64
	if e.dt != dtype.Float64 {
		bits = 32
	}
	f, err := strconv.ParseFloat(string(n), bits)
	if err != nil {
		return badInput("%s: %s does not fit a %s", where, shown(n), datatype(e.dt))
	}
	switch e.dt {
	case dtype.Float64:
		e.bytes = binary.LittleEndian.AppendUint64(e.bytes, math.Float64bits(f))
	case dtype.Float32:
		e.bytes = binary.LittleEndian.AppendUint32(e.bytes, math.Float32bits(float32(f)))
	case dtype.Float16, dtype.BFloat16:
		f, err := strconv.ParseFloat(string(n), 64) // rounded once
		if err != nil {
			return badInput("%s: %s does not fit a %s", where, shown(n), datatype(e.dt))
		}
		h, back := uint16(dtype.F16From64(f)), float64(dtype.F16From64(f).Float32())
		if e.dt == dtype.BFloat16 {
			h, back = uint16(dtype.BF16From64(f)), float64(dtype.BF16From64(f).Float32())
		}
		if math.IsInf(back, 0) && !math.IsInf(f, 0) {
			return badInput("%s: %s does not fit a %s", where, shown(n), datatype(e.dt))
		}
		e.bytes = binary.LittleEndian.AppendUint16(e.bytes, h)
	}
	return nil
}

func (e *elements) integer(n number, where fmt.Stringer) error {
	bits := 8 * e.dt.Size()
	var u uint64
	if e.dt.IsUnsigned() {
		v, err := strconv.ParseUint(whole(n), 10, bits)
		if err != nil {
			return badInput("%s: %s is not an integer of type %s", where, shown(n), datatype(e.dt))
		}
		u = v
	} else {
		v, err := strconv.ParseInt(whole(n), 10, bits)
		if err != nil {
			return badInput("%s: %s is not an integer of type %s", where, shown(n), datatype(e.dt))
		}
		u = uint64(v)
	}
	for range e.dt.Size() {
		e.bytes = append(e.bytes, byte(u))
		u >>= 8
	}
	return nil
}

// whole returns a number such as 1.0 or 2e3 without point and exponent, if it is an integer and
// short.
func whole(n number) string {
	if !strings.ContainsAny(string(n), ".eE") || len(n) > 40 {
		return string(n)
	}
	f, _, err := big.ParseFloat(string(n), 10, 256, big.ToNearestEven)
	if err != nil || !f.IsInt() || f.MantExp(nil) > 128 {
		return string(n)
	}
	return f.Text('f', 0)
}
