package formats

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/markup"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// A RowWriter writes records, a batch at a time.
type RowWriter interface {
	Write(t *structured.Tensor) error
	Close() error // writes the end of the output
}

// WriteOptions say how to write records.
type WriteOptions struct {
	Context context.Context
	Width   int  // of tables, in characters; 0: unlimited
	Colour  bool // in tables
	Title   string
}

func jsonOptions(o WriteOptions) jsonl.WriteOptions {
	return jsonl.WriteOptions{NonFinite: jsonl.NonFiniteNull, Unicode: jsonl.UnicodeReplace, Context: o.Context}
}

// lines writes JSON, one record per line.
type lines struct {
	w io.Writer
	o WriteOptions
}

func newLines(w io.Writer, o WriteOptions) (RowWriter, error) { return &lines{w, o}, nil }

func (x *lines) Write(t *structured.Tensor) error { return jsonl.Write(x.w, t, jsonOptions(x.o)) }

func (x *lines) Close() error { return nil }

// array writes a JSON array with one element per line.
type array struct {
	w     io.Writer
	o     WriteOptions
	begun bool
}

func newArray(w io.Writer, o WriteOptions) (RowWriter, error) { return &array{w: w, o: o}, nil }

func (x *array) Write(t *structured.Tensor) error {
	var b bytes.Buffer
	if err := jsonl.Write(&b, t, jsonOptions(x.o)); err != nil || b.Len() == 0 {
		return err
	}
	sep := "[\n"
	if x.begun {
		sep = ",\n"
	}
	x.begun = true
	text := bytes.ReplaceAll(bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), []byte{'\n'}, []byte(",\n"))
	_, err := x.w.Write(append([]byte(sep), text...))
	return err
}

func (x *array) Close() error {
	end := "\n]\n"
	if !x.begun {
		end = "[]\n"
	}
	_, err := io.WriteString(x.w, end)
	return err
}

// fields writes CSV and TSV. Lists, records and other nested values are written as JSON.
type fields struct {
	w     io.Writer
	o     WriteOptions
	delim byte
	begun bool
}

func (x *fields) Write(t *structured.Tensor) error {
	flat, err := Flat(t, x.o)
	if err != nil {
		return err
	}
	err = csvio.Write(x.w, flat, csvio.WriteOptions{Delim: x.delim, NoHeader: x.begun, Context: x.o.Context})
	x.begun = true
	return err
}

func (x *fields) Close() error { return nil }

// Flat returns records whose nested fields are strings with JSON.
func Flat(t *structured.Tensor, o WriteOptions) (out *structured.Tensor, err error) {
	defer tenon.Catch(&err)
	var nested []int
	all := t.Unzip()
	for i, f := range all {
		if !scalars(f.Value) {
			nested = append(nested, i)
		}
	}
	if len(nested) == 0 {
		return t, nil
	}
	_, rows, err := Cells(t, o)
	if err != nil {
		return nil, err
	}
	for _, i := range nested {
		texts := make([]string, len(rows))
		for r, row := range rows {
			texts[r] = row[i]
		}
		all[i].Value = tensor.Of(texts)
	}
	return structured.FromFields(all, t.Shape(), structured.Options{})
}

// scalars reports whether a column has one number, string or boolean for each record.
func scalars(v tensor.Tensor) bool {
	if v.Shape().Rank() != 1 {
		return false
	}
	switch v.(type) {
	case *structured.Tensor, *structured.Map, *structured.Union, *structured.Held:
		return false
	}
	return !strings.Contains(structured.Datashape(v.Spec()), "{")
}

// Cells returns the names of the fields of records, and the values of each record as JSON.
func Cells(t *structured.Tensor, o WriteOptions) (head []string, rows [][]string, err error) {
	var b bytes.Buffer
	if err := jsonl.Write(&b, t, jsonOptions(o)); err != nil {
		return nil, nil, err
	}
	head = t.FieldNames()
	for line := range bytes.Lines(b.Bytes()) {
		rows = append(rows, members(bytes.TrimSpace(line), len(head)))
	}
	return head, rows, nil
}

// members returns the values of an object in compact JSON, in order.
func members(b []byte, n int) []string {
	out := make([]string, 0, n)
	depth, from, text := 0, -1, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case text:
			if c == '\\' {
				i++
			} else if c == '"' {
				text = false
			}
		case c == '"':
			text = true
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']' || c == ',') && depth == 1:
			if from >= 0 {
				out = append(out, string(b[from:i]))
				from = -1
			}
			if c != ',' {
				depth--
			}
		case c == '}' || c == ']':
			depth--
		case c == ':' && depth == 1:
			from = i + 1
		}
	}
	return out
}

var markdownFormat = &Format{
	Name: "md", Suffixes: []string{".md"},
	Create: func(w io.Writer, o WriteOptions) (RowWriter, error) { return &markdown{w: w, o: o}, nil },
}

// markdown writes a table in Markdown.
type markdown struct {
	w     io.Writer
	o     WriteOptions
	begun bool
}

func (x *markdown) Write(t *structured.Tensor) error {
	head, rows, err := Cells(t, x.o)
	if err != nil {
		return err
	}
	var b strings.Builder
	row := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(Unquoted(c)) + " |")
		}
		b.WriteString("\n")
	}
	if !x.begun {
		x.begun = true
		row(head)
		b.WriteString("|" + strings.Repeat(" --- |", len(head)) + "\n")
	}
	for _, r := range rows {
		row(r)
	}
	_, err = io.WriteString(x.w, b.String())
	return err
}

func (x *markdown) Close() error { return nil }

var htmlFormat = &Format{
	Name: "html", Suffixes: []string{".html", ".htm"},
	Create: func(w io.Writer, o WriteOptions) (RowWriter, error) { return &page{w: w, o: o}, nil },
}

// page writes a table as a page without scripts.
type page struct {
	w     io.Writer
	o     WriteOptions
	begun bool
}

func (x *page) Write(t *structured.Tensor) error {
	head, rows, err := Cells(t, x.o)
	if err != nil {
		return err
	}
	var b markup.Writer
	if !x.begun {
		x.begun = true
		b.Add(markup.Head(x.o.Title)).Open("div", "class", "scroll").Open("table").Open("thead").Rows("th", head).End().Open("tbody").Line()
	}
	for _, r := range rows {
		for i := range r {
			r[i] = Unquoted(r[i])
		}
	}
	b.Rows("td", rows...)
	_, err = io.WriteString(x.w, b.String())
	return err
}

func (x *page) Close() error {
	if !x.begun {
		return nil
	}
	_, err := io.WriteString(x.w, "</tbody></table></div>\n"+markup.Foot())
	return err
}

// RowCount returns the number of records.
func RowCount(t *structured.Tensor) int {
	if t.Rank() == 0 {
		return 1
	}
	n, ok := ops.Cast(t.NRows(), dtype.Int64).(*tensor.Dense)
	if !ok {
		return 0
	}
	return int(tensor.Item[int64](n))
}

// Take returns the records with the given numbers.
func Take(t *structured.Tensor, rows []int64) *structured.Tensor {
	return ops.Gather(t, tensor.Vector(rows), 0).(*structured.Tensor)
}

// Slice returns records from to to-1.
func Slice(t *structured.Tensor, from, to int) *structured.Tensor {
	return t.At(key.Range(from, to, nil)).(*structured.Tensor)
}
