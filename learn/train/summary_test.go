package train_test

import (
	"context"
	"testing"

	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// halved is a part whose tensor is no parameter.
type halved struct{ By tensor.Tensor }

func (halved) Unlearned() {}

type unlearning struct {
	Scale  halved
	In, To *nn.Dense
	Frozen nn.Dense
}

func TestUnlearnedPartsAndSummaries(t *testing.T) {
	k := ops.RandomKeys(ops.RandomKey(1), 2)
	shared := nn.NewDense(k[0], 2, 2, nn.DenseOptions{NoBias: true})
	m := unlearning{halved{tensor.Of([]float32{0.5})}, &shared, &shared, nn.NewDense(k[1], 2, 2, nn.DenseOptions{NoBias: true})}
	o := train.Options{Optimizer: train.AdamW(0.1), For: train.Groups(train.Group{Path: `Frozen\..*`, Optimizer: train.Fixed()})}
	s, err := train.Summarize(m, o)
	if err != nil {
		t.Fatal(err)
	}
	type flags struct {
		parameter, frozen bool
		shared            string
	}
	want := map[string]flags{
		"Scale.By": {}, "In.Kernel": {parameter: true}, "To.Kernel": {true, false, "In.Kernel"}, "Frozen.Kernel": {parameter: true, frozen: true},
	}
	for _, l := range s {
		if got := (flags{l.Parameter, l.Frozen, l.Shared}); got != want[l.Path] {
			t.Errorf("%s: %+v, want %+v", l.Path, got, want[l.Path])
		}
	}
	if len(s) != 4 || s.Elements() != 8 || s.Bytes() != 32 {
		t.Errorf("%d lines, %d elements, %d bytes; want 4, 8, 32:\n%s", len(s), s.Elements(), s.Bytes(), s)
	}
	loss := func(m unlearning, x, _ tensor.Tensor) tensor.Tensor {
		return ops.Mean(ops.Square(m.Frozen.Apply(m.To.Apply(m.In.Apply(ops.Mul(x, m.Scale.By))))))
	}
	tr, err := train.NewTrainer(m, loss, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Step(context.Background(), tensor.Of([]float32{1, 2}, 1, 2)); err != nil {
		t.Fatal(err)
	}
	after := tr.State().Params
	if got := tensor.Data[float32](after.Scale.By)[0]; got != 0.5 {
		t.Errorf("what is not learned went from 0.5 to %v", got)
	}
	if tensor.Equal(after.In.Kernel, m.In.Kernel) || !tensor.Equal(after.In.Kernel, after.To.Kernel) {
		t.Errorf("the shared kernel is %v and %v", after.In.Kernel, after.To.Kernel)
	}
}
