package tensor

import (
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

var (
	_ fmt.Formatter = (*Dense)(nil)
	_ fmt.Formatter = (*Strings)(nil)
)

// String returns the elements laid out as NumPy does, followed by the element
// type and shape. If there are more than 1000 elements, it prints the first and
// last three along each axis.
func (d *Dense) String() string { return fmt.Sprint(d) }

// String returns the elements, quoted and laid out as NumPy does, followed by the
// element type and shape.
func (s *Strings) String() string { return fmt.Sprint(s) }

// Format prints the tensor for the verbs v and s as String does. A plus flag
// prints all elements, and a precision sets the number of digits after the point.
// The verbs e, f and g use the same form for all floating-point elements. %#v
// prints a Go expression that makes the tensor.
func (d *Dense) Format(s fmt.State, verb rune) {
	if d == nil {
		io.WriteString(s, "<nil>")
		return
	}
	switch verb {
	case 'v', 's':
		if s.Flag('#') {
			io.WriteString(s, d.expression())
			return
		}
	case 'e', 'f', 'g', 'E', 'G':
	default:
		fmt.Fprintf(s, "%%!%c(*tensor.Dense=%v)", verb, &d.spec)
		return
	}
	l := newLayout(d.spec.shape, s.Flag('+'))
	io.WriteString(s, l.render(d.words(l, s, verb))+" "+d.spec.String())
}

// Format prints the tensor for the verbs v, s and q as String does. A plus flag
// prints all elements in full.
func (s *Strings) Format(st fmt.State, verb rune) {
	switch {
	case s == nil:
		io.WriteString(st, "<nil>")
		return
	case verb != 'v' && verb != 's' && verb != 'q':
		fmt.Fprintf(st, "%%!%c(*tensor.Strings=%v)", verb, &s.spec)
		return
	case st.Flag('#'):
		io.WriteString(st, goExpression("string", s.spec.shape, s.Len(), func(i int) string { return strconv.Quote(s.At(i)) }))
		return
	}
	full := st.Flag('+')
	l := newLayout(s.spec.shape, full)
	words := make([]string, 0, 16)
	strides := RowMajor(s.spec.shape)
	l.each(func(index []int) { words = append(words, quote(s.At(offset(index, strides)), full)) })
	io.WriteString(st, l.render(words)+" "+s.spec.String())
}

// Format implements the Format method of a type that consists of tensors. The function text returns
// the text of the value, printing its parts with the given verb. The verbs v and s print the text
// for %v, and %+v the long form with all elements.
func Format(s fmt.State, verb rune, v tenon.Value, text func(verb string) string) {
	switch {
	case verb != 'v' && verb != 's':
		fmt.Fprintf(s, "%%!%c(%T=%s)", verb, v, tenon.String(v.Spec()))
	case s.Flag('+'):
		io.WriteString(s, text("%+v"))
	default:
		io.WriteString(s, text("%v"))
	}
}

// longest is the number of runes of a string that are printed.
const longest = 72

func quote(s string, full bool) string {
	if full || utf8.RuneCountInString(s) <= longest {
		return strconv.Quote(s)
	}
	n := 0
	for i := range s {
		if n++; n > longest {
			s = s[:i]
			break
		}
	}
	return strconv.Quote(s) + "…"
}

func offset(index, strides []int) int {
	at := 0
	for i, k := range index {
		at += k * strides[i]
	}
	return at
}

// words returns the texts of the elements that are shown, padded to the same
// width.
func (d *Dense) words(l *layout, s fmt.State, verb rune) []string {
	var at []int // positions of the elements that are shown
	strides := d.Strides()
	l.each(func(index []int) { at = append(at, offset(index, strides)) })
	precision, fixed := s.Precision()
	if !fixed {
		precision = defaultPrecision
	}
	switch dt := d.spec.DType(); {
	case dt.IsFloat():
		xs := make([]float64, len(at))
		for i, k := range at {
			xs[i] = d.float(k)
		}
		if verb != 'v' && verb != 's' {
			return aligned(len(xs), 0, func(i int) string { return spelled(xs[i], byte(verb), s) })
		}
		return floatWords(xs, dt, precision, d.Rank() == 0)
	case dt.IsComplex():
		re, im := make([]float64, len(at)), make([]float64, len(at))
		for i, k := range at {
			c := d.complex(k)
			re[i], im[i] = real(c), imag(c)
		}
		return complexWords(re, im, dt.Real(), precision, d.Rank() == 0)
	default:
		least := 0
		if dt.IsBool() && d.Rank() > 0 {
			least = len("false")
		}
		return aligned(len(at), least, func(i int) string { return d.word(at[i]) })
	}
}

// spelled formats a number with the given verb.
func spelled(x float64, verb byte, s fmt.State) string {
	p, ok := s.Precision()
	if !ok {
		p = -1
		if verb != 'g' && verb != 'G' {
			p = 6
		}
	}
	return strconv.FormatFloat(x, verb, p, 64)
}

// aligned pads n words on the left to the width of the longest, or to a minimum
// width.
func aligned(n, width int, word func(i int) string) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = word(i)
		width = max(width, len(words[i]))
	}
	for i, w := range words {
		words[i] = spaces(width-len(w)) + w
	}
	return words
}

// word returns the text of an integer or boolean, given its position.
func (d *Dense) word(at int) string {
	p := unsafe.Add(d.Raw(), at*d.spec.DType().Size())
	switch d.spec.DType() {
	case dtype.Bool:
		return strconv.FormatBool(*(*bool)(p))
	case dtype.Int8:
		return strconv.FormatInt(int64(*(*int8)(p)), 10)
	case dtype.Int16:
		return strconv.FormatInt(int64(*(*int16)(p)), 10)
	case dtype.Int32:
		return strconv.FormatInt(int64(*(*int32)(p)), 10)
	case dtype.Int64:
		return strconv.FormatInt(*(*int64)(p), 10)
	case dtype.Uint8:
		return strconv.FormatUint(uint64(*(*uint8)(p)), 10)
	case dtype.Uint16:
		return strconv.FormatUint(uint64(*(*uint16)(p)), 10)
	case dtype.Uint32:
		return strconv.FormatUint(uint64(*(*uint32)(p)), 10)
	case dtype.Uint64:
		return strconv.FormatUint(*(*uint64)(p), 10)
	}
	return "?"
}

func (d *Dense) float(at int) float64 {
	p := unsafe.Add(d.Raw(), at*d.spec.DType().Size())
	switch d.spec.DType() {
	case dtype.Float16:
		return float64((*(*dtype.F16)(p)).Float32())
	case dtype.BFloat16:
		return float64((*(*dtype.BF16)(p)).Float32())
	case dtype.Float32:
		return float64(*(*float32)(p))
	}
	return *(*float64)(p)
}

func (d *Dense) complex(at int) complex128 {
	p := unsafe.Add(d.Raw(), at*d.spec.DType().Size())
	if d.spec.DType() == dtype.Complex64 {
		return complex128(*(*complex64)(p))
	}
	return *(*complex128)(p)
}

// expression returns Go source that makes the tensor.
func (d *Dense) expression() string {
	c := Contiguous(d)
	return goExpression(c.spec.DType().GoType().String(), c.spec.shape, c.Len(), func(i int) string {
		switch dt := c.spec.DType(); {
		case dt == dtype.Float16, dt == dtype.BFloat16:
			return fmt.Sprintf("%#x", *(*uint16)(unsafe.Add(c.Raw(), 2*i)))
		case dt.IsFloat():
			return fmt.Sprint(c.float(i))
		case dt.IsComplex():
			return fmt.Sprint(c.complex(i))
		}
		return c.word(i)
	})
}

func goExpression(elem string, s shape.Shape, n int, word func(int) string) string {
	b := []byte("tensor.Of([]" + elem + "{")
	for i := range n {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, word(i)...)
	}
	b = append(b, '}')
	for _, d := range s.Dims() {
		b = append(b, ", "...)
		b = strconv.AppendInt(b, int64(d), 10)
	}
	if s.IsScalar() {
		return "tensor.Scalar[" + elem + "](" + word(0) + ")"
	}
	return string(append(b, ')'))
}
