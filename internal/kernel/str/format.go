package str

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/tenonml/tenon/dtype"
)

// Notation says how floats are written.
type Notation uint8

// The notations, with the letters that C's printf has for them.
const (
	Fixed      Notation = iota // f
	Scientific                 // e
	Shortest                   // g
)

// FormatOptions say how numbers are written, as C's printf does. Start from
// [DefaultFormat].
type FormatOptions struct {
	Notation  Notation
	Precision int    // digits behind the point, or significant ones with Shortest; -1 for 6. Only for floats
	Width     int    // least number of characters; -1 for none
	Fill      string // "": blanks in front; "0": zeros; "-": blanks behind; "+": a sign always; " ": a blank where a sign could be; "#": a point always
}

// DefaultFormat is six digits behind the point and no padding.
var DefaultFormat = FormatOptions{Precision: -1, Width: -1}

func (o *FormatOptions) check(d dtype.DType) error {
	switch o.Fill {
	case "", " ", "+", "-", "0", "#":
	default:
		return fmt.Errorf("numbers are not filled with %q, but with one of ' ', '+', '-', '0', '#'", o.Fill)
	}
	if o.Notation > Shortest {
		return errors.New("there is no such notation")
	}
	const widest = 1 << 16
	if o.Width > widest || o.Precision > widest {
		return fmt.Errorf("width and precision are at most %d", widest)
	}
	if d.IsInteger() || d.IsBool() {
		if o.Notation != Fixed {
			return fmt.Errorf("%v has no scientific or shortest notation", d)
		}
		if o.Precision >= 0 {
			return fmt.Errorf("%v has no precision", d)
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
	return Column{}, fmt.Errorf("%T has no string form", x)
}

// numbers is what [AsString] writes.
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

// withPoint applies printf's alternate form: a point always, and with Shortest the
// zeros that fill the precision.
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
		if leading { // zero itself is one significant digit
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

// signOf is sign without the blank: TensorFlow's integers do not take one.
func (o *FormatOptions) signOf(negative bool) string {
	if negative {
		return "-"
	}
	return ""
}

// pad writes sign and text in at least Width characters; numeric text may be padded
// with zeros.
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
