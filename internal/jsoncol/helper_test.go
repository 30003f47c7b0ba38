package jsoncol

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tenonml/tenon/dtype"
)

// object is a row of a struct: what encoding/json makes of it, with the missing
// fields left out.
type object = map[string]any

// rowValue returns row i of c as encoding/json would decode it into an any with
// numbers as int64 or float64. Missing values are nil.
func rowValue(c *Column, i int) any {
	if !c.IsValid(i) {
		return nil
	}
	switch c.Kind {
	case Bool, Int64, Float64:
		switch v := reflect.ValueOf(c.Values).Index(i).Interface().(type) {
		case dtype.F16:
			return float64(v.Float32())
		case dtype.BF16:
			return float64(v.Float32())
		case float32:
			return float64(v)
		case bool, int64, float64:
			return v
		case uint64:
			return v
		default:
			rv := reflect.ValueOf(v)
			if rv.CanInt() {
				return rv.Int()
			}
			return int64(rv.Uint())
		}
	case String:
		return c.StringAt(i)
	case List:
		list := []any{}
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			list = append(list, rowValue(c.Elem, int(j)))
		}
		return list
	case Map:
		o := object{}
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			o[c.Elem.Fields[0].Column.StringAt(int(j))] = rowValue(c.Elem.Fields[1].Column, int(j))
		}
		return o
	case Struct:
		o := object{}
		for _, f := range c.Fields {
			if v := rowValue(f.Column, i); v != nil {
				o[f.Name] = v
			}
		}
		return o
	case Union:
		return rowValue(c.Fields[c.Tags[i]].Column, int(c.Index[i]))
	}
	return nil
}

// rowValues returns all rows of c.
func rowValues(c *Column) []any {
	rows := []any{}
	for i := range c.Len {
		rows = append(rows, rowValue(c, i))
	}
	return rows
}

// checkColumn verifies what the documentation of Column promises.
func checkColumn(t testing.TB, c *Column) {
	t.Helper()
	if c.Valid != nil && len(c.Valid) != c.Len {
		t.Fatalf("%v column of %d rows has %d validities", c.Kind, c.Len, len(c.Valid))
	}
	spare := func(name string, length, capacity, size int) {
		if (capacity-length)*size < 64 {
			t.Errorf("%v column: %s has %d bytes of slack", c.Kind, name, (capacity-length)*size)
		}
	}
	if c.Valid != nil {
		spare("Valid", len(c.Valid), cap(c.Valid), 1)
	}
	switch c.Kind {
	case Bool, Int64, Float64:
		v := reflect.ValueOf(c.Values)
		if v.Len() != c.Len || v.Type().Elem() != c.DType.GoType() {
			t.Fatalf("%v column of %d rows and dtype %v has %d values of type %v", c.Kind, c.Len, c.DType, v.Len(), v.Type())
		}
		spare("Values", v.Len(), v.Cap(), int(v.Type().Elem().Size()))
	case String, List:
		if len(c.Offsets) != c.Len+1 || c.Offsets[0] != 0 {
			t.Fatalf("%v column of %d rows has offsets %v", c.Kind, c.Len, c.Offsets)
		}
		spare("Offsets", len(c.Offsets), cap(c.Offsets), 8)
		end := len(c.Bytes)
		if c.Kind == List {
			end = c.Elem.Len
			checkColumn(t, c.Elem)
		} else {
			spare("Bytes", len(c.Bytes), cap(c.Bytes), 1)
		}
		for i := range c.Len {
			if c.Offsets[i] > c.Offsets[i+1] {
				t.Fatalf("%v column: offsets %v", c.Kind, c.Offsets)
			}
			if !c.IsValid(i) && c.Offsets[i] != c.Offsets[i+1] {
				t.Fatalf("%v column: row %d is missing and not empty", c.Kind, i)
			}
		}
		if int(c.Offsets[c.Len]) != end {
			t.Fatalf("%v column: offsets end at %d of %d", c.Kind, c.Offsets[c.Len], end)
		}
	case Struct:
		for _, f := range c.Fields {
			if f.Column.Len != c.Len {
				t.Fatalf("field %s has %d rows, its struct %d", f.Name, f.Column.Len, c.Len)
			}
			checkColumn(t, f.Column)
			for i := range c.Len {
				if !c.IsValid(i) && f.Column.IsValid(i) {
					t.Fatalf("field %s: row %d is there, but its struct is not", f.Name, i)
				}
			}
		}
	case Union:
		next := make([]int64, len(c.Fields))
		for i, tag := range c.Tags {
			if tag < 0 {
				if c.IsValid(i) {
					t.Fatalf("union: row %d has no alternative and is not missing", i)
				}
				continue
			}
			if c.Index[i] != next[tag] {
				t.Fatalf("union: row %d is row %d of alternative %d, expected %d", i, c.Index[i], tag, next[tag])
			}
			next[tag]++
		}
		for i, f := range c.Fields {
			if int(next[i]) != f.Column.Len {
				t.Fatalf("union: %d rows of alternative %d, which has %d", next[i], i, f.Column.Len)
			}
			checkColumn(t, f.Column)
		}
	}
}

// read reads text and checks the columns.
func read(t testing.TB, text string, o Options) *Table {
	t.Helper()
	table, err := ReadBytes([]byte(text), o)
	if err != nil {
		t.Fatalf("reading %.300q: %v", text, err)
	}
	checkColumn(t, table.Column)
	return table
}

// wantRows reads text and compares the rows with want.
func wantRows(t *testing.T, text string, o Options, want ...any) *Table {
	t.Helper()
	table := read(t, text, o)
	if want == nil {
		want = []any{}
	}
	if diff := cmp.Diff(want, rowValues(table.Column)); diff != "" {
		t.Errorf("reading %.300q (-want +got):\n%s", text, diff)
	}
	return table
}

// wantError reads text, which has to fail, and returns the error.
func wantError(t *testing.T, text string, o Options) *Error {
	t.Helper()
	table, err := ReadBytes([]byte(text), o)
	if err == nil {
		t.Fatalf("reading %.300q gave %v and no error", text, rowValues(table.Column))
	}
	e, ok := err.(*Error)
	if !ok {
		t.Fatalf("reading %.300q: %v (%T), expected an *Error", text, err, err)
	}
	return e
}

// decodeLines is the oracle: encoding/json on each line, as rowValues has it.
func decodeLines(text string) ([]any, error) {
	rows := []any{}
	for _, line := range strings.Split(text, "\n") {
		if strings.Trim(line, " \t\r") == "" {
			continue
		}
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		if d.More() || d.InputOffset() < int64(len(strings.TrimRight(line, " \t\r"))) {
			return nil, fmt.Errorf("more than one value on a line")
		}
		rows = append(rows, plain(v))
	}
	return rows, nil
}

// plain turns a decoded value into what rowValue returns: numbers as int64
// where they are written as one, and no fields that are null.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil && v != "-0" {
			return i
		}
		f, err := v.Float64()
		if err != nil {
			return err
		}
		return f
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k, e := range v {
			if e = plain(e); e == nil {
				delete(v, k)
			} else {
				v[k] = e
			}
		}
	}
	return v
}

// sameJSON compares values; numbers are the same if they are as float64, for
// one float in a list makes all of its numbers floats.
func sameJSON(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameJSON(a[i], b[i]) {
				return false
			}
		}
		return true
	case object:
		b, ok := b.(object)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if v, ok := b[k]; !ok || !sameJSON(a[k], v) {
				return false
			}
		}
		return true
	case int64:
		if f, ok := b.(float64); ok {
			return float64(a) == f
		}
	case float64:
		if i, ok := b.(int64); ok {
			return a == float64(i)
		}
	}
	return a == b
}
