package ops

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The readers and writers of numbers, by element type.
var (
	numberReaders = map[dtype.DType]func(out *tensor.Dense, x str.Column) error{
		dtype.Int8: readInts[int8], dtype.Int16: readInts[int16], dtype.Int32: readInts[int32], dtype.Int64: readInts[int64],
		dtype.Uint8: readInts[uint8], dtype.Uint16: readInts[uint16], dtype.Uint32: readInts[uint32], dtype.Uint64: readInts[uint64],
		dtype.Float32: readFloats[float32], dtype.Float64: readFloats[float64],
	}
	numberWriters = map[dtype.DType]func(x *tensor.Dense, o str.FormatOptions) (str.Column, error){
		dtype.Bool: writeNumbers[bool],
		dtype.Int8: writeNumbers[int8], dtype.Int16: writeNumbers[int16], dtype.Int32: writeNumbers[int32], dtype.Int64: writeNumbers[int64],
		dtype.Uint8: writeNumbers[uint8], dtype.Uint16: writeNumbers[uint16], dtype.Uint32: writeNumbers[uint32], dtype.Uint64: writeNumbers[uint64],
		dtype.Float16: writeNumbers[dtype.F16], dtype.BFloat16: writeNumbers[dtype.BF16], dtype.Float32: writeNumbers[float32], dtype.Float64: writeNumbers[float64],
		dtype.Complex64: writeNumbers[complex64], dtype.Complex128: writeNumbers[complex128],
	}
)

func readInts[T str.Integer](out *tensor.Dense, x str.Column) error {
	return str.ToInt(tensor.Elems[T](out), x)
}

func readFloats[T float32 | float64](out *tensor.Dense, x str.Column) error {
	return str.ToFloat(tensor.Elems[T](out), x)
}

func writeNumbers[T dtype.Number | ~bool](x *tensor.Dense, o str.FormatOptions) (str.Column, error) {
	return str.AsString(tensor.Elems[T](x), o)
}

var stringToNumberOp = perString(stringMap{
	name: "strings.to_number", doc: "The number in each string.",
	params: []op.Param{{Name: "dtype", Kind: op.Attr, Type: op.DTypeType, Default: dtype.Float32}},
	elem:   func(c *op.Call, _ dtype.DType) dtype.DType { return c.DType(1) },
	check: func(c *op.Call) error {
		if d := c.DType(1); numberReaders[d] == nil {
			return c.Errorf(tenon.ErrDType, "strings are not read as %v", d)
		}
		return nil
	},
	kernel: func(c *op.Call, x str.Column, s shape.Shape) (tensor.Tensor, error) {
		out := tensor.NewDense(c.DType(1), s)
		return out, numberReaders[c.DType(1)](out, x)
	},
})

// StringToNumber returns the number in each string, which may have white space around it. Integers
// must be decimal and fit the type; Float32 and Float64 also accept a point, an exponent,
// hexadecimal, "inf" and "nan". Anything else is an error that names the string.
//
//	x: string[n…] → d[n…]. No gradient.
func StringToNumber(x any, d dtype.DType) tensor.Tensor { return op.Eval(stringToNumberOp, x, d) }

// Notation says how [AsString] writes floating-point numbers.
type Notation string

// The notations, shown for 1234.5 with precision 2.
const (
	NotationFixed      Notation = "fixed"      // 1234.50
	NotationScientific Notation = "scientific" // 1.23e+03
	NotationShortest   Notation = "shortest"   // whichever is shorter, with as many significant digits
)

// FormatOptions says how [AsString] writes numbers. The zero value writes six digits after the
// point.
type FormatOptions struct {
	Notation  Notation // of floating-point numbers; "" is NotationFixed
	Precision *int     // digits after the point, or significant digits with NotationShortest; nil is 6
	Width     int      // minimum number of characters; 0 for any
	Fill      string   // how to fill up to the width: "" with leading spaces, "0" with zeros, "-" with trailing spaces; also printf's "+", " " and "#"
}

var asStringOp = op.Register(&op.Op{
	Name: "strings.as_string", Statement: mapped, GoName: "ops.AsString", Doc: "Each number as a string.", Nondifferentiable: true,
	Params: []op.Param{{Name: "x"}, {Name: "notation", Kind: op.Attr, Type: op.StringType, Default: string(NotationFixed)},
		{Name: "precision", Kind: op.Attr, Type: op.IntType, Default: -1}, {Name: "width", Kind: op.Attr, Type: op.IntType, Default: -1},
		{Name: "fill", Kind: op.Attr, Type: op.StringType, Default: ""}}, Results: 1,
	Elem: always(dtype.String),
	Check: func(c *op.Call) error {
		if _, ok := notations[Notation(c.Str(1))]; !ok {
			return c.Errorf(tenon.ErrInvalid, "the notation is %q, want fixed, scientific or shortest", c.Str(1))
		}
		return nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		if x, ok := c.Tensor(0).(*tensor.Strings); ok {
			return c.Result(x)
		}
		x := c.Dense(0)
		o := str.FormatOptions{Notation: notations[Notation(c.Str(1))], Precision: c.Int(2), Width: c.Int(3), Fill: c.Str(4)}
		out, err := numberWriters[x.DType()](x, o)
		if err != nil {
			return nil, c.Errorf(tenon.ErrInvalid, "%v", err)
		}
		return c.Result(move.Tensor(out, x.Shape()))
	},
})

var notations = map[Notation]str.Notation{NotationFixed: str.Fixed, NotationScientific: str.Scientific, NotationShortest: str.Shortest}

// AsString returns each number as a string. Booleans become "true" and "false";
// strings are unchanged.
//
//	x: [n…] → string[n…], any element type. No gradient.
func AsString(x any, o FormatOptions) tensor.Tensor {
	if o.Notation == "" {
		o.Notation = NotationFixed
	}
	precision, width := -1, -1
	if o.Precision != nil {
		precision = *o.Precision
	}
	if o.Width != 0 {
		width = o.Width
	}
	return op.Eval(asStringOp, x, string(o.Notation), precision, width, o.Fill)
}

var stringCompareOp = op.Register(&op.Op{
	Name: "strings.compare", Statement: mapped, GoName: "ops.StringCompare", Doc: "The order of strings: -1, 0 or 1.", Nondifferentiable: true,
	Params: []op.Param{{Name: "x", Group: 1, Takes: op.StringsOnly}, {Name: "y", Group: 1, Takes: op.StringsOnly}}, Results: 1,
	Elem: always(dtype.Int8),
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		s := inferredShape(c)
		var columns [2]str.Column
		for i := range columns {
			x := c.Strings(i)
			if x.Len() != 1 && !x.Shape().Equal(s) {
				x = move.Apply(x, func(d *tensor.Dense) *tensor.Dense { return move.Stretched(d, s) }).(*tensor.Strings)
			}
			columns[i] = move.Column(x)
		}
		out, sign := tensor.Make[int8](s)
		str.Compare(sign, columns[0], columns[1])
		return c.Result(out)
	},
})

// StringCompare compares strings by their bytes. It returns -1, 0 or 1 if the string of x is less
// than, equal to or greater than that of y. The operands broadcast; [Equal] and [Less] compare
// strings too.
//
//	x, y: string[n…] → int8[n…]. No gradient.
func StringCompare(x, y any) tensor.Tensor { return op.Eval(stringCompareOp, x, y) }
