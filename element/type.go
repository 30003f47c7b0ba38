package element

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
)

// Kind is the kind of an element type.
type Kind uint8

// The kinds of element types.
const (
	None      Kind = iota
	Timestamp      // a moment, or a local date and time of day if there is no zone
	Date           // a day
	Time           // a time of day
	Duration       // an amount of time
	Decimal        // a number with a fixed number of digits after the point
	Fixed          // binary data of one size
	UUID           // 16 bytes
)

var kindNames = [...]string{"none", "timestamp", "date", "time", "duration", "decimal", "fixed", "uuid"}

// String returns the name, such as "timestamp".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// A Type says what elements mean. Types are comparable.
type Type struct {
	Kind Kind

	// Unit is the unit of timestamps, times and durations: time.Second,
	// time.Millisecond, time.Microsecond or time.Nanosecond.
	Unit time.Duration

	// Zone is the zone of timestamps: a name as for time.LoadLocation, or an offset such as +02:00.
	// Timestamps of all zones are stored in UTC. "" means local time in no particular zone.
	Zone string

	Precision int // of decimals: the largest number of digits, up to 38
	Scale     int // of decimals: the number of digits after the point
	Width     int // of fixed: the number of bytes
}

// TimestampOf returns the type of timestamps.
func TimestampOf(unit time.Duration, zone string) Type {
	return Type{Kind: Timestamp, Unit: unit, Zone: zone}
}

// DateType is the type of dates.
var DateType = Type{Kind: Date}

// TimeOf returns the type of times of day.
func TimeOf(unit time.Duration) Type { return Type{Kind: Time, Unit: unit} }

// DurationOf returns the type of durations.
func DurationOf(unit time.Duration) Type { return Type{Kind: Duration, Unit: unit} }

// DecimalOf returns the type of decimals.
func DecimalOf(precision, scale int) Type {
	return Type{Kind: Decimal, Precision: precision, Scale: scale}
}

// FixedOf returns the type of binary data of width bytes.
func FixedOf(width int) Type { return Type{Kind: Fixed, Width: width} }

// UUIDType is the type of UUIDs.
var UUIDType = Type{Kind: UUID, Width: 16}

var unitNames = map[time.Duration]string{time.Second: "s", time.Millisecond: "ms", time.Microsecond: "us", time.Nanosecond: "ns"}

// maxDigits is the largest precision. A decimal of up to narrowDigits digits fits in one int64.
const (
	maxDigits    = 38
	narrowDigits = 18
)

// String returns the type as [ParseType] reads it: "timestamp[us, UTC]", "date", "decimal(10, 2)".
func (t Type) String() string {
	name := t.Kind.String()
	switch t.Kind {
	case Timestamp:
		if t.Zone != "" {
			return name + "[" + unitNames[t.Unit] + ", " + t.Zone + "]"
		}
		return name + "[" + unitNames[t.Unit] + "]"
	case Time, Duration:
		return name + "[" + unitNames[t.Unit] + "]"
	case Decimal:
		return fmt.Sprintf("%s(%d, %d)", name, t.Precision, t.Scale)
	case Fixed:
		return fmt.Sprintf("%s(%d)", name, t.Width)
	}
	return name
}

// ParseType is the inverse of [Type.String].
func ParseType(text string) (Type, error) {
	bad := func() (Type, error) {
		return Type{}, &tenon.Error{Kind: tenon.ErrInvalid, Op: "element.ParseType", Line: source.Line(), Msg: fmt.Sprintf("there is no type %q", text),
			Hint: "there are timestamp[us], timestamp[us, UTC], date, time[ms], duration[ns], decimal(10, 2), fixed(8) and uuid"}
	}
	name, rest, _ := strings.Cut(strings.TrimRight(text, ")]"), "[")
	if k := strings.IndexByte(name, '('); k >= 0 {
		name, rest = name[:k], name[k+1:]
	}
	var args []string
	for _, a := range strings.Split(rest, ",") {
		if a = strings.TrimSpace(a); a != "" {
			args = append(args, a)
		}
	}
	number := func(i int) int {
		if i >= len(args) {
			return -1
		}
		n, err := strconv.Atoi(args[i])
		if err != nil {
			return -1
		}
		return n
	}
	var t Type
	switch name {
	case "timestamp", "time", "duration":
		t.Kind = map[string]Kind{"timestamp": Timestamp, "time": Time, "duration": Duration}[name]
		if len(args) == 0 {
			return bad()
		}
		for u, n := range unitNames {
			if n == args[0] {
				t.Unit = u
			}
		}
		if len(args) > 1 {
			t.Zone = args[1]
		}
	case "date":
		t = DateType
	case "uuid":
		t = UUIDType
	case "fixed":
		t = FixedOf(number(0))
	case "decimal":
		t = DecimalOf(number(0), max(number(1), 0))
		if len(args) > 1 {
			t.Scale, _ = strconv.Atoi(args[1])
		}
	}
	if t.check() != nil || t.String() != strings.Join(strings.Fields(strings.ReplaceAll(text, ",", ", ")), " ") {
		return bad()
	}
	return t, nil
}

// check returns an error if the type is invalid.
func (t Type) check() error {
	bad := func(format string, args ...any) error {
		return &tenon.Error{Kind: tenon.ErrInvalid, Op: "element", Where: t.Kind.String(), Msg: fmt.Sprintf(format, args...), Line: source.Line()}
	}
	switch t.Kind {
	case Timestamp, Time, Duration:
		if unitNames[t.Unit] == "" {
			return bad("there is no unit of %v: time.Second, time.Millisecond, time.Microsecond and time.Nanosecond are", t.Unit)
		}
		if t.Zone != "" {
			_, err := location(t.Zone)
			return err
		}
	case Decimal:
		if t.Precision < 1 || t.Precision > maxDigits || t.Scale < -maxDigits || t.Scale > t.Precision {
			return bad("decimals have 1 to %d digits, at most all of them after the point: not %d and %d", maxDigits, t.Precision, t.Scale)
		}
	case Fixed:
		if t.Width < 0 {
			return bad("elements cannot have %d bytes", t.Width)
		}
	case Date, UUID:
	default:
		return bad("there is no such kind")
	}
	return nil
}

// Storage returns the element type of the stored data.
func (t Type) Storage() dtype.DType {
	switch t.Kind {
	case Date:
		return dtype.Int32
	case Fixed, UUID:
		return dtype.String
	}
	return dtype.Int64
}

// IsWide reports whether elements are stored as two numbers.
func (t Type) IsWide() bool { return t.Kind == Decimal && t.Precision > narrowDigits }

// isTime reports whether elements are numbers of a time unit.
func (t Type) isTime() bool {
	return t.Kind == Timestamp || t.Kind == Time || t.Kind == Duration || t.Kind == Date
}

const day = 24 * time.Hour

// unit returns the unit of the stored numbers, also for dates.
func (t Type) unit() time.Duration {
	if t.Kind == Date {
		return day
	}
	return t.Unit
}
