package fixes

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

// The values are renamed, and the keys are not.
func values(in AttnIn, queryM, keyM KqMatrix, valueM ValueMatrix) *named.Tensor {
	queries := named.Dot[InputRep](in, queryM)
	keys := named.Dot[InputRep](in, keyM)
	values := named.Rename[Seq, Foo](named.Dot[InputRep](in, valueM))
	weights := named.Softmax[Foo](named.Dot[KqRep](queries, keys)) // want `both operands also have Seq`
	return named.Dot[Foo](weights, values)
}
