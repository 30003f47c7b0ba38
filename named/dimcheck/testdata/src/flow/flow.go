package flow // want package:"programs"

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

func branches(in AttnIn, keyM KqMatrix, deep bool) {
	x := named.From(in)
	if deep {
		x = named.Rename[InputRep, Hidden](x)
	} else {
		x = named.Rename[InputRep, Hidden](named.Softmax[Seq](x))
	}
	_ = named.Sum[InputRep](x) // want `named.Sum over InputRep: the tensor has no InputRep\n  tensor  {Seq Hidden}`
	y := named.From(in)
	if deep {
		y = named.Rename[InputRep, Hidden](y)
	}
	_ = named.Sum[InputRep](y) // what y is depends on deep
	var z *named.Tensor
	switch {
	case deep:
		z = named.From(in)
	default:
		z = named.Mul(in, 3)
	}
	_ = named.Sum[Foo](z) // want `the tensor has no Foo`
}

func loops(in AttnIn, blocks []KqMatrix) *named.Tensor {
	x := named.From(in)
	for _, b := range blocks {
		hidden := named.Dot[InputRep](x, b)
		x = named.Dot[KqRep](hidden, b)
		_ = named.Sum[KqRep](x) // want `named.Sum over KqRep: the tensor has no KqRep\n  tensor  {Seq InputRep}`
	}
	for range 3 {
		x = named.Add(x, named.Mean[Seq](x))
	}
	var parts []*named.Tensor
	for range 3 {
		parts = append(parts, named.Sum[Seq](x))
	}
	_ = named.Sum[Seq](parts[1]) // want `named.Sum over Seq: the tensor has no Seq\n  tensor  {InputRep}`
	for _, row := range named.Unstack[Seq](x) {
		_ = named.Softmax[Seq](row) // want `named.Softmax over Seq: the tensor has no Seq`
	}
	for range 4 {
		x = named.ExpandDims(named.Sum[Seq](x), Seq{})
	}
	return named.Sum[Foo](x) // want `named.Sum over Foo: the tensor has no Foo`
}

func closures(in AttnIn, keyM KqMatrix) {
	project := func(m *named.Tensor) *named.Tensor { return named.Dot[InputRep](in, m) } // want `right operand has no InputRep\n  left   {Seq InputRep}\n  right  {KqRep}`
	keys := project(keyM.Tensor)
	_ = named.Sum[InputRep](keys)                             // want `the tensor has no InputRep\n  tensor  {Seq KqRep}`
	bad := func() *named.Tensor { return named.Sum[Foo](in) } // want `the tensor has no Foo`
	_ = bad()
	_ = project(named.Sum[InputRep](keyM))
	both := func(f func(x *named.Tensor) *named.Tensor) *named.Tensor { return f(f(in.Tensor)) }
	_ = named.Sum[Seq](both(func(x *named.Tensor) *named.Tensor { return named.Mul(x, 2) }))
	_ = named.Sum[Foo](both(func(x *named.Tensor) *named.Tensor { return named.Sum[InputRep](x) })) // want `^named.Sum over InputRep: the tensor has no InputRep\n  tensor  {Seq}`
}

type layer struct{ Weight, Bias *named.Tensor }

func (l layer) apply(x *named.Tensor) *named.Tensor {
	return named.Add(named.Dot[InputRep](x, l.Weight), l.Bias)
}

type stack struct {
	layers []layer
	first  *layer
}

func (s *stack) run(x *named.Tensor) *named.Tensor { return s.first.apply(x) }

func methods(in AttnIn, keyM KqMatrix) {
	l := layer{Weight: keyM.Tensor, Bias: named.Sum[InputRep](keyM)}
	_ = named.Sum[InputRep](l.apply(in.Tensor)) // want `named.Sum over InputRep: the tensor has no InputRep\n  tensor  {Seq KqRep}`
	wrong := layer{keyM.Tensor, in.Tensor}
	_ = wrong.apply(in.Tensor) // want `^in layer.apply \(flow.go:70\): named.Add: neither operand has all names: left lacks {InputRep}, right lacks {KqRep}\n  left   {Seq KqRep}\n  right  {Seq InputRep}\n`
	shared := layer{Weight: keyM.Tensor, Bias: named.Sum[InputRep](keyM)}
	s := &stack{first: &shared}
	_ = named.Sum[Foo](s.run(in.Tensor)) // want `named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq KqRep}`
	f := l.apply
	_ = named.Sum[Foo](f(in.Tensor)) // want `named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq KqRep}`
}

// Recursion ends where nothing more is learnt.
func recursive(x *named.Tensor, n int) *named.Tensor {
	if n == 0 {
		return x
	}
	return recursive(named.Rename[Seq, KeySeq](named.Rename[KeySeq, Seq](x)), n-1) // want `^named.Rename KeySeq→Seq: the tensor has no KeySeq`
}

func callsRecursive(in AttnIn) { _ = recursive(in.Tensor, 3) }

// What a function does for other dimensions is not reported.
func perBatch(x *named.Tensor) *named.Tensor {
	if x.Has(Batch{}) {
		x = named.Sum[Batch](x)
	}
	if !x.Has(Seq{}) {
		return x
	}
	if len(x.Dims().Names()) > 2 {
		x = named.Sum[Hidden](x)
	}
	return named.Sum[Seq](x)
}

func asks(in AttnIn, keyM KqMatrix) {
	_ = named.Sum[Foo](perBatch(in.Tensor))   // want `named.Sum over Foo: the tensor has no Foo\n  tensor  {InputRep}`
	_ = named.Sum[Foo](perBatch(keyM.Tensor)) // want `named.Sum over Foo: the tensor has no Foo\n  tensor  {InputRep KqRep}`
	if in.Has(Foo{}) {
		_ = named.Sum[Foo](in)
	} else {
		_ = named.Sum[Hidden](in) // want `named.Sum over Hidden`
	}
}

// Which way a function goes may depend on its arguments.
func optional(x *named.Tensor, batched bool, mode string) *named.Tensor {
	if batched {
		x = named.Sum[Batch](x)
	}
	if mode == "hidden" {
		x = named.Sum[Hidden](x)
	}
	return x
}

func options(in AttnIn) {
	_ = named.Sum[Foo](optional(in.Tensor, false, "")) // want `named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq InputRep}`
	_ = optional(in.Tensor, true, "")                  // want `^in optional \(flow.go:\d+\): named.Sum over Batch: the tensor has no Batch`
}
