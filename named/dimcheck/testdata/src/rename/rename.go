package rename // want package:"programs"

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

type justSeq struct {
	*named.Tensor
	Seq
}

func rename(in AttnIn, keyM KqMatrix) {
	_ = named.Rename[Foo, Hidden](in)   // want `^named.Rename Foo→Hidden: the tensor has no Foo\n  tensor  {Seq InputRep}$`
	_ = named.Rename[Seq, InputRep](in) // want `^named.Rename Seq→InputRep: the tensor already has InputRep\n  tensor  {Seq InputRep}$`
	_ = named.By(Seq{}, InputRep{}).Rename(in, InputRep{}, Seq{})
	_ = named.By(Seq{}, Foo{}).Rename(in, InputRep{}, Batch{}) // want `named.Rename Seq, Foo→InputRep, Batch: the tensor has no Foo`
	_ = named.Bind[justSeq](named.Sum[InputRep](in)).Seq.Dot(named.As[Seq](keyM.KqRep))
	_ = named.As[InputRep](keyM.KqRep) // want `named.As KqRep→InputRep: the tensor already has InputRep`
}

func shapes(in AttnIn, image *named.Tensor) {
	_ = named.Split[Seq](in, Head{}.Of(2), InputRep{}.Of(4)) // want `named.Split over Seq: the tensor already has InputRep`
	_ = named.Split[Foo](in, Head{}.Of(2))                   // want `named.Split over Foo: the tensor has no Foo`
	_ = named.Merge[Spatial, Pixel](in)                      // want `named.Merge over Height, Width: the tensor has no Height`
	x := named.Ones(dtype.Float32, Height{}.Of(4), Width{}.Of(6), Pixel{}.Of(2))
	_ = named.Merge[Spatial, Pixel](x) // want `named.Merge over Height, Width: the tensor already has Pixel\n  tensor  {Height:4 Width:6 Pixel:2}  from rename.go:27`
	_ = named.Merge[Spatial, Foo](x)
	_ = named.ExpandDims(in, Batch{}, Seq{})                 // want `named.ExpandDims: the tensor already has Seq`
	_ = named.Stack[Seq](in, in)                             // want `named.Stack over Seq: the tensor already has Seq`
	_ = named.Stack[Batch](in, x)                            // want `named.Stack: the tensors have different dimensions`
	_ = named.Concat[Foo](in, in)                            // want `named.Concat over Foo: the tensor has no Foo`
	_ = named.OneHot[Seq](in, 3, named.OneHotOptions{})      // want `named.OneHot over Seq: the tensor already has Seq`
	_ = named.Order(in, Seq{})                               // want `named.Order: the order lacks {InputRep}\n  tensor  {Seq InputRep}\n  list all names`
	_ = named.Unnamed(in, Seq{}, Foo{})                      // want `named.Unnamed: the tensor has no Foo`
	_ = named.Zeros(dtype.Float32, Seq{}.Of(2), Seq{}.Of(3)) // want `named.Zeros: Seq occurs twice in {Seq Seq}`
	_ = in.Size(Foo{})                                       // want `named.Size: the tensor has no Foo`
	_ = named.Sum[Seq](image)
}
