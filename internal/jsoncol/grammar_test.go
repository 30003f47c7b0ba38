package jsoncol

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// validValues are texts that RFC 8259 allows, by the rule that they come from.
var validValues = []string{
	// values, section 3
	`null`, `true`, `false`, `{}`, `[]`, `""`, `0`,
	// white space around structural characters, section 2
	` true `, "\t[\t1\t,\t2\t]\t", `{ "a" : 1 , "b" : [ ] }`, `[ ]`, `{ }`, "\r1\r",
	// objects, section 4
	`{"a":1}`, `{"a":1,"b":2}`, `{"":0}`, `{"a":{"a":{"a":{}}}}`, `{"b":1,"a":2}`,
	`{"a key that is longer than sixteen bytes":1,"another key that is longer":2}`,
	`{"a":null}`, `{"\u0061\n":1}`, `{"é":1}`, `{"\"":1,"\\":2}`,
	// arrays, section 5
	`[1]`, `[1,2,3]`, `[[],[[]],[[],[]]]`, `[null]`, `[null,null]`, `["a","b"]`, `[{},{}]`, `[true,false]`,
	// numbers, section 6
	`-0`, `1`, `-1`, `12`, `1234567`, `12345678`, `123456789`, `1234567890123456`, `12345678901234567`,
	`9223372036854775807`, `-9223372036854775808`, `0.5`, `-0.5`, `1.0`, `10.25`, `0.1234567`, `0.12345678`, `0.123456789012345`,
	`0.1234567890123456`, `0.12345678901234567`, `0.1234567890123456789012345`, `123456.123456789012345`, `1e5`, `1E5`, `1e+5`, `1e-5`, `1.5e10`, `-1.5E-10`,
	`0e0`, `0E+1`, `1e0001`, `5e-324`, `1.7976931348623157e308`, `2.2250738585072014e-308`, `1e-400`, `0.000001`, `100000000000000000000.5`,
	`1.00000000000000011102230246251565`, `9007199254740993.0`, `0.30000000000000004`, `[0,1.5]`, `[1.5,0]`, `[0.5,0.25,12345678.5,1e3,0.1]`,
	// strings, section 7
	`"a"`, `"\""`, `"\\"`, `"\/"`, `"\b\f\n\r\t"`, `"\u0000"`, `"\u00e9"`, `"\u00E9"`, `"\uD834\uDD1E"`, `"\ud83d\ude00x"`,
	`"é"`, `"日本語"`, `"😀"`, "\"\u2028\u2029\"", "\"\x7f\"", `"12345678"`, `"1234567\""`, `"12345678\n"`, `"/"`,
	`"` + strings.Repeat("x", 1000) + `"`, `"` + strings.Repeat("é", 500) + `"`, `"\uFFFE\uFFFF"`,
	// characters of strings that mean something outside of them
	`"{}[],:"`, `{"a":"}"}`, `["]"]`,
}

// invalidValues are texts that it does not allow.
var invalidValues = []string{
	// no value, or something else
	`nul`, `nulll`, `Null`, `tru`, `truee`, `True`, `fals`, `falsee`, `undefined`, `x`, `'a'`, `-`, `+1`, `,`, `:`, `}`, `]`, `{`, `[`,
	`/* */ 1`, `1 // one`, `# 1`, "\x00", "1\x00", "\x0c1", "\u00a01", `nan`, `NaN`, `Infinity`, `-Infinity`, `Inf`, `1,`, `1 2`, `{}{}`, `[] []`, `"a" "b"`, `1}`, `{}}`, `[]]`,
	// objects
	`{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1 "b":2}`, `{,}`, `{"a":1,,"b":2}`, `{a:1}`, `{1:1}`, `{'a':1}`, `{"a":1`, `{"a":1,`, `{"a":`, `{"a"`, `{"a`, `{"a" 1}`, `{"a",1}`, `{"a"::1}`,
	`{"a":1]`, `{null:1}`, `{"a":1,"b"}`, `{[]:1}`, `{"a":1;"b":2}`, `{"a":1 x}`,
	// arrays
	`[1`, `[1,`, `[1,]`, `[,1]`, `[,]`, `[1,,2]`, `[1 2]`, `[1}`, `[1:2]`, `[`, `[[`, `[[]`, `["a"`, `["a",`, `[1 x]`, `[1,2`, `[1.5`, `[{}`, `[{},`, `[true`, `[true,]`,
	`["a",]`, `[{},]`, `[[],]`, `[1.5,]`,
	// numbers
	`01`, `00`, `-01`, `-00`, `1.`, `.5`, `-.5`, `1.e5`, `1e`, `1e+`, `1E-`, `1e5.5`, `0x10`, `1_000`, `--1`, `1-`, `1+1`, `1.2.3`, `1..2`, `0e`, `0.e1`, `-a`, `1a`, `1.5a`, `12345678a`,
	`012345678`, `00.5`, `01.5`, `-012`, `1 000`, "１", `1e1e1`, `[01]`, `[1.]`, `[.5]`, `[-]`, `[1,01]`, `[1.5,01.5]`, `[1e]`, `{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":1.5.5}`,
	`0.12345678.`, `0.1234567890123456e`, `0.12345678e+`, `0.1234567e`,
	// strings
	`"`, `"a`, `"\`, `"\"`, `"a\`, `"\x41"`, `"\a"`, `"\'"`, `"\0"`, `"\U0041"`, `"\u"`, `"\u1"`, `"\u12"`, `"\u123"`, `"\u123g"`, `"\uu0041"`, `"\u+041"`, `"\u 041"`, `"\`, `"\u00`,
	"\"\t\"", "\"a\x00b\"", "\"\x1f\"", "\"12345678\x01\"", "\"\\\xff\"",
}

// invalidTexts are strings that are not text: no UTF-8, or halves of surrogate
// pairs. RFC 8259 leaves open what to do with them, and encoding/json replaces
// them.
var invalidTexts = []string{
	"\"\xff\"", "\"\xc3\"", "\"\xc3\x28\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xc0\xaf\"", "\"\xe2\x82\"", "\"\x80\"",
	"\"abcdefgh\xff\"", "{\"\xff\":1}",
	`"\ud800"`, `"\udc00"`, `"\ud800a"`, `"\ud800\n"`, `"\ud800\u0041"`, `"\ud800\ud800"`, `"\ude00\ud83d"`, `{"\ud800":1}`, `["\ud800"]`,
}

// Every text of the grammar is taken, typed by inference, skipped and read again
// from what was written; the values are those of encoding/json.
func TestValid(t *testing.T) {
	for _, text := range validValues {
		want, err := decodeLines(text)
		if err != nil {
			t.Fatalf("encoding/json on %q: %v", text, err)
		}
		o := Options{Missing: MissingMasked}
		table := read(t, text, o)
		got := rowValues(table.Column)
		if !sameJSON(want, got) {
			t.Errorf("%q: got %v, encoding/json %v", text, got, want)
		}
		again := read(t, text, Options{Schema: table.Schema, Missing: MissingMasked})
		if diff := cmp.Diff(got, rowValues(again.Column)); diff != "" {
			t.Errorf("%q typed (-inferred +typed):\n%s", text, diff)
		}
		wantRows(t, `{"keep":1,"drop":`+text+`}`, Options{Paths: [][]string{{"keep"}}}, object{"keep": int64(1)})
		out, err := Append(nil, table.Column, 0, table.Column.Len, WriteOptions{OmitMissing: true})
		if err != nil {
			t.Errorf("%q: writing: %v", text, err)
			continue
		}
		back := read(t, string(out), Options{Missing: MissingMasked, Overflow: OverflowFloat})
		if !sameJSON(got, rowValues(back.Column)) {
			t.Errorf("%q written as %q: got %v", text, out, rowValues(back.Column))
		}
	}
}

// Nothing else is taken, wherever it stands: by itself, in a record, in a list,
// in a part that is skipped, and by a parser that expects the type it resembles.
func TestInvalid(t *testing.T) {
	schemas := []string{`{"a":1}`, `{"a":"x"}`, `{"a":1.5}`, `{"a":true}`, `{"a":[1]}`, `{"a":{"b":1}}`, `1`, `1.5`, `"x"`, `[1]`, `[1.5]`, `["x"]`, `[{}]`}
	for _, text := range invalidValues {
		if json.Valid([]byte(text)) {
			t.Errorf("encoding/json says that %q is valid", text)
		}
	}
	for _, text := range append(invalidTexts, invalidValues...) {
		wraps := []string{text, `{"a":` + text + `}`, `[` + text + `]`, `[1,` + text + `]`, `{"keep":1,"drop":` + text + `}`, `{"keep":1,"drop":[` + text + `]}`}
		for i, wrapped := range wraps {
			if i > 0 && strings.ContainsAny(text, "],}") {
				continue // the wrapping may make it something valid
			}
			for _, paths := range [][][]string{nil, {{"keep"}}} {
				o := Options{Missing: MissingMasked, Paths: paths, Unions: true}
				if table, err := ReadBytes([]byte(wrapped), o); err == nil {
					t.Errorf("%q was taken as %v", wrapped, rowValues(table.Column))
				} else if _, ok := err.(*Error); !ok {
					t.Errorf("%q: %v (%T)", wrapped, err, err)
				}
			}
			for _, like := range schemas {
				schema := read(t, like, Options{}).Schema
				if table, err := ReadBytes([]byte(wrapped), Options{Schema: schema, SkipUnknown: true}); err == nil && table.Column.Len > 0 {
					t.Errorf("%q was taken as %v by a schema %v", wrapped, rowValues(table.Column), schema)
				}
			}
		}
	}
}
