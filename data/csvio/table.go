package csvio

import (
	"math"
	"slices"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// A column holds the texts of the fields of a column.
type column struct {
	name  string
	given Type // "" for none
	bytes []byte
	ends  []int64
	state []state
}

// state says what a field is.
type state uint8

const (
	present state = iota
	quoted        // present, and in quotes: blanks count
	missing       // in any column
	blank         // missing in columns of other types than string
)

func (c *column) add(f field, o *Options) {
	c.bytes = append(c.bytes, f.text...)
	c.ends = append(c.ends, int64(len(c.bytes)))
	s := present
	text := string(f.text)
	switch {
	case f.quoted && text == "":
		s = blank
	case f.quoted:
		s = quoted
	case isMissing(text, o):
		s = missing
	case trim(text) == "" || isMissing(trim(text), o):
		s = blank
	}
	c.state = append(c.state, s)
}

func isMissing(text string, o *Options) bool {
	if o.Missing == nil {
		return text == ""
	}
	return slices.Contains(o.Missing, text)
}

func (c *column) start(i int) int64 {
	if i == 0 {
		return 0
	}
	return c.ends[i-1]
}

// text returns a field as it counts for types other than string.
func (c *column) text(i int) string {
	s := string(c.bytes[c.start(i):c.ends[i]])
	if c.state[i] == present {
		return trim(s)
	}
	return s
}

// has reports whether a field takes part in types.
func (c *column) has(i int) bool { return c.state[i] == present || c.state[i] == quoted }

// found returns the first type that all fields have.
func (c *column) found() Type {
	candidates := slices.Clone(order)
	some, whole := false, true
	for i := range c.state {
		if !c.has(i) {
			continue
		}
		some = true
		s := c.text(i)
		whole = whole && isWhole(s)
		candidates = slices.DeleteFunc(candidates, func(t Type) bool { return !t.fits(s) })
		if len(candidates) == 0 {
			return String
		}
	}
	if !some {
		return String
	}
	if candidates[0] == Float64 && whole { // one is beyond int64, and is not to be rounded
		return String
	}
	if t := candidates[0]; t == Timestamp || t == TimestampTZ {
		if _, ok := c.unit(t); !ok {
			return String
		}
	}
	return candidates[0]
}

// unit returns the coarsest unit that holds all times of a column exactly; false if none
// does in 64 bits.
func (c *column) unit(t Type) (time.Duration, bool) {
	most := 0
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range c.state {
		if m, ok := parseMoment(c.text(i), t == TimestampTZ); ok && c.has(i) {
			most = max(most, m.digits)
			low, high = min(low, m.sec), max(high, m.sec)
		}
	}
	unit := []time.Duration{time.Second, time.Millisecond, time.Millisecond, time.Millisecond, time.Microsecond, time.Microsecond, time.Microsecond, time.Nanosecond, time.Nanosecond, time.Nanosecond}[most]
	per := int64(time.Second / unit)
	return unit, low > high || low > math.MinInt64/per && high < math.MaxInt64/per-1
}

// value returns the column as a tensor of a type, and what it is. bad is called for fields
// that are not of the type, and returns whether to go on.
func (c *column) value(t Type, bad func(row int) error) (tensor.Tensor, Column, error) {
	out := Column{Name: c.name, Type: t}
	n := len(c.state)
	there := make([]bool, n)
	gone := false
	for i := range there {
		there[i] = c.has(i) || t == String && c.state[i] == blank
		if there[i] && t != String && !t.fits(c.text(i)) {
			if err := bad(i); err != nil {
				return nil, out, err
			}
			there[i] = false
		}
		gone = gone || !there[i]
	}
	var v tensor.Tensor
	switch t {
	case Int64:
		v = parsed(c, there, parseInt)
	case Float64:
		v = parsed(c, there, parseFloat)
	case Bool:
		v = parsed(c, there, parseBool)
	case Date:
		v = element.Tensor{Data: parsed(c, there, parseDate), Type: element.DateType}
	case Timestamp, TimestampTZ:
		unit, ok := c.unit(t)
		if !ok {
			return nil, out, fail(tenon.ErrInvalid, "csvio.Read", c.name, "the times, as %v since 1970, are beyond 64 bits", unit)
		}
		out.Unit = unit
		zone := ""
		if t == TimestampTZ {
			zone = "UTC"
		}
		v = element.Tensor{Type: element.TimestampOf(unit, zone), Data: parsed(c, there, func(s string) (int64, bool) {
			m, ok := parseMoment(s, t == TimestampTZ)
			return m.sec*int64(time.Second/unit) + int64(m.nano)/int64(unit), ok
		})}
	case String:
		v = c.strings(there)
	default:
		e, err := element.ParseType(string(t))
		if err != nil {
			return nil, out, fail(tenon.ErrInvalid, "csvio.Options.Types", c.name, "there is no type %q", t)
		}
		b := element.NewBuilder(e, n)
		for i, ok := range there {
			if !ok {
				b.Skip()
			} else if err := b.Append(c.text(i)); err != nil {
				return nil, out, fail(tenon.ErrInvalid, "csvio.Read", c.name, "%v", err)
			}
		}
		v, out.Unit = b.Build(shape.Of(n)), e.Unit
	}
	if gone {
		m, err := masked.New(v, tensor.Vector(there))
		return m, out, err
	}
	return v, out, nil
}

// parsed returns the fields that are there as numbers; others are 0.
func parsed[T int32 | int64 | float64 | bool](c *column, there []bool, parse func(string) (T, bool)) tensor.Tensor {
	out := make([]T, len(there))
	for i, ok := range there {
		if ok {
			out[i], _ = parse(c.text(i))
		}
	}
	return tensor.Of(out)
}

// strings returns the texts of the fields that are there; others are empty.
func (c *column) strings(there []bool) tensor.Tensor {
	ends, text := make([]int64, len(there)+1), make([]byte, 0, len(c.bytes))
	for i, ok := range there {
		if ok {
			text = append(text, c.bytes[c.start(i):c.ends[i]]...)
		}
		ends[i+1] = int64(len(text))
	}
	return tensor.WrapStrings(ends, text, shape.Of(len(there)))
}

// A table is what has been read and not been given out.
type table struct {
	cols  []*column
	lines []int64
}

// records returns the rows as records, with types that were given or found.
func (t *table) records(o *Options, name string, r *Report, keep map[string]Type) (*structured.Tensor, error) {
	n := len(t.lines)
	values := map[string]tensor.Tensor{}
	var first *Error
	var columns []Column
	for _, c := range t.cols {
		typ := c.given
		if k, ok := keep[c.name]; ok {
			typ = k
		} else if typ == "" {
			typ = c.found()
		}
		if keep != nil {
			keep[c.name] = typ
		}
		v, col, err := c.value(typ, func(row int) error {
			e := &Error{What: BadType, Source: name, Line: t.lines[row], Column: c.name, Detail: "the field " + clip(c.text(row)) + " is no " + string(typ)}
			if o.Lenient {
				r.Skipped = append(r.Skipped, e)
				return nil
			}
			if first == nil || e.Line < first.Line {
				first = e
			}
			return e
		})
		if err != nil && first == nil {
			return nil, err
		}
		columns = append(columns, col)
		values[c.name] = v
	}
	if first != nil {
		return nil, first
	}
	chosen := o.Columns
	if chosen == nil {
		for _, c := range t.cols {
			chosen = append(chosen, c.name)
		}
	}
	var fields []structured.Field
	r.Columns = nil
	for _, name := range chosen {
		v, ok := values[name]
		if !ok {
			return nil, fail(tenon.ErrNotFound, "csvio.Options.Columns", name, "there is no such column")
		}
		fields = append(fields, structured.Field{Name: name, Value: v})
		r.Columns = append(r.Columns, columns[slices.IndexFunc(columns, func(c Column) bool { return c.Name == name })])
	}
	r.Rows += int64(n)
	slices.SortStableFunc(r.Skipped, func(a, b *Error) int { return int(a.Line - b.Line) })
	return structured.FromFields(fields, shape.Of(n), structured.Options{NRows: n})
}

// clip returns a text for a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return `"` + s + `"`
}
