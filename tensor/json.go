package tensor

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// AppendJSON appends a value as JSON, in the form that [Plain] returns: a tensor becomes nested
// arrays, a record an object, and a missing value null. Floating-point numbers are written with a
// point or an exponent, so that they are read back exactly; NaN and infinities, which JSON lacks,
// become the strings "NaN", "Infinity" and "-Infinity"; a complex number becomes [re, im]. Strings
// that are not UTF-8 are an error. [ParseJSON] reads the result.
func AppendJSON(b []byte, v tenon.Value) ([]byte, error) {
	v, err := Settled(v)
	if err != nil {
		return b, err
	}
	if d, ok := v.(*Dense); ok {
		d = Contiguous(d)
		return d.appendJSON(b, d.Shape().Dims(), 0, d.Len()), nil
	}
	x, err := Plain(v)
	if err != nil {
		return b, err
	}
	return appendPlain(b, x)
}

func (d *Dense) appendJSON(b []byte, dims []int, from, n int) []byte {
	if len(dims) == 0 {
		switch dt := d.DType(); {
		case dt.IsComplex():
			z, bits := d.complex(from), dt.Bits()/2
			return append(appendFloat(append(appendFloat(append(b, '['), real(z), bits), ','), imag(z), bits), ']')
		case dt.IsFloat():
			return appendFloat(b, d.float(from), max(32, dt.Bits()))
		}
		return append(b, d.word(from)...)
	}
	b = append(b, '[')
	for i := range dims[0] {
		if i > 0 {
			b = append(b, ',')
		}
		b = d.appendJSON(b, dims[1:], from+i*(n/dims[0]), n/dims[0])
	}
	return append(b, ']')
}

// appendFloat appends a floating-point number of the given number of bits.
func appendFloat(b []byte, x float64, bits int) []byte {
	switch {
	case x != x:
		return append(b, `"NaN"`...)
	case math.IsInf(x, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(x, -1):
		return append(b, `"-Infinity"`...)
	}
	from := len(b)
	b = strconv.AppendFloat(b, x, 'g', -1, bits)
	if !bytes.ContainsAny(b[from:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}

// appendPlain appends plain Go data.
func appendPlain(b []byte, x any) ([]byte, error) {
	var err error
	switch x := x.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, x), nil
	case string:
		return appendString(b, x)
	case dtype.F16:
		return appendFloat(b, float64(x.Float32()), 32), nil
	case dtype.BF16:
		return appendFloat(b, float64(x.Float32()), 32), nil
	case float32:
		return appendFloat(b, float64(x), 32), nil
	case float64:
		return appendFloat(b, x, 64), nil
	case tenon.Value:
		return AppendJSON(b, x)
	case []any:
		b = append(b, '[')
		for i, y := range x {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendPlain(b, y); err != nil {
				return b, Below(fmt.Sprintf("[%d]", i), err)
			}
		}
		return append(b, ']'), nil
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		if err != nil {
			return b, err
		}
		return appendString(b, string(text))
	case map[string]any:
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(x)) {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendString(b, name); err == nil {
				b, err = appendPlain(append(b, ':'), x[name])
			}
			if err != nil {
				return b, Below(name, err)
			}
		}
		return append(b, '}'), nil
	}
	switch v := reflect.ValueOf(x); {
	case v.CanInt():
		return strconv.AppendInt(b, v.Int(), 10), nil
	case v.CanUint():
		return strconv.AppendUint(b, v.Uint(), 10), nil
	case v.CanComplex():
		bits := v.Type().Bits() / 2
		return append(appendFloat(append(appendFloat(append(b, '['), real(v.Complex()), bits), ','), imag(v.Complex()), bits), ']'), nil
	}
	return b, tenon.NewError(tenon.ErrUnsupported, "tensor.AppendJSON", fmt.Sprintf("a %T cannot be written as JSON", x))
}

func appendString(b []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return b, tenon.NewError(tenon.ErrInvalid, "tensor.AppendJSON", fmt.Sprintf("the string %q is not UTF-8, as JSON requires", s))
	}
	q, err := json.Marshal(s)
	return append(b, q...), err
}

// ParseJSON reads a value of a Spec from the JSON that [AppendJSON] writes. Sizes that the Spec
// leaves open are taken from the text. If the Spec is nil, the text is a number, boolean or string,
// or nested arrays of them with rows of equal length; integers become int64, other numbers float64.
// Text that does not match is an error of kind tenon.ErrInvalid that names the place.
func ParseJSON(text []byte, s tenon.Spec) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var x any
	if err := dec.Decode(&x); err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "tensor.ParseJSON", Err: err}
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, tenon.NewError(tenon.ErrInvalid, "tensor.ParseJSON", "there is text after the value")
	}
	if s == nil {
		d, err := inferredJSON(x)
		if err != nil {
			return nil, err
		}
		s = NewSpec(d, shape.UnknownRank)
	}
	if v, err = FromPlain(x, s); err != nil {
		e := *tenon.AsError(err)
		e.Op = "tensor.ParseJSON"
		if e.Hint == "" && x != nil {
			e.Hint = "the value must be " + tenon.String(s)
		}
		return nil, &e
	}
	return v, nil
}

// inferredJSON returns the element type of nested lists.
func inferredJSON(x any) (d dtype.DType, err error) {
	var see func(x any) error
	see = func(x any) error {
		own := dtype.None
		switch x := x.(type) {
		case []any:
			for _, y := range x {
				if err := see(y); err != nil {
					return err
				}
			}
			return nil
		case bool:
			own = dtype.Bool
		case string:
			own = dtype.String
		case json.Number:
			if own = dtype.Float64; !bytes.ContainsAny([]byte(x), ".eE") {
				own = dtype.Int64
			}
		default:
			e := tenon.NewError(tenon.ErrInvalid, "tensor.ParseJSON", "there is "+kindOf(x)+" in the text, which is not possible in a tensor without a Spec")
			e.Hint = "give the Spec of the value"
			return e
		}
		switch {
		case d == dtype.None || d == own:
			d = own
		case d == dtype.Int64 && own == dtype.Float64 || d == dtype.Float64 && own == dtype.Int64:
			d = dtype.Float64
		case d == dtype.Float64 && own == dtype.String && noNumber(x), d == dtype.String && own == dtype.Float64:
			d = dtype.Float64 // NaN and infinities are recognized when the string is read
		default:
			return tenon.NewError(tenon.ErrInvalid, "tensor.ParseJSON", fmt.Sprintf("there are %v and %v in the text", d, own))
		}
		return nil
	}
	if err := see(x); err != nil {
		return d, err
	}
	if d == dtype.None {
		d = dtype.Float64
	}
	return d, nil
}

func noNumber(x any) bool { return x == "NaN" || x == "Infinity" || x == "-Infinity" }

// JSON is a value as part of a JSON document, such as a field of a struct that package
// encoding/json reads and writes. It exists because values are immutable, so that a tensor cannot
// unmarshal into itself.
//
//	var request struct{ Pixels tensor.JSON }
//	request.Pixels.Of = tensor.NewSpec(dtype.Float32, shape.Of(-1, 784))
//	err := json.Unmarshal(body, &request)
type JSON struct {
	tenon.Value

	// Of is the Spec of the value to be read. If it is nil, the type is inferred;
	// see [ParseJSON].
	Of tenon.Spec
}

// MarshalJSON writes the value as [AppendJSON] does, and null if there is none.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j.Value == nil {
		return []byte("null"), nil
	}
	return AppendJSON(nil, j.Value)
}

// UnmarshalJSON reads a value of Spec Of as [ParseJSON] does.
func (j *JSON) UnmarshalJSON(text []byte) (err error) {
	j.Value, err = ParseJSON(text, j.Of)
	return err
}

// MarshalJSON writes nested arrays; see [AppendJSON].
func (d *Dense) MarshalJSON() ([]byte, error) { return AppendJSON(nil, d) }

// MarshalJSON writes nested arrays; see [AppendJSON].
func (s *Strings) MarshalJSON() ([]byte, error) { return AppendJSON(nil, s) }

// maxLogged is the largest number of elements that are logged along with the
// Spec.
const maxLogged = 16

// LogValue returns a value for package log/slog: one line with the Spec, and the elements if there
// are few.
func LogValue(v tenon.Value) slog.Value {
	if v == nil {
		return slog.StringValue("nil")
	}
	text := tenon.String(v.Spec())
	if n, ok := elementsOf(v, 0); ok && n <= maxLogged {
		if b, err := AppendJSON(nil, v); err == nil && len(b) <= 32*maxLogged {
			text += " " + string(b)
		}
	}
	return slog.StringValue(text)
}

// elementsOf counts the elements of a value's tensors.
func elementsOf(v tenon.Value, depth int) (n int, ok bool) {
	switch x := v.(type) {
	case *Dense:
		return x.Len(), true
	case *Strings:
		return x.Len(), true
	}
	if v == nil || tenon.IsLeaf(v.Spec()) || depth > maxLogged {
		return 0, false
	}
	s := v.Spec()
	parts, err := s.Disassemble(v)
	if err != nil {
		return 0, false
	}
	for _, p := range parts {
		m, ok := elementsOf(p, depth+1)
		if n += m; !ok || n > 4*maxLogged {
			return n, false
		}
	}
	return n, true
}

// LogValue returns one line for package log/slog.
func (d *Dense) LogValue() slog.Value { return LogValue(d) }

// LogValue returns one line for package log/slog.
func (s *Strings) LogValue() slog.Value { return LogValue(s) }
