package ops

import (
	"errors"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/direct"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// UnicodeErrors says what becomes of malformed input.
type UnicodeErrors string

// What becomes of malformed input.
const (
	UnicodeReplace UnicodeErrors = "replace" // the replacement character stands there
	UnicodeIgnore  UnicodeErrors = "ignore"  // it is left out
	UnicodeStrict  UnicodeErrors = "strict"  // it is an error that names the string
)

// UnicodeOptions says how malformed input is treated. The zero value replaces it by
// U+FFFD.
type UnicodeOptions struct {
	Errors         UnicodeErrors // "" is UnicodeReplace
	Replacement    rune          // 0 is U+FFFD
	ReplaceControl bool          // treat U+0000 to U+001F as malformed too, except that UnicodeStrict replaces them
}

var unicodeParams = []op.Param{
	{Name: "errors", Kind: op.Attr, Type: op.StringType, Default: string(UnicodeReplace)},
	{Name: "replacement", Kind: op.Attr, Type: op.IntType, Default: 0},
	{Name: "replace_control", Kind: op.Attr, Type: op.BoolType, Default: false},
}

func (o UnicodeOptions) args() []any {
	if o.Errors == "" {
		o.Errors = UnicodeReplace
	}
	return []any{string(o.Errors), int(o.Replacement), o.ReplaceControl}
}

// unicodeOptions reads the attributes from i on.
func unicodeOptions(c *op.Call, i int) (str.UnicodeOptions, error) {
	p, err := str.ParsePolicy(c.Str(i))
	r := c.Int(i + 1)
	if err == nil && (r < 0 || r > 0x10ffff || 0xd800 <= r && r < 0xe000) {
		err = errors.New("the replacement is no character")
	}
	return str.UnicodeOptions{Errors: p, Replacement: rune(r), ReplaceControl: c.Bool(i + 2)}, err
}

// decoding registers an operation that cuts strings into characters: their row
// splits, and the position of each one's first byte, come behind them.
func decoding(name, doc string, d dtype.DType, kernel func(x str.Column, from str.Encoding, o str.UnicodeOptions) (splits, at []int64, out tensor.Tensor, err error)) *op.Op {
	return op.Register(&op.Op{
		Name: name, GoName: stringNames[name], Doc: doc, Class: op.Other, Nondifferentiable: true,
		Params: append([]op.Param{{Name: "x"}, {Name: "from", Kind: op.Attr, Type: op.StringType, Default: "UTF-8"}}, unicodeParams...), Results: 3,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			if err := wantDType(c, 0, dtype.DType.IsString, "string"); err != nil {
				return nil, err
			}
			_, err1 := str.ParseEncoding(c.Str(1))
			_, err2 := unicodeOptions(c, 2)
			if err := errors.Join(err1, err2); err != nil {
				return nil, c.Errorf(tenon.ErrInvalid, "%v", err)
			}
			open := shape.Of(shape.Unknown)
			return []tenon.Spec{tensor.NewSpec(d, open), splitsSpec(c), tensor.NewSpec(dtype.Int64, open)}, nil
		},
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			from, _ := str.ParseEncoding(c.Str(1))
			o, _ := unicodeOptions(c, 2)
			splits, at, out, err := kernel(move.Column(c.Strings(0)), from, o)
			if err != nil {
				return nil, stringError(c, 0, err)
			}
			return []tensor.Tensor{out, tensor.Vector(splits), tensor.Vector(at)}, nil
		},
	})
}

// splitsSpec is the Spec of row splits with a row for each element of argument 0.
func splitsSpec(c *op.Call) tenon.Spec {
	n := c.Tensor(0).Shape().Size()
	if n >= 0 {
		n++
	}
	return tensor.NewSpec(dtype.Int64, shape.Of(n))
}

var stringDecodeOp = decoding("strings.unicode_decode", "The code points of each string.", dtype.Int32,
	func(x str.Column, from str.Encoding, o str.UnicodeOptions) (splits, at []int64, out tensor.Tensor, err error) {
		splits, codes, at, err := str.Decode(x, from, o)
		return splits, at, tensor.Vector(codes), err
	})

// StringDecode returns the code points of all strings one behind the other, the row
// splits that tell which belong to which string, in row-major order, and the
// position of the first byte of each in its string. For the encodings see [StringTranscode].
//
//	x: string[n…] → int32[m], int64[size+1], int64[m]. No gradient.
func StringDecode(x any, from string, o UnicodeOptions) (codes, splits, offsets tensor.Tensor) {
	out := direct.EvalN(stringDecodeOp, append([]any{x, from}, o.args()...)...)
	return out[0], out[1], out[2]
}

var stringCharsOp = decoding("strings.unicode_split", "The characters of each string.", dtype.String,
	func(x str.Column, from str.Encoding, o str.UnicodeOptions) (splits, at []int64, out tensor.Tensor, err error) {
		splits, chars, at, err := str.SplitChars(x, from, o)
		return splits, at, move.Tensor(chars, shape.Of(chars.Len())), err
	})

// StringChars returns the characters of all strings one behind the other as strings,
// and what [StringDecode] returns beside them.
//
//	x: string[n…] → string[m], int64[size+1], int64[m]. No gradient.
func StringChars(x any, from string, o UnicodeOptions) (chars, splits, offsets tensor.Tensor) {
	out := direct.EvalN(stringCharsOp, append([]any{x, from}, o.args()...)...)
	return out[0], out[1], out[2]
}

var stringEncodeOp = op.Register(&op.Op{
	Name: "strings.unicode_encode", GoName: "ops.StringEncode", Doc: "A string of each row of code points.", Class: op.Other, Nondifferentiable: true,
	Params: append([]op.Param{{Name: "codes"}, {Name: "splits", Optional: true}, {Name: "to", Kind: op.Attr, Type: op.StringType, Default: "UTF-8"}}, unicodeParams...), Results: 1,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		if err := wantIndex(c, 0); err != nil {
			return nil, err
		}
		_, err1 := str.ParseOutputEncoding(c.Str(2))
		_, err2 := unicodeOptions(c, 3)
		if err := errors.Join(err1, err2); err != nil {
			return nil, c.Errorf(tenon.ErrInvalid, "%v", err)
		}
		s := c.Tensor(0).Shape()
		if !c.Has(1) {
			if err := wantRank(c, 0, 1); err != nil || !s.HasRank() {
				return []tenon.Spec{tensor.NewSpec(dtype.String, s)}, err
			}
			return specs(dtype.String, s.Slice(0, s.Rank()-1))
		}
		if err := wantIndex(c, 1); err != nil {
			return nil, err
		}
		if !s.CompatibleWith(shape.OfRank(1)) || !c.Tensor(1).Shape().CompatibleWith(shape.OfRank(1)) {
			return nil, c.Errorf(tenon.ErrShape, "codes and splits have the shapes %v and %v, want vectors", s, c.Tensor(1).Shape())
		}
		n := c.Tensor(1).Shape().Dim(0)
		if n == 0 {
			return nil, c.Errorf(tenon.ErrInvalid, "splits has no entries, want one more than there are rows")
		}
		return specs(dtype.String, shape.Of(max(n-1, shape.Unknown)))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		to, _ := str.ParseOutputEncoding(c.Str(2))
		o, _ := unicodeOptions(c, 3)
		s := outShape(c, 0)
		x := c.Dense(0)
		splits, err := encodeSplits(c, x, s)
		if err != nil {
			return nil, err
		}
		out, err := str.Encode(codesOf(x), splits, to, o)
		if err != nil {
			return nil, c.Errorf(tenon.ErrInvalid, "%v", err)
		}
		return results(move.Tensor(out, s))
	},
})

// encodeSplits returns the row splits that were given, or those of the last axis.
func encodeSplits(c *op.Call, x *tensor.Dense, s shape.Shape) ([]int64, error) {
	if !c.Has(1) {
		return uniformSplits(s.Size(), x.Dim(-1)), nil
	}
	return checkedSplits(c, 1, x.Len())
}

// codesOf returns code points as int32; what is beyond those is no code point.
func codesOf(x *tensor.Dense) []int32 {
	if x.DType() == dtype.Int32 {
		return tensor.Elems[int32](x)
	}
	return tensor.Data[int32](castDense(x, dtype.Int32))
}

// StringEncode returns a string of each row of code points, in UTF-8, UTF-16-BE or
// UTF-32-BE. Rows are those of the last axis, or for a vector those of splits, row
// splits, where they are not nil.
//
//	codes: int[n…, m] → string[n…], or codes: int[m], splits: int[n+1] → string[n]. No gradient.
func StringEncode(codes, splits any, to string, o UnicodeOptions) tensor.Tensor {
	return direct.Eval(stringEncodeOp, append([]any{codes, splits, to}, o.args()...)...)
}
