package model

import (
	"context"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/tensor"
)

// Pairs are questions and their declarations, a row of each, which ranks divide among them. Numbers are those of
// the rows.
type Pairs struct {
	Numbers                         tensor.Tensor // int64
	Questions, QuestionFields       *ragged.Tensor
	Declarations, DeclarationFields *ragged.Tensor
}

// pairsAt is at as Pairs.
func (d *pairs) pairsAt(ctx context.Context, position int) (Pairs, error) {
	x, err := d.at(ctx, position)
	if err != nil {
		return Pairs{}, err
	}
	fields := tenon.Must(ragged.FromPartition(x.Fields, x.Tokens.Partition()))
	n := d.o.Batch
	half := func(t *ragged.Tensor, r key.Key) *ragged.Tensor { return ops.Index(t, r).(*ragged.Tensor) }
	return Pairs{ops.Range(int64(0), int64(n), int64(1)), half(x.Tokens, key.To(n)), half(fields, key.To(n)), half(x.Tokens, key.From(n)), half(fields, key.From(n))}, nil
}

// lossOnRanks is [Loss] for the questions of a rank, which are compared with the declarations of all ranks, so that
// the result does not depend on their number.
func lossOnRanks(r *train.Ranks) train.Loss[Params, Pairs] {
	join := func(a, b *ragged.Tensor) *ragged.Tensor { return ops.Concat([]tensor.Tensor{a, b}, 0).(*ragged.Tensor) }
	return func(p Params, x Pairs, _ tensor.Tensor) tensor.Tensor {
		v := p.Encode(Texts{join(x.Questions, x.Declarations), join(x.QuestionFields, x.DeclarationFields).FlatValues()})
		n := ops.Index(ops.Shape(x.Numbers), 0)
		d := ops.Index(v, key.From(n))
		if r.Mesh.Size() > 1 {
			d = dist.AllGather(d, 0, r.Group())
		}
		questions := named.Of(ops.Index(v, key.To(n)), question{}, feature{})
		cosines := named.Dot[feature](questions, named.Of(d, declaration{}, feature{}))
		return named.Unnamed(named.Mean[question](named.CrossEntropy[declaration](named.Mul(cosines, 1/temperature), named.Of(x.Numbers, question{}))))
	}
}
