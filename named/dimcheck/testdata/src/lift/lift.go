package lift // want package:"programs"

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

func head(in AttnIn) *named.Tensor { return named.Dot[InputRep](in, named.Rename[Seq, KeySeq](in)) }

func project(x, w *named.Tensor) *named.Tensor { return named.Dot[InputRep](x, w) }

func calls(in AttnIn, batched BatchedIn, keyM KqMatrix) {
	lifted := named.Lift[Batch](head)
	y := lifted(batched.AttnIn)
	_ = named.Sum[Foo](y)                                                                            // want `named.Sum over Foo: the tensor has no Foo\n  tensor  {Batch Seq KeySeq}`
	_ = lifted(in)                                                                                   // want `^named.Lift over Batch: the argument 0 has no Batch\n  argument 0  {Seq InputRep}$`
	_ = head(batched.AttnIn)                                                                         // want `^in head \(lift.go:11\): named.Dot over InputRep: both operands also have Batch`
	_ = named.Sum[Foo](named.Lift[Seq](project)(in.Tensor, keyM.Tensor))                             // want `named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq KqRep}`
	_ = named.Lift[Seq](func(x *named.Tensor) *named.Tensor { return named.Sum[Seq](x) })(in.Tensor) // want `^named.Sum over Seq: the tensor has no Seq\n  tensor  {InputRep}\n  Seq is what named.Lift takes the function over: the function does not see it$`
	_ = named.Lift[Seq](func(x *named.Tensor) *named.Tensor { return named.Add(x, in) })(in.Tensor)  // want `^named.Add: Seq is what named.Lift takes the function over, and a tensor from outside has it\n  left   {InputRep}\n  right  {Seq InputRep}\n  pass the tensor to the lifted function as an argument, so that it is taken apart along Seq too$`
	_ = named.Sum[Foo](named.LiftOver(named.By(Seq{}), project)(in.Tensor, keyM.Tensor))             // want `tensor  {Seq KqRep}`
}

func through(in AttnIn, keyM KqMatrix) {
	_ = named.Sum[Foo](function.New(project).Call(in.Tensor, keyM.Tensor)) // want `tensor  {Seq KqRep}`
	_, g := grad.ValueAndGrad(project)(in.Tensor, keyM.Tensor)
	_ = named.Sum[Foo](g) // want `tensor  {Seq InputRep}`
	y, _ := tenon.Try(func() *named.Tensor { return project(in.Tensor, keyM.Tensor) })
	_ = named.Sum[Foo](y) // want `tensor  {Seq KqRep}`
}
