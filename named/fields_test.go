package named_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

type (
	tagged struct {
		Weight *named.Tensor `dims:"Rep,Kq"`
		Bias   *named.Tensor `dims:"Kq"`
	}
	taggedOver[In named.Is[In]] struct {
		Weight *named.Tensor `dims:"In,Kq"`
	}
	taggedModel struct {
		Blocks []tagged
		Over   map[string]taggedOver[Spatial]
		Free   *named.Tensor
	}
)

func TestFieldsKeepTheDimensionsThatTheyDeclare(t *testing.T) {
	good := tagged{wave(Kq{}.Of(2), Rep{}.Of(3)), wave(Kq{}.Of(2))}
	over := func(d ...named.Sized) map[string]taggedOver[Spatial] {
		return map[string]taggedOver[Spatial]{"a": {wave(d...)}}
	}
	for _, tt := range []struct {
		name string
		m    any
		want string // of the error, "" for none
	}{
		{"in any order", taggedModel{Blocks: []tagged{good, {}}, Free: wave(Foo{}.Of(1))}, ""},
		{"a pointer", &taggedModel{Blocks: []tagged{good}}, ""},
		{"a type parameter", taggedModel{Over: over(Height{}.Of(2), Width{}.Of(2), Kq{}.Of(3))}, ""},
		{"another name", taggedModel{Blocks: []tagged{good, {Bias: wave(Rep{}.Of(3))}}}, "Blocks[1].Bias: the field is declared with {Kq}: missing {Kq}, extra {Rep}"},
		{"one too many", tagged{Weight: wave(Kq{}.Of(2), Rep{}.Of(3), Seq{}.Of(1))}, "Weight: the field is declared with {Rep Kq}: extra {Seq}"},
		{"without what is no parameter", taggedModel{Over: over(Height{}.Of(2), Width{}.Of(2))}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := nest.Check(tt.m)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestTrainingAndReadingCheckDeclaredFields(t *testing.T) {
	bad := tagged{Weight: wave(Rep{}.Of(3), Seq{}.Of(2)), Bias: wave(Kq{}.Of(2))}
	loss := func(m tagged, _ *named.Tensor, _ tensor.Tensor) tensor.Tensor { return ops.Mean(m.Weight) }
	_, err := train.Fit(context.Background(), bad, loss, train.FitOptions[tagged, *named.Tensor]{
		Data: train.Source[*named.Tensor]{Batches: 1, At: func(context.Context, int) (*named.Tensor, error) { return wave(Seq{}.Of(1)), nil }}})
	if err == nil || !strings.Contains(err.Error(), "Weight: the field is declared with {Rep Kq}") {
		t.Errorf("train.Fit: %v", err)
	}
	name := filepath.Join(t.TempDir(), "m.safetensors")
	tenon.Throw(saved.Write(name, bad, saved.WriteOptions{}))
	like := tagged{Weight: wave(Rep{}.Of(3), Seq{}.Of(2)), Bias: wave(Kq{}.Of(2))}
	if _, err := saved.Read(name, like, saved.ReadOptions{}); err == nil || !strings.Contains(err.Error(), "Weight: the field is declared with {Rep Kq}") {
		t.Errorf("saved.Read: %v", err)
	}
}
