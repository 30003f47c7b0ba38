package optable

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	_ "github.com/tenonml/tenon/data/textnorm" // registers strings.normalize
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// Operations on strings. Their references use package strings and its relatives.

var (
	words    = Text([]int{5}, "", "pear", "Étude Σ", " a b\t", "日本語")
	wordGrid = Text([]int{2, 3}, "x", "", "ab", "ÄÖ", "c d", "zz")
	noWords  = Text([]int{0, 2})
)

// textRow makes the row of an operation with a result for each string; attrs are
// argument lists behind the string.
func textRow(name string, f func(s string, a []any) any, attrs ...[]any) Row {
	r := Row{Op: name, Ref: func(a []any) []Array {
		x := a[0].(Array)
		out := Array{Shape: x.Shape}
		for _, s := range x.S {
			switch v := f(s, a[1:]).(type) {
			case string:
				out.S = append(out.S, v)
			case int:
				out.X = append(out.X, complex(float64(v), 0))
			case bool:
				out.X = append(out.X, complex(Truth(v), 0))
			case float64:
				out.X = append(out.X, complex(v, 0))
			}
		}
		return []Array{out}
	}}
	for _, at := range attrs {
		for _, x := range []any{words, wordGrid, noWords, tensor.Scalar("One")} {
			r.Calls = append(r.Calls, Args(append([]any{x}, at...)...))
		}
	}
	return r
}

func isChar(a []any) bool { return len(a) > 0 && a[0] == "char" }

func asciiCase(s string, f func(byte) byte) string {
	b := []byte(s)
	for i := range b {
		if b[i] < 0x80 {
			b[i] = f(b[i])
		}
	}
	return string(b)
}

func init() {
	Add(
		textRow("strings.length", func(s string, a []any) any {
			if isChar(a) {
				return utf8.RuneCountInString(s)
			}
			return len(s)
		}, []any{}, []any{"char"}, []any{"byte"}),
		textRow("strings.lower", func(s string, a []any) any {
			if isChar(a) {
				return strings.ReplaceAll(strings.ToLower(s), " σ", " σ")
			}
			return asciiCase(s, func(b byte) byte { return strings.ToLower(string(b))[0] })
		}, []any{}, []any{"char"}),
		textRow("strings.upper", func(s string, a []any) any {
			if isChar(a) {
				return strings.ToUpper(s)
			}
			return asciiCase(s, func(b byte) byte { return strings.ToUpper(string(b))[0] })
		}, []any{}, []any{"char"}),
		Row{Op: "strings.normalize", Calls: []Call{Args(Text([]int{2, 2}, "e\u0301", "\u00e9", "\ufb01", ""), "NFKD"), Args(Text([]int{2}, "e\u0301", "x"))}, Ref: func(a []any) []Array {
			replacer := strings.NewReplacer("e\u0301", "\u00e9")
			if len(a) > 1 {
				replacer = strings.NewReplacer("\u00e9", "e\u0301", "\ufb01", "fi")
			}
			out := Array{Shape: a[0].(Array).Shape}
			for _, s := range a[0].(Array).S {
				out.S = append(out.S, replacer.Replace(s))
			}
			return []Array{out}
		}},
		textRow("strings.strip", func(s string, _ []any) any { return strings.Trim(s, " \t\n\v\f\r") }, []any{}),
		textRow("strings.regex_replace", func(s string, a []any) any {
			re := regexp.MustCompile(a[0].(string))
			if len(a) > 2 && !a[2].(bool) {
				if at := re.FindStringIndex(s); at != nil {
					return s[:at[0]] + re.ReplaceAllString(s[at[0]:at[1]], "<$1>") + s[at[1]:]
				}
				return s
			}
			return re.ReplaceAllString(s, "<$1>")
		}, []any{"([ab])", `<\1>`}, []any{"([ab])", `<\1>`, false}),
		textRow("strings.regex_full_match", func(s string, a []any) any {
			return regexp.MustCompile("^(?:" + a[0].(string) + ")$").MatchString(s)
		}, []any{".*e.*"}, []any{"[a-z]*"}),
		Row{Op: "strings.hash", Calls: []Call{Args(words, 7), Args(wordGrid, 1), Args(words, 5, []int{1, -2})}, Check: func(a []any, got []Array) error {
			for i, v := range got[0].X {
				if real(v) < 0 || int(real(v)) >= a[1].(int) {
					return fmt.Errorf("bucket %v of string %d is not below %d", v, i, a[1])
				}
			}
			return nil
		}},
		textRow("strings.unicode_transcode", func(s string, a []any) any {
			var b []byte
			for _, u := range utf16.Encode([]rune(s)) {
				b = append(b, byte(u>>8), byte(u))
			}
			return string(b)
		}, []any{"UTF-8", "UTF-16-BE"}),
		Row{Op: "strings.to_number", Calls: slices.Concat(EachType(Ints, func(d dtype.DType) []Call { return []Call{Args(Text([]int{2, 2}, "1", " 42 ", "+7", "0"), d)} }),
			[]Call{Args(Text([]int{4}, "1.5", "-2e3", "inf", " .25"), dtype.Float64), Args(Text([]int{2}, "1.5", "8"))}), Ref: func(a []any) []Array {
			out := Array{Shape: a[0].(Array).Shape}
			for _, s := range a[0].(Array).S {
				v, _ := strconv.ParseFloat(strings.TrimSpace(s), 64)
				out.X = append(out.X, complex(v, 0))
			}
			return []Array{out}
		}},
		Row{Op: "strings.as_string", Calls: slices.Concat(
			EachType(Ints, func(d dtype.DType) []Call { return []Call{NoGrad(Values(d, 0, 7, 100))} }),
			[]Call{
				NoGrad(Values(dtype.Float64, 1.5, -0.25), "fixed", 2), NoGrad(Values(dtype.Float32, 1.5, 0.25)), NoGrad(Values(dtype.Float16, 1.5)),
				NoGrad(Values(dtype.Float64, 1234.5), "scientific", 2), NoGrad(Values(dtype.Float64, 1234.5, 1.5e10), "shortest"),
				NoGrad(Text([]int{1}, "as it is")), NoGrad(Int(5), "fixed", -1, 3, "0"),
			}), Ref: func(a []any) []Array {
			x := a[0].(Array)
			if x.IsText() {
				return []Array{x}
			}
			out := Array{Shape: x.Shape}
			for _, v := range x.Floats() {
				out.S = append(out.S, formatted(v, a))
			}
			return []Array{out}
		}},
		Row{Op: "strings.compare", Calls: []Call{Args(words, Text([]int{5}, "a", "pear", "", " b", "zz")), Args(wordGrid, tensor.Scalar("b")), Args(Text([]int{2, 1}, "a", "x"), Text([]int{3}, "", "a", "xx"))}, Ref: func(a []any) []Array {
			x, y := a[0].(Array), a[1].(Array)
			out := Array{Shape: BroadcastDims(x.Shape, y.Shape)}
			Indices(out.Shape, func(_ int, at []int) {
				out.X = append(out.X, complex(float64(strings.Compare(x.S[x.At(at)], y.S[y.At(at)])), 0))
			})
			return []Array{out}
		}},
		Row{Op: "strings.substr", Calls: []Call{
			Args(Text([]int{3}, "walnut", "hazel", "beech"), One(1), One(3)), Args(Text([]int{3}, "walnut", "hazel", "beech"), Int(-2, 0, 5), tensor.Scalar(int32(2))), Args(Text([]int{1}, "Ünï"), One(1), One(2), "char"),
			Args(tensor.Scalar("abcd"), IntShaped([]int{2, 1}, 0, 2), Int(1, -1)),
		}, Ref: func(a []any) []Array {
			x, p, n := a[0].(Array), a[1].(Array), a[2].(Array)
			out := Array{Shape: BroadcastDims(x.Shape, p.Shape, n.Shape)}
			Indices(out.Shape, func(_ int, at []int) {
				units := strings.Split(x.S[x.At(at)], "")
				if len(a) < 4 {
					units = nil
					for _, b := range []byte(x.S[x.At(at)]) {
						units = append(units, string([]byte{b}))
					}
				}
				first, count := int(real(p.X[p.At(at)])), int(real(n.X[n.At(at)]))
				if first < 0 {
					first += len(units)
				}
				if count < 0 || first+count > len(units) {
					count = len(units) - first
				}
				out.S = append(out.S, strings.Join(units[first:first+count], ""))
			})
			return []Array{out}
		}},
		Row{Op: "strings.join", Calls: []Call{
			Args(List(words, words), ", "), Args(List(wordGrid, tensor.Scalar("-"), Text([]int{3}, "1", "2", "3"))), Args(List(wordGrid)), Args(List(noWords, Text([]int{1, 2}, "a", "b"))),
		}, Ref: func(a []any) []Array {
			xs := a[0].([]Array)
			shapes := make([][]int, len(xs))
			for i, x := range xs {
				shapes[i] = x.Shape
			}
			out := Array{Shape: BroadcastDims(shapes...)}
			Indices(out.Shape, func(_ int, at []int) {
				var parts []string
				for _, x := range xs {
					parts = append(parts, x.S[x.At(at)])
				}
				out.S = append(out.S, strings.Join(parts, separator(a, 1)))
			})
			return []Array{out}
		}},
		Row{Op: "strings.reduce_join", Calls: []Call{
			Args(wordGrid), Args(wordGrid, []int{0}, false, "+"), Args(wordGrid, []int{-1}, true, "+"), Args(words, []int{0}), Args(noWords, []int{0}, false, "+"), Args(wordGrid, []int{1, 0}), Args(wordGrid, []int{}),
		}, Ref: func(a []any) []Array {
			x := a[0].(Array)
			numbers := Array{Shape: x.Shape}
			for i := range x.S {
				numbers.X = append(numbers.X, complex(float64(i), 0))
			}
			args := append([]any{numbers}, a[1:]...)
			for len(args) < 3 {
				args = append(args, nil)
			}
			var joined []string
			out := Reduce(args, func(at []float64) float64 {
				var parts []string
				for _, i := range at {
					parts = append(parts, x.S[int(i)])
				}
				joined = append(joined, strings.Join(parts, separator(a, 3)))
				return 0
			})[0]
			return []Array{{Shape: out.Shape, S: joined}}
		}},
		Row{Op: "strings.ngrams", Calls: []Call{
			Args(wordGrid, []int{2}), Args(words, []int{1, 3}, "|"), Args(wordGrid, []int{3}, " ", "<", ">", -1), Args(wordGrid, []int{3}, " ", "<", ">", 1), Args(wordGrid, []int{5}, "+", "", "", 0, true), Args(words, []int{}),
		}, Ref: func(a []any) []Array {
			x := a[0].(Array)
			n := x.Shape[len(x.Shape)-1]
			out := Array{Shape: slices.Clone(x.Shape), S: []string{}}
			count := 0
			for r := range Size(x.Shape) / n {
				grams := rowGrams(x.S[r*n:(r+1)*n], a[1:])
				count = len(grams)
				out.S = append(out.S, grams...)
			}
			out.Shape[len(out.Shape)-1] = count
			return []Array{out}
		}},
		Row{Op: "strings.split", Calls: []Call{Args(words), Args(wordGrid), Args(Text([]int{2}, "a,b,,c", ""), ","), Args(Text([]int{2}, "a b c", " d e"), "", 1), Args(tensor.Scalar("a--b--c"), "--", 1), Args(noWords)}, Ref: func(a []any) []Array {
			sep := separator(a, 1)
			limit := attrInt(a, 2, -1)
			return pieces(a[0].(Array), func(s string) []string {
				switch {
				case sep != "" && limit > 0:
					return strings.SplitN(s, sep, limit+1)
				case sep != "":
					return strings.Split(s, sep)
				case limit > 0:
					var out []string
					for s = strings.TrimLeft(s, " \t"); s != "" && len(out) < limit; s = strings.TrimLeft(s, " \t") {
						i := strings.IndexAny(s+" ", " \t")
						out, s = append(out, s[:i]), s[i:]
					}
					if s != "" {
						out = append(out, s)
					}
					return out
				}
				return strings.Fields(s)
			})
		}},
		Row{Op: "strings.bytes_split", Calls: []Call{Args(words), Args(wordGrid), Args(noWords)}, Ref: func(a []any) []Array {
			return pieces(a[0].(Array), func(s string) []string {
				var out []string
				for _, b := range []byte(s) {
					out = append(out, string([]byte{b}))
				}
				return out
			})
		}},
		Row{Op: "strings.unicode_decode", Calls: decodeCalls, Ref: func(a []any) []Array {
			out := characters(a)
			var codes []int
			for _, s := range out[0].S {
				codes = append(codes, int([]rune(s)[0]))
			}
			out[0] = vector(codes)
			return out
		}},
		Row{Op: "strings.unicode_split", Calls: decodeCalls, Ref: characters},
		Row{Op: "strings.unicode_encode", Calls: []Call{
			Args(IntShaped([]int{2, 2}, 72, 105, 26085, 26412)), Args(Int32(72, 0x1F600), nil, "UTF-8"), Args(Int(72, 105, 33), Int(0, 2, 2, 3)), Args(Int32(72, 105, 33), Int32(0, 0, 3)), Args(IntShaped([]int{0, 3})),
		}, Ref: func(a []any) []Array {
			codes := Positions(a[0])
			dims := a[0].(Array).Shape
			var splits []int
			if len(a) > 1 && a[1] != nil {
				splits = Positions(a[1])
				dims = []int{len(splits) - 1}
			} else {
				n := dims[len(dims)-1]
				dims = dims[:len(dims)-1]
				for r := range Size(dims) + 1 {
					splits = append(splits, r*n)
				}
			}
			out := Array{Shape: dims, S: []string{}}
			for r := range Size(dims) {
				s := ""
				for _, c := range codes[splits[r]:splits[r+1]] {
					s += string(rune(c))
				}
				out.S = append(out.S, s)
			}
			return []Array{out}
		}},
	)
}

var decodeCalls = []Call{Args(words), Args(wordGrid, "UTF-8"), Args(noWords), Args(Text([]int{2}, "a\xffb", "ok"), "UTF-8", "ignore"), Args(Text([]int{1}, "a\xffb"), "UTF-8", "replace", int('?'))}

// characters returns the characters of strings, their row splits and their positions.
func characters(a []any) []Array {
	ignore := len(a) > 2 && a[2] == "ignore"
	var at []int
	out := pieces(a[0].(Array), func(s string) []string {
		var out []string
		for i, r := range s {
			c := string(r)
			if r == utf8.RuneError {
				if c = string(rune(attrInt(a, 3, utf8.RuneError))); ignore {
					continue
				}
			}
			out, at = append(out, c), append(at, i)
		}
		return out
	})
	return append(out, vector(at))
}

// pieces returns what f cuts each string into, and the row splits.
func pieces(x Array, f func(s string) []string) []Array {
	all, splits := []string{}, []int{0}
	for _, s := range x.S {
		all = append(all, f(s)...)
		splits = append(splits, len(all))
	}
	return []Array{{Shape: []int{len(all)}, S: all}, vector(splits)}
}

func separator(a []any, i int) string {
	if i < len(a) {
		return a[i].(string)
	}
	return ""
}

// rowGrams returns the n-grams of one row.
func rowGrams(row []string, a []any) []string {
	sep, left, right, pad, keep := " ", "", "", 0, false
	if len(a) > 1 {
		sep = a[1].(string)
	}
	if len(a) > 4 {
		left, right, pad = a[2].(string), a[3].(string), a[4].(int)
	}
	if len(a) > 5 {
		keep = a[5].(bool)
	}
	padded := func(w int) []string {
		p := w - 1
		if pad >= 0 {
			p = min(p, pad)
		}
		return slices.Concat(slices.Repeat([]string{left}, p), row, slices.Repeat([]string{right}, p))
	}
	var out []string
	for _, w := range a[0].([]int) {
		full := padded(w)
		for i := 0; i+w <= len(full); i++ {
			out = append(out, strings.Join(full[i:i+w], sep))
		}
	}
	if keep && len(out) == 0 && len(row) > 0 {
		out = []string{strings.Join(padded(a[0].([]int)[0]), sep)}
	}
	return out
}

func formatted(v float64, a []any) string {
	if v == math.Trunc(v) && len(a) != 2 { // the samples of floats are no integers
		width := attrInt(a, 3, -1)
		return strings.Repeat("0", max(0, width-len(strconv.Itoa(int(v))))) + strconv.Itoa(int(v))
	}
	verb, precision := "f", attrInt(a, 2, -1)
	if len(a) > 1 {
		verb = map[string]string{"fixed": "f", "scientific": "e", "shortest": "g"}[a[1].(string)]
	}
	switch {
	case precision < 0 && verb == "g":
		return fmt.Sprintf("%.6g", v)
	case precision >= 0:
		return fmt.Sprintf("%."+strconv.Itoa(precision)+verb, v)
	}
	return fmt.Sprintf("%"+verb, v)
}
