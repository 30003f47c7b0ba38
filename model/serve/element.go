package serve

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// datatypes are the Open Inference Protocol's names of element types.
var datatypes = map[dtype.DType]string{
	dtype.Bool: "BOOL", dtype.Int8: "INT8", dtype.Int16: "INT16", dtype.Int32: "INT32", dtype.Int64: "INT64",
	dtype.Uint8: "UINT8", dtype.Uint16: "UINT16", dtype.Uint32: "UINT32", dtype.Uint64: "UINT64",
	dtype.Float16: "FP16", dtype.BFloat16: "BF16", dtype.Float32: "FP32", dtype.Float64: "FP64", dtype.String: "BYTES",
}

// datatype returns the protocol's name of an element type.
func datatype(d dtype.DType) string {
	if s, ok := datatypes[d]; ok {
		return s
	}
	return strings.ToUpper(d.String())
}

// dtypeOf returns the element type of a protocol's name.
func dtypeOf(name string) (dtype.DType, bool) {
	for d, s := range datatypes {
		if s == name {
			return d, true
		}
	}
	return dtype.None, false
}

// A style says how elements are written in JSON.
type style struct {
	finite  bool // infinities and NaN are strings, because strict JSON has no numbers for them
	intText bool // integers may be strings
	b64     bool // bytes that are not UTF-8 are {"b64": …}
	double  bool // floats have the digits of a float64, so that every reader finds the same number
}

// The styles of the protocols.
var (
	openInference = style{double: true}
	tensorFlow    = style{intText: true, b64: true}
	natural       = style{finite: true, b64: true}
)

// elements collects the elements of a column.
type elements struct {
	dt    dtype.DType
	n     int
	bytes []byte   // little-endian
	texts []string // strings
}

// tensor returns the elements as a tensor.
func (e *elements) tensor(dims []int) (tensor.Tensor, error) {
	if e.dt == dtype.String {
		return tensor.Of(append([]string{}, e.texts...)).(*tensor.Strings).Reshaped(shape.Of(dims...)), nil
	}
	return tensor.FromBytes(e.dt, shape.Of(dims...), e.bytes)
}

// grow makes room for n more elements.
func (e *elements) grow(n int) {
	if e.dt == dtype.String {
		e.texts = slices.Grow(e.texts, n)
	} else {
		e.bytes = slices.Grow(e.bytes, n*e.dt.Size())
	}
}

// A label is a place with a name of its own.
type label string

// String returns the name.
func (l label) String() string { return string(l) }

// add adds an element from JSON.
func (e *elements) add(x any, where fmt.Stringer, s style) error {
	if n, ok := x.(number); ok {
		return e.number(n, where, s)
	}
	e.n++
	switch {
	case e.dt == dtype.String:
		t, err := textOf(x, where, s)
		e.texts = append(e.texts, t)
		return err
	case e.dt == dtype.Bool:
		b, ok := x.(bool)
		if !ok {
			return badInput("%s is %s, want true or false", where, shown(x))
		}
		if b {
			e.bytes = append(e.bytes, 1)
		} else {
			e.bytes = append(e.bytes, 0)
		}
		return nil
	case e.dt.IsFloat():
		if t, ok := x.(string); ok && s.finite && (t == "NaN" || t == "Infinity" || t == "-Infinity") {
			return e.float(number(t), where)
		}
		return badInput("%s is %s, want a number", where, shown(x))
	}
	if t, ok := x.(string); ok && s.intText {
		return e.integer(number(t), where)
	}
	return badInput("%s is %s, want an integer", where, shown(x))
}

// number adds an element that is a number in JSON.
func (e *elements) number(n number, where fmt.Stringer, s style) error {
	e.n++
	switch {
	case e.dt == dtype.String:
		return badInput("%s is %s, want a text", where, shown(n))
	case e.dt == dtype.Bool:
		return badInput("%s is %s, want true or false", where, shown(n))
	case e.dt.IsFloat():
		return e.float(n, where)
	}
	return e.integer(n, where)
}

func textOf(x any, where fmt.Stringer, s style) (string, error) {
	switch x := x.(type) {
	case string:
		return x, nil
	case *object:
		v, ok := x.get("b64")
		text, isText := v.(string)
		if !s.b64 || !ok || len(x.names) != 1 || !isText {
			break
		}
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return "", badInput("%s is not base64: %v", where, err)
		}
		return string(b), nil
	}
	return "", badInput("%s is %s, want a text", where, shown(x))
}

// shown returns a short form of a JSON value.
func shown(x any) string {
	switch x := x.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(x)
	case number:
		if len(x) > 40 {
			return string(x[:40]) + "…"
		}
		return string(x)
	case string:
		if len(x) > 40 {
			x = strings.ToValidUTF8(x[:40], "") + "…"
		}
		return "the text " + strconv.Quote(x)
	case *list:
		return "a list"
	}
	return "an object"
}

// A reader writes the elements of a column as JSON.
type reader struct {
	dt    dtype.DType
	bytes []byte
	texts *tensor.Strings
}

func readerOf(t tensor.Tensor) reader {
	if s, ok := t.(*tensor.Strings); ok {
		return reader{dt: dtype.String, texts: s}
	}
	d := tensor.Contiguous(t.(*tensor.Dense))
	return reader{dt: d.DType(), bytes: d.Bytes()}
}

// bits returns element i, of up to 8 bytes, as bits.
func (r *reader) bits(i int) uint64 {
	n := r.dt.Size()
	u := uint64(0)
	for k := n - 1; k >= 0; k-- {
		u = u<<8 | uint64(r.bytes[i*n+k])
	}
	return u
}

// integer returns element i of a column of integers.
func (r *reader) integer(i int) int {
	if r.dt == dtype.Int32 {
		return int(int32(r.bits(i)))
	}
	return int(int64(r.bits(i)))
}

// append appends element i as JSON.
func (r *reader) append(b []byte, i int, name string, s style) ([]byte, error) {
	switch {
	case r.dt == dtype.String:
		t := r.texts.At(i)
		if utf8.ValidString(t) {
			return appendText(b, t), nil
		}
		if !s.b64 {
			return b, badInput("%s contains bytes that are not UTF-8, which JSON cannot represent; ask for binary data", name)
		}
		b = append(b, `{"b64":"`...)
		b = base64.StdEncoding.AppendEncode(b, []byte(t))
		return append(b, `"}`...), nil
	case r.dt == dtype.Bool:
		return strconv.AppendBool(b, r.bits(i) != 0), nil
	case r.dt.IsUnsigned():
		return strconv.AppendUint(b, r.bits(i), 10), nil
	case r.dt.IsFloat():
		return r.float(b, i, s), nil
	}
	shift := 64 - 8*r.dt.Size()
	return strconv.AppendInt(b, int64(r.bits(i)<<shift)>>shift, 10), nil
}

// value returns element i of a column of floats.
func (r *reader) value(i int) float64 {
	switch u := r.bits(i); r.dt {
	case dtype.Float64:
		return math.Float64frombits(u)
	case dtype.Float32:
		return float64(math.Float32frombits(uint32(u)))
	case dtype.BFloat16:
		return float64(dtype.BF16(u).Float32())
	default:
		return float64(dtype.F16(u).Float32())
	}
}

func (r *reader) float(b []byte, i int, s style) []byte {
	f, bits := r.value(i), 32
	if r.dt == dtype.Float64 {
		bits = 64
	}
	word := ""
	switch {
	case math.IsNaN(f):
		word = "NaN"
	case math.IsInf(f, 1):
		word = "Infinity"
	case math.IsInf(f, -1):
		word = "-Infinity"
	}
	if word != "" {
		if s.finite {
			word = `"` + word + `"`
		}
		return append(b, word...)
	}
	if s.double {
		bits = 64
	}
	at := len(b)
	b = strconv.AppendFloat(b, f, 'g', -1, bits)
	for _, c := range b[at:] {
		if c == '.' || c == 'e' {
			return b
		}
	}
	return append(b, ".0"...)
}

// appendText appends a JSON string.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20:
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
