package named_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/tensor"
)

type (
	seqRep struct {
		*named.Tensor
		Seq
		Rep
	}
	repKq struct {
		*named.Tensor
		Rep
		Kq
	}
	batched struct {
		Batch
		seqRep
	}
	image struct {
		*named.Tensor
		Spatial
		Channel
	}
	tokens struct {
		*named.Tensor
		Batch
		Token `named:"ragged"`
	}
)

func TestBind(t *testing.T) {
	x := count(Rep{}.Of(3), Seq{}.Of(2))
	in := named.Bind[seqRep](x)
	if in.Seq.Size() != 2 || in.Rep.Size() != 3 || in.Tensor != x || in.Seq.Tensor() != x {
		t.Errorf("got %v", in)
	}
	w := named.Bind[repKq](count(Kq{}.Of(4), Rep{}.Of(3)))
	wantEqual(t, named.Dot[Rep](x, w), in.Rep.Dot(w.Rep))
	wantEqual(t, named.Dot[Rep](x, w), named.Dot[Rep](in, w))

	im := named.Bind[image](count(Height{}.Of(2), Channel{}.Of(1), Width{}.Of(3)))
	if im.Height.Size() != 2 || im.Spatial.Width.Size() != 3 || im.Channel.Size() != 1 {
		t.Errorf("got %v", im)
	}

	b := named.Bind[batched](count(Batch{}.Of(4), Seq{}.Of(2), Rep{}.Of(3)))
	if b.Batch.Size() != 4 || b.Seq.Size() != 2 || b.seqRep.Rep.Size() != 3 || !b.Tensor.Has(Batch{}) {
		t.Errorf("got %v", b)
	}
	r := named.Bind[tokens](raggedRows())
	if r.Token.Size() != -1 || r.Batch.Size() != 3 {
		t.Errorf("got %v", r)
	}
	if !named.Fits[seqRep](x) || named.Fits[repKq](x) || named.Fits[seqRep](tensor.Of([]float64{1})) {
		t.Error("Fits is wrong")
	}
}

func TestBindErrors(t *testing.T) {
	x := count(Seq{}.Of(2), Rep{}.Of(3))
	type notEmbedded struct {
		*named.Tensor
		Seq Seq
	}
	type other struct {
		*named.Tensor
		fmt.Stringer
	}
	type none struct{ Seq }
	type bad struct{ named.Dim[Seq] }
	type withBad struct {
		*named.Tensor
		bad
	}
	type twice struct {
		*named.Tensor
		Spatial
		Height
	}
	type dense struct {
		*named.Tensor
		Batch
		Token
	}
	type wrong struct {
		*named.Tensor
		Seq `named:"ragged"`
		Rep
	}
	tests := []struct {
		name, text string
		f          func()
	}{
		{"missing", "missing {Kq}, extra {Seq}", func() { named.Bind[repKq](x) }},
		{"extra", "extra {Batch}", func() { named.Bind[seqRep](named.ExpandDims(x, Batch{})) }},
		{"scalar", "missing {Seq Rep}", func() { named.Bind[seqRep](count()) }},
		{"a field that is not embedded", "has the field Seq", func() { named.Bind[notEmbedded](x) }},
		{"another embedded type", "embeds fmt.Stringer", func() { named.Bind[other](x) }},
		{"no tensor", "does not embed a *named.Tensor", func() { named.Bind[none](x) }},
		{"no struct", "int is not a struct", func() { named.Bind[int](x) }},
		{"another's Dim", "embeds the named.Dim of", func() { named.Bind[withBad](x) }},
		{"a name twice", "has Height twice", func() { named.Bind[twice](x) }},
		{"ragged, not in the schema", "is ragged in the tensor", func() { named.Bind[dense](raggedRows()) }},
		{"ragged in the schema", "is ragged in the schema", func() { named.Bind[wrong](x) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantError(t, tenon.ErrInvalid, tt.text, tt.f) })
	}
	if err := thrown(func() { _ = seqRep{}.Spec() }); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("the zero schema: %v", err)
	}
}

func TestAs(t *testing.T) {
	g1 := named.Bind[seqRep](count(Seq{}.Of(2), Rep{}.Of(3)))
	type fooKq struct {
		*named.Tensor
		Foo
		Kq
	}
	g2 := named.Bind[fooKq](count(Foo{}.Of(3), Kq{}.Of(2)))
	got := g1.Rep.Dot(named.As[Rep](g2.Foo))
	wantEqual(t, named.Dot[Rep](g1, named.Rename[Foo, Rep](g2)), got)
	wantError(t, tenon.ErrInvalid, "already has Kq", func() { named.As[Kq](g2.Foo) })
	wantError(t, tenon.ErrInvalid, "is a name", func() { named.As[Kq](Foo{}) })
}
