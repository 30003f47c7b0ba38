package masked

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// Optional is a tensor of which elements, or rows as a whole, are missing: its values, and
// a mask of their first dimensions that is false where one is missing. The values may be
// optional again, with a mask of more dimensions: missing lists of missing elements. A
// type from outside that has these methods is read and written as a [*Tensor] is.
type Optional interface {
	tensor.Tensor
	Values() tensor.Tensor
	Mask() tensor.Tensor
}

// OptionalSpec is the Spec of an [Optional] tensor. Its components are the values and the
// mask.
type OptionalSpec interface {
	tenon.Spec
	Values() tenon.Spec
	Mask() tenon.Spec
}

var (
	_ Optional     = (*Tensor)(nil)
	_ OptionalSpec = (*Spec)(nil)
)
