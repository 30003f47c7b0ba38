package weights // want package:"programs"

import (
	"math"

	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
	"github.com/tenonml/tenon/tensor"
)

// The softmax is over the dimension of the representation, and the weights are
// contracted over positions.
func wrong(in AttnIn, keyM KqMatrix, valueM ValueMatrix) *named.Tensor {
	a := named.Dot[InputRep](in, keyM)
	b := named.Rename[Seq, Foo](a)
	weights := named.Softmax[Seq](named.Dot[KqRep](a, b))
	values := named.Rename[Seq, Foo](named.Dot[InputRep](in, valueM))
	return named.Dot[Foo](named.Mul(weights, 2), values) // want `^named.Dot over Foo: left operand has weights that are a softmax over Seq \(weights.go:16\), and they are contracted over Foo\n  left   {Seq Foo}\n  right  {Foo ValueRep}  from weights.go:17 Rename Seq→Foo\n  contract over Seq, or take the softmax over Foo$`
}

func masked(scores, seen, values *named.Tensor) {}

// Both are contracted over what their softmax is over.
func linear(q, k, v AttnIn, key tensor.Tensor) *named.Tensor {
	queries := named.Softmax[InputRep](q)
	keys := named.Dropout(key, named.Softmax[Seq](k), 0.1)
	context := named.Dot[Seq](named.Rename[InputRep, KqRep](keys), named.Rename[InputRep, ValueRep](v))
	return named.Dot[KqRep](named.Rename[InputRep, KqRep](queries), context)
}

// Weights are contracted over their dimension, and their mean over queries is looked at
// besides.
func both(in AttnIn, pool *named.Tensor) (*named.Tensor, *named.Tensor) {
	scores := named.Mul(named.Dot[InputRep](in, named.Rename[Seq, KeySeq](in)), 1/math.Sqrt(2))
	weights := named.Softmax[KeySeq](scores)
	ones := named.Index[InputRep](in, 0)
	return named.Dot[KeySeq](weights, named.Rename[Seq, KeySeq](in)), named.Dot[Seq](weights, ones)
}

// Classes are no weights.
func classes(x AttnIn) *named.Tensor { return named.Mean[Seq](named.Softmax[InputRep](x)) }
