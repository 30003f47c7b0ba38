package fixes

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

type projected struct {
	*named.Tensor
	Seq
	ValueRep
}

func schema(in AttnIn, keyM KqMatrix) projected {
	return named.Bind[projected](named.Dot[InputRep](in, keyM)) // want `missing {ValueRep}, extra {KqRep}`
}
