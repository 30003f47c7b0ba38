package flow

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

type module interface {
	apply(x *named.Tensor) *named.Tensor
}

type scaled struct{ by *named.Tensor }

func (s scaled) apply(x *named.Tensor) *named.Tensor { return named.Mul(x, s.by) } // want `^named.Mul: neither operand has all names: left lacks {Seq}, right lacks {KqRep}`

type relu struct{}

func (relu) apply(x *named.Tensor) *named.Tensor { return named.Maximum(x, 0) }

type pooled struct{}

func (*pooled) apply(x *named.Tensor) *named.Tensor { return named.Sum[Seq](x) }

func applied(m module, x *named.Tensor) *named.Tensor { return m.apply(x) }

func run(modules []module, x *named.Tensor) *named.Tensor {
	for _, m := range modules {
		x = m.apply(x)
	}
	return x
}

func interfaces(in AttnIn, keyM KqMatrix, deep bool, other module) {
	var m module = layer{Weight: keyM.Tensor, Bias: named.Sum[InputRep](keyM)}
	_ = named.Sum[InputRep](m.apply(in.Tensor))         // want `the tensor has no InputRep\n  tensor  {Seq KqRep}`
	_ = named.Sum[InputRep](applied(m, in.Tensor))      // want `the tensor has no InputRep\n  tensor  {Seq KqRep}`
	_ = named.Sum[Seq](applied(new(pooled), in.Tensor)) // want `the tensor has no Seq\n  tensor  {InputRep}`
	_ = m.apply(named.Sum[Seq](keyM))                   // want `named.Sum over Seq`
	_ = applied(scaled{in.Tensor}, keyM.Tensor)
	_ = named.Sum[Foo](applied(other, in.Tensor))                                 // it may be anything
	_ = named.Sum[Foo](run([]module{relu{}, scaled{named.Scalar(2)}}, in.Tensor)) // want `the tensor has no Foo\n  tensor  {Seq InputRep}`
	_ = named.Sum[Foo](run([]module{relu{}, new(pooled)}, in.Tensor))

	m = relu{}
	if deep {
		m = scaled{named.Scalar(3)}
	}
	_ = named.Sum[Foo](m.apply(in.Tensor)) // want `the tensor has no Foo\n  tensor  {Seq InputRep}`
	if deep {
		m = scaled{in.Tensor}
	}
	x := keyM.Tensor
	_ = m.apply(x) // one of them fails, which may be another than the one that is there
	if l, ok := m.(scaled); ok {
		_ = named.Sum[Foo](l.apply(in.Tensor)) // by what it scales is not known
	}
	switch m := m.(type) {
	case relu:
		_ = named.Sum[Foo](m.apply(keyM.Tensor)) // want `the tensor has no Foo\n  tensor  {InputRep KqRep}`
	case *pooled:
		_ = named.Sum[Foo](m.apply(in.Tensor)) // it is none
	}
}
