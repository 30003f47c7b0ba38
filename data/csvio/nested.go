package csvio

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// nested returns the values of JSON columns by name. They are read as the fields of records in JSON lines. A field
// that is not JSON, or does not have the type of its column, is recorded as bad.
func (t *table) nested(cols []*column, o *Options, name string) (map[string]tensor.Tensor, error) {
	lines := make([]line, len(t.lines))
	for _, c := range cols {
		key := append(jsonText(c.name), ':')
		for row := range lines {
			text := []byte("null")
			if c.has(row) {
				if text = []byte(c.text(row)); !json.Valid(text) {
					c.bad = append(c.bad, badField{row, clip(string(text))})
					text = []byte("null")
				}
			}
			lines[row] = append(lines[row], entry{key, text})
		}
	}
	read := o.Nested
	var report jsonl.Report
	read.Format, read.Report, read.Context = jsonl.Lines, &report, o.Context
	if read.Lenient, read.MaxSkipped = o.Lenient, 1; read.Missing == structured.MissingError && read.Schema == nil {
		read.Missing = structured.MissingMasked
	}
	for {
		var text []byte
		for _, l := range lines {
			text = l.append(text)
		}
		v, err := jsonl.Read(jsonl.Bytes(text), read)
		var fault *jsonl.Error
		faults := report.Bad
		if errors.As(err, &fault) {
			faults = []*jsonl.Error{fault}
		}
		for _, e := range faults {
			k := max(0, slices.IndexFunc(cols, func(c *column) bool { return isBelow(e.Path, c.name) }))
			row := int(e.Line) - 1
			if string(lines[row][k].text) == "null" { // a missing field may not be allowed
				return nil, &Error{What: BadType, Source: name, Line: t.lines[row], Column: cols[k].name, Detail: e.Detail}
			}
			cols[k].bad = append(cols[k].bad, badField{row, clip(string(lines[row][k].text)) + " (" + e.Path + ": " + e.Detail + ")"})
			lines[row][k].text = []byte("null")
		}
		switch {
		case fault != nil && !o.Lenient:
			return nil, nil
		case err != nil:
			return nil, err
		case len(faults) == 0:
			return fieldsOf(v, cols)
		}
	}
}

// isBelow reports whether a path is that of a column or leads into it.
func isBelow(path, name string) bool {
	rest, ok := strings.CutPrefix(path, structured.PathString([]string{name}))
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// A line is a JSON record: names and texts.
type line []entry

type entry struct{ key, text []byte }

func (l line) append(dst []byte) []byte {
	for i, e := range l {
		dst = append(dst, "{,"[min(i, 1)])
		dst = append(dst, e.key...)
		at := len(dst)
		dst = append(dst, e.text...)
		for k, b := range dst[at:] { // replace them by blanks: JSON text has them only between tokens
			if b == '\n' || b == '\r' {
				dst[at+k] = ' '
			}
		}
	}
	return append(dst, '}', '\n')
}

// fieldsOf returns the columns of the records that were read. Without records and a Schema, there are none.
func fieldsOf(v *structured.Tensor, cols []*column) (map[string]tensor.Tensor, error) {
	out := map[string]tensor.Tensor{}
	for _, c := range cols {
		f, err := v.Field(c.name)
		if len(c.state) == 0 && errors.Is(err, tenon.ErrNotFound) {
			f, err = c.strings(), nil
		}
		if err != nil {
			return nil, err
		}
		out[c.name] = f
	}
	return out, nil
}

func jsonText(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return []byte(strconv.Quote(s)) // strings can always be written as JSON
	}
	return b
}

// isNested reports whether the entries of a column are not single values.
func isNested(v tensor.Tensor) bool {
	for {
		m, ok := v.(masked.Optional)
		if !ok {
			break
		}
		v = m.Values()
	}
	switch v.(type) {
	case *structured.Tensor, *structured.Map, *structured.Union:
		return true
	}
	return v.Shape().Rank() > 1
}

// inJSON returns the rows of a column as JSON texts; missing rows stay missing.
func inJSON(v tensor.Tensor) (tensor.Tensor, error) {
	var buf bytes.Buffer
	if err := jsonl.Write(&buf, v, jsonl.WriteOptions{}); err != nil {
		return nil, err
	}
	var text []byte
	ends, there, all := []int64{0}, []bool(nil), true
	for row := range bytes.Lines(buf.Bytes()) {
		row = bytes.TrimSuffix(row, []byte{'\n'})
		there = append(there, string(row) != "null")
		if all = all && there[len(there)-1]; there[len(there)-1] {
			text = append(text, row...)
		}
		ends = append(ends, int64(len(text)))
	}
	out := tensor.WrapStrings(ends, text, shape.Of(len(there)))
	if all {
		return out, nil
	}
	return masked.New(out, tensor.Of(there, len(there)))
}
