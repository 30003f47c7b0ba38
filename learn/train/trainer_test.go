package train_test

import (
	"context"
	"testing"

	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A trainer gives the memory of old states back. What it computes is what steps that keep
// everything compute, on batches of different sizes.
func TestTrainerReusesMemory(t *testing.T) {
	type table struct{ Words nn.Embedding }
	params := table{nn.NewEmbedding(ops.RandomKey(1), 3000, 16, nn.EmbeddingOptions{})} // more than 64 KiB
	loss := func(p table, rows *ragged.Tensor, _ tensor.Tensor) tensor.Tensor {
		n := p.Words.Table.Shape().Dim(0)
		last := ops.Sub(int64(n-1), rows.FlatValues()) // wrong if the size of the table is not known
		return ops.Mean(ops.Square(p.Words.Bag(tensorOf(rows.WithFlatValues(last)), nil, nn.BagSum)))
	}
	o := train.Options{Optimizer: train.Adam(0.01)}
	trainer, err := train.NewTrainer(params, loss, o)
	if err != nil {
		t.Fatal(err)
	}
	step := function.New(func(s train.State[table], rows *ragged.Tensor) (train.State[table], tensor.Tensor) {
		return train.Step(s, rows, loss, o, true)
	})
	state := train.NewState(params, o)
	for i := range 8 {
		rows := make([][]int64, 4)
		for r := range rows {
			for w := range 1 + (i+r)%5 {
				rows[r] = append(rows[r], int64(i*71+r*17+w*5)%3000)
			}
		}
		batch := ragged.FromSlices(rows)
		got, err := trainer.Step(context.Background(), batch)
		if err != nil {
			t.Fatal(err)
		}
		next, want := step.Call(state, batch)
		if state = next; got != float64(tensor.Item[float32](want)) {
			t.Fatalf("step %d: loss %v, want %v", i, got, want)
		}
	}
	if !tensor.Equal(trainer.State().Params.Words.Table, state.Params.Words.Table, tensor.EqualOptions{}) {
		t.Error("the parameters differ")
	}
	if trainer.Steps() != 8 {
		t.Errorf("%d steps", trainer.Steps())
	}
}

func tensorOf[T tensor.Tensor](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
