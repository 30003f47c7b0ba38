package files_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/dataset/files"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// threeFiles writes Parquet files of 10, 3 and 7 records in row groups of 4, and opens each of them.
func threeFiles(t *testing.T) (dir string, list []*dataset.Dataset[*structured.Tensor]) {
	t.Helper()
	dir = t.TempDir()
	first := 0
	for i, n := range []int{10, 3, 7} {
		name := filepath.Join(dir, fmt.Sprintf("%c.parquet", 'a'+i))
		if err := parquetio.WriteFile(name, records(first, n), parquetio.WriteOptions{GroupRows: 4}); err != nil {
			t.Fatal(err)
		}
		f := must(parquetio.Open(name, parquetio.ReadOptions{}))
		t.Cleanup(func() { f.Close() })
		list = append(list, files.Parquet(f, dataset.BlockOptions{}))
		first += n
	}
	return dir, list
}

func id(r *structured.Tensor) int64 { return tensor.Item[int64](must(r.Field("id"))) }

// Several files are read at once in an order that is fixed: element i is a function of i where files are interleaved, and a loop goes on
// from any state with the same elements, read ahead or not.
func TestSeveralFilesAtOnce(t *testing.T) {
	_, list := threeFiles(t)
	for name, c := range map[string]struct {
		d    *dataset.Dataset[*structured.Tensor]
		want string
	}{
		"interleaved":  {dataset.Interleave(list...), "[0 10 13 1 11 14 2 12 15 3 16 4 17 5 18 6 19 7 8 9]"},
		"in cycles":    {dataset.Cycle(list, dataset.CycleOptions{Open: 2, Run: 2}), "[0 1 10 11 2 3 12 13 14 4 5 15 16 6 7 17 18 8 9 19]"},
		"one by one":   {dataset.Concat(list...), "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19]"},
		"ahead":        {dataset.Interleave(list...).Prefetch(3), "[0 10 13 1 11 14 2 12 15 3 16 4 17 5 18 6 19 7 8 9]"},
		"ahead, cycle": {dataset.Cycle(list, dataset.CycleOptions{Open: 2, Run: 2}).Prefetch(2), "[0 1 10 11 2 3 12 13 14 4 5 15 16 6 7 17 18 8 9 19]"},
	} {
		var got []int64
		for r, err := range c.d.All(ctx) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got = append(got, id(r))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: got %v, want %s", name, got, c.want)
		}
		if !strings.HasSuffix(name, "cycle") && name != "in cycles" {
			for i, want := range got {
				if x := id(must(c.d.At(int64(i)))); x != want {
					t.Errorf("%s: element %d is %d, want %d", name, i, x, want)
				}
			}
		}
		var state []byte
		for i, want := range got { // killed and resumed behind each element
			cursor := must(c.d.Cursor(ctx, state))
			for r, err := range cursor.All() {
				if err != nil || id(r) != want {
					t.Errorf("%s: resumed at %d: %v, %v, want %d", name, i, r, err, want)
				}
				break
			}
			state = must(cursor.State())
			cursor.Close()
		}
	}
}

// An error of a function of an element says the element's number, and the file that it was read from.
func TestErrorsNameTheFile(t *testing.T) {
	dir, list := threeFiles(t)
	boom := errors.New("boom")
	fails := func(r *structured.Tensor) (*structured.Tensor, error) {
		if id(r) == 18 {
			return nil, boom
		}
		return r, nil
	}
	same := func(r *structured.Tensor) (*structured.Tensor, error) { return r, nil }
	file := filepath.Join(dir, "c.parquet") + ": row group 1, row 1"
	all := dataset.Concat(list...)
	arrow := filepath.Join(dir, "x.arrow")
	if err := arrowio.WriteFile(arrow, records(12, 8), arrowio.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	f := must(arrowio.Open(arrow, arrowio.ReadOptions{}))
	defer f.Close()
	for name, c := range map[string]struct {
		d     *dataset.Dataset[*structured.Tensor]
		where string
	}{
		"mapped":             {all.Map(fails), file},
		"mapped, ahead":      {all.Map(fails).Prefetch(3), file},
		"shuffled":           {all.Shuffle(5).Map(same).Map(fails), file},
		"a window":           {all.ShuffleWindow(5, 4).Map(fails), file},
		"filtered":           {all.Filter(func(r *structured.Tensor) (bool, error) { _, err := fails(r); return true, err }), file},
		"in cycles":          {dataset.Cycle(list, dataset.CycleOptions{}).Map(fails), file},
		"batched afterwards": {dataset.Interleave(list...).Map(fails), file},
		"Arrow":              {must(files.Arrow(f, dataset.BlockOptions{})).Map(fails), arrow + ": batch 0, row 6"},
	} {
		_, err := c.d.Collect(ctx)
		var e *dataset.ElementError
		if !errors.As(err, &e) || !errors.Is(err, boom) || e.Where != c.where || !strings.Contains(err.Error(), c.where) || !strings.Contains(err.Error(), fmt.Sprintf("element %d ", e.Index)) {
			t.Errorf("%s: got %v, want one in %s", name, err, c.where)
		}
	}
	// What cannot be read says where it is too.
	dir, list = threeFiles(t)
	b := must(os.ReadFile(filepath.Join(dir, "c.parquet")))
	for i := 4; i < len(b)/3; i++ {
		b[i] ^= 0xff
	}
	if err := os.WriteFile(filepath.Join(dir, "c.parquet"), b, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := dataset.Concat(list...).Collect(ctx)
	var e *dataset.ElementError
	var ours *tenon.Error
	if !errors.As(err, &e) || !errors.As(err, &ours) || !strings.Contains(err.Error(), "c.parquet: row group") {
		t.Errorf("a damaged file: %v", err)
	}
}
