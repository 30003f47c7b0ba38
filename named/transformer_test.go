package named_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A transformer as in GPT-2 (Radford et al., 2019): blocks of attention and a network of
// one hidden layer, each after a layer norm and added to what came in. Everything is
// written for one sequence; the batch is lifted over.
type (
	Model     struct{ named.Dim[Model] } // what runs through the blocks
	Heads     struct{ named.Dim[Heads] }
	HeadRep   struct{ named.Dim[HeadRep] }
	Hidden    struct{ named.Dim[Hidden] }
	Positions struct{ named.Dim[Positions] }
)

// Sequence is what goes into a block and comes out of it.
type Sequence struct {
	*named.Tensor
	Seq
	Model
}

type norm struct{ Scale, Offset *named.Tensor }

type linear struct{ Weight, Bias *named.Tensor }

type block struct {
	AttentionNorm     norm
	Query, Key, Value linear
	Project           linear
	HiddenNorm        norm
	Up, Down          linear
}

type transformer struct {
	Tokens, Positions *named.Tensor
	Blocks            []block
	Norm              norm
}

func (n norm) apply(x *named.Tensor) *named.Tensor {
	return named.LayerNorm[Model](x, n.Scale, n.Offset, 1e-5)
}

// project applies a layer over a dimension.
func project[N named.Is[N]](l linear, x *named.Tensor) *named.Tensor {
	y := named.Contract[N](x, l.Weight)
	return named.Add(y, l.Bias)
}

func (b block) attend(x *named.Tensor) *named.Tensor {
	queries := project[Model](b.Query, x) // {Seq, Heads, HeadRep}
	keys := named.Rename[Seq, KeySeq](project[Model](b.Key, x))
	values := named.Rename[Seq, KeySeq](project[Model](b.Value, x))
	scores := named.Mul(named.Contract[HeadRep](queries, keys), 1/math.Sqrt(float64(queries.Size(HeadRep{}))))
	seen := named.CausalMask(Seq{}.Of(x.Size(Seq{})), KeySeq{}.Of(x.Size(Seq{})))
	weights := named.Softmax[KeySeq](named.Masked(scores, seen, math.Inf(-1)))
	attended := named.Contract[KeySeq](weights, values) // {Heads, Seq, HeadRep}
	return named.Add(named.By(Heads{}, HeadRep{}).Contract(attended, b.Project.Weight), b.Project.Bias)
}

func (b block) apply(in Sequence) Sequence {
	x := named.Add(in, b.attend(b.AttentionNorm.apply(in.Tensor)))
	hidden := named.Map(ops.GeluTanh, project[Model](b.Up, b.HiddenNorm.apply(x)))
	return named.Bind[Sequence](named.Add(x, project[Hidden](b.Down, hidden)))
}

// logits returns how likely each token comes next, for ids {Seq}.
func (m transformer) logits(ids *named.Tensor) *named.Tensor {
	positions := named.Rename[Positions, Seq](named.Index[Positions](m.Positions, firstOf(ids.Size(Seq{}))))
	x := named.Bind[Sequence](named.Add(named.Take[Vocab](m.Tokens, ids), positions))
	for _, b := range m.Blocks {
		x = b.apply(x)
	}
	return named.Dot[Model](m.Norm.apply(x.Tensor), m.Tokens)
}

func firstOf(n int) *named.Tensor { return named.Range(dtype.Int64, Positions{}.Of(n)) }

// A shape of a transformer, and how its parameters are made.
type sizes struct{ vocab, positions, model, heads, hidden, blocks int }

func (s sizes) new(make func(dims ...named.Sized) *named.Tensor) transformer {
	d := Model{}.Of(s.model)
	heads, rep, hidden := Heads{}.Of(s.heads), HeadRep{}.Of(s.model/s.heads), Hidden{}.Of(s.hidden)
	n := func() norm { return norm{make(d), make(d)} }
	m := transformer{Tokens: make(Vocab{}.Of(s.vocab), d), Positions: make(Positions{}.Of(s.positions), d), Norm: n()}
	for range s.blocks {
		in := func() linear { return linear{make(d, heads, rep), make(heads, rep)} }
		m.Blocks = append(m.Blocks, block{
			n(), in(), in(), in(), linear{make(heads, rep, d), make(d)},
			n(), linear{make(d, hidden), make(hidden)}, linear{make(hidden, d), make(d)},
		})
	}
	return m
}

// parameters returns how many numbers a structure of tensors holds.
func parameters(model any) int {
	leaves, err := nest.Flatten(model, nest.Options{})
	if err != nil {
		panic(err)
	}
	n := 0
	for _, l := range leaves {
		n += l.(*named.Tensor).Shape().Size()
	}
	return n
}

var gpt2 = sizes{vocab: 50257, positions: 1024, model: 768, heads: 12, hidden: 3072, blocks: 12}

// The numbers of parameters of GPT-2: of one block, and of the whole model.
func Example_transformer() {
	m := gpt2.new(func(dims ...named.Sized) *named.Tensor { return named.Zeros(dtype.Float32, dims...) })
	fmt.Println(parameters(m.Blocks[0]), parameters(m))
	fmt.Println(m.Blocks[0].Query.Weight.Spec())
	// Output:
	// 7087872 124439808
	// float32{Model:768 Heads:12 HeadRep:64}
}

func small() transformer {
	key := ops.RandomKey(3)
	n := 0
	return sizes{vocab: 11, positions: 8, model: 6, heads: 2, hidden: 10, blocks: 2}.new(func(dims ...named.Sized) *named.Tensor {
		n++
		return named.Normal(ops.RandomFoldIn(key, n), dtype.Float64, 0, 0.4, dims...)
	})
}

// A batch is a lifted sequence, and what comes later does not change what came before.
func TestTransformer(t *testing.T) {
	m := small()
	ids := named.Of([][]int64{{3, 1, 4, 1, 5}, {9, 2, 6, 5, 3}}, Batch{}, Seq{})
	batched := named.Lift[Batch](m.logits)(ids)
	for i, row := range named.Unstack[Batch](ids) {
		wantNear(t, m.logits(row), named.Index[Batch](batched, i))
	}
	start := named.Index[Seq](ids, named.Of([]int64{0, 1, 2}, Seq{}))
	wantNear(t, named.Index[Seq](batched, named.Of([]int64{0, 1, 2}, Seq{})), named.Lift[Batch](m.logits)(start))
	wantNear(t, batched, function.New(named.Lift[Batch](m.logits)).Call(ids))
}

// The loss of a small transformer falls along its gradient.
func TestTransformerLearns(t *testing.T) {
	m := small()
	ids := named.Of([][]int64{{3, 1, 4, 1, 5, 9}, {9, 2, 6, 5, 3, 5}}, Batch{}, Seq{})
	loss := func(m transformer, ids *named.Tensor) tensor.Tensor {
		n := ids.Size(Seq{}) - 1
		in := named.Pieces[Seq](ids, n, 1)[0]
		next := named.Pieces[Seq](ids, 1, n)[1]
		logits := named.Lift[Batch](m.logits)(in)
		return named.Unnamed(ops.Mean(named.CrossEntropy[Vocab](logits, next)).(*named.Tensor))
	}
	step := function.New(func(m transformer, ids *named.Tensor) (tensor.Tensor, transformer, error) {
		l, g := grad.ValueAndGrad(loss)(m, ids)
		next, err := nest.Map(func(l []any) (any, error) { return named.Sub(l[0], named.Mul(l[1], 0.2)), nil }, nest.Options{}, m, g)
		return l, next, err
	})
	var losses []float64
	for range 8 {
		l, next, err := step.Call(m, ids)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, tensor.Item[float64](l))
		m = next
	}
	if losses[7] > 0.8*losses[0] {
		t.Errorf("the losses are %v", losses)
	}
}
