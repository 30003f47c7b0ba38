package jsonl_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/internal/memtest"
)

// One record is read as a whole: its text, once where its size is known, and its columns, not
// more than two and a half times while they grow. The test starts a process for each, whose
// heap says what there was at once.
func TestOneBigRecordTakesItsTextAndColumns(t *testing.T) {
	if memtest.Measured(t, func(name string) any { return tenon.Must(jsonl.ReadFile(name, jsonl.Options{Format: jsonl.Document})) }) {
		return
	}
	memtest.Skip(t)
	const n = 2_000_000
	var numbers, fractions, words bytes.Buffer
	for i := range n {
		sep := ","
		if i == 0 {
			sep = ""
		}
		numbers.WriteString(sep + strconv.Itoa(i*7))
		fractions.WriteString(sep + strconv.FormatFloat(float64(i)/3, 'g', 17, 64))
		if i < n/8 {
			words.WriteString("a word, and another one, of which there are many. ")
		}
	}
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text    string
		columns int
	}{
		"integers":   {`{"id":1,"v":[` + numbers.String() + `]}`, 8 * n},
		"fractions":  {`{"v":[` + fractions.String() + `],"id":1}`, 8 * n},
		"one string": {`{"v":"` + words.String() + `"}`, words.Len()},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		peak := memtest.Peak(t, path)
		if most := len(c.text) + 5*c.columns/2 + 8<<20; peak > most {
			t.Errorf("%s: %d bytes for a text of %d and columns of %d, want %d at most", name, peak, len(c.text), c.columns, most)
		}
		t.Logf("%s: text %d, columns %d, peak %d", name, len(c.text), c.columns, peak)
	}
}
