package contract // want package:"programs"

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
	"github.com/tenonml/tenon/ops"
)

func dot(in AttnIn, keyM KqMatrix, valueM ValueMatrix) {
	keys := named.Dot[InputRep](in, keyM)
	queries := named.Dot[InputRep](in, keyM)
	_ = named.Dot[KqRep](queries, keys) // want `^named.Dot over KqRep: both operands also have Seq\n  left   {Seq KqRep}\n  right  {Seq KqRep}\n  rename one, contract it too, take it as a batch with named.Contract, or lift the function over it with named.Lift\[Seq\]$`
	_ = named.Dot[KqRep](in, valueM)    // want `^named.Dot over KqRep: left operand has no KqRep\n  left   {Seq InputRep}\n  right  {InputRep ValueRep}\n  shared: InputRep.$`
	_ = in.InputRep.Dot(keyM.InputRep)
	_ = named.Bind[seqKq](keys).Seq.Dot(in.Seq)
	_ = named.Bind[seqKq](keys).KqRep.Dot(named.Bind[seqKq](queries).KqRep) // want `named.Dot over KqRep: both operands also have Seq`
}

type seqKq struct {
	*named.Tensor
	Seq
	KqRep
}

func same(in AttnIn) {
	keys := named.Rename[Seq, KeySeq](named.Zeros(dtype.Float32, Seq{}.Of(8), KqRep{}.Of(3)))
	other := named.Zeros(dtype.Float32, Foo{}.Of(3), ValueRep{}.Of(4))
	_ = named.Dot[KqRep](keys, other) // want `^named.Dot over KqRep: right operand has no KqRep\n  left   {KeySeq:8 KqRep:3}  from contract.go:27 Rename Seq→KeySeq\n  right  {Foo:3 ValueRep:4}  from contract.go:28\n  shared: none. Foo has the same size as KqRep: did you mean named.Rename\[Foo, KqRep\]\(right\)\?$`
}

func several(in AttnIn, keyM KqMatrix, valueM ValueMatrix) {
	_ = named.Contract[Foo](in, keyM)                                                       // want `named.Contract over Foo: left operand has no Foo`
	_ = named.Contract[Foo](in, keyM, valueM)                                               // want `named.Contract over Foo: the operand 0 has no Foo`
	_ = named.By(Foo{}, Seq{}).Contract(in)                                                 // want `named.Contract over Foo, Seq: the tensor has no Foo`
	_ = named.By(InputRep{}).Dot(in, valueM)                                                // all is well
	_ = named.By(InputRep{}).Dot(in, in)                                                    // want `both operands also have Seq`
	_ = named.Einsum("seq inputRep, inputRep kqRep -> seq valueRep", in, keyM)              // want `^named.Einsum: "seq inputRep, inputRep kqRep -> seq valueRep": no tensor has valueRep, which the result lists$`
	_ = named.Sum[Foo](named.Einsum("... inputRep, inputRep kqRep -> ... kqRep", in, keyM)) // want `^named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq KqRep}`
	_ = named.Einsum("... inputRep, inputRep kqRep -> kqRep", in, keyM)                     // want `the result lacks ..., which stands for {Seq}`
	_ = named.Einsum("..., inputRep kqRep -> ... kqRep", in, keyM)                          // want `{InputRep} of tensor 0 is under ... but is listed in another term: list it in term 0 too\n  tensor  {Seq InputRep}`
	_ = named.Einsum("seq, inputRep kqRep -> seq kqRep", in, keyM)                          // want `term 0 lacks {InputRep}\n  tensor  {Seq InputRep}`
}

func elementwise(in AttnIn, keyM KqMatrix) {
	_ = named.Add(in, keyM) // want `^named.Add: neither operand has all names: left lacks {KqRep}, right lacks {Seq}\n  left   {Seq InputRep}\n  right  {InputRep KqRep}\n  if all combinations are meant, use named.Outer, or named.BroadcastTo on one operand$`
	_ = named.Outer(ops.Add, in, keyM)
	_ = named.Mul(in, 2)
	_ = named.Mul(named.Sum[Seq](in), in)
	_ = ops.Add(in, keyM)        // want `ops.Add: neither operand has all names`
	_ = named.Softmax[KqRep](in) // want `^named.Softmax over KqRep: the tensor has no KqRep\n  tensor  {Seq InputRep}$`
	_ = named.Sum[Spatial](in)   // want `named.Sum over Height, Width: the tensor has no Height`
	_ = named.Max[InputRepp](in) // want `named.Max over InputRepp: the tensor has no InputRepp\n  tensor  {Seq InputRep}\n  did you mean InputRep\?`
}

type InputRepp struct{ named.Dim[InputRepp] }
