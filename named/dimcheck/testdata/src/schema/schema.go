package schema // want package:"programs"

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

type result struct {
	*named.Tensor
	Seq
	Hidden
}

func bind(in AttnIn, keyM KqMatrix) {
	_ = named.Bind[AttnOut](named.Dot[InputRep](in, keyM))  // want `^named.Bind AttnOut: the schema is {Seq ValueRep}: missing {ValueRep}, extra {KqRep}\n  tensor  {Seq KqRep}\n  did you mean named.Rename\[KqRep, ValueRep\]\(tensor\)\?$`
	_ = named.Bind[AttnOut](named.Sum[InputRep](in))        // want `^named.Bind AttnOut: the schema is {Seq ValueRep}: missing {ValueRep}\n  tensor  {Seq}$`
	_ = named.Bind[AttnIn](named.ExpandDims(in, Batch{}))   // want `named.Bind AttnIn: the schema is {Seq InputRep}: extra {Batch}\n  tensor  {Seq InputRep Batch:1}\n  if it is the function's caller that knows of {Batch}, lift the function over it with named.Lift`
	_ = named.Bind[result](named.ExpandDims(keyM, Batch{})) // want `named.Bind result: the schema is {Seq Hidden}: missing {Seq Hidden}, extra {InputRep KqRep Batch}`
	_ = named.Bind[AttnIn](in)
}
