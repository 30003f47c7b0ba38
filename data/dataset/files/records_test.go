package files_test

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/dataset/files"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// An error of a function names the number of the element and the file, for JSON lines, CSV and images too, and for batches of them; so does
// one of what cannot be read.
func TestErrorsNameFilesOfAllKinds(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var lines, table strings.Builder
	table.WriteString("id\n")
	for i := range 1500 {
		fmt.Fprintf(&lines, "{\"id\":%d}\n", i)
		fmt.Fprintf(&table, "%d\n", i)
	}
	json, csv := write("a.jsonl", lines.String()), write("a.csv", table.String())
	json2, csv2 := write("b.jsonl", "{\"id\":1500}\n"), write("b.csv", "id\n1500\n")
	boom := errors.New("boom")
	at := func(id int64) func(r *structured.Tensor) (*structured.Tensor, error) {
		return func(r *structured.Tensor) (*structured.Tensor, error) {
			for _, x := range tensor.Data[int64](must(r.Field("id"))) {
				if x == id {
					return nil, boom
				}
			}
			return r, nil
		}
	}
	same := func(r *structured.Tensor) (*structured.Tensor, error) { return r, nil }
	inJSON, inCSV := files.JSONLines(jsonl.Options{}, json, json2), files.CSV(csvio.Options{}, csv, csv2)
	for name, c := range map[string]struct {
		d     *dataset.Dataset[*structured.Tensor]
		where string
		index int64
	}{
		"JSON lines":       {inJSON.Map(at(1100)), json + ": batch 1 of 1024, row 76", 1100},
		"the second file":  {inJSON.Map(at(1500)), json2 + ": batch 0 of 1024, row 0", 1500},
		"CSV":              {inCSV.Map(at(7)), csv + ": batch 0 of 1024, row 7", 7},
		"twice":            {inCSV.Map(same).Map(at(7)), csv + ": batch 0 of 1024, row 7", 7},
		"ahead":            {inCSV.Map(same).Map(at(7)).Prefetch(2), csv + ": batch 0 of 1024, row 7", 7},
		"a batch":          {inCSV.Batch(10, dataset.BatchOptions{}).Map(at(1025)), csv + ": batch 0 of 1024, row 1020 to " + csv + ": batch 1 of 1024, row 5", 102},
		"a batch, resumed": {inCSV.Skip(500).Map(same).Batch(10, dataset.BatchOptions{}).Map(at(505)), csv + ": batch 0 of 1024, row 500 to " + csv + ": batch 0 of 1024, row 509", 0},
	} {
		_, err := c.d.Collect(ctx)
		var e *dataset.ElementError
		if !errors.As(err, &e) || !errors.Is(err, boom) || e.Where != c.where || e.Index != c.index {
			t.Errorf("%s: got %v, want element %d in %s", name, err, c.index, c.where)
		}
	}
	image1 := &strings.Builder{}
	if err := png.Encode(image1, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		write(fmt.Sprintf("images/cats/%d.png", i), image1.String())
	}
	d, _, err := files.Images(filepath.Join(dir, "images"), files.ImageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fails := func(x files.Labelled) (files.Labelled, error) { return x, boom }
	for name, c := range map[string]struct {
		d     *dataset.Dataset[files.Labelled]
		where string
	}{
		"images":           {d.Skip(3).Map(fails), "cats/3.png"},
		"images, shuffled": {d.Shuffle(1).Skip(4).Map(fails), "cats/"},
		"a batch":          {d.Batch(3, dataset.BatchOptions{}).Map(fails), "cats/0.png to cats/2.png"},
	} {
		_, err := c.d.Collect(ctx)
		var e *dataset.ElementError
		if !errors.As(err, &e) || !errors.Is(err, boom) || !strings.Contains(e.Where, c.where) {
			t.Errorf("%s: got %v, want one in %s", name, err, c.where)
		}
	}
	write("images/cats/2.png", "no image")
	_, err = d.Batch(5, dataset.BatchOptions{}).Collect(ctx)
	var e *dataset.ElementError
	if !errors.As(err, &e) || e.Index != 2 || e.Where != "cats/2.png" {
		t.Errorf("what is no image: %v", err)
	}
}
