package named

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// sizes returns the names and sizes of a list.
func sizes(fn string, dims []Sized) (*layout, shape.Shape) {
	ids, ns := make([]id, len(dims)), make([]int, len(dims))
	for i, d := range dims {
		if d.names == nil || len(d.names.ids) != 1 {
			fail(tenon.ErrInvalid, fn, "{%v} are not one name with a size", Dims{d.names})
		}
		if d.size < 0 {
			fail(tenon.ErrInvalid, fn, "%v has the size %d", d.names, d.size)
		}
		ids[i], ns[i] = d.names.ids[0], d.size
	}
	l := layoutOf(ids)
	if n, twice := duplicate(ids); twice {
		throwTwice(fn, n, l)
	}
	s, err := shape.From(ns)
	if err != nil {
		fail(tenon.ErrInvalid, fn, "%v", err)
	}
	return l, s
}

// made adds names to the result of a function of package ops.
func made(data tensor.Tensor, l *layout) *Tensor {
	t := newTensor(data, l, nil)
	t.from = calledFrom(4)
	return t
}

// Zeros returns a tensor of zeros.
//
//	named.Zeros(dtype.Float32, Batch{}.Of(8), Seq{}.Of(512))
func Zeros(d dtype.DType, dims ...Sized) *Tensor {
	l, s := sizes("named.Zeros", dims)
	return made(ops.Zeros(d, s), l)
}

// Ones returns a tensor of ones.
func Ones(d dtype.DType, dims ...Sized) *Tensor {
	l, s := sizes("named.Ones", dims)
	return made(ops.Ones(d, s), l)
}

// Full returns a tensor all of whose elements are value, a Go number or a scalar tensor.
func Full(value any, dims ...Sized) *Tensor {
	l, s := sizes("named.Full", dims)
	return made(ops.Fill(s, value), l)
}

// Scalar returns a tensor without dimensions.
func Scalar(value any) *Tensor { return Full(value) }

// Range returns 0, 1, … n-1 along a dimension, the positions along it.
func Range(d dtype.DType, dim Sized) *Tensor {
	l, s := sizes("named.Range", []Sized{dim})
	return made(ops.Cast(ops.Range(int64(0), int64(s.Dim(0)), int64(1)), d), l)
}

// LinSpace returns evenly spaced numbers from start to stop, both included, one for each position
// along a dimension.
func LinSpace(start, stop any, dim Sized) *Tensor {
	l, s := sizes("named.LinSpace", []Sized{dim})
	return made(ops.LinSpace(start, stop, s.Dim(0)), l)
}

// Eye returns ones where the positions along two dimensions are equal, and zeros
// elsewhere.
func Eye(d dtype.DType, rows, columns Sized) *Tensor {
	l, s := sizes("named.Eye", []Sized{rows, columns})
	return made(ops.Eye(d, s.Dim(0), s.Dim(1)), l)
}

// Random numbers are functions of a key (see ops.RandomKey). Like everything else, they do not
// depend on the order in which dimensions are stored: they are drawn in the order in which the
// dimensions are listed in the call.

// Uniform returns uniformly distributed random numbers from lo up to, but not
// including, hi.
func Uniform(key tensor.Tensor, d dtype.DType, lo, hi float64, dims ...Sized) *Tensor {
	l, s := sizes("named.Uniform", dims)
	x := ops.RandomUniform(key, s, d)
	return made(ops.Add(ops.Mul(x, hi-lo), lo), l)
}

// Normal returns normally distributed random numbers.
func Normal(key tensor.Tensor, d dtype.DType, mean, stddev float64, dims ...Sized) *Tensor {
	l, s := sizes("named.Normal", dims)
	x := ops.RandomNormal(key, s, d)
	return made(ops.Add(ops.Mul(x, stddev), mean), l)
}

// TruncatedNormal returns random numbers from a normal distribution truncated at two standard
// deviations from the mean.
func TruncatedNormal(key tensor.Tensor, d dtype.DType, mean, stddev float64, dims ...Sized) *Tensor {
	l, s := sizes("named.TruncatedNormal", dims)
	x := ops.RandomTruncatedNormal(key, s, d)
	return made(ops.Add(ops.Mul(x, stddev), mean), l)
}

// RandomInt returns random integers from lo up to, but not including, hi.
func RandomInt(key tensor.Tensor, d dtype.DType, lo, hi int, dims ...Sized) *Tensor {
	l, s := sizes("named.RandomInt", dims)
	return made(ops.RandomInt(key, s, lo, hi, d), l)
}

// Bernoulli returns random booleans that are true with probability p.
func Bernoulli(key tensor.Tensor, p float64, dims ...Sized) *Tensor {
	l, s := sizes("named.Bernoulli", dims)
	return made(ops.RandomBernoulli(key, s, p), l)
}
