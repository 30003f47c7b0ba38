package arrowio_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// column draws a tensor with n rows of any type that a field may have, nested at most so
// deep.
func column(t *rapid.T, n, depth int) tensor.Tensor {
	kinds := []string{"numbers", "truth", "texts", "matrix", "dictionary"}
	if depth > 0 {
		kinds = append(kinds, "lists", "short lists", "uniform", "optional", "record", "records", "union")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "numbers":
		return of(rapid.SliceOfN(rapid.Int16(), n, n).Draw(t, "numbers"))
	case "truth":
		return of(rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "truth"))
	case "texts":
		return of(rapid.SliceOfN(rapid.String(), n, n).Draw(t, "texts"))
	case "matrix":
		k := rapid.IntRange(0, 3).Draw(t, "k")
		return of(rapid.SliceOfN(rapid.Float32(), n*k*2, n*k*2).Draw(t, "matrix"), n, k, 2)
	case "dictionary":
		return must(structured.EncodeStrings(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "\xff"}), n, n).Draw(t, "words")))
	case "lists", "short lists":
		lengths := rapid.SliceOfN(rapid.Int64Range(0, 3), n, n).Draw(t, "lengths")
		total := 0
		for _, l := range lengths {
			total += int(l)
		}
		inner := column(t, total, 0)
		if _, ok := inner.(*structured.Dictionary); ok {
			inner = of(make([]uint8, total))
		}
		return must(ragged.FromRowLengths(inner, lengths))
	case "uniform":
		return must(ragged.FromUniformRowLength(of(rapid.SliceOfN(rapid.Int64(), 2*n, 2*n).Draw(t, "pairs")), 2, n))
	case "optional":
		v := column(t, n, depth-1)
		if _, ok := v.(*masked.Tensor); ok {
			return v
		}
		return must(masked.New(v, rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "mask")))
	case "records":
		lengths := rapid.SliceOfN(rapid.Int64Range(0, 2), n, n).Draw(t, "lengths")
		total := 0
		for _, l := range lengths {
			total += int(l)
		}
		rec := record(t, total, depth-1)
		p := must(ragged.PartitionFromRowLengths(lengths, ragged.PartitionOptions{}))
		return must(rec.PartitionOuterDimension(p))
	case "union":
		tags := rapid.SliceOfN(rapid.Int8Range(0, 1), n, n).Draw(t, "tags")
		return must(structured.NewUnion(tags, []structured.Field{{Name: "a", Value: column(t, n, 0)}, {Name: "b", Value: column(t, n, 0)}}))
	}
	return record(t, n, depth-1)
}

func record(t *rapid.T, n, depth int) *structured.Tensor {
	var fields []structured.Field
	for i := range rapid.IntRange(1, 3).Draw(t, "fields") {
		fields = append(fields, structured.Field{Name: string(rune('a' + i)), Value: column(t, n, depth)})
	}
	return must(structured.FromFields(fields, shape.Of(n), structured.Options{}))
}

// Whatever records hold, they come back as they were: in one batch, in several, and from a
// stream that is compressed.
func TestRandomRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := record(t, rapid.IntRange(0, 4).Draw(t, "rows"), 3)
		o := arrowio.WriteOptions{
			Stream:    rapid.Bool().Draw(t, "stream"),
			BatchRows: rapid.IntRange(0, 2).Draw(t, "batch"),
		}
		if rapid.Bool().Draw(t, "compress") {
			o.Compression = arrowio.LZ4
		}
		var b bytes.Buffer
		if err := arrowio.Encode(&b, v, o); err != nil {
			t.Fatal(err)
		}
		got, err := arrowio.Decode(b.Bytes(), arrowio.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := same(v, got); err != nil {
			t.Errorf("%s, %+v: %v", tenon.String(v.Spec()), o, err)
		}
		if _, err := arrowio.Decode(b.Bytes(), arrowio.ReadOptions{Plain: true}); err != nil {
			t.Errorf("%s by its Arrow types: %v", tenon.String(v.Spec()), err)
		}
	})
}
