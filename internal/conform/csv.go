package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/conform/cases"
)

func init() {
	cases.Handle(map[string]cases.Func{"csv.read": readCSV})
}

// readCSV compares a table with that of the case, or the fault with what the case says of
// it: the line and the column have to agree.
func readCSV(c *cases.Case) (any, error) {
	var text []byte
	switch x := c.Arg(0).(type) {
	case string:
		text = []byte(x)
	case []byte:
		text = x
	default:
		return nil, fmt.Errorf("a text of type %T", x)
	}
	var r csvio.Report
	o := csvio.Options{NoHeader: !c.AttrBool("header", true), Lenient: c.AttrBool("lenient", false), MaxSkipped: 1, Report: &r, Delim: c.AttrStr("delim", ",")[0], Missing: []string{""}}
	if q, ok := c.Attrs["quote"].(string); ok && q == "" {
		o.NoQuotes = true
	} else if ok {
		o.Quote = q[0]
	}
	if s := c.AttrStr("comment", ""); s != "" {
		o.Comment = s[0]
	}
	if list, ok := c.Attrs["missing"].([]any); ok {
		o.Missing = cases.List[string](list)
	}
	if types, ok := c.Attrs["types"].(map[string]any); ok {
		o.Types = map[string]csvio.Type{}
		for name, t := range types {
			o.Types[name] = csvio.Type(cases.As[string](t))
		}
	}
	v, err := csvio.Read(csvio.Bytes(text), o)
	var e *csvio.Error
	if errors.As(err, &e) && c.Error != nil {
		if w := c.Error; w.What != string(e.What) || int64(w.Line) != e.Line || w.Column != "" && w.Column != e.Column {
			return fmt.Sprintf("the error %q", e), nil
		}
	}
	if err != nil {
		return nil, err
	}
	want, ok := c.Want.(map[string]any)
	if !ok {
		return nil, nil
	}
	nested, err := v.ToNested()
	if err != nil {
		return nil, err
	}
	got := map[string]any{"type": "table", "columns": []any{}, "rows": []any{}}
	for _, col := range r.Columns {
		got["columns"] = append(got["columns"].([]any), []any{col.Name, string(col.Type)})
	}
	for _, x := range nested.([]any) {
		row := []any{}
		for _, col := range r.Columns {
			row = append(row, fieldJSON(x.(map[string]any)[col.Name], col))
		}
		got["rows"] = append(got["rows"].([]any), row)
	}
	if o.Lenient {
		skipped := []any{}
		for _, s := range r.Skipped {
			skipped = append(skipped, []any{s.Line, string(s.What)})
		}
		got["skipped"] = skipped
	}
	have, wanted := canonical(got), canonical(want)
	if c.Want = "equal"; !reflect.DeepEqual(have, wanted) {
		return fmt.Sprintf("%v, want %v", have, wanted), nil
	}
	return "equal", nil
}

// canonical returns a value as encoding/json reads it.
func canonical(x any) any {
	text, err := json.Marshal(x)
	if err != nil {
		return err.Error()
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		return err.Error()
	}
	return out
}

func fieldJSON(v any, c csvio.Column) any {
	if v == nil {
		return nil
	}
	switch c.Type {
	case csvio.Date:
		return v.(element.Item).String()
	case csvio.Timestamp, csvio.TimestampTZ:
		text := v.(time.Time).UTC().Format("2006-01-02T15:04:05.999999999")
		if c.Type == csvio.TimestampTZ {
			text += "Z"
		}
		return text
	}
	return plainJSON(v)
}
