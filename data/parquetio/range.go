package parquetio

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/tensor"
)

// A condition is a Range with its bounds converted to those of its column.
type condition struct {
	n         *node
	leaf      *schemaElement
	low, high bound
}

// A bound is a number or a text to compare values with: booleans are 0 and 1, and times are nanoseconds, for dates
// and timestamps since 1970. The zero value means no bound.
type bound struct {
	number *big.Rat
	text   *string
}

// compare returns the order of two bounds, or false if one of them is no bound.
func (b bound) compare(c bound) (int, bool) {
	switch {
	case b.number != nil && c.number != nil:
		return b.number.Cmp(c.number), true
	case b.text != nil && c.text != nil:
		return strings.Compare(*b.text, *c.text), true
	}
	return 0, false
}

// condition returns the condition of a Range for the columns of a file.
func (t *tree) condition(all []*node, w Range) *condition {
	const where = "ReadOptions.Where"
	c := &condition{}
	t.chosen(all, []string{w.Column})[0].leaves(func(n *node) {
		if c.n != nil {
			tenon.Throw(fail(tenon.ErrInvalid, t.fn, where, "column %s is a record: name one of its fields", w.Column))
		}
		c.n = n
	})
	c.leaf = t.set[c.n.leaf]
	for _, b := range []struct {
		v  any
		to *bound
	}{{w.Min, &c.low}, {w.Max, &c.high}} {
		if b.v == nil {
			continue
		}
		x, ok := boundOf(b.v, c.n.typ)
		if !ok {
			e := fail(tenon.ErrDType, t.fn, where, "column %s of type %v has no values to compare with %v (%T)", w.Column, c.n.typ, b.v, b.v)
			e.Hint = "compare a number with a number, a date or timestamp with a time.Time, a time of day with a time.Duration, or any of them with a string in its format"
			tenon.Throw(e)
		}
		*b.to = x
	}
	return c
}

// boundOf converts a Go value to a bound for values of an Arrow type.
func boundOf(v any, typ arrow.DataType) (bound, bool) {
	text, isText := v.(string)
	switch t := typ.(type) {
	case *arrow.TimestampType:
		return moment(v, t.Unit.Multiplier(), element.TimestampOf(time.Nanosecond, t.TimeZone))
	case *arrow.Date32Type:
		return moment(v, 24*time.Hour, element.DateType)
	case *arrow.Time32Type:
		return moment(v, t.Unit.Multiplier(), element.TimeOf(time.Nanosecond))
	case *arrow.Time64Type:
		return moment(v, t.Unit.Multiplier(), element.TimeOf(time.Nanosecond))
	case arrow.BinaryDataType:
		return bound{text: &text}, isText
	case *arrow.FixedSizeBinaryType:
		if isText && len(text) != t.ByteWidth {
			kind := element.FixedOf(t.ByteWidth)
			if x, err := element.Parse([]string{text}, element.UUIDType); err == nil && t.ByteWidth == 16 {
				text = x.(element.Tensor).Data.(*tensor.Strings).At(0)
			} else if x, err := element.Parse([]string{text}, kind); err == nil {
				text = x.(element.Tensor).Data.(*tensor.Strings).At(0)
			} else {
				return bound{}, false
			}
		}
		return bound{text: &text}, isText
	case *arrow.BooleanType:
		b, ok := v.(bool)
		n := int64(0)
		if b {
			n = 1
		}
		return bound{number: big.NewRat(n, 1)}, ok
	case arrow.DecimalType:
		return number(fmt.Sprint(v))
	case *arrow.Float16Type:
		return bound{}, isNumber(v) // their bounds are not read
	}
	if arrow.IsInteger(typ.ID()) || arrow.IsFloating(typ.ID()) {
		if isNumber(v) {
			return number(fmt.Sprint(v))
		}
	}
	return bound{}, false
}

func isNumber(v any) bool {
	switch v.(type) {
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return true
	}
	return false
}

// number parses a number.
func number(text string) (bound, bool) {
	const longest = 400 // no column contains longer numbers
	if len(text) > longest || strings.ContainsAny(text, "/_xXpP") {
		return bound{}, false
	}
	if k := strings.IndexAny(text, "eE"); k >= 0 && len(text)-k > len("e+308") {
		return bound{}, false
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok { // infinity is no bound
		return bound{}, strings.HasSuffix(text, "Inf")
	}
	return bound{number: n}, true
}

// moment converts a time.Time, a text, or a number in a unit, to nanoseconds.
func moment(v any, unit time.Duration, t element.Type) (bound, bool) {
	in := func(n int64, unit time.Duration) (bound, bool) {
		return bound{number: new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(unit))))}, true
	}
	switch v := v.(type) {
	case time.Time:
		if t.Zone == "" { // wall clock time
			v = time.Date(v.Year(), v.Month(), v.Day(), v.Hour(), v.Minute(), v.Second(), v.Nanosecond(), time.UTC)
		}
		b, _ := in(v.Unix(), time.Second)
		b.number.Add(b.number, big.NewRat(int64(v.Nanosecond()), 1))
		return b, t.Kind == element.Timestamp || t.Kind == element.Date
	case time.Duration:
		b, _ := in(int64(v), 1)
		return b, t.Kind == element.Time
	case string:
		for _, unit := range []time.Duration{time.Nanosecond, time.Microsecond, time.Second} { // the first unit whose range suffices
			if t.Kind != element.Date {
				t.Unit = unit
			} else {
				unit = 24 * time.Hour
			}
			if x, err := element.Parse([]string{v}, t); err == nil {
				n := int64(0)
				switch d := x.(element.Tensor).Data.(*tensor.Dense); t.Kind {
				case element.Date:
					n = int64(tensor.Data[int32](d)[0])
				default:
					n = tensor.Data[int64](d)[0]
				}
				return in(n, unit)
			}
		}
		return bound{}, false
	}
	if !isNumber(v) {
		return bound{}, false
	}
	b, ok := number(fmt.Sprint(v)) // the stored number
	if ok && b.number != nil {
		b.number.Mul(b.number, big.NewRat(int64(unit), 1))
	}
	return b, ok
}

// stored returns the bound for a value in a file, in plain encoding. It is no bound if the value cannot be
// used.
func (c *condition) stored(b []byte) bound {
	var raw *big.Int
	switch typ := c.leaf.typ; {
	case typ == typeBoolean && len(b) == 1:
		raw = big.NewInt(int64(b[0] & 1))
	case typ == typeInt32 && len(b) == 4:
		if raw = big.NewInt(int64(int32(binary.LittleEndian.Uint32(b)))); arrow.IsUnsignedInteger(c.n.typ.ID()) {
			raw.SetUint64(uint64(binary.LittleEndian.Uint32(b)))
		}
	case typ == typeInt64 && len(b) == 8:
		if raw = big.NewInt(int64(binary.LittleEndian.Uint64(b))); arrow.IsUnsignedInteger(c.n.typ.ID()) {
			raw.SetUint64(binary.LittleEndian.Uint64(b))
		}
	case typ == typeFloat && len(b) == 4:
		return bound{number: new(big.Rat).SetFloat64(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))}
	case typ == typeDouble && len(b) == 8:
		return bound{number: new(big.Rat).SetFloat64(math.Float64frombits(binary.LittleEndian.Uint64(b)))}
	case typ.text():
		switch c.n.typ.(type) {
		case arrow.DecimalType:
			if len(b) == 0 || len(b) > 32 {
				return bound{}
			}
			if raw = new(big.Int).SetBytes(b); b[0]&0x80 != 0 {
				raw.Sub(raw, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
		case arrow.BinaryDataType, *arrow.FixedSizeBinaryType:
			text := string(b)
			return bound{text: &text}
		}
	}
	if raw == nil {
		return bound{}
	}
	x := bound{number: new(big.Rat).SetInt(raw)}
	switch t := c.n.typ.(type) {
	case arrow.DecimalType:
		ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.GetScale())), nil)
		x.number.SetFrac(raw, ten)
	case arrow.TemporalWithUnit:
		x.number.Mul(x.number, big.NewRat(int64(t.TimeUnit().Multiplier()), 1))
	case *arrow.Date32Type:
		x.number.Mul(x.number, big.NewRat(int64(24*time.Hour), 1))
	}
	return x
}

// mayMeet reports whether some value between least and most, as stored in a file, may be in the
// range.
func (c *condition) mayMeet(least, most []byte) bool {
	if k, ok := c.stored(most).compare(c.low); ok && k < 0 {
		return false
	}
	if k, ok := c.stored(least).compare(c.high); ok && k > 0 {
		return false
	}
	return true
}

// ordered reports whether the bounds in a file have the order in which values are compared here.
func (c *condition) ordered() bool { return c.leaf.order() != unordered }

// inGroup reports whether a row of a row group may meet the condition, according to the statistics of the column.
// Without statistics it may.
func (c *condition) inGroup(m *footer, group int) bool {
	chunk := &m.groups[group].chunks[c.n.leaf]
	if chunk.nulls == chunk.entries && chunk.entries > 0 {
		return false
	}
	least, most, ok := chunk.extremes(m, c.leaf)
	return !ok || c.mayMeet(least, most)
}
