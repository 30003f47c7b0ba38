package generic // want package:"programs"

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

func project[In named.Is[In], Out named.Is[Out]](x, w *named.Tensor) *named.Tensor {
	return named.Softmax[Out](named.Dot[In](x, w))
}

func twice[N named.Is[N]](x *named.Tensor) *named.Tensor { return normal[N](normal[N](x)) }

func normal[N named.Is[N]](x *named.Tensor) *named.Tensor {
	return named.Sub(x, named.Mean[N](x))
}

type block[N named.Is[N]] struct{ scale *named.Tensor }

func (b block[N]) apply(x *named.Tensor) *named.Tensor {
	return named.LayerNorm[N](x, b.scale, nil, 1e-5)
}

func wrongInside[N named.Is[N]](in AttnIn) *named.Tensor {
	return named.Sum[Foo](in) // want `named.Sum over Foo: the tensor has no Foo`
}

func size[N named.Is[N]](n int) named.Sized { var x N; return any(x).(named.Name).Of(n) }

func calls(in AttnIn, keyM KqMatrix) {
	y := project[InputRep, KqRep](in.Tensor, keyM.Tensor)
	_ = named.Sum[InputRep](y)                             // want `the tensor has no InputRep\n  tensor  {Seq KqRep}`
	_ = project[InputRep, Foo](in.Tensor, keyM.Tensor)     // want `^in project \(generic.go:9\): named.Softmax over Foo: the tensor has no Foo\n  tensor  {Seq KqRep}$`
	_ = named.Sum[Foo](twice[Seq](in.Tensor))              // want `the tensor has no Foo`
	_ = twice[Foo](in.Tensor)                              // want `in normal \(generic.go:15\): named.Mean over Foo: the tensor has no Foo\n  tensor  {Seq InputRep}`
	_ = named.Sum[Foo](block[InputRep]{}.apply(in.Tensor)) // want `named.Sum over Foo: the tensor has no Foo`
	_ = block[KqRep]{}.apply(in.Tensor)                    // want `in block.apply \(generic.go:\d+\): named.LayerNorm over KqRep: the tensor has no KqRep`
	_ = block[Seq]{scale: keyM.Tensor}.apply(in.Tensor)    // want `in block.apply \(generic.go:\d+\): named.LayerNorm: right operand has no|the scale or offset|the tensor has no KqRep`
	_ = wrongInside[Seq](in)
	_ = size[Seq](3)
}
