package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/structured"
)

func init() {
	cases.Handle(map[string]cases.Func{"parquet.read": readParquet})
}

// readParquet compares the records of a file with those of JSON lines beside it, in which
// values have the form that the README of the group says.
func readParquet(c *cases.Case) (any, error) {
	dir := filepath.Dir(c.File.Path)
	got, set, err := parquetRecords(filepath.Join(dir, c.Str(0)))
	if err != nil {
		if c.Error != nil { // any kind will do
			c.Error = &cases.WantError{Kind: cases.ErrorKind(err)}
		}
		return nil, err
	}
	want, ok := c.Want.(map[string]any)
	if !ok {
		return nil, nil
	}
	text := filepath.Join(dir, cases.As[string](want["file"]))
	c.Want = "equal"
	return compareLines(text, got, set)
}

// parquetRecords reads a file, row group by row group and as a whole.
func parquetRecords(name string) ([]any, *arrow.Schema, error) {
	f, err := parquetio.Open(name, parquetio.ReadOptions{Plain: true})
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	v, err := f.Read()
	if err != nil {
		return nil, nil, err
	}
	whole, err := v.(*structured.Tensor).ToNested()
	if err != nil {
		return nil, nil, err
	}
	rows, ok := whole.([]any)
	if !ok {
		return nil, nil, fmt.Errorf("the records are a %T", whole)
	}
	at := 0
	for group, err := range f.All() {
		if err != nil {
			return nil, nil, err
		}
		nested, err := group.(*structured.Tensor).ToNested()
		if err != nil {
			return nil, nil, err
		}
		list := nested.([]any)
		if at+len(list) > len(rows) || !same(rows[at:at+len(list)], list) {
			return nil, nil, fmt.Errorf("row group by row group the records are others")
		}
		at += len(list)
	}
	return rows, f.Schema(), nil
}

// same is equality where NaN equals itself.
func same(a, b any) bool {
	return reflect.DeepEqual(a, b) || fmt.Sprint(a) == fmt.Sprint(b)
}

func compareLines(name string, got []any, set *arrow.Schema) (any, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	n := 0
	for ; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			n--
			continue
		}
		var want any
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			return nil, err
		}
		if n >= len(got) {
			return fmt.Sprintf("there are %d rows only", len(got)), nil
		}
		have := recordJSON(got[n], set.Fields())
		text, err := json.Marshal(have)
		if err != nil {
			return nil, err
		}
		var back any
		if err := json.Unmarshal(text, &back); err != nil {
			return nil, err
		}
		for _, f := range set.Fields() {
			sortEntries(back.(map[string]any)[f.Name], f.Type)
			sortEntries(want.(map[string]any)[f.Name], f.Type)
		}
		if !reflect.DeepEqual(back, want) {
			return fmt.Sprintf("row %d is %.300s, want %.300s", n, text, lines.Text()), nil
		}
	}
	if n != len(got) {
		return fmt.Sprintf("there are %d rows, want %d", len(got), n), nil
	}
	return "equal", nil
}

func recordJSON(v any, fields []arrow.Field) any {
	if v == nil {
		return nil
	}
	m, out := v.(map[string]any), map[string]any{}
	for _, f := range fields {
		out[f.Name] = valueJSON(m[f.Name], f)
	}
	return out
}

// sortEntries brings the entries of all maps in a value of a type into one order, since maps of Go have none.
func sortEntries(v any, t arrow.DataType) {
	switch t := t.(type) {
	case *arrow.StructType:
		for _, f := range t.Fields() {
			if m, ok := v.(map[string]any); ok {
				sortEntries(m[f.Name], f.Type)
			}
		}
	case *arrow.MapType:
		list, _ := v.([]any)
		for _, e := range list {
			sortEntries(e.([]any)[1], t.ItemType())
		}
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	case arrow.ListLikeType:
		list, _ := v.([]any)
		for _, e := range list {
			sortEntries(e, t.Elem())
		}
	}
}

// valueJSON returns a value in the form of the cases.
func valueJSON(v any, f arrow.Field) any {
	if v == nil {
		return nil
	}
	if x, ok := v.(element.Item); ok { // a date, a time of day, a decimal or a UUID
		return x.String()
	}
	switch t := f.Type.(type) {
	case *arrow.StructType:
		return recordJSON(v, t.Fields())
	case *arrow.MapType:
		out := []any{}
		if m, ok := v.(map[string]any); ok {
			for k, x := range m {
				out = append(out, []any{k, valueJSON(x, t.ItemField())})
			}
			return out
		}
		for _, e := range v.([]any) {
			m := e.(map[string]any)
			out = append(out, []any{valueJSON(m["key"], t.KeyField()), valueJSON(m["value"], t.ItemField())})
		}
		return out
	case arrow.ListLikeType:
		out := []any{}
		for _, e := range v.([]any) {
			out = append(out, valueJSON(e, t.ElemField()))
		}
		return out
	case *arrow.FixedSizeBinaryType, *arrow.LargeBinaryType:
		return map[string]any{"b64": base64.StdEncoding.EncodeToString([]byte(v.(string)))}
	case *arrow.MonthDayNanoIntervalType:
		m := v.(map[string]any)
		return map[string]any{"months": m["months"], "days": m["days"], "millis": reflect.ValueOf(m["nanoseconds"]).Int() / 1_000_000}
	case *arrow.TimestampType:
		return timestamp(v.(time.Time), t)
	}
	return plainJSON(v)
}

func digits(u arrow.TimeUnit) int {
	return map[arrow.TimeUnit]int{arrow.Millisecond: 3, arrow.Microsecond: 6, arrow.Nanosecond: 9}[u]
}

func timestamp(at time.Time, t *arrow.TimestampType) string {
	out := at.UTC().Format("2006-01-02T15:04:05." + strings.Repeat("0", digits(t.Unit)))
	if t.TimeZone != "" {
		out += "Z"
	}
	return out
}

// plainJSON returns a number, string or truth value.
func plainJSON(v any) any {
	x := reflect.ValueOf(v)
	switch {
	case x.CanInt():
		if n := x.Int(); n > 1<<53 || n < -1<<53 {
			return strconv.FormatInt(n, 10)
		}
	case x.CanUint():
		if n := x.Uint(); n > 1<<53 {
			return strconv.FormatUint(n, 10)
		}
	case x.CanFloat():
		return floatJSON(x.Float())
	}
	if f, ok := v.(interface{ Float32() float32 }); ok {
		return floatJSON(float64(f.Float32()))
	}
	return v
}

func floatJSON(f float64) any {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return 0
	}
	return f
}
