package flow

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

func maps(in AttnIn, keyM KqMatrix, which string) {
	m := map[string]*named.Tensor{"in": in.Tensor, "key": keyM.Tensor}
	_ = named.Sum[Foo](m["in"])  // want `the tensor has no Foo\n  tensor  {Seq InputRep}`
	_ = named.Sum[Foo](m["key"]) // want `the tensor has no Foo\n  tensor  {InputRep KqRep}`
	_ = named.Sum[Foo](m[which]) // either of them
	if x, ok := m["key"]; ok {
		_ = named.Sum[Seq](x) // want `the tensor has no Seq\n  tensor  {InputRep KqRep}`
	}
	_ = named.Sum[Foo](m["missing"]) // nil

	heads := map[int]*named.Tensor{}
	for i := range 4 {
		heads[i] = named.Sum[Seq](in)
	}
	for _, h := range heads {
		_ = named.Sum[Seq](h) // want `the tensor has no Seq\n  tensor  {InputRep}`
	}
	_ = named.Sum[Seq](heads[2])       // want `the tensor has no Seq\n  tensor  {InputRep}`
	_ = named.Sum[Seq](largest(heads)) // want `the tensor has no Seq\n  tensor  {InputRep}`
	delete(heads, 2)
	_ = len(heads)

	layers := map[string]layer{"first": {Weight: keyM.Tensor, Bias: named.Sum[InputRep](keyM)}}
	_ = named.Sum[InputRep](layers["first"].apply(in.Tensor)) // want `the tensor has no InputRep\n  tensor  {Seq KqRep}`
}

func largest(m map[int]*named.Tensor) *named.Tensor {
	var out *named.Tensor
	for _, x := range m {
		if out == nil {
			out = x
		}
		out = named.Maximum(out, x)
	}
	return out
}

func replace(m map[string]*named.Tensor, x *named.Tensor) { m["in"] = x }

type holder struct{ parts map[string]*named.Tensor }

var shared = map[string]*named.Tensor{}

// What others may write to is not followed.
func changed(in AttnIn, keyM KqMatrix, deep bool) {
	m := map[string]*named.Tensor{"in": in.Tensor}
	replace(m, keyM.Tensor)
	_ = named.Sum[Foo](m["in"])

	captured := map[string]*named.Tensor{"in": in.Tensor}
	func() { captured["in"] = keyM.Tensor }()
	_ = named.Sum[Foo](captured["in"])

	h := holder{map[string]*named.Tensor{"in": in.Tensor}}
	h.parts["in"] = keyM.Tensor
	_ = named.Sum[Foo](h.parts["in"])

	a := map[string]*named.Tensor{"in": in.Tensor}
	b := a
	if deep {
		b = map[string]*named.Tensor{"in": in.Tensor}
	}
	b["in"] = keyM.Tensor
	_ = named.Sum[Foo](a["in"])

	nested := map[string]map[string]*named.Tensor{"a": {"in": in.Tensor}}
	nested["a"]["in"] = keyM.Tensor
	_ = named.Sum[Foo](nested["a"]["in"])

	shared["in"] = in.Tensor
	_ = named.Sum[Foo](shared["in"])

	x := map[string]*named.Tensor{"in": in.Tensor}
	x["in"] = keyM.Tensor
	_ = named.Sum[Foo](x["in"]) // the order of writes plays no part
}
