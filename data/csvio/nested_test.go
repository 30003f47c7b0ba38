package csvio_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// Maps, lists, records and unions are written as JSON in a field, and come back by their Spec or as they are found.
func TestNestedColumns(t *testing.T) {
	rows := []any{
		map[string]any{"id": 1, "deps": map[string]any{"a,b": 1.5, "": 2.5}, "tags": []any{"x\ny", `"q"`}, "geo": map[string]any{"lat": 1, "lon": 2}, "any": 7},
		map[string]any{"id": 2, "deps": map[string]any{}, "tags": []any{}, "geo": nil, "any": "seven"},
		map[string]any{"id": 3, "deps": nil, "tags": []any{"é"}, "geo": map[string]any{"lat": 3, "lon": 4}, "any": []any{1, 2}},
	}
	v := must(structured.FromNested(rows, structured.NestedOptions{Maps: []string{"deps"}, Missing: structured.MissingMasked, Unions: true})).(*structured.Tensor)
	at := must(element.Parse([]string{"2024-02-29T10:11:12Z", "1970-01-01T00:00:00Z", "2024-03-01T00:00:00Z"}, element.TimestampOf(time.Second, "UTC")))
	prices := must(structured.NewMap(must(ragged.PartitionFromRowLengths([]int{2, 0, 1}, ragged.PartitionOptions{})),
		must(element.Parse([]string{"2024-01-01", "2024-01-02", "1999-12-31"}, element.DateType)), must(element.Parse([]string{"1.50", "-2.00", "3.25"}, element.DecimalOf(30, 2)))))
	v = v.With("prices", prices).With("at", at)
	var b bytes.Buffer
	if err := csvio.Write(&b, v, csvio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	nested := map[string]csvio.Type{"deps": csvio.JSON, "tags": csvio.JSON, "geo": csvio.JSON, "any": csvio.JSON, "prices": csvio.JSON}
	only := v.Select("deps", "tags", "geo", "any", "prices").Spec().(*structured.Spec)
	back := must(csvio.Read(csvio.Bytes(b.Bytes()), csvio.Options{Types: nested, Nested: jsonl.Options{Schema: only}}))
	if !tenon.Equal(back.Spec(), v.Spec()) || fmt.Sprint(must(back.ToNested())) != fmt.Sprint(must(v.ToNested())) {
		t.Errorf("got %v\n%v\nwant %v\n%v", structured.Datashape(back.Spec()), back, structured.Datashape(v.Spec()), v)
	}
	found := must(csvio.Read(csvio.Bytes(b.Bytes()), csvio.Options{Types: nested, Columns: []string{"deps", "tags", "geo"}, Nested: jsonl.Options{Maps: []string{"deps"}}}))
	if got, want := structured.Datashape(found.Spec()), "3 * {deps: ?map[string, float64], tags: var * string, geo: ?{lat: int64, lon: int64}}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	n := 0
	for batch, err := range csvio.Batches(csvio.Bytes(b.Bytes()), 2, csvio.Options{Types: nested, Nested: jsonl.Options{Schema: only}}) {
		if err != nil {
			t.Fatal(err)
		}
		n += batch.Shape().Dim(0)
	}
	if n != 3 {
		t.Errorf("%d rows in batches", n)
	}
	if v := must(csvio.Read(csvio.Bytes([]byte("id,deps\n")), csvio.Options{Types: nested})); v.Shape().Dim(0) != 0 {
		t.Errorf("got %v", v)
	}
	if v := must(csvio.Read(csvio.Bytes([]byte("id,deps\n1,\n")), csvio.Options{Types: nested})); fmt.Sprint(must(v.ToNested())) != "[map[deps:<nil> id:1]]" {
		t.Errorf("got %v", v)
	}
}

// A field of JSON that is none, or not what its column is, is a fault with its line and column, and missing in lenient reading.
func TestFaultsOfNestedColumns(t *testing.T) {
	for text, want := range map[string]string{
		"id,m\n1,\"{\"\"a\"\":1}\"\n2,{\n":                                 `csv:3: column "m": the field "{" is not a valid json`,
		"id,m\n1,\"{\"\"a\"\":1}\"\n2,\"1},{\"\"m\"\":2\"\n":               `csv:3: column "m": the field "1},{\"m\":2" is not a valid json`,
		"id,m\n1,\"{\"\"a\"\":\n1}\"\n2,\"{\"\"a\"\":\"\"x\"\"}\"\n3,\n":   `csv:4: column "m": the field "{\"a\":\"x\"}"`,
		"id,m\n1,\"[1,\"\n2,\"{\"\"a\"\":\"\"x\"\"}\"\n3,\"{}\"\n4,\"{}\"": `csv:2: column "m": the field "[1," is not a valid json`,
	} {
		o := csvio.Options{Types: map[string]csvio.Type{"m": csvio.JSON}, Nested: jsonl.Options{Maps: []string{"m"}}}
		if strings.Contains(text, "x") {
			spec := must(structured.NewMapSpec(shape.Of(shape.Unknown), tensor.NewSpec(dtype.Int64, shape.Shape{})))
			optional := must(masked.NewSpec(spec, 1))
			o.Nested = jsonl.Options{Schema: must(structured.NewSpec(shape.Of(shape.Unknown), []tenon.Field{{Name: "m", Spec: optional}}))}
		}
		_, err := csvio.Read(csvio.Bytes([]byte(text)), o)
		var e *csvio.Error
		if !errors.As(err, &e) || e.What != csvio.BadType || e.Column != "m" || !strings.HasPrefix(strings.ReplaceAll(e.Error(), `\"`, `"`), strings.ReplaceAll(want, `\"`, `"`)) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		var r csvio.Report
		o.Lenient, o.Report = true, &r
		v, err := csvio.Read(csvio.Bytes([]byte(text)), o)
		if err != nil || len(r.Skipped) == 0 || r.Skipped[0].Line != e.Line || int64(v.Shape().Dim(0)) != r.Rows {
			t.Errorf("%q, lenient: %v, %v, %v", text, v, r.Skipped, err)
		}
	}
	o := csvio.Options{Types: map[string]csvio.Type{"m": csvio.JSON}, Lenient: true, Nested: jsonl.Options{Schema: must(structured.NewSpec(shape.Of(shape.Unknown), []tenon.Field{{Name: "m", Spec: must(ragged.NewSpec(dtype.Int64, shape.OfRank(2), 1, dtype.Int64))}}))}}
	var e *csvio.Error
	if _, err := csvio.Read(csvio.Bytes([]byte("id,m\n1,\"[1,2]\"\n2,\n")), o); !errors.As(err, &e) || e.Line != 3 || e.Column != "m" {
		t.Errorf("a list that is missing and may not be: %v", err)
	}
}
