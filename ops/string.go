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

// A Unit says what lengths and positions in strings count, and what letters are.
type Unit string

// The units.
const (
	UnitByte Unit = "byte" // bytes; letters are those of ASCII
	UnitChar Unit = "char" // the characters of UTF-8; letters are those of Unicode
)

func unitOf(c *op.Call, i int) (str.Unit, error) {
	switch Unit(c.Str(i)) {
	case UnitByte, "":
		return str.Byte, nil
	case UnitChar:
		return str.Char, nil
	}
	return 0, c.Errorf(tenon.ErrInvalid, "the unit is %q, want byte or char", c.Str(i))
}

var unitParam = op.Param{Name: "unit", Kind: op.Attr, Type: op.StringType, Default: string(UnitByte)}

// A stringMap is an elementwise string operation.
type stringMap struct {
	name, doc string
	params    []op.Param                                  // after x
	elem      func(c *op.Call, d dtype.DType) dtype.DType // nil: strings
	check     func(c *op.Call) error
	kernel    func(c *op.Call, x str.Column, s shape.Shape) (tensor.Tensor, error)
}

// perString registers an elementwise operation of one string tensor.
func perString(m stringMap) *op.Op {
	o := op.Register(&op.Op{
		Name: m.name, Statement: mapped, GoName: stringNames[m.name], Doc: m.doc, Nondifferentiable: true,
		Params: append(unaryOf(op.StringsOnly), m.params...), Results: 1,
		Elem: m.elem, Check: m.check,
		Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
			x := c.Strings(0)
			out, err := m.kernel(c, move.Column(x), x.Shape())
			if err != nil {
				return nil, stringError(c, 0, err)
			}
			return c.Result(out)
		},
	})
	return o
}

// stringError completes an error about a string in operand i by naming the element.
func stringError(c *op.Call, i int, err error) error {
	var e *str.Error
	if !errors.As(err, &e) {
		return c.Errorf(tenon.ErrInvalid, "%v", err)
	}
	return c.Errorf(tenon.ErrInvalid, "%s", e.Detail).At(c.Op.Params[i].Name + coordinates(c.Tensor(i).Shape(), e.Index))
}

// wantUnit checks a unit, attribute 1.
func wantUnit(c *op.Call) error {
	_, err := unitOf(c, 1)
	return err
}

var stringLengthOp = perString(stringMap{
	name: "strings.length", doc: "The length of each string.", params: []op.Param{unitParam},
	elem: always(dtype.Int64), check: wantUnit,
	kernel: func(c *op.Call, x str.Column, s shape.Shape) (tensor.Tensor, error) {
		u, _ := unitOf(c, 1)
		out, n := tensor.Make[int64](s)
		str.Lengths(n, x, u)
		return out, nil
	},
})

// StringLength returns the length of each string, in bytes or characters.
//
//	x: string[n…] → int64[n…]. No gradient.
func StringLength(x any, u Unit) tensor.Tensor { return op.Eval(stringLengthOp, x, string(u)) }

// inUnit chooses between the byte and the character form of a kernel.
func inUnit(bytes, chars func(str.Column) str.Column) func(c *op.Call, x str.Column, s shape.Shape) (tensor.Tensor, error) {
	return func(c *op.Call, x str.Column, s shape.Shape) (tensor.Tensor, error) {
		f := bytes
		if u, _ := unitOf(c, 1); u == str.Char {
			f = chars
		}
		return move.Tensor(f(x), s), nil
	}
}

var stringLowerOp = perString(stringMap{
	name: "strings.lower", doc: "Each string in lower case.", params: []op.Param{unitParam},
	check: wantUnit, kernel: inUnit(str.Lower, str.LowerUTF8),
})

// StringLower returns each string in lower case. UnitByte changes only ASCII letters, and UnitChar
// all characters; malformed bytes then become U+FFFD.
//
//	x: string[n…] → string[n…]. No gradient.
func StringLower(x any, u Unit) tensor.Tensor { return op.Eval(stringLowerOp, x, string(u)) }

var stringUpperOp = perString(stringMap{
	name: "strings.upper", doc: "Each string in upper case.", params: []op.Param{unitParam},
	check: wantUnit, kernel: inUnit(str.Upper, str.UpperUTF8),
})

// StringUpper returns each string in upper case; see [StringLower].
//
//	x: string[n…] → string[n…]. No gradient.
func StringUpper(x any, u Unit) tensor.Tensor { return op.Eval(stringUpperOp, x, string(u)) }

var stringStripOp = perString(stringMap{
	name: "strings.strip", doc: "Each string without white space at its ends.",
	kernel: func(_ *op.Call, x str.Column, s shape.Shape) (tensor.Tensor, error) {
		return move.Tensor(str.Strip(x), s), nil
	},
})

// StringStrip returns each string without leading and trailing ASCII white space.
//
//	x: string[n…] → string[n…]. No gradient.
func StringStrip(x any) tensor.Tensor { return op.Eval(stringStripOp, x) }

var stringRegexReplaceOp = perString(stringMap{
	name: "strings.regex_replace", doc: "Each string with the matches of a pattern replaced.",
	params: []op.Param{{Name: "pattern", Kind: op.Attr, Type: op.StringType}, {Name: "rewrite", Kind: op.Attr, Type: op.StringType},
		{Name: "global", Kind: op.Attr, Type: op.BoolType, Default: true}},
	kernel: func(c *op.Call, x str.Column, s shape.Shape) (tensor.Tensor, error) {
		out, err := str.RegexReplace(x, c.Str(1), c.Str(2), c.Bool(3))
		return move.Tensor(out, s), err
	},
})

// RegexReplaceOptions says how [StringRegexReplace] replaces.
type RegexReplaceOptions struct {
	First bool // replace only the first match
}

// StringRegexReplace returns each string with the matches of a pattern replaced by rewrite, in
// which \1 to \9 stand for the groups and \0 for the whole match. The pattern has the syntax of
// package regexp.
//
//	x: string[n…] → string[n…]. No gradient.
func StringRegexReplace(x any, pattern, rewrite string, o RegexReplaceOptions) tensor.Tensor {
	return op.Eval(stringRegexReplaceOp, x, pattern, rewrite, !o.First)
}

var stringRegexFullMatchOp = perString(stringMap{
	name: "strings.regex_full_match", doc: "Whether a pattern matches each string as a whole.",
	params: []op.Param{{Name: "pattern", Kind: op.Attr, Type: op.StringType}},
	elem:   always(dtype.Bool),
	kernel: func(c *op.Call, x str.Column, s shape.Shape) (tensor.Tensor, error) {
		out, b := tensor.Make[bool](s)
		return out, str.RegexFullMatch(b, x, c.Str(1))
	},
})

// StringRegexFullMatch reports whether a pattern matches each string as a whole. The pattern has
// the syntax of package regexp.
//
//	x: string[n…] → bool[n…]. No gradient.
func StringRegexFullMatch(x any, pattern string) tensor.Tensor {
	return op.Eval(stringRegexFullMatchOp, x, pattern)
}

var stringHashOp = perString(stringMap{
	name: "strings.hash", doc: "The number of a bucket for each string.",
	params: []op.Param{{Name: "buckets", Kind: op.Attr, Type: op.IntType}, {Name: "key", Kind: op.Attr, Type: op.IntsType, Optional: true}},
	elem:   always(dtype.Int64),
	check: func(c *op.Call) error {
		if n := c.Int(1); n < 1 {
			return c.Errorf(tenon.ErrInvalid, "there are %d buckets, want at least 1", n)
		}
		if k := c.Ints(2); k != nil && len(k) != 2 {
			return c.Errorf(tenon.ErrInvalid, "the key has %d numbers, want 2", len(k))
		}
		return nil
	},
	kernel: func(c *op.Call, x str.Column, s shape.Shape) (tensor.Tensor, error) {
		out := tensor.Uninit(dtype.Int64, s)
		hash := move.Words[uint64](out) // in the memory of the result
		if k := c.Ints(2); k != nil {
			str.SipHashes(hash, x, [2]uint64{uint64(k[0]), uint64(k[1])})
		} else {
			str.Fingerprints(hash, x)
		}
		str.Buckets(hash, uint64(c.Int(1)))
		return out, nil
	},
})

// HashOptions says how [StringHash] computes. The zero value means FarmHash's
// fingerprint, which is fast.
type HashOptions struct {
	// Key selects SipHash-2-4 with this key, so that nobody who does not know it can make strings
	// that fall into the same bucket.
	Key *[2]uint64
}

// StringHash returns, for each string, a number from 0 up to, but not including, buckets. It is the
// same on every machine and in every version.
//
//	x: string[n…] → int64[n…]. No gradient.
func StringHash(x any, buckets int, o HashOptions) tensor.Tensor {
	if o.Key == nil {
		return op.Eval(stringHashOp, x, buckets)
	}
	return op.Eval(stringHashOp, x, buckets, []int{int(o.Key[0]), int(o.Key[1])})
}

var stringTranscodeOp = perString(stringMap{
	name: "strings.unicode_transcode", doc: "Each string in another encoding.",
	params: append([]op.Param{{Name: "from", Kind: op.Attr, Type: op.StringType}, {Name: "to", Kind: op.Attr, Type: op.StringType}}, unicodeParams...),
	check: func(c *op.Call) error {
		_, err1 := str.ParseEncoding(c.Str(1))
		_, err2 := str.ParseOutputEncoding(c.Str(2))
		_, err3 := unicodeOptions(c, 3)
		if err := errors.Join(err1, err2, err3); err != nil {
			return c.Errorf(tenon.ErrInvalid, "%v", err)
		}
		return nil
	},
	kernel: func(c *op.Call, x str.Column, s shape.Shape) (tensor.Tensor, error) {
		from, _ := str.ParseEncoding(c.Str(1))
		to, _ := str.ParseOutputEncoding(c.Str(2))
		o, _ := unicodeOptions(c, 3)
		out, err := str.Transcode(x, from, to, o)
		return move.Tensor(out, s), err
	},
})

// StringTranscode converts each string from one encoding to another, which is UTF-8, UTF-16-BE or
// UTF-32-BE. It reads these and also UTF-16-LE, UTF-32-LE, US-ASCII and ISO-8859-1.
//
//	x: string[n…] → string[n…]. No gradient.
func StringTranscode(x any, from, to string, o UnicodeOptions) tensor.Tensor {
	return op.Eval(stringTranscodeOp, x, encodingAttr(from), encodingAttr(to), o.Errors.attr(), int(o.Replacement), o.ReplaceControl)
}
