package fixes

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

func shared(in AttnIn, queryM, keyM KqMatrix) {
	queries := named.Dot[InputRep](in, queryM)
	keys := named.Dot[InputRep](in, keyM)
	_ = named.Dot[KqRep](keys, queries) // want `both operands also have Seq`
}
