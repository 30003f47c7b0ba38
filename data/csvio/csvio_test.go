package csvio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func must[T any](v T, err error) T { return tenon.Must(v, err) }

const text = "id,name,x,ok,day,at\n1,\"a, b\",1.5,true,2024-02-29,2024-01-02 03:04:05.25\n2,,NaN,false,1970-01-01,2024-01-02T03:04:05\n\n3,\"say \"\"hi\"\"\n\",-1e3,TRUE,0001-01-01,2024-01-02 03:04\r\n"

// The same table comes from text that is read in whatever pieces, and from many records.
func TestRead(t *testing.T) {
	var want string
	for i, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.HalfReader(strings.NewReader(text))} {
		var report csvio.Report
		v, err := csvio.Read(csvio.Reader("r", r), csvio.Options{Report: &report})
		if err != nil {
			t.Fatal(err)
		}
		if got := structured.Datashape(v.Spec()); got != "3 * {id: int64, name: ?string, x: float64, ok: bool, day: date, at: timestamp[ms]}" {
			t.Error(got)
		}
		got := fmt.Sprint(must(v.ToNested()))
		if i == 0 {
			want = got
		} else if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if len(report.Columns) != 6 || report.Columns[5].Type != csvio.Timestamp || report.Columns[5].Unit.String() != "1ms" || report.Rows != 3 {
			t.Errorf("%+v", report)
		}
	}
	var b strings.Builder
	b.WriteString("n,s\n")
	for i := range 100_000 {
		fmt.Fprintf(&b, "%d,\"x\"\"%d\"\n", i, i)
	}
	v := must(csvio.Read(csvio.Bytes([]byte(b.String())), csvio.Options{}))
	n, s := tensor.Data[int64](must(v.Field("n"))), must(v.Field("s")).(*tensor.Strings)
	if len(n) != 100_000 || n[99_999] != 99_999 || s.Len() != 100_000 {
		t.Errorf("%d rows", len(n))
	}
}

// A type that is found holds for all fields, wherever the one is that another type is needed for.
func TestTypesAreWidened(t *testing.T) {
	const n = 70_000 // several blocks
	for last, want := range map[string]string{
		"7": "int64", "": "?int64", "1.5": "float64", "99999999999999999999": "string", "true": "string", "2024-02-29": "string", "x\ny": "string",
	} {
		var b strings.Builder
		b.WriteString("n,q\n")
		for i := range n - 1 {
			fmt.Fprintf(&b, "%d,\"%d, \"\"\n\"\"\"\n", i, i)
		}
		fmt.Fprintf(&b, "%q,end\n", last)
		text := strings.ReplaceAll(b.String(), `\n`, "\n")
		for name, s := range map[string]csvio.Source{"bytes": csvio.Bytes([]byte(text)), "pieces": csvio.Reader("", iotest.HalfReader(strings.NewReader(text)))} {
			v, err := csvio.Read(s, csvio.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := structured.Datashape(v.Spec()); got != fmt.Sprintf("%d * {n: %s, q: string}", n, want) {
				t.Errorf("%s, %q: %s", name, last, got)
			}
			rows := must(v.ToNested()).([]any)
			at := rows[n/2].(map[string]any)
			if fmt.Sprint(at["n"]) != fmt.Sprint(n/2) || at["q"] != fmt.Sprintf("%d, \"\n\"", n/2) {
				t.Errorf("%s, %q: row %d is %q", name, last, n/2, at)
			}
			if x := rows[n-1].(map[string]any)["n"]; last != "" && fmt.Sprint(x) != last {
				t.Errorf("%s, %q: the last row is %v", name, last, x)
			}
		}
	}
	var days, times strings.Builder
	for i := range n {
		fmt.Fprintf(&days, "%s\n", time.Unix(int64(i)*86400*37, 0).UTC().Format("2006-01-02"))
		fmt.Fprintf(&times, "%s\n", time.Unix(int64(i)*86400, int64(i)*1001).UTC().Format("2006-01-02T15:04:05.000000000"))
	}
	v := must(csvio.Read(csvio.Bytes([]byte(days.String())), csvio.Options{NoHeader: true}))
	for i, d := range tensor.Data[int32](v.Path("column0").(element.Tensor).Data) {
		if int(d) != 37*i {
			t.Fatalf("day %d is %d", i, d)
		}
	}
	// Days and then a time are times; one with nanoseconds makes all count them.
	v = must(csvio.Read(csvio.Bytes([]byte("2024-02-29\n"+times.String())), csvio.Options{NoHeader: true}))
	ticks := tensor.Data[int64](v.Path("column0").(element.Tensor).Data)
	for i := range n {
		if want := int64(i)*86400*1e9 + int64(i)*1001; ticks[i+1] != want {
			t.Fatalf("time %d is %d, want %d", i, ticks[i+1], want)
		}
	}
}

// Batches have the types of the first one, and the columns that are asked for.
func TestBatches(t *testing.T) {
	sum, n := int64(0), 0
	for v, err := range csvio.Batches(csvio.Bytes([]byte("a,b\n1,x\n2,y\n3,z\n4,w\n5,v\n")), 2, csvio.Options{Columns: []string{"b", "a"}}) {
		if err != nil {
			t.Fatal(err)
		}
		if names := v.FieldNames(); !slices.Equal(names, []string{"b", "a"}) {
			t.Errorf("%q", names)
		}
		for _, x := range tensor.Data[int64](must(v.Field("a"))) {
			sum += x
		}
		n++
	}
	if n != 3 || sum != 15 {
		t.Errorf("%d batches, %d", n, sum)
	}
	var e *csvio.Error
	for _, err := range csvio.Batches(csvio.Bytes([]byte("a\n1\n2\nx\n")), 2, csvio.Options{}) {
		if err != nil && (!errors.As(err, &e) || e.What != csvio.BadType || e.Line != 4 || e.Column != "a") {
			t.Error(err)
		}
	}
	if e == nil {
		t.Error("a field of another type is taken")
	}
}

// What is written is read as it was.
func TestWrite(t *testing.T) {
	in := must(structured.FromFields([]structured.Field{
		{Name: "i", Value: must(masked.New(tensor.Of([]int64{1, 0, 3}), tensor.Of([]bool{true, false, true})))},
		{Name: "f", Value: tensor.Of([]float64{1, 0.1, 1e300})},
		{Name: "s", Value: must(masked.New(tensor.Of([]string{"", "a\"b", ""}), tensor.Of([]bool{true, true, false})))},
		{Name: "t", Value: tensor.Of([]string{"x,y", "l\nl", " z "})},
		{Name: "odd, name", Value: tensor.Of([]bool{true, false, true})},
	}, shape.Of(3), structured.Options{}))
	dir := t.TempDir()
	for _, name := range []string{"x.csv", "x.csv.gz", "x.csv.zst"} {
		path := filepath.Join(dir, name)
		if err := csvio.WriteFile(path, in, csvio.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		got := must(csvio.ReadFile(path, csvio.Options{}))
		if !tenon.Equal(got.Spec(), in.Spec()) || fmt.Sprint(must(got.ToNested())) != fmt.Sprint(must(in.ToNested())) {
			t.Errorf("%s: got %v, want %v", name, got, in)
		}
	}
	both := must(csvio.Read(csvio.Glob(filepath.Join(dir, "*.csv*")), csvio.Options{}))
	if n := both.Shape().Dim(0); n != 9 {
		t.Errorf("%d rows", n)
	}
	if _, err := csvio.Read(csvio.Glob(filepath.Join(dir, "*.tsv")), csvio.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	one := must(structured.FromFields([]structured.Field{{Name: "i", Value: must(masked.New(tensor.Of([]int64{1}), tensor.Of([]bool{false})))}}, shape.Of(1), structured.Options{}))
	if err := csvio.Write(io.Discard, one, csvio.WriteOptions{}); !errors.Is(err, tenon.ErrUnsupported) {
		t.Error(err)
	}
	if err := csvio.Write(io.Discard, one, csvio.WriteOptions{Missing: "NA"}); err != nil {
		t.Error(err)
	}
}

// Each fault says its line, and nothing is lost in lenient reading but what is at fault.
func TestFaults(t *testing.T) {
	for in, want := range map[string]csvio.Error{
		"a,b\n1\n":          {What: csvio.Fields, Line: 2, Field: 2, Column: "b"},
		"a,b\n1,2,3\n":      {What: csvio.Fields, Line: 2, Field: 3},
		"a\n\"x\"y\n":       {What: csvio.Quoting, Line: 2, Field: 1, Column: "a"},
		"a\n\n\"x\n":        {What: csvio.Unterminated, Line: 3, Field: 1, Column: "a"},
		"a,b\n1,\"x\n":      {What: csvio.Unterminated, Line: 2, Field: 2, Column: "b"},
		"a\n1\n\"b\n":       {What: csvio.Unterminated, Line: 3, Field: 1, Column: "a"},
		"\"a,b\n1,2\n":      {What: csvio.Unterminated, Line: 1, Field: 1},
		"a\nb\n\xff\n":      {What: csvio.BadText, Line: 3},
		"t\n1\n\"x\nx\"\n2": {What: csvio.BadType, Line: 3, Field: 1, Column: "t"},
	} {
		_, err := csvio.Read(csvio.Bytes([]byte(in)), csvio.Options{Types: map[string]csvio.Type{"t": csvio.Int64}})
		var e *csvio.Error
		if !errors.As(err, &e) || e.What != want.What || e.Line != want.Line || e.Column != want.Column || e.Field != want.Field || !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%q: %v, want %+v", in, err, want)
		}
	}
}

// Lenient reading leaves out what is at fault, says where it is and counts it, and loses nothing else, in batches too; more than a share of
// it is an error.
func TestLenient(t *testing.T) {
	text := "a,b\n1,x\n2\n3,\"y\"z\n4,\"w\nw\",5\nsix,u\n7,v\n9,\"\"\n10,t"
	types := map[string]csvio.Type{"a": csvio.Int64}
	var r csvio.Report
	v := must(csvio.Read(csvio.Reader("in", iotest.OneByteReader(strings.NewReader(text))), csvio.Options{Lenient: true, Types: types, Report: &r}))
	if got, want := fmt.Sprint(must(v.ToNested())), "[map[a:1 b:x] map[a:<nil> b:u] map[a:7 b:v] map[a:9 b:] map[a:10 b:t]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var faults []string
	for _, e := range r.Skipped {
		faults = append(faults, fmt.Sprint(e.What, " ", e.Line, " ", e.Field, " ", e.Column))
	}
	if got, want := strings.Join(faults, ", "), "fields 3 2 b, quote 4 2 b, fields 5 3 , type 7 1 a"; got != want || r.Rows != 5 {
		t.Errorf("got %s, want %s; %d rows", got, want, r.Rows)
	}
	rows := 0
	for v, err := range csvio.Batches(csvio.Bytes([]byte(text)), 2, csvio.Options{Lenient: true, Types: types}) {
		if err != nil {
			t.Fatal(err)
		}
		rows += v.Shape().Dim(0)
	}
	if rows != 5 {
		t.Errorf("%d rows in batches", rows)
	}
	for most, want := range map[float64]string{0.4: "4 of 8 records", 0.5: "", 0: "", 1: ""} {
		_, err := csvio.Read(csvio.Bytes([]byte(text)), csvio.Options{Lenient: true, Types: types, MaxSkipped: most})
		var e *csvio.Error
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &e)) {
			t.Errorf("a share of %v: %v", most, err)
		}
	}
}

// Without MaxSkipped more than a half is an error, as of JSON lines; in batches at the end.
func TestHalfMayBeSkipped(t *testing.T) {
	const text = "a\n1,2\n3,4\n5\n"
	if _, err := csvio.Read(csvio.Bytes([]byte(text)), csvio.Options{Lenient: true}); err == nil || !strings.Contains(err.Error(), "2 of 3 records") {
		t.Error(err)
	}
	if v, err := csvio.Read(csvio.Bytes([]byte(text)), csvio.Options{Lenient: true, MaxSkipped: 1}); err != nil || v.Shape().Dim(0) != 1 {
		t.Error(v, err)
	}
	rows, last := 0, error(nil)
	for v, err := range csvio.Batches(csvio.Bytes([]byte(text)), 1, csvio.Options{Lenient: true}) {
		if last = err; err == nil {
			rows += v.Shape().Dim(0)
		}
	}
	if rows != 1 || last == nil {
		t.Errorf("%d rows, %v", rows, last)
	}
}

// A quote that does not end is an error in lenient reading too.
func TestLenientQuotes(t *testing.T) {
	var e *csvio.Error
	_, err := csvio.Read(csvio.Bytes([]byte("a,b\n1,2\n3,\"x\n5,6\n")), csvio.Options{Lenient: true})
	if !errors.As(err, &e) || e.What != csvio.Unterminated || e.Line != 3 || e.Column != "b" {
		t.Error(err)
	}
}

func TestContextEndsReadingAndWriting(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	r, w := io.Pipe()
	go func() {
		w.Write([]byte("a\n1\n2")) // and no more
		cancel(enough)
	}()
	if _, err := csvio.Read(csvio.Reader("pipe", r), csvio.Options{Context: ctx}); !errors.Is(err, enough) {
		t.Error(err)
	}
	r.Close()
	path := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(path, []byte("as it was"), 0o666); err != nil {
		t.Fatal(err)
	}
	in := must(csvio.Read(csvio.Bytes([]byte("a\n1\n")), csvio.Options{}))
	if err := csvio.WriteFile(path, in, csvio.WriteOptions{Context: ctx}); !errors.Is(err, enough) {
		t.Error(err)
	}
	if got := must(os.ReadFile(path)); string(got) != "as it was" {
		t.Errorf("%q", got)
	}
}

// FuzzRead reads any text, whole and byte by byte, to the same table or fault; what is
// read without a fault is read again as it was written.
func FuzzRead(f *testing.F) {
	for _, s := range []string{text, "a,b\n1,2\n", "\"a\"\r\n\"\"\r\n", "\xef\xbb\xbfa\n1", "a\n\"x", "a,a\n,\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 128 || bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte{0x28, 0xb5}) {
			return // long ones take long byte by byte, and show nothing new
		}
		v, err := csvio.Read(csvio.Bytes(b), csvio.Options{})
		w, err2 := csvio.Read(csvio.Reader("", iotest.OneByteReader(bytes.NewReader(b))), csvio.Options{})
		if (err == nil) != (err2 == nil) || err == nil && !tensor.Equal(v, w, tensor.EqualOptions{NaN: true}) {
			t.Fatalf("%q: %v, %v; byte by byte %v, %v", b, v, err, w, err2)
		}
	})
}
