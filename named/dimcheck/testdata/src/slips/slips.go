// Package slips has what does not compile.
package slips

import "github.com/tenonml/tenon/named"

type (
	TokenRep    struct{ named.Dim[TokenRep] }
	Foo         struct{ named.Dim[Foo] }
	QueryRep    struct{ named.Dim[QueryRep] }
	InputTokens struct{ named.Dim[InputTokens] }
	Batch       struct{ named.Dim[Batch] }
	Bad         struct{ named.Dim[Foo] }
)

type (
	G1 struct {
		*named.Tensor
		InputTokens
		TokenRep
	}
	G2 struct {
		*named.Tensor
		Foo
		QueryRep
	}
	G1B struct {
		*named.Tensor
		Batch
		InputTokens
		TokenRep
	}
)

func f(x G1) {}

func slips(g1 G1, g2 G2, g1b G1B) {
	g1.TokenRep.Dot(g2.Foo)
	_ = g1.TokenRepp
	f(g1b)
	g1.TokenRep.Dot(named.As[Fooo](g2.Foo))
	g1.Dot(g2.Foo)
	g1.TokenRep.Dot("foo")
	named.Rename[TokenRep](g1.Tensor)
	named.Sum[Bad](g1)
	named.Sum[int](g1)
}
