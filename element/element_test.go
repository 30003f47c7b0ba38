package element_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

func parse(t element.Type, texts ...string) tensor.Tensor {
	return tenon.Must(element.Parse(texts, t))
}

// text returns the elements of a result as text, of a plain one the numbers.
func text(v tenon.Value) string {
	x, err := element.Texts(v.(tensor.Tensor))
	if err != nil {
		return flat(v)
	}
	kind, _ := element.TypeOf(v.(tensor.Tensor))
	return flat(x) + " " + kind.String()
}

// flat returns the elements in one line, without the type.
func flat(v tenon.Value) string {
	out := strings.Join(strings.Fields(strings.ReplaceAll(fmt.Sprint(v), `"`, "")), " ")
	out = strings.ReplaceAll(out, "[ ", "[")
	return strings.TrimSuffix(out, " "+tenon.String(v.Spec()))
}

var (
	seconds  = element.TimestampOf(time.Second, "")
	utc      = element.TimestampOf(time.Microsecond, "UTC")
	berlin   = element.TimestampOf(time.Second, "Europe/Berlin")
	millis   = element.DurationOf(time.Millisecond)
	price    = element.DecimalOf(10, 2)
	big      = element.DecimalOf(38, 2)
	clock    = element.TimeOf(time.Millisecond)
	allTypes = []element.Type{seconds, utc, berlin, millis, element.DateType, clock, price, big, element.FixedOf(3), element.UUIDType}
)

func samples() map[element.Type][]string {
	return map[element.Type][]string{
		seconds:            {"2024-02-29T10:11:12", "1969-12-31T23:59:59", "0001-01-01T00:00:00"},
		utc:                {"2024-02-29T10:11:12.000001Z", "1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00.000000Z"},
		berlin:             {"2024-07-01T12:00:00+02:00", "2024-01-01T12:00:00+01:00", "2024-10-27T02:30:00+01:00"},
		millis:             {"PT1H2M3.5S", "-PT0.001S", "PT0S"},
		element.DateType:   {"2024-02-29", "0001-01-01", "9999-12-31"},
		clock:              {"10:11:12.500", "00:00:00.000", "23:59:59.999"},
		price:              {"12.30", "-0.05", "0.00"},
		big:                {"123456789012345678901234567890.12", "-0.05", "-340282366920938463463374607431.76"},
		element.FixedOf(3): {"AAEC", "////", "YWJj"},
		element.UUIDType:   {"00000000-0000-4000-8000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000000"},
	}
}

// The first and the last nanosecond of 64 bits are read, those beyond are not.
func TestLimitsOfNanoseconds(t *testing.T) {
	typ := tenon.Must(element.ParseType("timestamp[ns]"))
	for text, ok := range map[string]bool{"1677-09-21T00:12:43.145224192": true, "2262-04-11T23:47:16.854775807": true, "1677-09-21T00:12:43.145224191": false, "2262-04-11T23:47:16.854775808": false, "9999-12-31T00:00:00": false, "0001-01-01T00:00:00": false} {
		x, err := element.Parse([]string{text}, typ)
		if (err == nil) != ok {
			t.Errorf("%s: %v, %v", text, x, err)
		} else if ok && tenon.Must(element.Texts(x)).(*tensor.Strings).Slice()[0] != text {
			t.Errorf("%s is read as %v", text, x)
		}
	}
}

// What is read of a text gives the same text, moves, sorts and is equal to itself, whatever the type.
func TestEveryType(t *testing.T) {
	for _, typ := range allTypes {
		texts := samples()[typ]
		x := parse(typ, texts...)
		if got, want := text(x), strings.Join(append([]string{"[" + texts[0], texts[1], texts[2] + "]"}, typ.String()), " "); got != want {
			t.Errorf("%v: got %s, want %s", typ, got, want)
		}
		if back, err := element.ParseType(typ.String()); err != nil || back != typ {
			t.Errorf("%v is read as %v, %v", typ, back, err)
		}
		if got := tenon.String(x.Spec()); got != typ.String()+"[3]" {
			t.Errorf("%v: the Spec is %s", typ, got)
		}
		moved := ops.Concat([]tensor.Tensor{ops.Reverse(x, 0), ops.Gather(x, []int{1}, 0)}, 0)
		if got, want := text(moved), fmt.Sprintf("[%s %s %s %s] %v", texts[2], texts[1], texts[0], texts[1], typ); got != want {
			t.Errorf("%v moved: got %s, want %s", typ, got, want)
		}
		sorted := ops.Sort(x, 0, ops.SortOptions{})
		order := ops.ArgSort(x, 0, ops.SortOptions{})
		if got, want := text(sorted), text(ops.Gather(x, order, 0)); got != want {
			t.Errorf("%v sorted: got %s, want %s", typ, got, want)
		}
		if got := text(ops.All(ops.LessEqual(ops.Index(sorted, key.To(2)), ops.Index(sorted, key.From(1))))); !strings.HasPrefix(got, "true") {
			t.Errorf("%v: %s is not in order", typ, text(sorted))
		}
		if got := text(ops.Equal(x, texts[1])); got != "[false true false]" {
			t.Errorf("%v equals %s: %s", typ, texts[1], got)
		}
		if typ.Storage() != dtype.String {
			if got, want := text(ops.Max(x)), text(ops.Index(sorted, 2)); got != want {
				t.Errorf("%v: the greatest is %s, want %s", typ, got, want)
			}
			rows := tenon.Must(ragged.FromRowSplits(x, []int64{0, 2, 2, 3}))
			if got, want := text(ops.Index(ops.Min(rows, 1), 2)), text(ops.Index(x, 2)); got != want {
				t.Errorf("%v: the least of the third row is %s, want %s", typ, got, want)
			}
			some := tenon.Must(masked.New(x, []bool{true, false, true}))
			if got, want := text(tenon.Must(tensor.Settled(ops.Max(some).(masked.Optional).Values())).(tensor.Tensor)), text(ops.Max(ops.Gather(x, []int{0, 2}, 0))); got != want {
				t.Errorf("%v: the greatest that is there is %s, want %s", typ, got, want)
			}
		}
		if typ == berlin || typ == big {
			spectest.Laws(t, spectest.Options{}, x)
		}
	}
}

func TestMeaning(t *testing.T) {
	at := parse(seconds, "2024-02-29T10:00:00", "2024-03-01T09:30:00")
	zoned := parse(utc, "2024-02-29T10:00:00Z", "2024-03-01T09:30:00Z")
	took := parse(millis, "PT1.5S", "-PT2S")
	day := parse(element.DateType, "2024-02-29", "2024-03-01")
	noon := parse(clock, "12:00", "13:30")
	cents := parse(price, "12.30", "0.05")
	tenths := parse(element.DecimalOf(4, 1), "0.1", "99.9")
	wide := parse(big, "123456789012345678901234567890.12", "-0.05")
	number := tensor.Vector([]int64{2, -3})
	for name, c := range map[string]struct {
		f    func() tensor.Tensor
		want string
	}{
		"a difference":          {func() tensor.Tensor { return ops.Sub(ops.Index(at, 1), ops.Index(at, 0)) }, "PT23H30M duration[s]"},
		"a duration later":      {func() tensor.Tensor { return ops.Add(at, took) }, "[2024-02-29T10:00:01.500 2024-03-01T09:29:58.000] timestamp[ms]"},
		"the other way round":   {func() tensor.Tensor { return ops.Add(took, zoned) }, "[2024-02-29T10:00:01.500000Z 2024-03-01T09:29:58.000000Z] timestamp[us, UTC]"},
		"a duration before":     {func() tensor.Tensor { return ops.Sub(at, took) }, "[2024-02-29T09:59:58.500 2024-03-01T09:30:02.000] timestamp[ms]"},
		"between dates":         {func() tensor.Tensor { return ops.Sub(ops.Index(day, 1), ops.Index(day, 0)) }, "PT24H duration[s]"},
		"since a date":          {func() tensor.Tensor { return ops.Sub(at, day) }, "[PT10H PT9H30M] duration[s]"},
		"between times of day":  {func() tensor.Tensor { return ops.Sub(ops.Index(noon, 1), ops.Index(noon, 0)) }, "PT1H30M duration[ms]"},
		"twice as long":         {func() tensor.Tensor { return ops.Mul(took, 2) }, "[PT3S -PT4S] duration[ms]"},
		"as long times numbers": {func() tensor.Tensor { return ops.Mul(number, took) }, "[PT3S PT6S] duration[ms]"},
		"half as long":          {func() tensor.Tensor { return ops.Div(took, 2) }, "[PT0.75S -PT1S] duration[ms]"},
		"one and a half":        {func() tensor.Tensor { return ops.Mul(took, 1.5) }, "[PT2.25S -PT3S] duration[ms]"},
		"how often":             {func() tensor.Tensor { return ops.Div(took, parse(element.DurationOf(time.Second), "PT2S", "PT2S")) }, "[0.75 -1. ]"},
		"how often as a whole": {func() tensor.Tensor {
			return ops.FloorDiv(took, parse(element.DurationOf(time.Second), "PT1S", "PT1S"))
		}, "[1 -2]"},
		"what remains":          {func() tensor.Tensor { return ops.Mod(took, parse(element.DurationOf(time.Second), "PT1S", "PT1S")) }, "[PT0.5S PT0S] duration[ms]"},
		"together":              {func() tensor.Tensor { return ops.Sum(took) }, "-PT0.5S duration[ms]"},
		"on average":            {func() tensor.Tensor { return ops.Mean(took) }, "-PT0.25S duration[ms]"},
		"on average of nothing": {func() tensor.Tensor { return ops.Mean(ops.Index(took, key.To(0))) }, "-PT2562047788015H12M55.808S"},
		"a third":               {func() tensor.Tensor { return ops.Div(took, -7) }, "[-PT0.214S PT0.286S] duration[ms]"},
		"for no time":           {func() tensor.Tensor { return ops.Div(took, []int64{0, 2}) }, "[-PT2562047788015H12M55.808S -PT1S]"},
		"a mean of decimals":    {func() tensor.Tensor { return ops.Mean(cents) }, "6.175000 decimal(38, 6)"},
		"a mean of wide ones":   {func() tensor.Tensor { return ops.Mean(parse(big, "1234567890123456789012345678.12", "-0.05", "0.00")) }, "411522630041152263004115226.023333 decimal(38, 6)"},
		"means of rows": {func() tensor.Tensor {
			return ops.Mean(tenon.Must(ragged.FromRowSplits(parse(price, "1.00", "2.00", "2.00", "-0.01"), []int64{0, 3, 4})), 1)
		}, "[1.666667 -0.010000] decimal(38, 6)"},
		"what is there": {func() tensor.Tensor {
			return ops.Mean(tenon.Must(masked.New(parse(price, "1.00", "2.00", "2.00", "-0.01"), []bool{true, false, true, true})))
		}, "0.996667 decimal(38, 6)"},
		"of a segment":           {func() tensor.Tensor { return ops.SegmentMean(took, []int64{0, 0}, 1) }, "[-PT0.25S] duration[ms]"},
		"decimals over a number": {func() tensor.Tensor { return ops.Div(cents, []int64{7, -2}) }, "[1.757143 -0.025000] decimal(14, 6)"},
		"a wide product": {func() tensor.Tensor {
			return ops.Mul(parse(element.DecimalOf(19, 2), "-12345678901234567.89", "99999999999999999.99"), parse(element.DecimalOf(19, 1), "98765432109876543.2", "-0.1"))
		}, "[-1219326311370217952114007012098917.848 -9999999999999999.999] decimal(38, 3)"},
		"without sign":      {func() tensor.Tensor { return ops.Abs(took) }, "[PT1.5S PT2S] duration[ms]"},
		"later than a text": {func() tensor.Tensor { return ops.Greater(at, "2024-03-01") }, "[false true]"},
		"later than a date": {func() tensor.Tensor { return ops.GreaterEqual(at, day) }, "[true true]"},
		"of two units": {func() tensor.Tensor {
			return ops.Equal(took, parse(element.DurationOf(time.Microsecond), "PT1.5S", "PT1S"))
		}, "[true false]"},
		"the last":          {func() tensor.Tensor { return ops.Max(zoned) }, "2024-03-01T09:30:00.000000Z timestamp[us, UTC]"},
		"where the last is": {func() tensor.Tensor { return ops.ArgMax(zoned, 0) }, "1"},
		"a choice of two units": {func() tensor.Tensor {
			return ops.Where([]bool{true, false}, took, parse(element.DurationOf(time.Second), "PT1S", "PT1S"))
		}, "[PT1.5S PT1S] duration[ms]"},
		"decimals":                    {func() tensor.Tensor { return ops.Add(cents, tenths) }, "[12.40 99.95] decimal(11, 2)"},
		"decimals and a number":       {func() tensor.Tensor { return ops.Sub(cents, 1) }, "[11.30 -0.95] decimal(11, 2)"},
		"a sum of decimals":           {func() tensor.Tensor { return ops.Sum(cents) }, "12.35 decimal(38, 2)"},
		"a product of decimals":       {func() tensor.Tensor { return ops.Mul(cents, tenths) }, "[1.230 4.995] decimal(14, 3)"},
		"decimals times a number":     {func() tensor.Tensor { return ops.Mul(cents, 3) }, "[36.90 0.15] decimal(11, 2)"},
		"less than a number":          {func() tensor.Tensor { return ops.Less(cents, 1) }, "[false true]"},
		"as floating numbers":         {func() tensor.Tensor { return ops.Cast(cents, dtype.Float64) }, "[12.3 0.05]"},
		"wide decimals":               {func() tensor.Tensor { return ops.Add(wide, cents) }, "[123456789012345678901234567902.42 0.00] decimal(38, 2)"},
		"a difference of wide ones":   {func() tensor.Tensor { return ops.Sub(cents, wide) }, "[-123456789012345678901234567877.82 0.10] decimal(38, 2)"},
		"a sum of wide ones":          {func() tensor.Tensor { return ops.Sum(wide) }, "123456789012345678901234567890.07 decimal(38, 2)"},
		"wide ones without sign":      {func() tensor.Tensor { return ops.Abs(ops.Neg(wide)) }, "[123456789012345678901234567890.12 0.05] decimal(38, 2)"},
		"the least of wide ones":      {func() tensor.Tensor { return ops.Min(wide) }, "-0.05 decimal(38, 2)"},
		"the lesser of wide ones":     {func() tensor.Tensor { return ops.Minimum(wide, cents) }, "[12.30 -0.05] decimal(38, 2)"},
		"wide ones in order":          {func() tensor.Tensor { return ops.Sort(wide, 0, ops.SortOptions{}) }, "[-0.05 123456789012345678901234567890.12] decimal(38, 2)"},
		"wide ones are floating":      {func() tensor.Tensor { return ops.Cast(wide, dtype.Float64) }, "[1.23456789e+29 -5.00000000e-02]"},
		"timestamps and a number":     {func() tensor.Tensor { return ops.Add(at, 1) }, "there is no sum of timestamp[s] and int64"},
		"two timestamps":              {func() tensor.Tensor { return ops.Add(at, at) }, "there is no sum of timestamp[s] and timestamp[s]"},
		"a root":                      {func() tensor.Tensor { return ops.Sqrt(took) }, "it has no meaning for [duration[ms]]"},
		"a sum of timestamps":         {func() tensor.Tensor { return ops.Sum(at) }, "it has no meaning for [timestamp[s]]"},
		"with and without a zone":     {func() tensor.Tensor { return ops.Less(at, zoned) }, "timestamp[s] and timestamp[us, UTC] cannot be combined: only one of them has a zone"},
		"a date and a number":         {func() tensor.Tensor { return ops.Equal(day, 1) }, "date and int32[] cannot be compared"},
		"decimals and floats":         {func() tensor.Tensor { return ops.Add(cents, 1.5) }, "decimal(10, 2) and float64[] cannot be combined"},
		"durations and dates":         {func() tensor.Tensor { return ops.Concat([]tensor.Tensor{took, day}, 0) }, "duration[ms] and date cannot be combined"},
		"a text that is no timestamp": {func() tensor.Tensor { return ops.Equal(at, "yesterday") }, `"yesterday" is not a valid timestamp[s]`},
	} {
		for how, f := range map[string]func() tensor.Tensor{"eager": c.f, "traced": function.New(c.f).Call} {
			v, err := tenon.Try(f)
			got := ""
			var e *tenon.Error
			if errors.As(err, &e) {
				got = e.Msg
			} else {
				got = strings.TrimPrefix(text(v), "float64")
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, %s: got %q, want %q", name, how, got, c.want)
			}
		}
	}
}

// Parts are those that Go's own calendar has, at moments of all kinds, in zones whose clocks are changed.
func TestParts(t *testing.T) {
	var list []time.Time
	for i := range 4000 {
		list = append(list, time.Unix(int64(i-2000)*4_000_037+int64(i)*1013, int64(i)*1_000_001%1e9).UTC())
	}
	for year := 1996; year < 2030; year++ {
		for _, day := range []int{30, 31} {
			for _, month := range []time.Month{3, 10} {
				for hour := range 4 {
					list = append(list, time.Date(year, month, day-int(time.Date(year, month, 31, 0, 0, 0, 0, time.UTC).Weekday()), hour, 59, 59, 0, time.UTC))
				}
			}
		}
	}
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "+05:30", "Australia/Lord_Howe"} {
		loc, err := time.LoadLocation(zone)
		if zone[0] == '+' {
			loc, err = time.FixedZone(zone, 19800), nil
		}
		if err != nil {
			t.Skip(err)
		}
		x := tenon.Must(element.FromTimes(list, time.Nanosecond, zone))
		for p, f := range map[element.Part]func(time.Time) int{
			element.Year: time.Time.Year, element.Month: func(t time.Time) int { return int(t.Month()) }, element.Day: time.Time.Day, element.DayOfYear: time.Time.YearDay,
			element.Quarter: func(t time.Time) int { return (int(t.Month()) + 2) / 3 }, element.Week: func(t time.Time) int { _, w := t.ISOWeek(); return w },
			element.Weekday: func(t time.Time) int { return int(t.Weekday()) }, element.Hour: time.Time.Hour, element.Minute: time.Time.Minute,
			element.Second: time.Time.Second, element.Nanosecond: time.Time.Nanosecond,
		} {
			got := tensor.Data[int64](tenon.Must(element.PartOf(x, p)))
			for i, at := range list {
				if int(got[i]) != f(at.In(loc)) {
					t.Errorf("%v of %v: got %d, want %d", p, at.In(loc), got[i], f(at.In(loc)))
					break
				}
			}
		}
		for p, f := range map[element.Part]func(time.Time) time.Time{
			element.Year:  func(t time.Time) time.Time { return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, loc) },
			element.Month: func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, loc) },
			element.Day:   func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, loc) },
			element.Week: func(t time.Time) time.Time {
				return time.Date(t.Year(), t.Month(), t.Day()-int(t.Weekday()+6)%7, 0, 0, 0, 0, loc)
			},
			element.Quarter: func(t time.Time) time.Time {
				return time.Date(t.Year(), (t.Month()-1)/3*3+1, 1, 0, 0, 0, 0, loc)
			},
		} {
			got := tenon.Must(tenon.Must(element.Truncate(x, p)).(element.Tensor).Values())
			for i, at := range list {
				if want := f(at.In(loc)); !want.Equal(got[i].(time.Time)) {
					t.Errorf("%v truncated to %v: got %v, want %v", at.In(loc), p, got[i], want)
					break
				}
			}
		}
		local := tenon.Must(element.Local(x))
		back := tenon.Must(element.Localize(local, zone))
		if again := tenon.Must(element.Local(back)); !tensor.Item[bool](ops.All(ops.Equal(again, local))) {
			t.Errorf("%s: local times are localized as others", zone)
		}
		twice := tensor.Data[bool](ops.Greater(back, x)) // of those that are there twice it is the first
		if k := slices.Index(twice, true); k >= 0 {
			t.Errorf("%v is localized as %v", list[k].In(loc), tenon.Must(back.(element.Tensor).Values())[k])
		}
	}
}

func TestConversions(t *testing.T) {
	at := parse(utc, "2024-02-29T23:30:00.000001Z", "1969-12-31T23:59:59.999999Z")
	for want, f := range map[string]func() (tensor.Tensor, error){
		"[2024-02-29T23:30:00Z 1969-12-31T23:59:59Z] timestamp[s, UTC]":                                    func() (tensor.Tensor, error) { return element.To(at, element.TimestampOf(time.Second, "UTC")) },
		"[2024-03-01T00:30:00.000001+01:00 1970-01-01T00:59:59.999999+01:00] timestamp[us, Europe/Berlin]": func() (tensor.Tensor, error) { return element.In(at, "Europe/Berlin") },
		"[2024-02-29 1969-12-31] date": func() (tensor.Tensor, error) { return element.To(at, element.DateType) },
		"[2024-02-29T00:00:00 1969-12-31T00:00:00] timestamp[s]": func() (tensor.Tensor, error) {
			return element.To(parse(element.DateType, "2024-02-29", "1969-12-31"), seconds)
		},
		"[12.3 -0.1 0.1] decimal(9, 1)": func() (tensor.Tensor, error) {
			return element.To(parse(price, "12.34", "-0.05", "0.05"), element.DecimalOf(9, 1))
		},
		"[12.3400 -0.0500] decimal(30, 4)": func() (tensor.Tensor, error) {
			return element.To(parse(price, "12.34", "-0.05"), element.DecimalOf(30, 4))
		},
		"[12.3 -0.1] decimal(5, 1)": func() (tensor.Tensor, error) {
			return element.To(parse(big, "12.34", "-0.05"), element.DecimalOf(5, 1))
		},
		"[123456789012345679 -1 0] decimal(20, 0)": func() (tensor.Tensor, error) {
			return element.To(parse(big, "123456789012345678.50", "-0.50", "0.49"), element.DecimalOf(20, 0))
		},
		"[123500000000000000000000 0] decimal(5, -20)": func() (tensor.Tensor, error) {
			return element.To(parse(element.DecimalOf(38, 0), "123456789012345678901234", "-49999999999999999999"), element.DecimalOf(5, -20))
		},
		"[PT2H] duration[ms]": func() (tensor.Tensor, error) { return element.TruncateTo(parse(millis, "PT3H59M"), 2*time.Hour) },
	} {
		x, err := f()
		if err != nil || text(x) != want {
			t.Errorf("got %s, %v, want %s", text(x), err, want)
		}
	}
	for name, f := range map[string]func() (tensor.Tensor, error){
		"beyond 64 bits": func() (tensor.Tensor, error) {
			return element.To(parse(seconds, "2500-01-01"), element.TimestampOf(time.Nanosecond, ""))
		},
		"too many digits": func() (tensor.Tensor, error) { return element.To(parse(price, "12.34"), element.DecimalOf(3, 2)) },
		"another kind":    func() (tensor.Tensor, error) { return element.To(parse(price, "12.34"), millis) },
		"without a zone":  func() (tensor.Tensor, error) { return element.In(parse(seconds, "2024-01-01"), "UTC") },
		"no zone":         func() (tensor.Tensor, error) { return element.Localize(parse(seconds, "2024-01-01"), "Mars/Olympus") },
		"numbers":         func() (tensor.Tensor, error) { return element.PartOf(tensor.Vector([]int64{1}), element.Year) },
		"no hour": func() (tensor.Tensor, error) {
			return element.PartOf(parse(element.DateType, "2024-01-01"), element.Hour)
		},
		"no unit":         func() (tensor.Tensor, error) { return element.New([]int64{1}, element.DurationOf(time.Hour)) },
		"strings":         func() (tensor.Tensor, error) { return element.New([]string{"1"}, millis) },
		"39 digits":       func() (tensor.Tensor, error) { return element.New([]int64{1}, element.DecimalOf(39, 0)) },
		"another width":   func() (tensor.Tensor, error) { return element.New([]string{"ab"}, element.FixedOf(3)) },
		"more digits":     func() (tensor.Tensor, error) { return element.Parse([]string{"0.125"}, price) },
		"a lost fraction": func() (tensor.Tensor, error) { return element.Parse([]string{"2024-01-01T00:00:00.5"}, seconds) },
		"29 days":         func() (tensor.Tensor, error) { return element.Parse([]string{"2023-02-29"}, element.DateType) },
		"years of ISO":    func() (tensor.Tensor, error) { return element.Parse([]string{"P1Y"}, millis) },
		"beyond nanosecs": func() (tensor.Tensor, error) {
			return element.Parse([]string{"9999-01-01"}, element.TimestampOf(time.Nanosecond, ""))
		},
		"no decimal": func() (tensor.Tensor, error) { return element.Parse([]string{"1e999999999"}, price) },
		"nothing":    func() (tensor.Tensor, error) { return element.Parse([]string{""}, price) },
		"a sum of 39": func() (tensor.Tensor, error) {
			return tenon.Try(func() tensor.Tensor {
				return ops.Sum(ops.Tile(parse(element.DecimalOf(38, 0), "99999999999999999999999999999999999999"), []int{4}))
			})
		},
	} {
		x, err := f()
		var e *tenon.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v, %v", name, x, err)
		}
	}
}

// Functions of elements are traced once, and work on ragged and masked ones.
func TestInside(t *testing.T) {
	x := parse(seconds, "2024-02-29T10:00:00", "2025-03-01T09:30:00", "2026-01-01T00:00:00")
	rows := tenon.Must(ragged.FromRowSplits(x, []int64{0, 2, 3}))
	year := function.New(func(x tensor.Tensor) tensor.Tensor { return tenon.Must(element.PartOf(x, element.Year)) })
	if got := fmt.Sprint(year.Call(rows)); !strings.Contains(got, "[[2024 2025] [2026]]") && !strings.Contains(strings.Join(strings.Fields(got), " "), "[[2024 2025] [2026]]") {
		t.Errorf("got %v", got)
	}
	later := ops.Add(rows, parse(millis, "PT1H"))
	if got := text(ops.Max(later, 1)); got != "[2025-03-01T10:30:00.000 2026-01-01T01:00:00.000] timestamp[ms]" {
		t.Errorf("got %s", got)
	}
	some := tenon.Must(masked.New(x, []bool{true, false, true}))
	gone := ops.Sub(some, parse(seconds, "2024-01-01"))
	if got := text(masked.Fill(gone, parse(element.DurationOf(time.Second), "PT0S"))); got != "[PT1426H PT0S PT17544H] duration[s]" {
		t.Errorf("got %s", got)
	}
	if got := text(ops.Sum(gone)); got != "PT18970H duration[s]" {
		t.Errorf("got %s", got)
	}
	if got := text(ops.Sub(parse(seconds, "2027-01-01"), some)); !strings.Contains(got, "duration[s]") {
		t.Errorf("got %s", got)
	}
}
