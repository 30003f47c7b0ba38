package element

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// lowest is the smallest number that is stored. As a bit mask, it maps the unsigned order of lower
// halves to the signed order of int64.
const lowest = math.MinInt64

// appendText appends the text of an element.
//
//	timestamp  2024-02-29T10:11:12.500, followed by Z in UTC and by +01:00 in other zones
//	date       2024-02-29
//	time       10:11:12.500
//	duration   PT3.5S, -PT1H30M
//	decimal    -12.30
//	uuid       00000000-0000-4000-8000-000000000001
//	fixed      base64
func (t Type) appendText(dst []byte, high, low int64, data string) []byte {
	switch t.Kind {
	case Timestamp:
		return t.appendMoment(dst, high)
	case Date:
		return appendDate(dst, high)
	case Time:
		return appendClock(dst, high, t.Unit)
	case Duration:
		return appendDuration(dst, high, t.Unit)
	case Decimal:
		if t.IsWide() {
			return AppendDecimal(dst, whole(high, low).String(), t.Scale)
		}
		return AppendDecimal(dst, strconv.FormatInt(high, 10), t.Scale)
	case UUID:
		x := hex.EncodeToString([]byte(data))
		if len(x) != 32 {
			return append(dst, x...)
		}
		return append(dst, strings.Join([]string{x[:8], x[8:12], x[12:16], x[16:20], x[20:]}, "-")...)
	}
	return base64.StdEncoding.AppendEncode(dst, []byte(data))
}

// floorDiv returns the quotient, rounded down, and the remainder, which is not negative.
func floorDiv(a, b int64) (q, r int64) {
	q, r = a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}

// moment returns a stored timestamp as a time in UTC.
func moment(v int64, unit time.Duration) time.Time {
	s, f := floorDiv(v, int64(time.Second/unit))
	return time.Unix(s, f*int64(unit)).UTC()
}

func (t Type) appendMoment(dst []byte, v int64) []byte {
	at := moment(v, t.Unit)
	layout := "2006-01-02T15:04:05" + [...]string{"", ".000", ".000000", ".000000000"}[power(t.Unit)]
	if t.Zone != "" {
		if loc, err := location(t.Zone); err == nil {
			at = at.In(loc)
			if _, offset := at.Zone(); offset%60 != 0 { // local mean time of long ago, whose offset has seconds that the text has no room for
				at = at.UTC()
			}
		}
		layout += "Z07:00"
	}
	return at.AppendFormat(dst, layout)
}

// power returns n for a unit of 1000^-n seconds.
func power(unit time.Duration) int {
	n := 0
	for u := unit; u > 0 && u < time.Second; u *= 1000 {
		n++
	}
	return n
}

func appendDate(dst []byte, days int64) []byte {
	return time.Unix(days*86400, 0).UTC().AppendFormat(dst, "2006-01-02")
}

func appendClock(dst []byte, v int64, unit time.Duration) []byte {
	s, f := floorDiv(v, int64(time.Second/unit))
	dst = fmt.Appendf(dst, "%02d:%02d:%02d", s/3600, s/60%60, s%60)
	if n := 3 * power(unit); n > 0 {
		dst = fmt.Appendf(dst, ".%0*d", n, f)
	}
	return dst
}

func appendDuration(dst []byte, v int64, unit time.Duration) []byte {
	x := uint64(v)
	if v < 0 {
		dst, x = append(dst, '-'), -x
	}
	per := uint64(time.Second / unit)
	s, f := x/per, x%per
	dst = append(dst, "PT"...)
	if h := s / 3600; h > 0 {
		dst = append(strconv.AppendUint(dst, h, 10), 'H')
	}
	if m := s / 60 % 60; m > 0 {
		dst = append(strconv.AppendUint(dst, m, 10), 'M')
	}
	if s%60 == 0 && f == 0 && x != 0 {
		return dst
	}
	dst = strconv.AppendUint(dst, s%60, 10)
	if f > 0 {
		dst = append(append(dst, '.'), strings.TrimRight(fmt.Sprintf("%0*d", 3*power(unit), f), "0")...)
	}
	return append(dst, 'S')
}

// whole combines the halves of a wide decimal.
func whole(high, low int64) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(high), 64)
	return n.Add(n, new(big.Int).SetUint64(uint64(low)))
}

// halves is the inverse of whole.
func halves(n *big.Int) (high, low int64, ok bool) {
	mask := new(big.Int).SetUint64(math.MaxUint64)
	low = int64(new(big.Int).And(n, mask).Uint64())
	h := new(big.Int).Rsh(n, 64)
	return h.Int64(), low, h.IsInt64()
}

// AppendDecimal appends a decimal: the integer with the given digits, preceded by a minus sign if
// it is negative, divided by 10^scale. "1234" with a scale of 2 is 12.34.
func AppendDecimal(dst []byte, digits string, scale int) []byte {
	if strings.HasPrefix(digits, "-") {
		dst, digits = append(dst, '-'), digits[1:]
	}
	if scale <= 0 {
		dst = append(dst, digits...)
		if digits == "0" {
			return dst
		}
		return append(dst, strings.Repeat("0", -scale)...)
	}
	if k := scale + 1 - len(digits); k > 0 {
		digits = strings.Repeat("0", k) + digits
	}
	dst = append(dst, digits[:len(digits)-scale]...)
	return append(append(dst, '.'), digits[len(digits)-scale:]...)
}
