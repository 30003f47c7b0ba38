package element

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Parse converts texts to elements of a type. It reads the text of a Tensor, and also accepts a
// space for the T in a timestamp, times without seconds, durations such as 1h30m or as a number of
// units, decimals with fewer digits after the point or with an exponent, and hexadecimal digits
// without hyphens. If a text does not represent an element exactly, the error names it.
func Parse(texts any, t Type) (x tensor.Tensor, err error) {
	const fn = "element.Parse"
	defer tenon.Catch(&err)
	if err := t.check(); err != nil {
		return nil, err
	}
	v, err := tensor.Convert(texts)
	if err != nil {
		return nil, err
	}
	return outside(v, func(x tensor.Tensor) tensor.Tensor {
		k, ok := op.Known(x)
		s, isText := k.(*tensor.Strings)
		if !ok || !isText {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: fn, Msg: fmt.Sprintf("%s is not a string tensor with known elements", tenon.String(x.Spec())), Line: source.Line()})
		}
		b := NewBuilder(t, s.Len())
		for i := range s.Len() {
			if err := b.Append(s.At(i)); err != nil {
				tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: fmt.Sprintf("[%d]", i), Msg: err.Error(), Line: source.Line()})
			}
		}
		return b.Build(s.Shape())
	}), nil
}

// Literal converts a constant in a condition to an element that can be compared with elements of a
// type. A text is read as by [Parse]; a number becomes a decimal with as many digits as it has.
func Literal(x any, t Type) (tensor.Tensor, error) {
	text, isText := x.(string)
	switch n := x.(type) {
	case int64:
		text = strconv.FormatInt(n, 10)
	case float64:
		text = strconv.FormatFloat(n, 'f', -1, 64)
	}
	if !isText && text != "" && t.Kind == Decimal {
		_, after, _ := strings.Cut(text, ".")
		digits := strings.Count(text, "") - 1
		t = DecimalOf(min(max(digits, len(after)), maxDigits), len(after))
		isText = true
	}
	if !isText {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "element.Literal", Msg: fmt.Sprintf("%v cannot be compared with %v", t, x), Hint: "write an element as text", Line: source.Line()}
	}
	return Parse(text, t)
}

// A Builder collects elements of a type from texts.
type Builder struct {
	t     Type
	zone  *time.Location
	days  []int32
	high  []int64
	low   []int64
	ends  []int64
	bytes []byte
}

// NewBuilder returns a Builder with room for n elements. The type must be valid.
func NewBuilder(t Type, n int) *Builder {
	b := &Builder{t: t, zone: time.UTC, ends: []int64{0}}
	if t.Kind == Timestamp && t.Zone != "" {
		if l, err := location(t.Zone); err == nil {
			b.zone = l
		}
	}
	switch {
	case t.Kind == Date:
		b.days = make([]int32, 0, n)
	case t.Kind != Fixed && t.Kind != UUID:
		b.high = make([]int64, 0, n)
	}
	return b
}

// Append adds the element that a text represents.
func (b *Builder) Append(text string) error {
	high, low, data, err := b.t.parse(text, b.zone)
	if err != nil {
		return err
	}
	b.add(high, low, data)
	return nil
}

// AppendValue adds an element from a Go value: a text, a time.Time, a time.Duration, an [Item], or
// a number. A number is the nanoseconds of a duration, and for other types is read as its text. The
// zero time.Time means no time, like NumPy's NaT, if it is out of range for the unit.
func (b *Builder) AppendValue(x any) error {
	if at, ok := x.(time.Time); ok && at.IsZero() && b.t.Kind == Timestamp && b.t.Unit == time.Nanosecond {
		b.add(math.MinInt64, 0, "")
		return nil
	}
	text, ok := b.t.texts(x).(string)
	if !ok {
		return fmt.Errorf("%v is not a valid %v", x, b.t)
	}
	return b.Append(text)
}

// Skip adds a placeholder for a missing element.
func (b *Builder) Skip() {
	b.add(0, 0, strings.Repeat("\x00", b.t.Width))
}

func (b *Builder) add(high, low int64, data string) {
	switch {
	case b.t.Kind == Date:
		b.days = append(b.days, int32(high))
	case b.t.Kind == Fixed || b.t.Kind == UUID:
		b.bytes = append(b.bytes, data...)
		b.ends = append(b.ends, int64(len(b.bytes)))
	default:
		b.high = append(b.high, high)
		if b.t.IsWide() {
			b.low = append(b.low, low)
		}
	}
}

// Build returns the elements with the given shape, which must have the same size.
func (b *Builder) Build(s shape.Shape) tensor.Tensor {
	out := Tensor{Type: b.t}
	switch {
	case b.t.Kind == Date:
		out.Data = shaped(b.days, s.Dims())
	case b.t.Kind == Fixed || b.t.Kind == UUID:
		out.Data = tensor.WrapStrings(b.ends, b.bytes, s)
	default:
		out.Data = shaped(b.high, s.Dims())
		if b.t.IsWide() {
			out.Low = shaped(b.low, s.Dims())
		}
	}
	return out
}

// shaped returns numbers with the given sizes. Without dimensions, it returns the single number as
// a scalar.
func shaped[T int32 | int64](data []T, dims []int) tensor.Tensor {
	if len(dims) == 0 {
		return tensor.Scalar(data[0])
	}
	return tensor.Of(data, dims...)
}

// Fits reports whether a text represents an element of the type.
func (t Type) Fits(text string) bool {
	zone := time.UTC
	if t.Zone != "" {
		if l, err := location(t.Zone); err == nil {
			zone = l
		}
	}
	_, _, _, err := t.parse(text, zone)
	return err == nil
}

// parse returns the stored form of the element that a text represents.
func (t Type) parse(text string, zone *time.Location) (high, low int64, data string, err error) {
	switch t.Kind {
	case Timestamp:
		high, err = t.parseMoment(text, zone)
	case Date:
		high, err = parseDate(text)
	case Time:
		high, err = t.parseClock(text)
	case Duration:
		high, err = t.parseDuration(text)
	case Decimal:
		high, low, err = t.parseDecimal(text)
	case UUID:
		var b []byte
		if b, err = hex.DecodeString(strings.ReplaceAll(text, "-", "")); err != nil || len(b) != 16 {
			err = t.no(text)
		}
		data = string(b)
	default:
		var b []byte
		if b, err = base64.StdEncoding.DecodeString(text); err != nil || len(b) != t.Width {
			err = t.no(text)
		}
		data = string(b)
	}
	return high, low, data, err
}

func (t Type) no(text string) error {
	if len(text) > 60 {
		text = text[:60] + "…"
	}
	return fmt.Errorf("%q is not a valid %v", text, t)
}

var errRange = errors.New("is beyond 64 bits in its unit")

func (t Type) beyond(text string) error { return fmt.Errorf("%v: %q %w", t, text, errRange) }

// parseDate returns the days since 1970.
func parseDate(text string) (int64, error) {
	at, err := time.Parse("2006-01-02", text)
	if err != nil {
		return 0, DateType.no(text)
	}
	s, _ := floorDiv(at.Unix(), 86400)
	return s, nil
}

// store returns the stored form of a time, which must be exact.
func (t Type) store(at time.Time, text string) (int64, error) {
	if at.Nanosecond()%int(t.Unit) != 0 {
		return 0, fmt.Errorf("%q has digits that %v does not hold", text, t)
	}
	per := int64(time.Second / t.Unit)
	s := at.Unix()
	n := s*per + int64(at.Nanosecond())/int64(t.Unit)
	whole := n / per
	if n%per < 0 {
		whole--
	}
	if whole != s { // n wrapped around
		return 0, t.beyond(text)
	}
	return n, nil
}

func (t Type) parseMoment(text string, zone *time.Location) (int64, error) {
	x := text
	if len(x) > 10 && x[10] == ' ' {
		x = x[:10] + "T" + x[11:]
	}
	for _, layout := range [...]string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02"} {
		offset := strings.HasSuffix(layout, "Z07:00")
		if offset && t.Zone == "" {
			continue
		}
		if at, err := time.ParseInLocation(layout, x, zone); err == nil {
			return t.store(at, text)
		}
	}
	return 0, t.no(text)
}

func (t Type) parseClock(text string) (int64, error) {
	for _, layout := range [...]string{"15:04:05", "15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			n := int64(at.Hour()*3600+at.Minute()*60+at.Second())*int64(time.Second) + int64(at.Nanosecond())
			if n%int64(t.Unit) != 0 {
				return 0, fmt.Errorf("%q has digits that %v does not hold", text, t)
			}
			return n / int64(t.Unit), nil
		}
	}
	return 0, t.no(text)
}

func (t Type) parseDuration(text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		if d%t.Unit != 0 {
			return 0, fmt.Errorf("%q has digits that %v does not hold", text, t)
		}
		return int64(d / t.Unit), nil
	}
	x, negative := strings.CutPrefix(text, "-")
	x, ok := strings.CutPrefix(x, "P")
	if !ok || x == "" || strings.HasSuffix(x, "T") {
		return 0, t.no(text)
	}
	sum, inTime := new(big.Rat), false
	for x != "" {
		if x[0] == 'T' && !inTime {
			inTime, x = true, x[1:]
			continue
		}
		k := strings.IndexAny(x, "WDHMS")
		if k <= 0 || k > 40 || strings.Trim(x[:k], "0123456789.") != "" {
			return 0, t.no(text)
		}
		seconds, known := map[string]int64{"W": 604800, "D": 86400, "TH": 3600, "TM": 60, "TS": 1}[map[bool]string{true: "T"}[inTime]+x[k:k+1]]
		n, ok := new(big.Rat).SetString(x[:k])
		if !known || !ok {
			return 0, t.no(text)
		}
		sum.Add(sum, n.Mul(n, new(big.Rat).SetInt64(seconds)))
		x = x[k+1:]
	}
	sum.Mul(sum, new(big.Rat).SetInt64(int64(time.Second/t.Unit)))
	if negative {
		sum.Neg(sum)
	}
	if !sum.IsInt() {
		return 0, fmt.Errorf("%q has digits that %v does not hold", text, t)
	}
	if !sum.Num().IsInt64() {
		return 0, t.beyond(text)
	}
	return sum.Num().Int64(), nil
}

func (t Type) parseDecimal(text string) (high, low int64, err error) {
	mantissa, exponent := text, 0
	if k := strings.IndexAny(text, "eE"); k >= 0 {
		if exponent, err = strconv.Atoi(text[k+1:]); err != nil || exponent < -1000 || exponent > 1000 {
			return 0, 0, t.no(text)
		}
		mantissa = text[:k]
	}
	sign := strings.HasPrefix(mantissa, "-")
	if sign || strings.HasPrefix(mantissa, "+") {
		mantissa = mantissa[1:]
	}
	before, after, _ := strings.Cut(mantissa, ".")
	digits := before + after
	if digits == "" || len(digits) > 1000 || strings.Trim(digits, "0123456789") != "" {
		return 0, 0, t.no(text)
	}
	shift := exponent - len(after) + t.Scale // number of zeros to append
	for shift < 0 && strings.HasSuffix(digits, "0") {
		digits, shift = digits[:len(digits)-1], shift+1
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		digits, shift = "0", 0
	}
	if shift < 0 || len(digits)+shift > max(t.Precision, 1) {
		return 0, 0, t.no(text)
	}
	digits += strings.Repeat("0", shift)
	if sign {
		digits = "-" + digits
	}
	if !t.IsWide() {
		high, err = strconv.ParseInt(digits, 10, 64)
		return high, 0, err
	}
	n, _ := new(big.Int).SetString(digits, 10)
	high, low, _ = halves(n)
	return high, low, nil
}
