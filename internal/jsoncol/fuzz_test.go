package jsoncol

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// FuzzRead holds the reader against encoding/json, line by line, and against
// itself: with chunks of any size and any number of workers, with the schema
// that it found, and on what the writer makes of the columns.
func FuzzRead(f *testing.F) {
	for _, text := range validValues {
		f.Add([]byte(text+"\n"+text), uint8(5))
	}
	for _, text := range invalidValues {
		f.Add([]byte(text), uint8(3))
	}
	for _, text := range invalidTexts {
		f.Add([]byte(`{"a":`+text+`}`), uint8(16))
	}
	f.Add([]byte("{\"a\":1}\n{\"a\":1.5,\"b\":[]}\r\n\n{\"b\":[{\"c\":null}],\"a\":\"x\"}"), uint8(9))
	f.Add(writeOrders(3), uint8(100))
	f.Fuzz(func(t *testing.T, text []byte, chunk uint8) {
		if len(text) > 1024 {
			return
		}
		o := Options{
			Missing: MissingMasked, Duplicates: DuplicateLast, Overflow: OverflowFloat, Unicode: UnicodeReplace,
			Unions: true, MaxDepth: 10000, Workers: 1,
		}
		table, err := ReadBytes(text, o)
		want, wantErr := decodeLines(string(bytes.TrimPrefix(text, bom)))
		if hugeNumber(want) {
			return // encoding/json keeps the digits of a float that none can hold
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, encoding/json: %v", text, err, wantErr)
		}
		small := o
		small.ChunkSize, small.Workers = int(chunk), 1+int(chunk)%2
		again, againErr := Read([]Input{FromReader("", bytes.NewReader(text))}, small)
		if place(err) != place(againErr) {
			t.Fatalf("%q: %v, and %v with chunks of %d", text, err, againErr, chunk)
		}
		if err != nil {
			return
		}
		checkColumn(t, table.Column)
		rows := rowValues(table.Column)
		if !sameJSON(want, rows) {
			t.Fatalf("%q: %v, encoding/json: %v", text, rows, want)
		}
		if !reflect.DeepEqual(table.Column, again.Column) {
			t.Fatalf("%q: %v, and %v with chunks of %d", text, rows, rowValues(again.Column), chunk)
		}
		typed := o
		typed.Schema = table.Schema
		if table, err = ReadBytes(text, typed); err != nil || !reflect.DeepEqual(table.Column, again.Column) {
			t.Fatalf("%q with schema %v: %v", text, typed.Schema, err)
		}
		var out bytes.Buffer
		if err := Write(&out, table.Column, WriteOptions{}); err != nil {
			t.Fatalf("%q: writing: %v", text, err)
		}
		back, err := ReadBytes(out.Bytes(), o)
		if err != nil || !sameJSON(rows, rowValues(back.Column)) {
			t.Fatalf("%q written as %q: %v", text, out.Bytes(), err)
		}
	})
}

// place is what an error says apart from the text that it quotes, of which less
// may be at hand in a small chunk.
func place(err error) string {
	if e, ok := err.(*Error); ok {
		return fmt.Sprint(e.Code, e.Line, e.Column, e.Offset, e.Row, e.Path)
	}
	return fmt.Sprint(err)
}

// hugeNumber reports whether a number in v is one that float64 cannot hold.
func hugeNumber(v any) bool {
	switch v := v.(type) {
	case error:
		return true
	case []any:
		for _, e := range v {
			if hugeNumber(e) {
				return true
			}
		}
	case object:
		for _, e := range v {
			if hugeNumber(e) {
				return true
			}
		}
	}
	return false
}

// FuzzFormats reads text as a sequence of values and as one document; neither
// may depend on where chunks end.
func FuzzFormats(f *testing.F) {
	for _, text := range []string{`[]`, `[1,2]`, ` [ {"a":1} , {"a":2} ] `, `{"a":[1,2]} {"a":[]}`, "1 2\n3", `"a""b"[]{}`, `[1,]`, `[,]`, `[1`, `[]]`, `1,2`, `{"a":"}"}{`, `"\\""\""`} {
		f.Add([]byte(text), uint8(3), uint8(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, chunk, format uint8) {
		if len(text) > 1024 {
			return
		}
		o := Options{Missing: MissingMasked, Unions: true, Unicode: UnicodeReplace, Overflow: OverflowFloat, Duplicates: DuplicateFirst, Format: Format(format % 4), Workers: 1}
		table, err := ReadBytes(text, o)
		small := o
		small.ChunkSize, small.Workers = int(chunk), 1+int(chunk)%2
		if o.Format == Auto {
			return
		}
		again, againErr := ReadBytes(text, small)
		if place(err) != place(againErr) {
			t.Fatalf("%q: %v, and %v with chunks of %d", text, err, againErr, chunk)
		}
		if err != nil {
			return
		}
		checkColumn(t, table.Column)
		if !reflect.DeepEqual(table.Column, again.Column) || table.Schema.String() != again.Schema.String() {
			t.Fatalf("%q: %v, and %v with chunks of %d", text, rowValues(table.Column), rowValues(again.Column), chunk)
		}
		if o.Format == Document && strings.HasPrefix(strings.TrimLeft(string(bytes.TrimPrefix(text, bom)), " \t\r\n"), "[") {
			// The elements on lines of their own are the same rows.
			var out bytes.Buffer
			if err := Write(&out, table.Column, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			lines := o
			lines.Format = Lines
			back, err := ReadBytes(out.Bytes(), lines)
			if err != nil || !sameJSON(rowValues(table.Column), rowValues(back.Column)) {
				t.Fatalf("%q as lines %q: %v", text, out.Bytes(), err)
			}
		}
	})
}
