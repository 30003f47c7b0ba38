package formats_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
)

// Whatever comes from a pipe is told to be a format or refused, and the first records of what is read as
// text are records or an error.
func FuzzHeads(f *testing.F) {
	for _, s := range []string{
		"", "{\"a\":1}\n{\"a\":2}\n", "[{\"a\":[1,{\"b\":null}]},", "a,b\n1,\"x\n y\"\n", "a\tb\n1\t2\n", "\xef\xbb\xbfa;b\n1;2\n",
		"\x08\x08\x12\x01x", "\xff\xff\xff\xff", "PK\x03\x04", "\x1f\x8b\x08\x00", "\x28\xb5\x2f\xfd", "\x93NUMPY", "GGUF", "PAR1", "ARROW1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := formats.Open("-", bytes.NewReader(b), nil)
		if err != nil {
			return
		}
		defer in.Close()
		switch in.Format.Name {
		case "json", "jsonl", "csv", "tsv":
		default:
			return // their readers have targets of their own
		}
		r, err := formats.Records(in, formats.Options{Context: context.Background(), First: 3})
		if err != nil {
			return
		}
		defer r.Close()
		rows := 0
		for batch, err := range r.Batches(10) {
			if err != nil {
				return
			}
			rows += formats.RowCount(batch)
		}
		if rows > 3 {
			t.Errorf("%d rows for the first three", rows)
		}
	})
}
