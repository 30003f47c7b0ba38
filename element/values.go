package element

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// An Item is an element as a Go value if the standard library has no type for it: a date, a time of
// day, a decimal or a UUID. It prints as its text. Equal Items are equal in Go.
type Item struct {
	Type Type
	text string
}

// ItemOf returns the element that a text represents, as read by [Parse].
func ItemOf(text string, t Type) (Item, error) {
	if err := t.check(); err != nil {
		return Item{}, err
	}
	b := NewBuilder(t, 1)
	if err := b.Append(text); err != nil {
		return Item{}, &tenon.Error{Kind: tenon.ErrInvalid, Op: "element.ItemOf", Msg: err.Error(), Line: source.Line()}
	}
	texts, err := Texts(b.Build(shape.Shape{}))
	if err != nil {
		return Item{}, err
	}
	return Item{t, tensor.Item[string](texts)}, nil
}

// String returns the text.
func (x Item) String() string { return x.text }

// MarshalText returns the text.
func (x Item) MarshalText() ([]byte, error) { return []byte(x.text), nil }

// values returns the elements as Go values in row-major order: time.Time, time.Duration, string for
// binary data, and Item.
func (t Tensor) values() ([]any, bool) {
	k, ok := op.Known(t.Data)
	if !ok {
		return nil, false
	}
	n := k.Shape().Size()
	out := make([]any, n)
	zone := time.UTC
	if t.Type.Kind == Timestamp && t.Type.Zone != "" {
		if l, err := location(t.Type.Zone); err == nil { // otherwise the zone is unknown on this machine
			zone = l
		}
	}
	t.scan(func(i int, high, low int64, data string) {
		switch t.Type.Kind {
		case Timestamp:
			out[i] = moment(high, t.Type.Unit).In(zone)
		case Duration:
			if high <= math.MaxInt64/int64(t.Type.Unit) && high >= math.MinInt64/int64(t.Type.Unit) {
				out[i] = time.Duration(high) * t.Type.Unit
				return
			}
			out[i] = Item{t.Type, string(t.Type.appendText(nil, high, low, data))}
		case Fixed:
			out[i] = data
		default:
			out[i] = Item{t.Type, string(t.Type.appendText(nil, high, low, data))}
		}
	})
	return out, true
}

// scan calls f with the stored form of each element. It returns false if the elements are not
// known.
func (t Tensor) scan(f func(i int, high, low int64, data string)) bool {
	k, ok := op.Known(t.Data)
	if !ok {
		return false
	}
	switch d := k.(type) {
	case *tensor.Strings:
		for i := range d.Len() {
			f(i, 0, 0, d.At(i))
		}
	case *tensor.Dense:
		if t.Type.Kind == Date {
			for i, x := range tensor.Data[int32](d) {
				f(i, int64(x), 0, "")
			}
			return true
		}
		var low []int64
		if t.Low != nil {
			l, ok := op.Known(t.Low)
			if !ok {
				return false
			}
			low = tensor.Data[int64](l)
		}
		for i, x := range tensor.Data[int64](d) {
			if low != nil {
				f(i, x, low[i], "")
			} else {
				f(i, x, 0, "")
			}
		}
	}
	return true
}

// Values returns the elements of a Tensor as Go values in row-major order: time.Time in its zone, time.Duration, string for binary
// data, and [Item] for dates, times of day, decimals and UUIDs.
func (t Tensor) Values() ([]any, error) {
	out, ok := t.values()
	if !ok {
		return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: "element.Tensor.Values", Msg: fmt.Sprintf("%v is symbolic: its elements do not exist while a function is traced", t.Type), Line: source.Line()}
	}
	return out, nil
}

// Plain returns the elements as nested lists of what [Tensor.Values] returns; see tensor.Plain.
func (t Tensor) Plain() (any, error) {
	list, err := t.Values()
	if err != nil {
		return nil, err
	}
	dims := t.Shape().Dims()
	if len(dims) == 0 {
		return list[0], nil
	}
	for axis := len(dims) - 1; axis > 0; axis-- {
		rows := make([]any, shape.Of(dims[:axis]...).Size())
		for i := range rows {
			rows[i] = list[i*dims[axis] : (i+1)*dims[axis] : (i+1)*dims[axis]]
		}
		list = rows
	}
	return list, nil
}

// FromPlain makes elements from nested lists of Go values or texts; see tensor.FromPlain. A number
// is the nanoseconds of a duration, and for other types what is stored.
func (s Spec) FromPlain(x any) (v tenon.Value, err error) {
	typ := s.Type()
	texts, err := tensor.FromPlain(typ.texts(x), tensor.NewSpec(dtype.String, s.Shape()))
	if err != nil {
		return nil, err
	}
	return Parse(texts, typ)
}

// texts converts Go values to their texts.
func (t Type) texts(x any) any {
	switch x := x.(type) {
	case []any:
		out := make([]any, len(x))
		for i, y := range x {
			out[i] = t.texts(y)
		}
		return out
	case time.Time:
		if t.Zone == "" {
			return x.Format("2006-01-02T15:04:05.999999999")
		}
		return x.Format(time.RFC3339Nano)
	case fmt.Stringer: // durations, Items and the numbers of JSON
		if n, ok := x.(json.Number); ok && t.Kind == Duration {
			return string(n) + "ns"
		}
		return x.String()
	case string:
		if t.Kind == Timestamp && t.Zone == "" {
			return strings.TrimSuffix(x, "Z") // as JSON encodes a time.Time
		}
		if t.Kind == Fixed && len(x) == t.Width {
			return base64.StdEncoding.EncodeToString([]byte(x))
		}
		return x
	case int, int32, int64, float64:
		if t.Kind == Duration {
			return fmt.Sprint(x, "ns")
		}
		return fmt.Sprint(x)
	}
	return x
}

// Texts returns the elements as their texts, with the same shape. [Parse] is the inverse.
func Texts(x tensor.Tensor) (tensor.Tensor, error) {
	return each("element.Texts", x, func(t Tensor) tensor.Tensor {
		ends, text := []int64{0}, []byte(nil)
		if !t.scan(func(_ int, high, low int64, data string) {
			text = t.Type.appendText(text, high, low, data)
			ends = append(ends, int64(len(text)))
		}) {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: "element.Texts", Msg: fmt.Sprintf("%v is symbolic: its elements do not exist while a function is traced", t.Type), Line: source.Line()})
		}
		return tensor.WrapStrings(ends, text, t.Shape())
	})
}

// String returns the texts of the elements, followed by the type.
func (t Tensor) String() string {
	x, err := Texts(t)
	if err != nil {
		return "symbolic " + tenon.String(t.Spec())
	}
	return fmt.Sprint(x) + " " + t.Type.String()
}

// FromTimes returns Go times as timestamps in a zone. Digits beyond the unit are cut off.
func FromTimes(list []time.Time, unit time.Duration, zone string) (x tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	t := TimestampOf(unit, zone)
	if err := t.check(); err != nil {
		return nil, err
	}
	out := make([]int64, len(list))
	for i, at := range list {
		if zone == "" { // the wall clock time
			at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
		}
		if out[i], err = t.store(at.Truncate(unit), at.String()); err != nil {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "element.FromTimes", Where: fmt.Sprintf("[%d]", i), Msg: err.Error(), Line: source.Line()}
		}
	}
	return New(out, t)
}

// FromDurations returns Go durations in a unit. Digits beyond the unit are cut off.
func FromDurations(list []time.Duration, unit time.Duration) (tensor.Tensor, error) {
	t := DurationOf(unit)
	if err := t.check(); err != nil {
		return nil, err
	}
	out := make([]int64, len(list))
	for i, d := range list {
		out[i] = int64(d / unit)
	}
	return New(out, t)
}

// FromInts returns integers, which may have as many digits as the decimal type, divided by
// 10^scale.
func FromInts(list []*big.Int, t Type) (x tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	if err := t.check(); err != nil {
		return nil, err
	}
	if t.Kind != Decimal {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "element.FromInts", Msg: fmt.Sprintf("%v is not a decimal", t), Line: source.Line()}
	}
	return made(list, t, []int{len(list)}), nil
}
