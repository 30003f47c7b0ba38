// Package names has the names of the test data.
package names

import "github.com/tenonml/tenon/named"

type (
	Batch    struct{ named.Dim[Batch] }
	Head     struct{ named.Dim[Head] }
	Seq      struct{ named.Dim[Seq] }
	KeySeq   struct{ named.Dim[KeySeq] }
	InputRep struct{ named.Dim[InputRep] }
	KqRep    struct{ named.Dim[KqRep] }
	ValueRep struct{ named.Dim[ValueRep] }
	Hidden   struct{ named.Dim[Hidden] }
	Foo      struct{ named.Dim[Foo] }
	Height   struct{ named.Dim[Height] }
	Width    struct{ named.Dim[Width] }
	Pixel    struct{ named.Dim[Pixel] }
	Vocab    struct{ named.Dim[Vocab] }
)

type Spatial struct {
	named.Set[Spatial]
	Height
	Width
}

type (
	AttnIn struct {
		*named.Tensor
		Seq
		InputRep
	}
	AttnOut struct {
		*named.Tensor
		Seq
		ValueRep
	}
	KqMatrix struct {
		*named.Tensor
		InputRep
		KqRep
	}
	ValueMatrix struct {
		*named.Tensor
		InputRep
		ValueRep
	}
	BatchedIn struct {
		Batch
		AttnIn
	}
)
