package parquetio_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// A column that has each of many values a few times has a dictionary too, and is as small as its numbers are.
func TestDictionariesOfManyWords(t *testing.T) {
	const n, d = 400_000, 60_000
	x := make([]int32, n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = rng.Int32N(d)
	}
	v := must(structured.FromFields([]structured.Field{{Name: "x", Value: tensor.Of(x)}}, shape.Of(n), structured.Options{}))
	b := encoded(t, v, parquetio.WriteOptions{})
	if most := n*16/8 + 4*d + 20_000; len(b) > most {
		t.Errorf("%d bytes, want %d at most", len(b), most)
	}
	if again := must(parquetio.Decode(b, parquetio.ReadOptions{})); fmt.Sprint(again) != fmt.Sprint(v) {
		t.Error("it is read as something else")
	}
}

// Columns whose values repeat have a dictionary, wherever they are, and others none.
func TestDictionariesAreForWhatRepeats(t *testing.T) {
	const n = 5000
	words, ids, there, all := make([]string, n), make([]float64, n), make([]bool, n), make([]int64, n+1)
	for i := range n {
		words[i], ids[i], there[i], all[i+1] = fmt.Sprint("word ", i%50), float64(i)*1.25, i%3 != 0, int64(i+1)
	}
	rec := must(structured.FromFields([]structured.Field{{Name: "a.b", Value: tensor.Of(ids)}, {Name: "word", Value: tensor.Of(words)}}, shape.Of(n), structured.Options{}))
	lists := must(rec.PartitionOuterDimension(must(ragged.PartitionFromRowSplits(all, ragged.PartitionOptions{}))))
	x := must(structured.FromFields([]structured.Field{
		{Name: "id", Value: must(masked.New(tensor.Of(ids), there))},
		{Name: "word", Value: must(masked.New(tensor.Of(words), there))},
		{Name: "lists", Value: lists},
	}, shape.Of(n), structured.Options{}))
	b := encoded(t, x, parquetio.WriteOptions{})
	r := must(file.NewParquetReader(bytes.NewReader(b)))
	group := r.MetaData().RowGroup(0)
	want := []bool{false, true, false, true}
	for i, w := range want {
		c := must(group.ColumnChunk(i))
		if c.HasDictionaryPage() != w {
			t.Errorf("%v has a dictionary: %v, want %v", c.PathInSchema(), !w, w)
		}
	}
	if again := must(parquetio.Decode(b, parquetio.ReadOptions{})); fmt.Sprint(again) != fmt.Sprint(x) {
		t.Error("it is read as something else")
	}
}
