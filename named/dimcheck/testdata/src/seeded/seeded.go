// Package seeded has each slip behind each kind of code that a tensor passes through.
package seeded

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

// A pair of contractions by which roles show.
func scores(in AttnIn, queryM, keyM KqMatrix) *named.Tensor {
	keys := named.Rename[Seq, KeySeq](named.Dot[InputRep](in, keyM))
	queries := named.Dot[InputRep](in, queryM)
	return named.Dot[KqRep](keys, queries)
}

// Weights over Seq, and values over Foo.
func weighted(in AttnIn, keyM KqMatrix, valueM ValueMatrix) (weights, values *named.Tensor) {
	a := named.Dot[InputRep](in, keyM)
	weights = named.Softmax[Seq](named.Dot[KqRep](a, named.Rename[Seq, Foo](a)))
	return weights, named.Rename[Seq, Foo](named.Dot[InputRep](in, valueM))
}

func sized() *named.Tensor { return named.Ones(dtype.Float32, Seq{}.Of(8), InputRep{}.Of(4)) }

func nine() *named.Tensor { return named.Ones(dtype.Float32, Seq{}.Of(9)) }
