package parquetio_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// sorted are records by time, whose columns are of every kind that pages are cut in: numbers, texts, truth values, elements, lists and
// lists of lists, of which some are missing.
func sorted(n int) *structured.Tensor {
	id, day, at, there, truth := make([]int64, n), make([]int32, n), make([]int64, n), make([]bool, n), make([]bool, n)
	text, price, word := make([]string, n), make([]int64, n), make([]string, n)
	ends, inner := []int64{0}, []int64{0}
	for i := range n {
		id[i], day[i], at[i], there[i], truth[i] = int64(i), int32(19000+i/10), 1_700_000_000_000+int64(i)*1000, i%3 != 0, i%7 < 3
		text[i], price[i], word[i] = fmt.Sprintf("text %06d", i*7%n), int64(i)*5, []string{"a", "bb", ""}[i%3]
		ends = append(ends, ends[i]+int64(i%4))
		for k := range i % 4 {
			inner = append(inner, inner[len(inner)-1]+int64((i+k)%3))
		}
	}
	flat := make([]float32, inner[len(inner)-1])
	for i := range flat {
		flat[i] = float32(i)
	}
	deep := must(ragged.FromNestedRowSplits(flat, ends, inner))
	rec := must(structured.FromFields([]structured.Field{{Name: "a", Value: tensor.Of(id)}, {Name: "word", Value: tensor.Of(word)}}, shape.Of(n), structured.Options{}))
	return must(structured.FromFields([]structured.Field{
		{Name: "id", Value: tensor.Of(id)},
		{Name: "day", Value: must(element.New(day, element.DateType))},
		{Name: "at", Value: must(element.New(at, element.TimestampOf(time.Millisecond, "UTC")))},
		{Name: "price", Value: must(element.New(price, element.DecimalOf(12, 2)))},
		{Name: "text", Value: tensor.Of(text)},
		{Name: "truth", Value: tensor.Of(truth)},
		{Name: "some", Value: must(masked.New(tensor.Of(text), tensor.Of(there)))},
		{Name: "deep", Value: deep},
		{Name: "gaps", Value: must(masked.New(deep, tensor.Of(there)))},
		{Name: "rec", Value: must(masked.New(rec, tensor.Of(there)))},
	}, shape.Of(n), structured.Options{}))
}

// Of pages that cannot have what is asked for nothing is read, and the rows of the others are as they were, whatever the bounds of
// the pages of other columns are.
func TestPagesAreLeftOut(t *testing.T) {
	const n = 1000
	all := sorted(n)
	path := filepath.Join(t.TempDir(), "x.parquet")
	for _, size := range []int{64, 300, 4000} {
		if err := parquetio.WriteFile(path, all, parquetio.WriteOptions{GroupRows: 400, PageBytes: size}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			where   parquetio.Range
			from, n int64 // rows that have to be there
		}{
			{parquetio.Range{Column: "id", Min: 410, Max: 412}, 410, 3},
			{parquetio.Range{Column: "id", Min: 798.5, Max: uint8(200)}, 0, 0},
			{parquetio.Range{Column: "day", Min: "2022-01-11", Max: time.Date(2022, 1, 11, 23, 0, 0, 0, time.UTC)}, 30, 10},
			{parquetio.Range{Column: "at", Min: time.UnixMilli(1_700_000_500_000), Max: "2023-11-14 22:21:42Z"}, 500, 3},
			{parquetio.Range{Column: "price", Min: "20.00", Max: 20.10}, 400, 3},
			{parquetio.Range{Column: "deep", Max: 5}, 0, 7},
			{parquetio.Range{Column: "rec.a", Min: 997}, 997, 2},
		} {
			f, err := parquetio.Open(path, parquetio.ReadOptions{Where: []parquetio.Range{c.where}})
			if err != nil {
				t.Fatal(err)
			}
			rows, at := int64(0), []int64(nil)
			for i := range f.Len() {
				v := must(f.At(i)).(*structured.Tensor)
				if got := must(v.Field("id")).Shape().Dim(0); int64(got) != f.Rows(i) {
					t.Errorf("%d, %+v: %d rows of row group %d, not %d", size, c.where, got, i, f.Rows(i))
				}
				rows, at = rows+f.Rows(i), append(at, tensor.Data[int64](v.Path("id"))...)
			}
			found := map[int64]bool{}
			for _, id := range at {
				found[id] = true
			}
			for i := range c.n {
				if !found[c.from+i] {
					t.Errorf("%d, %+v: row %d is not there", size, c.where, c.from+i)
				}
			}
			if size == 64 && rows > 85 { // what 64 bytes hold of numbers of 6 bits, those of the 40 days of a row group
				t.Errorf("%+v: %d rows are read", c.where, rows)
			}
			if len(at) > 0 {
				want := ops.Gather(all, tensor.Of(at), 0).(*structured.Tensor)
				got := must(f.Read()).(*structured.Tensor)
				if a, b := must(want.ToNested()), must(got.ToNested()); fmt.Sprint(a) != fmt.Sprint(b) {
					t.Errorf("%d, %+v: got %v, want %v", size, c.where, b, a)
				}
			}
			f.Close()
		}
	}
	// A column that is not asked for is a condition as well, and two of them are met in the same pages.
	if err := parquetio.WriteFile(path, all, parquetio.WriteOptions{PageBytes: 64}); err != nil {
		t.Fatal(err)
	}
	f := must(parquetio.Open(path, parquetio.ReadOptions{Columns: []string{"deep"}, Where: []parquetio.Range{{Column: "id", Min: 300}, {Column: "id", Max: 100}}}))
	defer f.Close()
	if got := must(f.Read()).(*structured.Tensor); f.Len() != 0 || fmt.Sprint(got.FieldNames()) != "[deep]" {
		t.Errorf("%d row groups of %v", f.Len(), got.FieldNames())
	}
}

// A page index that lies is an error, or changes which rows there are; it reads nothing out of bounds.
func TestPageIndexesThatLie(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	all := sorted(40)
	some := must(structured.FromFields([]structured.Field{{Name: "id", Value: all.Path("id")}, {Name: "text", Value: all.Path("text")}, {Name: "deep", Value: all.Path("deep")}}, shape.Of(40), structured.Options{}))
	if err := parquetio.WriteFile(path, some, parquetio.WriteOptions{PageBytes: 64, Compression: parquetio.Uncompressed}); err != nil {
		t.Fatal(err)
	}
	good := must(os.ReadFile(path))
	o := parquetio.ReadOptions{Columns: []string{"deep", "text"}, Where: []parquetio.Range{{Column: "id", Min: 20, Max: 22}}, MaxBytes: 1 << 20}
	if _, err := parquetio.Decode(good, o); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for i := len(good) / 2; i < len(good); i++ {
		for _, x := range []byte{0x01, 0x80, 0xff} {
			good[i] ^= x
			var e *tenon.Error
			if _, err := parquetio.Decode(good, o); errors.As(err, &e) {
				failed++
			} else if err != nil {
				t.Errorf("byte %d: %v is no error of ours", i, err)
			}
			good[i] ^= x
		}
	}
	if failed < 100 {
		t.Errorf("%d changes are errors", failed)
	}
}
