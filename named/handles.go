package named

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
)

// What can be done along a dimension stands on its handle, where one reads it from the left
// to the right:
//
//	x.Seq.Softmax()                               // named.Softmax[Seq](x)
//	named.On[Rep](x.Seq.Dot(y.Seq)).Mean()        // the dimension Rep of any tensor

// On returns the dimension of a tensor as a handle: what results of operations have in place
// of the fields of a schema. It throws where the tensor lacks the dimension.
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

// of returns the name and the tensor of a handle.
func (d Dim[N]) of(fn string) (Dims, *Tensor) {
	l := groupOf[N]()
	if d.t == nil {
		fail(tenon.ErrInvalid, fn, "%v is a name and not the dimension of a tensor: use that of a schema, or named.On", l)
	}
	return Dims{l}, d.t
}

// unary applies the function of a list of names to a handle.
func (d Dim[N]) unary(fn string, f func(Dims, tenon.Value) *Tensor) *Tensor {
	l, t := d.of(fn)
	return f(l, t)
}

// DType returns the type of the elements of a handle's tensor.
func (d Dim[N]) DType() dtype.DType {
	_, t := d.of("named.DType")
	return t.DType()
}

// Sum is the function [Sum] along the dimension of a handle.
func (d Dim[N]) Sum() *Tensor { return d.unary("named.Sum", Dims.Sum) }

// Mean is the function [Mean] along the dimension of a handle.
func (d Dim[N]) Mean() *Tensor { return d.unary("named.Mean", Dims.Mean) }

// Max is the function [Max] along the dimension of a handle.
func (d Dim[N]) Max() *Tensor { return d.unary("named.Max", Dims.Max) }

// Min is the function [Min] along the dimension of a handle.
func (d Dim[N]) Min() *Tensor { return d.unary("named.Min", Dims.Min) }

// ArgMax is the function [ArgMax] along the dimension of a handle.
func (d Dim[N]) ArgMax() *Tensor { return d.unary("named.ArgMax", Dims.ArgMax) }

// ArgMin is the function [ArgMin] along the dimension of a handle.
func (d Dim[N]) ArgMin() *Tensor { return d.unary("named.ArgMin", Dims.ArgMin) }

// Softmax is the function [Softmax] along the dimension of a handle.
func (d Dim[N]) Softmax() *Tensor { return d.unary("named.Softmax", Dims.Softmax) }

// LogSoftmax is the function [LogSoftmax] along the dimension of a handle.
func (d Dim[N]) LogSoftmax() *Tensor { return d.unary("named.LogSoftmax", Dims.LogSoftmax) }

// LogSumExp is the function [LogSumExp] along the dimension of a handle.
func (d Dim[N]) LogSumExp() *Tensor { return d.unary("named.LogSumExp", Dims.LogSumExp) }

// Reverse is the function [Reverse] along the dimension of a handle.
func (d Dim[N]) Reverse() *Tensor { return d.unary("named.Reverse", Dims.Reverse) }

// CumSum is the function [CumSum] along the dimension of a handle.
func (d Dim[N]) CumSum(o CumOptions) *Tensor {
	l, t := d.of("named.CumSum")
	return l.CumSum(t, o)
}

// Sort is the function [Sort] along the dimension of a handle.
func (d Dim[N]) Sort(o SortOptions) *Tensor {
	l, t := d.of("named.Sort")
	return l.Sort(t, o)
}

// ArgSort is the function [ArgSort] along the dimension of a handle.
func (d Dim[N]) ArgSort(o SortOptions) *Tensor {
	l, t := d.of("named.ArgSort")
	return l.ArgSort(t, o)
}

// Index is the function [Index] along the dimension of a handle.
func (d Dim[N]) Index(k any) *Tensor {
	l, t := d.of("named.Index")
	return l.Index(t, k)
}

// Take is the function [Take] along the dimension of a handle.
func (d Dim[N]) Take(indices tenon.Value) *Tensor {
	l, t := d.of("named.Take")
	return l.Take(t, indices)
}

// Unstack is the function [Unstack] along the dimension of a handle.
func (d Dim[N]) Unstack() []*Tensor {
	l, t := d.of("named.Unstack")
	return l.Unstack(t)
}

// Split is the function [Split] of the dimension of a handle.
func (d Dim[N]) Split(into ...Sized) *Tensor {
	l, t := d.of("named.Split")
	return l.Split(t, into...)
}
