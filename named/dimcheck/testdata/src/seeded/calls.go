package seeded

import (
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/dimcheck/testdata/src/lib"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

// A function of another package.
func calls(in AttnIn, queryM, keyM KqMatrix, valueM ValueMatrix) {
	x, y, s := in.Tensor, sized(), scores(in, queryM, keyM)
	w, v := weighted(in, keyM, valueM)
	x, y, s, w = lib.Half(x), lib.Half(y), lib.Half(s), lib.Half(w)
	_ = named.Sum[Foo](x)              // want `^named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq InputRep}`
	_ = named.Dot[InputRep](x, in)     // want `^named.Dot over InputRep: both operands also have Seq`
	_ = named.Rename[Seq, InputRep](x) // want `^named.Rename Seq→InputRep: the tensor already has InputRep`
	_ = named.Bind[AttnOut](x)         // want `^named.Bind AttnOut: the schema is {Seq ValueRep}: missing {ValueRep}, extra {InputRep}`
	_ = named.Add(x, keyM)             // want `^named.Add: neither operand has all names: left lacks {KqRep}, right lacks {Seq}`
	_ = named.Mul(y, nine())           // want `^named.Mul: Seq has the sizes 8 and 9`
	_ = named.Dot[Foo](w, v)           // want `^named.Dot over Foo: left operand has weights that are a softmax over Seq`
	_ = named.Softmax[Seq](s)          // want `^named.Softmax over Seq: Seq are the positions of the queries`
}
