package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/internal/markup"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// maxElements is how many elements of a list in a row, or positions along an axis other than the
// first, are shown.
const maxElements = 20

// rows draws the rows of a Value as a table.
func (w *writer) rows(v tenon.Value) {
	some, n, from := w.shown(v)
	var b bytes.Buffer
	if err := jsonl.Write(&b, some, jsonl.WriteOptions{NonFinite: jsonl.NonFiniteLiteral, Unicode: jsonl.UnicodeReplace}); err != nil {
		w.Element("pre", fmt.Sprint(some)) // complex numbers, which JSON does not have
		return
	}
	var list []any
	for line := range bytes.Lines(b.Bytes()) {
		x, err := parsed(line)
		if err != nil {
			w.Element("pre", b.String())
			return
		}
		list = append(list, x)
	}
	w.Open("div", "class", "scroll")
	table(&w.Writer, list, from)
	w.End()
	if n > from+len(list) || from > 0 {
		w.facts(fmt.Sprintf("rows %d to %d of %d", from, from+len(list)-1, n))
	}
}

// shown returns the rows of a Value that are shown, the number of all rows, and the index of
// the first one shown.
func (w *writer) shown(v tenon.Value) (some tenon.Value, n, from int) {
	t, ok := v.(tensor.Tensor)
	if !ok || t.Shape().Rank() < 1 {
		return v, 1, 0
	}
	if n = t.Shape().Dim(0); n < 0 {
		return v, 1, 0
	}
	from = min(max(w.o.From, 0), n)
	to := min(from+w.o.rows(), n)
	if from == 0 && to == n {
		return v, n, 0
	}
	index := make([]int64, to-from)
	for i := range index {
		index[i] = int64(from + i)
	}
	return ops.Gather(t, tensor.Vector(index), 0), n, from
}

// elements draws the elements of a dense tensor or of strings; along axes other than the first, only
// the first few.
func (w *writer) elements(t tensor.Tensor, mask []bool) {
	rank := t.Shape().Rank()
	if rank == 0 {
		w.Element("pre", scalarText(t))
		return
	}
	open := rank < 2 && t.Shape().Size() <= w.o.rows()
	w.fold(open, func() { w.Element("b", "elements") }, func() {
		if d, ok := t.(*tensor.Dense); ok {
			t = cut(d, mask == nil)
		}
		if mask == nil {
			w.rows(t)
			return
		}
		w.masked(t, mask)
	})
}

// cut removes the positions along axes other than the first that are not shown.
func cut(d *tensor.Dense, cuts bool) *tensor.Dense {
	if !cuts {
		return d
	}
	dims := make([]int, d.Rank())
	for i := range dims {
		dims[i] = d.Dim(i)
		if i > 0 {
			dims[i] = min(dims[i], maxElements)
		}
	}
	return d.View(0, shape.Of(dims...), d.Strides())
}

// masked draws a list or matrix with missing elements.
func (w *writer) masked(t tensor.Tensor, mask []bool) {
	width := 1
	if t.Shape().Rank() > 1 {
		width = t.Shape().Size() / max(1, t.Shape().Dim(0))
	}
	flat := ops.Reshape(t, tensor.Vector([]int64{-1}))
	n := min(len(mask), w.o.rows()*width)
	w.Open("div", "class", "scroll").Open("table").Open("tbody")
	var b bytes.Buffer
	index := make([]int64, n)
	for i := range index {
		index[i] = int64(i)
	}
	if err := jsonl.Write(&b, ops.Gather(flat, tensor.Vector(index), 0), jsonl.WriteOptions{NonFinite: jsonl.NonFiniteLiteral, Unicode: jsonl.UnicodeReplace}); err != nil {
		w.End().End().End()
		return
	}
	i := 0
	for line := range bytes.Lines(b.Bytes()) {
		if i%width == 0 {
			w.Open("tr").Element("th", fmt.Sprint(i/width))
		}
		switch x, err := parsed(line); {
		case i%width >= maxElements:
		case !mask[i]:
			w.Element("td", "missing", "class", "missing")
		case err == nil:
			cell(&w.Writer, x)
		}
		if i++; i%width == 0 {
			w.End().Line()
		}
	}
	w.End().End().End()
}

func scalarText(t tensor.Tensor) string {
	text := fmt.Sprint(t)
	return strings.TrimSpace(strings.TrimSuffix(text, fmt.Sprint(t.Spec())))
}

// An object is a JSON object with its members in order.
type object struct {
	keys   []string
	values []any
}

// parsed parses a JSON text: it returns an object, a []any, a string, a json.Number, a bool or nil.
func parsed(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(quoted(text)))
	d.UseNumber()
	return parse(d, 0)
}

// quoted quotes the numbers that JSON does not have.
func quoted(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return text
	}
	var out []byte
	within := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case within && c == '\\' && i+1 < len(text):
			out = append(out, c)
			i++
			c = text[i]
		case c == '"':
			within = !within
		case !within && (c == 'N' || c == 'I' || c == '-' && i+1 < len(text) && text[i+1] == 'I'):
			end := i + 1
			for end < len(text) && (text[end] >= 'a' && text[end] <= 'z' || text[end] >= 'A' && text[end] <= 'Z') {
				end++
			}
			out = append(append(append(out, '"'), text[i:end]...), '"')
			i = end - 1
			continue
		}
		out = append(out, c)
	}
	return out
}

var errDeep = errors.New("the value is nested too deeply to be shown")

func parse(d *json.Decoder, depth int) (any, error) {
	const most = 200
	t, err := d.Token()
	if err != nil || depth > most {
		return nil, errors.Join(err, map[bool]error{true: errDeep}[depth > most])
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			x, err := parse(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		var o object
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return nil, err
			}
			x, err := parse(d, depth+1)
			if err != nil {
				return nil, err
			}
			o.keys, o.values = append(o.keys, k.(string)), append(o.values, x)
		}
		_, err = d.Token()
		return o, err
	}
	return t, nil
}

// table draws a list with the number of each row; objects have a column for each member.
func table(w *markup.Writer, list []any, from int) {
	head, objects := members(list)
	w.Open("table")
	if objects {
		w.Open("thead").Rows("th", append([]string{""}, head...)).End()
	}
	w.Open("tbody")
	for i, x := range list {
		w.Open("tr").Element("th", fmt.Sprint(from+i))
		row(w, x, head, objects)
		w.End().Line()
	}
	w.End().End()
}

func row(w *markup.Writer, x any, head []string, objects bool) {
	switch x := x.(type) {
	case object:
		for _, k := range head {
			if i := slices.Index(x.keys, k); i >= 0 {
				cell(w, x.values[i])
			} else {
				w.Element("td", "", "class", "missing")
			}
		}
		return
	case []any:
		if !objects {
			for i, v := range x {
				if i == maxElements {
					w.Element("td", fmt.Sprintf("… %d more", len(x)-i))
					return
				}
				cell(w, v)
			}
			return
		}
	}
	cell(w, x)
}

// members returns the names of the members of objects, and whether all entries of a list are
// objects or missing.
func members(list []any) (head []string, all bool) {
	for _, x := range list {
		o, ok := x.(object)
		if !ok && x != nil {
			return nil, false
		}
		for _, k := range o.keys {
			if !slices.Contains(head, k) {
				head = append(head, k)
			}
		}
	}
	return head, len(head) > 0
}

// cell draws a value: a list of objects as a nested table, other lists in a line.
func cell(w *markup.Writer, x any) {
	switch x := x.(type) {
	case nil:
		w.Element("td", "", "class", "missing", "title", "missing")
	case json.Number:
		w.Element("td", x.String(), "class", "n")
	case string:
		w.Element("td", clipped(x))
	case object:
		w.Open("td").Open("table").Open("tbody")
		for i, k := range x.keys {
			w.Open("tr").Element("th", k)
			cell(w, x.values[i])
			w.End()
		}
		w.End().End().End()
	case []any:
		w.Open("td")
		list(w, x)
		w.End()
	default:
		w.Element("td", fmt.Sprint(x))
	}
}

func list(w *markup.Writer, x []any) {
	more := len(x) - maxElements
	some := x[:min(len(x), maxElements)]
	if _, objects := members(some); objects {
		table(w, some, 0)
		if more > 0 {
			w.Text(fmt.Sprintf("… %d more", more))
		}
		return
	}
	w.Text(inline(x))
}

// inline is a list in one line.
func inline(x any) string {
	switch x := x.(type) {
	case []any:
		var parts []string
		for i, v := range x {
			if i == maxElements {
				parts = append(parts, fmt.Sprintf("… %d more", len(x)-i))
				break
			}
			parts = append(parts, inline(v))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case object:
		var parts []string
		for i, k := range x.keys {
			parts = append(parts, k+": "+inline(x.values[i]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case string:
		return fmt.Sprintf("%q", clipped(x))
	case nil:
		return "missing"
	}
	return fmt.Sprint(x)
}

// clipped shortens long texts.
func clipped(s string) string {
	const most = 400
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
