package fixes

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

func roles(in AttnIn, queryM, keyM KqMatrix) *named.Tensor {
	keys := named.Rename[Seq, KeySeq](named.Dot[InputRep](in, keyM))
	queries := named.Dot[InputRep](in, queryM)
	return named.Softmax[Seq](named.Dot[KqRep](keys, queries)) // want `did you mean named.Softmax\[KeySeq\]\?`
}
