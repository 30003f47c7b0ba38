package str

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/tenonml/tenon/dtype"
)

// Notation is the notation of floating-point numbers.
type Notation uint8

// The notations, with the corresponding verbs of C's printf.
const (
	Fixed      Notation = iota // f
	Scientific                 // e
	Shortest                   // g
)

// FormatOptions control how numbers are formatted, as in C's printf. Start from [DefaultFormat].
type FormatOptions struct {
	Notation  Notation
	Precision int    // digits after the decimal point, or significant digits with Shortest; -1 means 6. Only for floats
	Width     int    // minimum number of characters; -1 means none
	Fill      string // "": pad left with spaces; "0": pad left with zeros; "-": pad right; "+": always a sign; " ": a space in place of a plus sign; "#": always a decimal point
}

// DefaultFormat is six digits after the decimal point and no padding.
var DefaultFormat = FormatOptions{Precision: -1, Width: -1}

func (o *FormatOptions) check(d dtype.DType) error {
	switch o.Fill {
	case "", " ", "+", "-", "0", "#":
	default:
		return fmt.Errorf("unknown fill %q; use ' ', '+', '-', '0' or '#'", o.Fill)
	}
	if o.Notation > Shortest {
		return errors.New("unknown notation")
	}
	const widest = 1 << 16
	if o.Width > widest || o.Precision > widest {
		return fmt.Errorf("width and precision must be at most %d", widest)
	}
	if d.IsInteger() || d.IsBool() {
		if o.Notation != Fixed {
			return fmt.Errorf("%v cannot be formatted in scientific or shortest notation; use Fixed", d)
		}
		if o.Precision >= 0 {
			return fmt.Errorf("%v cannot be formatted with a precision; use -1", d)
		}
	}
	return nil
}

// AsString returns each number as a string. Complex numbers are "(real,imaginary)"
// with the options applied to both parts, booleans "true" and "false".
func AsString[T dtype.Number | ~bool](x []T, o FormatOptions) (Column, error) {
	if err := o.check(dtype.Of[T]()); err != nil {
		return Column{}, err
	}
	switch x := any(x).(type) {
	case []bool:
		return mapped(len(x), x, func(dst []byte, i int, x []bool) []byte { return strconv.AppendBool(dst, x[i]) }), nil
	case []float32:
		return mapped(len(x), numbers[float32]{x, o}, func(dst []byte, i int, with numbers[float32]) []byte { return with.o.float(dst, float64(with.x[i])) }), nil
	case []float64:
		return mapped(len(x), numbers[float64]{x, o}, func(dst []byte, i int, with numbers[float64]) []byte { return with.o.float(dst, with.x[i]) }), nil
	case []dtype.F16:
		return mapped(len(x), numbers[dtype.F16]{x, o}, func(dst []byte, i int, with numbers[dtype.F16]) []byte {
			return with.o.float(dst, float64(with.x[i].Float32()))
		}), nil
	case []dtype.BF16:
		return mapped(len(x), numbers[dtype.BF16]{x, o}, func(dst []byte, i int, with numbers[dtype.BF16]) []byte {
			return with.o.float(dst, float64(with.x[i].Float32()))
		}), nil
	case []complex64:
		return mapped(len(x), numbers[complex64]{x, o}, func(dst []byte, i int, with numbers[complex64]) []byte {
			return with.o.complex(dst, complex128(with.x[i]))
		}), nil
	case []complex128:
		return mapped(len(x), numbers[complex128]{x, o}, func(dst []byte, i int, with numbers[complex128]) []byte { return with.o.complex(dst, with.x[i]) }), nil
	case []int8:
		return signed(x, o), nil
	case []int16:
		return signed(x, o), nil
	case []int32:
		return signed(x, o), nil
	case []int64:
		return signed(x, o), nil
	case []int:
		return signed(x, o), nil
	case []uint8:
		return unsigned(x, o), nil
	case []uint16:
		return unsigned(x, o), nil
	case []uint32:
		return unsigned(x, o), nil
	case []uint64:
		return unsigned(x, o), nil
	}
	return Column{}, fmt.Errorf("%T cannot be formatted as strings", x)
}

// numbers is the arguments of a chunk of [AsString].
type numbers[T any] struct {
	x []T
	o FormatOptions
}

func signed[T int8 | int16 | int32 | int64 | int](x []T, o FormatOptions) Column {
	return mapped(len(x), numbers[T]{x, o}, func(dst []byte, i int, with numbers[T]) []byte {
		var digits [20]byte
		o, v := with.o, int64(with.x[i])
		u := uint64(v)
		if v < 0 {
			u = -u
		}
		sign := o.sign(v < 0)
		if o.Fill == " " {
			sign = o.signOf(v < 0)
		}
		return o.pad(dst, sign, strconv.AppendUint(digits[:0], u, 10), true)
	})
}

func unsigned[T uint8 | uint16 | uint32 | uint64](x []T, o FormatOptions) Column {
	return mapped(len(x), numbers[T]{x, o}, func(dst []byte, i int, with numbers[T]) []byte {
		var digits [20]byte
		return with.o.pad(dst, "", strconv.AppendUint(digits[:0], uint64(with.x[i]), 10), true)
	})
}

func (o *FormatOptions) complex(dst []byte, z complex128) []byte {
	dst = append(dst, '(')
	dst = o.float(dst, real(z))
	dst = append(dst, ',')
	dst = o.float(dst, imag(z))
	return append(dst, ')')
}

func (o *FormatOptions) float(dst []byte, v float64) []byte {
	var room [64]byte
	sign := o.sign(math.Signbit(v))
	switch {
	case v != v:
		return o.pad(dst, o.sign(false), []byte("nan"), false)
	case math.IsInf(v, 0):
		return o.pad(dst, sign, []byte("inf"), false)
	}
	precision := o.Precision
	if precision < 0 {
		precision = 6
	}
	text := strconv.AppendFloat(room[:0], math.Abs(v), "feg"[o.Notation], precision, 64)
	if o.Fill == "#" {
		text = withPoint(text, o.Notation, precision)
	}
	return o.pad(dst, sign, text, true)
}

// withPoint applies printf's alternate form: always a decimal point and, with Shortest, trailing
// zeros up to the precision.
func withPoint(text []byte, n Notation, precision int) []byte {
	exponent, digits, point := len(text), 0, false
	leading := true
	for i, b := range text {
		switch {
		case b == 'e':
			exponent = i
		case i > exponent:
		case b == '.':
			point = true
		default:
			leading = leading && b == '0'
			if !leading {
				digits++
			}
		}
	}
	var out []byte
	out = append(out, text[:exponent]...)
	if !point {
		out = append(out, '.')
	}
	if n == Shortest {
		if leading { // zero counts as one significant digit
			digits = 1
		}
		for ; digits < max(precision, 1); digits++ {
			out = append(out, '0')
		}
	}
	return append(out, text[exponent:]...)
}

func (o *FormatOptions) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case o.Fill == "+":
		return "+"
	case o.Fill == " ":
		return " "
	}
	return ""
}

// signOf is like sign, but never returns a space: TensorFlow ignores that flag for integers.
func (o *FormatOptions) signOf(negative bool) string {
	if negative {
		return "-"
	}
	return ""
}

// pad writes sign and text in at least Width characters; text may be padded with zeros if it is
// numeric.
func (o *FormatOptions) pad(dst []byte, sign string, text []byte, numeric bool) []byte {
	missing := o.Width - len(sign) - len(text)
	zeros := o.Fill == "0" && numeric
	for ; missing > 0 && o.Fill != "-" && !zeros; missing-- {
		dst = append(dst, ' ')
	}
	dst = append(dst, sign...)
	for ; missing > 0 && zeros; missing-- {
		dst = append(dst, '0')
	}
	dst = append(dst, text...)
	for ; missing > 0; missing-- {
		dst = append(dst, ' ')
	}
	return dst
}
