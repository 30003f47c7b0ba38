package fixes

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

func weights(in AttnIn, keyM KqMatrix, valueM ValueMatrix) *named.Tensor {
	a := named.Dot[InputRep](in, keyM)
	att := named.Softmax[Seq](named.Dot[KqRep](a, named.Rename[Seq, Foo](a)))
	values := named.Rename[Seq, Foo](named.Dot[InputRep](in, valueM))
	return named.Dot[Foo](att, values) // want `contract over Seq, or take the softmax over Foo`
}
