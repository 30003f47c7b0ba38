package parquetio_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func must[T any](v T, err error) T { return tenon.Must(v, err) }

// Interval is a type of a stranger.
type Interval struct {
	Low, High tensor.Tensor
	Unit      string
}

func (i Interval) Spec() tenon.Spec { return ext.SpecOf(i) }

func init() { ext.Register[Interval]("parquetio_test.Interval") }

// records have a column of each kind.
func records(n int) *structured.Tensor {
	ids, lengths, there := make([]int64, n), make([]int64, n), make([]bool, n)
	words := make([]string, n)
	for i := range n {
		ids[i], lengths[i], there[i], words[i] = int64(i), int64(i%4), i%3 != 1, fmt.Sprint("w", i%5)
	}
	total := 0
	for _, l := range lengths {
		total += int(l)
	}
	x := make([]float32, total)
	for i := range x {
		x[i] = float32(i) / 2
	}
	list := must(ragged.FromRowLengths(x, lengths))
	return must(structured.FromFields([]structured.Field{
		{Name: "id", Value: tensor.Of(ids)},
		{Name: "word", Value: tensor.Of(words)},
		{Name: "flag", Value: tensor.Of(there)},
		{Name: "opt", Value: must(masked.New(tensor.Of(ids), tensor.Of(there)))},
		{Name: "list", Value: list},
		{Name: "optlist", Value: must(masked.New(list, tensor.Of(there)))},
		{Name: "code", Value: must(structured.EncodeStrings(words))},
		{Name: "matrix", Value: tensor.Of(make([]float64, 6*n), n, 2, 3)},
		{Name: "half", Value: tensor.Of(make([]dtype.F16, n))},
		{Name: "short", Value: tensor.Of(make([]uint8, n))},
		{Name: "rec", Value: must(structured.FromFields([]structured.Field{{Name: "a", Value: tensor.Of(ids)}, {Name: "b", Value: list}}, shape.Of(n), structured.Options{}))},
	}, shape.Of(n), structured.Options{}))
}

func encoded(t *testing.T, v tenon.Value, o parquetio.WriteOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := parquetio.Encode(&b, v, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What is written comes back as what it was, whatever the row groups and codecs are.
func TestRoundTrip(t *testing.T) {
	want := records(50)
	for c := range parquetio.Compression(5) {
		for _, rows := range []int{0, 7} {
			b := encoded(t, want, parquetio.WriteOptions{Compression: c, GroupRows: rows})
			got, err := parquetio.Decode(b, parquetio.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !tenon.Equal(got.Spec(), want.Spec()) {
				t.Errorf("%d, %d: got %s, want %s", c, rows, tenon.String(got.Spec()), tenon.String(want.Spec()))
			}
			if a, b := must(want.ToNested()), must(got.(*structured.Tensor).ToNested()); fmt.Sprint(a) != fmt.Sprint(b) {
				t.Errorf("%d, %d: got %v, want %v", c, rows, b, a)
			}
		}
	}
	for name, v := range map[string]tenon.Value{
		"extension": Interval{tensor.Of([]float64{1, 2}), tensor.Of([]float64{3, 4}), "km"},
		"named":     named.Of(tensor.Of([]float64{1, 2, 3, 4, 5, 6}, 2, 3), named.Rows{}, named.Dynamic("F")),
		"tensor":    tensor.Of([]int32{1, 2, 3}),
		"ragged":    must(ragged.FromRowSplits([]string{"a", "b"}, []int64{0, 2, 2})),
		"no rows":   records(0),
	} {
		got, err := parquetio.Decode(encoded(t, v, parquetio.WriteOptions{}), parquetio.ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !tenon.Equal(got.Spec(), v.Spec()) || fmt.Sprint(got) != fmt.Sprint(v) {
			t.Errorf("%s: got %v, want %v", name, got, v)
		}
	}
}

func TestColumnsAreChosen(t *testing.T) {
	b := encoded(t, records(20), parquetio.WriteOptions{GroupRows: 6})
	for want, columns := range map[string][]string{
		"20 * {list: var * float32, id: int64}":    {"list", "id"},
		"20 * {rec: {b: var * float32}}":           {"rec.b"},
		"20 * {rec: {b: var * float32, a: int64}}": {"rec.b", "rec.a"},
		"20 * {opt: ?int64}":                       {"opt"},
	} {
		v, err := parquetio.Decode(b, parquetio.ReadOptions{Columns: columns})
		if err != nil {
			t.Errorf("%q: %v", columns, err)
			continue
		}
		if got := structured.Datashape(v.(*structured.Tensor).Spec()); got != want {
			t.Errorf("%q: got %s, want %s", columns, got, want)
		}
	}
	for _, bad := range []string{"x", "rec.x", "id.x"} {
		if _, err := parquetio.Decode(b, parquetio.ReadOptions{Columns: []string{bad}}); !errors.Is(err, tenon.ErrNotFound) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Row groups of several files are the elements of a dataset, and those that cannot meet a
// condition are left out.
func TestRowGroupsByNumber(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a.parquet", "b.parquet"} {
		ids, text := make([]int64, 10), make([]string, 10)
		for k := range ids {
			ids[k] = int64(10*i + k)
			text[k] = fmt.Sprintf("k%02d", ids[k])
		}
		v := must(structured.FromFields([]structured.Field{{Name: "id", Value: tensor.Of(ids)}, {Name: "text", Value: tensor.Of(text)}}, shape.Of(10), structured.Options{}))
		if err := parquetio.WriteFile(filepath.Join(dir, name), v, parquetio.WriteOptions{GroupRows: 4}); err != nil {
			t.Fatal(err)
		}
	}
	f := must(parquetio.Open(filepath.Join(dir, "*.parquet"), parquetio.ReadOptions{}))
	defer f.Close()
	if f.Len() != 6 || f.Rows(2) != 2 {
		t.Errorf("%d row groups, %d rows", f.Len(), f.Rows(2))
	}
	sum := int64(0)
	for v, err := range dataset.FromFunc(f.Len(), f.At).Shuffle(3).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range tensor.Data[int64](must(v.(*structured.Tensor).Field("id"))) {
			sum += x
		}
	}
	if sum != 190 {
		t.Errorf("the ids add up to %d", sum)
	}
	for _, c := range []struct {
		where parquetio.Range
		want  int64
	}{
		{parquetio.Range{Column: "id", Min: 5, Max: 6}, 1}, {parquetio.Range{Column: "id", Min: 9}, 4}, {parquetio.Range{Column: "id", Max: -1}, 0},
		{parquetio.Range{Column: "text", Min: "k18"}, 1}, {parquetio.Range{Column: "id", Min: 4.5, Max: 7.5}, 1},
	} {
		g, err := parquetio.Open(filepath.Join(dir, "*.parquet"), parquetio.ReadOptions{Where: []parquetio.Range{c.where}})
		if err != nil {
			t.Fatal(err)
		}
		if g.Len() != c.want {
			t.Errorf("%+v: %d row groups, want %d", c.where, g.Len(), c.want)
		}
		if _, err := g.Read(); err != nil {
			t.Errorf("%+v: %v", c.where, err)
		}
		g.Close()
	}
	for _, bad := range []parquetio.Range{{Column: "id", Min: "x"}, {Column: "text", Max: 1}} {
		if _, err := parquetio.Open(filepath.Join(dir, "*.parquet"), parquetio.ReadOptions{Where: []parquetio.Range{bad}}); !errors.Is(err, tenon.ErrDType) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := f.At(6); !errors.Is(err, tenon.ErrNotFound) {
		t.Error(err)
	}
	if _, err := parquetio.Open(filepath.Join(dir, "*.pq"), parquetio.ReadOptions{}); !errors.Is(err, tenon.ErrNotFound) {
		t.Error(err)
	}
}

func TestContextEndsReadingAndWriting(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	b := encoded(t, records(5), parquetio.WriteOptions{})
	if _, err := parquetio.Decode(b, parquetio.ReadOptions{Context: ctx}); !errors.Is(err, enough) {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(path, []byte("as it was"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := parquetio.WriteFile(path, records(5), parquetio.WriteOptions{Context: ctx}); !errors.Is(err, enough) {
		t.Error(err)
	}
	if got := must(os.ReadFile(path)); string(got) != "as it was" {
		t.Errorf("%q", got)
	}
}

func TestRefused(t *testing.T) {
	u := must(structured.NewUnion([]int8{0, 1}, []structured.Field{{Name: "i", Value: tensor.Of([]int64{1, 2})}, {Name: "s", Value: tensor.Of([]string{"", "x"})}}))
	v := must(structured.FromFields([]structured.Field{{Name: "u", Value: u}}, shape.Of(2), structured.Options{}))
	if err := parquetio.Encode(&bytes.Buffer{}, v, parquetio.WriteOptions{}); !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "u") {
		t.Error(err)
	}
	w := parquetio.NewWriter(&bytes.Buffer{}, parquetio.WriteOptions{})
	if err := w.Write(records(2)); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(must(structured.FromFields([]structured.Field{{Name: "id", Value: tensor.Of([]int64{1})}}, shape.Of(1), structured.Options{}))); !errors.Is(err, tenon.ErrDType) {
		t.Error(err)
	}
}

// Footers of a few bytes that say they hold a lot, and of many that only nest, are errors at once.
func TestFootersThatHoldNothing(t *testing.T) {
	for name, footer := range map[string][]byte{
		"a map of truth values":  append(append([]byte{0x1b}, bytes.Repeat([]byte{0xff}, 9)...), 0x01, 0x11),
		"a list of truth values": append(append([]byte{0x19, 0xf1}, bytes.Repeat([]byte{0xff}, 9)...), 0x01),
		"lists in lists":         bytes.Repeat([]byte{0x19}, 8<<20),
		"maps in maps":           append([]byte{0x1b}, bytes.Repeat([]byte{0x01, 0xbb}, 4<<20)...),
	} {
		b := append([]byte("PAR1"), footer...)
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), "PAR1"...)
		if _, err := parquetio.Decode(b, parquetio.ReadOptions{}); err == nil || !strings.Contains(err.Error(), "footer is damaged") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// rows returns how many records there are.
func rows(v tenon.Value) (int64, error) {
	n, err := tensor.Settled(v.(*structured.Tensor).NRows())
	if err != nil {
		return 0, err
	}
	return tensor.Item[int64](ops.Cast(n, dtype.Int64)), nil
}

func FuzzDecode(f *testing.F) {
	names, err := filepath.Glob("../../testdata/conformance/parquet/hand-*.parquet")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil && len(b) < 2000 {
			f.Add(b)
		}
	}
	sealed, err := filepath.Glob("testdata/encrypted/*.parquet")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range sealed {
		if b, err := os.ReadFile(name); err == nil {
			f.Add(b)
		}
	}
	keys := &parquetio.Keys{Footer: []byte("0123456789abcdef"), Find: func(name []byte) ([]byte, error) { return name, nil }}
	f.Fuzz(func(t *testing.T, b []byte) {
		parquetio.Decode(b, parquetio.ReadOptions{MaxBytes: 1 << 20, Keys: keys}) // an error or not
		v, err := parquetio.Decode(b, parquetio.ReadOptions{MaxBytes: 1 << 20})
		records, ok := v.(*structured.Tensor)
		if err != nil || !ok {
			return
		}
		for _, name := range records.FieldNames() { // conditions read statistics and page indexes
			for _, low := range []any{0, 0.5, "a", true, time.Unix(0, 0)} {
				some, err := parquetio.Decode(b, parquetio.ReadOptions{MaxBytes: 1 << 20, Where: []parquetio.Range{{Column: structured.PathString([]string{name}), Min: low}}})
				if err == nil && tenon.Must(rows(some)) > tenon.Must(rows(records)) {
					t.Errorf("%s from %v: there are more rows with a condition than without", name, low)
				}
			}
		}
	})
}
