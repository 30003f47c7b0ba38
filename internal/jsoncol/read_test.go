package jsoncol

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

// The records of the benchmark, read in every way, are the same columns, and
// the same values as encoding/json's.
func TestReadOrders(t *testing.T) {
	text := writeOrders(400)
	want, err := decodeLines(string(text))
	if err != nil {
		t.Fatal(err)
	}
	typed := read(t, string(text), Options{Schema: ordersSchema(), Workers: 1})
	if got := rowValues(typed.Column); !sameJSON(want, got) {
		t.Fatal("the values are not those of encoding/json")
	}
	inferred := read(t, string(text), Options{Missing: MissingMasked, Workers: 1})
	if got := rowValues(inferred.Column); !sameJSON(want, got) {
		t.Fatal("the values are not those of encoding/json when the types are inferred")
	}
	for _, size := range []int{1, 100, 1000, 10000, 1 << 20} {
		for _, workers := range []int{1, 2, 4} {
			o := Options{Schema: ordersSchema(), ChunkSize: size, Workers: workers}
			if got := read(t, string(text), o); !reflect.DeepEqual(typed.Column, got.Column) {
				t.Errorf("typed, %d workers with chunks of %d: different columns", workers, size)
			}
			o = Options{Missing: MissingMasked, ChunkSize: size, Workers: workers}
			if got := read(t, string(text), o); !reflect.DeepEqual(inferred.Column, got.Column) || got.Schema.String() != inferred.Schema.String() {
				t.Errorf("inferred, %d workers with chunks of %d: different columns", workers, size)
			}
			o.Format = Concatenated
			if got := read(t, string(text), o); !reflect.DeepEqual(inferred.Column, got.Column) {
				t.Errorf("concatenated, %d workers with chunks of %d: different columns", workers, size)
			}
			o.Format = Document
			document := "[" + strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", " ,\n") + "]"
			if got := read(t, document, o); !reflect.DeepEqual(inferred.Column, got.Column) {
				t.Errorf("document, %d workers with chunks of %d: different columns", workers, size)
			}
		}
	}
}

// Types that change all the way through the input come out the same however it
// is cut up.
func TestWideningChunks(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		switch {
		case i < 50:
			b.WriteString(`{"a":` + strconv.Itoa(i) + `,"l":[]}`)
		case i < 100:
			b.WriteString(`{"a":` + strconv.Itoa(i) + `.5,"l":[{}]}`)
		case i < 150:
			b.WriteString(`{"a":null,"l":[{"x` + strconv.Itoa(i%7) + `":"` + strconv.Itoa(i) + `"}]}`)
		default:
			b.WriteString(`{"a":"` + strconv.Itoa(i) + `","l":{"x":` + strconv.Itoa(i) + `},"f` + strconv.Itoa(i%13) + `":[true]}`)
		}
		b.WriteString("\n")
	}
	want, err := decodeLines(b.String())
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Missing: MissingMasked, Unions: true, Workers: 1}
	first := read(t, b.String(), o)
	if got := rowValues(first.Column); !sameJSON(want, got) {
		t.Errorf("values: %v\nwant %v", got, want)
	}
	for _, o.ChunkSize = range []int{1, 50, 333, 2000} {
		for _, o.Workers = range []int{1, 2, 6} {
			got := read(t, b.String(), o)
			if !reflect.DeepEqual(first.Column, got.Column) || first.Schema.String() != got.Schema.String() {
				t.Errorf("%d workers with chunks of %d: different columns, schema %v and %v", o.Workers, o.ChunkSize, first.Schema, got.Schema)
			}
		}
	}
}

func TestInputs(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	text := writeOrders(50)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	o := Options{Schema: ordersSchema(), ChunkSize: 999}
	want := read(t, string(text), o).Column
	plain, gz := write("a.jsonl", text), write("b.jsonl.gz", packed.Bytes())
	for name, inputs := range map[string][]Input{
		"file":               {FromFile(plain)},
		"gzip":               {FromFile(gz)},
		"reader":             {FromReader("r", bytes.NewReader(text))},
		"byte by byte":       {FromReader("r", iotest.OneByteReader(bytes.NewReader(text)))},
		"data and EOF":       {FromReader("r", iotest.DataErrReader(bytes.NewReader(text)))},
		"BOM":                {FromBytes(append([]byte("\ufeff"), text...))},
		"BOM, read":          {FromReader("r", io.MultiReader(strings.NewReader("\ufeff"), bytes.NewReader(text)))},
		"CRLF":               {FromBytes(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")))},
		"no last line break": {FromBytes(bytes.TrimSuffix(text, []byte("\n")))},
	} {
		table, err := Read(inputs, o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(want, table.Column) {
			t.Errorf("%s: different columns", name)
		}
	}
	many, err := Read([]Input{FromFile(plain), FromBytes(nil), FromReader("r", bytes.NewReader(text)), FromBytes(text), FromFile(gz), FromFile(write("empty", nil))}, o)
	if err != nil {
		t.Fatal(err)
	}
	checkColumn(t, many.Column)
	if n := many.Column.Len; n != 200 {
		t.Errorf("%d rows of 4 inputs with 50", n)
	}
	one := rowValues(want)
	if !sameJSON(append(append(append(append([]any{}, one...), one...), one...), one...), rowValues(many.Column)) {
		t.Error("many inputs: different values")
	}

	if _, err := ReadFile(filepath.Join(dir, "none"), o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := ReadFile(write("c.gz", packed.Bytes()[:packed.Len()/2]), o); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
	broken := io.MultiReader(bytes.NewReader(text), iotest.ErrReader(errors.New("unplugged")))
	if _, err := Read([]Input{FromReader("cable", broken)}, o); err == nil || err.Error() != "reading cable: unplugged" {
		t.Errorf("%v", err)
	}
	// What comes before it is reported first.
	broken = io.MultiReader(strings.NewReader("1\nx\n"), iotest.ErrReader(errors.New("unplugged")))
	if _, err := Read([]Input{FromReader("", broken)}, Options{ChunkSize: 3}); err == nil || !strings.Contains(err.Error(), "json:2:1:") {
		t.Errorf("%v", err)
	}
}

func TestEmpty(t *testing.T) {
	for _, text := range []string{"", "\n", " \r\n\t\n  ", "\ufeff"} {
		for _, o := range []Options{{}, {Format: Concatenated}, {Format: Auto}, {Schema: ordersSchema()}} {
			table := read(t, text, o)
			if table.Column.Len != 0 {
				t.Errorf("%q has %d rows", text, table.Column.Len)
			}
		}
	}
	if table := read(t, "[ ]", Options{Format: Document}); table.Column.Len != 0 {
		t.Errorf("[] has %d rows", table.Column.Len)
	}
	if table, err := Read(nil, Options{}); err != nil || table.Column.Len != 0 {
		t.Errorf("%v", err)
	}
}

func TestFormats(t *testing.T) {
	a, b := object{"a": int64(1)}, object{"a": int64(2)}
	for _, test := range []struct {
		text   string
		format Format
		want   []any
	}{
		{"{\n  \"a\": 1\n}\n\n{\n  \"a\": 2\n}\n", Concatenated, []any{a, b}},
		{`{"a":1}{"a":2}`, Concatenated, []any{a, b}},
		{`1 2` + "\n3\t4", Concatenated, []any{int64(1), int64(2), int64(3), int64(4)}},
		{`"a""b" "\"}" "\\"`, Concatenated, []any{"a", "b", `"}`, `\`}},
		{`[1][2][][]`, Concatenated, []any{[]any{int64(1)}, []any{int64(2)}, []any{}, []any{}}},
		{"[\n  {\"a\": 1},\n  {\"a\": 2}\n]\n", Document, []any{a, b}},
		{` [{"a":1},{"a":2}] `, Document, []any{a, b}},
		{"{\n  \"a\": 1\n}\n", Document, []any{a}},
		{` 7 `, Document, []any{int64(7)}},
		{`[[1],[],["]",","]]`, Document, nil},
		{`[[1],[]]`, Document, []any{[]any{int64(1)}, []any{}}},

		{`{"a":1}` + "\n" + `{"a":2}`, Auto, []any{a, b}},
		{"\n\n" + `{"a":1}` + "\r\n" + `{"a":2}` + "\r\n", Auto, []any{a, b}},
		{"{\n\"a\":1}\n{\"a\":2}", Auto, []any{a, b}},
		{`{"a":1} {"a":2}`, Auto, []any{a, b}},
		{`[{"a":1},{"a":2}]`, Auto, []any{a, b}},
		{"[\n{\"a\":1},{\"a\":2}]\n\n", Auto, []any{a, b}},
		{"[1]\n[2]", Auto, []any{[]any{int64(1)}, []any{int64(2)}}},
		{`{"a":1}`, Auto, []any{a}},
		{`5`, Auto, []any{int64(5)}},
	} {
		for _, size := range []int{0, 1, 5} {
			if size > 0 && test.format == Auto {
				continue // it looks at one chunk
			}
			o := Options{Format: test.format, ChunkSize: size}
			if test.want == nil {
				wantError(t, test.text, o)
				continue
			}
			wantRows(t, test.text, o, test.want...)
		}
	}
}

func TestBatches(t *testing.T) {
	text := writeOrders(333)
	o := Options{Schema: ordersSchema(), ChunkSize: 2000}
	all := rowValues(read(t, string(text), o).Column)
	for _, size := range []int{1, 10, 50, 333, 1000} {
		for _, o.Workers = range []int{1, 3} {
			for _, o.Schema = range []*Schema{ordersSchema(), nil} {
				if o.Schema == nil {
					o.Missing = MissingMasked
				}
				var rows []any
				for table, err := range Batches([]Input{FromBytes(text)}, size, o) {
					if err != nil {
						t.Fatal(err)
					}
					checkColumn(t, table.Column)
					if n := table.Column.Len; n != size && len(rows)+n != len(all) {
						t.Errorf("a batch of %d rows in place of %d", n, size)
					}
					rows = append(rows, rowValues(table.Column)...)
				}
				if !sameJSON(all, rows) {
					t.Errorf("batches of %d with %d workers: %d rows, or different ones", size, o.Workers, len(rows))
				}
			}
		}
	}
	// Whoever has seen enough stops.
	n := 0
	for _, err := range Batches([]Input{FromBytes(text)}, 7, o) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 3 {
			break
		}
	}
	// An error comes after the batches before it.
	bad := append(append([]byte{}, text...), "oops\n"...)
	n = 0
	var last error
	for table, err := range Batches([]Input{FromBytes(bad)}, 100, o) {
		if last = err; err == nil {
			n += table.Column.Len
		}
	}
	var e *Error
	if !errors.As(last, &e) || e.Line != 334 || n != 300 {
		t.Errorf("%v after %d rows", last, n)
	}
	// What is skipped is reported with the batch that it would have been in.
	counts := []int64{}
	for table, err := range Batches([]Input{FromBytes([]byte("1\nx\n2\n3\n4\ny\nz\n"))}, 2, Options{Schema: int64s, Lenient: true, ChunkSize: 3}) {
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, table.Skipped)
	}
	if !reflect.DeepEqual(counts, []int64{1, 0, 2}) {
		t.Errorf("skipped by batch: %v", counts)
	}
}

func TestProgress(t *testing.T) {
	text := writeOrders(100)
	last, total, calls := int64(0), int64(0), 0
	o := Options{Schema: ordersSchema(), ChunkSize: 1000, Workers: 3, Progress: func(d, n int64) {
		if d < last {
			t.Errorf("from %d back to %d", last, d)
		}
		last, total = d, n
		calls++
	}}
	if _, err := Read([]Input{FromBytes(text), FromBytes(text)}, o); err != nil {
		t.Fatal(err)
	}
	if last != int64(2*len(text)) || total != last || calls < len(text)/1000 {
		t.Errorf("ended at %d of %d after %d calls", last, total, calls)
	}
	last = 0
	if _, err := Read([]Input{FromReader("", bytes.NewReader(text))}, o); err != nil || total != -1 {
		t.Errorf("total of a reader: %d, %v", total, err)
	}
}

// A record of any length is taken whole.
func TestLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("100 MB")
	}
	var b bytes.Buffer
	b.WriteString(`{"a":1}` + "\n" + `{"a":2,"l":[`)
	element := `"` + strings.Repeat("0123456789", 1000) + `",`
	n := 100 << 20 / len(element)
	for range n {
		b.WriteString(element)
	}
	b.WriteString(`"last"],"s":3}` + "\n" + `{"a":3}`)
	for _, in := range []Input{FromBytes(b.Bytes()), FromReader("", bytes.NewReader(b.Bytes()))} {
		table, err := Read([]Input{in}, Options{Missing: MissingMasked})
		if err != nil {
			t.Fatal(err)
		}
		l := table.Column.Path("l").Elem
		if table.Column.Len != 3 || l.Len != n+1 || l.StringAt(n) != "last" || len(l.Bytes) != n*10000+4 {
			t.Errorf("%d rows, %d elements", table.Column.Len, l.Len)
		}
	}
}

// A size is a hint: a file may have grown since, also in the middle of a record.
func TestSizesMayBeWrong(t *testing.T) {
	text := `{"v":[` + strings.Repeat("1,", 1000) + `1]}`
	for _, size := range []int64{0, 1, 100, int64(len(text)) / 2, int64(len(text)) - 1, int64(len(text)), 4 * int64(len(text))} {
		for _, format := range []Format{Lines, Document, Concatenated} {
			in := Input{Size: size, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
			table, err := Read([]Input{in}, Options{ChunkSize: 64, Format: format})
			if err != nil || table.Column.Len != 1 || len(table.Column.Fields[0].Column.Elem.Values.([]int64)) != 1001 {
				t.Fatalf("size %d, format %d: %v", size, format, err)
			}
		}
	}
}
