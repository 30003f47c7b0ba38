package models // want package:"programs"

// This package has what models are made of: closures, blocks in slices and maps, fields that
// declare their dimensions, training and files.

import (
	"context"

	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

type linear struct{ Weight, Bias *named.Tensor }

type block struct{ Up linear }

type net struct {
	Blocks []block
	ByName map[string]block
}

func w() *named.Tensor { return named.Ones(dtype.Float32, Seq{}.Of(2)) }

// A closure that another one has captured.
func captured() {
	zeros := func(d ...named.Sized) *named.Tensor { return named.Zeros(dtype.Float32, d...) }
	pair := func() *named.Tensor { return named.Mul(zeros(Seq{}.Of(2)), 2) }
	_ = pair
	_ = named.Sum[Foo](zeros(Seq{}.Of(2))) // want `named.Sum over Foo: the tensor has no Foo`
}

// Blocks in literals of slices and maps.
func literals() {
	m := net{Blocks: []block{{Up: linear{w(), w()}}}}
	_ = named.Sum[Foo](m.Blocks[0].Up.Weight) // want `named.Sum over Foo: the tensor has no Foo`
	b := block{Up: linear{w(), w()}}
	n := net{Blocks: []block{b, b}, ByName: map[string]block{"one": {Up: linear{w(), w()}}}}
	_ = named.Sum[Foo](n.Blocks[1].Up.Weight)     // want `named.Sum over Foo: the tensor has no Foo`
	_ = named.Sum[Foo](n.ByName["one"].Up.Weight) // want `named.Sum over Foo: the tensor has no Foo`
	for _, b := range n.Blocks {
		_ = named.Sum[Foo](b.Up.Bias) // want `named.Sum over Foo: the tensor has no Foo`
	}
}

// Fields that declare their dimensions.
type layer[In named.Is[In]] struct {
	Weight *named.Tensor `dims:"In,Hidden"`
	Bias   *named.Tensor `dims:"Hidden"`
	Wrong  *named.Tensor `dims:"Hiden"` // want `Hiden in the tag dims is not the name of a dimension`
}

type model struct {
	Up    layer[Seq]
	Scale *named.Tensor `dims:"Seq Hidden"`
}

func (l layer[In]) apply(x *named.Tensor) *named.Tensor {
	return named.Add(named.Contract[In](x, l.Weight), l.Bias)
}

func reads(m model) {
	_ = named.Sum[Foo](m.Up.Bias)               // want `named.Sum over Foo: the tensor has no Foo\n  tensor  {Hidden}`
	_ = named.Dot[Hidden](m.Scale, m.Up.Weight) // want `both operands also have Seq`
	_ = named.Sum[Foo](m.Up.apply(w()))         // want `named.Sum over Foo: the tensor has no Foo\n  tensor  {Hidden}`
}

func stores() model {
	return model{
		Scale: named.Ones(dtype.Float32, Seq{}.Of(2), Foo{}.Of(3)), // want `field model.Scale: the field is declared with {Seq Hidden}: missing {Hidden}, extra {Foo}`
		Up:    layer[Seq]{Bias: w()},                               // want `field layer.Bias: the field is declared with {Hidden}: missing {Hidden}, extra {Seq}`
	}
}

// Training calls the loss.
func loss(m linear, x *named.Tensor, _ tensor.Tensor) tensor.Tensor {
	return ops.Mean(named.Sub(x, m.Weight)) // want `named.Sub: neither operand has all names: left lacks {Seq}, right lacks {Hidden}`
}

func batch(context.Context, int) (*named.Tensor, error) {
	return named.Ones(dtype.Float32, Hidden{}.Of(2)), nil
}

func fits(ctx context.Context) {
	fit, _ := train.Fit(ctx, linear{w(), w()}, loss, train.FitOptions[linear, *named.Tensor]{Data: train.Source[*named.Tensor]{Batches: 2, At: batch}})
	_ = named.Sum[Foo](fit.Params.Weight) // want `named.Sum over Foo: the tensor has no Foo`
}

func steps(ctx context.Context) {
	t, _ := train.NewTrainer(linear{w(), w()}, func(m linear, x *named.Tensor, _ tensor.Tensor) tensor.Tensor {
		return ops.Mean(named.Dot[Foo](x, m.Weight)) // want `named.Dot over Foo: left operand has no Foo`
	}, train.Options{})
	t.Step(ctx, w())
}

// Files have what their template has.
func files() {
	m, _ := saved.Read("m", linear{w(), w()}, saved.ReadOptions{})
	_ = named.Sum[Foo](m.Weight) // want `named.Sum over Foo: the tensor has no Foo`
}

// Layers of package nn know names.
func layers(key tensor.Tensor) {
	d := nn.NewDense(key, 2, 3, nn.DenseOptions{Names: nn.Names{In: Seq{}, Out: Hidden{}}})
	y := d.Apply(w())
	_ = named.Sum[Seq](y.(*named.Tensor))                                         // want `named.Sum over Seq: the tensor has no Seq\n  tensor  {Hidden}`
	_ = d.Apply(named.Ones(dtype.Float32, Foo{}.Of(2)))                           // want `nn.Dense.Apply over Seq: the tensor has no Seq`
	_ = nn.SoftmaxCrossEntropy(w(), w(), nn.CrossEntropyOptions{Classes: Foo{}})  // want `the tensor has no Foo`
	_ = nn.NewLayerNorm(2, nn.NormOptions{Names: nn.Names{In: Foo{}}}).Apply(w()) // want `nn.LayerNorm.Apply over Foo: the tensor has no Foo`
}

// Data sets have elements and batches of them.
func datasets(ctx context.Context) {
	d := dataset.FromSlice([]*named.Tensor{w(), w()})
	one, _ := d.Shuffle(1).At(0)
	_ = named.Sum[Foo](one) // want `named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq:2}`
	for b, err := range d.Batch(2, dataset.BatchOptions{}).All(ctx) {
		if err == nil {
			_ = named.Sum[Foo](b) // want `named.Sum over Foo: the tensor has no Foo\n  tensor  {Rows Seq:2}`
		}
	}
}
