package correct // want package:"programs"

import (
	"math"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
	"github.com/tenonml/tenon/ops"
)

type parameters struct{ query, key, value, scale *named.Tensor }

func newParameters(rep, kq int) *parameters {
	return &parameters{
		query: named.Ones(dtype.Float32, InputRep{}.Of(rep), KqRep{}.Of(kq)),
		key:   named.Ones(dtype.Float32, InputRep{}.Of(rep), KqRep{}.Of(kq)),
		value: named.Ones(dtype.Float32, InputRep{}.Of(rep), ValueRep{}.Of(kq)),
	}
}

func (p *parameters) head(in AttnIn) AttnOut {
	queries := named.Dot[InputRep](in, p.query)
	keys := named.Rename[Seq, KeySeq](named.Dot[InputRep](in, p.key))
	values := named.Rename[Seq, KeySeq](named.Dot[InputRep](in, p.value))
	scores := named.Mul(named.Dot[KqRep](queries, keys), 1/math.Sqrt(float64(queries.Size(KqRep{}))))
	seen := named.CausalMask(Seq{}.Of(8), KeySeq{}.Of(8))
	weights := named.Softmax[KeySeq](named.Masked(scores, seen, math.Inf(-1)))
	return named.Bind[AttnOut](named.Dot[KeySeq](values, weights))
}

func run(batched BatchedIn) *named.Tensor {
	p := newParameters(16, 4)
	out := named.Lift[Batch](p.head)(batched.AttnIn)
	return named.Sum[Batch](out)
}

func conv(image *named.Tensor) *named.Tensor {
	x := named.Zeros(dtype.Float32, Batch{}.Of(2), Height{}.Of(8), Width{}.Of(8), InputRep{}.Of(3))
	kernel := named.Zeros(dtype.Float32, Foo{}.Of(3), InputRep{}.Of(3), Hidden{}.Of(5))
	y := named.Conv[Height, Foo, InputRep](x, kernel, named.ConvOptions{Same: true})
	y = named.Map(ops.Relu, y)
	y = named.Merge[Spatial, Pixel](y)
	values, at := named.TopK[Pixel](y, 4)
	picked := named.Take[Pixel](y, named.Rename[Pixel, Seq](at))
	return named.Add(picked, named.Sum[Pixel](values))
}

func ids(table *named.Tensor) *named.Tensor {
	rows := named.Of([][]int64{{1, 2}, {3, 4}}, Batch{}, Seq{})
	t := named.Ones(dtype.Float32, Vocab{}.Of(9), InputRep{}.Of(4))
	x := named.Take[Vocab](t, rows)
	logits := named.Dot[InputRep](x, t)
	return named.Mean[Seq](named.CrossEntropy[Vocab](logits, rows))
}
