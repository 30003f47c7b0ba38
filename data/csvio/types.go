package csvio

import (
	"strconv"
	"strings"
	"time"

	"github.com/tenonml/tenon/element"
)

// trim drops blanks around a text.
func trim(s string) string { return strings.Trim(s, " \t") }

// isWhole reports whether a text is [+-]?[0-9]+.
func isWhole(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

// digits returns how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return n
}

func parseInt(s string) (int64, bool) {
	if !isWhole(s) {
		return 0, false
	}
	v, err := strconv.ParseInt(s, 10, 64)
	return v, err == nil
}

func parseFloat(s string) (float64, bool) {
	if !isFloat(s) {
		return 0, false
	}
	v, _ := strconv.ParseFloat(s, 64) // beyond the largest it is infinite
	return v, true
}

// isFloat reports whether a text is a decimal number, or nan, inf or infinity.
func isFloat(s string) bool {
	if strings.EqualFold(s, "nan") {
		return true
	}
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	if strings.EqualFold(s, "inf") || strings.EqualFold(s, "infinity") {
		return true
	}
	n := digits(s)
	s, some := s[n:], n > 0
	if s != "" && s[0] == '.' {
		n = digits(s[1:])
		s, some = s[1+n:], some || n > 0
	}
	if !some {
		return false
	}
	if s == "" {
		return true
	}
	if s[0]|0x20 != 'e' {
		return false
	}
	return isWhole(s[1:])
}

func parseBool(s string) (bool, bool) {
	return strings.EqualFold(s, "true"), strings.EqualFold(s, "true") || strings.EqualFold(s, "false")
}

// parseDate returns the days since 1970.
func parseDate(s string) (int32, bool) {
	if len(s) != 10 {
		return 0, false
	}
	t, err := time.Parse("2006-01-02", s)
	if err != nil || t.Year() < 1 {
		return 0, false
	}
	return int32(t.Unix() / 86400), true
}

// A moment is a time in UTC, with how many digits its fraction of a second has.
type moment struct {
	sec    int64
	nano   int32
	digits int
}

// parseMoment returns a time with or without a zone.
func parseMoment(s string, zone bool) (m moment, ok bool) {
	if d, ok := parseDate(s); ok && !zone {
		return moment{sec: int64(d) * 86400}, true
	}
	if len(s) < 16 || s[10] != 'T' && s[10] != ' ' {
		return m, false
	}
	day, ok := parseDate(s[:10])
	if !ok {
		return m, false
	}
	hour, ok1 := two(s[11:], 23)
	minute, ok2 := two(s[14:], 59)
	if !ok1 || !ok2 || s[13] != ':' {
		return m, false
	}
	m.sec = int64(day)*86400 + hour*3600 + minute*60
	s = s[16:]
	if s != "" && s[0] == ':' {
		second, ok := two(s[1:], 59)
		if !ok {
			return m, false
		}
		m.sec += second
		s = s[3:]
		if s != "" && s[0] == '.' {
			n := digits(s[1:])
			if n < 1 || n > 9 {
				return m, false
			}
			v, _ := strconv.Atoi(s[1:1+n] + "000000000"[n:])
			m.nano = int32(v)
			m.digits = len(strings.TrimRight(s[1:1+n], "0"))
			s = s[1+n:]
		}
	}
	if !zone {
		return m, s == ""
	}
	if s == "Z" {
		return m, true
	}
	if len(s) != 6 || s[3] != ':' || s[0] != '+' && s[0] != '-' {
		return m, false
	}
	h, ok1 := two(s[1:], 23)
	min, ok2 := two(s[4:], 59)
	offset := h*3600 + min*60
	if s[0] == '-' {
		offset = -offset
	}
	m.sec -= offset
	return m, ok1 && ok2
}

// two returns the number that two digits are, at most a largest one.
func two(s string, most int64) (int64, bool) {
	if len(s) < 2 || digits(s[:2]) != 2 {
		return 0, false
	}
	v := int64(s[0]-'0')*10 + int64(s[1]-'0')
	return v, v <= most
}

// fits reports whether a text is of a type.
func (t Type) fits(s string) bool {
	var ok bool
	switch t {
	case Int64:
		_, ok = parseInt(s)
	case Float64:
		ok = isFloat(s)
	case Bool:
		_, ok = parseBool(s)
	case Date:
		_, ok = parseDate(s)
	case Timestamp:
		_, ok = parseMoment(s, false)
	case TimestampTZ:
		_, ok = parseMoment(s, true)
	case String:
		ok = true
	default:
		e, err := element.ParseType(string(t))
		ok = err != nil || e.Fits(s) // a type that there is not is an error of its own
	}
	return ok
}
