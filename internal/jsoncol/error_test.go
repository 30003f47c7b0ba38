package jsoncol

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An error says where it is, exactly, whatever the size of the chunks.
func TestErrorPosition(t *testing.T) {
	orders := NewStruct(named("id", int64s), named("orders", NewList(NewStruct(named("qty", int64s), named("note", texts.WithMissing(MissingMasked))))))
	const good = `{"id":1,"orders":[{"qty":1,"note":"x"},{"qty":2}]}` + "\n"
	tests := []struct {
		name, text string
		o          Options
		want       Error
	}{
		{"number for a string", good + `{"id":2,"orders":[{"qty":1},{"qty":2,"note":3}]}`, Options{Schema: orders},
			Error{Code: TypeMismatch, Offset: 51 + 44, Line: 2, Column: 45, Row: 1, Path: "orders[1].note", Detail: "expected a JSON string, found 3"}},
		{"after blank lines and spaces", good + "\n\r\n  \t\n" + `  {"id":"two","orders":[]}`, Options{Schema: orders},
			Error{Code: TypeMismatch, Offset: 51 + 7 + 8, Line: 5, Column: 9, Row: 1, Path: "id", Detail: `expected an integer (int64), found "two"`}},
		{"missing", good + good + `{"id":1}` + "\n" + good, Options{Schema: orders},
			Error{Code: MissingValue, Offset: 102 + 7, Line: 3, Column: 8, Row: 2, Path: "orders",
				Detail: "no value where a JSON array is needed (another policy for missing values, or an optional field in the schema, would accept it)"}},
		{"truncated last line", good + `{"id":1,"orders":[{"qty":1`, Options{Schema: orders},
			Error{Code: Syntax, Offset: 51 + 26, Line: 2, Column: 27, Row: 1, Path: "orders[0]", Detail: "expected ',' or '}' after a member, found the end of the input"}},
		{"truncated line", `{"id":1,"orders":[` + "\n" + good, Options{Schema: orders},
			Error{Code: Syntax, Offset: 18, Line: 1, Column: 19, Row: 0, Path: "orders[0]", Detail: "expected a value, found the end of the line"}},
		{"a name with escapes and bytes that are no UTF-8", "{\"\\u0061 \\\"\xbc\":}", Options{Unicode: UnicodeReplace},
			Error{Code: Syntax, Offset: 14, Line: 1, Column: 15, Row: 0, Path: `"a \"�"`, Detail: "expected a value, found }"}},
		{"two on a line", good + `{"id":1,"orders":[]} {}` + "\n", Options{Schema: orders},
			Error{Code: Syntax, Offset: 51 + 21, Line: 2, Column: 22, Row: 1, Detail: "expected the end of the line after a record, found {"}},
		{"unknown key", good + `{"id":1,"ordres":[]}` + "\n", Options{Schema: orders},
			Error{Code: UnknownKey, Offset: 51 + 8, Line: 2, Column: 9, Row: 1, Detail: `the schema has no field "ordres" (SkipUnknown would skip it)`}},
		{"escape", `{"id":1,"orders":[{"qty":1,"note":"ab\q"}]}`, Options{Schema: orders},
			Error{Code: Syntax, Offset: 37, Line: 1, Column: 38, Row: 0, Path: "orders[0].note", Detail: `\q"}]} is not an escape sequence`}},
		{"control character", good + "{\"id\":1,\"orders\":[{\"qty\":1,\"note\":\"a\tb\"}]}", Options{Schema: orders},
			Error{Code: Syntax, Offset: 51 + 36, Line: 2, Column: 37, Row: 1, Path: "orders[0].note", Detail: "control character 0x09 in a string must be written as an escape"}},
		{"UTF-8", "{\"id\":1,\"orders\":[{\"qty\":1,\"note\":\"abc\xe2\x28\xa1\"}]}", Options{Schema: orders},
			Error{Code: BadText, Offset: 38, Line: 1, Column: 39, Row: 0, Path: "orders[0].note", Detail: "byte 0xe2 is not UTF-8 (Unicode: replace would accept it)"}},
		{"skipped", `{"id":1,"x":{"a b":[1,{"c":tru}]},"orders":[]}`, Options{Schema: orders, SkipUnknown: true},
			Error{Code: Syntax, Offset: 27, Line: 1, Column: 28, Row: 0, Path: "x", Detail: "expected a value, found tru"}},
		{"odd name", `{"a b":{"":[[1,[]]]}}`, Options{},
			Error{Code: TypeMismatch, Offset: 15, Line: 1, Column: 16, Row: 0, Path: `"a b".""[0][1]`, Detail: "found [ where earlier rows have a JSON number (Unions would accept both)"}},
		{"behind a byte order mark", "\ufeff1\nx", Options{},
			Error{Code: Syntax, Offset: 5, Line: 2, Column: 1, Row: 1, Detail: "expected a value, found x"}},
		{"concatenated", "{\n \"a\": 1\n}\n{\n \"a\": 2,\n}", Options{Format: Concatenated},
			Error{Code: Syntax, Offset: 23, Line: 6, Column: 1, Row: 1, Detail: "expected a key, found }"}},
		{"concatenated on one line", `{"a":1}  {"a":2}{"a":[]}`, Options{Format: Concatenated},
			Error{Code: TypeMismatch, Offset: 21, Line: 1, Column: 22, Row: 2, Path: "a", Detail: "found [ where earlier rows have a JSON number (Unions would accept both)"}},
		{"document", "[\n  {\"a\": 1},\n  {\"a\": \"x\"}\n]\n", Options{Format: Document},
			Error{Code: TypeMismatch, Offset: 22, Line: 3, Column: 9, Row: 1, Path: "a", Detail: `found "x" where earlier rows have a JSON number (Unions would accept both)`}},
		{"document without end", "[1,\n2", Options{Format: Document},
			Error{Code: Syntax, Offset: 5, Line: 2, Column: 2, Row: 2, Detail: "expected ',' or ']' after an element, found the end of the input"}},
		{"text behind a document", "[1,\n2]\n x", Options{Format: Document},
			Error{Code: Syntax, Offset: 8, Line: 3, Column: 2, Row: 2, Detail: "text after the end of the document"}},
		{"empty document", " \n", Options{Format: Document},
			Error{Code: Syntax, Offset: 2, Line: 2, Column: 1, Row: 0, Detail: "expected a value, found the end of the input"}},
		{"comma at the end", "[1,2,\n]", Options{Format: Document},
			Error{Code: Syntax, Offset: 6, Line: 2, Column: 1, Row: 2, Detail: "expected a value, found ]"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, size := range []int{0, 1, 7, 64} {
				test.o.ChunkSize = size
				e := wantError(t, test.text, test.o)
				got := *e
				if size != 0 && test.o.Format != Lines {
					got.Detail = test.want.Detail // it may quote less of the text
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("chunks of %d (-want +got):\n%s", size, diff)
				}
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	_, err := Read([]Input{{Name: "first.jsonl", Data: []byte("1\n2\n")}, {Name: "second.jsonl", Data: []byte("3\n\n[4]\n")}}, Options{})
	const want = "second.jsonl:3:1: found [4 where earlier rows have a JSON number (Unions would accept both) (row 3, byte 3)"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if e := wantError(t, `{"a":[}`, Options{}); e.Error() != "json:1:7: a[0]: expected a value, found } (row 0, byte 6)" {
		t.Errorf("%v", e)
	}
}

// Of several errors the first in the input is reported, whichever worker finds
// one first.
func TestFirstError(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		if i%100 == 57 {
			b.WriteString(`{"a":oops}` + "\n")
		} else {
			b.WriteString(`{"a":1}` + "\n")
		}
	}
	for _, schema := range []*Schema{nil, NewStruct(named("a", int64s))} {
		for _, workers := range []int{1, 2, 5} {
			e := wantError(t, b.String(), Options{Schema: schema, Workers: workers, ChunkSize: 100})
			if e.Line != 58 || e.Row != 57 {
				t.Errorf("%d workers: %v", workers, e)
			}
		}
	}
}

func TestLenient(t *testing.T) {
	lines := []string{
		`{"a":1,"b":"x"}`, // kept
		`{"a":2,"b":}`,
		`{"a":3,"b":"y"`,
		``,
		`{"a":"four","b":"x"}`,
		`{"a":5,"b":"z"} x`,
		`{"a":6,"b":"w"}`, // kept
		`{"b":"only"}`,
		`{"a":8,"b":"c","c":[1]}`,
		`garbage`,
		"{\"a\":9,\"b\":\"\xff\"}",
		`{"a":10,"b":"last"}`, // kept
	}
	text := strings.Join(lines, "\n")
	type place struct {
		Line, Row int64
		Code      Code
		Path      string
	}
	want := []place{{2, 1, Syntax, "b"}, {3, 1, Syntax, ""}, {5, 1, TypeMismatch, "a"}, {6, 1, Syntax, ""}, {8, 2, MissingValue, "a"}, {9, 2, UnknownKey, ""}, {10, 2, Syntax, ""}, {11, 2, BadText, "b"}}
	rows := []any{object{"a": int64(1), "b": "x"}, object{"a": int64(6), "b": "w"}, object{"a": int64(10), "b": "last"}}
	for _, schema := range []*Schema{NewStruct(named("a", int64s), named("b", texts)), nil} {
		for _, size := range []int{0, 1, 20} {
			for _, workers := range []int{1, 3} {
				table := wantRows(t, text, Options{Schema: schema, Lenient: true, ChunkSize: size, Workers: workers}, rows...)
				var got []place
				for _, e := range table.Bad {
					got = append(got, place{e.Line, e.Row, e.Code, e.Path})
				}
				if diff := cmp.Diff(want, got); diff != "" || table.Skipped != int64(len(want)) {
					t.Errorf("schema %v, chunks of %d: %d skipped (-want +got):\n%s", schema, size, table.Skipped, diff)
				}
				if e := table.Bad[0]; e.Offset != 16+11 || e.Column != 12 {
					t.Errorf("%v", e)
				}
			}
		}
	}
	table := read(t, strings.Repeat("x\n", 50), Options{Lenient: true, MaxBad: 7})
	if table.Skipped != 50 || len(table.Bad) != 7 || table.Column.Len != 0 {
		t.Errorf("%d skipped, %d kept, %d rows", table.Skipped, len(table.Bad), table.Column.Len)
	}
	// A line that does not fit the type so far leaves no trace in it.
	table = wantRows(t, `{"a":[1]}`+"\n"+`{"a":[2],"b":{"c":1,}}`+"\n"+`{"a":[true],"z":0}`, Options{Lenient: true, Missing: MissingMasked}, object{"a": []any{int64(1)}})
	if got := table.Schema.String(); got != "{a: var * int64}" || table.Skipped != 2 {
		t.Errorf("schema %s, %d skipped", got, table.Skipped)
	}
	for _, format := range []Format{Concatenated, Document} {
		if _, err := ReadBytes([]byte("[1]"), Options{Lenient: true, Format: format}); err != errLenient {
			t.Errorf("format %d: %v", format, err)
		}
	}
	if _, err := ReadBytes([]byte("[1,\n2]"), Options{Lenient: true, Format: Auto}); err != errLenient {
		t.Errorf("%v", err)
	}
}
