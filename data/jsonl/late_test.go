package jsonl_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
)

// changing are records whose last ones have what the first ones do not let expect.
func changing() string {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "{\"id\":%d}\n", i)
	}
	b.WriteString("{\"id\":null,\"late\":{\"x\":[1.5]}}\n")
	return b.String()
}

func datashape(t *structured.Tensor) string { return structured.Datashape(t.Spec()) }

// A Schema of the first records widens, or takes what is missing from its fields, as said.
func TestSchemaOfThePrefix(t *testing.T) {
	text := jsonl.Bytes([]byte(changing()))
	s := must(jsonl.Infer(jsonl.Bytes([]byte("{\"id\":0}\n{\"id\":1}")), 0, jsonl.Options{}))
	for name, c := range map[string]struct {
		o    jsonl.Options
		want string
	}{
		"as it is":         {jsonl.Options{}, "1001:7: id: null"},
		"without the late": {jsonl.Options{SkipUnknown: true}, "null"},
		"masked":           {jsonl.Options{SkipUnknown: true, Missing: structured.MissingMasked}, "1001 * {id: ?int64}"},
		"widened":          {jsonl.Options{Widen: true}, "1001 * {id: ?int64, late: ?{x: 1 * float64}}"},
	} {
		c.o.Schema = s
		got := ""
		if e, err := jsonl.Read(text, c.o); err != nil {
			got = err.Error()
		} else {
			got = strings.ReplaceAll(datashape(e), "var *", "1 *")
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// All batches have the Spec of all records.
func TestUniformBatches(t *testing.T) {
	text := jsonl.Bytes([]byte(changing()))
	o := jsonl.Options{Missing: structured.MissingMasked, Uniform: true}
	want := tenon.String(must(jsonl.Infer(text, 0, o)))
	n, rows := 0, 0
	for e, err := range jsonl.Batches(text, 300, o) {
		if err != nil {
			t.Fatal(err)
		}
		row := must(e.Spec().(*structured.Spec).Unbatched())
		if got := tenon.String(must(row.(tenon.Batcher).Batched(-1))); got != want {
			t.Errorf("batch %d is %s, want %s", n, got, want)
		}
		n, rows = n+1, rows+e.Shape().Dim(0)
	}
	if n != 4 || rows != 1001 {
		t.Errorf("%d batches of %d rows", n, rows)
	}
	for _, err := range jsonl.Batches(jsonl.Reader("r", strings.NewReader(changing())), 300, o) {
		if !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "once") {
			t.Error(err)
		}
	}
}

// Infer finds what Read does.
func TestInferOfAllRecords(t *testing.T) {
	for _, text := range []string{
		changing(), `{}`, ``, `{"a":[],"b":null}`, `{"a":[1,null],"u":[1,"x"]}` + "\n" + `{"a":[],"u":[]}`, `{"a":{"b":null}}` + "\n" + `{"a":null}`,
		`{"s":"x","m":{"k":1}}` + "\n" + `{"s":"y","m":{"k":1}}`,
	} {
		for _, o := range []jsonl.Options{{Missing: structured.MissingMasked, Unions: true}, {Missing: structured.MissingMasked, Unions: true, Dictionaries: true, Maps: []string{"m"}}} {
			in := jsonl.Bytes([]byte(text))
			read := must(jsonl.Read(in, o))
			row := must(read.Spec().(*structured.Spec).Unbatched())
			want := tenon.String(must(row.(tenon.Batcher).Batched(-1)))
			if got := tenon.String(must(jsonl.Infer(in, 0, o))); got != want {
				t.Errorf("%.60q: got %s, want %s", text, got, want)
			}
		}
	}
}

// An npm lock file and a description of an interface with 2,000 paths are read, and
// written again as they were.
func TestDocumentsWhoseKeysAreData(t *testing.T) {
	lock := `{"name":"x","lockfileVersion":3,"packages":{"":{"name":"x","dependencies":{"a":"^1.0.0"}},"node_modules/a":{"version":"1.2.3","engines":{"node":">=8"},"dev":true}}}`
	var b strings.Builder
	b.WriteString(`{"openapi":"3.0.0","paths":{`)
	for i := range 2000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"/p%d/{id}":{"get":{"tags":["t%d"],"responses":{"%d":{"description":"d"}}}}`, i, i%7, 200+i%9)
	}
	b.WriteString("}}")
	for name, c := range map[string]struct {
		text, want string
		o          jsonl.Options
	}{
		"lock":    {lock, "packages: map[string, {name: ?string", jsonl.Options{Maps: []string{"packages", "packages.*.dependencies", "packages.*.engines"}}},
		"found":   {b.String(), "paths: map[string, {get: {tags: var * string, responses:", jsonl.Options{}},
		"named":   {b.String(), `paths: map[string, map[string, {tags: var * string, responses: map[string, {description: string}]}]]`, jsonl.Options{Maps: []string{"paths", "paths.*", "paths.*.*.responses"}}},
		"text":    {b.String(), "{openapi: string, paths: string}", jsonl.Options{Raw: []string{"paths"}}},
		"without": {b.String(), "1 * {openapi: string}", jsonl.Options{Exclude: []string{"paths"}}},
	} {
		c.o.Missing = structured.MissingMasked
		e, err := jsonl.Read(jsonl.Bytes([]byte(c.text)), c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := datashape(e); !strings.Contains(strings.ReplaceAll(got, "1 * string", "var * string"), c.want) {
			t.Errorf("%s: %.200s, want %s", name, got, c.want)
		}
		var out strings.Builder
		if err := jsonl.Write(&out, e, jsonl.WriteOptions{OmitMissing: true}); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(out.String()); (name == "lock" || name == "found" || name == "named") && got != c.text {
			t.Errorf("%s is written as %.300s", name, got)
		}
	}
}

// Maps are read by their Spec, alone and in lists.
func TestMapsBySpec(t *testing.T) {
	text := `{"m":{"a":1.5,"b":2},"l":[{"x":{"n":1}},{}]}` + "\n" + `{"m":{},"l":[]}`
	e := must(jsonl.Read(jsonl.Bytes([]byte(text)), jsonl.Options{Maps: []string{"m", "l"}}))
	s := must(jsonl.Infer(jsonl.Bytes([]byte(text)), 0, jsonl.Options{Maps: []string{"m", "l"}}))
	again, err := jsonl.Read(jsonl.Bytes([]byte(text)), jsonl.Options{Schema: s})
	if err != nil {
		t.Fatal(err)
	}
	if !tenon.Equal(e.Spec(), again.Spec()) {
		t.Errorf("%s, want %s", datashape(again), datashape(e))
	}
	if got := written(t, again); got != `[{"m":{"a":1.5,"b":2.0},"l":[{"x":{"n":1}},{}]},{"m":{},"l":[]}]` {
		t.Error(got)
	}
}
