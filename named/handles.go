package named

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
)

// Operations along a dimension are methods of its handle, so that expressions read from left to
// right:
//
//	x.Seq.Softmax()                               // named.Softmax[Seq](x)
//	named.On[Rep](x.Seq.Dot(y.Seq)).Mean()        // the dimension Rep of any tensor

// On returns the dimension of a tensor as a handle. For results of operations, it takes the place
// of the fields of a schema. It throws if the tensor lacks the dimension.
func On[N Is[N]](x tenon.Value) N {
	t := tensorOf("named.On", x)
	l := groupOf[N]()
	Dims{l}.axesOf("named.On", t)
	var h N
	b, ok := any(&h).(interface{ bind(*Tensor) })
	if !ok {
		fail(tenon.ErrInvalid, "named.On", "{%v} are several names, and a handle is of one", l)
	}
	b.bind(t)
	return h
}

// dims returns the name of the dimension of a handle's tensor, for use by
// function fn.
func (d Dim[N]) dims(fn string) Dims {
	l := groupOf[N]()
	if d.t == nil {
		fail(tenon.ErrInvalid, fn, "%v is a name and not the dimension of a tensor: use that of a schema, or named.On", l)
	}
	return Dims{l}
}

// DType returns the type of the elements of a handle's tensor.
func (d Dim[N]) DType() dtype.DType {
	d.dims("named.DType")
	return d.t.DType()
}
