package flow

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

// Counted down: the call is followed with the number that is known.
func peeled(x *named.Tensor, n int) *named.Tensor {
	if n == 0 {
		return x
	}
	return peeled(named.Mul(x, n), n-1)
}

// By a number that is not known.
func halved(x *named.Tensor, n int) *named.Tensor {
	if n <= 1 {
		return named.Softmax[Seq](x)
	}
	a, b := halved(x, n/2), halved(x, n-n/2)
	return named.Add(a, b)
}

// Two functions that call each other.
func even(x *named.Tensor, n int) *named.Tensor {
	if n == 0 {
		return named.Sum[InputRep](x)
	}
	return odd(x, n-1)
}

func odd(x *named.Tensor, n int) *named.Tensor {
	if n == 0 {
		return named.Mul(named.Sum[InputRep](x), 2)
	}
	return even(x, n-1)
}

// A closure that calls itself.
func closureCallsItself(in AttnIn, n int) *named.Tensor {
	var step func(x *named.Tensor, n int) *named.Tensor
	step = func(x *named.Tensor, n int) *named.Tensor {
		if n == 0 {
			return x
		}
		return step(named.Mul(x, 2), n-1)
	}
	return step(in.Tensor, n)
}

type tree struct {
	value       *named.Tensor
	left, right *tree
}

// A method, over a structure that holds itself.
func (t *tree) total(x *named.Tensor) *named.Tensor {
	if t == nil {
		return x
	}
	return named.Add(t.left.total(x), t.right.total(x))
}

// What the recursion gives differs: nothing is known of it.
func differs(x *named.Tensor, n int) *named.Tensor {
	if n == 0 {
		return x
	}
	y := differs(x, n-1)
	if y.Has(Foo{}) {
		return y
	}
	return named.ExpandDims(y, Foo{})
}

// One that never ends gives nothing.
func endless(x *named.Tensor) *named.Tensor { return endless(named.Mul(x, 2)) }

func callsThem(in AttnIn, n int) {
	_ = named.Sum[Foo](peeled(in.Tensor, 3))   // want `^named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq InputRep}`
	_ = named.Sum[Foo](peeled(in.Tensor, 100)) // want `^named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq InputRep}`
	_ = named.Sum[Foo](peeled(in.Tensor, n))   // want `^named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq InputRep}`
	_ = named.Sum[Foo](halved(in.Tensor, n))   // want `^named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq InputRep}`
	_ = named.Sum[Foo](even(in.Tensor, n))     // want `^named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq}`
	_ = named.Sum[Foo](odd(in.Tensor, 7))      // want `^named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq}`
	_ = named.Sum[Foo](closureCallsItself(in, n))
	_ = named.Sum[Foo](new(tree).total(in.Tensor)) // want `^named.Sum over Foo: the tensor has no Foo\n  tensor  {Seq InputRep}`
	_ = named.Sum[Hidden](differs(in.Tensor, n))
	_ = named.Sum[Foo](endless(in.Tensor))
}
