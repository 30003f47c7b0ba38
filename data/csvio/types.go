package csvio

import (
	"strconv"
	"strings"
)

// isWhole reports whether a text is [+-]?[0-9]+.
func isWhole(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

// digits returns the number of digits that a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return n
}

func parseInt(s string) (int64, bool) {
	d := s
	if d != "" && (d[0] == '+' || d[0] == '-') {
		d = d[1:]
	}
	if len(d)-1 >= 18 || len(d) == 0 {
		v, err := strconv.ParseInt(s, 10, 64)
		return v, err == nil && isWhole(s)
	}
	v := int64(0)
	for i := range len(d) {
		c := d[i] - '0'
		if c > 9 {
			return 0, false
		}
		v = 10*v + int64(c)
	}
	if s[0] == '-' {
		v = -v
	}
	return v, true
}

var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// parseFloat returns a float, and whether it is written as an integer.
func parseFloat(s string) (v float64, whole, ok bool) {
	d := s
	if d != "" && (d[0] == '+' || d[0] == '-') {
		d = d[1:]
	}
	// Digits with a point are an integer divided by a power of ten. If both are exact, the division rounds
	// only once.
	m, point, i := uint64(0), -1, 0
	for ; i < len(d) && i < 19; i++ {
		if c := d[i] - '0'; c <= 9 {
			m = 10*m + uint64(c)
		} else if d[i] == '.' && point < 0 {
			point = i
		} else {
			break
		}
	}
	if i < len(d) || i == 0 || m >= 1<<53 || point == 0 && i == 1 {
		if !isFloat(s) {
			return 0, false, false
		}
		v, _ = strconv.ParseFloat(s, 64) // too large numbers become infinite
		return v, isWhole(s), true
	}
	v = float64(m)
	if point >= 0 {
		v /= powers[i-point-1]
	}
	if s[0] == '-' {
		v = -v
	}
	return v, point < 0, true
}

// isFloat reports whether a text is a decimal number, nan, inf or infinity.
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
	yes := s == "true" || strings.EqualFold(s, "true")
	return yes, yes || s == "false" || strings.EqualFold(s, "false")
}

// parseDate returns the number of days since 1970.
func parseDate(s string) (int32, bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	century, ok1 := two(s, 99)
	year, ok2 := two(s[2:], 99)
	month, ok3 := two(s[5:], 12)
	day, ok4 := two(s[8:], 31)
	year += 100 * century
	if !ok1 || !ok2 || !ok3 || !ok4 || year < 1 || month < 1 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	// Years begin in March, so that the leap day is the last day of the year.
	if month -= 3; month < 0 {
		month, year = month+12, year-1
	}
	const from0000 = 719468 // days from March 1 of year 0 to 1970
	return int32(365*year + year/4 - year/100 + year/400 + (153*month+2)/5 + day - 1 - from0000), true
}

// daysIn returns the number of days of a month.
func daysIn(year, month int64) int64 {
	if month == 2 {
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 30 + (month+month/8)&1
}

// A moment is a time in UTC, with the number of digits of its fraction of a second.
type moment struct {
	sec    int64
	nano   int32
	digits int
}

// parseMoment parses a time with or without a zone.
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

// two returns the value of two digits, which must be at most most.
func two(s string, most int64) (int64, bool) {
	if len(s) < 2 || digits(s[:2]) != 2 {
		return 0, false
	}
	v := int64(s[0]-'0')*10 + int64(s[1]-'0')
	return v, v <= most
}
