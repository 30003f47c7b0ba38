package outsider

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Tagged is a tensor together with its origin. It declares its components and nothing else, and can
// take part in every operation.
type Tagged struct {
	Data   tensor.Tensor `tenon:"name=data"`
	Source string        `tenon:"name=source"`
}

func init() { ext.Register[Tagged]("example.com/outsider.Tagged") }

// Spec returns the Spec of the value.
func (t Tagged) Spec() tenon.Spec { return ext.SpecOf(t) }

// DType returns the element type of the data.
func (t Tagged) DType() dtype.DType { return t.Data.DType() }

// Shape returns the shape of the data.
func (t Tagged) Shape() shape.Shape { return t.Data.Shape() }

// Form returns the components of the value.
func (t Tagged) Form() op.Form {
	return op.Form{Columns: []tensor.Tensor{t.Data}, Type: source(t.Source)}
}

type source string

// Make returns a value with the data and the source.
func (s source) Make(columns []tensor.Tensor) (tenon.Value, error) {
	return Tagged{columns[0], string(s)}, nil
}
