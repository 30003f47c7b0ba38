package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
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
			return tenon.Must(ragged.SplitStrings(c.Arg(0), ops.SplitOptions{Separator: c.AttrStr("sep", ""), MaxSplit: max(0, c.AttrInt("maxsplit", 0))}))
		},
		"bytes_split": func(c *cases.Case) any { return tenon.Must(ragged.SplitBytes(c.Arg(0))) },
		"unicode_decode": func(c *cases.Case) any {
			return tenon.Must(ragged.DecodeStrings(c.Arg(0), c.Str(1), unicodeOptions(c)))
		},
		"unicode_split": func(c *cases.Case) any {
			return tenon.Must(ragged.SplitChars(c.Arg(0), c.Str(1), unicodeOptions(c)))
		},
	}
	for name, f := range m {
		cases.Handle(map[string]cases.Func{"strings." + name: referenceKinds(func(c *cases.Case) (any, error) { return f(c), nil })})
	}
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
	o.NoSeparator = o.Separator == ""
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
