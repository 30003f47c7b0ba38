package tensor

import (
	"math"
	"strconv"
	"strings"

	"github.com/tenonml/tenon/dtype"
)

// floatFormat gives floating-point numbers a common form, as NumPy's
// FloatingFormat does: the fewest digits that tell them apart, decimal points
// aligned, and an exponent if the magnitudes differ much
// (https://numpy.org/doc/stable/reference/generated/numpy.set_printoptions.html).
type floatFormat struct {
	dt         dtype.DType
	precision  int
	scientific bool
	plus       bool // a sign before nonnegative numbers
	left       int  // width before the point
	right      int  // width after it, including the exponent
	expDigits  int
	fraction   int // digits after the point in scientific notation
}

func newFloatFormat(xs []float64, dt dtype.DType, precision int, plus bool) *floatFormat {
	f := &floatFormat{dt: dt, precision: precision, plus: plus}
	low, high := math.Inf(1), 0.0
	finite, negInf := 0, false
	for _, x := range xs {
		switch a := math.Abs(x); {
		case math.IsInf(x, -1):
			negInf = true
		case math.IsInf(x, 0) || x != x:
		default:
			finite++
			if a != 0 {
				low, high = min(low, a), max(high, a)
			}
		}
	}
	f.scientific = high > 0 && (high >= exponentFrom(dt) || low < 1e-4 || high/low > 1000)
	for _, x := range xs {
		if !math.IsInf(x, 0) && x == x {
			f.measure(x)
		}
	}
	if f.scientific {
		f.right = f.fraction + 2 + f.expDigits
	}
	if finite < len(xs) {
		room := f.right + 1
		inf := 3
		if negInf || plus {
			inf = 4
		}
		f.left = max(f.left, 3-room, inf-room)
	}
	return f
}

// exponentFrom returns the magnitude from which numbers of a type are printed
// with an exponent: 10 to the number of decimal digits that the type holds, at
// most 8.
func exponentFrom(dt dtype.DType) float64 {
	switch dt {
	case dtype.BFloat16:
		return 1e2
	case dtype.Float16:
		return 1e3
	case dtype.Float32:
		return 1e6
	}
	return 1e8
}

// measure widens the columns to hold x.
func (f *floatFormat) measure(x float64) {
	if f.scientific {
		head, frac, exp := f.exponential(x)
		f.left = max(f.left, len(head))
		f.fraction = max(f.fraction, len(frac))
		f.expDigits = max(f.expDigits, len(exp)-1)
		return
	}
	head, frac := f.positional(x)
	f.left = max(f.left, len(head))
	f.right = max(f.right, len(frac))
}

func (f *floatFormat) format(x float64) string {
	switch {
	case x != x:
		return spaces(f.left+f.right+1-len(f.signed("nan", false))) + f.signed("nan", false)
	case math.IsInf(x, 0):
		w := f.signed("inf", x < 0)
		return spaces(f.left+f.right+1-len(w)) + w
	case f.scientific:
		// Use as many digits as the longest number has, even if fewer identify this one.
		m, e, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', f.fraction, 64), "e")
		if f.fraction == 0 {
			m += "."
		}
		m = f.signed(m, math.Signbit(x))
		return spaces(f.left-len(m)+1+f.fraction) + m + "e" + e[:1] + strings.Repeat("0", max(0, f.expDigits-len(e)+1)) + e[1:]
	}
	head, frac := f.positional(x)
	return spaces(f.left-len(head)) + head + "." + frac + spaces(f.right-len(frac))
}

func (f *floatFormat) signed(s string, negative bool) string {
	switch {
	case negative:
		return "-" + s
	case f.plus:
		return "+" + s
	}
	return s
}

// positional returns the digits before and after the point.
func (f *floatFormat) positional(x float64) (head, frac string) {
	digits, exp := shortest(math.Abs(x), f.dt)
	switch {
	case exp < 0:
		head, frac = "0", strings.Repeat("0", -exp-1)+digits
	case len(digits) <= exp+1:
		head = digits + strings.Repeat("0", exp+1-len(digits))
	default:
		head, frac = digits[:exp+1], digits[exp+1:]
	}
	if len(frac) > f.precision {
		head, frac, _ = strings.Cut(strconv.FormatFloat(math.Abs(x), 'f', f.precision, 64), ".")
	}
	return f.signed(head, math.Signbit(x)), strings.TrimRight(frac, "0")
}

// exponential returns the digit before the point, those after it, and the
// exponent with its sign.
func (f *floatFormat) exponential(x float64) (head, frac, exp string) {
	digits, e := shortest(math.Abs(x), f.dt)
	if len(digits)-1 > f.precision {
		digits, e = split(strconv.FormatFloat(math.Abs(x), 'e', f.precision, 64))
	}
	sign := "+"
	if e < 0 {
		sign, e = "-", -e
	}
	exp = strconv.Itoa(e)
	if len(exp) < 2 {
		exp = "0" + exp
	}
	return f.signed(digits[:1], math.Signbit(x)), strings.TrimRight(digits[1:], "0"), sign + exp
}

// shortest returns the fewest decimal digits that tell x from the other numbers
// of its type, and the exponent of the first.
func shortest(x float64, dt dtype.DType) (digits string, exp int) {
	switch dt {
	case dtype.Float32:
		return split(strconv.FormatFloat(x, 'e', -1, 32))
	case dtype.Float16, dtype.BFloat16:
		for p := range 5 {
			s := strconv.FormatFloat(x, 'e', p, 64)
			if y, err := strconv.ParseFloat(s, 64); err == nil && roundHalf(y, dt) == x {
				return split(s)
			}
		}
	}
	return split(strconv.FormatFloat(x, 'e', -1, 64))
}

func roundHalf(x float64, dt dtype.DType) float64 {
	if dt == dtype.Float16 {
		return float64(dtype.F16From64(x).Float32())
	}
	return float64(dtype.BF16From64(x).Float32())
}

// split takes "1.25e-03" apart into "125" and -3.
func split(s string) (digits string, exp int) {
	m, e, _ := strings.Cut(s, "e")
	exp, _ = strconv.Atoi(e)
	digits = strings.Replace(m, ".", "", 1)
	if t := strings.TrimRight(digits, "0"); t != "" {
		return t, exp
	}
	return "0", exp
}

// floatWords returns the texts of numbers in one form.
func floatWords(xs []float64, dt dtype.DType, precision int, scalar bool) []string {
	f := newFloatFormat(xs, dt, precision, false)
	if scalar && len(xs) == 1 {
		return []string{f.alone(xs[0])}
	}
	words := make([]string, len(xs))
	for i, x := range xs {
		words[i] = f.format(x)
	}
	return words
}

// alone returns the text of a single number, which has a digit after the point,
// and an exponent only if it is very large or small.
func (f *floatFormat) alone(x float64) string {
	f.precision = 400 // as many digits as needed to identify it
	a := math.Abs(x)
	if f.scientific = a >= 1e16 || a != 0 && a < 1e-4; f.scientific {
		f.left, f.fraction, f.expDigits = 0, 0, 0
		f.measure(x)
	}
	s := strings.TrimSpace(f.format(x))
	if f.scientific {
		return strings.Replace(s, ".e", "e", 1)
	}
	if strings.HasSuffix(s, ".") {
		s += "0"
	}
	return s
}

// complexWords returns the texts of complex numbers, given their parts.
func complexWords(re, im []float64, dt dtype.DType, precision int, scalar bool) []string {
	f := newFloatFormat(re, dt, precision, false)
	g := newFloatFormat(im, dt, precision, true)
	words := make([]string, len(re))
	if scalar && len(re) == 1 {
		g := &floatFormat{dt: dt, precision: precision, plus: true}
		return []string{strings.TrimSuffix(f.alone(re[0]), ".0") + strings.TrimSuffix(g.alone(im[0]), ".0") + "i"}
	}
	for i := range re {
		y := g.format(im[i])
		t := strings.TrimRight(y, " ")
		words[i] = f.format(re[i]) + t + "i" + y[len(t):]
	}
	return words
}
