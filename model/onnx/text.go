package onnx

import (
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// stringSplit splits strings and pads the rows of pieces with empty strings.
func stringSplit(c *call) []any {
	x := c.x(0)
	o := ops.SplitOptions{Separator: c.text("delimiter", "")}
	if a := c.attr("maxsplit"); a != nil && a.i > 0 {
		o.MaxSplit = int(a.i)
	}
	pieces, splits := ops.StringSplit(x, o)
	if o.Separator == "" {
		// An empty string after the last white space is not a piece.
		some := ops.Greater(ops.StringLength(pieces, ops.UnitByte), 0)
		pieces, splits = ops.BooleanMask(pieces, some, 0), rows.MaskSplits(splits, some)
	}
	lengths := rows.Lengths(splits)
	table := rows.ToDense(pieces, splits, rows.MaxLength(splits), "")
	if s := x.Shape(); s.Rank() != 1 {
		table = ops.Reshape(table, append(dims(x), table.Shape().Dim(1)))
		lengths = ops.Reshape(lengths, dims(x))
	}
	return []any{table, lengths}
}

func regexFullMatch(c *call) []any {
	return one(ops.StringRegexFullMatch(c.x(0), c.text("pattern", "")))
}

// stringNormalizer drops stop words and changes the case.
func stringNormalizer(c *call) []any {
	d, ok := c.concrete(0).(*tensor.Strings)
	if !ok {
		refuse(tenon.ErrDType, "want strings")
	}
	stop := map[string]bool{}
	sensitive := c.flag("is_case_sensitive")
	if a := c.attr("stopwords"); a != nil {
		for _, w := range textsOf(a) {
			if !sensitive {
				w = strings.ToLower(w)
			}
			stop[w] = true
		}
	}
	var out []string
	for i := range d.Len() {
		w := d.At(i)
		k := w
		if !sensitive {
			k = strings.ToLower(w)
		}
		if stop[k] {
			continue
		}
		switch c.text("case_change_action", "NONE") {
		case "LOWER":
			w = strings.ToLower(w)
		case "UPPER":
			w = strings.ToUpper(w)
		}
		out = append(out, w)
	}
	if len(out) == 0 {
		out = []string{""}
	}
	if rank(d) == 2 {
		return one(tensor.Of(out, 1, len(out)))
	}
	return one(tensor.Of(out, len(out)))
}

// labelEncoder replaces keys by values.
func labelEncoder(c *call) []any {
	x := c.x(0)
	list := func(prefix, suffix string) T {
		for _, t := range []string{"strings", "int64s", "floats", "tensor"} {
			a := c.attr(prefix + t)
			if a == nil {
				continue
			}
			switch t {
			case "strings":
				return tensor.Of(textsOf(a), len(a.texts))
			case "int64s":
				return tensor.Of(a.ints, len(a.ints))
			case "floats":
				return tensor.Of(a.floats, len(a.floats))
			default:
				return tensorOf(a.t)
			}
		}
		refuse(tenon.ErrInvalid, "there is no attribute %s* %s", prefix, suffix)
		return nil
	}
	keys, values := list("keys_", "of the table"), list("values_", "of the table")
	otherwise := T(nil)
	switch {
	case c.attr("default_tensor") != nil:
		otherwise = ops.Reshape(tensorOf(c.attr("default_tensor").t), []int{})
	case values.DType().IsString():
		otherwise = tensor.Scalar(c.text("default_string", "_Unused"))
	case values.DType().IsInteger():
		otherwise = tensor.Scalar(int64(c.int("default_int64", -1)))
	default:
		otherwise = ops.Cast(tensor.Scalar(float32(c.float("default_float", 0))), values.DType())
	}
	if keys.DType() != x.DType() && !keys.DType().IsString() {
		keys = ops.Cast(keys, x.DType())
	}
	flat := ops.Reshape(x, []int{-1, 1})
	same := ops.Equal(flat, keys)
	if keys.DType().IsFloat() { // NaN is a key, too
		same = ops.LogicalOr(same, ops.LogicalAnd(ops.IsNaN(flat), ops.IsNaN(keys)))
	}
	found := ops.Any(same, 1)
	at := ops.ArgMax(same, 1)
	return one(ops.Reshape(ops.Where(found, ops.Gather(values, at, 0), otherwise), ops.Shape(x)))
}

func arrayFeatures(c *call) []any {
	x := c.x(0)
	at := ops.Reshape(ops.Cast(c.x(1), dtype.Int64), []int{-1})
	y := ops.Gather(x, at, rank(x)-1)
	if rank(x) == 1 {
		y = ops.ExpandDims(y, 0)
	}
	return one(y)
}

func binarizer(c *call) []any {
	x := c.x(0)
	return one(ops.Cast(ops.Greater(x, like(c.float("threshold", 0), x)), x.DType()))
}

// tfIdf counts n-grams of tokens that are in a list, with tokens skipped at various distances.
func tfIdf(c *call) []any {
	x := c.concrete(0)
	lo, hi, skips := c.int("min_gram_length", 1), c.int("max_gram_length", 1), c.int("max_skip_count", 0)
	starts, columns := c.ints("ngram_counts"), c.ints("ngram_indexes")
	width := 0
	for _, k := range columns {
		width = max(width, k+1)
	}
	index := map[string]int{}
	texts := c.attr("pool_strings")
	ints := c.ints("pool_int64s")
	total := len(ints)
	if texts != nil {
		total = len(texts.texts)
	}
	n := 0
	for g := range starts {
		end := total
		if g+1 < len(starts) {
			end = starts[g+1]
		}
		for at := starts[g]; at >= 0 && at+g+1 <= end && end <= total; at += g + 1 {
			var words []string
			for k := at; k < at+g+1; k++ {
				if texts != nil {
					words = append(words, string(texts.texts[k]))
				} else {
					words = append(words, strconv.Itoa(ints[k]))
				}
			}
			if n < len(columns) {
				index[strings.Join(words, "\x00")] = n
			}
			n++
		}
	}
	var tokens []string
	if s, ok := x.(*tensor.Strings); ok {
		for i := range s.Len() {
			tokens = append(tokens, s.At(i))
		}
	} else {
		for _, v := range c.known(0) {
			tokens = append(tokens, strconv.Itoa(v))
		}
	}
	rowsOf, length := 1, len(tokens)
	if rank(x) == 2 {
		rowsOf, length = dims(x)[0], dims(x)[1]
	}
	weights := c.attr("weights")
	out := make([]float32, rowsOf*width)
	for r := range rowsOf {
		row := tokens[r*length : (r+1)*length]
		for skip := range skips + 1 {
			for g := lo; g <= hi; g++ {
				if skip > 0 && g == 1 {
					continue
				}
				for at := range row {
					if at+(g-1)*(skip+1) >= len(row) {
						break
					}
					var words []string
					for k := range g {
						words = append(words, row[at+k*(skip+1)])
					}
					if i, ok := index[strings.Join(words, "\x00")]; ok {
						out[r*width+columns[i]]++
					}
				}
			}
		}
	}
	mode := c.text("mode", "TF")
	byColumn := make([]float32, width)
	for i, k := range columns {
		byColumn[k] = 1
		if weights != nil && i < len(weights.floats) {
			byColumn[k] = weights.floats[i]
		}
	}
	for i, v := range out {
		w := byColumn[i%max(width, 1)]
		switch {
		case v == 0 || mode == "TF":
		case mode == "IDF":
			out[i] = w
		default:
			out[i] = v * w
		}
	}
	if rank(x) == 2 {
		return one(tensor.Of(out, rowsOf, width))
	}
	return one(tensor.Of(out, width))
}
