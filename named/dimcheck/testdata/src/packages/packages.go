package packages // want package:"programs"

import (
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/dimcheck/testdata/src/lib"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

func calls(in AttnIn, keyM KqMatrix) {
	_ = named.Sum[InputRep](lib.Project(in.Tensor, keyM.Tensor)) // want `the tensor has no InputRep\n  tensor  {Seq KqRep}`
	_ = lib.Project(keyM.Tensor, keyM.Tensor)                    // want `^in Project \(lib.go:13\): named.Dot over InputRep: both operands also have KqRep`
	_ = named.Sum[InputRep](lib.Chain(in.Tensor))                // want `the tensor has no InputRep\n  tensor  {Seq Hidden:8}`
	_ = lib.Over[Foo](in.Tensor)                                 // want `^in Over \(lib.go:19\): named.Softmax over Foo: the tensor has no Foo`
	l := lib.Layer{Scale: keyM.Tensor}
	_ = l.Apply(in.Tensor)                                                                                    // want `^in Layer.Apply \(lib.go:25\): named.Mul: neither operand has all names`
	_ = named.Sum[Foo](lib.Each(func(x *named.Tensor) *named.Tensor { return named.Sum[Seq](x) }, in.Tensor)) // want `named.Sum over Foo: the tensor has no Foo\n  tensor  {InputRep}`
	_ = lib.Each(func(x *named.Tensor) *named.Tensor { return named.Sum[Foo](x) }, in.Tensor)                 // want `^named.Sum over Foo: the tensor has no Foo`
}
