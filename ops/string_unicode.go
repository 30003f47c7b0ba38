package ops

import (
	"errors"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// UnicodeErrors says how malformed input is treated.
type UnicodeErrors string

// The ways to treat malformed input.
const (
	UnicodeReplace UnicodeErrors = "replace" // it is replaced by the replacement character
	UnicodeIgnore  UnicodeErrors = "ignore"  // it is omitted
	UnicodeStrict  UnicodeErrors = "strict"  // it is an error that names the string
)

// UnicodeOptions says how malformed input is treated. The zero value replaces it by U+FFFD.
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

// attr returns the policy as an attribute. Known policies need no allocation.
func (e UnicodeErrors) attr() any {
	switch e {
	case UnicodeReplace, "":
		return string(UnicodeReplace)
	case UnicodeIgnore:
		return string(UnicodeIgnore)
	case UnicodeStrict:
		return string(UnicodeStrict)
	}
	return string(e)
}

// encodingAttr returns the name of an encoding as an attribute.
func encodingAttr(name string) any {
	if name == "UTF-8" {
		return "UTF-8"
	}
	return name
}

// unicodeOptions reads the attributes from i on.
func unicodeOptions(c *op.Call, i int) (str.UnicodeOptions, error) {
	p, err := str.ParsePolicy(c.Str(i))
	r := c.Int(i + 1)
	if err == nil && (r < 0 || r > 0x10ffff || 0xd800 <= r && r < 0xe000) {
		err = errors.New("the replacement is not a character")
	}
	return str.UnicodeOptions{Errors: p, Replacement: rune(r), ReplaceControl: c.Bool(i + 2)}, err
}

// decoding registers an operation that splits strings into characters. result makes the first
// result from their code points; it is followed by the row splits and the position of the first
// byte of each character.
func decoding(name, doc string, d dtype.DType, result func(codes *tensor.Dense, from str.Encoding) tensor.Tensor) *op.Op {
	p := op.Register(&op.Op{
		Name: name, Statement: opaque("the number of pieces depends on the strings"), GoName: stringNames[name], Doc: doc, Nondifferentiable: true,
		Params: append([]op.Param{{Name: "x", Takes: op.StringsOnly}, {Name: "from", Kind: op.Attr, Type: op.StringType, Default: "UTF-8"}}, unicodeParams...), Results: 3,
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
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
			x := move.Column(c.Strings(0))
			splits, ends := tensor.Make[int64](shape.Of(x.Len() + 1))
			if err := str.CharSplits(ends, x, from, o); err != nil {
				return nil, stringError(c, 0, err)
			}
			n := shape.Of(int(ends[x.Len()]))
			codes, runes := tensor.Make[int32](n)
			at, first := tensor.Make[int64](n)
			str.Decode(runes, first, ends, x, from, o)
			return []tensor.Tensor{result(codes, from), splits, at}, nil
		},
	})
	return p
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
	func(codes *tensor.Dense, _ str.Encoding) tensor.Tensor { return codes })

// StringDecode returns the code points of all strings one after the other, the row splits that
// assign them to their strings in row-major order, and the position of the first byte of each in
// its string. For the encodings, see [StringTranscode].
//
//	x: string[n…] → int32[m], int64[size+1], int64[m]. No gradient.
func StringDecode(x any, from string, o UnicodeOptions) (codes, splits, offsets tensor.Tensor) {
	out := op.EvalN(stringDecodeOp, x, encodingAttr(from), o.Errors.attr(), int(o.Replacement), o.ReplaceControl)
	return out[0], out[1], out[2]
}

var stringCharsOp = decoding("strings.unicode_split", "The characters of each string.", dtype.String,
	func(codes *tensor.Dense, from str.Encoding) tensor.Tensor {
		return move.Tensor(str.Chars(tensor.Elems[int32](codes), from), codes.Shape())
	})

// StringChars returns the characters of all strings one after the other, each as a string, followed
// by the other results of [StringDecode].
//
//	x: string[n…] → string[m], int64[size+1], int64[m]. No gradient.
func StringChars(x any, from string, o UnicodeOptions) (chars, splits, offsets tensor.Tensor) {
	out := op.EvalN(stringCharsOp, x, encodingAttr(from), o.Errors.attr(), int(o.Replacement), o.ReplaceControl)
	return out[0], out[1], out[2]
}

var stringEncodeOp = op.Register(&op.Op{
	Name: "strings.unicode_encode", Statement: op.Statement{Axes: op.Reduce, By: op.ByRows, Control: two, Missing: op.Refuse}, GoName: "ops.StringEncode", Doc: "A string of each row of code points.", Nondifferentiable: true,
	Params: append([]op.Param{{Name: "codes", Takes: op.Indices, Rank: 1}, {Name: "splits", Takes: op.Indices, Rank: op.Vector, Optional: true}, {Name: "to", Kind: op.Attr, Type: op.StringType, Default: "UTF-8"}}, unicodeParams...), Results: 1,
	Elem: always(dtype.String),
	Shape: func(c *op.Call) (shape.Shape, error) {
		s := c.Tensor(0).Shape()
		_, err1 := str.ParseOutputEncoding(c.Str(2))
		_, err2 := unicodeOptions(c, 3)
		if err := errors.Join(err1, err2); err != nil {
			return s, c.Errorf(tenon.ErrInvalid, "%v", err)
		}
		switch {
		case !c.Has(1) && !s.HasRank():
			return s, nil
		case !c.Has(1):
			return s.Slice(0, s.Rank()-1), nil
		case s.Rank() > 1:
			return s, c.Errorf(tenon.ErrShape, "codes has the shape %v, want a vector", s)
		}
		n, _, err := c.Partition(1)
		return shape.Of(n), err
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		to, _ := str.ParseOutputEncoding(c.Str(2))
		o, _ := unicodeOptions(c, 3)
		x := c.Dense(0)
		splits, s, err := encodeSplits(c, x)
		if err != nil {
			return nil, err
		}
		out, err := str.Encode(codesOf(x), splits, to, o)
		if err != nil {
			return nil, c.Errorf(tenon.ErrInvalid, "%v", err)
		}
		return c.Result(move.Tensor(out, s))
	},
})

// encodeSplits returns the given row splits or those of the last axis, and the shape of the result.
func encodeSplits(c *op.Call, x *tensor.Dense) ([]int64, shape.Shape, error) {
	if !c.Has(1) {
		s := x.Shape().Slice(0, x.Rank()-1)
		return uniformSplits(s.Size(), x.Dim(-1)), s, nil
	}
	splits, err := checkedSplits(c, 1, x.Len())
	return splits, shape.Of(len(splits) - 1), err
}

// codesOf returns code points as int32. Numbers out of range are not code points.
func codesOf(x *tensor.Dense) []int32 {
	if x.DType() == dtype.Int32 {
		return tensor.Elems[int32](x)
	}
	return tensor.Data[int32](castDense(x, dtype.Int32))
}

// StringEncode encodes each row of code points as a string, in UTF-8, UTF-16-BE or UTF-32-BE. Rows
// are those of the last axis or, for a vector, those given by the row splits, if splits is not nil.
//
//	codes: int[n…, m] → string[n…], or codes: int[m], splits: int[n+1] → string[n]. No gradient.
func StringEncode(codes, splits any, to string, o UnicodeOptions) tensor.Tensor {
	return op.Eval(stringEncodeOp, codes, splits, encodingAttr(to), o.Errors.attr(), int(o.Replacement), o.ReplaceControl)
}
