package csvio

import (
	"math"
	"slices"
	"time"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A column holds the fields read for one column. Fields are parsed as the current type right away. If the type is not
// given and a field does not have it, all fields are parsed again as the next type, from their texts.
type column struct {
	name  string
	typ   Type // type that fields are parsed as, or "" if none is present yet
	given bool // the type is given and does not change
	n     int

	ints   []int64 // or seconds
	floats []float64
	bools  []bool
	days   []int32
	nanos  []int32 // fractions of seconds
	times  times
	whole  bool // all floats are written as integers
	there  []bool
	some   bool // at least one is missing

	ends  []int64 // ends of texts, for strings, types of package element, and types that may change
	bytes []byte
	state []state

	bad []badField
}

// A badField is a field that does not have the given type.
type badField struct {
	row  int
	text string
}

// state is the state of a field.
type state uint8

const (
	present state = iota
	quoted        // present and quoted: blanks count
	missing       // missing in any column
	blank         // missing in columns of types other than string
)

// times describes the timestamps of a column: the number of digits of their fractions, and the range
// of their seconds.
type times struct {
	digits    int
	low, high int64
}

// classified returns a field as it is parsed for types other than string, and its state.
func (o *Options) classified(b []byte, inQuotes bool) ([]byte, state) {
	switch {
	case inQuotes && len(b) == 0:
		return b, blank
	case inQuotes:
		return b, quoted
	case o.isMissing(b):
		return b, missing
	case len(b) > 0 && b[0] > ' ' && b[len(b)-1] > ' ':
		return b, present
	}
	if b = trimmed(b); len(b) == 0 || o.isMissing(b) {
		return b, blank
	}
	return b, present
}

func (o *Options) isMissing(b []byte) bool {
	if o.Missing == nil {
		return len(b) == 0
	}
	for _, m := range o.Missing {
		if string(b) == m {
			return true
		}
	}
	return false
}

// trimmed removes blanks around a text.
func trimmed(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// take adds the fields of a block: field k of each record.
func (c *column) take(b *block, k, cols int, o *Options) {
	fields := taken{b: b, k: k, cols: cols, o: o, n: len(b.lines)}
	for fields.row < fields.n {
		switch c.typ {
		case Int64:
			filled(c, &fields, &c.ints, parseInt)
		case Float64:
			filled(c, &fields, &c.floats, c.float)
		case Bool:
			filled(c, &fields, &c.bools, parseBool)
		case Date:
			filled(c, &fields, &c.days, parseDate)
		case Timestamp, TimestampTZ:
			filled(c, &fields, &c.ints, c.moment)
		default:
			c.texts(&fields)
		}
	}
}

// reserve makes room for more fields, times as many as there are.
func (c *column) reserve(times float64) {
	n := int(float64(c.n) * times)
	if c.typ == String || !c.given || c.state != nil {
		c.bytes = slices.Grow(c.bytes, int(float64(len(c.bytes))*times))
		c.ends, c.state = slices.Grow(c.ends, n+1), slices.Grow(c.state, n)
	}
	switch c.typ {
	case Int64, Timestamp, TimestampTZ:
		c.ints = slices.Grow(c.ints, n)
	case Float64:
		c.floats = slices.Grow(c.floats, n)
	case Bool:
		c.bools = slices.Grow(c.bools, n)
	case Date:
		c.days = slices.Grow(c.days, n)
	}
	if c.there != nil {
		c.there = slices.Grow(c.there, n)
	}
}

// taken iterates over fields that are added to a column.
type taken struct {
	b      *block
	k      int
	cols   int
	o      *Options
	row, n int
}

// next returns the next field: its whole text, the part that is parsed, and its state.
func (t *taken) next() (text, part []byte, s state) {
	k := t.row*t.cols + t.k
	t.row++
	if f := t.b.spans[k]; f.end&(1<<kindBits-1) == 0 && t.o.Missing == nil { // the common case
		if b := t.b.text[f.at : f.end>>kindBits]; len(b) > 0 && b[0] > ' ' && b[len(b)-1] > ' ' {
			return b, b, present
		}
	}
	b, inQuotes := t.b.field(k)
	part, s = t.o.classified(b, inQuotes)
	return b, part, s
}

// keep adds the text of a field that may be parsed again.
func (c *column) keep(b []byte, s state) {
	if s != missing {
		c.bytes = append(c.bytes, b...)
	}
	c.ends = append(c.ends, int64(len(c.bytes)))
	c.state = append(c.state, s)
}

// filled adds fields as numbers, with 0 for missing ones, until one does not have the type and the type may
// change.
func filled[T int32 | int64 | float64 | bool](c *column, t *taken, to *[]T, parse func(string) (T, bool)) {
	out := *to
	for t.row < t.n {
		text, part, s := t.next()
		if !c.given {
			c.keep(text, s)
		}
		var v T
		ok := s == present || s == quoted
		if ok {
			if v, ok = parse(asString(part)); !ok {
				if !c.given {
					c.widen()
					return
				}
				c.bad = append(c.bad, badField{c.n, clip(string(part))})
				v = *new(T)
			}
		}
		out = append(out, v)
		c.there = append(c.there, ok)
		c.some = c.some || !ok
		c.n++
	}
	*to = out
}

// asString returns bytes as a string that is valid as long as the bytes do not change.
func asString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// texts adds fields as texts. If no type is known yet, it stops at the first field that is present.
func (c *column) texts(t *taken) {
	for t.row < t.n {
		text, _, s := t.next()
		c.keep(text, s)
		c.n++
		if c.typ == "" && (s == present || s == quoted) {
			c.widen()
			return
		}
	}
}

// has reports whether field i takes part in type inference.
func (c *column) has(i int) bool { return c.state[i] == present || c.state[i] == quoted }

// text returns a field as it is parsed for types other than string.
func (c *column) text(i int) string {
	from := int64(0)
	if i > 0 {
		from = c.ends[i-1]
	}
	b := c.bytes[from:c.ends[i]]
	if c.state[i] == present {
		b = trimmed(b)
	}
	return asString(b)
}

// widen changes the type to the next one that fits all fields so far, and parses them again.
func (c *column) widen() {
	for _, t := range order[slices.Index(order, c.typ)+1:] {
		c.reset()
		ok := false
		switch t {
		case Int64:
			ok = again(c, &c.ints, parseInt)
		case Float64:
			ok = again(c, &c.floats, c.float)
		case Bool:
			ok = again(c, &c.bools, parseBool)
		case Date:
			ok = again(c, &c.days, parseDate)
		case Timestamp, TimestampTZ:
			c.typ = t
			ok = again(c, &c.ints, c.moment)
		}
		if ok {
			c.typ = t
			return
		}
	}
	c.reset()
	c.typ, c.given, c.n = String, true, len(c.state)
}

// reset removes the values.
func (c *column) reset() {
	c.ints, c.floats, c.bools, c.days, c.nanos, c.there = c.ints[:0], c.floats[:0], c.bools[:0], c.days[:0], c.nanos[:0], c.there[:0]
	c.some, c.whole, c.times = false, true, times{low: math.MaxInt64, high: math.MinInt64}
}

// again parses the texts of all fields, and reports whether they all have the type.
func again[T int32 | int64 | float64 | bool](c *column, to *[]T, parse func(string) (T, bool)) bool {
	for i := range c.state {
		var v T
		ok := c.has(i)
		c.n = i
		if ok {
			if v, ok = parse(c.text(i)); !ok {
				return false
			}
		}
		*to = append(*to, v)
		c.there = append(c.there, ok)
		c.some = c.some || !ok
	}
	c.n = len(c.state)
	return true
}

// float is parseFloat, and records whether all floats are whole.
func (c *column) float(s string) (float64, bool) {
	v, whole, ok := parseFloat(s)
	c.whole = c.whole && whole
	return v, ok
}

// moment returns the second of a timestamp, and records its fraction.
func (c *column) moment(s string) (int64, bool) {
	m, ok := parseMoment(s, c.typ == TimestampTZ)
	if !ok {
		return 0, false
	}
	c.times = times{max(c.times.digits, m.digits), min(c.times.low, m.sec), max(c.times.high, m.sec)}
	if m.nano != 0 {
		for len(c.nanos) < c.n {
			c.nanos = append(c.nanos, 0)
		}
		c.nanos = append(c.nanos, m.nano)
	}
	return m.sec, true
}

// unit returns the coarsest unit that represents all timestamps exactly, or false if none does in
// 64 bits.
func (t times) unit() (time.Duration, bool) {
	unit := []time.Duration{time.Second, time.Millisecond, time.Millisecond, time.Millisecond, time.Microsecond, time.Microsecond, time.Microsecond, time.Nanosecond, time.Nanosecond, time.Nanosecond}[t.digits]
	per := int64(time.Second / unit)
	return unit, t.low > t.high || t.low > math.MinInt64/per && t.high < math.MaxInt64/per-1
}

// found returns the inferred type of the column.
func (c *column) found() Type {
	switch {
	case c.typ == "":
		return String
	case c.given:
	case c.typ == Float64 && c.whole: // one is beyond int64, and is not to be rounded
		return String
	case c.typ == Timestamp || c.typ == TimestampTZ:
		if _, ok := c.times.unit(); !ok {
			return String
		}
	}
	return c.typ
}

// value returns the column as a tensor of a type, and its description.
func (c *column) value(t Type) (tensor.Tensor, Column, error) {
	out := Column{Name: c.name, Type: t}
	var v tensor.Tensor
	switch t {
	case Int64:
		v = tensor.Of(c.ints)
	case Float64:
		v = tensor.Of(c.floats)
	case Bool:
		v = tensor.Of(c.bools)
	case Date:
		v = element.Tensor{Data: tensor.Of(c.days), Type: element.DateType}
	case Timestamp, TimestampTZ:
		unit, ok := c.times.unit()
		if !ok {
			return nil, out, fail(tenon.ErrInvalid, "csvio.Read", c.name, "the times do not fit into 64 bits as %v since 1970", unit)
		}
		out.Unit = unit
		zone := ""
		if t == TimestampTZ {
			zone = "UTC"
		}
		v = element.Tensor{Type: element.TimestampOf(unit, zone), Data: tensor.Of(c.ticks(unit))}
	case String:
		v = c.strings()
	default:
		var err error
		if v, out.Unit, err = c.elements(t); err != nil {
			return nil, out, err
		}
	}
	if c.some {
		m, err := masked.New(v, tensor.Of(c.there))
		return m, out, err
	}
	return v, out, nil
}

// ticks returns timestamps in a unit.
func (c *column) ticks(unit time.Duration) []int64 {
	if unit == time.Second {
		return c.ints
	}
	out := make([]int64, len(c.ints))
	for i, x := range c.ints {
		out[i] = x * int64(time.Second/unit)
	}
	for i, n := range c.nanos {
		out[i] += int64(n) / int64(unit)
	}
	return out
}

// strings returns the texts of the fields; missing fields are empty.
func (c *column) strings() tensor.Tensor {
	c.there, c.some = make([]bool, len(c.state)), false
	for i, s := range c.state {
		c.there[i] = s != missing
		c.some = c.some || s == missing
	}
	return tensor.WrapStrings(slices.Insert(c.ends, 0, 0), c.bytes, shape.Of(len(c.state)))
}

// elements returns the elements of a type of package element.
func (c *column) elements(t Type) (tensor.Tensor, time.Duration, error) {
	e, err := element.ParseType(string(t))
	if err != nil {
		return nil, 0, fail(tenon.ErrInvalid, "csvio.Options.Types", c.name, "unknown type %q", t)
	}
	c.there, c.some = make([]bool, len(c.state)), false
	b := element.NewBuilder(e, len(c.state))
	for i := range c.state {
		c.there[i] = c.has(i)
		if c.there[i] && !e.Fits(c.text(i)) {
			c.bad = append(c.bad, badField{i, clip(c.text(i))})
			c.there[i] = false
		}
		if !c.there[i] {
			c.some = true
			b.Skip()
		} else if err := b.Append(c.text(i)); err != nil {
			return nil, 0, fail(tenon.ErrInvalid, "csvio.Read", c.name, "%v", err)
		}
	}
	return b.Build(shape.Of(len(c.state))), e.Unit, nil
}
