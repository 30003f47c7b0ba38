package main

import (
	"errors"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Operations on strings. Elementwise ones take any value; those that make rows of
// each string are done here for dense operands whose results are dense.
func init() {
	m := map[string]func(c *cases.Case) any{
		"lower":  func(c *cases.Case) any { return ops.StringLower(c.Arg(0), letters(c)) },
		"upper":  func(c *cases.Case) any { return ops.StringUpper(c.Arg(0), letters(c)) },
		"strip":  func(c *cases.Case) any { return ops.StringStrip(c.Arg(0)) },
		"length": func(c *cases.Case) any { return ops.Cast(ops.StringLength(c.Arg(0), unit(c)), dtype.Int32) },
		"substr": func(c *cases.Case) any { return ops.StringSubstr(c.Arg(0), c.Arg(1), c.Arg(2), unit(c)) },
		"join":   func(c *cases.Case) any { return ops.StringJoin(c.Values(0), c.AttrStr("separator", "")) },
		"reduce_join": func(c *cases.Case) any {
			if c.AttrBool("keepdims", false) {
				return ops.StringReduceJoinKeep(c.Arg(0), c.AttrStr("separator", ""), c.AttrInts("axis")...)
			}
			return ops.StringReduceJoin(c.Arg(0), c.AttrStr("separator", ""), c.AttrInts("axis")...)
		},
		"regex_replace": func(c *cases.Case) any {
			return ops.StringRegexReplace(c.Arg(0), c.Str(1), c.Str(2), ops.RegexReplaceOptions{First: !c.AttrBool("replace_global", true)})
		},
		"regex_full_match": func(c *cases.Case) any { return ops.StringRegexFullMatch(c.Arg(0), c.Str(1)) },
		"to_number":        func(c *cases.Case) any { return ops.StringToNumber(c.Arg(0), c.AttrDType("out_type", dtype.Float32)) },
		"as_string": func(c *cases.Case) any {
			o := ops.FormatOptions{Width: max(c.AttrInt("width", 0), 0), Fill: c.AttrStr("fill", "")}
			if p := c.AttrInt("precision", -1); p >= 0 {
				o.Precision = &p
			}
			if c.AttrBool("scientific", false) {
				o.Notation = ops.NotationScientific
			}
			if c.AttrBool("shortest", false) {
				o.Notation = ops.NotationShortest
			}
			return ops.AsString(c.Arg(0), o)
		},
		"unicode_transcode": func(c *cases.Case) any {
			return ops.StringTranscode(c.Arg(0), c.Str(1), c.Str(2), unicodeOptions(c))
		},
		"unicode_encode": func(c *cases.Case) any {
			return ops.StringEncode(c.Arg(0), nil, c.Str(1), unicodeOptions(c))
		},
		"ngrams": func(c *cases.Case) any { return ops.StringNGrams(c.Arg(0), ngramWidths(c), ngramOptions(c)) },
		"split": func(c *cases.Case) any {
			pieces, _ := ops.StringSplit(single(c), ops.SplitOptions{Separator: c.AttrStr("sep", ""), MaxSplit: c.AttrInt("maxsplit", 0)})
			return pieces
		},
		"bytes_split": func(c *cases.Case) any { b, _ := ops.StringBytes(single(c)); return b },
		"unicode_decode": func(c *cases.Case) any {
			codes, _, _ := ops.StringDecode(single(c), c.Str(1), unicodeOptions(c))
			return codes
		},
		"unicode_split": func(c *cases.Case) any {
			chars, _, _ := ops.StringChars(single(c), c.Str(1), unicodeOptions(c))
			return chars
		},
	}
	for name, f := range m {
		cases.Handle(map[string]cases.Func{"strings." + name: func(c *cases.Case) (out any, err error) {
			defer asInvalid(&err)
			return f(c), nil
		}})
	}
}

// asInvalid catches what is thrown. The reference calls a wrong element type of a
// string operation an invalid argument.
func asInvalid(err *error) {
	tenon.Catch(err)
	var e *tenon.Error
	if errors.As(*err, &e) && e.Kind == tenon.ErrDType {
		*err = &tenon.Error{Kind: tenon.ErrInvalid, Msg: e.Error()}
	}
}

// single returns a dense operand of rank 0: its pieces are a vector.
func single(c *cases.Case) tensor.Tensor {
	if s, ok := c.Arg(0).(*tensor.Strings); ok && s.Shape().IsScalar() {
		return s
	}
	tenon.Throw(fmt.Errorf("rows of strings: %w", cases.ErrUnknown))
	return nil
}

func unit(c *cases.Case) ops.Unit {
	switch u := c.AttrStr("unit", "BYTE"); u {
	case "BYTE":
		return ops.UnitByte
	case "UTF8_CHAR":
		return ops.UnitChar
	default:
		return ops.Unit(u)
	}
}

func letters(c *cases.Case) ops.Unit {
	if c.AttrStr("encoding", "") == "" {
		return ops.UnitByte
	}
	return ops.UnitChar
}

func unicodeOptions(c *cases.Case) ops.UnicodeOptions {
	return ops.UnicodeOptions{Errors: ops.UnicodeErrors(c.AttrStr("errors", "")), Replacement: rune(c.AttrInt("replacement_char", 0))}
}

func ngramWidths(c *cases.Case) []int {
	if n, ok := c.Arg(1).(int); ok {
		return []int{n}
	}
	return cases.List[int](c.Arg(1))
}

func ngramOptions(c *cases.Case) ops.NGramOptions {
	o := ops.NGramOptions{Separator: c.AttrStr("separator", " "), PreserveShort: c.AttrBool("preserve_short_sequences", false)}
	if pad := c.AttrStrs("pad_values"); pad != nil {
		o.Pad, o.Left, o.Right = true, pad[0], pad[len(pad)-1]
		if c.Has("padding_width") {
			if o.PadWidth = c.AttrInt("padding_width", 0); o.PadWidth < 1 {
				tenon.Throw(tenon.NewError(tenon.ErrInvalid, "strings.ngrams", "the padding is less than one string wide"))
			}
		}
	}
	return o
}
