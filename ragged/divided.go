package ragged

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// Divided is a tensor whose first dimensions are divided into rows by partitions, the outermost
// first; the innermost one divides the flat values. A type from elsewhere that has these methods is
// read and written as lists, like a [*Tensor].
type Divided interface {
	tensor.Tensor
	FlatValues() tensor.Tensor
	Partitions() []*RowPartition
}

// DividedSpec is the Spec of a [Divided] tensor. Its components are the flat values followed by the
// partitions, the outermost first.
type DividedSpec interface {
	tenon.Spec
	Flat() tenon.Spec
	Partitions() []*PartitionSpec
}

var (
	_ Divided     = (*Tensor)(nil)
	_ DividedSpec = (*Spec)(nil)
)

// As returns a tensor of any type that is divided into rows as a [*Tensor]; ok is false for other
// tensors.
func As(x tensor.Tensor) (t *Tensor, ok bool) {
	switch x := x.(type) {
	case *Tensor:
		return x, true
	case Divided:
		if parts := x.Partitions(); len(parts) > 0 {
			t, ok = tenon.Must(FromPartitions(x.FlatValues(), parts...)).(*Tensor)
		}
	}
	return t, ok
}
