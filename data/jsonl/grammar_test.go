package jsonl_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
)

// The rules of RFC 8259 that a text follows, or breaks. Each is read as one document.
var grammar = []struct {
	rule  string
	texts []string // separated by spaces where they have none
	valid bool
}{
	{"section 2: white space around structural characters", []string{" [ ] ", "\t{\t\"a\"\t:\t1\t}\t", "[\r\n1\r\n,\r\n2\r\n]"}, true},
	{"section 2: other white space", []string{"\v[]", "[\f1]", "[\u00a01]", "[\u20281]"}, false},
	{"section 3: literals", []string{"[null]", "[true]", "[false]"}, true},
	{"section 3: other literals", []string{"[Null]", "[TRUE]", "[nul]", "[truee]", "[undefined]", "[NaN]", "[Infinity]", "['a']"}, false},
	{"section 4: objects", []string{`{}`, `{"a":1}`, `{"a":1,"b":{"c":[]}}`}, true},
	{"section 4: broken objects", []string{`{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`, `{1:1}`, `{"a" 1}`, `{"a":1 "b":2}`, `{"a":1]`, `{"a"::1}`}, false},
	{"section 5: arrays", []string{`[]`, `[1]`, `[1,2]`, `[[],[[]]]`}, true},
	{"section 5: broken arrays", []string{`[`, `[1`, `[1,]`, `[,1]`, `[1,,2]`, `[1 2]`, `[1}`, `]`, `[1:2]`}, false},
	{"section 6: numbers", []string{`[0]`, `[-0]`, `[10]`, `[0.5]`, `[-1.25e10]`, `[1E+2]`, `[1e-2]`, `[0e0]`}, true},
	{"section 6: no numbers", []string{`[01]`, `[-]`, `[+1]`, `[.5]`, `[1.]`, `[1.e1]`, `[1e]`, `[1e+]`, `[0x1]`, `[1_0]`, `[--1]`, `[1.2.3]`, `[-01]`}, false},
	{"section 7: strings", []string{`[""]`, `["\"\\\/\b\f\n\r\t"]`, `["\u00e9\uD834\uDD1E"]`, "[\"é\u2028\x7f\"]"}, true},
	{"section 7: broken strings", []string{`["]`, `["\x"]`, `["\u12"]`, `["\u12g4"]`, `["\"]`, "[\"\n\"]", "[\"\x00\"]", "[\"\x1f\"]", `["\U0041"]`}, false},
	{"section 2: one value", []string{`[] []`, `{}{}`, `[],`, `[]x`, ``, ` `}, false},
	{"comments", []string{`[1/**/]`, "[1]//", `#[]`}, false},
}

func TestGrammar(t *testing.T) {
	for _, g := range grammar {
		for _, text := range g.texts {
			if json.Valid([]byte(text)) != g.valid {
				t.Fatalf("%s: %q is wrong in the table", g.rule, text)
			}
			o := jsonl.Options{Format: jsonl.Document, Missing: structured.MissingMasked}
			v, err := jsonl.ReadValues(jsonl.Bytes([]byte(text)), o)
			var e *jsonl.Error
			if (err == nil) != g.valid || err != nil && !errors.As(err, &e) {
				t.Errorf("%s: %q is read as %v, %v", g.rule, text, v, err)
			}
			// In a field that is not asked for it is skipped, and checked all the same.
			o.Paths = []string{"keep"}
			wrapped := `{"keep":1,"drop":` + text + `}`
			_, err = jsonl.Read(jsonl.Bytes([]byte(wrapped)), o)
			if valid := json.Valid([]byte(wrapped)); (err == nil) != valid {
				t.Errorf("%s: %q is skipped with %v", g.rule, text, err)
			}
		}
	}
}

// A long line is one record like any other, in chunks of any size.
func TestLongLine(t *testing.T) {
	long := `{"a":[` + strings.Repeat("1234567,", 300_000) + `1],"b":"` + strings.Repeat("xyz ", 200_000) + "\"}\n"
	for _, text := range []string{long, "{\"a\":[],\"b\":\"\"}\n" + long + "{\"a\":[2],\"b\":\"y\"}\n"} {
		e, err := jsonl.Read(jsonl.Reader("long", strings.NewReader(text)), jsonl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := jsonl.Write(&b, e, jsonl.WriteOptions{}); err != nil || b.String() != text {
			t.Errorf("%d bytes came back as %d: %v", len(text), b.Len(), err)
		}
	}
}
