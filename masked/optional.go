package masked

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// Optional is a tensor with missing elements or rows: its values, and a mask of their first
// dimensions that is false where something is missing. The values may in turn be optional, with a
// mask of more dimensions, for missing lists of missing elements. A type from elsewhere that has
// these methods is read and written like a [*Tensor].
type Optional interface {
	tensor.Tensor
	Values() tensor.Tensor
	Mask() tensor.Tensor
}

// OptionalSpec is the Spec of an [Optional] tensor. Its components are the values and the mask.
type OptionalSpec interface {
	tenon.Spec
	Values() tenon.Spec
	Mask() tenon.Spec
}

var (
	_ Optional     = (*Tensor)(nil)
	_ OptionalSpec = (*Spec)(nil)
)
