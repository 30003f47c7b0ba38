package howto

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/dtype"
)

func Example_tfRecordA() {
	file, err := os.Create(filepath.Join(folder, "train.tfrecord.gz"))
	check(err)
	w, err := protoio.NewRecordWriter(file, protoio.RecordOptions{Compression: protoio.GZIP})
	check(err)
	for _, tokens := range [][]int64{{5, 6, 7}, {}, {8}} {
		message, err := protoio.AppendExample(nil, map[string]any{"tokens": tokens, "label": "even"})
		check(err)
		check(w.Write(message))
	}
	check(w.Close())
	check(file.Close())
	fmt.Println("written")
	// Output:
	// written
}

func Example_tfRecordB() {
	messages := dataset.FromSeq(func() iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			file, err := os.Open(filepath.Join(folder, "train.tfrecord.gz"))
			check(err)
			defer file.Close()
			r, err := protoio.NewRecordReader(file, protoio.RecordOptions{})
			check(err)
			for record, err := range r.All() {
				if !yield(bytes.Clone(record), err) {
					return
				}
			}
		}
	})
	var batch [][]byte
	for message, err := range messages.All(context.Background()) {
		check(err)
		batch = append(batch, message)
	}
	records, err := protoio.ParseStructured(batch, protoio.Features{
		"tokens": protoio.Ragged{DType: dtype.Int64},
		"label":  protoio.Fixed{DType: dtype.String},
	}, protoio.ParseOptions{})
	check(err)
	fmt.Println(records.Path("tokens"), records.Path("label"))
	// Output:
	// [[5 6 7] [] [8]] int64[3, ~] ["even" "even" "even"] string[3]
}

func Example_tfRecordC() {
	var file bytes.Buffer
	w, err := protoio.NewRecordWriter(&file, protoio.RecordOptions{})
	check(err)
	check(w.Write([]byte("one")))
	check(w.Close())
	file.Bytes()[12] ^= 1
	r, err := protoio.NewRecordReader(&file, protoio.RecordOptions{})
	check(err)
	for _, err := range r.All() {
		fmt.Println(err.(*tenon.Error).Where, err.(*tenon.Error).Msg)
	}
	// Output:
	// record 0 does not match its check
}
