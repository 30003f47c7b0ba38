package layers_test

import (
	"fmt"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/layers"
	"github.com/tenonml/tenon/ops"
)

// Attention among the words of texts, which a table makes vectors.
func ExampleNewAttention() {
	sizes := layers.Sizes{Vocab{}.Of(100), Model{}.Of(8), Head{}.Of(2), Rep{}.Of(4)}
	k := ops.RandomKeys(ops.RandomKey(1), 2)
	table := layers.NewEmbedding[Vocab, Model](k[0], sizes, dtype.Float32, 0)
	mix := layers.NewAttention[Seq, KeySeq, Model, Head, Rep](k[1], sizes, true, dtype.Float32)

	texts := named.Of([][]int64{{1, 2, 3}, {4, 5, 6}}, Batch{}, Seq{})
	fmt.Println(mix.Apply(table.Apply(texts), nil).Spec())
	// Output:
	// float32{Seq:3 Batch:2 Model:8}
}
