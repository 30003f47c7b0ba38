package element

import (
	"fmt"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A Part is a part of a date or time, and a step to truncate to.
type Part uint8

// The parts.
const (
	Year       Part = iota
	Quarter         // 1 to 4
	Month           // 1 to 12
	Week            // of ISO 8601, 1 to 53
	Day             // of the month, 1 to 31
	DayOfYear       // 1 to 366
	Weekday         // 0 for Sunday, as time.Weekday
	Hour            // 0 to 23
	Minute          // 0 to 59
	Second          // 0 to 59
	Nanosecond      // within the second
)

var partNames = [...]string{"year", "quarter", "month", "week", "day", "day of year", "weekday", "hour", "minute", "second", "nanosecond"}

// String returns the name: "year".
func (p Part) String() string {
	if int(p) < len(partNames) {
		return partNames[p]
	}
	return fmt.Sprintf("part(%d)", uint8(p))
}

// PartOf returns a part of each timestamp, date or time of day, in its zone.
//
//	x: timestamp[n…] → int64[n…]
func PartOf(x tensor.Tensor, p Part) (tensor.Tensor, error) {
	return each("element.PartOf", x, func(t Tensor) tensor.Tensor {
		if t.Type.Kind == Date && p >= Hour || t.Type.Kind == Time && p < Hour || int(p) >= len(partNames) || !t.isMoment() && t.Type.Kind != Time {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "element.PartOf", Msg: fmt.Sprintf("%v has no %v", t.Type, p), Line: source.Line()})
		}
		local, _ := t.local()
		if p >= Hour {
			return clockPart(local, t.Type.Unit, p)
		}
		return datePart(days(local, t.Type), p)
	})
}

func (t Tensor) isMoment() bool { return t.Type.Kind == Timestamp || t.Type.Kind == Date }

// days returns local times as days since 1970.
func days(local tensor.Tensor, t Type) tensor.Tensor {
	if t.Kind == Date {
		return local
	}
	return ops.FloorDiv(local, int64(day/t.Unit))
}

func clockPart(local tensor.Tensor, unit time.Duration, p Part) tensor.Tensor {
	of := func(step, within time.Duration) tensor.Tensor {
		return ops.FloorDiv(ops.Mod(local, int64(within/unit)), int64(max(step/unit, 1)))
	}
	switch p {
	case Hour:
		return of(time.Hour, day)
	case Minute:
		return of(time.Minute, time.Hour)
	case Second:
		return of(time.Second, time.Minute)
	}
	return ops.Mul(ops.Mod(local, int64(time.Second/unit)), int64(unit))
}

// A date is a day in the Gregorian calendar.
type date struct{ year, month, day tensor.Tensor }

// dateOf returns the dates of days since 1970. Years are counted from March, so that the leap day
// is the last day of its year; 400 years have 146097 days.
func dateOf(days tensor.Tensor) date {
	z := ops.Add(days, int64(719468)) // since the first of March of year 0
	era := ops.FloorDiv(z, int64(146097))
	of := ops.Sub(z, ops.Mul(era, int64(146097)))
	leaps := ops.Sub(ops.FloorDiv(of, int64(36524)), ops.Add(ops.FloorDiv(of, int64(1460)), ops.FloorDiv(of, int64(146096))))
	year := ops.FloorDiv(ops.Add(of, leaps), int64(365))
	inYear := ops.Sub(of, ops.Sub(ops.Add(ops.Mul(year, int64(365)), ops.FloorDiv(year, int64(4))), ops.FloorDiv(year, int64(100))))
	month := ops.FloorDiv(ops.Add(ops.Mul(inYear, int64(5)), int64(2)), int64(153)) // from March, 0 to 11
	first := ops.FloorDiv(ops.Add(ops.Mul(month, int64(153)), int64(2)), int64(5))
	early := ops.Cast(ops.GreaterEqual(month, int64(10)), dtype.Int64) // 1 in January and February
	return date{
		year:  ops.Add(ops.Add(year, ops.Mul(era, int64(400))), early),
		month: ops.Sub(ops.Add(month, int64(3)), ops.Mul(early, int64(12))),
		day:   ops.Add(ops.Sub(inYear, first), int64(1)),
	}
}

// firstOf returns the days since 1970 of the first day of months.
func firstOf(year, month tensor.Tensor) tensor.Tensor {
	early := ops.Cast(ops.LessEqual(month, int64(2)), dtype.Int64)
	y := ops.Sub(year, early)
	m := ops.Add(ops.Sub(month, int64(3)), ops.Mul(early, int64(12)))
	era := ops.FloorDiv(y, int64(400))
	of := ops.Sub(y, ops.Mul(era, int64(400)))
	inYear := ops.FloorDiv(ops.Add(ops.Mul(m, int64(153)), int64(2)), int64(5))
	all := ops.Add(ops.Sub(ops.Add(ops.Mul(of, int64(365)), ops.FloorDiv(of, int64(4))), ops.FloorDiv(of, int64(100))), inYear)
	return ops.Sub(ops.Add(ops.Mul(era, int64(146097)), all), int64(719468))
}

func datePart(days tensor.Tensor, p Part) tensor.Tensor {
	switch p {
	case Weekday:
		return ops.Mod(ops.Add(days, int64(4)), int64(7)) // 1970 began on a Thursday
	case Week: // the week of its Thursday
		thursday := ops.Sub(ops.Add(days, int64(3)), ops.Mod(ops.Add(days, int64(3)), int64(7)))
		return ops.Add(ops.FloorDiv(ops.Sub(datePart(thursday, DayOfYear), int64(1)), int64(7)), int64(1))
	}
	d := dateOf(days)
	switch p {
	case Year:
		return d.year
	case Quarter:
		return ops.FloorDiv(ops.Add(d.month, int64(2)), int64(3))
	case Month:
		return d.month
	case DayOfYear:
		return ops.Add(ops.Sub(days, firstOf(d.year, ops.OnesLike(d.month))), int64(1))
	}
	return d.day
}

// Truncate returns the beginning of the year, quarter, month, week (from Monday), day, hour, minute
// or second that contains each timestamp or date, in its zone.
func Truncate(x tensor.Tensor, p Part) (tensor.Tensor, error) {
	return each("element.Truncate", x, func(t Tensor) tensor.Tensor {
		step := map[Part]time.Duration{Day: day, Hour: time.Hour, Minute: time.Minute, Second: time.Second}[p]
		if step != 0 && (t.isMoment() || t.Type.Kind == Time) {
			return t.truncated(step)
		}
		if p > Week || !t.isMoment() {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "element.Truncate", Msg: fmt.Sprintf("%v cannot be truncated to a %v", t.Type, p), Line: source.Line()})
		}
		local, back := t.local()
		n := days(local, t.Type)
		d := dateOf(n)
		switch p {
		case Year:
			n = firstOf(d.year, ops.OnesLike(d.month))
		case Quarter:
			n = firstOf(d.year, ops.Add(ops.Mul(ops.FloorDiv(ops.Sub(d.month, int64(1)), int64(3)), int64(3)), int64(1)))
		case Month:
			n = ops.Add(ops.Sub(n, d.day), int64(1))
		case Week:
			n = ops.Sub(n, ops.Mod(ops.Add(n, int64(3)), int64(7)))
		}
		if t.Type.Kind == Timestamp {
			n = ops.Mul(n, int64(day/t.Type.Unit))
		}
		return back(n)
	})
}

// TruncateTo rounds timestamps, times of day and durations down to multiples of a step. For
// timestamps, the steps are counted from midnight on January 1, 1970 in their zone.
func TruncateTo(x tensor.Tensor, step time.Duration) (tensor.Tensor, error) {
	return each("element.TruncateTo", x, func(t Tensor) tensor.Tensor {
		if step <= 0 || !t.Type.isTime() {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "element.TruncateTo", Msg: fmt.Sprintf("%v is not truncated to %v", t.Type, step), Line: source.Line()})
		}
		return t.truncated(step)
	})
}

// truncated rounds down in the zone.
func (t Tensor) truncated(step time.Duration) Tensor {
	unit := t.Type.unit()
	if step <= unit {
		return t
	}
	if step%unit != 0 {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: "element.TruncateTo", Msg: fmt.Sprintf("%v is not a multiple of the unit of %v", step, t.Type), Line: source.Line()})
	}
	local, back := t.local()
	n := int64(step / unit)
	return back(ops.Mul(ops.FloorDiv(local, n), n))
}
