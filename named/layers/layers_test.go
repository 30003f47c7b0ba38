package layers_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/layers"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

type (
	Batch  struct{ named.Dim[Batch] }
	Seq    struct{ named.Dim[Seq] }
	KeySeq struct{ named.Dim[KeySeq] }
	Vocab  struct{ named.Dim[Vocab] }
	Model  struct{ named.Dim[Model] }
	Head   struct{ named.Dim[Head] }
	Rep    struct{ named.Dim[Rep] }
	Hidden struct{ named.Dim[Hidden] }

	Heads struct {
		named.Set[Heads]
		Head
		Rep
	}
	Ids struct {
		*named.Tensor
		Seq
	}
)

var sizes = layers.Sizes{Vocab{}.Of(7), Model{}.Of(8), Head{}.Of(2), Rep{}.Of(4), Hidden{}.Of(16)}

type block struct {
	Norm1 layers.LayerNorm[Model]
	Mix   layers.Attention[Seq, KeySeq, Model, Head, Rep]
	Norm2 layers.RMSNorm[Model]
	Up    layers.Linear[Model, Hidden]
	Down  layers.Linear[Hidden, Model]
}

type model struct {
	Tokens layers.Embedding[Vocab, Model]
	Blocks []block
	Norm   layers.LayerNorm[Model]
}

func newModel(seed uint64) model {
	n := 0
	key := func() tensor.Tensor { n++; return ops.RandomFoldIn(ops.RandomKey(seed), n) }
	m := model{Tokens: layers.NewEmbedding[Vocab, Model](key(), sizes, dtype.None, 0), Norm: layers.NewLayerNorm[Model](sizes, dtype.None)}
	for range 2 {
		m.Blocks = append(m.Blocks, block{
			Norm1: layers.NewLayerNorm[Model](sizes, dtype.None),
			Mix:   layers.NewAttention[Seq, KeySeq, Model, Head, Rep](key(), sizes, true, dtype.None),
			Norm2: layers.NewRMSNorm[Model](sizes, dtype.None),
			Up:    layers.NewLinear[Model, Hidden](key(), sizes, layers.LinearOptions{}),
			Down:  layers.NewLinear[Hidden, Model](key(), sizes, layers.LinearOptions{}),
		})
	}
	return m
}

func (m model) logits(ids tenon.Value) *named.Tensor {
	x := m.Tokens.Apply(ids)
	for _, b := range m.Blocks {
		x = named.Add(x, b.Mix.Apply(b.Norm1.Apply(x), nil))
		x = named.Add(x, b.Down.Apply(named.Map(ops.Gelu, b.Up.Apply(b.Norm2.Apply(x)))))
	}
	return m.Tokens.Attend(m.Norm.Apply(x))
}

func TestAModelOfLayersLearns(t *testing.T) {
	text := named.Of([][]int64{{1, 2, 3, 4, 5, 6}, {2, 4, 6, 1, 3, 5}}, Batch{}, Seq{})
	next := named.Roll[Seq](text, -1)
	loss := func(m model, x *named.Tensor, _ tensor.Tensor) tensor.Tensor {
		return ops.Mean(named.CrossEntropy[Vocab](m.logits(x), next))
	}
	fit, err := train.Fit(context.Background(), newModel(1), loss, train.FitOptions[model, *named.Tensor]{
		Options: train.Options{Optimizer: train.AdamW(1e-2)}, Epochs: 40,
		Data: train.Source[*named.Tensor]{Batches: 1, At: func(context.Context, int) (*named.Tensor, error) { return text, nil }}})
	if err != nil {
		t.Fatal(err)
	}
	if l := fit.Record.Losses; l[len(l)-1] > l[0]/2 {
		t.Errorf("the loss goes from %v to %v", l[0], l[len(l)-1])
	}
}

func TestALinearLayerGoesBetweenSets(t *testing.T) {
	l := layers.NewLinear[Model, Heads](ops.RandomKey(1), sizes, layers.LinearOptions{})
	x := named.Ones(dtype.Float32, Batch{}.Of(3), Model{}.Of(8))
	if got := l.Apply(x).Dims().String(); got != "Batch, Head, Rep" {
		t.Errorf("got {%s}", got)
	}
	back := layers.NewLinear[Heads, Model](ops.RandomKey(2), sizes, layers.LinearOptions{NoBias: true})
	if got := back.Apply(l.Apply(x)); got.Size(Model{}) != 8 || back.Bias != nil {
		t.Errorf("got %v", got.Spec())
	}
	_, err := tenon.Try(func() any {
		return layers.NewLinear[Model, KeySeq](ops.RandomKey(1), sizes, layers.LinearOptions{})
	})
	if err == nil || !strings.Contains(err.Error(), "there is no size of KeySeq") {
		t.Errorf("a name without a size: %v", err)
	}
}

func TestLayersTakeSchemas(t *testing.T) {
	m := newModel(1)
	ids := named.Bind[Ids](named.Of([]int64{1, 2, 3}, Seq{}))
	if got := m.logits(ids).Dims().String(); got != "Seq, Vocab" {
		t.Errorf("got {%s}", got)
	}
	drop := layers.Dropout{Rate: 0.5}
	x := named.Ones(dtype.Float32, Seq{}.Of(4), Model{}.Of(8))
	if got := drop.Apply(nil, x); got != x {
		t.Errorf("without a key something is dropped: %v", got)
	}
	if got := named.Sum[Model](drop.Apply(ops.RandomKey(3), x, Seq{})); !strings.Contains(got.String(), "Seq:4") {
		t.Errorf("got %v", got)
	}
}
