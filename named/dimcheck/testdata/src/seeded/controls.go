package seeded

import (
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Functions that package control calls.
func controls(in AttnIn, queryM, keyM KqMatrix, valueM ValueMatrix, deep tensor.Tensor) {
	x, y, s := in.Tensor, sized(), scores(in, queryM, keyM)
	w, v := weighted(in, keyM, valueM)
	x = control.Cond(deep, func() *named.Tensor { return named.Mul(x, 2) }, func() *named.Tensor { return x })
	y = control.Switch(1, func() *named.Tensor { return y }, func() *named.Tensor { return named.Mul(y, 2) })
	s = control.While(func(*named.Tensor) tensor.Tensor { return tensor.Of([]bool{false}) }, func(s *named.Tensor) *named.Tensor { return named.Mul(s, 2) }, s)
	w = control.Fold(func(w, f *named.Tensor) *named.Tensor { return named.Mul(w, f) }, w, named.Ones(dtype.Float32, named.Rows{}.Of(3)))
	rows := named.Ones(dtype.Float32, named.Rows{}.Of(3), KqRep{}.Of(2))
	_ = named.Sum[Foo](control.Map(func(r *named.Tensor) *named.Tensor { return named.Sum[KqRep](r) }, rows)) // want `tensor  {Rows:3}`
	_, ys := control.Scan(func(c, r *named.Tensor) (*named.Tensor, *named.Tensor) { return c, named.Outer(ops.Mul, r, c) }, nine(), rows)
	_ = named.Sum[Foo](ys)             // want `tensor  {Rows:3 KqRep:2 Seq:9}`
	_ = named.Sum[Foo](x)              // want `^named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq InputRep}`
	_ = named.Dot[InputRep](x, in)     // want `^named.Dot over InputRep: both operands also have Seq`
	_ = named.Rename[Seq, InputRep](x) // want `^named.Rename Seq→InputRep: the tensor already has InputRep`
	_ = named.Bind[AttnOut](x)         // want `^named.Bind AttnOut: the schema is {Seq ValueRep}: missing {ValueRep}, extra {InputRep}`
	_ = named.Add(x, keyM)             // want `^named.Add: neither operand has all names: left lacks {KqRep}, right lacks {Seq}`
	_ = named.Mul(y, nine())           // want `^named.Mul: Seq has the sizes 8 and 9`
	_ = named.Dot[Foo](w, v)           // want `^named.Dot over Foo: left operand has weights that are a softmax over Seq`
	_ = named.Softmax[Seq](s)          // want `^named.Softmax over Seq: Seq are the positions of the queries`
}
